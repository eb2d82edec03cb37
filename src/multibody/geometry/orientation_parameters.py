"""Parameterisations of orientations, one class each: to rotations and back, E_R in frames A and B, E_R^-1, E_R'."""

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multibody.geometry import euler, quaternions, so3
from multibody.geometry._arrays import eye_like, transpose, vector
from multibody.geometry.operators import cross3, hat3
from multibody.geometry.rotation import Rotation

SIGN = {"A": 1.0, "B": -1.0}
"""Most rate maps in frame B are those in frame A with the sign of one cross product changed."""


class Parameters:
    """The base of all parameterisations χ, (..., size): by default without a singularity."""

    size = 3
    singular = "nowhere"

    def distance(self, chi: NDArray[Any]) -> NDArray[Any]:
        """(...): the distance to the nearest singularity of the inverse rates, in m or rad."""
        return np.ones_like(chi[..., 0]) * np.inf


class Orientation(Parameters, ABC):
    """The interface of a parameterisation of a rotation A_R_B."""

    @abstractmethod
    def rotation(self, chi: NDArray[Any]) -> Rotation:
        """The rotation of the parameters."""

    @abstractmethod
    def parameters(self, rotation: Rotation) -> NDArray[Any]:
        """The parameters of a rotation."""

    @abstractmethod
    def angular(self, chi: NDArray[Any], frame: str) -> NDArray[Any]:
        """E_R, (..., 3, size): the angular velocity is E_R χ'."""

    @abstractmethod
    def angular_inverse(self, chi: NDArray[Any], frame: str) -> NDArray[Any]:
        """E_R^-1, (..., size, 3): χ' is E_R^-1 times the angular velocity."""

    @abstractmethod
    def angular_dot(self, chi: NDArray[Any], dchi: NDArray[Any], frame: str) -> NDArray[Any]:
        """The time derivative of E_R."""


class Euler(Orientation):
    """Three Euler angles, in the order of the sequence.  [RD 2.82-2.93; Kindr 1-8, §Euler ZYX Rates, §Appendix I]"""

    def __init__(self, name: str) -> None:
        self.name = name
        self.sequence = euler.parse(name)
        self.singular = f"at a middle angle of {'0 or pi' if self.sequence.proper else '+-pi/2'} (gimbal lock)"

    def rotation(self, chi: NDArray[Any]) -> Rotation:
        return Rotation.from_euler(self.name, chi)

    def parameters(self, rotation: Rotation) -> NDArray[Any]:
        return rotation.euler(self.name)

    def angular(self, chi: NDArray[Any], frame: str) -> NDArray[Any]:
        """The columns are the axes of the three rotations.  [RD 2.86, 2.88, 2.90, 2.92; Kindr 5, 7]"""
        sequence, chi = self._seen_from(frame, chi)
        return self._columns(euler.axes(sequence, chi), frame)

    def angular_inverse(self, chi: NDArray[Any], frame: str) -> NDArray[Any]:
        """Rows that are dual to the axes.  [RD 2.87, 2.89, 2.91, 2.93; Kindr 6, 8]"""
        sequence, chi = self._seen_from(frame, chi)
        n1, n2, _ = euler.axes(sequence, chi)
        sigma, rho, p = euler.last_axis(sequence, chi)
        rows = (n1 - (sigma / rho)[..., None] * p, n2, p / rho[..., None])
        return transpose(self._columns(rows, frame))

    def angular_dot(self, chi: NDArray[Any], dchi: NDArray[Any], frame: str) -> NDArray[Any]:
        """Each axis is carried along by the rotations before it."""
        sequence, chi = self._seen_from(frame, chi)
        _, dchi = self._seen_from(frame, dchi)
        n1, n2, n3 = euler.axes(sequence, chi)
        d1, d2, _ = euler.intrinsic_order(sequence, dchi)
        w1 = d1[..., None] * n1
        w2 = w1 + d2[..., None] * n2
        return self._columns((np.zeros_like(w1), cross3(w1, n2), cross3(w2, n3)), frame)

    def distance(self, chi: NDArray[Any]) -> NDArray[Any]:
        return euler.gimbal_lock_distance(self.sequence, chi)

    def _seen_from(self, frame: str, chi: NDArray[Any]) -> tuple[euler.Sequence, NDArray[Any]]:
        """Seen from B, the sequence runs backwards with the angles negated, and A turns the other way."""
        if frame == "A":
            return self.sequence, chi
        return euler.reversed_sequence(self.sequence), vector(-chi[..., 2], -chi[..., 1], -chi[..., 0])

    def _columns(self, axes: tuple[NDArray[Any], ...], frame: str) -> NDArray[Any]:
        backwards = self.sequence.extrinsic != (frame == "B")
        return np.stack(axes[::-1] if backwards else axes, axis=-1)


class Quaternion(Orientation):
    """The unit quaternion w, x, y, z.  [RD 2.94-2.99; Kindr §Quaternion Rates]"""

    size = 4
    _H = {"A": staticmethod(quaternions.rate_matrix), "B": staticmethod(quaternions.rate_matrix_bar)}  # noqa: RUF012

    def rotation(self, chi: NDArray[Any]) -> Rotation:
        return Rotation.from_quaternion(chi)

    def parameters(self, rotation: Rotation) -> NDArray[Any]:
        return rotation.quaternion

    def angular(self, chi: NDArray[Any], frame: str) -> NDArray[Any]:
        """E_R = 2 H(ξ).  [RD 2.98]"""
        return 2 * self._H[frame](chi)

    def angular_inverse(self, chi: NDArray[Any], frame: str) -> NDArray[Any]:
        """E_R^-1 = H(ξ)^T / 2.  [RD 2.99]"""
        return transpose(self._H[frame](chi)) / 2

    def angular_dot(self, chi: NDArray[Any], dchi: NDArray[Any], frame: str) -> NDArray[Any]:  # noqa: ARG002
        return 2 * self._H[frame](dchi)


