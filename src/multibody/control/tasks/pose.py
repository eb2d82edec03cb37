"""A frame at a pose."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multibody.algorithms import jacobian, kinematics
from multibody.control.pose_error import pose_error
from multibody.control.tasks._task import WORLD_AXES, Labelled, expected
from multibody.geometry import Pose
from multibody.model.tree import Tree


@dataclass(frozen=True)
class PoseTask(Labelled):
    """A frame at a pose: six rows, along the world's axes, position first.  [RD 2.251, 2.256]

    The target is an `mb.Pose`; the error is p* - p, and the rotation vector of R* R^T.

    >>> import multibody as mb
    >>> robot = mb.load("panda")
    >>> q, task = robot.home(), PoseTask("hand", "tool")
    >>> bool(abs(task.error(robot.tree, q, robot.pose("tool", q))).max() < 1e-12)
    True
    """

    name: str
    frame: str
    weight: float = 1.0
    _labels = WORLD_AXES

    def target_kind(self, tree: Tree) -> str:
        return "pose"

    def error(self, tree: Tree, q: NDArray[Any], target: Any) -> NDArray[Any]:
        return pose_error(expected(target, Pose, self), kinematics.pose(tree, self.frame, q))

    def jacobian(self, tree: Tree, q: NDArray[Any]) -> NDArray[Any]:
        return jacobian.jacobian(tree, self.frame, q, "mixed")

    def bias(self, tree: Tree, q: NDArray[Any], v: NDArray[Any]) -> NDArray[Any]:
        return kinematics.acceleration(tree, self.frame, q, v, np.zeros_like(v), "mixed")
