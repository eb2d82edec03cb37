"""The Kindr cheat sheet, as printed: linear and angular velocity, the rates of all parameters, appendix I."""

import numpy as np
import pytest
from scipy.linalg import expm
from scipy.spatial.transform import Rotation as Truth

import multibody as mb
from multibody.geometry import points, quaternions, rates, so3

from .motions import random_motion, split
from .truth import T, angular_velocity, elementary, hat, mul, rate, rotations, rows, same, turning, unit, vee

N = 40


@pytest.fixture
def rng():
    return np.random.default_rng(1607)


def C_zyx(chi):
    return elementary("z", chi[..., 0]) @ elementary("y", chi[..., 1]) @ elementary("x", chi[..., 2])


def E(chi):
    (cz, cy, _), (sz, sy, _) = np.cos(chi).T, np.sin(chi).T
    return rows((0, -sz, cy * cz), (0, cz, cy * sz), (1, 0, -sy))


def E_bar(chi):
    (cz, cy, _), (sz, sy, _) = np.cos(chi).T, np.sin(chi).T
    return rows((cz * sy / cy, sy * sz / cy, 1), (-sz, cz, 0), (cz / cy, sz / cy, 0))


def angles(rng):
    return rng.uniform(-1, 1, (N, 3)) * [np.pi, np.pi / 2 - 0.2, np.pi]


def body_rate(C):
    """B_ω_IB = vee(C^T C')."""
    return vee(T(C(0.0).real) @ rate(C))


def test_velocity_in_a_rotating_frame(rng):
    """[Kindr §Linear Velocity]: B_v_P = B_v_A + (B_r_AP)' + B_ω_IB × B_r_AP, for two points that move freely."""
    C_IB, I_r_IP = split(random_motion(rng, (N,)))
    _, I_r_IA = split(random_motion(rng, (N,)))
    B_r_AP = C_IB.T @ (I_r_IP - I_r_IA)
    C = T(C_IB.now)
    B_w = vee((C_IB.T @ C_IB.rate).now)
    B_v_P, B_v_A = mul(C, I_r_IP.rate.now[..., 0]), mul(C, I_r_IA.rate.now[..., 0])
    r, r_dot = B_r_AP.now[..., 0], B_r_AP.rate.now[..., 0]
    same(B_v_A + r_dot + np.cross(B_w, r), B_v_P, 1e-12)
    same(points.velocity_of_moving_point(B_v_A, r, r_dot, B_w), B_v_P, 1e-12)


def test_velocity_on_a_rigid_body(rng):
    """[Kindr §Linear Velocity]: B_v_Q = B_v_P + B_Ω × B_r_PQ."""
    C_IB, I_r_IP = split(random_motion(rng, (N,)))
    B_r_PQ = rng.normal(size=(N, 3, 1))
    C, B_w = T(C_IB.now), vee((C_IB.T @ C_IB.rate).now)
    B_v_Q = mul(C, (I_r_IP + C_IB.map(lambda c: c @ B_r_PQ)).rate.now[..., 0])
    B_v_P = mul(C, I_r_IP.rate.now[..., 0])
    same(B_v_P + np.cross(B_w, B_r_PQ[..., 0]), B_v_Q, 1e-12)
    same(points.velocity(B_v_P, B_w, B_r_PQ[..., 0]), B_v_Q, 1e-12)


def test_angular_velocity(rng):
    """[Kindr §Angular Velocity]: inverse, change of frame of the vector and of its matrix, and the sum over a chain."""
    C = turning(rng, N)
    C_IB, I_w, B_w = C(0.0), angular_velocity(C), body_rate(C)
    B_w_BI = angular_velocity(lambda t: T(C(t)))
    same(B_w, -B_w_BI)
    same(mul(C_IB, B_w), I_w)
    same(C_IB @ hat(B_w) @ T(C_IB), hat(I_w))
    same(mb.Rotation.from_matrix(C_IB) @ B_w, I_w)
    AB, BC, CD = (turning(rng, N) for _ in range(3))
    D_w_AD = body_rate(lambda t: AB(t) @ BC(t) @ CD(t))
    C_DC = T(CD(0.0))
    C_DB = C_DC @ T(BC(0.0))
    same(mul(C_DB, body_rate(AB)) + mul(C_DC, body_rate(BC)) + body_rate(CD), D_w_AD)


