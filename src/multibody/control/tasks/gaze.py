"""An axis of a frame toward a point."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multibody.algorithms import jacobian, kinematics
from multibody.control._checks import check_direction
from multibody.control.tasks._task import Axis, Task, vector
from multibody.control.tasks.axis import axis_bias, axis_jacobian, pointing_error
from multibody.errors import InputError
from multibody.geometry._arrays import dot, unit
from multibody.model.tree import Tree


@dataclass(frozen=True)
class GazeTask(Task):
    """An axis n of a frame, through its origin o, toward a point p of the world:
    three rows in the world.

    The target is the point, (..., 3) in m. The error is d - n with d = (p - o) / |p - o|, as
    that of `AxisTask`. It changes when the frame moves, too, so that J depends on where the
    point is: `jacobian_toward`.

    >>> import multibody as mb
    >>> robot = mb.load("panda")
    >>> look = GazeTask("look", "tool", axis=(0, 0, 1))
    >>> ahead = robot.pose("tool", robot.home()) @ [0.0, 0.0, 0.5]
    >>> bool(abs(look.error(robot.tree, robot.home(), ahead)).max() < 1e-12)
    True
    >>> look.jacobian_toward(robot.tree, robot.home(), ahead).shape
    (3, 7)
    """

    name: str
    frame: str
    axis: Axis
    """In the frame; taken to length one."""
    weight: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "axis", check_direction(self.axis, f"axis of task {self.name!r}"))

    @property
    def rows(self) -> int:
        return 3

    def error(self, tree: Tree, q: NDArray[Any], target: Any) -> NDArray[Any]:
        W_H_F = kinematics.pose(tree, self.frame, q)
        d = unit(vector(target, self, 3) - W_H_F.position)
        return pointing_error(d, W_H_F.rotation @ np.array(self.axis, q.dtype))

    def jacobian(self, tree: Tree, q: NDArray[Any]) -> NDArray[Any]:
        raise InputError(f"task {self.name!r}: its Jacobian depends on the point: ask for jacobian_toward")

    def bias(self, tree: Tree, q: NDArray[Any], v: NDArray[Any]) -> NDArray[Any]:
        raise InputError(f"task {self.name!r}: its bias depends on the point: ask for bias_toward")

    def jacobian_toward(self, tree: Tree, q: NDArray[Any], target: Any) -> NDArray[Any]:
        arm = vector(target, self, 3) - kinematics.pose(tree, self.frame, q).position
        d = unit(arm)
        J_P = jacobian.jacobian(tree, self.frame, q, "mixed")[..., :3, :]
        aside = J_P - d[..., :, None] * np.matmul(d[..., None, :], J_P)
        return axis_jacobian(tree, self.frame, q, self.axis) + aside / dot(arm, d)[..., None, None]

    def bias_toward(self, tree: Tree, q: NDArray[Any], v: NDArray[Any], target: Any) -> NDArray[Any]:
        arm = vector(target, self, 3) - kinematics.pose(tree, self.frame, q).position
        d = unit(arm)
        r = dot(arm, d)[..., None]
        arm_1 = -kinematics.velocity(tree, self.frame, q, v, "mixed")[..., :3]
        arm_2 = -kinematics.acceleration(tree, self.frame, q, v, np.zeros_like(v), "mixed")[..., :3]
        # arm = r d, differentiated twice
        r_1 = dot(arm_1, d)[..., None]
        d_1 = (arm_1 - r_1 * d) / r
        r_2 = dot(arm_2, d)[..., None] + r * dot(d_1, d_1)[..., None]
        d_2 = (arm_2 - r_2 * d - 2 * r_1 * d_1) / r
        return axis_bias(tree, self.frame, q, v, self.axis) - d_2
