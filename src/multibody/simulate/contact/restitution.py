"""Newton's law of impact, at impacts' own times within a step, and the slowest approach that bounces.

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

from multibody.model.tree import Tree
from multibody.simulate.contact.gaps import closing_velocity
from multibody.simulate.contact.joint_limits import JointRows

THRESHOLD_STEPS = 3.0
"""Approaches below this many g dt do not bounce; plastic contacts that approach by less than this many times the change
of velocity by forces in a step are lasting contacts, not impacts."""
NEVER, SMALLEST_DIVISOR = 1e30, 1e-30


def bounce_threshold(tree: Tree, dt: float) -> Any:
    """The approach below which nothing bounces, in m/s."""
    return THRESHOLD_STEPS * dt * gravity(tree)


def gravity(tree: Tree) -> Any:
    """The magnitude of gravity, in m/s²."""
    g = tree.gravity
    return np.sqrt(g[0] * g[0] + g[1] * g[1] + g[2] * g[2])


def newton_impact(slow: Any, ahead: Any, before: Any, e: Any) -> tuple[Any, Any]:
    """Whether there is an impact of a closed contact now, and the velocity that it leaves, -e u⁻.  [RD 3.70]

    Args:
        slow: the approach below which nothing bounces, in m/s.
        ahead: the velocity along the normal without an impulse, with the gap that may close, in m/s.
        before: the velocity along the normal, u⁻, in m/s.
        e: the restitution.
    """
    return (not _is_plastic(e)) & (ahead < 0.0) & (before < -slow), -e * before


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
    if gradual and _is_plastic(e):
        return False, 0.0, 0.0
    smooth = free - before
    lasting = NEVER if gradual else np.maximum(slow, THRESHOLD_STEPS * np.abs(smooth))
    slow = lasting if _is_plastic(e) else np.where(e > 0.0, slow, lasting)
    hits = (closing_velocity(free, gap, dt) < 0.0) & (before < -slow)
    late = np.clip(gap / np.maximum(np.maximum(-before, slow), SMALLEST_DIVISOR), -dt / 2, dt / 2)
    return hits, late, np.maximum((0.5 - late / dt) * smooth - e * (before + (0.5 + late / dt) * smooth), 0.0)


def limit_impacts(
    bounds: JointRows, dt: Any, at: NDArray[Any], before: NDArray[Any], free: NDArray[Any]
) -> tuple[tuple[Any, Any, Any], tuple[Any, Any, Any]]:
    """The impacts of joints at their lower and at their upper limits; a velocity that it leaves is away from the limit.

    As 3 g dt for contacts: an approach that is slower than three times the change by forces in a step does not bounce.
    """
    slow, e = THRESHOLD_STEPS * np.abs(free - before), bounds.restitution
    lower = impact(dt, slow, at - bounds.lower, before, free, e)
    return lower, impact(dt, slow, bounds.upper - at, -before, -free, e)


def _is_plastic(e: Any) -> bool:
    """Whether this restitution is 0 in all samples."""
    return isinstance(e, float) and e == 0.0
