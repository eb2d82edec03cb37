"""The Kindr cheat sheet, as printed: rotations, their parameters, and the calculus on SO(3).

Where the sheet carries a slip, the corrected form stands here and the slip in test_errata_kindr.py.
"""

import numpy as np
import pytest
from scipy.linalg import expm, logm
from scipy.spatial.transform import Rotation as Truth

import multibody as mb
from multibody.geometry import derivatives, operators, quaternions, so3

from .truth import T, angular_velocity, hat, mul, rate, rotations, rows, same, unit

N = 40


@pytest.fixture
def rng():
    return np.random.default_rng(1606)


def R(matrix):
    return mb.Rotation.from_matrix(matrix)


def log(C):
    """The logarithm, analytic in the entries of C for angles inside (0, π)."""
    theta = np.arccos((np.trace(C, axis1=-2, axis2=-1) - 1) / 2)[..., None]
    W = C - T(C)
    return theta / (2 * np.sin(theta)) * np.stack([W[..., 2, 1], W[..., 0, 2], W[..., 1, 0]], axis=-1)


def moderate(rng, n=N):
    """Rotation vectors of lengths in (0.3, 2.8)."""
    return rng.uniform(0.3, 2.8, (n, 1)) * unit(rng.normal(size=(n, 3)))


def Gamma(v):
    a, V = np.linalg.norm(v, axis=-1)[..., None, None], hat(v)
    return np.eye(3) + (1 - np.cos(a)) * V / a**2 + (a - np.sin(a)) * (V @ V) / a**3


def C_of(q):
    q0, q1, q2, q3 = np.moveaxis(q, -1, 0)
    return rows(
        (q0**2 + q1**2 - q2**2 - q3**2, 2 * q1 * q2 - 2 * q0 * q3, 2 * q0 * q2 + 2 * q1 * q3),
        (2 * q0 * q3 + 2 * q1 * q2, q0**2 - q1**2 + q2**2 - q3**2, 2 * q2 * q3 - 2 * q0 * q1),
        (2 * q1 * q3 - 2 * q0 * q2, 2 * q0 * q1 + 2 * q2 * q3, q0**2 - q1**2 - q2**2 + q3**2),
    )


def scipy_of(q):
    return Truth.from_quat(q[..., [1, 2, 3, 0]])


def test_operators(rng):
    """[Kindr §Operators]: cross product, skew and unskew, norm, matrix exponential and logarithm."""
    a, b = rng.normal(size=(2, N, 3))
    same(mul(hat(a), b), np.cross(a, b))
    same(operators.hat3(a), hat(a), 0)
    same(operators.vee3(hat(a)), a, 0)
    same(np.sqrt((a**2).sum(-1)), np.linalg.norm(a, axis=-1))
    phi = moderate(rng, 5)
    same(np.stack([logm(A) for A in expm(hat(phi))]).real, hat(phi), 1e-12)
    same(R(expm(hat(phi))).log(), phi, 1e-14)


def test_positions(rng):
    """[Kindr §Position]: the homogeneous position vector ends with a one."""
    C, r, p = rotations(rng, N), rng.normal(size=(N, 3)), rng.normal(size=(N, 3))
    pose = mb.Pose(R(C), r)
    same(mul(pose.matrix, np.concatenate([p, np.ones((N, 1))], -1)), np.concatenate([pose @ p, np.ones((N, 1))], -1))


def test_active_and_passive_rotations(rng):
    """[Kindr items 1, 2, 4]: an active rotation turns the vector; its inverse, the coordinates in the turned frame."""
    phi, I_r = moderate(rng), rng.normal(size=(N, 3))
    active = Truth.from_rotvec(phi)
    axes = active.as_matrix()  # the columns: the axes of the turned frame, seen in I
    B_r = np.einsum("nij,ni->nj", axes, I_r)  # components along those axes
    same(active.inv().apply(I_r), B_r)
    same(mb.Rotation.exp(phi) @ I_r, active.apply(I_r))
    same(mb.Rotation.exp(phi).inverse() @ I_r, B_r)


@pytest.mark.parametrize("axis", "xyz")
def test_elementary_rotations(axis, rng):
    """[Kindr item 3]: I_r = C_IB B_r (the three matrices are lost in the scan)."""
    angle, B_r = rng.uniform(-np.pi, np.pi, N), rng.normal(size=(N, 3))
    same(mb.Rotation.elementary(axis, angle) @ B_r, Truth.from_euler(axis, angle[:, None]).apply(B_r))


