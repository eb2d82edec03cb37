"""Contacts with the world: a point, several points of a surface, a whole frame.  [RD §2.10.4]"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multibody.algorithms import jacobian, kinematics
from multibody.algorithms.constraints.constraint import Constraint, FixedRows, Grip, Point
from multibody.algorithms.soft_contact import finite_number
from multibody.errors import InputError
from multibody.geometry import Pose
from multibody.geometry._arrays import finite_point, floats
from multibody.geometry.value import owned
from multibody.model.tree import Tree

TIPS: tuple[Point, ...] = ((0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))
"""Points of a frame that determine its pose: the origin, and one on each axis."""


@dataclass(frozen=True)
class PointContact(FixedRows):
    """A point of a link rests on the world: three rows along the world's axes.  [RD 2.269-2.271]

    >>> import multibody as mb
    >>> robot = mb.load("quadruped")
    >>> foot = PointContact("foot", "foot-lf", anchor=(0.4, 0.2, 0.0))
    >>> foot.row_names, foot.error(robot.tree, robot.home()).shape
    (('foot.x', 'foot.y', 'foot.z'), (3,))
    """

    name: str
    frame: str
    point: Point = (0.0, 0.0, 0.0)
    """In the frame, in m."""
    anchor: Point | None = None
    """Its position in the world; None for the current one."""
    _row_count = 3

    def __post_init__(self) -> None:
        convert_fields(self, point, "point", "anchor")

    @property
    def row_names(self) -> tuple[str, ...]:
        return tuple(f"{self.name}.{axis}" for axis in "xyz")

    def error(self, tree: Tree, q: NDArray[Any], target: Any = None) -> NDArray[Any]:
        if self.anchor is None:
            return super().error(tree, q)
        return kinematics.pose(tree, self.frame, q) @ np.array(self.point) - np.array(self.anchor)

    def jacobian(self, tree: Tree, q: NDArray[Any]) -> NDArray[Any]:
        return jacobian.point_jacobian(tree, self.frame, q, np.array(self.point))

    def bias(self, tree: Tree, q: NDArray[Any], v: NDArray[Any]) -> NDArray[Any]:
        return kinematics.point_acceleration(tree, self.frame, q, v, np.zeros_like(v), np.array(self.point))

    def grip(self) -> Grip:
        return Grip(self.frame, (self.point,))

    def anchored(self) -> tuple[tuple[str, Point, Point], ...]:
        return () if self.anchor is None else ((self.frame, self.point, self.anchor),)

    def check(self, tree: Tree) -> None:
        on_moving_body(tree, self.frame, self.name)


@dataclass(frozen=True)
class SurfaceContact(Constraint):
    """Several points of one link rest on the world, three rows each: redundant
    from the second on, of rank 3, 5, 6.

    [RD 2.271, §2.10.4]

    >>> import multibody as mb
    >>> robot = mb.load("quadruped")
    >>> sole = SurfaceContact("sole", "foot-lf", ((0, 0, 0), (0.1, 0, 0), (0, 0.1, 0)))
    >>> sole.rows, sole.row_names[3], sole.rank(robot.tree, robot.home())
    (9, 'sole[1].x', 6)
    """

    name: str
    frame: str
    points: tuple[Point, ...]
    """In the frame, in m."""
    anchors: tuple[Point, ...] | None = None
    """Their positions in the world; None for the current ones."""

    def __post_init__(self) -> None:
        convert_fields(self, _points, "points", "anchors")
        if self.anchors is not None and len(self.anchors) != len(self.points):
            raise InputError(
                f"constraint {self.name!r}: expected as many anchors as points, {len(self.points)}, got "
                f"{len(self.anchors)}"
            )

    @property
    def parts(self) -> tuple[PointContact, ...]:
        """The contacts of the points."""
        anchors = self.anchors or (None,) * len(self.points)
        pairs = enumerate(zip(self.points, anchors, strict=True))
        return tuple(PointContact(f"{self.name}[{k}]", self.frame, *pair) for k, pair in pairs)

    @property
    def rows(self) -> int:
        return 3 * len(self.points)

    @property
    def row_names(self) -> tuple[str, ...]:
        return tuple(name for part in self.parts for name in part.row_names)

    def error(self, tree: Tree, q: NDArray[Any], target: Any = None) -> NDArray[Any]:
        return np.concatenate([part.error(tree, q) for part in self.parts], axis=-1)

    def jacobian(self, tree: Tree, q: NDArray[Any]) -> NDArray[Any]:
        return np.concatenate([part.jacobian(tree, q) for part in self.parts], axis=-2)

    def bias(self, tree: Tree, q: NDArray[Any], v: NDArray[Any]) -> NDArray[Any]:
        return np.concatenate([part.bias(tree, q, v) for part in self.parts], axis=-1)

    def grip(self) -> Grip:
        return Grip(self.frame, self.points)

    def anchored(self) -> tuple[tuple[str, Point, Point], ...]:
        return tuple(anchor for part in self.parts for anchor in part.anchored())

    def check(self, tree: Tree) -> None:
        if not self.points:
            raise InputError(f"constraint {self.name!r}: expected at least one point, got none")
        on_moving_body(tree, self.frame, self.name)


@dataclass(frozen=True)
class FrameContact(FixedRows):
    """A frame is welded to the world: its mixed velocity vanishes, six rows.  [RD §2.10.4]

    >>> import multibody as mb
    >>> robot = mb.load("quadruped")
    >>> foot = FrameContact("foot", "foot-lf", robot.pose("foot-lf", robot.home()))
    >>> foot.rows, bool(abs(foot.error(robot.tree, robot.home())).max() < 1e-12)
    (6, True)
    """

    name: str
    frame: str
    anchor: Pose | None = None
    """Its pose in the world; None for the current one."""
    _row_count = 6

    def __post_init__(self) -> None:
        convert_fields(self, one_pose, "anchor")

    def error(self, tree: Tree, q: NDArray[Any], target: Any = None) -> NDArray[Any]:
        if self.anchor is None:
            return super().error(tree, q)
        pose = kinematics.pose(tree, self.frame, q)
        turn = pose.rotation.boxminus(self.anchor.rotation)
        return np.concatenate([pose.position - self.anchor.position, turn], axis=-1)

    def jacobian(self, tree: Tree, q: NDArray[Any]) -> NDArray[Any]:
        return jacobian.jacobian(tree, self.frame, q, "mixed")

    def bias(self, tree: Tree, q: NDArray[Any], v: NDArray[Any]) -> NDArray[Any]:
        return kinematics.acceleration(tree, self.frame, q, v, np.zeros_like(v), "mixed")

    def grip(self) -> Grip:
        return Grip(self.frame, TIPS[:1], turning=True)

    def anchored(self) -> tuple[tuple[str, Point, Point], ...]:
        return () if self.anchor is None else tips(self.frame, Pose.identity(), self.anchor)

    def check(self, tree: Tree) -> None:
        on_moving_body(tree, self.frame, self.name)


def convert_fields(constraint: Constraint, convert: Callable[[Any, str], Any], *names: str) -> None:
    """Check and convert fields of a frozen constraint; those with the default None may be None.

    >>> contact = PointContact("foot", "foot-lf", [0, 0, 1])
    >>> contact.point, contact.anchor
    ((0.0, 0.0, 1.0), None)
    """
    for name in names:
        value, optional = getattr(constraint, name), getattr(type(constraint), name, ...) is None
        if value is not None or not optional:
            object.__setattr__(constraint, name, convert(value, constraint.name))


def tips(frame: str, own: Pose, place: Pose) -> tuple[tuple[str, Point, Point], ...]:
    """The result of `Constraint.anchored` for a pose in a frame that is fixed to a pose in the world.

    >>> tips("foot", Pose.identity(), Pose.identity())[1]
    ('foot', (1.0, 0.0, 0.0), (1.0, 0.0, 0.0))
    """
    return tuple((frame, point(own @ np.array(tip), frame), point(place @ np.array(tip), frame)) for tip in TIPS)


def point(x: Any, name: str) -> Point:
    """Return three finite numbers as a tuple; `name` is that of the constraint.

    >>> point([0, 1, 2], "foot")
    (0.0, 1.0, 2.0)
    """
    return finite_point(x, f"constraint {name!r}")


def _points(x: Any, name: str) -> tuple[Point, ...]:
    return tuple(point(row, name) for row in np.atleast_1d(floats(x, f"constraint {name!r}")))


def number(x: Any, name: str) -> float:
    """Return one finite number; `name` is that of the constraint.

    >>> number(2, "rod")
    2.0
    """
    return finite_number(x, f"constraint {name!r}")


def one_pose(x: Any, name: str) -> Pose:
    """Return a copy of a single pose; `name` is that of the constraint.

    >>> one_pose(Pose.identity(), "weld").position
    array([0., 0., 0.])
    """
    if not isinstance(x, Pose) or x.shape:
        raise InputError(f"constraint {name!r}: expected one Pose, got {x!r}")
    return owned(x)


def on_moving_body(tree: Tree, frame: str, name: str) -> None:
    """Refuse a frame that is fixed to the world.

    >>> import multibody as mb
    >>> on_moving_body(mb.load("quadruped").tree, "foot-lf", "foot")
    """
    if tree.frame(frame)[0] == 0:
        raise InputError(f"constraint {name!r}: the frame {frame!r} is fixed to the world and cannot move")
