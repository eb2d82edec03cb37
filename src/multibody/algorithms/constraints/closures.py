"""Constraints between two frames of a robot, or two of its joints: kinematic loops.

A second frame that is None is the world: points and poses there are those in the world.
"""

import math
from abc import abstractmethod
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from multibody.algorithms import jacobian, kinematics
from multibody.algorithms.constraints.constraint import FixedRows, Grip, Point
from multibody.algorithms.constraints.contacts import convert_fields, number, on_moving_body, one_pose, point, tips
from multibody.errors import InputError
from multibody.geometry import Pose
from multibody.geometry._arrays import dot
from multibody.geometry.operators import cross3
from multibody.model.tree import Tree

ORIGIN: Point = (0.0, 0.0, 0.0)
IDENTITY = Pose.identity()


class _Closure(FixedRows):
    """The abstract base of constraints between a point of one frame and a point of another."""

    first: str
    second: str | None

    @property
    @abstractmethod
    def points(self) -> tuple[Point, Point]:
        """The two points in their frames."""

    def check(self, tree: Tree) -> None:
        two_bodies(tree, self.first, self.second, self.name)

    def _offset(self, tree: Tree, q: NDArray[Any]) -> NDArray[Any]:
        """(..., 3): from the second point to the first, along the world's axes."""
        first, second = self.points
        return _position(tree, self.first, q, first) - _position(tree, self.second, q, second)

    def _difference(self, motion: "_Motion", tree: Tree, q: NDArray[Any], *rates: NDArray[Any]) -> NDArray[Any]:
        """The motion of the first point and frame less that of the second."""
        first, second = self.points
        difference = motion.at_point(tree, self.first, first, q, *rates)
        return difference if self.second is None else difference - motion.at_point(tree, self.second, second, q, *rates)

    def _jacobian(self, tree: Tree, q: NDArray[Any]) -> NDArray[Any]:
        """(..., 6, nv): of the velocities of the two points, then of the angular velocities of their frames."""
        return self._difference(JACOBIAN, tree, q)

    def _bias(self, tree: Tree, q: NDArray[Any], v: NDArray[Any]) -> NDArray[Any]:
        """(..., 6): the rate of that difference when v' = 0."""
        return self._difference(ACCELERATION, tree, q, v, np.zeros_like(v))


class _PointPair(_Closure):
    """The abstract base of closures between two points, which are fields."""

    first_point: Point
    second_point: Point

    def __post_init__(self) -> None:
        convert_fields(self, point, "first_point", "second_point")

    @property
    def points(self) -> tuple[Point, Point]:
        return self.first_point, self.second_point


@dataclass(frozen=True)
class PointClosure(_PointPair):
    """Two points of two frames, by default the origins, stay together: three rows
    along the world's axes.

    >>> import multibody as mb
    >>> robot = mb.load("quadruped")
    >>> shackle = PointClosure("shackle", "foot-lf", "foot-rf", (0, 0.02, 0), (0, -0.02, 0))
    >>> shackle.jacobian(robot.tree, robot.home()).shape
    (3, 18)
    >>> pin = PointClosure("pin", "foot-lf", second_point=(0.4, 0.2, 0))
    >>> pin.error(robot.tree, robot.home()).shape
    (3,)
    """

    name: str
    first: str
    second: str | None = None
    """None is the world."""
    first_point: Point = ORIGIN
    """In the first frame, in m."""
    second_point: Point = ORIGIN
    """In the second frame, in m."""
    _row_count = 3

    def error(self, tree: Tree, q: NDArray[Any], target: Any = None) -> NDArray[Any]:
        return self._offset(tree, q)

    def jacobian(self, tree: Tree, q: NDArray[Any]) -> NDArray[Any]:
        return self._jacobian(tree, q)[..., :3, :]

    def bias(self, tree: Tree, q: NDArray[Any], v: NDArray[Any]) -> NDArray[Any]:
        return self._bias(tree, q, v)[..., :3]

    def grip(self) -> Grip | None:
        return None if self.second is not None else Grip(self.first, (self.first_point,))

    def anchored(self) -> tuple[tuple[str, Point, Point], ...]:
        return () if self.second is not None else ((self.first, *self.points),)


