"""A system with the rates of its coordinates as velocities, and unit quaternions held by constraints."""

from dataclasses import replace
from typing import Any

import sympy as sp

from multibody.derive.methods.quasi_velocities import left_inverse
from multibody.derive.system.constraints import Holonomic, Motion, Restriction
from multibody.derive.system.loads import Generalized, Load
from multibody.derive.system.symbols import rate
from multibody.derive.system.system import System, expect_system


def with_rates_as_velocities(system: System) -> System:
    """A system with v = q', where q' = F(q) v need not be invertible: as many velocities as coordinates.

    Each unit quaternion becomes a configuration constraint w² + x² + y² + z² = 1, and takes back the velocity that it
    adds. Generalized forces keep their power: along q' they are S^T τ, where v = S q' and S is the left inverse of F.

    >>> from multibody.derive.system.bodies import particle
    >>> x, m, w = sp.symbols("x m w", real=True)
    >>> twice = System("twice", (x,), (particle("mass", m, (x, 0, 0)),), v=(w,), rates=[[2]])
    >>> with_rates_as_velocities(twice).v
    (x_dot,)
    """
    expect_system(system)
    if system.holonomic_velocities:
        return replace(system, restrictions=(*system.restrictions, *_unit_lengths(system)), tree=None)
    S, q_dot = left_inverse(system), tuple(rate(x) for x in system.q)
    v = dict(zip(system.v, S * sp.Matrix(q_dot), strict=True))
    return replace(
        system,
        v=q_dot,
        rates=sp.eye(len(system.q)),
        loads=tuple(new for load in system.loads for new in _load(system, load, S, v)),
        restrictions=(*(_restriction(r, v) for r in system.restrictions), *_unit_lengths(system)),
        tree=None,
    )


def _unit_lengths(system: System) -> list[Holonomic]:
    known = {r.name for r in system.restrictions}
    return [
        Holonomic(name, sum(x**2 for x in unit) - 1)
        for unit in system.units
        if (name := f"unit length of {', '.join(x.name for x in unit)}") not in known
    ]


def _restriction(restriction: Restriction, v: dict[sp.Symbol, sp.Expr]) -> Restriction:
    if isinstance(restriction, Motion):
        return Motion(restriction.name, restriction.velocity.subs(v, simultaneous=True))
    return restriction


def _load(system: System, load: Load, S: Any, v: dict[sp.Symbol, sp.Expr]) -> list[Load]:
    """A load whose force may depend on velocities, along the rates."""
    load = load.substitute(v)
    if not isinstance(load, Generalized):
        return [load]
    row = S.row(system.v.index(load.velocity))
    return [Generalized(rate(x), row[j] * load.force) for j, x in enumerate(system.q) if row[j] != 0]
