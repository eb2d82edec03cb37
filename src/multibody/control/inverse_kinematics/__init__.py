"""Inverse kinematics: configurations in which frames have wanted poses."""

from multibody.control.inverse_kinematics.answer import Answer
from multibody.control.inverse_kinematics.solver import InverseKinematics
