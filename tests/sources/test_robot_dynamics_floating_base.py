"""Kinematics of a robot with a floating base, as printed, on the embedded quadruped.  [RD §2.10-2.10.3]"""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation as Truth

import multibody as mb

from ..plain import Plain
from .truth import hat, same

POINT = np.array([0.05, -0.1, 0.2])
"""Q in the frame of the foot, so that it is not a frame's origin."""


@pytest.fixture(scope="module")
def robot():
    return Plain(mb.load("quadruped"))


@pytest.fixture(scope="module")
def foot(robot):
    return robot.frames[-1]


@pytest.fixture(scope="module")
def state(robot):
    rng = np.random.default_rng(2100)
    return robot.random(rng), rng.normal(size=robot.nv), rng.normal(size=robot.nv)


@pytest.fixture(scope="module")
def parts(robot, foot, state):
    """C_IB, B_r_BQ, and B_J_P and B_J_R of the joints alone: those of the same robot with its base held at rest."""
    q, _, _ = state
    base = robot.bodies[0].name
    I_H_B = robot.pose(base, q)
    B_r_BQ = I_H_B.inverse() @ (robot.pose(foot, q) @ POINT)

    def relative(q_j):
        full = np.concatenate([q[:7], q_j])
        B_H_Q = robot.pose(base, full).inverse() @ robot.pose(foot, full)
        return B_H_Q @ POINT, B_H_Q.rotation.matrix

    h, columns_P, columns_R = 1e-6, [], []
    C_BQ = relative(q[7:])[1]
    for d in h * np.eye(robot.nv - 6):
        (r_1, C_1), (r_0, C_0) = relative(q[7:] + d), relative(q[7:] - d)
        columns_P.append((r_1 - r_0) / (2 * h))
        W = (C_1 - C_0) / (2 * h) @ C_BQ.T
        columns_R.append([W[2, 1], W[0, 2], W[1, 0]])
    return I_H_B.rotation.matrix, B_r_BQ, np.array(columns_P).T, np.array(columns_R).T


def test_coordinates_and_velocities(robot, state):
    """[RD 2.259-2.261]: q = (q_b, q_j), u = (I_v_B, B_ω_IB, φ'), and u' holds I_a_B and B_ψ_IB."""
    q, u, u_dot = state
    base = robot.bodies[0].name
    assert (robot.nq, robot.nv) == (7 + 12, 6 + 12)
    pose = robot.pose(base, q)
    same(pose.position, q[:3])
    same(pose.rotation.matrix, Truth.from_quat(q[3:7], scalar_first=True).as_matrix(), 1e-12)
    twist, rate = robot.velocity(base, q, u), robot.acceleration(base, q, u, u_dot)
    C_IB = pose.rotation.matrix
    same(twist, np.concatenate([u[:3], C_IB @ u[3:6]]))
    same(rate, np.concatenate([u_dot[:3], C_IB @ u_dot[3:6]]), 1e-12)


def test_velocities_from_rates_of_coordinates(robot, state):
    """[RD 2.262]: u = E_fb q', corrected as docs/errata.md says, and the rates are those of `integrate`."""
    q, u, _ = state
    h = 1e-6
    q_dot = (robot.integrate(q, h * u) - robot.integrate(q, -h * u)) / (2 * h)
    same(robot.rate_matrix(q) @ u, q_dot, 1e-8)
    same(robot.rate_inverse(q) @ q_dot, u, 1e-8)


def test_position_of_a_point(robot, foot, state, parts):
    """[RD 2.263; Kindr 9]: I_r_IQ = I_r_IB + C_IB B_r_BQ."""
    q, _, _ = state
    C_IB, B_r_BQ, _, _ = parts
    same(robot.pose(foot, q) @ POINT, q[:3] + C_IB @ B_r_BQ, 1e-12)


def test_velocity_of_a_point(robot, foot, state, parts):
    """[RD 2.264; Kindr 10]: every line of the derivation, and the Jacobian in the last."""
    q, u, _ = state
    C_IB, B_r_BQ, J_P, _ = parts
    w, B_r_dot = u[3:6], J_P @ u[6:]
    truth = robot.point_velocity(foot, q, u, POINT)
    C_dot = C_IB @ hat(w)
    same(u[:3] + C_dot @ B_r_BQ + C_IB @ B_r_dot, truth, 1e-8)
    same(u[:3] - C_IB @ hat(B_r_BQ) @ w + C_IB @ B_r_dot, truth, 1e-8)
    J = np.concatenate([np.eye(3), -C_IB @ hat(B_r_BQ), C_IB @ J_P], axis=1)
    same(J @ u, truth, 1e-8)
    same(robot.point_jacobian(foot, q, POINT), J, 1e-8)


def test_angular_velocity(robot, foot, state, parts):
    """[RD 2.265-2.267; Kindr 11-13]: C_IQ = C_IB C_BQ, so that the angular velocities add."""
    q, u, _ = state
    C_IB, _, _, J_R = parts
    C_IQ = robot.pose(foot, q).rotation.matrix
    C_BQ, C_BI = C_IB.T @ C_IQ, C_IB.T
    I_w_IB, I_w_BQ = C_IB @ u[3:6], C_IB @ J_R @ u[6:]
    I_w_IQ = robot.velocity(foot, q, u)[3:]
    left = hat(I_w_IQ) @ C_IQ
    same(hat(I_w_IB) @ C_IB @ C_BQ + C_IB @ hat(J_R @ u[6:]) @ C_BQ, left, 1e-8)
    same(hat(I_w_IB) @ C_IQ + C_IB @ C_BI @ hat(I_w_BQ) @ C_BI.T @ C_BQ, left, 1e-8)
    same(hat(I_w_IB) @ C_IQ + hat(I_w_BQ) @ C_IQ, left, 1e-8)
    same(I_w_IB + I_w_BQ, I_w_IQ, 1e-8)


def test_spatial_jacobian(robot, foot, state, parts):
    """[RD 2.268; Kindr 14, §Coordinate Rates]: block by block, of a frame and of a point."""
    q, u, _ = state
    C_IB, B_r_BQ, J_P, J_R = parts
    J = robot.jacobian(foot, q)
    same(J[:, :3], np.concatenate([np.eye(3), np.zeros((3, 3))]))
    same(J[3:, 3:6], C_IB, 1e-12)
    same(J[3:, 6:], C_IB @ J_R, 1e-8)
    same(robot.point_jacobian(foot, q, POINT)[:, 3:6], -C_IB @ hat(B_r_BQ), 1e-12)
    same(robot.point_jacobian(foot, q, POINT)[:, 6:], C_IB @ J_P, 1e-8)
    same(J @ u, robot.velocity(foot, q, u), 1e-12)
