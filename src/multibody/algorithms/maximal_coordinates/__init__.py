"""Maximal coordinates: the velocities of and forces on all links, as physics engines store them.  [QT §6]"""

from multibody.algorithms.maximal_coordinates.forces import (
    applied_forces,
    at_centres,
    body_torques,
    generalized_force,
    generalized_force_of_torques,
    joint_torques,
    least_forces,
    least_forces_and_torques,
)
from multibody.algorithms.maximal_coordinates.velocities import (
    check_velocities,
    connectivity,
    joint_velocities,
    joint_velocities_by_joint,
    link_jacobian,
    link_names,
    link_velocities,
    local_jacobian,
    parent_rotations,
    relative_angular_velocities,
)

__all__ = [
    "applied_forces",
    "at_centres",
    "body_torques",
    "check_velocities",
    "connectivity",
    "generalized_force",
    "generalized_force_of_torques",
    "joint_torques",
    "joint_velocities",
    "joint_velocities_by_joint",
    "least_forces",
    "least_forces_and_torques",
    "link_jacobian",
    "link_names",
    "link_velocities",
    "local_jacobian",
    "parent_rotations",
    "relative_angular_velocities",
]