@dataclass(frozen=True)
class _PoseClosure(_Closure):
    """The abstract base of constraints between a pose in one frame and a pose in another."""

    name: str
    first: str
    second: str | None = None
    """None is the world."""
    first_pose: Pose = IDENTITY
    """The tied pose in the first frame."""
    second_pose: Pose = IDENTITY
    """Its target in the second frame."""

    def __post_init__(self) -> None:
        convert_fields(self, one_pose, "first_pose", "second_pose")

    @property
    def points(self) -> tuple[Point, Point]:
        origin, other = (tuple(pose.position.tolist()) for pose in (self.first_pose, self.second_pose))
        return origin, other

    def anchored(self) -> tuple[tuple[str, Point, Point], ...]:
        return () if self.second is not None else tips(self.first, self.first_pose, self.second_pose)

    def _poses(self, tree: Tree, q: NDArray[Any]) -> tuple[Pose, Pose]:
        return _pose(tree, self.first, q, self.first_pose), _pose(tree, self.second, q, self.second_pose)


@dataclass(frozen=True)
class Weld(_PoseClosure):
    """Two frames stay on each other: six rows, positions and angular velocities
    along the world's axes.

    >>> import multibody as mb
    >>> robot = mb.load("quadruped")
    >>> weld = Weld("weld", "foot-lf", second_pose=robot.pose("foot-lf", robot.home()))
    >>> weld.rows, bool(abs(weld.error(robot.tree, robot.home())).max() < 1e-12)
    (6, True)
    """

    _row_count = 6

    def error(self, tree: Tree, q: NDArray[Any], target: Any = None) -> NDArray[Any]:
        tied, place = self._poses(tree, q)
        return np.concatenate([tied.position - place.position, tied.rotation.boxminus(place.rotation)], axis=-1)

    def jacobian(self, tree: Tree, q: NDArray[Any]) -> NDArray[Any]:
        return self._jacobian(tree, q)

    def bias(self, tree: Tree, q: NDArray[Any], v: NDArray[Any]) -> NDArray[Any]:
        return self._bias(tree, q, v)

    def grip(self) -> Grip | None:
        return None if self.second is not None else Grip(self.first, self.points[:1], turning=True)


@dataclass(frozen=True)
class HingeClosure(_PoseClosure):
    """Two frames share their origin and their z axis, that of the hinge: five rows.

    With z of the first frame and x, y of the second, the last two errors are x·z and y·z: they
    vanish for opposed axes, too, so start near the configuration that is meant.

    >>> import multibody as mb
    >>> robot = mb.load("quadruped")
    >>> hinge = mb.Pose(mb.Rotation.identity(), [0, 0, 0.5])
    >>> door = HingeClosure("door", "trunk", second_pose=hinge)
    >>> door.row_names[-1], door.rank(robot.tree, robot.home())
    ('door[4]', 5)
    """

    _row_count = 5

    def error(self, tree: Tree, q: NDArray[Any], target: Any = None) -> NDArray[Any]:
        tied, place = self._poses(tree, q)
        z, across = _axes(tied, place)
        tilt = np.stack([dot(x, z) for x in across], axis=-1)
        return np.concatenate([tied.position - place.position, tilt], axis=-1)

    def jacobian(self, tree: Tree, q: NDArray[Any]) -> NDArray[Any]:
        J = self._jacobian(tree, q)
        z, across = _axes(*self._poses(tree, q))
        normals = np.stack([cross3(z, x) for x in across], axis=-2)
        return np.concatenate([J[..., :3, :], np.matmul(normals, J[..., 3:, :])], axis=-2)

    def bias(self, tree: Tree, q: NDArray[Any], v: NDArray[Any]) -> NDArray[Any]:
        a = self._bias(tree, q, v)
        w1, w2 = (
            np.zeros(3) if frame is None else kinematics.velocity(tree, frame, q, v, "mixed")[..., 3:]
            for frame in (self.first, self.second)
        )
        z, across = _axes(*self._poses(tree, q))
        tilt = []
        for x in across:
            turning = cross3(cross3(w1, z), x) + cross3(z, cross3(w2, x))
            tilt.append(dot(cross3(z, x), a[..., 3:]) + dot(turning, w1 - w2))
        return np.concatenate([a[..., :3], np.stack(tilt, axis=-1)], axis=-1)

    def anchored(self) -> tuple[tuple[str, Point, Point], ...]:
        return super().anchored()[:1]


