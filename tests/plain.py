"""A robot whose algorithms run as plain NumPy: nothing is compiled, so tests of formulas are quick."""

from functools import partial
from typing import Any

from multibody.algorithms import jacobian, kinematics
from multibody.model.joint import Passive
from multibody.robot.load import load
from multibody.robot.quantities import QUANTITIES
from multibody.robot.robot import Robot

AS_ON_THE_FACE = {"pose": kinematics.pose, "relative_jacobian": jacobian.relative_jacobian}
"""Algorithms that the table of quantities wraps."""


class Plain:
    """The face of a robot, without kernels."""

    def __init__(self, robot: Robot) -> None:
        self.robot = robot

    def __getattr__(self, name: str) -> Any:
        if name in AS_ON_THE_FACE:
            return partial(AS_ON_THE_FACE[name], self.robot.tree)
        if name in QUANTITIES:
            return partial(QUANTITIES[name].function, self.robot.tree)
        return getattr(self.robot, name)


def bodies_alone(name: str) -> Plain:
    """An embedded robot whose drives have neither gears nor inertia, of which the documents know nothing."""
    robot = load(name)
    return Plain(robot.change(passive={joint.name: Passive() for joint in robot.joints}, actuators=None))