class AngleAxis(Orientation):
    """The angle and the unit axis, (θ, n_x, n_y, n_z).  [RD 2.100-2.103; Kindr §Angle-Axis Rates]"""

    size = 4
    singular = "at an angle of 0, 2 pi, ..., where the axis is not defined"

    def rotation(self, chi: NDArray[Any]) -> Rotation:
        return Rotation.from_angle_axis(chi[..., 0], chi[..., 1:])

    def parameters(self, rotation: Rotation) -> NDArray[Any]:
        angle, axis = rotation.angle_axis
        return np.concatenate([angle[..., None], axis], axis=-1)

    def angular(self, chi: NDArray[Any], frame: str) -> NDArray[Any]:
        """[n, sin θ 1 ± (1 - cos θ) n^].  [RD 2.100, 2.102]"""
        theta, n = chi[..., 0, None, None], chi[..., 1:]
        turn = np.sin(theta) * eye_like(chi, 3) + SIGN[frame] * (1 - np.cos(theta)) * hat3(n)
        return np.concatenate([n[..., :, None], turn], axis=-1)

    def angular_inverse(self, chi: NDArray[Any], frame: str) -> NDArray[Any]:
        """[n^T; -(cot(θ/2) n^² ± n^) / 2].  [RD 2.101, 2.103]"""
        theta, n = chi[..., 0, None, None], chi[..., 1:]
        cotangent, N = np.cos(theta / 2) / np.sin(theta / 2), hat3(n)
        lower = -(cotangent * np.matmul(N, N) + SIGN[frame] * N) / 2
        return np.concatenate([n[..., None, :], lower], axis=-2)

    def angular_dot(self, chi: NDArray[Any], dchi: NDArray[Any], frame: str) -> NDArray[Any]:
        theta, n = chi[..., 0, None, None], chi[..., 1:]
        dtheta, dn = dchi[..., 0, None, None], dchi[..., 1:]
        turn = np.cos(theta) * dtheta * eye_like(chi, 3)
        swing = np.sin(theta) * dtheta * hat3(n) + (1 - np.cos(theta)) * hat3(dn)
        return np.concatenate([dn[..., :, None], turn + SIGN[frame] * swing], axis=-1)

    def distance(self, chi: NDArray[Any]) -> NDArray[Any]:
        return np.abs(2 * np.sin(chi[..., 0] / 2))


class RotationVector(Orientation):
    """The axis times the angle.  [RD 2.104-2.107; Kindr §Rotation Vector Rates]"""

    singular = "at an angle of 2 pi, 4 pi, ..."

    def rotation(self, chi: NDArray[Any]) -> Rotation:
        return Rotation.from_rotation_vector(chi)

    def parameters(self, rotation: Rotation) -> NDArray[Any]:
        return rotation.rotation_vector

    def angular(self, chi: NDArray[Any], frame: str) -> NDArray[Any]:
        """Γ(±φ).  [RD 2.106]"""
        return so3.left_jacobian(SIGN[frame] * chi)

    def angular_inverse(self, chi: NDArray[Any], frame: str) -> NDArray[Any]:
        """Γ(±φ)^-1.  [RD 2.107]"""
        return so3.left_jacobian_inverse(SIGN[frame] * chi)

    def angular_dot(self, chi: NDArray[Any], dchi: NDArray[Any], frame: str) -> NDArray[Any]:
        return so3.left_jacobian_dot(SIGN[frame] * chi, SIGN[frame] * dchi)

    def distance(self, chi: NDArray[Any]) -> NDArray[Any]:
        theta = np.linalg.norm(chi, axis=-1)
        return np.where(theta < np.pi, np.pi, np.abs(2 * np.sin(theta / 2)))


class Matrix(Orientation):
    """The nine entries of the rotation matrix, row after row.  [RD 2.72-2.75; Kindr §Matrix Rates]"""

    size = 9

    def rotation(self, chi: NDArray[Any]) -> Rotation:
        return Rotation.from_matrix(chi.reshape(*chi.shape[:-1], 3, 3))

    def parameters(self, rotation: Rotation) -> NDArray[Any]:
        return rotation.matrix.reshape(*rotation.matrix.shape[:-2], 9)

    def angular(self, chi: NDArray[Any], frame: str) -> NDArray[Any]:
        """Half the transpose of the inverse map, whose columns are orthogonal: vee(C' C^T), or vee(C^T C').

        [RD 2.72-2.73; Kindr §Matrix Rates]
        """
        return transpose(self.angular_inverse(chi, frame)) / 2

    def angular_inverse(self, chi: NDArray[Any], frame: str) -> NDArray[Any]:
        """C' = A_w^ C = C B_w^, as a linear map of the angular velocity.  [RD 2.72; Kindr §Matrix Rates]"""
        C = chi.reshape(*chi.shape[:-1], 3, 3)
        basis = hat3(eye_like(chi, 3))  # basis[k] = hat3(e_k)
        rates = [np.matmul(b, C) if frame == "A" else np.matmul(C, b) for b in basis]
        return np.stack([rate.reshape(chi.shape) for rate in rates], axis=-1)

    def angular_dot(self, chi: NDArray[Any], dchi: NDArray[Any], frame: str) -> NDArray[Any]:  # noqa: ARG002
        return self.angular(dchi, frame)
