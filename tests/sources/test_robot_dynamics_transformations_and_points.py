"""Homogeneous transformations and points of moving bodies, as printed, and an example.  [RD §2.6, 2.7]"""

import numpy as np
import pytest

import multibody as mb
from multibody.geometry import points

from .motions import constant, random_motion, split
from .truth import T, hat, mul, rotations, same, vee

N = 40


@pytest.fixture
def rng():
    return np.random.default_rng(26)


def homogeneous(C, r):
    out = np.zeros((*r.shape[:-1], 4, 4))
    out[..., :3, :3], out[..., :3, 3], out[..., 3, 3] = C, r, 1
    return out


def append_one(r):
    return np.concatenate([r, np.ones_like(r[..., :1])], axis=-1)


@pytest.fixture
def body(rng):
    """A body B that moves in A: the series of C_AB and A_r_AB, and a point fixed in it."""
    C_AB, A_r_AB = split(random_motion(rng, (N,)))
    return C_AB, A_r_AB, constant(rng.normal(size=(N, 3, 1)))


def column(series):
    return series.now[..., 0]


def test_position_vectors_add(rng):
    """[RD 2.1-2.2, 2.108-2.109]: A_r_AP = A_r_AB + C_AB B_r_BP."""
    C, A_r_AB, B_r_BP = rotations(rng, N), rng.normal(size=(N, 3)), rng.normal(size=(N, 3))
    A_corners = np.einsum("nij,nj->ni", C, B_r_BP)
    same(mb.Pose(mb.Rotation.from_matrix(C), A_r_AB) @ B_r_BP, A_r_AB + A_corners)


def test_homogeneous_transformation(rng):
    """[RD 2.110]: the same as one product with a 4 × 4 matrix."""
    C, A_r_AB, B_r_BP = rotations(rng, N), rng.normal(size=(N, 3)), rng.normal(size=(N, 3))
    pose = mb.Pose(mb.Rotation.from_matrix(C), A_r_AB)
    same(mul(homogeneous(C, A_r_AB), append_one(B_r_BP)), append_one(A_r_AB + mul(C, B_r_BP)))
    same(pose.matrix, homogeneous(C, A_r_AB))
    same(mb.Pose.from_matrix(homogeneous(C, A_r_AB).reshape(4, 10, 4, 4)).matrix, pose.matrix.reshape(4, 10, 4, 4))


def test_inverse_transformation(rng):
    """[RD 2.111]: the inverse, in whose corner stands B_r_BA = -C_AB^T A_r_AB."""
    C, A_r_AB = rotations(rng, N), rng.normal(size=(N, 3))
    B_r_BA = -mul(T(C), A_r_AB)
    printed = homogeneous(T(C), B_r_BA)
    same(printed, np.linalg.inv(homogeneous(C, A_r_AB)))
    inverse = mb.Pose(mb.Rotation.from_matrix(C), A_r_AB).inverse()
    same(inverse.matrix, printed)
    same(inverse.position, B_r_BA)


def test_consecutive_transformations(rng):
    """[RD 2.112]: T_AC = T_AB T_BC."""
    T_AB = homogeneous(rotations(rng, N), rng.normal(size=(N, 3)))
    T_BC = homogeneous(rotations(rng, N), rng.normal(size=(N, 3)))
    C_r = rng.normal(size=(N, 3))
    same(mul(T_AB @ T_BC, append_one(C_r)), mul(T_AB, mul(T_BC, append_one(C_r))))
    A_H_C = mb.Pose.from_matrix(T_AB) @ mb.Pose.from_matrix(T_BC)
    same(A_H_C.matrix, T_AB @ T_BC)
    same(A_H_C @ C_r, mul(T_AB @ T_BC, append_one(C_r))[:, :3])


def test_example_2_6_1():
    """[RD Ex. 2.6.1, RD 2.113-2.114]: a quarter turn about x and a shift."""
    T_AB = np.array([[1.0, 0, 0, 0], [0, 0, -1, 3], [0, 1, 0, 1], [0, 0, 0, 1]])
    same(T_AB @ [0, 1, 1, 1], [0, 2, 2, 1], 0)
    A_H_B = mb.Pose(mb.Rotation.elementary("x", np.pi / 2), [0.0, 3, 1])
    same(A_H_B.matrix, T_AB, 1e-15)
    same(mb.Pose.from_matrix(T_AB) @ [0.0, 1, 1], [0, 2, 2], 1e-15)


