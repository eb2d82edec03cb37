"""docs/errata.md, Robot Dynamics: one test for each entry that a number can decide, named after it.

The printed form fails the check, the corrected one passes it. RD6 and RD7 are in test_errata_kindr.py, with K9 and K10.
"""

import numpy as np
import pytest
from scipy.spatial.transform import Rotation as Truth

import multibody as mb
from multibody.geometry import quaternions, rates, so3

from .motions import random_motion, split
from .truth import T, differ, mul, rotations, same, unit, vee

N = 12
EPS = np.finfo(float).eps


@pytest.fixture
def rng():
    return np.random.default_rng(404)


def printed_quaternion(C):
    """RD 2.55, with sgn(0) = 1."""
    sgn = lambda x: 1.0 if x >= 0 else -1.0
    with np.errstate(invalid="ignore"):
        return 0.5 * np.array(
            [
                np.sqrt(C[0, 0] + C[1, 1] + C[2, 2] + 1),
                sgn(C[2, 1] - C[1, 2]) * np.sqrt(C[0, 0] - C[1, 1] - C[2, 2] + 1),
                sgn(C[0, 2] - C[2, 0]) * np.sqrt(C[1, 1] - C[2, 2] - C[0, 0] + 1),
                sgn(C[1, 0] - C[0, 1]) * np.sqrt(C[2, 2] - C[0, 0] - C[1, 1] + 1),
            ]
        )


def test_rd1_quaternion_of_half_a_turn():
    """[RD 2.55]: at θ = π all three signs come from zeros; axes with entries of both signs come out wrong."""
    C = np.array([[0.0, -1, 0], [-1, 0, 0], [0, 0, -1]])  # half a turn about (1, -1, 0)
    differ(quaternions.to_matrix(printed_quaternion(C))[None], C[None])
    q = mb.Rotation.from_matrix(C).quaternion
    same(quaternions.to_matrix(q), C, 1e-15)
    same(q[1] * q[2], -0.5, 1e-15)


def test_rd2_root_of_a_negative_number():
    """[RD 2.55]: in a matrix that is orthogonal to rounding, a number under a root can be -2e-16."""
    C = mb.Rotation.elementary("x", 0.4).matrix.copy()
    C[0, 0] += EPS
    assert np.isnan(printed_quaternion(C)).any()
    same(mb.Rotation.from_matrix(C).quaternion, [np.cos(0.2), np.sin(0.2), 0, 0], 1e-15)


def printed_angle_axis(C):
    """RD 2.49 and 2.50."""
    with np.errstate(all="ignore"):
        theta = np.arccos((np.trace(C) - 1) / 2)
        differences = np.array([C[2, 1] - C[1, 2], C[0, 2] - C[2, 0], C[1, 0] - C[0, 1]])
        return theta, differences / (2 * np.sin(theta))


def test_rd3_angle_and_axis_near_zero_and_pi(rng):
    """[RD 2.49-2.50]: no digit is left of an angle below 1e-8, nor of the axis there and at π; and NaN by rounding."""
    n = unit(rng.normal(size=3))
    for theta in (1e-9, np.pi - 1e-9):
        C = so3.exp(theta * n)
        _, axis = printed_angle_axis(C)
        assert not np.abs(axis - n).max() < 1e-3
        library_angle, library_axis = mb.Rotation.from_matrix(C).angle_axis
        same(library_angle, theta, 1e-15)
        same(library_axis, n, 1e-14)
    assert np.isnan(printed_angle_axis(np.diag([1 + EPS, 1 + EPS, 1]))[0])
    same(mb.Rotation.from_matrix(np.diag([1 + EPS, 1 + EPS, 1])).angle_axis[0], 0.0, 1e-15)
    same(mb.Rotation.identity().rotation_vector, np.zeros(3), 0)  # only the axis is undefined at θ = 0


LOCKED = {"zyz": 0.0, "zxz": np.pi, "zyx": np.pi / 2, "xyz": -np.pi / 2}


