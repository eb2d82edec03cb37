"""Kinematics, dynamics, control and simulation of robots."""

from multibody import geometry
from multibody.errors import InputError, MultibodyError, SingularityError
from multibody.geometry import Pose, Rotation, SpatialInertia, Twist, Wrench

__version__ = "0.1.0"

__all__ = [
    "InputError",
    "MultibodyError",
    "Pose",
    "Rotation",
    "SingularityError",
    "SpatialInertia",
    "Twist",
    "Wrench",
    "geometry",
]
