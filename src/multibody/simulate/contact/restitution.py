"""Impacts at their own times within a step, by Newton's law of restitution.

Contacts are taken at the midpoint. One that closes some time before or after it has its impulse at that time: forces
act on the velocities before and after, and the configuration moves by the impulse for the rest of the step. So a ball
keeps its energy, and its path does not change when an impact moves from one step to the next.

Implicit forces, such as those of PD, assume a jump in the middle of the step. With them a contact without restitution
closes by degrees, so that motion does not jump when an impact moves from one step to the next, and gradients lead
downhill.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from multibody.simulate.contact.contact_rows import JointRows

SLOW = 3.0
"""Approaches below this many g dt do not bounce; plastic contacts that approach by less than this many times the change
of velocity by forces in a step are lasting contacts, not impacts."""
NEVER, SMALLEST_DIVISOR = 1e30, 1e-30


def is_plastic(e: Any) -> bool:
    """Whether this restitution is 0 in all samples."""
    return isinstance(e, float) and e == 0.0


def impact(
    dt: Any, slow: Any, gap: Any, before: Any, free: Any, e: Any, *, gradual: bool = False
) -> tuple[Any, Any, Any]:
    """Whether there is an impact in this step, its time after the middle of it in s, and the velocity that it leaves.

    Args:
        dt: the step in s.
        slow: the approach below which nothing bounces, in m/s.
        gap: in the middle of the step, in m.
        before: the velocity along the normal at the start of the step, in m/s.
        free: that at its end without an impulse.
        e: the restitution.
        gradual: whether contacts without restitution close by degrees.
    """
    smooth = free - before
    lasting = NEVER if gradual else np.maximum(slow, SLOW * np.abs(smooth))
    slow = lasting if is_plastic(e) else np.where(e > 0.0, slow, lasting)
    hits = (free + 2.0 / dt * np.maximum(gap, 0.0) < 0.0) & (before < -slow)
    late = np.clip(gap / np.maximum(np.maximum(-before, slow), SMALLEST_DIVISOR), -dt / 2, dt / 2)
    return hits, late, np.maximum((0.5 - late / dt) * smooth - e * (before + (0.5 + late / dt) * smooth), 0.0)


def limit_impacts(
    bounds: JointRows, dt: Any, at: NDArray[Any], before: NDArray[Any], free: NDArray[Any]
) -> tuple[tuple[Any, Any, Any], tuple[Any, Any, Any]]:
    """The impacts of joints at their lower and at their upper limits; a velocity that it leaves is away from the limit.

    As 3 g dt for contacts: an approach that is slower than three times the change by forces in a step does not bounce.
    """
    slow, e = SLOW * np.abs(free - before), bounds.restitution
    lower = impact(dt, slow, at - bounds.lower, before, free, e)
    return lower, impact(dt, slow, bounds.upper - at, -before, -free, e)
