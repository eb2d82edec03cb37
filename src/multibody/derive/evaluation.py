"""Numbers in place of symbols: random states of a system, and the values of expressions there."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import sympy as sp
from numpy.typing import NDArray

from multibody.derive.symbols import rate
from multibody.derive.system import TIME, System
from multibody.errors import InputError


def random_values(system: System, rng: np.random.Generator) -> dict[sp.Symbol, float]:
    """A value for every symbol of a system: parameters between 0.5 and 1.5, the rest between -1 and 1.

    Parameters that stand for numbers of a robot stay within a tenth of them, so that its bodies remain possible.
    Quaternions have unit length; a rate of a coordinate that is no velocity of the system fits to the velocities.
    """
    near = {} if system.tree is None else system.tree.values
    values = {
        x: float(near[x] * rng.uniform(0.9, 1.1) if x in near else rng.uniform(0.5, 1.5)) for x in system.parameters
    }
    for x in (*system.q, *system.v, *system.a, *system.inputs, TIME):
        values[x] = float(rng.uniform(-1, 1))
    for unit in system.units:
        length = np.linalg.norm([values[x] for x in unit])
        values.update({x: float(values[x] / length) for x in unit})
    q_dot = numeric(system.q_dot, values)[:, 0]
    return values | {rate(x): float(q_dot[k]) for k, x in enumerate(system.q) if rate(x) not in values}


def numeric(expression: Any, values: Mapping[sp.Symbol, float]) -> NDArray[np.float64]:
    """An expression or matrix as an array of floats, or 0-d.

    >>> x = sp.Symbol("x")
    >>> numeric(sp.Matrix([[x, 2 * x]]), {x: 0.5})
    array([[0.5, 1. ]])
    """
    if isinstance(expression, sp.MatrixBase):
        return np.array(_evaluated(expression.flat(), values), dtype=float).reshape(expression.shape)
    return np.asarray(_evaluated([sp.sympify(expression)], values)[0], dtype=float)


def _evaluated(expressions: Sequence[Any], values: Mapping[sp.Symbol, float]) -> list[float]:
    """Each subexpression once: what is large shares much, and is slow to compile."""
    found: dict[Any, float] = {x: float(value) for x, value in values.items()}
    waiting = list(reversed(expressions))
    while waiting:
        e = waiting[-1]
        known = type(e) in _FUNCTIONS
        missing = [x for x in e.args if x not in found] if known and e not in found else []
        waiting += missing
        if missing:
            continue
        if e not in found:
            found[e] = float(_FUNCTIONS[type(e)](*(found[x] for x in e.args)) if known else _other(e, values))
        waiting.pop()
    return [found[e] for e in expressions]


def _other(e: Any, values: Mapping[sp.Symbol, float]) -> float:
    """The value of a number or of a rare function."""
    symbols = sorted(e.free_symbols, key=str)
    unknown = [x for x in symbols if x not in values]
    if unknown:
        raise InputError(f"expected values for {', '.join(map(str, unknown))}")
    if not symbols:
        return float(e)
    return float(sp.lambdify(symbols, e, modules="numpy")(*(values[x] for x in symbols)))


_FUNCTIONS: dict[Any, Any] = {
    sp.Add: lambda *x: sum(x),
    sp.Mul: lambda *x: math.prod(x),
    sp.Pow: lambda x, n: np.float64(x) ** n,
    sp.sin: np.sin,
    sp.cos: np.cos,
}
