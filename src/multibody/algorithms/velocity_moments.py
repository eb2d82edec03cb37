"""Moments of the velocities of a body's particles, from which Coriolis terms follow.

For particles at r with velocities u and masses dm: p = ∫ u dm, G = ∫ u r^T dm. The matrix B of a moving body, with
B y = ∫ (y_w × u, r × (y_w × u)) dm, has B v = v ×* (M v), and M' - 2 B is skew-symmetric.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from multibody.algorithms.mass_moments import MassMoments
from multibody.geometry import Pose, Twist, Wrench
from multibody.geometry._arrays import matvec, transpose
from multibody.geometry.operators import cross3, hat3


class VelocityMoments(NamedTuple):
    """p and G of one or several bodies, about a frame's origin, along its axes."""

    p: NDArray[Any]
    G: NDArray[Any]

    @staticmethod
    def of(mass: MassMoments, v: Twist) -> "VelocityMoments":
        """The moments of a body that moves with a twist: u = v + w × r."""
        p = mass.mass[..., None] * v.linear + cross3(v.angular, mass.first)
        G = v.linear[..., :, None] * mass.first[..., None, :] + np.matmul(hat3(v.angular), mass.second)
        return VelocityMoments(p, G)

    def __add__(self, other: Any) -> "VelocityMoments":
        return VelocityMoments(self.p + other.p, self.G + other.G)

    def in_frame(self, A_H_B: Pose) -> "VelocityMoments":
        """The moments given in frame B, in frame A."""
        R, p = A_H_B.rotation.matrix, A_H_B.rotation @ self.p
        turned = np.matmul(np.matmul(R, self.G), transpose(R))
        return VelocityMoments(p, turned + p[..., :, None] * A_H_B.position[..., None, :])

    def times(self, y: Twist) -> Wrench:
        """B y."""
        return Wrench._trusted(cross3(y.angular, self.p), self._trace() * y.angular - matvec(self.G, y.angular))

    def transpose_times(self, y: Twist) -> NDArray[Any]:
        """The angular part of B^T y; the linear part is zero."""
        turned = self._trace() * y.angular - matvec(transpose(self.G), y.angular)
        return cross3(self.p, y.linear) + turned

    def _trace(self) -> NDArray[Any]:
        G = self.G
        return (G[..., 0, 0] + G[..., 1, 1] + G[..., 2, 2])[..., None]