@dataclass(frozen=True)
class Distance(_PointPair):
    """Two points of two frames, by default the origins, stay at a distance: a rod
    without mass, one row.

    >>> import multibody as mb
    >>> robot = mb.load("quadruped")
    >>> tether = Distance("tether", "foot-lf", None, 1.0, second_point=(0, 0, 1))
    >>> tether.rows, tether.error(robot.tree, robot.home()).shape
    (1, (1,))
    """

    name: str
    first: str
    second: str | None
    """None is the world."""
    length: float
    """In m, positive."""
    first_point: Point = ORIGIN
    """In the first frame, in m."""
    second_point: Point = ORIGIN
    """In the second frame, in m."""
    _row_count = 1

    def __post_init__(self) -> None:
        convert_fields(self, number, "length")
        super().__post_init__()

    def error(self, tree: Tree, q: NDArray[Any], target: Any = None) -> NDArray[Any]:
        d = self._offset(tree, q)
        return np.sqrt(dot(d, d))[..., None] - self.length

    def jacobian(self, tree: Tree, q: NDArray[Any]) -> NDArray[Any]:
        d = self._offset(tree, q)
        along = d / np.sqrt(dot(d, d))[..., None]
        return np.matmul(along[..., None, :], self._jacobian(tree, q)[..., :3, :])

    def bias(self, tree: Tree, q: NDArray[Any], v: NDArray[Any]) -> NDArray[Any]:
        d = self._offset(tree, q)
        length = np.sqrt(dot(d, d))
        d_dot = self._difference(VELOCITY, tree, q, v)[..., :3]
        a = self._bias(tree, q, v)[..., :3]
        stretch = dot(d, d_dot) / length
        return ((dot(d, a) + dot(d_dot, d_dot) - stretch * stretch) / length)[..., None]

    def check(self, tree: Tree) -> None:
        if not self.length > 0:
            raise InputError(f"constraint {self.name!r}: expected a positive length, got {self.length}")
        super().check(tree)


