"""A system with the rates of its coordinates as velocities, and unit quaternions held by constraints."""

from dataclasses import replace

import sympy as sp

from multibody.derive.methods.quasi_velocities import in_velocities, left_inverse
from multibody.derive.system.constraints import Holonomic
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
        rates = replace(system, tree=None)
    else:
        rates = in_velocities(system, tuple(map(rate, system.q)), left_inverse(system), sp.eye(len(system.q)))
    return replace(rates, restrictions=(*rates.restrictions, *_unit_lengths(system)))


def _unit_lengths(system: System) -> list[Holonomic]:
    known = {r.name for r in system.restrictions}
    return [
        Holonomic(name, sum(x**2 for x in unit) - 1)
        for unit in system.units
        if (name := f"unit length of {', '.join(x.name for x in unit)}") not in known
    ]
