"""Free motion: a body that nothing holds."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multibody.geometry import Pose, Rotation, quaternions
from multibody.geometry._arrays import block_matrix, transpose
from multibody.geometry.groups import SE3, Group
from multibody.model.joints._kind import Kind
from multibody.model.joints.motion_subspace import Subspace
from multibody.model.joints.spherical import quaternion_rate


@dataclass(frozen=True)
class Floating(Kind):
    """q = [position, unit quaternion w, x, y, z] of j_H_i; v = the twist i_v_ji.  [RD 2.260; MDN 77; From §4.2]

    The velocity of a floating *base* can be written in other ways: see `multibody.model.base_velocity`.
    """

    nq = 7
    nv = 6
    units = ("m", "m", "m", "", "", "", "")
    rates = ("m", "m", "m", "rad", "rad", "rad")
    quaternion = slice(3, 7)

    @property
    def groups(self) -> tuple[Group, ...]:
        return (SE3(),)

    def pose(self, q: NDArray[Any]) -> Pose:
        return Pose._trusted(Rotation._trusted(quaternions.to_matrix(q[..., 3:])), q[..., :3] + 0.0)

    def subspace(self, q: NDArray[Any]) -> Subspace:
        return Subspace.constant(np.eye(6), q)

    def integrate(self, q: NDArray[Any], dv: NDArray[Any]) -> NDArray[Any]:
        """Along a screw: j_H_i exp(dv).  [From 59; MDN 77]"""
        step = Pose.exp(dv)
        position = self.pose(q) @ step.position
        quaternion = quaternions.multiply(q[..., 3:], quaternions.from_rotation_vector(dv[..., 3:]))
        return np.concatenate([position, quaternion], axis=-1)

    def difference(self, q0: NDArray[Any], q1: NDArray[Any]) -> NDArray[Any]:
        turn = quaternions.canonical(quaternions.multiply(quaternions.conjugate(q0[..., 3:]), q1[..., 3:]))
        moved = self.pose(q0).rotation.inverse() @ (q1[..., :3] - q0[..., :3])
        return Pose._trusted(Rotation._of_quaternion(turn), moved).log()

    def neutral(self) -> NDArray[Any]:
        return np.array([0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0])

    def rate_matrix(self, q: NDArray[Any]) -> NDArray[Any]:
        return block_matrix([[self.pose(q).rotation.matrix, 0], [0, quaternion_rate(q[..., 3:])]])

    def rate_inverse(self, q: NDArray[Any]) -> NDArray[Any]:
        R_T = transpose(self.pose(q).rotation.matrix)
        return block_matrix([[R_T, 0], [0, 4 * transpose(quaternion_rate(q[..., 3:]))]])

    def random(
        self, rng: np.random.Generator, lower: NDArray[Any], upper: NDArray[Any], batch: tuple[int, ...]
    ) -> NDArray[Any]:
        """Positions between the limits, by default within 1 m; rotations uniform."""
        position = super().random(rng, lower, upper, batch)[..., :3]
        return np.concatenate([position, Rotation.random(rng, batch).quaternion], axis=-1)