def test_concatenation(rng):
    """[Kindr item 5]: Φ2(Φ1(r)) = (Φ2 ⊗ Φ1)(r) = (Φ1^-1 ⊗ Φ2^-1)^-1 (r)."""
    C1, C2, r = rotations(rng, N), rotations(rng, N), rng.normal(size=(N, 3))
    result = mul(C2, mul(C1, r))
    same((R(C2) @ R(C1)) @ r, result)
    same((R(C1).inverse() @ R(C2).inverse()).inverse() @ r, result)
    same(mul(np.linalg.inv(np.linalg.inv(C1) @ np.linalg.inv(C2)), r), result, 1e-12)


def test_exponential_and_logarithm(rng):
    """[Kindr items 6, 7]: exp: v -> exp(v^), log: Φ -> log(Φ)^v."""
    v = moderate(rng)
    same(mb.Rotation.exp(v).matrix, expm(hat(v)))
    same(R(expm(hat(v))).log(), v, 1e-14)
    same(log(expm(hat(v))), v, 1e-13)


def test_box_plus_and_box_minus(rng):
    """[Kindr items 8, 9]: Φ ⊞ v = exp(v) ⊗ Φ, Φ1 ⊟ Φ2 = log(Φ1 ⊗ Φ2^-1)."""
    C, v = rotations(rng, N), moderate(rng)
    same(R(C).boxplus(v).matrix, expm(hat(v)) @ C)
    same(R(expm(hat(v)) @ C).boxminus(R(C)), v, 1e-14)
    same(R(C).boxplus(R(C[::-1]).boxminus(R(C))).matrix, C[::-1])


def test_discrete_integration_and_differential(rng):
    """[Kindr items 10, 11]: C_IB with I_ω_IB and C_BI with -B_ω_IB, against the flow of C' = I_ω^ C."""
    C_IB, B_w, dt = rotations(rng, N), rng.normal(size=(N, 3)), 0.3
    I_w = mul(C_IB, B_w)
    following = expm(hat(I_w) * dt) @ C_IB
    same(rate(lambda t: expm(hat(I_w) * t) @ C_IB), hat(I_w) @ C_IB)
    same(R(C_IB).boxplus(I_w * dt).matrix, following)
    same(R(T(C_IB)).boxplus(-B_w * dt).matrix, T(following))
    same(R(following).boxminus(R(C_IB)) / dt, I_w)
    same(-R(T(following)).boxminus(R(T(C_IB))) / dt, B_w)
    same(R(C_IB).integrate(I_w, dt, frame="A").matrix, following)
    same(R(C_IB).integrate(B_w, dt, frame="B").matrix, following)
    same(R(C_IB).angular_velocity(R(following), dt, frame="A"), I_w)
    same(R(C_IB).angular_velocity(R(following), dt, frame="B"), B_w)


def test_spherical_linear_interpolation(rng):
    """[Kindr item 12]: Φ_t = Φ_0 ⊞ (Φ_1 ⊟ Φ_0) t = (Φ_1 ⊗ Φ_0^-1)^t ⊗ Φ_0."""
    C_0, t = rotations(rng, N), rng.uniform(0, 1, N)
    C_1 = expm(hat(moderate(rng))) @ C_0
    printed = R(C_0).boxplus(R(C_1).boxminus(R(C_0)) * t[:, None]).matrix
    power = np.stack([(Truth.from_matrix(a @ b.T) ** s).as_matrix() for a, b, s in zip(C_1, C_0, t, strict=True)])
    same(printed, power @ C_0)
    same(R(C_0).interpolate(R(C_1), t).matrix, printed)
    same(R(C_0).interpolate(R(C_1), 0.0).matrix, C_0)
    same(R(C_0).interpolate(R(C_1), 1.0).matrix, C_1)


def test_rotation_matrix(rng):
    """[Kindr §Rotation Parameterizations]: C_IB maps from B to I, and C_IB = C_BI^T."""
    C_IB, B_r = rotations(rng, N), rng.normal(size=(N, 3))
    same(R(C_IB) @ B_r, Truth.from_matrix(C_IB).apply(B_r))
    same(R(C_IB).inverse().matrix, T(C_IB), 0)


