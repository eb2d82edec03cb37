"""Where formulas break: angles near 0, π and 2π, and gimbal lock, against 50 digits. No NaN, and no warning.

The bound is 1e-12 absolute. For tiny rotations it is relative as well: small must not mean imprecise.
"""

from itertools import product

import mpmath as mp
import numpy as np
import pytest

from multibody import Pose, Rotation, SingularityError
from multibody.geometry import quaternions, so3

from ..every_law import each_case
from ..surface import GROUPS, SEQUENCES
from . import exact
from .tools import near

TINY = [0.0, 1e-300, 1e-200, 1e-162, 1e-160, 1e-100, 1e-20, *(10.0**-k for k in range(12, 2, -1))]
MIDDLE = [0.1, 0.4999, 0.5, 0.5001, 1.0, 2.0, 3.0]  # 0.5: the series hand over to the closed forms
NEAR_PI = [np.pi, *(np.pi + s * 10.0**-k for k in (3, 5, 7, 9, 12, 15) for s in (-1, 1))]
NEAR_2PI = [2 * np.pi + s * 10.0**-k for k in (1, 3, 5, 8) for s in (-1, 1)]
AXES = {"x": (1.0, 0.0, 0.0), "oblique": (0.36, -0.48, 0.8), "steep": (1e-9, 1.0, -1e-5)}
RHO = (0.7, -1.1, 0.4)


def show(theta):
    if abs(theta - np.pi) < 0.1:
        return f"pi{theta - np.pi:+.0e}"
    return f"2pi{theta - 2 * np.pi:+.0e}" if theta > 5 else f"{theta:.4g}"


def angles(*lists):
    return each_case("theta", [t for one in lists for t in one], ids=show)


every_axis = each_case("axis", [np.array(axis) / np.linalg.norm(axis) for axis in AXES.values()], ids=AXES)


def close(found, reference, theta=1.0):
    """Within 1e-12, and for tiny rotations within 1e-12 of the largest entry of the reference."""
    reference = exact.floats(reference)
    near(found, reference)
    if theta < 1e-2:
        error, size = np.abs(found - reference).max(), np.abs(reference).max()
        assert error <= 1e-12 * size, f"relative error {error / size:.1e}"


def close_up_to_sign(found, reference, half_turn, theta=1.0):
    """At half a turn both signs are right."""
    sign = np.sign(np.dot(found, exact.floats(reference))) if half_turn else 1
    close(sign * found, reference, theta)


def is_half_turn(q):
    return abs(q[0]) < 1e-15


# ---- rotations -------------------------------------------------------------------------------------------------------


@angles(TINY, MIDDLE, NEAR_PI, NEAR_2PI)
@every_axis
def test_exp(theta, axis):
    """[Kindr item 6; RD 2.48]"""
    phi = theta * axis
    R = Rotation.exp(phi).matrix
    close(R, exact.exp(phi))
    close(R - R.T, exact.exp(phi) - exact.exp(phi).T, theta)
    close(Rotation.from_angle_axis(theta, axis).matrix, exact.exp(phi))


@angles(TINY, MIDDLE, NEAR_PI, NEAR_2PI)
@every_axis
def test_quaternion_of_a_rotation_vector(theta, axis):
    """[RD 2.52; Kindr §Quaternion and Angle-Axis]"""
    phi = exact.exact(theta * axis)
    angle = exact.norm(phi)
    factor = mp.sin(angle / 2) / angle if angle else mp.mpf(1) / 2
    q = quaternions.from_rotation_vector(theta * axis)
    close(q[0], mp.cos(angle / 2))
    close(q[1:], factor * phi, theta)
    if theta < np.pi:
        close(quaternions.to_rotation_vector(q), theta * axis, theta)


@angles(TINY, MIDDLE, NEAR_PI)
@every_axis
def test_quaternion_of_a_matrix_and_back(theta, axis):
    """[RD 2.54-2.55; Kindr §Quaternion and Matrix]"""
    R = exact.floats(exact.exp(theta * axis))
    reference = exact.quaternion(R)
    q = Rotation.from_matrix(R).quaternion
    close_up_to_sign(q, reference, is_half_turn(reference))
    close_up_to_sign(q[1:], reference[1:], is_half_turn(reference), theta)
    close(Rotation.from_quaternion(q).matrix, R)


