"""Robot: the thin face over model, algorithms and compiler that users hold."""

from multibody.robot.load import load
from multibody.robot.robot import Robot

__all__ = ["Robot", "load"]
