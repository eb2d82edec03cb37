"""A frame at an orientation."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multibody.algorithms import jacobian, kinematics
from multibody.control.tasks._task import WORLD_AXES, Labelled, expected
from multibody.geometry import Rotation
from multibody.model.tree import Tree


@dataclass(frozen=True)
class OrientationTask(Labelled):
    """A frame at an orientation: three rows along the world's axes.  [RD 2.251, 2.258]

    The target is an `mb.Rotation`; the error is the rotation vector of R* R^T.

    >>> import multibody as mb
    >>> robot = mb.load("panda")
    >>> turned = robot.pose("tool", robot.home()).rotation.boxplus([0.0, 0.0, 0.1])
    >>> OrientationTask("hand", "tool").error(robot.tree, robot.home(), turned).round(12) + 0.0
    array([0. , 0. , 0.1])
    """

    name: str
    frame: str
    weight: float = 1.0
    _labels = WORLD_AXES[3:]

    def target_kind(self, tree: Tree) -> str:
        return "rotation"

    def error(self, tree: Tree, q: NDArray[Any], target: Any) -> NDArray[Any]:
        return expected(target, Rotation, self).boxminus(kinematics.pose(tree, self.frame, q).rotation)

    def jacobian(self, tree: Tree, q: NDArray[Any]) -> NDArray[Any]:
        return jacobian.jacobian(tree, self.frame, q, "mixed")[..., 3:, :]

    def bias(self, tree: Tree, q: NDArray[Any], v: NDArray[Any]) -> NDArray[Any]:
        return kinematics.acceleration(tree, self.frame, q, v, np.zeros_like(v), "mixed")[..., 3:]
