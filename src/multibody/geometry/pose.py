"""Poses as values: A_H_B is the rotation and the position of frame B in frame A."""

from __future__ import annotations

from typing import Any, Self, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from multibody.errors import InputError
from multibody.geometry import so3
from multibody.geometry._arrays import (
    at,
    batch_of,
    batch_shape,
    block_matrix,
    choice,
    first,
    floats,
    is_traced,
    matvec,
    numbers,
)
from multibody.geometry.operators import hat3
from multibody.geometry.public_api import public_methods
from multibody.geometry.rotation import Rotation
from multibody.geometry.value import Value, need, own


class SupportsPull(Value):
    """The abstract base of values on which the inverse of a pose acts in a way of its own."""

    __slots__ = ()

    def _pulled_by(self, A_H_B: Pose) -> Self:
        raise NotImplementedError


@public_methods
class Pose(Value):
    """The pose A_H_B of frame B in frame A, or a batch of them.
    [MDN 3, 12, §4.3; RD §2.6; Kindr §Pose]

    Poses compose where inner letters touch, `A_H_C = A_H_B @ B_H_C` [RD 2.112], and map the
    coordinates of points, `A_H_B @ B_p = A_p` [MDN 13; RD 2.108-2.110]. On a Twist `@` is the
    adjoint action, on a Wrench its dual, and a SpatialInertia it expresses in the other frame.

    >>> A_H_B = Pose(Rotation.elementary("z", np.pi / 2), [1.0, 0.0, 0.0])
    >>> (A_H_B @ [1.0, 0.0, 0.0]).round(12)
    array([1., 1., 0.])
    """

    __slots__ = ("rotation", "position")
    _core = (2, 1)
    rotation: Rotation
    """A_R_B."""
    position: NDArray[Any]
    """A_o_B, (..., 3): the origin of B in A, in metres."""

    def __init__(self, rotation: Rotation, position: ArrayLike = (0.0, 0.0, 0.0)) -> None:
        """From a rotation and a position (..., 3), whose batches broadcast."""
        if not isinstance(rotation, Rotation):
            given = f"{type(rotation).__name__} first{_hint(rotation)}"
            raise InputError(f"Pose: expected a Rotation and a position, got {given}")
        position = floats(position, "position", 3)
        batch = batch_shape("Pose", (rotation.matrix, 2), (position, 1))
        # the matrix is copied, too: that of robot.pose(..., out=...) is the caller's to write
        matrix, position = own(rotation.matrix), own(position)
        if batch:
            matrix, position = np.broadcast_to(matrix, (*batch, 3, 3)), np.broadcast_to(position, (*batch, 3))
        elif isinstance(position, np.ndarray):
            position.flags.writeable = False
        for name, part in (("rotation", Rotation._trusted(matrix)), ("position", position)):
            object.__setattr__(self, name, part)

    @classmethod
    def _from_arrays(cls, *arrays: NDArray[Any]) -> Self:
        matrix, position = arrays
        return cls._trusted(Rotation._trusted(matrix), position)

    def _arrays(self) -> tuple[NDArray[Any], ...]:
        return self.rotation.matrix, self.position

    # ---- constructors ------------------------------------------------------------------------------------------------

    @classmethod
    def identity(cls, batch: int | tuple[int, ...] = ()) -> Self:
        """Frame B on frame A, in the given batch shape."""
        return cls._trusted(Rotation.identity(batch), np.zeros((*batch_of(batch), 3)))

    @classmethod
    def from_matrix(cls, matrix: ArrayLike, *, project: bool = False, tolerance: float | None = None) -> Self:
        """From homogeneous matrices (..., 4, 4).  [MDN 12; RD 2.110]

        Args:
            matrix: (..., 4, 4), A_H_B, with the last row 0, 0, 0, 1: it takes B_p to A_p.
            project: take the nearest rotation to each upper left block.
            tolerance: as in `Rotation.from_matrix`.
        """
        matrix = floats(matrix, "homogeneous matrix", 4, 4)
        if not is_traced(matrix):
            bad = (np.abs(matrix[..., 3, :] - [0.0, 0.0, 0.0, 1.0]) > 1e-9).any(axis=-1)
            bad = bad & np.isfinite(matrix).all(axis=(-1, -2))  # NaN and Inf are data
            if bad.any():
                index = first(bad)
                raise InputError(
                    f"homogeneous matrix{at(index)}: expected the last row 0, 0, 0, 1, got {matrix[index][3].tolist()}"
                )
        rotation = Rotation.from_matrix(matrix[..., :3, :3], project=project, tolerance=tolerance)
        return cls._trusted(rotation, own(matrix[..., :3, 3]))

    @classmethod
    def exp(cls, twist: ArrayLike) -> Self:
        """The matrix exponential of hat6(twist): a screw motion.  [From 59]

        Args:
            twist: (..., 6) linear first, times the duration.
        """
        twist = floats(twist, "twist", 6)
        rho, phi = twist[..., :3], twist[..., 3:]
        return cls._trusted(Rotation.exp(phi), matvec(so3.left_jacobian(phi), rho))

    @classmethod
    def random(cls, rng: np.random.Generator, batch: int | tuple[int, ...] = ()) -> Self:
        """Uniform rotations, and positions in the cube from -1 to 1 m."""
        return cls._trusted(Rotation.random(rng, batch), rng.uniform(-1.0, 1.0, (*batch_of(batch), 3)))

    # ---- matrices ----------------------------------------------------------------------------------------------------

    @property
    def matrix(self) -> NDArray[Any]:
        """(..., 4, 4): the homogeneous transformation.  [MDN 12; RD 2.110; Kindr §Pose]"""
        upper = np.concatenate([self.rotation.matrix, self.position[..., :, None]], axis=-1)
        last = np.broadcast_to(np.array([[0.0, 0.0, 0.0, 1.0]], upper.dtype), (*upper.shape[:-2], 1, 4))
        return np.concatenate([upper, last], axis=-2)

    @property
    def adjoint(self) -> NDArray[Any]:
        """A_X_B, (..., 6, 6): A_v = A_X_B B_v for twists.  [MDN 27-30, §5.1]"""
        R = self.rotation.matrix
        return block_matrix([[R, np.matmul(hat3(self.position), R)], [0, R]])

    @property
    def dual_adjoint(self) -> NDArray[Any]:
        """A_Xf_B, (..., 6, 6): A_f = A_Xf_B B_f for wrenches; the inverse transpose of the
        adjoint.  [MDN 58-60, 64]
        """
        R = self.rotation.matrix
        return block_matrix([[R, 0], [np.matmul(hat3(self.position), R), R]])

    # ---- the group ---------------------------------------------------------------------------------------------------

    @overload
    def __matmul__(self, other: Pose) -> Pose: ...
    @overload
    def __matmul__(self, other: ArrayLike) -> NDArray[Any]: ...
    def __matmul__(self, other: Any) -> Any:
        """A_H_B @ B_H_C is A_H_C [RD 2.112]; A_H_B @ B_p is A_p for points (..., 3)
        [MDN 13; RD 2.109-2.110].
        """
        if isinstance(other, Pose):
            batch_shape("Pose @ Pose", (self.position, 1), (other.position, 1))
            return Pose._trusted(self.rotation @ other.rotation, self @ other.position)
        if isinstance(other, Value):
            return NotImplemented
        p = floats(other, "Pose @ points", 3)
        return self.rotation @ p + self.position

    def inverse(self) -> Pose:
        """B_H_A.  [RD 2.111; Kindr §Pose]"""
        B_R_A = self.rotation.inverse()
        return Pose._trusted(B_R_A, -(B_R_A @ self.position))

    def pull(self, other: Any) -> Any:
        """A_H_B.pull(A_x) is B_x: the action of the inverse, on all that `@` takes,
        in fewer operations.

        >>> A_H_B = Pose(Rotation.elementary("z", np.pi / 2), [1.0, 0.0, 0.0])
        >>> A_H_B.pull([1.0, 1.0, 0.0]).round(12)
        array([1., 0., 0.])
        """
        if isinstance(other, SupportsPull):
            return other._pulled_by(self)
        if isinstance(other, Value):
            return self.inverse() @ other
        return self.rotation.inverse() @ (floats(other, "Pose.pull of points", 3) - self.position)

    def log(self) -> NDArray[Any]:
        """(..., 6): the twist whose exponential is this pose, with an angle in [0, π].  [From 59]"""
        phi = self.rotation.log()
        rho = matvec(so3.left_jacobian_inverse(phi), self.position)
        return np.concatenate([rho, np.broadcast_to(phi, rho.shape)], axis=-1)

    def boxplus(self, twist: ArrayLike) -> Pose:
        """exp(twist) @ self: the twist, (..., 6), is written in frame A, as in `Rotation.boxplus`."""
        return Pose.exp(twist) @ self

    def boxminus(self, other: Pose) -> NDArray[Any]:
        """log(self @ other^-1), (..., 6): `other.boxplus(self.boxminus(other))` is self."""
        return (self @ need(other, Pose).inverse()).log()

    def interpolate(self, other: Pose, t: ArrayLike, method: str = "screw") -> Pose:
        """Self at t = 0, other at t = 1.

        Args:
            other: the pose to reach.
            t: (...) of any batch shape.
            method: "screw" moves along and about one axis; "decoupled" moves the origin on a
                straight line while the rotation is interpolated on its own.
        """
        need(other, Pose)
        t = numbers(t, "t", self.position)
        if choice(method, "method", ("screw", "decoupled")) == "screw":
            return self.boxplus(other.boxminus(self) * t[..., None])
        position = self.position + (other.position - self.position) * t[..., None]
        return Pose._trusted(self.rotation.interpolate(other.rotation, t), position)

    def integrate(self, twist: ArrayLike, dt: ArrayLike, representation: str = "left") -> Pose:
        """The pose after a time dt at a constant twist.  [MDN 21, 26, 35-36]

        Args:
            twist: (..., 6) twist of B relative to A.
            dt: (...) time in s.
            representation: how the twist is written: "left" (B_v_AB), "right" (A_v_AB) or
                "mixed" (BA_v_AB, which moves the origin and the rotation apart).
        """
        twist = floats(twist, "twist", 6)
        step = twist * numbers(dt, "dt", twist)[..., None]
        if choice(representation, "representation", ("left", "right", "mixed")) == "left":
            return self @ Pose.exp(step)
        if representation == "right":
            return Pose.exp(step) @ self
        return Pose._trusted(self.rotation.boxplus(step[..., 3:]), self.position + step[..., :3])

    def __repr__(self) -> str:
        return self._show(position=self.position, quaternion=self.rotation.quaternion)


