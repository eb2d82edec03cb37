"""Rotations, poses, twists, wrenches, inertias, Lie groups, rates."""

from multibody._signatures import readable_names
from multibody.geometry import (
    derivatives,
    groups,
    log_cholesky,
    operators,
    points,
    quaternions,
    rates,
    representations,
    so3,
)
from multibody.geometry.inertia import SpatialInertia, kirchhoff
from multibody.geometry.pose import Pose
from multibody.geometry.rotation import Rotation
from multibody.geometry.twist import Twist
from multibody.geometry.wrench import Wrench

__all__ = [
    "Pose",
    "Rotation",
    "SpatialInertia",
    "Twist",
    "Wrench",
    "derivatives",
    "groups",
    "kirchhoff",
    "log_cholesky",
    "operators",
    "points",
    "quaternions",
    "rates",
    "representations",
    "so3",
]

for module in (derivatives, log_cholesky, operators, points, quaternions, rates, representations, so3):
    readable_names(module.__name__)
