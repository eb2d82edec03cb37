"""Trajectories: functions of time in R^n, SO(3) and SE(3).

Each has values, rates and accelerations.
"""

from multibody.control.trajectories._trajectory import Motion, Trajectory
from multibody.control.trajectories.polynomials import cubic, minimum_jerk, quintic
from multibody.control.trajectories.splines import spline
from multibody.control.trajectories.trapezoids import trapezoidal

__all__ = ["Motion", "Trajectory", "cubic", "minimum_jerk", "quintic", "spline", "trapezoidal"]
