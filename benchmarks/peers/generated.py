"""What those peers share that have no robots and get the operations of our own algorithms."""

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multibody.robot.quantities import TABLE
from multibody.robot.request import Request
from multibody.tracing.record.trace import Trace, trace
from peers.peer import Call, Peer

ARITHMETIC: dict[str, Any] = {
    "neg": lambda a: -a,
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b,
    "fma": lambda a, b, c: a * b + c,
    "fms": lambda a, b, c: a * b - c,
    "fnma": lambda a, b, c: c - a * b,
}
"""What operations become, roots, sines and cosines aside: the algorithms of robots have no others."""


class Generated(Peer):
    """A peer that compiles or interprets our operations; its numbers are in our coordinates."""

    largest: int | None = None
    """Operations past which the peer takes too long to be built."""

    def _built(self) -> dict[str, Call]:
        calls = {}
        for name in self.names:
            request = Request.of(self.model, name, self.frame if TABLE[name].frame else None)
            lengths = request.lengths(self.model)
            traced = trace(request.function(self.model.tree), list(lengths.values()), list(lengths))
            size = len(traced.graph.live(traced.roots))
            if self.largest is not None and size > self.largest:
                self.remarks.append(f"{name} is left out: its {size} operations would take long to compile.")
                continue
            calls[name] = self._call(name, traced, [self.q, self.v, self.a][: len(lengths)])
        return calls

    @abstractmethod
    def _call(self, name: str, traced: Trace, arguments: list[NDArray[Any]]) -> Call:
        """A call that evaluates a trace, and returns what it returns."""

    def _as_ours(self, name: str) -> Any:
        result = self.calls[name]()
        if name != "pose":
            return result
        H = np.eye(4)
        H[:3, :3], H[:3, 3] = result
        return H


def shaped(traced: Trace, flat: NDArray[Any]) -> Any:
    """Views of the results in one array, as the function returns them."""
    ends = np.cumsum([ids.size for ids in traced.outputs])
    parts = [flat[end - ids.size : end].reshape(ids.shape) for end, ids in zip(ends, traced.outputs, strict=True)]
    return tuple(parts) if len(parts) > 1 else parts[0]
