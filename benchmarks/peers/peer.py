"""What all peers are, and what those share that build the robot from our model."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multibody.errors import InputError
from multibody.model import joints
from multibody.model.layouts._layout import Layout
from multibody.model.model import Model
from peers.derivatives import derivatives_from

Call = Callable[[], Any]


class Peer(ABC):
    """A peer at one state: `calls` are evaluations to be timed, by the names of our quantities.

    Args:
        model: the robot.
        frame: of pose and Jacobian.
        state: q, v and a; a is also the τ of forward dynamics.
        names: of the quantities that our own robot has.
    """

    name: str
    package: str
    """To be imported."""
    samples = 1
    """How many states one call evaluates."""

    def __init__(self, model: Model, frame: str, state: Sequence[NDArray[Any]], names: Sequence[str]) -> None:
        self.model, self.frame, self.names = model, frame, names
        self.q, self.v, self.a = state
        self.remarks: list[str] = []
        """What a reader of the times should know."""
        self.calls = self._built()

    @classmethod
    def installed(cls) -> bool:
        """Whether the package can be imported."""
        try:
            return find_spec(cls.package) is not None
        except ValueError:
            return False

    @abstractmethod
    def _built(self) -> dict[str, Call]:
        """Build the robot; the evaluations, each returning numbers in the peer's own coordinates."""

    @abstractmethod
    def _as_ours(self, name: str) -> Any:
        """What the evaluation of a quantity returns, in our coordinates."""

    def disagreement(self, ours: dict[str, Any]) -> float:
        """The largest difference between the peer's results and ours, relative to the size of each.

        Args:
            ours: results by the names of quantities; "pose" is a matrix (4, 4), derivatives are a tuple.
        """
        worst = 0.0
        for name in ours.keys() & self.calls.keys():
            for their, our in zip(_arrays(self._as_ours(name)), _arrays(ours[name]), strict=True):
                worst = max(worst, float(np.abs(their - our).max() / max(np.abs(our).max(), 1e-9)))
        return worst


class Library(Peer):
    """A peer that has robots of its own, and a layout for its numbers."""

    layout: Layout

    def __init__(self, model: Model, frame: str, state: Sequence[NDArray[Any]], names: Sequence[str]) -> None:
        for joint in model.joints:
            if joint.mimic is not None:
                raise InputError(f"is given no coupled joints, such as {joint.name!r}")
        super().__init__(model, frame, state, names)

    def _unknown(self, kind: joints.Kind) -> InputError:
        return InputError(f"has no {kind.name} joint that this benchmark knows")

    def _as_ours(self, name: str) -> Any:
        result = self.calls[name]()
        if name == "inverse_dynamics_derivatives":
            tau = np.array(self.calls["inverse_dynamics"]())
            return derivatives_from(self.layout, (self.q, self.v, self.a), tau, [np.array(x) for x in result])
        peer_q, peer_v = self.layout.q_to(self.q), self.layout.v_to(self.q, self.v)
        T = self.layout.v_to(self.q, np.eye(self.model.nv)).T
        same: dict[str, Callable[[Any], Any]] = {
            "inverse_dynamics": lambda tau: self.layout.tau_from(peer_q, tau),
            "forward_dynamics": lambda a: self.layout.a_from(peer_q, peer_v, a),
            "mass_matrix": lambda M: T.T @ M @ T,
            "jacobian": lambda J: J @ T,
            "pose": lambda H: H,
        }
        return same[name](self._array(name, result))

    def _array(self, name: str, result: Any) -> NDArray[Any]:
        """What an evaluation returns as an array, linear parts first; outside of what is timed."""
        del name
        return np.array(result)


def _arrays(result: Any) -> tuple[Any, ...]:
    return tuple(result) if isinstance(result, tuple | list) else (result,)
