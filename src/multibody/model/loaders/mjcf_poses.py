"""Places in a compiled MuJoCo model, with right angles made exact."""

import numpy as np
from numpy.typing import ArrayLike

from multibody.geometry import Pose, quaternions
from multibody.model.loaders.snap import snap, snap_rotation


class Poses:
    """Makes poses of positions and quaternions (w, x, y, z), and counts what was snapped."""

    def __init__(self, snap: float) -> None:
        self.snap = snap
        self.snapped = 0
        """The number of rotations or axes changed by more than rounding."""

    def pose(self, position: ArrayLike, quaternion: ArrayLike) -> Pose:
        """A pose; entries of the rotation within `snap` of 0 and ±1 are exact, unless that would spoil it."""
        R = quaternions.to_matrix(quaternions.normalize(np.array(quaternion, dtype=float)))
        rotation, changed = snap_rotation(R.ravel().tolist(), self.snap)
        self.snapped += changed
        return Pose._trusted(rotation, np.array(position, dtype=float))

    def axis(self, axis: ArrayLike) -> tuple[float, ...]:
        """A unit axis, exact in the same way."""
        exact, changed = snap(np.array(axis, dtype=float).tolist(), self.snap)
        self.snapped += changed
        return exact