def printed_angles(sequence, C):
    """RD 2.35, 2.39, 2.42, 2.45 and appendix B.2."""
    atan2, hypot = np.arctan2, np.hypot
    (c11, c12, c13), (c21, _, c23), (c31, c32, c33) = C
    return {
        "zyz": lambda: (atan2(c23, c13), atan2(hypot(c13, c23), c33), atan2(c32, -c31)),
        "zxz": lambda: (atan2(c13, -c23), atan2(hypot(c13, c23), c33), atan2(c31, c32)),
        "zyx": lambda: (atan2(c21, c11), atan2(-c31, hypot(c32, c33)), atan2(c32, c33)),
        "xyz": lambda: (atan2(-c23, c33), atan2(c13, hypot(c11, c12)), atan2(-c12, c11)),
    }[sequence]()


@pytest.mark.parametrize("sequence", LOCKED)
def test_rd4_euler_angles_in_gimbal_lock(sequence):
    """[RD 2.35, 2.39, 2.42, 2.45, RD §B.2]: in gimbal lock the printed angles are those of another rotation."""
    C = Truth.from_euler(sequence.upper(), [0.8, LOCKED[sequence], 0.3]).as_matrix()
    C[np.abs(C) < 1e-15] = 0.0  # as exact as a matrix read from a file
    again = lambda angles: Truth.from_euler(sequence.upper(), angles).as_matrix()
    differ(again(printed_angles(sequence, C))[None], C[None])
    same(again(mb.Rotation.from_matrix(C).euler(sequence)), C, 1e-14)


def test_rd5_whose_orientation(rng):
    """[RD 2.63]: ξ_AB is the orientation of B with respect to A; the other one maps from A to B."""
    C_AB, B_r = rotations(rng, N), rng.normal(size=(N, 3))
    xi_AB, xi_BA = (Truth.from_matrix(C).as_quat()[:, [3, 0, 1, 2]] for C in (C_AB, T(C_AB)))
    A_r = mul(C_AB, B_r)
    differ(quaternions.rotate(xi_BA, B_r), A_r)
    same(quaternions.rotate(xi_AB, B_r), A_r)


def test_rd8_inverses_from_one_side(rng):
    """[RD 2.95, 2.99, 2.103]: E^-1 of a 3 × 4 matrix is a right inverse: E E^-1 = 1, but E^-1 E is not."""
    xi = unit(rng.normal(size=(N, 4)))
    chi = np.concatenate([rng.uniform(0.5, 2.5, (N, 1)), unit(rng.normal(size=(N, 3)))], axis=-1)
    for name, parameters in (("quaternion", xi), ("angle-axis", chi)):
        E, E_inverse = rates.angular(name, parameters), rates.angular_inverse(name, parameters)
        same(E @ E_inverse, np.broadcast_to(np.eye(3), (N, 3, 3)))
        differ(E_inverse @ E, np.broadcast_to(np.eye(4), (N, 4, 4)))


def test_rd9_conjugate_is_not_transpose(rng):
    """[RD 2.56]: ξ^T stands for the conjugate; the transposed 4-vector times ξ is a number, not the unit quaternion."""
    xi = unit(rng.normal(size=(N, 4)))
    one = np.broadcast_to([1.0, 0, 0, 0], (N, 4))
    differ(quaternions.multiply(xi, xi), one)
    same(quaternions.multiply(xi, quaternions.conjugate(xi)), one)


def test_rd10_zero_rotation_vector():
    """[RD 2.52]: φ/‖φ‖ is 0/0 for no rotation, whose quaternion is (1, 0, 0, 0)."""
    with np.errstate(invalid="ignore"):
        assert np.isnan(np.sin(0.0) * np.zeros(3) / np.linalg.norm(np.zeros(3))).all()
    same(mb.Rotation.from_rotation_vector(np.zeros(3)).quaternion, [1, 0, 0, 0], 0)


