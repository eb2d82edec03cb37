"""The base of controllers: the robot that they move."""

from typing import Any

from multibody.control._checks import expect_robot
from multibody.robot import Robot


class OfRobot:
    """Something that controls a robot."""

    __slots__ = ("_robot",)

    def __init__(self, robot: Any) -> None:
        self._robot = expect_robot(robot)

    @property
    def robot(self) -> Robot:
        """The robot that it moves."""
        return self._robot
