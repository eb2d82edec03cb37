"""Contacts with the world: a point, several points of a surface, a whole frame.  [RD §2.10.4]"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multibody.algorithms import jacobian, kinematics
from multibody.algorithms.constraints._constraint import Constraint
from multibody.errors import InputError
from multibody.geometry import Pose
from multibody.geometry._arrays import dot, floats
from multibody.geometry.operators import cross3
from multibody.model.model import Model

Point = tuple[float, float, float]


@dataclass(frozen=True)
class PointContact(Constraint):
    """A point of a link rests on the world: three rows along the world's axes.  [RD 2.269-2.271]"""

    name: str
    frame: str
    point: Point = (0.0, 0.0, 0.0)
    """In the frame, in m."""
    anchor: Point | None = None
    """Where it rests in the world; None is wherever it is."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "point", point(self.point, self.name))
        if self.anchor is not None:
            object.__setattr__(self, "anchor", point(self.anchor, self.name))

    @property
    def rows(self) -> int:
        return 3

    @property
    def row_names(self) -> tuple[str, ...]:
        return tuple(f"{self.name}.{axis}" for axis in "xyz")

    def error(self, model: Model, q: NDArray[Any]) -> NDArray[Any]:
        if self.anchor is None:
            return super().error(model, q)
        return kinematics.pose(model, self.frame, q) @ np.array(self.point) - np.array(self.anchor)

    def jacobian(self, model: Model, q: NDArray[Any]) -> NDArray[Any]:
        return jacobian.point_jacobian(model, self.frame, q, np.array(self.point))

    def bias(self, model: Model, q: NDArray[Any], v: NDArray[Any]) -> NDArray[Any]:
        return kinematics.point_acceleration(model, self.frame, q, v, np.zeros_like(v), np.array(self.point))

    def check(self, model: Model) -> None:
        on_moving_body(model, self.frame, self.name)


@dataclass(frozen=True)
class SurfaceContact(Constraint):
    """Several points of one link rest on the world, three rows each: redundant from the second on, of rank 3, 5, 6.

    [RD 2.271, §2.10.4]
    """

    name: str
    frame: str
    points: tuple[Point, ...]
    """In the frame, in m."""

    def __post_init__(self) -> None:
        points = np.atleast_1d(floats(self.points, f"constraint {self.name!r}"))
        object.__setattr__(self, "points", tuple(point(each, self.name) for each in points))

    @property
    def parts(self) -> tuple[PointContact, ...]:
        """The contacts of the points."""
        return tuple(PointContact(f"{self.name}[{k}]", self.frame, p) for k, p in enumerate(self.points))

    @property
    def rows(self) -> int:
        return 3 * len(self.points)

    @property
    def row_names(self) -> tuple[str, ...]:
        return tuple(name for part in self.parts for name in part.row_names)

    def jacobian(self, model: Model, q: NDArray[Any]) -> NDArray[Any]:
        return np.concatenate([part.jacobian(model, q) for part in self.parts], axis=-2)

    def bias(self, model: Model, q: NDArray[Any], v: NDArray[Any]) -> NDArray[Any]:
        return np.concatenate([part.bias(model, q, v) for part in self.parts], axis=-1)

    def check(self, model: Model) -> None:
        if not self.points:
            raise InputError(f"constraint {self.name!r}: expected at least one point, got none")
        on_moving_body(model, self.frame, self.name)


@dataclass(frozen=True)
class FrameContact(Constraint):
    """A frame is welded to the world: its mixed velocity vanishes, six rows.  [RD §2.10.4]"""

    name: str
    frame: str
    anchor: Pose | None = None
    """Where it is held in the world; None is wherever it is."""

    def __post_init__(self) -> None:
        if self.anchor is not None:
            one_pose(self.anchor, self.name)

    @property
    def rows(self) -> int:
        return 6

    def error(self, model: Model, q: NDArray[Any]) -> NDArray[Any]:
        if self.anchor is None:
            return super().error(model, q)
        pose = kinematics.pose(model, self.frame, q)
        turn = pose.rotation.boxminus(self.anchor.rotation)
        return np.concatenate([pose.position - self.anchor.position, turn], axis=-1)

    def jacobian(self, model: Model, q: NDArray[Any]) -> NDArray[Any]:
        return jacobian.jacobian(model, self.frame, q, "mixed")

    def bias(self, model: Model, q: NDArray[Any], v: NDArray[Any]) -> NDArray[Any]:
        return kinematics.acceleration(model, self.frame, q, v, np.zeros_like(v), "mixed")

    def check(self, model: Model) -> None:
        on_moving_body(model, self.frame, self.name)


@dataclass(frozen=True)
class NoSlip(Constraint):
    """Directions of a frame in which its origin must not move, such as the axle of a wheel: no position is held.

    Nonholonomic rows of the left-trivialised velocity.  [RD 3.35-3.37]
    """

    name: str
    frame: str
    axes: tuple[int, ...] = (1,)
    """0, 1, 2 for the velocity along x, y, z of the frame, 3, 4, 5 for that about them."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "axes", tuple(self.axes) if isinstance(self.axes, Iterable) else (self.axes,))

    @property
    def rows(self) -> int:
        return len(self.axes)

    def jacobian(self, model: Model, q: NDArray[Any]) -> NDArray[Any]:
        J = jacobian.jacobian(model, self.frame, q, "left")
        return np.stack([J[..., k, :] for k in self.axes], axis=-2)

    def bias(self, model: Model, q: NDArray[Any], v: NDArray[Any]) -> NDArray[Any]:
        a = kinematics.acceleration(model, self.frame, q, v, np.zeros_like(v), "left")
        return np.stack([a[..., k] for k in self.axes], axis=-1)

    def check(self, model: Model) -> None:
        if not self.axes or any(not isinstance(k, int | np.integer) or k not in range(6) for k in self.axes):
            raise InputError(f"constraint {self.name!r}: expected axes from 0 to 5, got {self.axes}")
        on_moving_body(model, self.frame, self.name)


