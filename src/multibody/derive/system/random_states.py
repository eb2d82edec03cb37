"""Random states of a system: a number for every symbol, on the constraints if that is asked for."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import sympy as sp
from numpy.typing import NDArray

from multibody.derive.algebra.numpy_evaluation import numeric
from multibody.derive.system import constraint_rows
from multibody.derive.system.constraints import Holonomic, Restriction
from multibody.derive.system.symbols import TIME, rate
from multibody.derive.system.system import System

TRIES = 30
STEPS = 60
CLOSE = 1e-13


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
    return with_velocities(system, values, np.array([values[x] for x in system.v]))


def consistent_values(system: System, rng: np.random.Generator) -> dict[sp.Symbol, float] | None:
    """As `random_values`, with coordinates and velocities that fulfil the constraints; None where none were found."""
    values = on_constraints(system, rng, system.restrictions)
    if values is None or not system.restrictions:
        return values
    rows = constraint_rows.rows(system)
    J, a_0, v = numeric(rows.J, values), numeric(rows.a_0, values)[:, 0], np.array([values[x] for x in system.v])
    v -= np.linalg.pinv(J) @ (J @ v + a_0)
    return with_velocities(system, values, v)


def with_velocities(system: System, values: dict[sp.Symbol, float], v: NDArray[Any]) -> dict[sp.Symbol, float]:
    """Replace the velocities, and the rates of coordinates that follow from them."""
    values = values | dict(zip(system.v, map(float, v), strict=True))
    q_dot = numeric(system.q_dot, values)[:, 0]
    return values | {rate(x): float(q_dot[k]) for k, x in enumerate(system.q) if rate(x) not in system.v}


def on_constraints(
    system: System, rng: np.random.Generator, restrictions: Sequence[Restriction]
) -> dict[sp.Symbol, float] | None:
    """As `random_values`, with coordinates at which configuration constraints hold; None where none were found.

    Gauss–Newton, from several states with other parameters each: short links may not close a loop that longer ones do.
    """
    units = [sum(x**2 for x in unit) - 1 for unit in system.units]
    f = sp.Matrix([*(r.f for r in restrictions if isinstance(r, Holonomic)), *units])
    if len(f) == len(units):
        return random_values(system, rng)
    symbols = list(random_values(system, rng))
    function = sp.lambdify(symbols, [f, f.jacobian(list(system.q))], modules="numpy", cse=True)
    for _ in range(TRIES):
        values = random_values(system, rng)
        for _ in range(STEPS):
            with np.errstate(all="ignore"):
                error, slope = (np.asarray(x, dtype=float) for x in function(*values.values()))
            if not (np.isfinite(error).all() and np.isfinite(slope).all()):
                break
            if np.abs(error).max() < CLOSE:
                return with_velocities(system, values, np.array([values[x] for x in system.v]))
            step = np.linalg.lstsq(slope, error[:, 0], rcond=None)[0]
            step /= max(1.0, float(np.linalg.norm(step)))
            values |= {x: values[x] - float(d) for x, d in zip(system.q, step, strict=True)}
    return None
