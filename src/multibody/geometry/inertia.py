"""The inertia of a rigid body as a value, and the equations of motion of one body."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from multibody._reprs import latex_matrix, short
from multibody.errors import InputError
from multibody.geometry import log_cholesky
from multibody.geometry._arrays import (
    at,
    batch_shape,
    block_matrix,
    dot,
    eye_like,
    first,
    floats,
    is_traced,
    matrix,
    matvec,
    numbers,
    solve,
    transpose,
    vector,
)
from multibody.geometry.operators import cross3, cross6_dual, hat3, vee3
from multibody.geometry.pose import Pose
from multibody.geometry.public_api import public, public_methods
from multibody.geometry.twist import Twist
from multibody.geometry.value import Value, need, own
from multibody.geometry.wrench import Wrench

PSEUDO_INERTIA_TOLERANCE = {np.dtype(np.float64): 1e-12, np.dtype(np.float32): 1e-6}
"""Tolerated negative eigenvalue of a pseudo-inertia, relative to the largest: thin bodies are singular."""
INERTIA_TOLERANCE = {np.dtype(np.float64): 1e-9, np.dtype(np.float32): 1e-5}
"""Tolerated deviation from a symmetric, well-formed, physical inertia, relative to its largest entry."""


@public_methods
class SpatialInertia(Value):
    """The inertia of a rigid body in a frame B, or a batch.
    [MDN 67-69, §7; RD 3.15-3.17; QT 18-21]

    `A_H_B @ inertia` writes it in another frame, `+` joins two bodies into one,
    `inertia @ twist` is the momentum. Any symmetric matrix is accepted; `check` reports whether
    a real body can have it.

    >>> inertia = SpatialInertia(mass=2.0, com=[0.0, 0.0, 0.1], inertia=0.01 * np.eye(3))
    >>> inertia.kinetic_energy([1.0, 0, 0, 0, 0, 0])
    np.float64(1.0)
    """

    __slots__ = ("mass", "com", "inertia")
    _core = (0, 1, 2)
    mass: NDArray[Any]
    """(...) in kg."""
    com: NDArray[Any]
    """(..., 3): the centre of mass in the frame, in m."""
    inertia: NDArray[Any]
    """(..., 3, 3): the rotational inertia about the centre of mass, along the frame's axes, in kg m²."""

    def __init__(self, mass: ArrayLike, com: ArrayLike, inertia: ArrayLike) -> None:
        com, inertia = floats(com, "com", 3), floats(inertia, "inertia", 3, 3)
        mass = numbers(mass, "mass", com)
        batch = batch_shape("SpatialInertia", (mass, 0), (com, 1), (inertia, 2))
        if not is_traced(inertia):
            skew = np.abs(inertia - transpose(inertia)).max(axis=(-1, -2))
            bad = (skew > INERTIA_TOLERANCE[inertia.dtype] * np.abs(inertia).max(axis=(-1, -2))) & np.isfinite(skew)
            if bad.any():
                index = first(bad)
                raise InputError(
                    f"inertia{at(index)}: expected a symmetric matrix, got {inertia[index].tolist()} "
                    f"(entries across the diagonal differ by {skew[index]:.3g})"
                )
        for name, part, core in (("mass", mass, ()), ("com", com, (3,)), ("inertia", inertia, (3, 3))):
            object.__setattr__(self, name, np.broadcast_to(own(part), batch + core))

    @classmethod
    def from_matrix(cls, matrix: ArrayLike) -> Self:
        """From 6 × 6 matrices of the form of `matrix`.  [MDN 68]"""
        M = floats(matrix, "6 x 6 inertia", 6, 6)
        mass, offset = M[..., 0, 0], vee3(M[..., 3:, :3])
        com = _per_mass(offset, mass)
        value = cls(mass=mass, com=com, inertia=M[..., 3:, 3:] - _steiner(mass, com))
        if not is_traced(M):
            bad = np.abs(value.matrix - M).max(axis=(-1, -2)) > INERTIA_TOLERANCE[M.dtype] * np.abs(M).max(
                axis=(-1, -2)
            )
            bad = bad & np.isfinite(M).all(axis=(-1, -2))  # NaN and Inf are data
            if bad.any():
                raise InputError(
                    f"6 x 6 inertia{at(first(bad))}: expected [[m 1, -m c^], [m c^, I]], got {M[first(bad)].tolist()}"
                )
        return value

    @classmethod
    def from_parameters(cls, parameters: ArrayLike) -> Self:
        """From (..., 10): m, m c, and Ixx, Ixy, Iyy, Ixz, Iyz, Izz about the frame's origin."""
        p = floats(parameters, "inertial parameters", 10)
        mass = p[..., 0]
        com = _per_mass(p[..., 1:4], mass)
        return cls(mass=mass, com=com, inertia=moments_about_origin(p) - _steiner(mass, com))

    def parameters(self) -> NDArray[Any]:
        """(..., 10): m, m c, and Ixx, Ixy, Iyy, Ixz, Iyz, Izz about the frame's
        origin; dynamics is linear in them.
        """
        return inertial_parameters(self.mass, self.first_moment, self.about_origin)

    @property
    def first_moment(self) -> NDArray[Any]:
        """(..., 3): the mass times the centre of mass, in kg m."""
        return self.mass[..., None] * self.com

    @property
    def about_origin(self) -> NDArray[Any]:
        """(..., 3, 3): the rotational inertia about the frame's origin (Huygens-Steiner).
        [MDN 69]
        """
        return self.inertia + _steiner(self.mass, self.com)

    @property
    def matrix(self) -> NDArray[Any]:
        """(..., 6, 6): the generalized inertia, twist to momentum.  [MDN 67-69]"""
        m = self.mass[..., None, None]
        offset = m * hat3(self.com)
        return block_matrix([[m * eye_like(self.com, 3), -offset], [offset, self.about_origin]])

    def transformed(self, A_H_B: Pose) -> SpatialInertia:
        """The inertia of the body in frame A.  [MDN 68-69; RD §3.3.1; QT 21]"""
        R = need(A_H_B, Pose).rotation.matrix
        inertia = np.matmul(np.matmul(R, self.inertia), transpose(R))
        com = A_H_B @ self.com
        return SpatialInertia._trusted(np.broadcast_to(self.mass, com.shape[:-1]), com, inertia)

    def __rmatmul__(self, other: object) -> SpatialInertia:
        """A_H_B @ inertia: the body in frame A."""
        if isinstance(other, Pose):
            return self.transformed(other)
        return super().__rmatmul__(other)

    def __matmul__(self, other: Twist) -> Wrench:
        """The momentum at a twist."""
        if not isinstance(other, Twist):
            raise InputError(f"SpatialInertia @: expected a Twist, got {type(other).__name__}")
        return Wrench.from_vector(self.momentum(other.vector))

    def __add__(self, other: SpatialInertia) -> SpatialInertia:
        """Both bodies, fixed to one another, as one."""
        if not isinstance(other, SpatialInertia):
            return NotImplemented
        mass = self.mass + other.mass
        share = np.where(mass == 0.0, 0.5, other.mass / np.where(mass == 0.0, 1.0, mass))
        apart = other.com - self.com
        com = self.com + share[..., None] * apart
        inertia = self.inertia + other.inertia + _steiner(self.mass * share, apart)
        return SpatialInertia._trusted(mass, com, inertia)

    # ---- equations of one body ---------------------------------------------------------------------------------------

    def momentum(self, twist: ArrayLike) -> NDArray[Any]:
        """(..., 6): linear momentum, and angular momentum about the frame's origin.
        [RD 3.19-3.20; QT 18-21]

        Args:
            twist: (..., 6) of the body with respect to an inertial frame, written in this
                frame.
        """
        v = floats(twist, "twist", 6)
        linear = self.mass[..., None] * (v[..., :3] + cross3(v[..., 3:], self.com))
        angular = matvec(self.inertia, v[..., 3:]) + cross3(self.com, linear)
        return np.concatenate([linear, angular], axis=-1)

    def kinetic_energy(self, twist: ArrayLike) -> NDArray[Any]:
        """(...): half the product of twist and momentum, in J.  [From 60; QT 26-27]"""
        return dot(floats(twist, "twist", 6), self.momentum(twist)) / 2

    def newton_euler(self, twist: ArrayLike, acceleration: ArrayLike) -> NDArray[Any]:
        """(..., 6): the wrench M a + v ×̄* M v that a body-fixed frame needs.
        [From 1-5, 7, 11, 76, §2.1; RD 3.22-3.25]

        Args:
            twist: (..., 6) B_v_AB of a frame fixed to the body; A is inertial.
            acceleration: (..., 6) its time derivative.
        """
        return kirchhoff(twist, self.momentum(twist), self.momentum(acceleration))

    def acceleration(self, twist: ArrayLike, wrench: ArrayLike) -> NDArray[Any]:
        """(..., 6): the acceleration under a wrench, the inverse of `newton_euler`."""
        rest = floats(wrench, "wrench", 6) - cross6_dual(twist, self.momentum(twist))
        force = rest[..., :3]
        torque = rest[..., 3:] - cross3(self.com, force)
        angular = solve(self.inertia, torque, "the rotational inertia")
        return np.concatenate([force / self.mass[..., None] - cross3(angular, self.com), angular], axis=-1)

    def newton_euler_at_com(
        self, omega: ArrayLike, a_com: ArrayLike, psi: ArrayLike
    ) -> tuple[NDArray[Any], NDArray[Any]]:
        """Force m a and torque Θ Ψ + Ω × Θ Ω about the centre of mass.
        [RD 3.18-3.25; QT 22-24, §3]

        Args:
            omega: (..., 3) angular velocity, along the axes of the frame of this inertia.
            a_com: (..., 3) acceleration of the centre of mass.
            psi: (..., 3) angular acceleration.
        """
        omega, psi = floats(omega, "omega", 3), floats(psi, "psi", 3)
        torque = matvec(self.inertia, psi) + cross3(omega, matvec(self.inertia, omega))
        force = self.mass[..., None] * floats(a_com, "a_com", 3)
        batch = batch_shape("newton_euler_at_com", (force, 1), (torque, 1))
        return np.broadcast_to(force, (*batch, 3)), np.broadcast_to(torque, (*batch, 3))

    # ---- physical consistency ----------------------------------------------------------------------------------------

    def problems(self) -> tuple[str, ...]:
        """Why no real body has this inertia: one sentence for each reason; none when it is fine."""
        moments = np.linalg.eigvalsh(np.where(np.isfinite(self.inertia), self.inertia, 0.0))
        size = np.abs(moments).max(axis=-1)
        excess = triangle_excess(moments)
        finite = np.isfinite(self.mass) & np.isfinite(self.com).all(-1) & np.isfinite(self.inertia).all((-1, -2))
        violations = (
            (~finite, "a number is not finite", self.mass),
            (finite & ~(self.mass > 0), "the mass must be positive, and is {:.6g} kg", self.mass),
            (
                finite & ~(moments[..., 0] > 0),
                "the rotational inertia must be positive definite, but has the principal moment {:.6g} kg m^2",
                moments[..., 0],
            ),
            (
                finite & (excess > INERTIA_TOLERANCE[self.inertia.dtype] * size),
                "no principal moment may exceed the sum of the other two (triangle inequality), but one does by "
                "{:.6g} kg m^2",
                excess,
            ),
        )
        return tuple(
            f"inertia{at(index)}: {text.format(value[index])}"
            for bad, text, value in violations
            for index in map(tuple, np.argwhere(bad).tolist())
        )

    def check(self) -> Self:
        """Return the inertia if it is physically consistent.

        Raises:
            InputError: with every reason why not.
        """
        problems = self.problems()
        if problems:
            raise InputError("; ".join(problems))
        return self

    def __repr__(self) -> str:
        return self._show(mass=self.mass, com=self.com, inertia=self.inertia)

    def _formula(self) -> str:
        com, inertia = latex_matrix(self.com[:, None]), latex_matrix(self.inertia)
        return rf"m = {short(self.mass)}, \quad c = {com}, \quad I = {inertia}"


