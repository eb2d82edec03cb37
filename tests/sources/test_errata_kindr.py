"""docs/errata.md, Kindr: one test for each entry that a number can decide, named after it.

The printed form fails the check, the corrected one passes it.
"""

import numpy as np
import pytest
from scipy.linalg import expm
from scipy.spatial.transform import Rotation as Truth

import multibody as mb
from multibody.errors import SingularityError
from multibody.geometry import quaternions, rates, so3

from .truth import T, angular_velocity, differ, hat, mul, rate, rotations, rows, same, unit

N = 12


@pytest.fixture
def rng():
    return np.random.default_rng(404)


def test_k1_third_axis(rng):
    """[Kindr 4]: cos(y) and -sin(y) are printed as cos(z) and -sin(z)."""
    z, y = rng.uniform(0.2, 1.2, (2, N)) * [[1], [-1]]
    truth = Truth.from_euler("ZY", np.stack([z, y], axis=-1)).as_matrix()
    C_z = rows((np.cos(z), -np.sin(z), 0), (np.sin(z), np.cos(z), 0), (0, 0, 1))
    printed = C_z @ rows((np.cos(y), 0, np.sin(y)), (0, 1, 0), (-np.sin(y), 0, np.cos(z)))
    corrected = C_z @ rows((np.cos(y), 0, np.sin(y)), (0, 1, 0), (-np.sin(y), 0, np.cos(y)))
    differ(printed, truth)
    same(corrected, truth)
    differ(-np.sin(z), truth[:, 2, 0])
    same(-np.sin(y), truth[:, 2, 0])


def test_k2_angle_of_a_quaternion(rng):
    """[Kindr §Quaternion and Angle-Axis]: p_0 is not a part of the quaternion q whose angle is sought."""
    q, p = np.abs(unit(rng.normal(size=(2, N, 4))))
    theta = Truth.from_quat(q[:, [1, 2, 3, 0]]).magnitude()
    differ(2 * np.arccos(p[:, 0]), theta)
    same(2 * np.arccos(q[:, 0]), theta)


def test_k3_angle_beyond_pi(rng):
    """[Kindr §Quaternion and Angle-Axis]: for q_0 < 0 the angle leaves the range [0, π] that the sheet promises."""
    q = unit(rng.normal(size=(N, 4)))
    q[:, 0] = -np.abs(q[:, 0])
    assert np.all(2 * np.arccos(q[:, 0]) > np.pi)
    length = np.linalg.norm(q[:, 1:], axis=-1)
    angle, axis = 2 * np.arctan2(length, -q[:, 0]), -q[:, 1:] / length[:, None]
    assert np.all((angle >= 0) & (angle <= np.pi))
    same(angle[:, None] * axis, Truth.from_quat(q[:, [1, 2, 3, 0]]).as_rotvec())
    library_angle, library_axis = mb.Rotation.from_quaternion(q).angle_axis
    same(library_angle, angle)
    same(library_axis, axis)


def test_k4_small_angle_of_a_quaternion(rng):
    """[Kindr §Quaternion and Angle-Axis]: the arccos loses angles below 1e-8, far above the threshold ε."""
    theta, n = 10 ** rng.uniform(-14, -8.5, N), unit(rng.normal(size=(N, 3)))
    q = np.concatenate([np.cos(theta / 2)[:, None], n * np.sin(theta / 2)[:, None]], axis=-1)
    length = np.linalg.norm(q[:, 1:], axis=-1)
    assert np.all(length**2 >= np.finfo(float).eps ** 2)
    same(2 * np.arccos(q[:, 0]), np.zeros(N), 0)
    with np.errstate(invalid="ignore"):
        assert np.isnan(2 * np.arccos(1 + np.finfo(float).eps))  # a q_0 that rounding has made
    same(2 * np.arctan2(length, q[:, 0]) / theta, np.ones(N))
    same(mb.Rotation.from_quaternion(q).angle_axis[0] / theta, np.ones(N))


