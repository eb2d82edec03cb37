"""A point of a frame at a place."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multibody.algorithms import jacobian, kinematics
from multibody.control.tasks._task import Axis, Labelled, letters, vector
from multibody.geometry._arrays import finite_point
from multibody.model.tree import Tree


@dataclass(frozen=True)
class PositionTask(Labelled):
    """A point of a frame at a place: a row for each letter of `axes`, along the world's axes.
    [RD 2.256-2.257]

    The target is an array (..., rows), in m, in the order of the letters.

    >>> import multibody as mb
    >>> robot = mb.load("panda")
    >>> task = PositionTask("height", "tool", axes="z")
    >>> q = robot.home()
    >>> task.error(robot.tree, q, robot.pose("tool", q).position[2:] + 0.1).round(12)
    array([0.1])
    """

    name: str
    frame: str
    axes: str = "xyz"
    point: Axis = (0.0, 0.0, 0.0)
    """In the frame, in m."""
    weight: float = 1.0

    def __post_init__(self) -> None:
        letters(self.axes, self.name)
        object.__setattr__(self, "point", finite_point(self.point, f"point of task {self.name!r}"))

    @property
    def labels(self) -> str:
        return self.axes

    def error(self, tree: Tree, q: NDArray[Any], target: Any) -> NDArray[Any]:
        actual = kinematics.pose(tree, self.frame, q) @ np.array(self.point, q.dtype)
        return vector(target, self, self.rows) - actual[..., letters(self.axes, self.name)]

    def jacobian(self, tree: Tree, q: NDArray[Any]) -> NDArray[Any]:
        J = jacobian.point_jacobian(tree, self.frame, q, np.array(self.point, q.dtype))
        return J[..., letters(self.axes, self.name), :]

    def bias(self, tree: Tree, q: NDArray[Any], v: NDArray[Any]) -> NDArray[Any]:
        F_r = np.array(self.point, q.dtype)
        a = kinematics.point_acceleration(tree, self.frame, q, v, np.zeros_like(v), F_r)
        return a[..., letters(self.axes, self.name)]
