"""Impacts at their own times within a step, by Newton's law.

Contacts are looked at in the middle of a step. One that closes some time before or after it has its impulse then:
forces act on the velocity before and after, and the configuration feels the impulse for the rest of the step. A ball
keeps its energy in this way, and its path is no other when an impact moves from one step to the next.

Forces that are implicit in the velocity, as those of PD, are of a jump in the middle of the step, wherever it is. With
them a contact without restitution closes by degrees, so that motion does not jump when an impact moves from one step to
the next, and gradients lead downhill.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from multibody.simulate.contact.contact_rows import ContactRows, JointRows

SLOW = 3.0
"""Approaches below so many g dt do not bounce; below so many times what forces change in a step they are no impacts
where nothing bounces, but contacts that last."""
NEVER, TINY = 1e30, 1e-30


def is_plastic(e: Any) -> bool:
    """Whether nothing ever bounces with this restitution."""
    return isinstance(e, float) and e == 0.0


def rebounds(
    dt: float, slow: Any, gap: Any, before: Any, free: Any, e: Any, *, gradual: bool = False
) -> tuple[Any, Any]:
    """Whether there is an impact in this step, and the velocity along its normal at the end, in m/s.

    Args:
        dt: the step in s.
        slow: approaches below it, in m/s, do not bounce.
        gap: in the middle of the step, in m.
        before: the velocity at the start of the step, in m/s.
        free: that at the end without an impulse.
        e: the restitution.
        gradual: whether contacts without restitution close by degrees.
    """
    hits, late = _impact(dt, slow, gap, before, free, e, gradual=gradual)
    smooth = free - before
    return hits, np.maximum((0.5 - late / dt) * smooth - e * (before + (0.5 + late / dt) * smooth), 0.0)


def stops(
    bounds: JointRows, dt: float, at: NDArray[Any], before: NDArray[Any], free: NDArray[Any]
) -> tuple[tuple[Any, Any, Any], tuple[Any, Any, Any]]:
    """Of joints at their lower and at their upper limits: whether they bounce, how late, and how fast they leave.

    As 3 g dt for contacts: an approach that is slower than three times what forces change in a step does not bounce.
    Arguments are (joints,), in the middle of the step, before it, and at its end without an impulse.
    """
    slow, e = SLOW * np.abs(free - before), bounds.restitution
    lower, upper = at - bounds.lower, bounds.upper - at
    return (
        (*_impact(dt, slow, lower, before, free, e), rebounds(dt, slow, lower, before, free, e)[1]),
        (*_impact(dt, slow, upper, -before, -free, e), rebounds(dt, slow, upper, -before, -free, e)[1]),
    )


def lateness(
    dt: float,
    slow: Any,
    touching: list[ContactRows],
    before: NDArray[Any],
    free: NDArray[Any],
    restitutions: list[Any],
    *,
    gradual: bool,
) -> NDArray[Any]:
    """(3 contacts,): how long after the middle of the step those with an impact close, in s; 0 for the others."""
    times: list[Any] = []
    for k, (touch, e) in enumerate(zip(touching, restitutions, strict=True)):
        hits, late = _impact(dt, slow, touch.gap, before[3 * k + 2], free[3 * k + 2], e, gradual=gradual)
        times += 3 * [np.where(hits, late, 0.0)]
    return np.stack(times)


def _impact(
    dt: float, slow: Any, gap: Any, before: Any, free: Any, e: Any, *, gradual: bool = False
) -> tuple[Any, Any]:
    """Whether there is an impact in this step, and how long after the middle of it, in s, not beyond its ends."""
    lasting = NEVER if gradual else np.maximum(slow, SLOW * np.abs(free - before))
    slow = lasting if is_plastic(e) else np.where(e > 0.0, slow, lasting)
    hits = (free + 2.0 / dt * np.maximum(gap, 0.0) < 0.0) & (before < -slow)
    return hits, np.clip(gap / np.maximum(np.maximum(-before, slow), TINY), -dt / 2, dt / 2)