def inertial_parameters(mass: NDArray[Any], h: NDArray[Any], I: NDArray[Any]) -> NDArray[Any]:
    """(..., 10), from the mass, the first moment h and the rotational inertia I about the frame's origin."""
    entries = (I[..., i, j] for i, j in ((0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2)))
    return vector(mass, *(h[..., k] for k in range(3)), *entries)


def moments_about_origin(parameters: NDArray[Any]) -> NDArray[Any]:
    """(..., 3, 3): the rotational inertia about the frame's origin in inertial parameters (..., 10)."""
    xx, xy, yy, xz, yz, zz = (parameters[..., k] for k in range(4, 10))
    return matrix([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def is_physical(parameters: NDArray[Any]) -> NDArray[Any]:
    """(...): whether a body can have finite inertial parameters (..., 10): a positive mass, a pseudo-inertia ≥ 0.

    >>> is_physical(np.array([[1.0, 0, 0, 0, 2, 0, 2, 0, 0, 2], [1.0, 0, 0, 0, 2, 0, 2, 0, 0, 5]]))
    array([ True, False])
    """
    eigenvalues = np.linalg.eigvalsh(log_cholesky.pseudo_inertia(parameters))
    largest = np.abs(eigenvalues).max(axis=-1, initial=0.0)
    return (parameters[..., 0] > 0) & (eigenvalues[..., 0] >= -PSEUDO_INERTIA_TOLERANCE[parameters.dtype] * largest)


def triangle_excess(moments: NDArray[Any]) -> NDArray[Any]:
    """(...): the largest of three principal moments (..., 3), ascending, less the other two; negative for a body."""
    return moments[..., 2] - moments[..., 0] - moments[..., 1]


@public
def kirchhoff(twist: ArrayLike, momentum: ArrayLike, momentum_rate: ArrayLike) -> NDArray[Any]:
    """(..., 6): the wrench of Kirchhoff's equations, p' + v ×̄* p, in a moving frame.  [From 7-10]

    Args:
        twist: (..., 6) B_v_AB of the moving frame B; A is inertial.
        momentum: (..., 6) the derivative of the kinetic energy by the twist, in B.
        momentum_rate: (..., 6) the time derivative of its numbers.
    """
    return floats(momentum_rate, "momentum_rate", 6) + cross6_dual(twist, momentum)


def _per_mass(moment: NDArray[Any], mass: NDArray[Any]) -> NDArray[Any]:
    """The centre of mass; that of nothing is the origin."""
    massless = (mass == 0.0)[..., None]
    return np.where(massless, 0.0, moment / np.where(massless, 1.0, mass[..., None]))


def _steiner(mass: NDArray[Any], c: NDArray[Any]) -> NDArray[Any]:
    """-m c^ c^ = m (c·c 1 - c c^T).  [MDN 69; QT 19]"""
    C = hat3(c)
    return -mass[..., None, None] * np.matmul(C, C)
