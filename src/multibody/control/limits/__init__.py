"""Limits: one small interface, a file for each."""

from multibody.control.limits._limit import Limit
from multibody.control.limits.friction_cones import FrictionCones
from multibody.control.limits.joints import JointLimits
from multibody.control.limits.torques import TorqueLimits
from multibody.control.limits.velocities import VelocityLimits
