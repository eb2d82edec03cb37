"""CasADi as a peer."""

from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multibody.cli._peers.generated import ARITHMETIC, Generated, shaped
from multibody.cli._peers.peer import Call
from multibody.tracing.emission import Target, fold
from multibody.tracing.trace import Trace


class Casadi(Generated):
    """CasADi's functions of our operations, called from Python through buffers that are reused."""

    name = "CasADi"
    package = "casadi"

    def _call(self, name: str, traced: Trace, arguments: list[NDArray[Any]]) -> Call:
        ca: Any = import_module("casadi")
        table = ARITHMETIC | {"sqrt": ca.sqrt, "sin": ca.sin, "cos": ca.cos}
        inputs = [ca.SX.sym(given.name, *given.shape) for given in traced.inputs]
        outputs = fold(traced, Target("CasADi", table, ca.SX, lambda i, k: inputs[i][k]))
        column = ca.densify(ca.vertcat(*(x for part in outputs for x in part)))
        buffer, call = ca.Function(name, inputs, [column]).buffer()
        given, flat = [np.array(x, dtype=float) for x in arguments], np.empty(column.shape[0])
        for k, x in enumerate(given):
            buffer.set_arg(k, x.data)
        buffer.set_res(0, flat.data)
        result = shaped(traced, flat)

        def run(held: Any = (buffer, given)) -> Any:
            """CasADi reads and writes what is held without keeping it."""
            del held
            call()
            return result

        return run
