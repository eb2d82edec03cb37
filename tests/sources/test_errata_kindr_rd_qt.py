"""docs/errata.md for Kindr, Robot Dynamics and the Quick Tutorial.

One test for each entry that a number can decide, named after it: the printed form fails the check, the corrected one
passes it. Entries that are only a slip of wording have no test.
"""

import numpy as np
import pytest
from scipy.linalg import expm
from scipy.spatial.transform import Rotation as Truth

import multibody as mb
from multibody.errors import SingularityError
from multibody.geometry import quaternions, rates, so3

from .motions import Cloud, constant, random_motion, split
from .truth import T, angular_velocity, differ, hat, mul, rate, rotations, rows, same, vee

N = 12
EPS = np.finfo(float).eps


@pytest.fixture
def rng():
    return np.random.default_rng(404)


def unit(v):
    return v / np.linalg.norm(v, axis=-1, keepdims=True)


def identity(n=N):
    return np.broadcast_to(np.eye(3), (n, 3, 3))


def wxyz(rotation):
    return rotation.as_quat()[..., [3, 0, 1, 2]]


# ---- Kindr -----------------------------------------------------------------------------------------------------------


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
    q = unit(rng.normal(size=(N, 4))) * [1, 1, 1, 1]
    q[:, 0] = -np.abs(q[:, 0])
    assert np.all(2 * np.arccos(q[:, 0]) > np.pi)
    side = np.where(q[:, 0] < 0, -1.0, 1.0)
    length = np.linalg.norm(q[:, 1:], axis=-1)
    angle, axis = 2 * np.arctan2(length, np.abs(q[:, 0])), side[:, None] * q[:, 1:] / length[:, None]
    assert np.all((angle >= 0) & (angle <= np.pi))
    same(angle[:, None] * axis, Truth.from_quat(q[:, [1, 2, 3, 0]]).as_rotvec())
    library_angle, library_axis = mb.Rotation.from_quaternion(q).angle_axis
    same(library_angle, angle)
    same(library_axis, axis)


def test_k4_small_angle_of_a_quaternion(rng):
    """[Kindr §Quaternion and Angle-Axis]: below 1e-8 rad the arccos gives no rotation, far above the sheet's threshold ε."""
    theta, n = 10 ** rng.uniform(-14, -8.5, N), unit(rng.normal(size=(N, 3)))
    q = np.concatenate([np.cos(theta / 2)[:, None], n * np.sin(theta / 2)[:, None]], axis=-1)
    length = np.linalg.norm(q[:, 1:], axis=-1)
    assert np.all(length**2 >= EPS**2)
    same(2 * np.arccos(q[:, 0]), np.zeros(N), 0)
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
    """[Kindr §Angle-Axis Rates, Kindr §Rotation Vector Rates, RD 2.101, 2.105]: singular at every whole turn, not at 0 alone."""
    theta, n = 2 * np.pi * turns, unit(rng.normal(size=3))
    with np.errstate(all="ignore"):
        assert not np.abs(np.sin(theta) / (1 - np.cos(theta))) < 1e12
    for name, chi in (("angle-axis", np.append(theta, n)), ("rotation-vector", theta * n)):
        assert np.linalg.svd(rates.angular(name, chi), compute_uv=False)[-1] < 1e-12
        with pytest.raises(SingularityError):
            rates.angular_inverse(name, chi)
    near = theta + 0.5
    assert np.isfinite(rates.angular_inverse("angle-axis", np.append(near, n))).all()


def test_k10_rd7_small_rotation_vectors(rng):
    """[Kindr §Derivatives, Kindr §Rotation Vector Rates, RD 2.104-2.107]: right by algebra, lost in floats near zero."""
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
    """[Kindr §Homogeneous Transformation]: the vector in the corner of T_BI is I_r_IB; with B_r_IB the product is not 1."""
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


# ---- Robot Dynamics --------------------------------------------------------------------------------------------------


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
    printed = printed_quaternion(C)
    differ(quaternions.to_matrix(printed), C)
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
        angle, axis = printed_angle_axis(C)
        assert not np.abs(angle * axis - theta * n).max() < 1e-10
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
    """[RD 2.63]: ξ_AB is the orientation of B with respect to A; with that of A with respect to B it maps from A to B."""
    C_AB, B_r = rotations(rng, N), rng.normal(size=(N, 3))
    xi_AB, xi_BA = wxyz(Truth.from_matrix(C_AB)), wxyz(Truth.from_matrix(T(C_AB)))
    A_r = mul(C_AB, B_r)
    differ(quaternions.rotate(xi_BA, B_r), A_r)
    same(quaternions.rotate(xi_AB, B_r), A_r)


