"""Right angles that a robot file rounds, such as 1.5708, made exact: exact zeros fold in a kernel."""

import math
from collections.abc import Iterable, Sequence

import numpy as np

from multibody.geometry import Rotation

ROUNDING = 1e-14
"""Rounding error of the entries of a rotation."""

SNAP = 1e-10
"""Default tolerance within which entries of rotations are rounded to 0 and ±1."""


def snap(numbers: Iterable[float], tolerance: float) -> tuple[tuple[float, ...], bool]:
    """Entries of a rotation or an axis, exact within a tolerance of 0 and ±1, and whether more than rounding changed.

    >>> snap((0.0, -1e-12, 0.9999999999999), 1e-10)
    ((0.0, 0.0, 1.0), True)
    """
    exact, changed = [], False
    for x in numbers:
        whole = float(round(x)) if math.isfinite(x) else x
        near = abs(x - whole)
        exact.append(whole + 0.0 if near <= tolerance else x)
        changed = changed or ROUNDING < near <= tolerance
    return tuple(exact), changed


def snap_rotation(entries: Sequence[float], tolerance: float) -> tuple[Rotation, bool]:
    """The rotation with these nine entries, row by row, snapped unless the result would not be a rotation."""
    exact, changed = snap(entries, tolerance)
    if not _is_rotation(exact):
        exact, changed = tuple(x + 0.0 for x in entries), False
    return Rotation._trusted(np.array((exact[:3], exact[3:6], exact[6:]))), changed


def rotation_from_rpy(rpy: Iterable[float], tolerance: float) -> tuple[Rotation, bool]:
    """The rotation Rz(yaw) Ry(pitch) Rx(roll), and whether more than rounding was snapped.

    Sines and cosines near 0 and ±1 are made exact, and then entries, unless that would leave the rotations.
    """
    pairs: list[float] = []
    changed = False
    for angle in rpy:
        c, s = math.cos(angle), math.sin(angle)
        near = min(abs(c), abs(s))
        if near <= tolerance:
            c, s = float(round(c)), float(round(s))
            changed = changed or near > ROUNDING
        pairs += (c, s)
    cr, sr, cp, sp, cy, sy = pairs
    entries = (
        *(cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr),
        *(sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr),
        *(-sp, cp * sr, cp * cr),
    )
    rotation, snapped = snap_rotation(entries, tolerance)
    return rotation, changed or snapped


def _is_rotation(R: tuple[float, ...]) -> bool:
    rows = (R[:3], R[3:6], R[6:])
    return all(
        abs(sum(x * y for x, y in zip(rows[a], rows[b], strict=True)) - (a == b)) <= ROUNDING
        for a in range(3)
        for b in range(a, 3)
    )
