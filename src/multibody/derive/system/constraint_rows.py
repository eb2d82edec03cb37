"""The rows of the constraints of a system at the level of velocities and accelerations."""

from functools import lru_cache
from typing import NamedTuple

import sympy as sp

from multibody.derive.system.constraints import Holonomic
from multibody.derive.system.kinematics import along, gradient, tidy
from multibody.derive.system.symbols import TIME, rate
from multibody.derive.system.system import System
from multibody.errors import InputError


class Rows(NamedTuple):
    """J v + a_0(q, t) = 0, and its derivative J v' + drift = 0."""

    J: sp.ImmutableMatrix
    a_0: sp.ImmutableMatrix
    drift: sp.ImmutableMatrix


@lru_cache(maxsize=64)
def rows(system: System) -> Rows:
    """The rows of all restrictions; those of configuration constraints are gradients.  [RD 3.35-3.36, §2.10.4]

    Raises:
        InputError: when a constraint cannot hold, or does not restrict anything, or is not linear in the velocities.
    """
    n = len(system.v)
    v, q_dot = sp.Matrix(system.v), dict(zip(map(rate, system.q), system.q_dot.flat(), strict=True))
    J, a_0 = sp.zeros(0, n), sp.zeros(0, 1)
    for restriction in system.restrictions:
        if isinstance(restriction, Holonomic):
            row, rest = gradient(system, restriction.f), sp.diff(restriction.f, TIME)
        else:
            velocity = sp.expand(restriction.velocity.subs(q_dot))
            row = sp.Matrix([velocity]).jacobian(list(system.v))
            if row.free_symbols & set(system.v):
                raise InputError(
                    f"{restriction.name}: expected a sum that is linear in the velocities {system.v}, got {velocity}"
                )
            rest = velocity.subs(dict.fromkeys(system.v, 0))
        row, rest = tidy(system, row), tidy(system, rest)
        if row.is_zero_matrix:
            left = tidy(system, restriction.expression) if isinstance(restriction, Holonomic) else rest
            why = "cannot hold" if left != 0 else "restricts nothing"
            raise InputError(f"{restriction.name}: the constraint {restriction.expression} = 0 {why}")
        J, a_0 = J.col_join(row), a_0.col_join(sp.Matrix([rest]))
    drift = along(system, J) * v + along(system, a_0)
    return Rows(*(sp.ImmutableMatrix(tidy(system, x)) for x in (J, a_0, drift)))


def drift_rule(system: System) -> str:
    """The drift as a formula: with the rate of a_0, where that is not constant."""
    changing = rows(system).a_0.free_symbols & {*system.q, TIME}
    return r"\dot J v + \dot a_0" if changing else r"\dot J v"
