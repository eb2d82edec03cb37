"""Constraints between two frames of a robot, or two of its joints: loops that a tree cannot hold."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multibody.algorithms import jacobian, kinematics
from multibody.algorithms.constraints._constraint import Constraint
from multibody.algorithms.constraints.contacts import Point, number, one_pose, point
from multibody.errors import InputError
from multibody.geometry import Pose
from multibody.geometry._arrays import dot
from multibody.geometry.operators import cross3
from multibody.model.model import Model

ORIGIN: Point = (0.0, 0.0, 0.0)
HERE = Pose.identity()


@dataclass(frozen=True)
class PointClosure(Constraint):
    """Two points of two frames, by default the origins, stay together: three rows along the world's axes."""

    name: str
    first: str
    second: str
    first_point: Point = ORIGIN
    """In the first frame, in m."""
    second_point: Point = ORIGIN

    def __post_init__(self) -> None:
        for each in ("first_point", "second_point"):
            object.__setattr__(self, each, point(getattr(self, each), self.name))

    @property
    def rows(self) -> int:
        return 3

    def error(self, model: Model, q: NDArray[Any]) -> NDArray[Any]:
        return _position(model, self.first, q, self.first_point) - _position(model, self.second, q, self.second_point)

    def jacobian(self, model: Model, q: NDArray[Any]) -> NDArray[Any]:
        return _difference(model, self.first, self.second, q, self.first_point, self.second_point)[..., :3, :]

    def bias(self, model: Model, q: NDArray[Any], v: NDArray[Any]) -> NDArray[Any]:
        return _bias(model, self.first, self.second, q, v, self.first_point, self.second_point)[..., :3]

    def check(self, model: Model) -> None:
        two_bodies(model, self.first, self.second, self.name)


@dataclass(frozen=True)
class Weld(Constraint):
    """Two frames stay on each other: six rows, positions and angular velocities along the world's axes."""

    name: str
    first: str
    second: str
    first_pose: Pose = HERE
    """Of what is welded, in the first frame."""
    second_pose: Pose = HERE

    def __post_init__(self) -> None:
        for each in (self.first_pose, self.second_pose):
            one_pose(each, self.name)

    @property
    def rows(self) -> int:
        return 6

    def error(self, model: Model, q: NDArray[Any]) -> NDArray[Any]:
        one = kinematics.pose(model, self.first, q) @ self.first_pose
        two = kinematics.pose(model, self.second, q) @ self.second_pose
        return np.concatenate([one.position - two.position, one.rotation.boxminus(two.rotation)], axis=-1)

    def jacobian(self, model: Model, q: NDArray[Any]) -> NDArray[Any]:
        return _difference(model, self.first, self.second, q, *self._points())

    def bias(self, model: Model, q: NDArray[Any], v: NDArray[Any]) -> NDArray[Any]:
        return _bias(model, self.first, self.second, q, v, *self._points())

    def _points(self) -> tuple[Point, Point]:
        one, two = (tuple(pose.position.tolist()) for pose in (self.first_pose, self.second_pose))
        return one, two

    def check(self, model: Model) -> None:
        two_bodies(model, self.first, self.second, self.name)


@dataclass(frozen=True)
class HingeClosure(Constraint):
    """Two frames share their origin and their z axis: five rows.

    With z of the first frame and x, y of the second, the last two errors are x·z and y·z: they vanish for opposed axes,
    too, so start near the configuration that is meant.
    """

    name: str
    first: str
    second: str

    @property
    def rows(self) -> int:
        return 5

    def error(self, model: Model, q: NDArray[Any]) -> NDArray[Any]:
        z, across = self._axes(model, q)
        tilt = np.stack([dot(x, z) for x in across], axis=-1)
        return np.concatenate([_position(model, self.first, q) - _position(model, self.second, q), tilt], axis=-1)

    def jacobian(self, model: Model, q: NDArray[Any]) -> NDArray[Any]:
        J = _difference(model, self.first, self.second, q)
        z, across = self._axes(model, q)
        normals = np.stack([cross3(z, x) for x in across], axis=-2)
        return np.concatenate([J[..., :3, :], np.matmul(normals, J[..., 3:, :])], axis=-2)

    def bias(self, model: Model, q: NDArray[Any], v: NDArray[Any]) -> NDArray[Any]:
        a = _bias(model, self.first, self.second, q, v)
        w1, w2 = (kinematics.velocity(model, frame, q, v, "mixed")[..., 3:] for frame in (self.first, self.second))
        z, across = self._axes(model, q)
        tilt = []
        for x in across:
            turning = cross3(cross3(w1, z), x) + cross3(z, cross3(w2, x))
            tilt.append(dot(cross3(z, x), a[..., 3:]) + dot(turning, w1 - w2))
        return np.concatenate([a[..., :3], np.stack(tilt, axis=-1)], axis=-1)

    def check(self, model: Model) -> None:
        two_bodies(model, self.first, self.second, self.name)

    def _axes(self, model: Model, q: NDArray[Any]) -> tuple[NDArray[Any], tuple[NDArray[Any], NDArray[Any]]]:
        one = kinematics.pose(model, self.first, q).rotation.matrix
        two = kinematics.pose(model, self.second, q).rotation.matrix
        return one[..., :, 2], (two[..., :, 0], two[..., :, 1])


