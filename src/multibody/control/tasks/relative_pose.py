"""A frame at a pose relative to another frame of the robot."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multibody.algorithms import jacobian, kinematics
from multibody.control.pose_error import pose_error
from multibody.control.tasks._task import WORLD_AXES, Labelled, expected
from multibody.geometry import Pose
from multibody.geometry.operators import cross3
from multibody.model.tree import Tree


@dataclass(frozen=True)
class RelativePoseTask(Labelled):
    """A frame F at a pose E_H_F relative to a reference E: six rows along the
    axes of E, position first.

    The target is an `mb.Pose`. Both frames may move: one hand that stays at the other.

    >>> import multibody as mb
    >>> robot = mb.load("humanoid")
    >>> q = robot.home()
    >>> hands = RelativePoseTask("hands", "hand-left", "hand-right")
    >>> E_H_F = robot.pose("hand-right", q).inverse() @ robot.pose("hand-left", q)
    >>> bool(abs(hands.error(robot.tree, q, E_H_F)).max() < 1e-12)
    True
    """

    name: str
    frame: str
    reference: str
    weight: float = 1.0
    _labels = WORLD_AXES

    def target_kind(self, tree: Tree) -> str:
        return "pose"

    def error(self, tree: Tree, q: NDArray[Any], target: Any) -> NDArray[Any]:
        W_H_F, W_H_E = kinematics.pose(tree, self.frame, q), kinematics.pose(tree, self.reference, q)
        return pose_error(expected(target, Pose, self), W_H_E.inverse() @ W_H_F)

    def jacobian(self, tree: Tree, q: NDArray[Any]) -> NDArray[Any]:
        return jacobian.relative_jacobian(tree, self.frame, self.reference, q, kind="twist", representation="mixed")

    def bias(self, tree: Tree, q: NDArray[Any], v: NDArray[Any]) -> NDArray[Any]:
        F, E = self.frame, self.reference
        W_H_F, W_H_E = kinematics.pose(tree, F, q), kinematics.pose(tree, E, q)
        v_F, v_E = (kinematics.velocity(tree, frame, q, v, "mixed") for frame in (F, E))
        a_F, a_E = (kinematics.acceleration(tree, frame, q, v, np.zeros_like(v), "mixed") for frame in (F, E))
        w_E, arm, apart, away = v_E[..., 3:], W_H_F.position - W_H_E.position, v_F - v_E, a_F - a_E
        # the derivative of E_R_W (v_F - v_E - w_E x arm), in the axes of the world
        seen = apart[..., :3] - cross3(w_E, arm)
        linear = away[..., :3] - cross3(a_E[..., 3:], arm) - cross3(w_E, apart[..., :3]) - cross3(w_E, seen)
        angular = away[..., 3:] - cross3(w_E, apart[..., 3:])
        E_R_W = W_H_E.rotation.inverse()
        return np.concatenate([E_R_W @ linear, E_R_W @ angular], axis=-1)
