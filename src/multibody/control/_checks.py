"""Checks of what functions of control share: a robot, one of its frames, a target."""

from typing import Any

import numpy as np

from multibody.errors import InputError
from multibody.geometry import Pose
from multibody.geometry._arrays import at, first
from multibody.robot import Robot


def check_robot(robot: Any, frame: str) -> None:
    """Refuse what is no robot, or a frame that it does not have."""
    if not isinstance(robot, Robot):
        raise InputError(f"robot: expected a Robot, got {type(robot).__name__}")
    robot.tree.frame(frame)


def check_pose(target: Any, *, finite: bool = False) -> Pose:
    """The target, if it is a pose, and finite where that is asked for."""
    if not isinstance(target, Pose):
        raise InputError(f"target: expected a Pose, got {type(target).__name__}")
    if finite:
        bad = ~(np.isfinite(target.rotation.matrix).all(axis=(-1, -2)) & np.isfinite(target.position).all(axis=-1))
        if bad.any():
            raise InputError(f"target{at(first(bad))}: expected a pose of finite numbers, got one that is not")
    return target