@dataclass(frozen=True)
class JointCoupling(FixedRows):
    """A joint coupled to another, q = offset + ratio y + higher[0] y² + ..., y of
    the other: one row.

    Without another joint, it stays at the offset.

    >>> import multibody as mb
    >>> tree = mb.load("quadruped").tree
    >>> gear = JointCoupling("gear", "lf-knee", "rf-knee", 0.5, 0.1, higher=(0.2,))
    >>> gear.jacobian(tree, mb.load("quadruped").home()).shape
    (1, 18)
    """

    name: str
    joint: str
    other: str | None = None
    ratio: float = 1.0
    offset: float = 0.0
    higher: tuple[float, ...] = ()
    _row_count = 1

    def __post_init__(self) -> None:
        convert_fields(self, number, "ratio", "offset")
        if not isinstance(self.higher, Iterable):
            raise InputError(f"constraint {self.name!r}: expected a list of higher coefficients, got {self.higher!r}")
        object.__setattr__(self, "higher", tuple(number(factor, self.name) for factor in self.higher))

    def error(self, tree: Tree, q: NDArray[Any], target: Any = None) -> NDArray[Any]:
        angle = tree.joint(self.joint).coordinates(q)
        return angle - self.offset - self._derivative(tree, q, 0)

    def jacobian(self, tree: Tree, q: NDArray[Any]) -> NDArray[Any]:
        following, leading = np.zeros((2, 1, tree.nv))
        following[:, tree.joint(self.joint).v] = 1.0
        if self.other is not None:
            leading[:, tree.joint(self.other).v] = 1.0
        return following - self._derivative(tree, q, 1)[..., None] * leading

    def bias(self, tree: Tree, q: NDArray[Any], v: NDArray[Any]) -> NDArray[Any]:
        curvature = self._derivative(tree, q, 2)
        if self.other is None:
            return curvature
        rate = v[..., tree.joint(self.other).v]
        return -curvature * rate * rate

    def check(self, tree: Tree) -> None:
        if self.joint == self.other:
            raise InputError(f"constraint {self.name!r}: expected two joints, got {self.joint!r} twice")
        for name in (self.joint, *([] if self.other is None else [self.other])):
            joint = tree.joint(name)
            if joint.mimic is not None:
                raise InputError(
                    f"constraint {self.name!r}: expected joints with a velocity of their own, but {name!r} mimics "
                    f"{joint.mimic.joint!r}; take that"
                )
            if joint.nv != 1:
                raise InputError(f"constraint {self.name!r}: expected joints with one velocity, got {name!r}")

    def _derivative(self, tree: Tree, q: NDArray[Any], order: int) -> NDArray[Any]:
        """(..., 1): the derivative of an order of ratio y + higher[0] y² + ... by y."""
        total = np.zeros((*q.shape[:-1], 1), q.dtype)
        if self.other is None:
            return total
        y = tree.joint(self.other).coordinates(q)
        for power, factor in enumerate((self.ratio, *self.higher), start=1):
            if power >= order:
                total = total + factor * math.perm(power, order) * y ** (power - order)
        return total


def two_bodies(tree: Tree, first: str, second: str | None, name: str) -> None:
    """Refuse two frames that no joint lies between.

    >>> import multibody as mb
    >>> two_bodies(mb.load("quadruped").tree, "foot-lf", "trunk", "rod")
    """
    if second is None:
        on_moving_body(tree, first, name)
    elif not tree.chain(first, second):
        raise InputError(f"constraint {name!r}: the frames {first!r} and {second!r} always move as one body")


def _pose(tree: Tree, frame: str | None, q: NDArray[Any], own: Pose) -> Pose:
    """The pose in the world of a pose fixed to a frame, or to the world."""
    return own if frame is None else kinematics.pose(tree, frame, q) @ own


def _position(tree: Tree, frame: str | None, q: NDArray[Any], at: Point) -> NDArray[Any]:
    if frame is None:
        return np.array(at)
    pose = kinematics.pose(tree, frame, q)
    return pose @ np.array(at) if any(at) else pose.position


class _Motion(NamedTuple):
    """The Jacobian, the velocity or the acceleration of a frame, and that of a point of it."""

    of_frame: Callable[..., NDArray[Any]]
    of_point: Callable[..., NDArray[Any]]
    axis: int
    """The axis of the linear and angular components."""

    def at_point(self, tree: Tree, frame: str, at: Point, q: NDArray[Any], *rates: NDArray[Any]) -> NDArray[Any]:
        """(..., 6) or (..., 6, nv): of a point of a frame, then the angular one of the frame."""
        whole = self.of_frame(tree, frame, q, *rates, "mixed")
        if not any(at):
            return whole
        angular = np.split(whole, 2, axis=self.axis)[1]
        return np.concatenate([self.of_point(tree, frame, q, *rates, np.array(at)), angular], axis=self.axis)


JACOBIAN = _Motion(jacobian.jacobian, jacobian.point_jacobian, -2)
VELOCITY = _Motion(kinematics.velocity, kinematics.point_velocity, -1)
ACCELERATION = _Motion(kinematics.acceleration, kinematics.point_acceleration, -1)


def _axes(tied: Pose, place: Pose) -> tuple[NDArray[Any], tuple[NDArray[Any], NDArray[Any]]]:
    """The z axis of the tied pose, and the x and y axes of its target, along the world's axes."""
    R, S = tied.rotation.matrix, place.rotation.matrix
    return R[..., :, 2], (S[..., :, 0], S[..., :, 1])
