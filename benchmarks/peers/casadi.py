"""CasADi as a peer."""

from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multibody.tracing.emission import Target, fold
from multibody.tracing.record.trace import Trace
from peers.generated import ARITHMETIC, Generated, shaped
from peers.peer import Call


def function_of(traced: Trace, name: str = "f") -> Any:
    """CasADi's function of our operations: an input for each of ours, one column of all outputs."""
    ca: Any = import_module("casadi")
    table = ARITHMETIC | {"sqrt": ca.sqrt, "sin": ca.sin, "cos": ca.cos}
    inputs = [ca.SX.sym(x.name, *x.shape) for x in traced.inputs]
    outputs = fold(traced, Target("CasADi", table, ca.SX, lambda i, k: inputs[i][k]))
    return ca.Function(name, inputs, [ca.densify(ca.vertcat(*(x for part in outputs for x in part)))])


class Casadi(Generated):
    """CasADi's functions of our operations, called from Python through buffers that are reused."""

    name = "CasADi"
    package = "casadi"

    def _call(self, name: str, traced: Trace, arguments: list[NDArray[Any]]) -> Call:
        function = function_of(traced, name)
        buffer, call = function.buffer()
        inputs, flat = [np.array(x, dtype=float) for x in arguments], np.empty(function.numel_out(0))
        for k, x in enumerate(inputs):
            buffer.set_arg(k, x.data)
        buffer.set_res(0, flat.data)
        result = shaped(traced, flat)

        def run(held: Any = (buffer, inputs)) -> Any:
            """CasADi reads and writes what is held without keeping it."""
            del held
            call()
            return result

        return run