def test_rates_of_the_rotation_matrix(rng):
    """[Kindr §Matrix Rates]: I_ω^ = C' C^T = C_BI'^T C_BI, B_ω^ = C^T C' = C_BI C_BI'^T, and back."""
    C_0, I_w = rotations(rng, N), rng.normal(size=(N, 3))
    C = lambda t: expm(hat(I_w) * t) @ C_0
    B_w, C_dot = mul(T(C_0), I_w), rate(C)
    C_BI, C_BI_dot = T(C_0), rate(lambda t: T(C(t)))
    same(C_dot @ T(C_0), hat(I_w))
    same(T(C_BI_dot) @ C_BI, hat(I_w))
    same(T(C_0) @ C_dot, hat(B_w))
    same(C_BI @ T(C_BI_dot), hat(B_w))
    same(hat(I_w) @ C_0, C_dot)
    same(C_0 @ hat(B_w), C_dot)
    chi, chi_dot = C_0.reshape(N, 9), C_dot.reshape(N, 9)
    for frame, w in (("A", I_w), ("B", B_w)):
        same(mul(rates.angular("matrix", chi, frame=frame), chi_dot), w)
        same(mul(rates.angular_inverse("matrix", chi, frame=frame), w), chi_dot)


def test_rates_of_quaternions(rng):
    """[Kindr §Quaternion Rates]: I_ω = 2 H q', B_ω = 2 H̄ q', q' = H^T I_ω / 2 = H̄^T B_ω / 2."""
    q, I_w = unit(rng.normal(size=(N, 4))), rng.normal(size=(N, 3))
    q0, q1, q2, q3 = q.T
    H = rows((-q1, q0, -q3, q2), (-q2, q3, q0, -q1), (-q3, -q2, q1, q0))
    H_bar = rows((-q1, q0, q3, -q2), (-q2, -q3, q0, q1), (-q3, q2, -q1, q0))
    v, one = q[:, 1:], q0[:, None, None] * np.eye(3)
    same(H, np.concatenate([-v[:, :, None], hat(v) + one], axis=-1), 0)
    same(H_bar, np.concatenate([-v[:, :, None], -hat(v) + one], axis=-1), 0)
    C_0 = Truth.from_quat(q[:, [1, 2, 3, 0]]).as_matrix()
    B_w = mul(T(C_0), I_w)
    # the product with the pure quaternion of the angular velocity is the truth: q(t) = exp(I_w t / 2) ⊗ q
    turn = np.concatenate([np.zeros((N, 1)), I_w], axis=-1)
    q_dot = (
        np.concatenate([-np.sum(turn[:, 1:] * v, -1, keepdims=True), q0[:, None] * I_w + np.cross(I_w, v)], axis=-1) / 2
    )
    step = 1e-6
    truth = Truth.from_rotvec(I_w * step) * Truth.from_matrix(C_0)
    near = truth.as_quat()[:, [3, 0, 1, 2]]
    near *= np.sign(np.sum(near * q, axis=-1, keepdims=True))
    same((near - q) / step, q_dot, 1e-5)
    same(1 / 2 * mul(T(H), I_w), q_dot)
    same(1 / 2 * mul(T(H_bar), B_w), q_dot)
    same(2 * mul(H, q_dot), I_w)
    same(2 * mul(H_bar, q_dot), B_w)
    same(quaternions.rate_matrix(q), H, 0)
    same(quaternions.rate_matrix_bar(q), H_bar, 0)
    for frame, matrix in (("A", H), ("B", H_bar)):
        same(rates.angular("quaternion", q, frame=frame), 2 * matrix)
        same(rates.angular_inverse("quaternion", q, frame=frame), T(matrix) / 2)


def test_rates_of_angle_and_axis(rng):
    """[Kindr §Angle-Axis Rates]: four formulas, for all angles but whole turns."""
    theta, n = rng.uniform(0.3, 2 * np.pi - 0.3, N), unit(rng.normal(size=(N, 3)))
    theta_dot, n_dot = rng.normal(size=N), np.cross(n, rng.normal(size=(N, 3)))
    C = lambda t: expm(hat((theta + t * theta_dot)[:, None] * (n + t * n_dot)))
    s, c, N2 = np.sin(theta)[:, None], np.cos(theta)[:, None], hat(n) @ hat(n)
    for frame, sign, w in (("A", 1, angular_velocity(C)), ("B", -1, body_rate(C))):
        printed = n * theta_dot[:, None] + n_dot * s + sign * mul(hat(n), n_dot) * (1 - c)
        same(printed, w, 1e-12)
        back = -1 / 2 * (s / (1 - c))[:, :, None] * N2 - sign / 2 * hat(n)
        same(np.sum(n * w, axis=-1), theta_dot, 1e-11)
        same(mul(back, w), n_dot, 1e-11)
        chi, chi_dot = np.concatenate([theta[:, None], n], -1), np.concatenate([theta_dot[:, None], n_dot], -1)
        same(mul(rates.angular("angle-axis", chi, frame=frame), chi_dot), printed, 1e-12)
        same(rates.angular_inverse("angle-axis", chi, frame=frame)[:, 1:], back, 1e-12)
        same(rates.angular_inverse("angle-axis", chi, frame=frame)[:, 0], n)


