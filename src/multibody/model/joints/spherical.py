"""A ball joint: all rotations."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multibody.geometry import Pose, Rotation, quaternions
from multibody.geometry._arrays import transpose
from multibody.geometry.groups import SO3, Group
from multibody.model.joints._kind import Kind
from multibody.model.joints.motion_subspace import Subspace


def turned(q: NDArray[Any], phi: NDArray[Any]) -> NDArray[Any]:
    """The unit quaternion after a rotation vector, (..., 3), in the body's frame.  [From 59]"""
    return quaternions.multiply(q, quaternions.from_rotation_vector(phi))


def turn(q0: NDArray[Any], q1: NDArray[Any]) -> NDArray[Any]:
    """The rotation vector, in the body's frame, that leads from q0 to q1 the shortest way."""
    return quaternions.to_rotation_vector(quaternions.canonical(quaternions.multiply(quaternions.conjugate(q0), q1)))


def quaternion_rate(q: NDArray[Any]) -> NDArray[Any]:
    """(..., 4, 3): the rate of the quaternion from the angular velocity in the body.  [Kindr §Quaternion Rates]"""
    return transpose(quaternions.rate_matrix_bar(q)) / 2


@dataclass(frozen=True)
class Spherical(Kind):
    """q = the unit quaternion w, x, y, z of j_R_i; v = i_w_ji.  [From §4.1]"""

    nq = 4
    nv = 3
    units = ("", "", "", "")
    rates = ("rad", "rad", "rad")
    quaternion = slice(0, 4)

    @property
    def groups(self) -> tuple[Group, ...]:
        return (SO3(),)

    def pose(self, q: NDArray[Any]) -> Pose:
        R = quaternions.to_matrix(q)
        return Pose._trusted(Rotation._trusted(R), np.zeros_like(R[..., 0]))

    def subspace(self, q: NDArray[Any]) -> Subspace:
        return Subspace.constant(np.eye(6)[:, 3:], q)

    def integrate(self, q: NDArray[Any], dv: NDArray[Any]) -> NDArray[Any]:
        return turned(q, dv)

    def difference(self, q0: NDArray[Any], q1: NDArray[Any]) -> NDArray[Any]:
        return turn(q0, q1)

    def neutral(self) -> NDArray[Any]:
        return np.array([1.0, 0.0, 0.0, 0.0])

    def rate_matrix(self, q: NDArray[Any]) -> NDArray[Any]:
        return quaternion_rate(q)

    def rate_inverse(self, q: NDArray[Any]) -> NDArray[Any]:
        return 4 * transpose(quaternion_rate(q))

    def random(
        self, rng: np.random.Generator, lower: NDArray[Any], upper: NDArray[Any], batch: tuple[int, ...]
    ) -> NDArray[Any]:
        """Uniform over the rotations; limits of a quaternion's numbers have no meaning."""
        del lower, upper
        return Rotation.random(rng, batch).quaternion.copy()
