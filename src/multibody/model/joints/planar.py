"""Motion in a plane: two translations, and rotation about the normal."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multibody.geometry import Pose, Rotation
from multibody.geometry._arrays import matrix, vector
from multibody.geometry.groups import SE2
from multibody.model.joints._turning_plane import TurningPlane


@dataclass(frozen=True)
class Planar(TurningPlane):
    """q = [x, y, θ], θ about z; v = the velocity of SE(2) in the child's frame.  [From §4.3]"""

    nq = 3
    nv = 3
    units = ("m", "m", "rad")
    rates = ("m", "m", "rad")

    @property
    def group(self) -> SE2:
        return SE2()

    def pose(self, q: NDArray[Any]) -> Pose:
        return Pose._trusted(Rotation.elementary("z", q[..., 2]), vector(q[..., 0], q[..., 1], 0))

    def _translation_rate(self, q: NDArray[Any]) -> NDArray[Any]:
        c, s = np.cos(q[..., 2]), np.sin(q[..., 2])
        return matrix([[c, -s], [s, c]])

    def _element(self, q: NDArray[Any]) -> NDArray[Any]:
        x, y, c, s = q[..., 0], q[..., 1], np.cos(q[..., 2]), np.sin(q[..., 2])
        return matrix([[c, -s, x], [s, c, y], [0, 0, 1]])
