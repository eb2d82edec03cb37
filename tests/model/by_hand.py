"""Kinematics and dynamics of small robots as one writes them by hand: slow, plain, and apart from the library's."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from multibody.geometry import Pose
from multibody.model import configuration, robots
from multibody.model.model import Model

from .trees import world_poses

Array = NDArray[Any]


def model_of(name: str, **options: Any) -> Model:
    return robots.build(name, **options).model()


def pose(model: Model, frame: str, q: Any) -> Pose:
    index, i_H_frame = model.tree.frame(frame)
    return world_poses(model, np.asarray(q, dtype=float))[index] @ i_H_frame


def jacobians(model: Model, q: Array) -> list[Array]:
    """i_J of every body, (6, nv): left-trivialised, and so are the velocities of a base."""
    J = [np.zeros((6, model.nv))]
    for _, p, body in model.tree.outward():
        own = body.joint.pose(q).inverse().adjoint @ J[p]
        own[:, body.joint.v] += body.joint.subspace(q).matrix
        J.append(own)
    return J


def mass_matrix(model: Model, q: Any) -> Array:
    """M = sum of J^T I J.  [RD 3.31]"""
    q = np.asarray(q, dtype=float)
    J = jacobians(model, q)
    return sum(J[i].T @ body.inertia.matrix @ J[i] for i, _, body in model.tree.outward()) + np.diag(model.armature)


def gravity_forces(model: Model, q: Any) -> Array:
    """g(q), the forces that hold the robot: the derivative of the potential energy.  [RD 3.33]"""
    q = np.asarray(q, dtype=float)
    J, poses, total = jacobians(model, q), world_poses(model, q), np.zeros(model.nv)
    for i, _, body in model.tree.outward():
        weight = body.inertia.mass * (poses[i].rotation.inverse() @ np.array(model.gravity))
        total -= J[i].T @ np.concatenate([weight, np.cross(body.inertia.com, weight)])
    return total


def position_jacobian(model: Model, frame: str, q: Array, step: float = 1e-6) -> Array:
    """(3, nv) of a frame's origin, by differences."""
    moves = [step * np.eye(model.nv)[k] for k in range(model.nv)]
    ends = [
        [pose(model, frame, configuration.integrate(model.tree, q, s * move)).position for s in (1, -1)]
        for move in moves
    ]
    return np.stack([(a - b) / (2 * step) for a, b in ends], axis=1)