@dataclass(frozen=True)
class Distance(Constraint):
    """The origins of two frames stay at a distance: a rod without mass, one row."""

    name: str
    first: str
    second: str
    length: float
    """In m, positive."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "length", number(self.length, self.name))

    @property
    def rows(self) -> int:
        return 1

    def error(self, model: Model, q: NDArray[Any]) -> NDArray[Any]:
        d = self._between(model, q)
        return np.sqrt(dot(d, d))[..., None] - self.length

    def jacobian(self, model: Model, q: NDArray[Any]) -> NDArray[Any]:
        d = self._between(model, q)
        along = d / np.sqrt(dot(d, d))[..., None]
        return np.matmul(along[..., None, :], _difference(model, self.first, self.second, q)[..., :3, :])

    def bias(self, model: Model, q: NDArray[Any], v: NDArray[Any]) -> NDArray[Any]:
        d = self._between(model, q)
        length = np.sqrt(dot(d, d))
        one, two = (kinematics.velocity(model, frame, q, v, "mixed") for frame in (self.first, self.second))
        d_dot = one[..., :3] - two[..., :3]
        a = _bias(model, self.first, self.second, q, v)[..., :3]
        stretch = dot(d, d_dot) / length
        return ((dot(d, a) + dot(d_dot, d_dot) - stretch * stretch) / length)[..., None]

    def check(self, model: Model) -> None:
        if not self.length > 0:
            raise InputError(f"constraint {self.name!r}: expected a positive length, got {self.length}")
        two_bodies(model, self.first, self.second, self.name)

    def _between(self, model: Model, q: NDArray[Any]) -> NDArray[Any]:
        return _position(model, self.first, q) - _position(model, self.second, q)


@dataclass(frozen=True)
class JointCoupling(Constraint):
    """One joint follows another by a force, q = offset + ratio y + higher[0] y² + ..., y of the other: one row.

    Without another joint, it stays at the offset.
    """

    name: str
    joint: str
    other: str | None = None
    ratio: float = 1.0
    offset: float = 0.0
    higher: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        for each in ("ratio", "offset"):
            object.__setattr__(self, each, number(getattr(self, each), self.name))
        object.__setattr__(self, "higher", tuple(number(each, self.name) for each in self.higher))

    @property
    def rows(self) -> int:
        return 1

    def error(self, model: Model, q: NDArray[Any]) -> NDArray[Any]:
        one = model.joint(self.joint).coordinates(q)
        return one - self.offset - self._derivative(model, q, 0)

    def jacobian(self, model: Model, q: NDArray[Any]) -> NDArray[Any]:
        one, two = np.zeros((2, 1, model.nv))
        one[:, model.joint(self.joint).v] = 1.0
        if self.other is not None:
            two[:, model.joint(self.other).v] = 1.0
        return one - self._derivative(model, q, 1)[..., None] * two

    def bias(self, model: Model, q: NDArray[Any], v: NDArray[Any]) -> NDArray[Any]:
        curvature = self._derivative(model, q, 2)
        if self.other is None:
            return curvature
        rate = v[..., model.joint(self.other).v]
        return -curvature * rate * rate

    def check(self, model: Model) -> None:
        if self.joint == self.other:
            raise InputError(f"constraint {self.name!r}: expected two joints, got {self.joint!r} twice")
        for name in (self.joint, *([] if self.other is None else [self.other])):
            if model.joint(name).nv != 1:
                raise InputError(f"constraint {self.name!r}: expected joints with one velocity, got {name!r}")

    def _derivative(self, model: Model, q: NDArray[Any], order: int) -> NDArray[Any]:
        """(..., 1): of ratio y + higher[0] y² + ..., by y."""
        total = np.zeros((*q.shape[:-1], 1), q.dtype)
        if self.other is None:
            return total
        y = model.joint(self.other).coordinates(q)
        for power, factor in enumerate((self.ratio, *self.higher), start=1):
            if power >= order:
                total = total + factor * math.perm(power, order) * y ** (power - order)
        return total


def two_bodies(model: Model, first: str, second: str, name: str) -> None:
    """Refuse two frames that no joint lies between."""
    if not model.chain(first, second):
        raise InputError(f"constraint {name!r}: the frames {first!r} and {second!r} always move as one body")


def _position(model: Model, frame: str, q: NDArray[Any], at: Point = ORIGIN) -> NDArray[Any]:
    pose = kinematics.pose(model, frame, q)
    return pose @ np.array(at) if any(at) else pose.position


def _difference(
    model: Model, first: str, second: str, q: NDArray[Any], at: Point = ORIGIN, second_at: Point = ORIGIN
) -> NDArray[Any]:
    """(..., 6, nv): of the velocities of two points, then of the angular velocities of their frames."""
    one, two = (_mixed(model, frame, q, point) for frame, point in ((first, at), (second, second_at)))
    return one - two


def _mixed(model: Model, frame: str, q: NDArray[Any], at: Point) -> NDArray[Any]:
    J = jacobian.jacobian(model, frame, q, "mixed")
    if not any(at):
        return J
    return np.concatenate([jacobian.point_jacobian(model, frame, q, np.array(at)), J[..., 3:, :]], axis=-2)


def _bias(
    model: Model,
    first: str,
    second: str,
    q: NDArray[Any],
    v: NDArray[Any],
    at: Point = ORIGIN,
    second_at: Point = ORIGIN,
) -> NDArray[Any]:
    """(..., 6): the rate of that difference when v' = 0."""
    one, two = (_acceleration(model, frame, q, v, point) for frame, point in ((first, at), (second, second_at)))
    return one - two


def _acceleration(model: Model, frame: str, q: NDArray[Any], v: NDArray[Any], at: Point) -> NDArray[Any]:
    a = kinematics.acceleration(model, frame, q, v, np.zeros_like(v), "mixed")
    if not any(at):
        return a
    linear = kinematics.point_acceleration(model, frame, q, v, np.zeros_like(v), np.array(at))
    return np.concatenate([linear, a[..., 3:]], axis=-1)
