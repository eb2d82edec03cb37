"""heyoka as a peer."""

from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multibody.tracing.emission import Target, fold
from multibody.tracing.record.trace import Trace
from peers.generated import ARITHMETIC, Generated, shaped
from peers.peer import Call


def over_batch(traced: Trace, arrays: list[NDArray[Any]]) -> tuple[Call, NDArray[Any]]:
    """A call of heyoka's cfunc of our operations on a whole batch, and the array (outputs, samples) that it fills.

    Args:
        traced: the operations.
        arrays: (samples, n) for each input.
    """
    hy: Any = import_module("heyoka")
    table = ARITHMETIC | {"sqrt": hy.sqrt, "sin": hy.sin, "cos": hy.cos}
    leaves = [[hy.make_vars(f"x{i}_{k}") for k in range(x.shape[1])] for i, x in enumerate(arrays)]
    outputs = fold(traced, Target("heyoka", table, hy.expression, lambda i, k: leaves[i][k]))
    function = hy.cfunc([x for part in outputs for x in part], vars=[x for row in leaves for x in row])
    inputs = np.ascontiguousarray(np.concatenate(arrays, axis=1).T)
    results = np.empty((sum(map(len, outputs)), inputs.shape[1]))
    return lambda: function(inputs, outputs=results), results


class Heyoka(Generated):
    """heyoka's compiled functions of our operations, on batches in the layout that it likes: samples last."""

    name = "heyoka"
    package = "heyoka"
    samples = 1024
    largest = 6000

    def _call(self, name: str, traced: Trace, arguments: list[NDArray[Any]]) -> Call:
        del name
        evaluate, results = over_batch(traced, [np.tile(x, (self.samples, 1)) for x in arguments])

        def run() -> Any:
            evaluate()
            return shaped(traced, results[:, 0])

        return run
