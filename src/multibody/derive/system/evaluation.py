"""Numbers in place of symbols: random states of a system, and the values of expressions there."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import sympy as sp
from numpy.typing import NDArray

from multibody.derive.algebra.numpy_evaluation import evaluate
from multibody.derive.system.symbols import TIME, rate
from multibody.derive.system.system import System


def random_values(system: System, rng: np.random.Generator) -> dict[sp.Symbol, float]:
    """A value for every symbol of a system: parameters and the time between 0.5 and 1.5, the rest between -1 and 1.

    Parameters that stand for numbers of a robot stay within a tenth of them, so that its bodies remain possible.
    Quaternions have unit length; a rate of a coordinate that is no velocity of the system fits to the velocities.
    """
    near = {} if system.tree is None else system.tree.values
    values = {
        x: float(near[x] * rng.uniform(0.9, 1.1) if x in near else rng.uniform(0.5, 1.5)) for x in system.parameters
    }
    for x in (*system.q, *system.v, *system.a, *system.inputs, TIME):
        values[x] = float(rng.uniform(-1, 1))
    values[TIME] = 1 + values[TIME] / 2  # where roots and logarithms of the time are real
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
    entries = expression.flat() if isinstance(expression, sp.MatrixBase) else [expression]
    numbers = evaluate(entries, {x: np.float64(value) for x, value in values.items()})
    return np.array(numbers, dtype=float).reshape(expression.shape if isinstance(expression, sp.MatrixBase) else ())
