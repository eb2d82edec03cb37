"""Rotations as values: A_R_B maps the coordinates of a vector in frame B to those in frame A."""

from __future__ import annotations

from typing import Any, Self, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from multibody.errors import InputError, SingularityError
from multibody.geometry import euler, quaternions, so3
from multibody.geometry._arrays import (
    at,
    batch_of,
    batch_shape,
    blockwise,
    choice,
    dot,
    first,
    floats,
    generator,
    is_traced,
    matvec,
    not_zero,
    numbers,
    transpose,
    unit,
    vector,
)
from multibody.geometry._arrays import matrix as matrix_of
from multibody.geometry.operators import cross3
from multibody.geometry.public_api import public_methods
from multibody.geometry.value import Value, need, own

ORTHONORMAL_TOLERANCE = {np.dtype(np.float64): 1e-6, np.dtype(np.float32): 1e-4}
"""Tolerated deviation of an entry of R^T R from the identity."""


@public_methods
class Rotation(Value):
    """The orientation of frame B in frame A, or a batch of them.
    [RD §2.4-2.4.5; MDN §4.2; Kindr items 1-5]

    A rotation is passive: it changes the frame in which a vector is written and leaves the
    vector alone, `A_R_B @ B_r = A_r` [RD 2.22, 2.24; Kindr item 2]. Read as an active rotation,
    the same matrix turns a vector within one frame [RD 2.25; Kindr item 1], and the inverse of
    the active rotation is the passive one [Kindr item 4]. Rotations compose where inner letters
    touch, `A_R_C = A_R_B @ B_R_C` [RD 2.29-2.31; Kindr item 5].

    >>> A_R_B = Rotation.from_euler("zyx", [np.pi / 2, 0.0, 0.0])
    >>> (A_R_B @ [1.0, 0.0, 0.0]).round(12)
    array([0., 1., 0.])
    """

    __slots__ = ("_matrix", "_quaternion")
    _core = (2,)
    _plain = ("matrix", "quaternion")  # they call public functions, when they compute at all
    _matrix: NDArray[Any] | None  # one of these two is known from the start;
    _quaternion: NDArray[Any] | None  # the other is computed on demand and cached

    def __init__(self, matrix: ArrayLike) -> None:
        """As `from_matrix`."""
        self._set(matrix=Rotation.from_matrix(matrix).matrix, quaternion=None)

    def _set(self, *, matrix: NDArray[Any] | None, quaternion: NDArray[Any] | None) -> None:
        for name, part in (("_matrix", matrix), ("_quaternion", quaternion)):
            if isinstance(part, np.ndarray):
                part.flags.writeable = False
            object.__setattr__(self, name, part)

    @classmethod
    def _trusted(cls, *parts: Any) -> Self:
        (matrix,) = parts
        self = object.__new__(cls)
        self._set(matrix=matrix, quaternion=None)
        return self

    @classmethod
    def _of_quaternion(cls, quaternion: NDArray[Any]) -> Self:
        """Trusted, from unit quaternions with w ≥ 0."""
        self = object.__new__(cls)
        self._set(matrix=None, quaternion=quaternion)
        return self

    def _arrays(self) -> tuple[NDArray[Any], ...]:
        return (self.matrix,)

    # ---- constructors ------------------------------------------------------------------------------------------------

    @classmethod
    def identity(cls, batch: int | tuple[int, ...] = ()) -> Self:
        """No rotation, in the given batch shape.

        >>> Rotation.identity((2, 3)).shape
        (2, 3)
        """
        return cls._trusted(np.broadcast_to(np.eye(3), (*batch_of(batch), 3, 3)))

    @classmethod
    def from_matrix(cls, matrix: ArrayLike, *, project: bool = False, tolerance: float | None = None) -> Self:
        """From rotation matrices.  [RD 2.22-2.23; MDN 1]

        Args:
            matrix: (..., 3, 3), A_R_B: its columns are the axes of B in A, so that it takes B_p
                to A_p.
            project: take the nearest rotation, in the Frobenius norm, to each matrix.
            tolerance: largest entry of |R^T R - 1| that passes; by default 1e-6, for float32
                1e-4. A matrix within it is kept as it is.

        Raises:
            InputError: when a matrix is not a rotation within the tolerance, or is a
                reflection.
            SingularityError: when `project` finds no single nearest rotation.
        """
        matrix = floats(matrix, "rotation matrix", 3, 3)
        if tolerance is not None and not tolerance > 0:
            raise InputError(f"tolerance: expected a positive number, got {tolerance!r}")
        if project:
            return cls._trusted(_nearest(matrix, "from_matrix"))
        if not is_traced(matrix):
            _check_orthonormal(matrix, ORTHONORMAL_TOLERANCE[matrix.dtype] if tolerance is None else tolerance)
        return cls._trusted(own(matrix))

    @classmethod
    def from_quaternion(cls, quaternion: ArrayLike) -> Self:
        """From quaternions w, x, y, z, which are normalized; q and -q give the same rotation.
        [RD 2.51-2.54]

        Args:
            quaternion: (..., 4), not zero, the real part w first, as MuJoCo and Eigen's
                constructor have it; `from_xyzw` takes it last.
        """
        quaternion = not_zero(floats(quaternion, "quaternion (w, x, y, z)", 4), "quaternion")
        return cls._of_quaternion(blockwise(lambda q: quaternions.canonical(unit(q)), (quaternion, 1)))

    @classmethod
    def from_xyzw(cls, quaternion: ArrayLike) -> Self:
        """From quaternions in the order x, y, z, w of SciPy, ROS and Pinocchio;
        `from_quaternion` takes w first.
        """
        q = floats(quaternion, "quaternion (x, y, z, w)", 4)
        return cls.from_quaternion(np.concatenate([q[..., 3:], q[..., :3]], axis=-1))

    @classmethod
    def from_angle_axis(cls, angle: ArrayLike, axis: ArrayLike) -> Self:
        """From angles (...) in radians about axes (..., 3), which are normalized.  [RD 2.46, 2.48]

        >>> Rotation.from_angle_axis(np.pi, [0.0, 0.0, 2.0]).quaternion.round(12)
        array([0., 0., 0., 1.])
        """
        axis = not_zero(floats(axis, "axis", 3), "axis")
        angle = numbers(angle, "angle", axis)
        batch_shape("from_angle_axis", (angle, 0), (axis, 1))
        return cls._trusted(blockwise(lambda a, n: so3.from_angle_axis(a, unit(n)), (angle, 0), (axis, 1)))

    @classmethod
    def from_rotation_vector(cls, vector: ArrayLike) -> Self:
        """From rotation vectors (..., 3): the axis times the angle in radians.
        [RD 2.47; Kindr item 6]
        """
        phi = floats(vector, "rotation vector", 3)
        return cls._of_quaternion(
            blockwise(lambda phi: quaternions.canonical(quaternions.from_rotation_vector(phi)), (phi, 1))
        )

    exp = from_rotation_vector

    @classmethod
    def from_euler(cls, sequence: str, angles: ArrayLike) -> Self:
        """From Euler angles.  [RD 2.32-2.45; RD §B.1; Kindr §Euler ZYX, §Euler XYZ]

        Args:
            sequence: the axes of three intrinsic rotations, such as "zyx" (about z, then the
                new y, then the newest x: A_R_B = R_z R_y R_x); or "extrinsic-xyz" for rotations
                about the axes of A, in that order.
            angles: (..., 3) radians, in the order of the sequence's letters.
        """
        order, angles = euler.parse(sequence), floats(angles, "Euler angles", 3)
        return cls._trusted(blockwise(lambda chi: euler.to_matrix(order, chi), (angles, 1)))

    @classmethod
    def elementary(cls, axis: str, angle: ArrayLike) -> Self:
        """About one axis of the frame, "x", "y" or "z", by angles (...) in radians.
        [RD 2.26-2.28; Kindr item 3]
        """
        i = "xyz".index(choice(axis, "axis", ("x", "y", "z")))
        j, k = (i + 1) % 3, (i + 2) % 3
        angle = floats(angle, "angle")
        R: list[list[Any]] = [[0] * 3 for _ in range(3)]
        R[i][i], R[j][j], R[k][k] = 1, np.cos(angle), np.cos(angle)
        R[k][j], R[j][k] = np.sin(angle), -np.sin(angle)
        return cls._trusted(matrix_of(R))

    @classmethod
    def random(cls, rng: np.random.Generator, batch: int | tuple[int, ...] = ()) -> Self:
        """Uniformly distributed rotations.

        >>> Rotation.random(np.random.default_rng(0), (5,)).shape
        (5,)
        """
        return cls.from_quaternion(generator(rng).standard_normal((*batch_of(batch), 4)))

    # ---- parameters --------------------------------------------------------------------------------------------------

    @property
    def matrix(self) -> NDArray[Any]:
        """(..., 3, 3): the columns are the axes of B in A.  [RD 2.21-2.23; MDN 11]"""
        if self._matrix is None:
            self._set(matrix=blockwise(quaternions.to_matrix, (self.quaternion, 1)), quaternion=self._quaternion)
        return self._matrix  # type: ignore[return-value]

    @property
    def quaternion(self) -> NDArray[Any]:
        """(..., 4): the unit quaternion w, x, y, z with w ≥ 0.  [RD 2.51-2.55]"""
        if self._quaternion is None:
            self._set(matrix=self._matrix, quaternion=blockwise(quaternions.from_matrix, (self.matrix, 2)))
        return self._quaternion  # type: ignore[return-value]

    @property
    def xyzw(self) -> NDArray[Any]:
        """(..., 4): the unit quaternion in the order of SciPy, ROS and Pinocchio, with w ≥ 0."""
        q = self.quaternion
        return np.concatenate([q[..., 1:], q[..., :1]], axis=-1)

    @property
    def angle_axis(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """The angle (...) in [0, π] and the unit axis (..., 3); x for no rotation.
        [RD 2.46, 2.49-2.50]
        """
        both = blockwise(quaternions.to_angle_axis, (self.quaternion, 1))
        return both[..., 0], both[..., 1:]

    @property
    def rotation_vector(self) -> NDArray[Any]:
        """(..., 3): the axis times the angle, of length in [0, π].  [RD 2.47; Kindr item 7]"""
        return blockwise(quaternions.to_rotation_vector, (self.quaternion, 1))

    def log(self) -> NDArray[Any]:
        """As `rotation_vector`.  [Kindr item 7]"""
        return self.rotation_vector

    def euler(self, sequence: str) -> NDArray[Any]:
        """(..., 3): Euler angles of an intrinsic or extrinsic sequence.  [RD 2.32-2.45; RD §B.2]

        The middle angle is in [-π/2, π/2], in proper sequences (as "zyz") in [0, π]. In gimbal
        lock the last intrinsic angle is zero, and the angles still give back the rotation.
        """
        order = euler.parse(sequence)
        return blockwise(lambda R: euler.from_matrix(order, R), (self.matrix, 2))

    # ---- the group ---------------------------------------------------------------------------------------------------

    @overload
    def __matmul__(self, other: Rotation) -> Rotation: ...
    @overload
    def __matmul__(self, other: ArrayLike) -> NDArray[Any]: ...
    def __matmul__(self, other: Any) -> Any:
        """A_R_B @ B_R_C is A_R_C [RD 2.31]; A_R_B @ B_r is A_r for vectors (..., 3)
        [RD 2.22, 2.24].
        """
        if isinstance(other, Rotation):
            batch_shape("Rotation @ Rotation", (self.matrix, 2), (other.matrix, 2))
            return Rotation._trusted(np.matmul(self.matrix, other.matrix))
        if isinstance(other, Value):
            return NotImplemented
        r = floats(other, "Rotation @ vectors", 3)
        batch_shape("Rotation @ vectors", (self.matrix, 2), (r, 1))
        return matvec(self.matrix, r)

    def inverse(self) -> Rotation:
        """B_R_A, the transpose.  [RD 2.23; Kindr item 4]"""
        return Rotation._trusted(transpose(self.matrix))

    def boxplus(self, v: ArrayLike) -> Rotation:
        """exp(v) ⊗ Φ: v, (..., 3), is a rotation vector in frame A.  [Kindr item 8]"""
        return Rotation.exp(v) @ self

    def boxminus(self, other: Rotation) -> NDArray[Any]:
        """log(Φ ⊗ other^-1), (..., 3) in frame A: `other.boxplus(self.boxminus(other))` is self.
        [Kindr item 9]
        """
        return (self @ need(other, Rotation).inverse()).log()

    def interpolate(self, other: Rotation, t: ArrayLike) -> Rotation:
        """Spherical linear interpolation: self at t = 0, other at t = 1, t of any batch shape.
        [Kindr item 12]
        """
        way = need(other, Rotation).boxminus(self)
        return self.boxplus(way * numbers(t, "t", way)[..., None])

    def integrate(self, omega: ArrayLike, dt: ArrayLike, frame: str = "A") -> Rotation:
        """A_R_B after a time dt at a constant angular velocity.
        [Kindr item 10; RD 2.70, 2.72, §2.5]

        Args:
            omega: (..., 3) angular velocity of B with respect to A, in rad/s.
            dt: (...) time in s.
            frame: the frame in which omega is written, "A" or "B".
        """
        omega = floats(omega, "omega", 3)
        phi = omega * numbers(dt, "dt", omega)[..., None]
        return self.boxplus(phi) if choice(frame, "frame", ("A", "B")) == "A" else self @ Rotation.exp(phi)

    def angular_velocity(self, next: Rotation, dt: ArrayLike, frame: str = "A") -> NDArray[Any]:  # noqa: A002
        """The constant angular velocity (..., 3) that leads to the next rotation in a time dt.
        [Kindr item 11]
        """
        in_A = choice(frame, "frame", ("A", "B")) == "A"
        turn = need(next, Rotation).boxminus(self) if in_A else (self.inverse() @ need(next, Rotation)).log()
        return turn / numbers(dt, "dt", turn)[..., None]

    def angle_to(self, other: Rotation) -> NDArray[Any]:
        """(...): the angle in [0, π] of the rotation from self to other.

        >>> Rotation.elementary("z", 1.0).angle_to(Rotation.elementary("z", 3.0)).round(12)
        np.float64(2.0)
        """
        return (self.inverse() @ need(other, Rotation)).angle_axis[0]

    def mean(self, axis: int = 0, weights: ArrayLike | None = None) -> Rotation:
        """The rotation with the least (weighted) sum of squared chordal distances to
        those along a batch axis.

        Args:
            axis: the batch axis to average over.
            weights: (n,), not negative, along that axis; equal by default.

        Raises:
            SingularityError: when there is no single such rotation, as between two that differ
                by half a turn.
        """
        batch = self.shape
        if not isinstance(axis, int | np.integer):
            raise InputError(f"mean: expected the number of a batch axis, got {axis!r}")
        if not -len(batch) <= axis < len(batch):
            raise InputError(f"mean: axis {axis} does not exist in the batch shape {batch}")
        stacked = np.moveaxis(self.matrix, axis % len(batch), 0)
        n = stacked.shape[0]
        if n == 0:
            raise InputError(f"mean: no rotations along axis {axis} of the batch shape {batch}")
        w = np.ones(n) if weights is None else floats(weights, "weights", n)
        if not is_traced(w) and (w.ndim != 1 or (w < 0).any() or not w.sum() > 0):
            raise InputError(f"mean: expected ({n},) weights that are not negative and not all zero, got {w}")
        weighted = np.einsum("n,n...->...", w.astype(self.matrix.dtype) if weights is None else w, stacked)
        return Rotation._trusted(_nearest(weighted, "mean"))

    def __repr__(self) -> str:
        return self._show(matrix=self.matrix)


def _check_orthonormal(R: NDArray[Any], tolerance: float) -> None:
    def deviation(R: NDArray[Any]) -> NDArray[Any]:
        columns = [R[..., :, k] for k in range(3)]
        worst = np.abs(dot(columns[0], columns[0]) - 1)
        for i, j in ((1, 1), (2, 2), (0, 1), (0, 2), (1, 2)):
            worst = np.maximum(worst, np.abs(dot(columns[i], columns[j]) - (i == j)))
        return vector(worst, dot(R[..., 0, :], cross3(R[..., 1, :], R[..., 2, :])))  # the determinant

    if R.ndim == 2 and _is_rotation(R.tolist(), tolerance):  # much quicker than arrays of a single number
        return
    deviations = blockwise(deviation, (R, 2))
    worst, determinant = deviations[..., 0], deviations[..., 1]
    bad = ((worst > tolerance) | (determinant < 0)) & np.isfinite(R).all(axis=(-1, -2))  # NaN and Inf are data
    if bad.any():
        index = first(bad)
        raise InputError(
            f"matrix{at(index)} is not a rotation: |R^T R - 1| reaches {worst[index]:.3g} (tolerance {tolerance:.0e}), "
            f"its determinant is {determinant[index]:.6g} (expected 1); project=True takes the nearest rotation"
        )


def _is_rotation(R: list[list[float]], tolerance: float) -> bool:
    """Whether a matrix is a rotation, with the arithmetic of the array version."""
    (a, b, c), (d, e, f), (g, h, i) = R
    return (
        abs(a * a + d * d + g * g - 1) <= tolerance
        and abs(b * b + e * e + h * h - 1) <= tolerance
        and abs(c * c + f * f + i * i - 1) <= tolerance
        and abs(a * b + d * e + g * h) <= tolerance
        and abs(a * c + d * f + g * i) <= tolerance
        and abs(b * c + e * f + h * i) <= tolerance
        and a * (e * i - f * h) + b * (f * g - d * i) + c * (d * h - e * g) >= 0
    )


def _nearest(M: NDArray[Any], what: str) -> NDArray[Any]:
    """The nearest rotation matrices; SingularityError when one is not unique."""
    if not is_traced(M):
        known = np.where(np.isfinite(M).all(axis=(-1, -2), keepdims=True), M, np.eye(3, dtype=M.dtype))
        s = np.linalg.svd(known, compute_uv=False)
        gap = s[..., 1] + np.where(np.linalg.det(known) < 0, -s[..., 2], s[..., 2])
        bad = ~(gap > 1e3 * np.finfo(M.dtype).eps * s[..., 0])
        if bad.any():
            index = first(bad)
            raise SingularityError(
                f"{what}{at(index)}: no single rotation is nearest (singular values {s[index]}, gap {gap[index]:.1e})"
            )
    return blockwise(lambda M: quaternions.to_matrix(quaternions.of_nearest_rotation(M)), (M, 2))