@angles(TINY, MIDDLE, NEAR_PI)
@every_axis
def test_logarithm_and_angle_axis_of_a_matrix(theta, axis):
    """[Kindr item 7; RD 2.47, 2.49-2.50]"""
    R = exact.floats(exact.exp(theta * axis))
    reference, half_turn = exact.angle_axis(R), is_half_turn(exact.quaternion(R))
    angle, n = Rotation.from_matrix(R).angle_axis
    close(angle, reference[0], theta)
    close_up_to_sign(n, reference[1], half_turn)
    near(np.linalg.norm(n), 1.0, 1e-15)
    close_up_to_sign(Rotation.from_matrix(R).log(), reference[0] * reference[1], half_turn, theta)


@angles(TINY, MIDDLE, NEAR_PI)
@every_axis
def test_log_of_exp(theta, axis):
    """The rotation vector itself, up to half a turn; beyond it the shorter one."""
    found = Rotation.exp(theta * axis).log()
    if theta > np.pi - 1e-15:
        near(Rotation.exp(found).matrix, Rotation.exp(theta * axis).matrix)
        near(np.linalg.norm(found), 2 * np.pi - theta if theta > np.pi else np.pi)
    else:
        close(found, theta * axis, theta)


# ---- the Jacobians of exp --------------------------------------------------------------------------------------------


def off_by(theta):
    """1e-12, or what rounding the angle alone costs next to a whole turn, where Γ^-1 goes as 1 / distance."""
    return 1e-12 + 1e-14 / (theta - 2 * np.pi) ** 2 if theta > 5 else 1e-12


@angles(TINY, MIDDLE, NEAR_PI, NEAR_2PI)
@every_axis
def test_left_and_right_jacobian(theta, axis):
    """[Kindr §Derivatives; RD 2.106; From 29]"""
    phi = theta * axis
    near(so3.left_jacobian(phi), exact.floats(exact.left_jacobian(phi)))
    near(so3.right_jacobian(phi), exact.floats(exact.left_jacobian(-phi)))


@angles(TINY, MIDDLE, NEAR_PI, NEAR_2PI)
@every_axis
def test_inverse_jacobians(theta, axis):
    """[Kindr §Derivatives; RD 2.107]"""
    phi = theta * axis
    near(so3.left_jacobian_inverse(phi), exact.floats(exact.inverse(exact.left_jacobian(phi))), off_by(theta))
    near(so3.right_jacobian_inverse(phi), exact.floats(exact.inverse(exact.left_jacobian(-phi))), off_by(theta))


@each_case("turns", [1, 2, 7])
@each_case("distance", [0.0, 1e-12, 5e-10])
@every_axis
def test_inverse_jacobians_are_refused_at_whole_turns(turns, distance, axis):
    phi = (turns * 2 * np.pi + distance) * axis
    for function in (so3.left_jacobian_inverse, so3.right_jacobian_inverse, GROUPS["SO3"].S_inverse):
        with pytest.raises(SingularityError, match="whole turn"):
            function(phi)


@angles(TINY, MIDDLE, NEAR_PI, NEAR_2PI)
@each_case("direction", [(0.3, -0.2, 0.5), (1e-200, 2.0, 0.0)])
def test_rate_of_the_left_jacobian(theta, direction):
    axis = np.array(AXES["oblique"])
    reference = exact.left_jacobian_dot(theta * axis, direction)
    near(so3.left_jacobian_dot(theta * axis, direction), exact.floats(reference))


# ---- poses and the other groups --------------------------------------------------------------------------------------


@angles(TINY, MIDDLE, NEAR_PI, NEAR_2PI)
@every_axis
def test_pose_exp(theta, axis):
    """[From 59]"""
    twist = np.concatenate([RHO, theta * axis])
    close(Pose.exp(twist).matrix, exact.series(exact.hat6(exact.exact(twist))))


@angles(TINY, MIDDLE, NEAR_PI)
@every_axis
def test_pose_log(theta, axis):
    """[From 59]"""
    H = exact.floats(exact.series(exact.hat6(exact.exact(np.concatenate([RHO, theta * axis])))))
    angle, n = exact.angle_axis(H[:3, :3])
    found = Pose.from_matrix(H).log()
    if is_half_turn(exact.quaternion(H[:3, :3])) and np.dot(found[3:], exact.floats(n)) < 0:
        n = -n
    close(found[:3], exact.inverse(exact.left_jacobian(angle * n)) @ exact.exact(H[:3, 3]))
    close(found[3:], angle * n, theta)


