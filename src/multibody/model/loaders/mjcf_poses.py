"""Places in a compiled MuJoCo model, with right angles made exact."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from multibody.geometry import Pose, Rotation, quaternions

ROUNDING = 1e-14
"""Rounding error of the entries of a rotation."""


class Poses:
    """Makes poses of positions and quaternions (w, x, y, z), and counts what was snapped."""

    def __init__(self, snap: float) -> None:
        self.snap = snap
        self.snapped = 0
        """The number of rotations or axes changed by more than rounding."""

    def pose(self, position: ArrayLike, quaternion: ArrayLike) -> Pose:
        """A pose; entries of the rotation within `snap` of 0 and ±1 are exact, unless that would spoil it."""
        R = quaternions.to_matrix(quaternions.normalize(np.array(quaternion, dtype=float)))
        near = self._near(R)
        if np.abs(near @ near.T - np.eye(3)).max() <= ROUNDING:
            self._count(R, near)
            R = near
        return Pose._trusted(Rotation._trusted(R), np.array(position, dtype=float))

    def axis(self, axis: ArrayLike) -> tuple[float, ...]:
        """A unit axis, exact in the same way."""
        a = np.array(axis, dtype=float)
        near = self._near(a)
        self._count(a, near)
        return tuple(near.tolist())

    def _near(self, x: NDArray[Any]) -> NDArray[Any]:
        whole = np.round(x)
        return np.where(np.abs(x - whole) <= self.snap, whole, x) + 0.0

    def _count(self, x: NDArray[Any], near: NDArray[Any]) -> None:
        self.snapped += bool(np.abs(x - near).max() > ROUNDING)