def test_k5_range_of_the_middle_angle():
    """[Kindr §Rotation Parameterizations]: without y = π/2 there are rotations that have no ZYX angles."""
    C = Truth.from_euler("ZYX", [0.3, np.pi / 2, 0.1]).as_matrix()
    y = np.linspace(-np.pi / 2, np.pi / 2, 100_001)[:-1]
    assert np.all(-np.sin(y) > C[2, 0])  # c_31 = -sin y has no solution in the printed range
    chi = mb.Rotation.from_matrix(C).euler("zyx")
    assert chi[1] == pytest.approx(np.pi / 2, abs=1e-7)
    same(mb.Rotation.from_euler("zyx", chi).matrix, C, 1e-14)


def test_k6_jacobian_of_the_exponential_map(rng):
    """[Kindr §Derivatives]: two brackets are missing in the numerators of Γ."""
    v = rng.uniform(0.5, 2.5, (N, 1)) * unit(rng.normal(size=(N, 3)))
    a, V = np.linalg.norm(v, axis=-1)[:, None, None], hat(v)
    truth = np.stack([angular_velocity(lambda t, e=e: expm(hat(v + t * e))) for e in np.eye(3)], axis=-1)
    first, second = (1 - np.cos(a)) * V / a**2, (a - np.sin(a)) * (V @ V) / a**3
    differ(np.eye(3) + (1 - np.cos(a) * V) / a**2 + second, truth)
    differ(np.eye(3) + first + (a - np.sin(a) * (V @ V)) / a**3, truth)
    same(np.eye(3) + first + second, truth, 1e-12)
    same(so3.left_jacobian(v), truth, 1e-12)


def test_k7_derivative_of_a_composition(rng):
    """[Kindr §Derivatives]: d(Φ1)/dΦ1 = C(Φ) is a ruin of three lines: d(Φ(r))/dr = C(Φ), and those of Φ1 ⊗ Φ2."""
    C1, C2, v = rotations(rng, N), rotations(rng, N), rng.normal(size=(N, 3))
    turn = lambda t: expm(hat(v) * t)
    differ(angular_velocity(lambda t: turn(t) @ C1), mul(C1, v))
    same(angular_velocity(lambda t: turn(t) @ C1), v)
    same(rate(lambda t: mul(C1, t * v)), mul(C1, v))
    same(angular_velocity(lambda t: turn(t) @ C1 @ C2), v)
    same(angular_velocity(lambda t: C1 @ turn(t) @ C2), mul(C1, v))


def test_k8_derivative_of_the_logarithm(rng):
    """[Kindr §Derivatives]: by the vector v of Φ = exp(v) the derivative of log(Φ) is 1; it is Γ^-1 by Φ."""
    v, d = rng.uniform(0.5, 2.5, (N, 1)) * unit(rng.normal(size=(N, 3))), rng.normal(size=(N, 3))

    def log(C):
        theta = np.arccos((np.trace(C, axis1=-2, axis2=-1) - 1) / 2)[..., None]
        W = C - T(C)
        return theta / (2 * np.sin(theta)) * np.stack([W[..., 2, 1], W[..., 0, 2], W[..., 1, 0]], axis=-1)

    gamma_inverse_d = mul(np.linalg.inv(so3.left_jacobian(v)), d)
    by_v = rate(lambda t: log(expm(hat(v + t * d))))
    same(by_v, d, 1e-11)
    differ(by_v, gamma_inverse_d)
    same(rate(lambda t: log(expm(hat(d) * t) @ expm(hat(v)))), gamma_inverse_d, 1e-11)


@pytest.mark.parametrize("turns", [1, 2])
def test_k9_rd6_whole_turns(turns, rng):
    """[Kindr §Angle-Axis Rates, §Rotation Vector Rates; RD 2.101, 2.105]: singular at every whole turn, not 0 alone."""
    theta, n = 2 * np.pi * turns, unit(rng.normal(size=3))
    with np.errstate(all="ignore"):
        assert not np.abs(np.sin(theta) / (1 - np.cos(theta))) < 1e12
    for name, chi in (("angle-axis", np.append(theta, n)), ("rotation-vector", theta * n)):
        assert np.linalg.svd(rates.angular(name, chi), compute_uv=False)[-1] < 1e-12
        with pytest.raises(SingularityError):
            rates.angular_inverse(name, chi)