SUBNORMAL = [5e-324, 1.5e-323, 3.5e-323, 1e-320, 1e-315, 1e-310]


@each_case("theta", [*SUBNORMAL, 1e-308])
@every_axis
def test_angles_that_are_less_than_a_normal_float_are_as_good_as_none(theta, axis):
    """Half of such an angle is not always a float, and its square is zero."""
    for sign in (1, -1):
        phi = sign * theta * axis
        near(Rotation.exp(phi).matrix, np.eye(3), 1e-300)
        near(Rotation.exp(phi).log(), phi, 1e-300)
        near(Pose.exp([*RHO, *phi]).position, RHO)
        near(so3.left_jacobian(phi), np.eye(3))
        near(so3.left_jacobian_inverse(phi), np.eye(3))
        for G in (GROUPS[name] for name in ("SO2", "SE2", "SE3", "Schoenflies-x", "Schoenflies-z", "Helical-0.2")):
            x = np.array([*RHO, *RHO])[: G.dim]
            x[-1 if G.dim < 6 else slice(3, 6)] = sign * theta
            still = np.where(np.abs(x) < 1e-300, 0.0, x)
            near(G.exp(x), G.exp(still), 1e-12)
            near(G.log(G.exp(x)), still)
            near(G.S(x), G.S(still))
            near(G.S_inverse(x), G.S_inverse(still))


@each_case("theta", [1e-45, 3e-45, 1e-40, 1e-38])
@each_case("name", ["SE2", "SE3", "Schoenflies-y"])
def test_the_same_in_float32(theta, name):
    G = GROUPS[name]
    x = np.array([1, 1, 1, theta, theta, theta], np.float32)[-G.dim :] if G.dim == 6 else np.ones(G.dim, np.float32)
    x[-1] = theta
    still = np.where(x < 1e-30, 0, x)
    for function in (G.exp, G.S, G.S_inverse, lambda x: G.log(G.exp(x))):
        near(function(x), function(still), 1e-6)


PLANAR = ["SE2", "Schoenflies-x", "Schoenflies-y", "Schoenflies-z"]


def planar_vector(name, theta):
    return np.array([*RHO[: GROUPS[name].dim - 1], theta])


def positive_and_negative(angles):
    return [sign * angle for angle in angles for sign in (1, -1)]


@each_case("name", PLANAR)
def test_exp_of_planar_groups(name):
    """[From Table 1]"""
    G = GROUPS[name]
    for theta in positive_and_negative(TINY + MIDDLE + NEAR_PI + NEAR_2PI):
        x = planar_vector(name, theta)
        near(G.exp(x), exact.floats(exact.series(exact.exact(G.hat(x)))))


@each_case("name", PLANAR)
def test_log_of_planar_groups(name):
    """The angle from the very entries of g; the rest by solving exp(x) = g for it, which is linear."""
    G, n = GROUPS[name], GROUPS[name].size - 1
    i = "xyz".index(name[-1]) if name != "SE2" else 2
    j, k = (i + 1) % 3, (i + 2) % 3
    generator = exact.exact(G.hat(np.eye(G.dim)[-1])[:n, :n])
    for theta in positive_and_negative(TINY + MIDDLE + NEAR_PI):
        g = exact.floats(exact.series(exact.exact(G.hat(planar_vector(name, theta)))))
        angle = mp.atan2(float(g[k, j]), float(g[j, j]))
        rho = exact.inverse(exact.series(generator * angle, 1)) @ exact.exact(g[:n, n])
        near(G.log(g)[:-1], exact.floats(rho))
        close(G.log(g)[-1], angle, abs(theta))


