"""The expected CPU time of a derivation, which is announced before work that takes minutes."""

from multibody.derive.algebra.forms_to_expressions import cost
from multibody.derive.system.system import System

QUICKEST = "recursive-newton-euler"
MAX_SILENT_SECONDS = 10.0
"""The expected CPU time of a derivation from which on it is announced."""


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
