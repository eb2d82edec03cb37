"""heyoka as a peer."""

from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multibody.cli._peers.generated import ARITHMETIC, Generated, shaped
from multibody.cli._peers.peer import Call
from multibody.tracing.emission import Target, fold
from multibody.tracing.trace import Trace


class Heyoka(Generated):
    """heyoka's compiled functions of our operations, on batches in the layout that it likes: samples last."""

    name = "heyoka"
    package = "heyoka"
    samples = 1024
    largest = 6000

    def _call(self, name: str, traced: Trace, arguments: list[NDArray[Any]]) -> Call:
        del name
        hy: Any = import_module("heyoka")
        table = ARITHMETIC | {"sqrt": hy.sqrt, "sin": hy.sin, "cos": hy.cos}
        leaves = [[hy.make_vars(f"x{i}_{k}") for k in range(x.size)] for i, x in enumerate(arguments)]
        outputs = fold(traced, Target("heyoka", table, hy.expression, lambda i, k: leaves[i][k]))
        function = hy.cfunc([x for part in outputs for x in part], vars=[x for row in leaves for x in row])
        inputs = np.repeat(np.concatenate(arguments)[:, None], self.samples, axis=1)
        results = np.empty((sum(map(len, outputs)), self.samples))

        def run() -> Any:
            function(inputs, outputs=results)
            return shaped(traced, results[:, 0])

        return run