def test_rates_of_rotation_vectors(rng):
    """[Kindr §Rotation Vector Rates]: four formulas, for all lengths but whole turns."""
    phi, phi_dot = rng.uniform(0.3, 6, (N, 1)) * unit(rng.normal(size=(N, 3))), rng.normal(size=(N, 3))
    C = lambda t: expm(hat(phi + t * phi_dot))
    a, p = np.linalg.norm(phi, axis=-1)[:, None, None], hat(phi)
    s, c = np.sin(a), np.cos(a)
    for frame, sign, w in (("A", 1, angular_velocity(C)), ("B", -1, body_rate(C))):
        printed = np.eye(3) + sign * p * ((1 - c) / a**2) + p @ p * ((a - s) / a**3)
        back = np.eye(3) - sign * 1 / 2 * p + p @ p * (1 / a**2) * (1 - a / 2 * s / (1 - c))
        same(mul(printed, phi_dot), w, 1e-12)
        same(mul(back, w), phi_dot, 1e-10)
        same(rates.angular("rotation-vector", phi, frame=frame), printed, 1e-12)
        same(rates.angular_inverse("rotation-vector", phi, frame=frame), back, 1e-11)
    same(so3.right_jacobian(phi), printed, 1e-12)
    same(so3.right_jacobian_inverse(phi), back, 1e-11)


def test_rates_of_zyx_angles(rng):
    """[Kindr §Euler ZYX Rates]: four matrices, for the angular velocity in B and in I."""
    chi, chi_dot = angles(rng), rng.normal(size=(N, 3))
    C = lambda t: C_zyx(chi + t * chi_dot)
    I_w, B_w = angular_velocity(C), body_rate(C)
    (_, cy, cx), (_, sy, sx) = np.cos(chi).T, np.sin(chi).T
    E_B = rows((-sy, 0, 1), (cy * sx, cx, 0), (cx * cy, -sx, 0))
    E_B_inverse = rows((0, sx / cy, cx / cy), (0, cx, -sx), (1, sx * sy / cy, cx * sy / cy))
    same(mul(E_B, chi_dot), B_w)
    same(mul(E(chi), chi_dot), I_w)
    same(mul(E_B_inverse, B_w), chi_dot, 1e-12)
    same(mul(E_bar(chi), I_w), chi_dot, 1e-12)
    same(rates.angular("euler-zyx", chi, frame="B"), E_B)
    same(rates.angular("euler-zyx", chi, frame="A"), E(chi))
    same(rates.angular_inverse("euler-zyx", chi, frame="B"), E_B_inverse, 1e-12)
    same(rates.angular_inverse("euler-zyx", chi, frame="A"), E_bar(chi), 1e-12)


def test_appendix_i(rng):
    """[Kindr 1-8, Kindr §Appendix I]: the axes, the map E, its determinant and inverse, and the maps for B_ω."""
    chi, chi_dot = angles(rng), rng.normal(size=(N, 3))
    z, y, _ = chi.T
    zero = 0 * z
    C_z = rows((np.cos(z), -np.sin(z), 0), (np.sin(z), np.cos(z), 0), (0, 0, 1))
    C_y = rows((np.cos(y), 0, np.sin(y)), (0, 1, 0), (-np.sin(y), 0, np.cos(y)))  # (4) corrected
    first, second, third = np.broadcast_to(np.eye(3)[2], (N, 3)), C_z @ [0, 1, 0], C_z @ C_y @ [1, 0, 0]
    same(second, np.stack([-np.sin(z), np.cos(z), zero], -1))
    same(third, np.stack([np.cos(y) * np.cos(z), np.cos(y) * np.sin(z), -np.sin(y)], -1))
    same(E(chi), np.stack([first, second, third], axis=-1))
    same(np.linalg.det(E(chi)), -np.cos(y))
    same(E_bar(chi), np.linalg.inv(E(chi)), 1e-12)
    C = lambda t: C_zyx(chi + t * chi_dot)
    I_w, B_w, C_IB = angular_velocity(C), body_rate(C), C_zyx(chi)
    same(mul(E(chi), chi_dot), I_w)
    same(mul(T(C_IB) @ E(chi), chi_dot), B_w)
    same(mul(E_bar(chi) @ C_IB, B_w), chi_dot, 1e-12)
    same(rates.angular("euler-zyx", chi), E(chi))
    same(rates.angular_inverse("euler-zyx", chi), E_bar(chi), 1e-12)
    same(rates.angular("euler-zyx", chi, frame="B"), T(C_IB) @ E(chi))
    same(rates.angular_inverse("euler-zyx", chi, frame="B"), E_bar(chi) @ C_IB, 1e-12)
