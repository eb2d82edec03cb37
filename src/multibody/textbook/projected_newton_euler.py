"""The equations of motion as sums over the bodies, as in the texts: to read, and to check the recursions."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from multibody.algorithms import jacobian, kinematics
from multibody.algorithms.velocity_blocks import gravity
from multibody.geometry._arrays import diagonal, matvec, transpose
from multibody.geometry.operators import cross3
from multibody.model.tree import Tree


class EquationsOfMotion(NamedTuple):
    """M(q) v' + b(q, v) + g(q) = τ."""

    M: NDArray[Any]
    b: NDArray[Any]
    g: NDArray[Any]


def projected_newton_euler(tree: Tree, q: NDArray[Any], v: NDArray[Any]) -> EquationsOfMotion:
    """M, b and g by d'Alembert's principle, in the robot's own base representation.  [RD 3.38-3.48; QT 59]

    Frames: W world, B body, S its centre of mass. Linear velocities are along the axes of W, angular ones too, and the
    inertia Θ of each body with them.  [RD §3.5.2; QT §5.3; Kindr §Projected Newton-Euler]
    """
    batch = np.broadcast_shapes(q.shape[:-1], v.shape[:-1])
    n = tree.nv
    M = np.zeros((*batch, n, n)) + diagonal(tree.armature)
    b, g = np.zeros((*batch, n)), np.zeros((*batch, n))
    for body in tree.bodies:
        frame, m, B_s = body.name, body.inertia.mass[..., None], body.inertia.com
        W_R_B = kinematics.pose(tree, frame, q).rotation
        J, J_dot = jacobian.jacobian(tree, frame, q, "mixed"), jacobian.jacobian_dot(tree, frame, q, v, "mixed")
        J_R, J_R_dot = J[..., 3:, :], J_dot[..., 3:, :]
        omega = matvec(J_R, v)
        arm = W_R_B @ B_s
        arm_dot = cross3(omega, arm)
        J_S = J[..., :3, :] + jacobian.cross_columns(J_R, arm)
        J_S_dot = J_dot[..., :3, :] + jacobian.cross_columns(J_R_dot, arm) + jacobian.cross_columns(J_R, arm_dot)
        theta = np.matmul(np.matmul(W_R_B.matrix, body.inertia.inertia), transpose(W_R_B.matrix))
        M = (
            M + m[..., None] * np.matmul(transpose(J_S), J_S) + np.matmul(transpose(J_R), np.matmul(theta, J_R))
        )  # [RD 3.43]
        torque = matvec(theta, matvec(J_R_dot, v)) + cross3(omega, matvec(theta, omega))
        b = b + matvec(transpose(J_S), m * matvec(J_S_dot, v)) + matvec(transpose(J_R), torque)  # [RD 3.44]
        g = g - matvec(transpose(J_S), m * gravity(tree, q))  # [RD 3.45]
    return EquationsOfMotion(M, b, g)