@dataclass(frozen=True)
class RollingContact(Constraint):
    """A ball on a plane through the world's origin rolls without slip: the contact point moves on the link.

    Three rows along the world's axes: the velocity of the link's matter at the contact vanishes, C_J_WL v, and not that
    of the point C itself [MDN 81-82]. Only along the normal there is a position.
    """

    name: str
    frame: str
    """Its origin is the centre of the ball."""
    radius: float
    normal: Point = (0.0, 0.0, 1.0)
    """Out of the plane, of length one."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "radius", number(self.radius, self.name))
        object.__setattr__(self, "normal", point(self.normal, self.name))

    @property
    def rows(self) -> int:
        return 3

    def error(self, model: Model, q: NDArray[Any]) -> NDArray[Any]:
        n = np.array(self.normal)
        height = dot(kinematics.pose(model, self.frame, q).position, n) - self.radius
        return height[..., None] * n

    def jacobian(self, model: Model, q: NDArray[Any]) -> NDArray[Any]:
        J = jacobian.jacobian(model, self.frame, q, "mixed")
        return J[..., :3, :] + jacobian.crossed(J[..., 3:, :], self._arm())

    def bias(self, model: Model, q: NDArray[Any], v: NDArray[Any]) -> NDArray[Any]:
        a = kinematics.acceleration(model, self.frame, q, v, np.zeros_like(v), "mixed")
        return a[..., :3] + cross3(a[..., 3:], self._arm())

    def check(self, model: Model) -> None:
        if not self.radius > 0 or abs(float(np.linalg.norm(self.normal)) - 1) > 1e-9:
            raise InputError(
                f"constraint {self.name!r}: expected a positive radius and a normal of length one, got {self}"
            )
        on_moving_body(model, self.frame, self.name)

    def _arm(self) -> NDArray[Any]:
        """From the centre to the contact, along the world's axes."""
        return -self.radius * np.array(self.normal)


def point(x: Any, name: str) -> Point:
    """Three finite numbers, from any sequence of them."""
    array = floats(x, f"constraint {name!r}", 3)
    if array.shape != (3,) or not np.isfinite(array).all():
        raise InputError(f"constraint {name!r}: expected three finite numbers, got {x!r}")
    return tuple(array.tolist())


def number(x: Any, name: str) -> float:
    """One finite number."""
    array = floats(x, f"constraint {name!r}")
    if array.shape or not np.isfinite(array):
        raise InputError(f"constraint {name!r}: expected a finite number, got {x!r}")
    return float(array)


def one_pose(x: Any, name: str) -> Pose:
    """A pose that is no batch."""
    if not isinstance(x, Pose) or x.shape:
        raise InputError(f"constraint {name!r}: expected one Pose, got {x!r}")
    return x


def on_moving_body(model: Model, frame: str, name: str) -> None:
    """Refuse a frame that is fixed to the world: nothing could move it."""
    if model.frame(frame)[0] == 0:
        raise InputError(f"constraint {name!r}: the frame {frame!r} is fixed to the world and cannot move")
