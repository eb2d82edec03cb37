"""The methods, by name: which of them fit a system, and the equations that they find."""

import logging
from collections.abc import Callable
from dataclasses import dataclass

from multibody.derive.methods import (
    boltzmann_hamel,
    lagrange,
    lagrange_multipliers,
    lagrange_particles,
    lie_groups,
    newton_euler,
    projected_newton_euler,
    recursive_newton_euler,
)
from multibody.derive.methods.expected_time import QUICKEST, why_slow
from multibody.derive.results.equations import Equations
from multibody.derive.system import degeneracy
from multibody.derive.system.system import System, expect_system
from multibody.errors import InputError


@dataclass(frozen=True)
class Method:
    """A way to equations of motion."""

    title: str
    derive: Callable[[System], Equations]
    why_not: Callable[[System], str] = lambda _: ""
    """Why it does not fit a system; empty when it does."""


METHODS: dict[str, Method] = {
    "newton-euler": Method("Newton–Euler of free-cut bodies", newton_euler.newton_euler),
    "lagrange": Method("Lagrange, second kind", lagrange.lagrange, lagrange.why_not),
    "lagrange-multipliers": Method(
        "Lagrange, first kind", lagrange_multipliers.lagrange_multipliers, lagrange_multipliers.why_not
    ),
    "projected-newton-euler": Method("projected Newton–Euler", projected_newton_euler.projected_newton_euler),
    "lagrange-particles": Method(
        "Lagrange of particles", lagrange_particles.lagrange_particles, lagrange_particles.why_not
    ),
    QUICKEST: Method(
        "recursive Newton–Euler", recursive_newton_euler.recursive_newton_euler, recursive_newton_euler.why_not
    ),
    "boltzmann-hamel": Method("Boltzmann–Hamel", boltzmann_hamel.boltzmann_hamel, boltzmann_hamel.why_not),
    "lie-groups": Method("Hamel on Lie groups", lie_groups.lie_groups, lie_groups.why_not),
}
"""In the order of the documents."""


def applicable(system: System) -> tuple[str, ...]:
    """The names of the methods that fit a system."""
    expect_system(system)
    return tuple(name for name, method in METHODS.items() if not method.why_not(system))


def equations(system: System, method: str = "projected-newton-euler") -> Equations:
    """The equations of motion of a system, by one of the methods.

    Work that may take minutes is reported to the logger "multibody" before it begins, as INFO,
    with an estimate.

    Raises:
        InputError: when there is no such method, or it does not fit the system, and why.
    """
    expect_system(system)
    if not isinstance(method, str) or method not in METHODS:
        raise InputError(f"no method {method!r}: there are {', '.join(METHODS)}")
    why_not = METHODS[method].why_not(system)
    if why_not:
        raise InputError(f"{system.name}: the method {method!r} does not fit: {why_not}")
    degeneracy.rotations(system)
    if slow := why_slow(system, method):
        logging.getLogger("multibody").info(slow)
    return METHODS[method].derive(system)