def test_rd11_velocity_and_rate_of_coordinates(rng):
    """[RD 2.115, 2.123]: the rate of the vector is the velocity, in any axes; that of its coordinates in B is not."""
    C_AB, A_r = split(random_motion(rng, (N,)))
    B_r = C_AB.T @ A_r
    A_v = A_r.rate.now[..., 0]
    B_v = mul(T(C_AB.now), A_v)
    differ(B_r.rate.now[..., 0], B_v)
    same(mul(C_AB.now, B_v), A_v)
    same(B_r.rate.now[..., 0] + np.cross(vee((C_AB.T @ C_AB.rate).now), B_r.now[..., 0]), B_v, 1e-12)


def test_rd12_elevation(rng):
    """[RD §2.2.1]: Matlab's elevation takes the place of the polar angle φ = π/2 - elevation, not of the azimuth."""
    azimuth, elevation, r = rng.uniform(0.2, 1.2, (3, N))
    matlab = np.stack([np.cos(elevation) * np.cos(azimuth), np.cos(elevation) * np.sin(azimuth), np.sin(elevation)], -1)
    matlab = r[:, None] * matlab  # sph2cart
    differ(rates.position("spherical", np.stack([r, elevation, azimuth], -1)), matlab)
    same(rates.position("spherical", np.stack([r, azimuth, np.pi / 2 - elevation], -1)), matlab)


def test_rd13_caption_without_primes(rng):
    """[RD §2.4.5]: the caption of figure 2.6 says z-y-x, which about fixed axes is another rotation than z-y'-x''."""
    chi = rng.uniform(0.3, 1.2, (N, 3))
    matrix = Truth.from_euler("ZYX", chi).as_matrix()
    differ(mb.Rotation.from_euler("extrinsic-zyx", chi).matrix, matrix)
    same(mb.Rotation.from_euler("zyx", chi).matrix, matrix)


@pytest.mark.parametrize("sequence", ["zxz", "zyz"])
def test_rd14_headers_of_the_matlab_functions(sequence, rng):
    """[RD §B.2]: two functions call themselves GETEULANGZYX in their headers; they return ZXZ and ZYZ angles."""
    C = rotations(rng, N)
    angles = np.array([printed_angles(sequence, c) for c in C])
    differ(Truth.from_euler("ZYX", angles).as_matrix(), C)
    same(Truth.from_euler(sequence.upper(), angles).as_matrix(), C)


@pytest.mark.parametrize("name", ["euler-zyx", "euler-xyz", "euler-zyz", "quaternion", "angle-axis", "rotation-vector"])
def test_rd21_rates_of_a_floating_base(name, rng):
    """[RD 2.262]: the matrices that it lists give the angular velocity in the axes of I; u has it in those of B."""
    chi = rates.parameters(name, mb.Rotation.from_euler("zyz", rng.uniform(0.3, 1.2, (N, 3))))
    w = rng.normal(size=(N, 3))
    chi_dot = mul(rates.angular_inverse(name, chi, frame="B"), w)  # B_w_IB = w
    h = 1e-6
    turned = lambda t: rates.rotation(name, chi + t * chi_dot).matrix
    C_IB = turned(0.0)
    same(vee(T(C_IB) @ (turned(h) - turned(-h)) / (2 * h)), w, 1e-8)
    E_R = rates.angular(name, chi, frame="A")  # as printed in 2.86 to 2.106
    differ(mul(E_R, chi_dot), w)
    same(mul(T(C_IB) @ E_R, chi_dot), w, 1e-12)


def test_rd22_acceleration_of_a_floating_base(rng):
    """[RD 2.261]: the second part of u' is the rate of B_w_IB, the angular acceleration, and not a rate of that."""
    C_IB = split(random_motion(rng, (N,)))[0]
    B_w = (C_IB.T @ C_IB.rate).map(lambda c: vee(c)[..., None])
    acceleration = B_w.rate.now[..., 0]
    same(acceleration, mul(T(C_IB.now), vee((C_IB.rate @ C_IB.T).rate.now)), 1e-12)  # C^T of the derivative of I_w
    differ(B_w.rate.rate.now[..., 0], acceleration)
