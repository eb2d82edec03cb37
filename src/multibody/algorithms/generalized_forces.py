"""Generalized forces of Cartesian ones: at points, on bodies, and of actuators between two bodies.  [RD §3.5.3]"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multibody.algorithms import jacobian
from multibody.geometry._arrays import matvec, transpose
from multibody.model.model import Model


@dataclass(frozen=True, eq=False)
class Action:
    """A force and a torque on the robot, along the world's axes, in N and N m.

    They act on the body of `frame`, the force at `point` of it; and, when the action is that of an actuator between two
    bodies, with the opposite sign on the body of `reaction`, at the origin of that frame.
    """

    frame: str
    force: Any = (0.0, 0.0, 0.0)
    torque: Any = (0.0, 0.0, 0.0)
    point: Any = (0.0, 0.0, 0.0)
    """In the frame."""
    reaction: str | None = None


def generalized_force(model: Model, q: NDArray[Any], actions: Sequence[Action]) -> NDArray[Any]:
    """τ, (..., nv): the sum of J_P^T F + J_R^T T of all actions.  [RD 3.49-3.53]

    Args:
        model: the robot.
        q: (..., nq).
        actions: outer forces and torques, and those of actuators; their arrays (..., 3) broadcast with q.
    """
    total = np.zeros((*q.shape[:-1], model.nv), q.dtype)
    for action in actions:
        force, torque, point = (np.asarray(x) for x in (action.force, action.torque, action.point))
        J_P = jacobian.point_jacobian(model, action.frame, q, point)
        J_R = jacobian.jacobian(model, action.frame, q, "mixed")[..., 3:, :]
        if action.reaction is not None:  # [RD 3.52]
            other = jacobian.jacobian(model, action.reaction, q, "mixed")
            J_P, J_R = J_P - other[..., :3, :], J_R - other[..., 3:, :]
        total = total + matvec(transpose(J_P), force) + matvec(transpose(J_R), torque)
    return total
