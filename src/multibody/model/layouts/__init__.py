"""Converters between the coordinates of our models and those of other libraries, which need not be installed."""

from multibody.model.layouts.mujoco import MujocoLayout
from multibody.model.layouts.pinocchio import PinocchioLayout

__all__ = ["MujocoLayout", "PinocchioLayout"]
