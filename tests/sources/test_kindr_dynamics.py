"""Dynamics of a robot with a floating base, and the Hessian of a chain, as on the sheet.

Where the sheet carries a slip, the corrected form stands here and the slip in test_errata_robots.py. Its first two
boxes, lost in the scan, are M u' - h = W λ with h = f - g in the authors' LaTeX.
"""

import numpy as np
import pytest

import multibody as mb
from multibody.algorithms.change_of_velocity import equations_of_motion, transformed
from multibody.algorithms.hessian import jacobian_dot_from_hessian
from multibody.model import base_velocity
from multibody.textbook.projected_newton_euler import projected_newton_euler

from ..plain import Plain, bodies_alone
from .truth import hat, same

FOOT = "foot-rh"


@pytest.fixture(scope="module")
def robot():
    return bodies_alone("quadruped")


@pytest.fixture(scope="module")
def state(robot):
    rng = np.random.default_rng(1418)
    return robot.random(rng), *rng.normal(size=(3, robot.nv))


def test_spatial_jacobian(robot, state):
    """[Kindr 9-14, §Appendix II]: the blocks of a point that hangs on the floating base."""
    q, u, _, _ = state
    base, point = robot.pose("trunk", q), np.array([0.1, 0.0, -0.1])
    C_IB = base.rotation.matrix
    I_r_IQ = robot.pose(FOOT, q) @ point
    B_r_BQ = base.inverse() @ I_r_IQ
    same(q[:3] + C_IB @ B_r_BQ, I_r_IQ, 1e-12)  # 9
    J_P, J_R = robot.point_jacobian(FOOT, q, point), robot.jacobian(FOOT, q)[3:]
    same(J_P[:, :6], np.concatenate([np.eye(3), -C_IB @ hat(B_r_BQ)], axis=1), 1e-12)
    same(J_R[:, :6], np.concatenate([np.zeros((3, 3)), C_IB], axis=1), 1e-12)
    at_rest = np.concatenate([np.zeros(3), [1.0, 0, 0, 0], q[7:]])  # I is B then, so that the rest are B_J
    same(J_P[:, 6:], C_IB @ robot.point_jacobian(FOOT, at_rest, point)[:, 6:], 1e-12)
    same(J_R[:, 6:], C_IB @ robot.jacobian(FOOT, at_rest)[3:, 6:], 1e-12)
    same(J_P @ u, robot.point_velocity(FOOT, q, u, point), 1e-12)  # 10
    same(J_R @ u, robot.velocity(FOOT, q, u)[3:], 1e-12)  # 13


def test_projected_newton_euler(robot, state):
    """[Kindr §Projected Newton-Euler]: M, g and f as sums; M u' - (f - g) is what contacts and motors give."""
    q, u, u_dot, _ = state
    n = robot.nv
    M, g, f = np.zeros((n, n)), np.zeros(n), np.zeros(n)
    rng = np.random.default_rng(15)
    outer = {}
    for body in robot.bodies:
        m, com = body.inertia.mass, body.inertia.com
        C = robot.pose(body.name, q).rotation.matrix
        J, J_dot = robot.jacobian(body.name, q), robot.jacobian_dot(body.name, q, u)
        J_R, J_R_dot = J[3:], J_dot[3:]
        Omega = J_R @ u
        arm = hat(C @ com)
        J_COM = J[:3] - arm @ J_R
        J_COM_dot = J_dot[:3] - (hat(Omega) @ arm - arm @ hat(Omega)) @ J_R - arm @ J_R_dot
        Theta = C @ body.inertia.inertia @ C.T
        M += J_COM.T @ J_COM * m + J_R.T @ Theta @ J_R
        g += J_COM.T @ J_COM_dot @ u * m + J_R.T @ (Theta @ J_R_dot @ u + np.cross(Omega, Theta @ Omega))
        force, torque = rng.normal(size=(2, 3))
        outer[body.name] = np.concatenate([force, torque])  # at Q, the origin of the body
        f += J[:3].T @ force + J_R.T @ torque + J_COM.T @ (m * np.array(robot.model.gravity))
    same(robot.mass_matrix(q), M, 1e-12)
    same(robot.bias(q, u) - robot.gravity(q), g, 1e-11)
    same(robot.inverse_dynamics(q, u, u_dot, outer), M @ u_dot - (f - g), 1e-10)
    reference = projected_newton_euler(robot.tree, q, u)
    same(reference.M, M, 1e-12)
    same(reference.b, g, 1e-11)