@each_case("name", ["SO3", "SE3", "SE2", "Schoenflies-y"])
@angles(TINY, MIDDLE, NEAR_PI, NEAR_2PI)
def test_right_jacobian_of_groups_and_its_inverse(theta, name):
    """[From 28-29, 64, 72; From Table 2]"""
    G = GROUPS[name]
    x = planar_vector(name, theta) if name in PLANAR else np.concatenate([RHO, theta * np.array(AXES["oblique"])])
    x = x[-G.dim :]
    S = exact.series(exact.exact(-G.ad(x)), 1)
    near(G.S(x), exact.floats(S))
    rounding = off_by(theta) if name != "SE3" or theta < 5 else 1e-12 + 1e-13 / abs(theta - 2 * np.pi) ** 3
    near(G.S_inverse(x), exact.floats(exact.inverse(S)), rounding)


# ---- gimbal lock -----------------------------------------------------------------------------------------------------

OFFSETS = [0.0, *(s * 10.0**-k for k in (300, 17, 16, 15, 14, 12, 9, 8, 7, 5, 3) for s in (-1, 1))]


@each_case("sequence", SEQUENCES)
def test_euler_angles_at_and_near_gimbal_lock(sequence):
    """There and back to 1e-12 as matrices, whatever the outer angles; the middle angle itself.  [RD §B.2]"""
    proper = sequence[-3] == sequence[-1]
    folded = (lambda a: mp.acos(mp.cos(a))) if proper else (lambda a: mp.asin(mp.sin(a)))  # into the range of the angle
    for lock, outer in product((0.0, np.pi) if proper else (np.pi / 2, -np.pi / 2), ((0.3, -1.2), (-2.0, np.pi))):
        middle = lock + np.array(OFFSETS)
        R = np.stack([exact.floats(exact.euler(sequence, (outer[0], m, outer[1]))) for m in middle])
        chi = Rotation.from_matrix(R).euler(sequence)
        near(np.stack([exact.floats(exact.euler(sequence, c)) for c in chi]), R)
        near(Rotation.from_euler(sequence, chi).matrix, R)
        near(chi[:, 1], np.array([float(folded(mp.mpf(m))) for m in middle]))


@each_case("sequence", SEQUENCES)
def test_in_gimbal_lock_the_last_intrinsic_angle_is_zero(sequence):
    chi = (0.4, 0.0 if sequence[-3] == sequence[-1] else np.pi / 2, 0.3)
    found = Rotation.from_euler(sequence, chi).euler(sequence)
    assert found[0 if sequence.startswith("extrinsic-") else 2] == 0


@each_case("sequence", SEQUENCES)
def test_euler_angles_in_gimbal_lock_are_continuous_as_rotations_in_float32(sequence):
    lock = 0.0 if sequence[-3] == sequence[-1] else np.pi / 2
    chi = np.array([[0.3, lock + s * 10.0**-k, -1.2] for k in range(1, 12) for s in (-1, 0, 1)], np.float32)
    R = Rotation.from_euler(sequence, chi)
    near(Rotation.from_euler(sequence, R.euler(sequence)).matrix, R.matrix, 2e-6)


# ---- float32 ---------------------------------------------------------------------------------------------------------


@every_axis
def test_float32_is_as_precise_as_it_can_be_near_all_singular_angles(axis):
    """No NaN and no more than a few units of rounding, also at angles whose squares float32 cannot hold."""
    small = [0.0, 1e-38, 1e-30, 1e-23, 1e-22, 1e-20, *(10.0**-k for k in range(10, 0, -1))]
    theta = np.array([*small, *MIDDLE, *(np.pi - 10.0**-k for k in range(1, 8))])
    phi = (theta[:, None] * axis).astype(np.float32)
    wide = phi.astype(np.float64)
    near(Rotation.exp(phi).matrix, Rotation.exp(wide).matrix, 1e-6)
    near(Rotation.exp(Rotation.exp(phi).log()).matrix, Rotation.exp(wide).matrix, 2e-6)
    near(so3.left_jacobian(phi), so3.left_jacobian(wide), 2e-6)
    near(so3.left_jacobian_inverse(phi), so3.left_jacobian_inverse(wide), 4e-6)
    ones = np.ones(3, np.float32)
    near(so3.left_jacobian_dot(phi, ones), so3.left_jacobian_dot(wide, ones), 2e-5)
    angle, n = Rotation.exp(phi).angle_axis
    near(np.linalg.norm(n, axis=-1), np.ones(len(theta)), 1e-6)
    near(angle, np.linalg.norm(wide, axis=-1), 2e-6)
