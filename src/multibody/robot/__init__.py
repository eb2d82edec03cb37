"""Robot: the public class over models, algorithms and the compiler."""

from multibody.robot.load import load
from multibody.robot.robot import Robot

__all__ = ["Robot", "load"]