def test_motion_with_contacts(robot, state):
    """[Kindr §Equations of Motion with Contacts]: M u' - h = W λ, with W = J^T of the contact points."""
    q, u, _, given = state
    tau = np.concatenate([np.zeros(6), given[6:]])
    feet = [name for name in robot.frames if name.startswith("foot")]
    forces = np.random.default_rng(16).normal(size=(len(feet), 3))
    W = np.concatenate([robot.jacobian(name, q)[:3].T for name in feet], axis=1)
    h = tau - robot.bias(q, u)
    wrenches = {name: np.concatenate([force, np.zeros(3)]) for name, force in zip(feet, forces, strict=True)}
    u_dot = robot.forward_dynamics(q, u, tau, wrenches)
    same(robot.mass_matrix(q) @ u_dot - h, W @ forces.ravel(), 1e-9)


@pytest.mark.parametrize("base", ["left", "right", "mixed"])
def test_transformation_of_the_equations_of_motion(robot, state, base):
    """[Kindr §Transformation of Equations of Motion]: from velocities ū = B u to u, for other base velocities.

    The sheet's h is f - g, on the other side of the equation than ours: h = B^T h̄ - B^T M̄ B' u has the sign of the
    sheet there, and a plus in `transformed`.
    """
    q, u_bar, _, _ = state
    joint = robot.tree.bases[0]

    def B(q):
        full = np.eye(robot.nv)
        full[:6, :6] = base_velocity.between(joint, q, base, "kindr")
        return full

    u = np.linalg.solve(B(q), u_bar)
    step = 1e-6
    B_dot = (B(robot.integrate(q, step * u_bar)) - B(robot.integrate(q, -step * u_bar))) / (2 * step)
    M_bar, bias_bar = robot.mass_matrix(q), robot.bias(q, u_bar)
    M, bias = equations_of_motion(robot.tree, q, u, base)
    same(M, B(q).T @ M_bar @ B(q), 1e-12)
    h_bar, h = -bias_bar, -bias
    same(h, B(q).T @ h_bar - B(q).T @ M_bar @ B_dot @ u, 1e-7)
    ours = transformed(M_bar, bias_bar, B(q), B_dot, u)
    same(ours[0], M, 1e-12)
    same(ours[1], bias, 1e-7)


# ---- appendix III ----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module", params=["puma-560", "scara"])
def arm(request):
    return Plain(mb.load(request.param))


def test_columns_of_the_hessian(arm):
    """[Kindr 15-16, §Appendix III]: of hinges and sliders on the chain, by which column carries which."""
    q = arm.random(np.random.default_rng(17))
    J, n = arm.jacobian("tool", q), arm.nv
    H = arm.hessian("tool", q)
    for j in range(n):
        columns = []
        for i in range(n):
            (J_Pi, J_Ri), (J_Pj, J_Rj) = (J[:3, i], J[3:, i]), (J[:3, j], J[3:, j])
            above, below = (np.cross(J_Rj, J_Pi), np.cross(J_Rj, J_Ri)), (np.cross(J_Ri, J_Pj), np.zeros(3))
            columns.append(np.concatenate(above if i >= j else below))
        same(H[j], np.stack(columns, axis=-1), 1e-12)
    step = 1e-6
    for j, d in enumerate(step * np.eye(n)):
        same(H[j], (arm.jacobian("tool", q + d) - arm.jacobian("tool", q - d)) / (2 * step), 1e-8)


def test_joints_beside_the_chain_change_nothing():
    """[Kindr 15]: the third case, of a joint that does not move the frame."""
    robot = Plain(mb.load("branching-figure"))
    q = robot.random(np.random.default_rng(18))
    H, beside = robot.hessian("tip4", q), robot.model.joint("joint3").v.start
    same(H[beside], np.zeros((6, 7)))
    same(H[:, :, beside], np.zeros((7, 6)))
    assert np.abs(H).max() > 0.1


@pytest.mark.parametrize("representation", ["left", "right", "mixed"])
def test_rate_of_the_jacobian_from_the_hessian(robot, state, representation):
    """[Kindr 17-18]: J' = Σ H_k q'_k, also along the velocities of a floating base."""
    q, u, _, _ = state
    H = robot.hessian(FOOT, q, representation)
    J_dot = sum(H[k] * u[k] for k in range(robot.nv))
    same(jacobian_dot_from_hessian(H, u), J_dot, 1e-12)
    same(robot.jacobian_dot(FOOT, q, u, representation), J_dot, 1e-12)
    step = 1e-6
    J = [robot.jacobian(FOOT, robot.integrate(q, t * u), representation) for t in (step, -step)]
    same(J_dot, (J[0] - J[1]) / (2 * step), 1e-8)