_new = object.__new__
_set_matrix, _set_quaternion = (vars(Rotation)[name].__set__ for name in ("_matrix", "_quaternion"))
_set_rotation, _set_position = (vars(Pose)[name].__set__ for name in Pose.__slots__)


def pose_of(matrix: NDArray[Any], position: NDArray[Any]) -> Pose:
    """A pose from fresh arrays, without checks and in few Python steps: calls with single states are frequent."""
    if type(matrix) is np.ndarray and type(position) is np.ndarray:
        matrix.setflags(False)  # type: ignore[call-arg]
        position.setflags(False)  # type: ignore[call-arg]
    rotation = _new(Rotation)
    _set_matrix(rotation, matrix)
    _set_quaternion(rotation, None)
    pose = _new(Pose)
    _set_rotation(pose, rotation)
    _set_position(pose, position)
    return pose


def _hint(rotation: object) -> str:
    """How to make a pose of a matrix or quaternion that was given in place of a Rotation."""
    shape = np.asarray(rotation, dtype=object).shape
    ways = {
        (4, 4): "Pose.from_matrix(matrix)",
        (3, 3): "Pose(Rotation.from_matrix(matrix), position)",
        (4,): "Pose(Rotation.from_quaternion(q), position), with w first",
    }
    way = ways.get(shape[-2:]) or ways.get(shape[-1:])
    return f"; use {way}" if way else ""
