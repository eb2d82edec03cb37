"""The methods, by name: which of them fit a system, and the equations that they find."""

import logging
from collections.abc import Callable
from dataclasses import dataclass

from multibody.derive.algebra.forms_to_expressions import cost
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


QUICKEST = "recursive-newton-euler"
MAX_SILENT_SECONDS = 10.0
"""The expected CPU time of a derivation from which on it is announced."""
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

    Work that may take minutes is reported to the logger "multibody" before it begins, as INFO, with an estimate.

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
    slow = why_slow(system, method)
    if slow:
        logging.getLogger("multibody").info(slow)
    return METHODS[method].derive(system)


def why_slow(system: System, method: str) -> str:
    """Return the expected time of a slow method, and which one is quicker; an empty text for a quick method."""
    seconds = expected_seconds(system, method)
    if seconds < MAX_SILENT_SECONDS:
        return ""
    size = f"{system.name} has {len(system.bodies)} bodies and {len(system.v)} velocities"
    quick = f", {QUICKEST!r} {_about(expected_seconds(system, QUICKEST))}" if system.tree is not None else ""
    return f"{size}: {method!r} takes {_about(seconds)} of CPU time{quick}"


def expected_seconds(system: System, method: str) -> float:
    """Return an estimate of the CPU time of a derivation, from the sizes of the formulas for the places of the bodies.

    Robots with 4 to 18 joints took between a third and three times of it.
    """
    if method == QUICKEST:
        return 0.15 * len(system.bodies)
    sizes = [cost(*body.position, *(body.rotation or ())) for body in system.bodies]
    seconds = max(2.5e-6 * sum(x * x for x in sizes), 1e-4 * len(system.v) * sum(sizes))
    return seconds if method == "projected-newton-euler" else 3 * seconds


def _about(seconds: float) -> str:
    """A duration with one digit."""
    amount, unit = (seconds / 60, "minute") if seconds >= 50 else (seconds, "second")
    digit = max(1, int(float(f"{amount:.1g}")))
    return f"about {digit} {unit}{'s' * (digit > 1)}"
