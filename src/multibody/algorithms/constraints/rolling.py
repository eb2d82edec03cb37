"""Constraints of velocities: directions without slip, balls and wheels that roll.  [RD 3.35-3.37]"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multibody.algorithms import jacobian, kinematics
from multibody.algorithms.constraints.constraint import Constraint, FixedRows, Point
from multibody.algorithms.constraints.contacts import convert_fields, number, on_moving_body, point
from multibody.errors import InputError
from multibody.geometry._arrays import dot
from multibody.geometry.operators import cross3
from multibody.model.tree import Tree


@dataclass(frozen=True)
class NoSlip(Constraint):
    """Directions of a frame in which its origin must not move, such as the axle
    of a wheel; positions are free.

    Nonholonomic rows of the left-trivialised velocity.  [RD 3.35-3.37]

    >>> import multibody as mb
    >>> robot = mb.load("quadruped")
    >>> skate = NoSlip("skate", "foot-lf", (1, 2))         # it may only move along its x
    >>> skate.rows, skate.jacobian(robot.tree, robot.home()).shape
    (2, (2, 18))
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

    def jacobian(self, tree: Tree, q: NDArray[Any]) -> NDArray[Any]:
        J = jacobian.jacobian(tree, self.frame, q, "left")
        return np.stack([J[..., k, :] for k in self.axes], axis=-2)

    def bias(self, tree: Tree, q: NDArray[Any], v: NDArray[Any]) -> NDArray[Any]:
        a = kinematics.acceleration(tree, self.frame, q, v, np.zeros_like(v), "left")
        return np.stack([a[..., k] for k in self.axes], axis=-1)

    def check(self, tree: Tree) -> None:
        if not self.axes or any(not isinstance(k, int | np.integer) or k not in range(6) for k in self.axes):
            raise InputError(f"constraint {self.name!r}: expected axes from 0 to 5, got {self.axes}")
        on_moving_body(tree, self.frame, self.name)


@dataclass(frozen=True)
class RollingContact(FixedRows):
    """A ball, or with an axle a wheel or a disc, rolls on a plane without slip:
    the contact point moves on the link.

    Three rows along the world's axes: the velocity of the link's matter at the contact
    vanishes, C_J_WL v, and not that of the point C itself [MDN 81-82]. Only the normal row has
    a position error. A disc that lies flat on the plane has no lowest point: its rows are NaN.

    >>> import multibody as mb
    >>> robot = mb.load("quadruped")
    >>> wheel = RollingContact("wheel", "foot-lf", 0.1, offset=-0.5, axle=(0, 1, 0))
    >>> wheel.jacobian(robot.tree, robot.home()).shape
    (3, 18)
    """

    name: str
    frame: str
    """Its origin is the centre of the ball or of the disc."""
    radius: float
    normal: Point = (0.0, 0.0, 1.0)
    """Out of the plane, of length one."""
    offset: float = 0.0
    """The distance of the plane from the world's origin, along the normal, in m."""
    axle: Point | None = None
    """The axis of the disc, in the frame, of length one; None is a ball."""
    _row_count = 3

    def __post_init__(self) -> None:
        convert_fields(self, number, "radius", "offset")
        convert_fields(self, point, "normal", "axle")

    def error(self, tree: Tree, q: NDArray[Any], target: Any = None) -> NDArray[Any]:
        n = np.array(self.normal)
        lowest = kinematics.pose(tree, self.frame, q).position + self._arm(tree, q)
        return (dot(lowest, n) - self.offset)[..., None] * n

    def jacobian(self, tree: Tree, q: NDArray[Any]) -> NDArray[Any]:
        J = jacobian.jacobian(tree, self.frame, q, "mixed")
        return J[..., :3, :] + jacobian.cross_columns(J[..., 3:, :], self._arm(tree, q))

    def bias(self, tree: Tree, q: NDArray[Any], v: NDArray[Any]) -> NDArray[Any]:
        a = kinematics.acceleration(tree, self.frame, q, v, np.zeros_like(v), "mixed")
        still = a[..., :3] + cross3(a[..., 3:], self._arm(tree, q))
        if self.axle is None:
            return still
        w = kinematics.velocity(tree, self.frame, q, v, "mixed")[..., 3:]
        return still + cross3(w, self._arm_rate(tree, q, w))

    def check(self, tree: Tree) -> None:
        directions = (self.normal, *(() if self.axle is None else (self.axle,)))
        if not self.radius > 0 or any(abs(float(np.linalg.norm(d)) - 1) > 1e-9 for d in directions):
            raise InputError(
                f"constraint {self.name!r}: expected a positive radius, normal and axle of length one, got {self}"
            )
        on_moving_body(tree, self.frame, self.name)

    def _arm(self, tree: Tree, q: NDArray[Any]) -> NDArray[Any]:
        """From the centre to the contact, along the world's axes."""
        if self.axle is None:
            return -self.radius * np.array(self.normal)
        _, up, steep = self._disc(tree, q)
        return -self.radius / steep * up

    def _arm_rate(self, tree: Tree, q: NDArray[Any], w: NDArray[Any]) -> NDArray[Any]:
        """(..., 3): the rate of `_arm` of a disc that turns with w."""
        axle, up, steep = self._disc(tree, q)
        n, turned = np.array(self.normal), cross3(w, axle)
        rise = -dot(turned, n)[..., None] * axle - dot(axle, n)[..., None] * turned
        u = up / steep
        return -self.radius / steep * (rise - dot(u, rise)[..., None] * u)

    def _disc(self, tree: Tree, q: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
        """The axle in the world, the part of the normal in the plane of the disc, and the length of that, (..., 1)."""
        n, axle = np.array(self.normal), kinematics.pose(tree, self.frame, q).rotation @ np.array(self.axle)
        up = n - dot(axle, n)[..., None] * axle
        return axle, up, np.sqrt(dot(up, up))[..., None]