def test_rd8_inverses_from_one_side(rng):
    """[RD 2.95, 2.99, 2.103]: E^-1 of a 3 × 4 matrix is a right inverse: E E^-1 = 1, but E^-1 E is not."""
    xi = unit(rng.normal(size=(N, 4)))
    chi = np.concatenate([rng.uniform(0.5, 2.5, (N, 1)), unit(rng.normal(size=(N, 3)))], axis=-1)
    for name, parameters in (("quaternion", xi), ("angle-axis", chi)):
        E, E_inverse = rates.angular(name, parameters), rates.angular_inverse(name, parameters)
        same(E @ E_inverse, identity())
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
    """[RD 2.115, 2.123]: the derivative of the vector is the velocity, in any axes; that of its coordinates in B is not."""
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


# ---- Quick Tutorial --------------------------------------------------------------------------------------------------


@pytest.fixture
def spinning(rng):
    """R(t), ω, ω', I_0 and the torque of a cloud of particles around its centre of mass."""
    cloud = Cloud(rng)
    cloud.points -= np.average(cloud.points, axis=0, weights=cloud.masses)
    motion = random_motion(rng, (N,))
    R, _ = split(motion)
    W = R.rate @ R.T
    I_0 = sum(m * (p @ p * np.eye(3) - np.outer(p, p)) for m, p in zip(cloud.masses, cloud.points, strict=True))
    arms = R.now @ cloud.points.T
    torque = np.cross(arms, cloud.masses * cloud.paths(motion).rate.rate.now, axis=-2).sum(-1)
    return cloud, motion, R, vee(W.now), vee(W.rate.now), I_0, torque


def test_qt1_torque_first_line(spinning):
    """[QT 23]: (I_c ω') is printed for the derivative of the whole product I_c ω."""
    _, _, R, w, w_dot, I_0, torque = spinning
    I_c = R @ constant(np.broadcast_to(I_0, (N, 3, 3))) @ R.T
    differ(mul(I_c.now, w_dot), torque)
    same(mul(I_c.now, w_dot) + mul(I_c.rate.now, w), torque, 1e-11)


def test_qt2_torque_second_line(spinning):
    """[QT 23]: (R I_0 R'^T) ω is printed for the derivative of the whole product R I_0 R^T, times ω."""
    _, _, R, w, w_dot, I_0, torque = spinning
    start = mul(R.now @ I_0 @ T(R.now), w_dot)
    half = R.now @ I_0 @ T(R.rate.now)
    differ(start + mul(half, w), torque)
    same(start + mul(half + T(half), w), torque, 1e-11)


def test_qt3_angular_velocity_first_line(rng):
    """[QT 49]: (R_p R_k') is printed for the derivative of the whole product R_p R_k."""
    R_p, R_k = split(random_motion(rng, (N,)))[0], split(random_motion(rng, (N,)))[0]
    R = R_p @ R_k
    w = R.rate.now @ T(R.now)
    differ(R_p.now @ R_k.rate.now @ T(R.now), w)
    same((R_p.rate.now @ R_k.now + R_p.now @ R_k.rate.now) @ T(R.now), w, 1e-12)


def test_qt4_one_mass_for_all_particles(spinning):
    """[QT 18-19]: μ without an index (it is μ_i in section 2) is right only for particles of one mass."""
    cloud, motion, R, _, _, _, _ = spinning
    v = cloud.paths(motion).rate.now
    P = cloud.masses.sum() * split(motion)[1].rate.now[..., 0]
    differ((cloud.masses.mean() * v).sum(-1), P)
    same((cloud.masses * v).sum(-1), P, 1e-12)
    assert R.now.shape == (N, 3, 3)


def test_qt5_homogeneous_centre_of_mass(rng):
    """[QT 57]: W_k c_k needs a one below c_k; with a zero the translations are lost."""
    W, c = rng.normal(size=3), rng.normal(size=3)
    pose = mb.Pose(mb.Rotation.random(rng), W)
    differ(pose.matrix @ np.append(c, 0.0), np.append(pose @ c, 1.0))
    same(pose.matrix @ np.append(c, 1.0), np.append(pose @ c, 1.0))


def test_qt6_two_meanings_of_the_rotation_of_a_link(rng):
    """[QT §5.1]: R_k is the orientation of a link in the world in the list of states, and the joint's rotation below it."""
    R_p, R_k = mb.Rotation.random(rng, (N,)), mb.Rotation.random(rng, (N,))
    w_hat = rng.normal(size=(N, 3))
    truth = angular_velocity(lambda t: R_p.matrix @ expm(hat(w_hat) * t) @ R_k.matrix)
    differ((R_p @ R_k) @ w_hat, truth)  # with the orientation of link k itself
    same(R_p @ w_hat, truth)
