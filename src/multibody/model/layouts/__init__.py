"""Converters between the coordinates of our models and those of other libraries, which need not be installed."""

from multibody._signatures import readable_names
from multibody.model.layouts.mujoco import MujocoLayout
from multibody.model.layouts.pinocchio import PinocchioLayout

__all__ = ["MujocoLayout", "PinocchioLayout"]

readable_names(__name__)
