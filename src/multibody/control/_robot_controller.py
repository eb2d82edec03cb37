"""The base of controllers: the robot that they move, and their functions as kernels."""

from collections.abc import Callable, Mapping
from typing import Any

from multibody.control._checks import expect_robot
from multibody.errors import InputError
from multibody.model.digest import library_digest
from multibody.robot import Robot
from multibody.robot.function import RobotFunction
from multibody.robot.inputs import Kind

STATE: dict[str, Kind] = {"q": "configuration", "v": "velocity"}
"""The inputs of most functions of controllers."""


class RobotController:
    """Something that controls a robot."""

    __slots__ = ("_robot",)

    def __init__(self, robot: Any) -> None:
        self._robot = expect_robot(robot)

    @property
    def robot(self) -> Robot:
        """The robot that it moves."""
        return self._robot


def robot_function(
    robot: Robot,
    function: Callable[..., Any],
    inputs: Mapping[str, Kind],
    optional: Mapping[str, Kind],
    *content: Any,
) -> RobotFunction:
    """A function of a robot as a kernel, kept on disk by the content that it depends on."""
    try:
        key = library_digest(*content)
    except InputError:  # code of a user, not fingerprintable: no cache on disk
        key = None
    return RobotFunction(robot.model, robot.dtype, function, inputs, optional, key)