def test_rotation_vector(rng):
    """[Kindr §Rotation Parameterizations]: the axis is φ/‖φ‖, the angle ‖φ‖."""
    phi = moderate(rng)
    theta = np.linalg.norm(phi, axis=-1)
    angle, axis = mb.Rotation.from_rotation_vector(phi).angle_axis
    same(angle, theta, 1e-14)
    same(axis, phi / theta[:, None], 1e-14)


def test_quaternion_algebra(rng):
    """[Kindr §Quaternion]: i² = j² = k² = ijk = -1, conjugate, inverse, product and both matrices."""
    e = np.eye(4)
    one, i, j, k = e
    for imaginary in (i, j, k):
        same(quaternions.multiply(imaginary, imaginary), -one, 0)
    same(quaternions.multiply(quaternions.multiply(i, j), k), -one, 0)
    q, p = unit(rng.normal(size=(2, N, 4)))
    (q0, qv), (p0, pv) = (q[:, :1], q[:, 1:]), (p[:, :1], p[:, 1:])
    scalar = q0 * p0 - np.sum(qv * pv, axis=-1, keepdims=True)
    product = np.concatenate([scalar, q0 * pv + p0 * qv + np.cross(qv, pv)], axis=-1)
    same(C_of(product), scipy_of(q).as_matrix() @ scipy_of(p).as_matrix())
    q0, q1, q2, q3 = q.T
    Q = rows((q0, -q1, -q2, -q3), (q1, q0, -q3, q2), (q2, q3, q0, -q1), (q3, -q2, q1, q0))
    p0, p1, p2, p3 = p.T
    Q_bar = rows((p0, -p1, -p2, -p3), (p1, p0, p3, -p2), (p2, -p3, p0, p1), (p3, p2, -p1, p0))
    same(mul(Q, p), product)
    same(mul(Q_bar, q), product)
    same(Q[:, 1:, 1:], q0[:, None, None] * np.eye(3) + hat(q[:, 1:]), 0)
    same(Q_bar[:, 1:, 1:], p0[:, None, None] * np.eye(3) - hat(p[:, 1:]), 0)
    conjugate = q * [1, -1, -1, -1]
    same(mul(Q, conjugate), np.broadcast_to(one, (N, 4)))
    same(C_of(-q), C_of(q), 0)
    same(quaternions.multiply(q, p), product)
    same(quaternions.left_matrix(q), Q, 0)
    same(quaternions.right_matrix(p), Q_bar, 0)
    same(quaternions.conjugate(q), conjugate, 0)


def test_quaternion_and_angle_axis(rng):
    """[Kindr §Quaternion and Angle-Axis]: both directions, the way back with q_0 and for q_0 ≥ 0."""
    theta, n = rng.uniform(0.3, np.pi, N), unit(rng.normal(size=(N, 3)))
    q = np.concatenate([np.cos(theta / 2)[:, None], n * np.sin(theta / 2)[:, None]], axis=-1)
    same(scipy_of(q).as_rotvec(), theta[:, None] * n, 1e-14)
    same(2 * np.arccos(q[:, 0]), theta, 1e-14)
    same(unit(q[:, 1:]), n)
    same(mb.Rotation.from_angle_axis(theta, n).quaternion, q)
    angle, axis = mb.Rotation.from_quaternion(q).angle_axis
    same(angle, theta, 1e-14)
    same(axis, n)
    angle, axis = mb.Rotation.from_quaternion([1.0, 0, 0, 0]).angle_axis
    same(angle, 0.0, 0)
    same(axis, [1, 0, 0], 0)


def test_quaternion_and_rotation_matrix(rng):
    """[Kindr §Quaternion and Matrix]: three forms of C_IB and two of its inverse."""
    q = unit(rng.normal(size=(N, 4)))
    q0, v = q[:, :1, None], q[:, 1:]
    truth = scipy_of(q).as_matrix()
    same(np.eye(3) + 2 * q0 * hat(v) + 2 * hat(v) @ hat(v), truth)
    same((2 * q0**2 - 1) * np.eye(3) + 2 * q0 * hat(v) + 2 * v[:, :, None] * v[:, None, :], truth)
    same(C_of(q), truth)
    same(np.eye(3) - 2 * q0 * hat(v) + 2 * hat(v) @ hat(v), T(truth))
    q0, q1, q2, q3 = q.T
    inverse = rows(
        (q0**2 + q1**2 - q2**2 - q3**2, 2 * q0 * q3 + 2 * q1 * q2, 2 * q1 * q3 - 2 * q0 * q2),
        (2 * q1 * q2 - 2 * q0 * q3, q0**2 - q1**2 + q2**2 - q3**2, 2 * q0 * q1 + 2 * q2 * q3),
        (2 * q0 * q2 + 2 * q1 * q3, 2 * q2 * q3 - 2 * q0 * q1, q0**2 - q1**2 - q2**2 + q3**2),
    )
    same(inverse, T(truth))
    same(mb.Rotation.from_quaternion(q).matrix, truth)
    same(mb.Rotation.from_quaternion(q).inverse().matrix, inverse)


