"""An axis of a frame along a direction."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multibody.algorithms import jacobian, kinematics
from multibody.control._checks import check_direction
from multibody.control.tasks._task import Axis, Task, vector
from multibody.errors import InputError
from multibody.geometry._arrays import dot, unit
from multibody.geometry.operators import cross3
from multibody.model.tree import Tree

OPPOSITE = 1e-10
"""1 + n* . n below which directions count as opposite: within some 1e-5 rad, where n* - n lies along n."""


@dataclass(frozen=True)
class AxisTask(Task):
    """An axis n of a frame along a direction n*: three rows in the world, of
    which two are independent.

    The target is the direction, (..., 3), of any length; the error is n* - n. Where both are
    opposite, that lies along n, where nothing can move it: a turn about a fixed perpendicular
    is added there.

    >>> import multibody as mb
    >>> robot = mb.load("panda")
    >>> level = AxisTask("level", "tool", axis=(0, 0, 1), direction=(0, 0, -1))
    >>> level.error(robot.tree, robot.home()).round(6) + 0.0
    array([0., 0., 0.])
    """

    name: str
    frame: str
    axis: Axis
    """In the frame; taken to length one."""
    direction: Axis | None = None
    """In the world: the target where a call has none."""
    weight: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "axis", check_direction(self.axis, f"axis of task {self.name!r}"))
        if self.direction is not None:
            object.__setattr__(self, "direction", check_direction(self.direction, f"direction of task {self.name!r}"))

    @property
    def needs_target(self) -> bool:
        return self.direction is None

    @property
    def rows(self) -> int:
        return 3

    def error(self, tree: Tree, q: NDArray[Any], target: Any = None) -> NDArray[Any]:
        target = self.direction if target is None else target
        if target is None:
            raise InputError(f"task {self.name!r}: expected a direction as its target, got none")
        n = kinematics.pose(tree, self.frame, q).rotation @ np.array(self.axis, q.dtype)
        return pointing_error(unit(vector(target, self, 3)), n)

    def jacobian(self, tree: Tree, q: NDArray[Any]) -> NDArray[Any]:
        return axis_jacobian(tree, self.frame, q, self.axis)

    def bias(self, tree: Tree, q: NDArray[Any], v: NDArray[Any]) -> NDArray[Any]:
        return axis_bias(tree, self.frame, q, v, self.axis)


def pointing_error(target: NDArray[Any], actual: NDArray[Any]) -> NDArray[Any]:
    """n* - n, (..., 3), of unit vectors; with a unit vector perpendicular to n besides where n* = -n."""
    x, y = np.eye(3, dtype=actual.dtype)[:2]
    aside = unit(np.where((np.abs(actual[..., 0]) < 0.8)[..., None], cross3(actual, x), cross3(actual, y)))
    opposite = 1 + dot(target, actual) < OPPOSITE
    return target - actual + np.where(opposite[..., None], aside, np.zeros_like(aside))


def axis_jacobian(tree: Tree, frame: str, q: NDArray[Any], axis: Axis) -> NDArray[Any]:
    """(..., 3, nv): n' = w x n of an axis n that is fixed to a frame."""
    n = kinematics.pose(tree, frame, q).rotation @ np.array(axis, q.dtype)
    return jacobian.cross_columns(jacobian.jacobian(tree, frame, q, "mixed")[..., 3:, :], n)


def axis_bias(tree: Tree, frame: str, q: NDArray[Any], v: NDArray[Any], axis: Axis) -> NDArray[Any]:
    """(..., 3): n'' of an axis n that is fixed to a frame, when v' = 0."""
    n = kinematics.pose(tree, frame, q).rotation @ np.array(axis, q.dtype)
    w = kinematics.velocity(tree, frame, q, v, "mixed")[..., 3:]
    turning = kinematics.acceleration(tree, frame, q, v, np.zeros_like(v), "mixed")[..., 3:]
    return cross3(turning, n) + cross3(w, cross3(w, n))