def test_k10_rd7_small_rotation_vectors(rng):
    """[Kindr §Derivatives, §Rotation Vector Rates; RD 2.104-2.107]: right by algebra, lost in floats near zero."""
    phi = 1e-9 * unit(rng.normal(size=3))
    a, p = np.linalg.norm(phi), hat(phi)
    truth = np.eye(3) + p / 2  # the rest is below 1e-18
    with np.errstate(all="ignore"):
        printed = np.eye(3) + p * ((1 - np.cos(a)) / a**2) + p @ p * ((a - np.sin(a)) / a**3)
        back = np.eye(3) - p / 2 + p @ p / a**2 * (1 - a / 2 * np.sin(a) / (1 - np.cos(a)))
        tiny = 1e-110
        assert np.isnan((tiny - np.sin(tiny)) / tiny**3)
    assert np.abs(printed - truth).max() > 1e-10
    assert not np.isfinite(back).all()
    same(so3.left_jacobian(phi), truth, 1e-16)
    same(so3.left_jacobian_inverse(phi), np.eye(3) - p / 2, 1e-16)
    same(so3.left_jacobian(tiny * np.ones(3)), np.eye(3), 1e-16)


def test_k11_inverse_transformation(rng):
    """[Kindr §Pose]: the vector in the corner of T_BI is I_r_IB, not B_r_IB."""
    C, I_r = rotations(rng, N), rng.normal(size=(N, 3))
    B_r = mul(T(C), I_r)
    differ(mul(C, -mul(T(C), B_r)) + I_r, np.zeros((N, 3)))
    same(mul(C, -mul(T(C), I_r)) + I_r, np.zeros((N, 3)))
    same(mb.Pose(mb.Rotation.from_matrix(C), I_r).inverse().position, -mul(T(C), I_r))


def test_k12_dots_for_checks(rng):
    """[Kindr §Quaternion Rates]: the dots in H(q) = [-q' q' + q_0 1] are scanned checks and hats, not rates."""
    q, w = unit(rng.normal(size=(N, 4))), rng.normal(size=(N, 3))
    q_dot = quaternions.multiply(np.concatenate([np.zeros((N, 1)), w], -1), q) / 2
    H = lambda v: np.concatenate([-v[:, :, None], hat(v) + q[:, :1, None] * np.eye(3)], axis=-1)
    differ(2 * mul(H(q_dot[:, 1:]), q_dot), w)
    same(2 * mul(H(q[:, 1:]), q_dot), w)


def test_k13_differences_beyond_half_a_turn(rng):
    """[Kindr items 9, 11]: ⊟ gives back v, and the angular velocity, only while ‖v‖ = ‖ω‖ Δt < π."""
    C, n = mb.Rotation.random(rng, (N,)), unit(rng.normal(size=(N, 3)))
    differ(C.boxplus(3.5 * n).boxminus(C), 3.5 * n)
    same(C.boxplus(3.5 * n).boxminus(C), (3.5 - 2 * np.pi) * n)
    same(C.boxplus(3.1 * n).boxminus(C), 3.1 * n, 1e-13)


def test_k14_which_way_a_rotation_maps(rng):
    """[Kindr items 2, 10]: item 2 maps from I to B; Φ_IB of item 10 is C_IB, which maps from B to I."""
    C_IB, I_w, dt = rotations(rng, N), rng.normal(size=(N, 3)), 0.2
    following = expm(hat(I_w) * dt) @ C_IB
    plus = lambda C, v: expm(hat(v)) @ C
    differ(plus(T(C_IB), I_w * dt), T(following))
    same(plus(C_IB, I_w * dt), following)
    same(mb.Rotation.from_matrix(C_IB).integrate(I_w, dt).matrix, following)


def test_k16_dots_for_bars(rng):
    """[Kindr §Coordinate Rates]: F has the conjugate of H, of which the bar is scanned as two dots."""
    q, B_w = unit(rng.normal(size=(N, 4))), rng.normal(size=(N, 3))
    q_dot = quaternions.multiply(q, np.concatenate([np.zeros((N, 1)), B_w], -1)) / 2
    differ(mul(T(quaternions.rate_matrix(q)) / 2, B_w), q_dot)
    same(mul(T(quaternions.rate_matrix_bar(q)) / 2, B_w), q_dot)
    same(mul(2 * quaternions.rate_matrix_bar(q), q_dot), B_w)