@pytest.mark.parametrize("sequence", ["zyx", "xyz"])
def test_euler_angles(sequence, rng):
    """[Kindr §Euler ZYX, Kindr §Euler XYZ]: the sequences of figures 1 and 2 (the matrices are lost)."""
    chi = np.concatenate([np.radians([[50.0, 25, 30]]), rng.uniform(-1, 1, (N, 3)) * [np.pi, np.pi / 2, np.pi]])
    truth = Truth.from_euler(sequence.upper(), chi)
    same(mb.Rotation.from_euler(sequence, chi).matrix, truth.as_matrix())
    same(R(truth.as_matrix()).euler(sequence), chi, 1e-11)


def test_homogeneous_transformation(rng):
    """[Kindr §Pose]: T_IB and its inverse."""
    C, r, B_r = rotations(rng, N), rng.normal(size=(N, 3)), rng.normal(size=(N, 3))
    bottom = np.broadcast_to([0.0, 0, 0, 1], (N, 1, 4))
    T_IB = np.concatenate([np.concatenate([C, r[:, :, None]], -1), bottom], -2)
    T_BI = np.concatenate([np.concatenate([T(C), -T(C) @ r[:, :, None]], -1), bottom], -2)
    same(T_BI, np.linalg.inv(T_IB))
    same(mul(T_IB, np.concatenate([B_r, np.ones((N, 1))], -1))[:, :3], r + mul(C, B_r))
    same(mb.Pose.from_matrix(T_IB).inverse().matrix, T_BI)
    same(mb.Pose.from_matrix(T_IB) @ B_r, r + mul(C, B_r))


def test_derivatives_of_rotations(rng):
    """[Kindr §Derivatives]: of Φ1 ⊗ Φ2, Φ(r) and Φ^-1, along Φ ⊞ v and measured by ⊟."""
    C1, C2, v, r = rotations(rng, N), rotations(rng, N), rng.normal(size=(N, 3)), rng.normal(size=(N, 3))
    plus = lambda C, t: expm(hat(v) * t) @ C
    same(angular_velocity(lambda t: plus(C1, t) @ C2), v)
    same(angular_velocity(lambda t: C1 @ plus(C2, t)), mul(C1, v))
    same(rate(lambda t: mul(plus(C1, t), r)), mul(-hat(mul(C1, r)), v))
    same(rate(lambda t: mul(C1, r + t * v)), mul(C1, v))
    same(angular_velocity(lambda t: T(plus(C1, t))), mul(-T(C1), v))
    same(derivatives.of_composition_left(R(C1), R(C2)), np.broadcast_to(np.eye(3), (N, 3, 3)))
    same(derivatives.of_composition_right(R(C1), R(C2)), C1)
    same(derivatives.of_rotated_vector(R(C1), r), -hat(mul(C1, r)))
    same(derivatives.of_inverse(R(C1)), -T(C1))


def test_derivatives_of_exponential_and_logarithm(rng):
    """[Kindr §Derivatives]: of exp(v) is Γ(v), of log(Φ) is Γ^-1(log Φ), of Φ_BI(t) is -B_ω_IB."""
    phi, v = moderate(rng), rng.normal(size=(N, 3))
    C = expm(hat(phi))
    same(mul(Gamma(phi), v), angular_velocity(lambda t: expm(hat(phi + t * v))), 1e-12)
    same(rate(lambda t: log(expm(hat(v) * t) @ C)), mul(np.linalg.inv(Gamma(phi)), v), 1e-11)
    same(angular_velocity(lambda t: T(C @ expm(hat(v) * t))), -v)
    same(derivatives.of_exponential(phi), Gamma(phi), 1e-13)
    same(derivatives.of_logarithm(R(C)), np.linalg.inv(Gamma(phi)), 1e-12)
    same(so3.left_jacobian(np.zeros(3)), np.eye(3), 0)
    tiny = 1e-9 * v
    same(so3.left_jacobian(tiny), np.eye(3) + hat(tiny) / 2, 1e-16)