def test_rate_of_coordinates_is_not_velocity(rng, body):
    """[RD 2.115-2.116, 2.123-2.124]: both agree in a frame at rest and differ in one that turns."""
    C_AB, A_r_AB, B_r_BP = body
    A_r_AP = A_r_AB + C_AB @ B_r_BP
    B_r_AP = C_AB.T @ A_r_AP
    B_v_P = mul(T(C_AB.now), column(A_r_AP.rate))
    assert np.all(np.abs(B_v_P - column(B_r_AP.rate)).max(axis=-1) > 1e-3)
    C_DA = rotations(rng, N)
    same(column((constant(C_DA) @ A_r_AP).rate), mul(C_DA, column(A_r_AP.rate)))
    B_w_AB = vee((C_AB.T @ C_AB.rate).now)
    same(points.derivative(column(B_r_AP), column(B_r_AP.rate), B_w_AB), B_v_P)


def test_velocity_of_a_point_on_a_body(body):
    """[RD 2.117-2.121]: v_P = v_B + Ω × r_BP, in all its steps."""
    C_AB, A_r_AB, B_r_BP = body
    A_v_P = column((A_r_AB + C_AB @ B_r_BP).rate)
    A_v_B, A_r_BP, B_r = column(A_r_AB.rate), column(C_AB @ B_r_BP), column(B_r_BP)
    A_w_AB = vee((C_AB.rate @ C_AB.T).now)
    same(A_v_B + mul(C_AB.rate.now, B_r) + mul(C_AB.now, 0 * B_r), A_v_P, 1e-12)
    same(C_AB.rate.now, hat(A_w_AB) @ C_AB.now, 1e-12)
    same(A_v_B + mul(hat(A_w_AB) @ C_AB.now, B_r), A_v_P, 1e-12)
    same(A_v_B + np.cross(A_w_AB, A_r_BP), A_v_P, 1e-12)
    same(points.velocity(A_v_B, A_w_AB, A_r_BP), A_v_P, 1e-12)


def test_acceleration_of_a_point_on_a_body(body):
    """[RD 2.122]: a_P = a_B + Ω' × r_BP + Ω × (Ω × r_BP)."""
    C_AB, A_r_AB, B_r_BP = body
    A_a_P = column((A_r_AB + C_AB @ B_r_BP).rate.rate)
    A_a_B, A_r_BP = column(A_r_AB.rate.rate), column(C_AB @ B_r_BP)
    A_W_AB = C_AB.rate @ C_AB.T
    w, psi = vee(A_W_AB.now), vee(A_W_AB.rate.now)
    same(A_a_B + np.cross(psi, A_r_BP) + np.cross(w, np.cross(w, A_r_BP)), A_a_P, 1e-12)
    same(points.acceleration(A_a_B, w, psi, A_r_BP), A_a_P, 1e-12)
    batched = [x.reshape(2, 20, 3) for x in (A_a_B, w, psi, A_r_BP)]
    same(points.acceleration(*batched), A_a_P.reshape(2, 20, 3), 1e-12)


def test_euler_differentiation_rule(rng):
    """[RD 2.125-2.129]: B_v_P = (B_r_AP)' + B_ω_AB × B_r_AP, in all its steps, for a point that moves in B too."""
    C_AB, A_r_AP = split(random_motion(rng, (N,)))
    B_r_AP = C_AB.T @ A_r_AP
    C, C_dot, r, r_dot = C_AB.now, C_AB.rate.now, column(B_r_AP), column(B_r_AP.rate)
    A_w, B_w = vee(C_dot @ T(C)), vee(T(C) @ C_dot)
    B_v_P = mul(T(C), column((C_AB @ B_r_AP).rate))
    same(B_v_P, mul(T(C), column(A_r_AP.rate)), 1e-12)
    same(mul(T(C), mul(C, r_dot) + mul(C_dot, r)), B_v_P, 1e-12)
    same(mul(T(C), mul(C, r_dot) + mul(hat(A_w) @ C, r)), B_v_P, 1e-12)
    same(r_dot + mul(T(C) @ hat(A_w) @ C, r), B_v_P, 1e-12)
    same(r_dot + np.cross(B_w, r), B_v_P, 1e-12)
    same(points.derivative(r, r_dot, B_w), B_v_P, 1e-12)
