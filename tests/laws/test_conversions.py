"""Every description of a rotation there and back, and the group operations, against SciPy; the same for poses."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.linalg import expm
from scipy.spatial.transform import Rotation as SciPy
from scipy.spatial.transform import RotationSpline, Slerp

import multibody as mb
from multibody import Pose, Rotation
from multibody.geometry import euler, operators

from ..every_law import each_case
from ..surface import SEQUENCES, homogeneous_matrices, rotation_matrices
from .tools import angles, mul, near, quaternions, vectors

any_rotation = quaternions().map(lambda q: Rotation.from_matrix(SciPy.from_quat(q).as_matrix()))
any_pose = st.builds(Pose, any_rotation, vectors(3, 10.0))
every_sequence = pytest.mark.parametrize("sequence", SEQUENCES)


def scipy(R):
    return SciPy.from_matrix(R.matrix)


def scipy_name(sequence):
    """SciPy writes intrinsic sequences with capitals."""
    return sequence.removeprefix(euler.EXTRINSIC) if euler.EXTRINSIC in sequence else sequence.upper()


# ---- rotations, there and back ---------------------------------------------------------------------------------------


@given(R=any_rotation)
def test_matrix_there_and_back(R):
    assert Rotation.from_matrix(R.matrix) == R == Rotation(R.matrix)
    near(Rotation.from_matrix(R.matrix, project=True).matrix, R.matrix)


@given(R=any_rotation)
def test_quaternion_there_and_back(R):
    """Of unit length, w >= 0, as SciPy's.  [RD 2.51-2.55; Kindr §Quaternion and Matrix]"""
    q = R.quaternion
    near(Rotation.from_quaternion(q).matrix, R.matrix)
    near(Rotation.from_quaternion(-q).matrix, R.matrix)
    near(np.linalg.norm(q), 1.0)
    assert q[0] >= 0
    near(np.abs(q @ np.roll(scipy(R).as_quat(), 1)), 1.0)


@given(R=any_rotation, stretch=vectors(9, 3e-7))
def test_a_matrix_that_is_a_rotation_within_the_tolerance_has_a_unit_quaternion_and_axis(R, stretch):
    """As from data that were once float32."""
    sloppy = Rotation.from_matrix(R.matrix @ (np.eye(3) + (stretch / 3).reshape(3, 3)))
    near(np.linalg.norm(sloppy.quaternion), 1.0)
    near(np.linalg.norm(sloppy.angle_axis[1]), 1.0)
    assert sloppy.angle_to(R) < 1e-6


@given(q=quaternions(), factor=st.floats(1e-300, 1e300))
def test_a_quaternion_of_any_length_is_normalized(q, factor):
    """[RD 2.53]"""
    near(Rotation.from_quaternion(factor * q).matrix, SciPy.from_quat(np.roll(q, -1)).as_matrix())


@given(R=any_rotation)
def test_xyzw_is_the_quaternion_in_the_other_order(R):
    near(R.xyzw, np.roll(R.quaternion, -1), 0.0)
    near(Rotation.from_xyzw(R.xyzw).matrix, R.matrix)
    near(Rotation.from_xyzw(scipy(R).as_quat()).matrix, R.matrix)


@given(R=any_rotation)
def test_angle_axis_there_and_back(R):
    """Angle in [0, π], axis of length one.  [RD 2.46, 2.48-2.50; Kindr §Quaternion and Angle-Axis]"""
    angle, axis = R.angle_axis
    assert 0 <= angle <= np.pi
    near(np.linalg.norm(axis), 1.0)
    near(Rotation.from_angle_axis(angle, axis).matrix, R.matrix)
    near(angle, scipy(R).magnitude(), 1e-9)


@given(angle=angles, axis=vectors(3, 1.0), factor=st.floats(1e-200, 1e200))
def test_an_axis_of_any_length_is_normalized(angle, axis, factor):
    assume(np.linalg.norm(axis) > 1e-3)
    expected = SciPy.from_rotvec(angle * axis / np.linalg.norm(axis)).as_matrix()
    near(Rotation.from_angle_axis(angle, factor * axis).matrix, expected)


@given(phi=vectors(3, 1.8))
def test_rotation_vector_there_and_back(phi):
    """[RD 2.47; Kindr items 6-7]"""
    R = Rotation.from_rotation_vector(phi)
    near(R.matrix, SciPy.from_rotvec(phi).as_matrix())
    near(R.rotation_vector, phi)
    assert Rotation.exp(phi) == R
    near(R.log(), R.rotation_vector, 0.0)


@given(phi=vectors(3, 50.0))
def test_rotation_vectors_of_many_turns_come_back_shortened(phi):
    R = Rotation.exp(phi)
    near(R.matrix, expm(operators.hat3(phi)), 1e-11)
    assert np.linalg.norm(R.rotation_vector) <= np.pi + 1e-12
    near(Rotation.exp(R.rotation_vector).matrix, R.matrix)


@every_sequence
@given(R=any_rotation)
def test_euler_angles_there_and_back(sequence, R):
    """Outer angles in [-π, π], the middle one in [-π/2, π/2] or [0, π].  [RD 2.32-2.45; RD §B.1, §B.2]"""
    chi = R.euler(sequence)
    near(Rotation.from_euler(sequence, chi).matrix, R.matrix)
    assert (np.abs(chi) <= np.pi).all()
    low, high = (0, np.pi) if sequence[-3] == sequence[-1] else (-np.pi / 2, np.pi / 2)
    assert low <= chi[1] <= high


@every_sequence
@given(chi=vectors(3, 10.0))
def test_euler_angles_are_those_of_scipy(sequence, chi):
    """Any angles in; out within SciPy's ranges, away from gimbal lock."""
    R = Rotation.from_euler(sequence, chi)
    near(R.matrix, SciPy.from_euler(scipy_name(sequence), chi).as_matrix())
    away = np.sin(chi[1]) if sequence[-3] == sequence[-1] else np.cos(chi[1])
    if abs(away) > 1e-2:
        found, expected = R.euler(sequence), scipy(R).as_euler(scipy_name(sequence))
        near(np.exp(1j * found), np.exp(1j * expected), 1e-9)  # -π and π are one angle


@every_sequence
@given(chi=vectors(3, 10.0))
def test_an_euler_sequence_is_three_elementary_rotations(sequence, chi):
    """Intrinsic: R_i R_j R_k; extrinsic: the other way round.  [RD 2.26-2.28, 2.31; Kindr item 3]"""
    one, two, three = (Rotation.elementary(axis, angle) for axis, angle in zip(sequence[-3:], chi, strict=True))
    product = three @ two @ one if sequence.startswith("extrinsic-") else one @ two @ three
    near(Rotation.from_euler(sequence, chi).matrix, product.matrix)


@pytest.mark.parametrize("axis", "xyz")
@given(angle=angles)
def test_elementary_rotations_turn_about_their_axis(axis, angle):
    """[RD 2.26-2.28; Kindr item 3]"""
    near(Rotation.elementary(axis, angle).matrix, SciPy.from_euler(axis, angle).as_matrix())


@given(M=vectors(9, 2.0).map(lambda m: m.reshape(3, 3)))
def test_projection_finds_the_nearest_rotation(M):
    """As the polar decomposition by the singular values does, where there is one nearest rotation."""
    U, s, Vt = np.linalg.svd(M)
    sign = np.linalg.det(U @ Vt)
    assume(s[1] + sign * s[2] > 1e-2 * max(1.0, s[0]))
    near(Rotation.from_matrix(M, project=True).matrix, (U * [1, 1, sign]) @ Vt, 1e-11)


@each_case("gap", [1e-3, 1e-6, 1e-9, 1e-11, 1e-12])
def test_projection_is_as_precise_as_the_gap_of_the_singular_values_allows(gap):
    rng = np.random.default_rng(0)
    U, V = rotation_matrices(rng), rotation_matrices(rng)
    M = (U * [1.0, 0.5, -0.5 + gap]) @ V.T
    near(Rotation.from_matrix(M, project=True).matrix, U @ V.T, 100 * np.finfo(float).eps / gap)


@each_case("scale", [1e-200, 1e-170, 1e-100, 1.0, 1e100, 1e160, 1e200])
def test_projection_does_not_depend_on_the_scale_of_the_matrix(scale):
    M = rotation_matrices(np.random.default_rng(1)) @ np.diag([1.0, 2.0, 0.5])
    for matrix in (M, np.diag([1.0, 0.9, -0.5])):
        near(
            Rotation.from_matrix(scale * matrix, project=True).matrix, Rotation.from_matrix(matrix, project=True).matrix
        )


# ---- composition -----------------------------------------------------------------------------------------------------


@given(A_R_B=any_rotation, B_R_C=any_rotation, C_R_D=any_rotation, C_r=vectors(3, 10.0))
def test_rotations_compose_as_matrices_and_map_coordinates(A_R_B, B_R_C, C_R_D, C_r):
    """[RD 2.22, 2.29-2.31; Kindr item 5]"""
    near((A_R_B @ B_R_C).matrix, (scipy(A_R_B) * scipy(B_R_C)).as_matrix())
    near(((A_R_B @ B_R_C) @ C_R_D).matrix, (A_R_B @ (B_R_C @ C_R_D)).matrix)
    near((A_R_B @ B_R_C) @ C_r, A_R_B @ (B_R_C @ C_r))
    near(A_R_B @ C_r, scipy(A_R_B).apply(C_r))


@given(R=any_rotation, S=any_rotation)
def test_the_inverse_undoes_and_reverses(R, S):
    """[RD 2.23; Kindr item 4]"""
    near((R.inverse() @ R).matrix, np.eye(3))
    near((R @ S).inverse().matrix, (S.inverse() @ R.inverse()).matrix)
    assert R.inverse().inverse() == R


@given(R=any_rotation, S=any_rotation, v=vectors(3, 1.8))
def test_boxplus_and_boxminus_are_inverse(R, S, v):
    """[Kindr items 8-9]"""
    near(S.boxplus(R.boxminus(S)).matrix, R.matrix)
    near(R.boxplus(v).boxminus(R), v, 1e-11)
    near(R.boxplus(v).matrix, (SciPy.from_rotvec(v) * scipy(R)).as_matrix())
    near(np.linalg.norm(R.boxminus(S)), R.angle_to(S))


@given(R=any_rotation, phi=vectors(3, 1.7), t=st.floats(-1.0, 2.0))
def test_interpolation_goes_along_the_shortest_arc(R, phi, t):
    """At 0 and 1 the ends, halfway half the angle from both, as SciPy's slerp between.  [Kindr item 12]"""
    S = Rotation.exp(phi) @ R
    near(R.interpolate(S, 0.0).matrix, R.matrix)
    near(R.interpolate(S, 1.0).matrix, S.matrix)
    half = R.interpolate(S, 0.5)
    near(half.angle_to(R), R.angle_to(S) / 2, 1e-11)
    near(half.angle_to(S), R.angle_to(S) / 2, 1e-11)
    if 0 <= t <= 1:
        near(R.interpolate(S, t).matrix, Slerp([0, 1], SciPy.concatenate([scipy(R), scipy(S)]))(t).as_matrix(), 1e-9)
    near(R.interpolate(S, t).matrix, R.boxplus(t * phi).matrix, 1e-11)


@pytest.mark.parametrize("frame", "AB")
@given(R=any_rotation, omega=vectors(3, 3.0), dt=st.floats(0.01, 0.5))
def test_integration_and_angular_velocity_are_inverse(frame, R, omega, dt):
    """[Kindr items 10-11; RD 2.70]"""
    after = R.integrate(omega, dt, frame)
    near(R.angular_velocity(after, dt, frame), omega, 1e-10)
    A_omega = omega if frame == "A" else R @ omega
    near(after.matrix, (SciPy.from_rotvec(A_omega * dt) * scipy(R)).as_matrix())
    near(R.integrate(omega, dt / 2, frame).integrate(omega, dt / 2, frame).matrix, after.matrix)


def test_integration_follows_a_given_motion():
    """Many small steps at the angular velocity of a spline arrive where the spline does."""
    keys = SciPy.random(4, rng=np.random.default_rng(2))
    spline, n = RotationSpline([0, 1, 2, 3], keys), 2000
    middles = (np.arange(n) + 0.5) * 3 / n
    R = mb.Rotation.from_matrix(keys[0].as_matrix())
    for B_omega in spline(middles, 1):
        R = R.integrate(B_omega, 3 / n, "B")
    near(R.matrix, keys[3].as_matrix(), 1e-5)


# ---- averages and chance ---------------------------------------------------------------------------------------------


@given(q=quaternions((5,)), weights=vectors(5).map(np.abs))
def test_the_mean_is_that_of_scipy(q, weights):
    """The rotation nearest to the weighted mean of the matrices, where there is one."""
    weights = weights + 0.1
    many = SciPy.from_quat(q)
    s = np.linalg.svd(np.average(many.as_matrix(), axis=0, weights=weights))
    assume(s.S[1] + np.linalg.det(s.U @ s.Vh) * s.S[2] > 0.05)
    R = Rotation.from_matrix(many.as_matrix())
    near(R.mean(weights=weights).matrix, many.mean(weights).as_matrix(), 1e-10)


def test_the_mean_may_run_over_any_axis_of_a_batch():
    turns = np.random.default_rng(3).uniform(-1, 1, (4, 2, 3, 3))
    R = Rotation.exp(turns)
    near(R.mean().matrix, R.mean(axis=0, weights=np.full(4, 7.0)).matrix)
    for axis in (2, -1):
        mean = R.mean(axis=axis)
        assert mean.shape == (4, 2)
        near(mean[3, 1].matrix, SciPy.from_rotvec(turns[3, 1]).mean().as_matrix())


def test_there_is_no_mean_between_opposite_rotations():
    opposite = Rotation.from_euler("zyx", [[0.0, 0.0, 0.0], [np.pi, 0.0, 0.0]])
    with pytest.raises(mb.SingularityError, match="no single rotation is nearest"):
        opposite.mean()


def test_random_rotations_are_uniform():
    """The angle has the density (1 - cos θ)/π, the axis is uniform, and both depend on nothing but the generator."""
    n = 40000
    R = Rotation.random(np.random.default_rng(4), (n,))
    assert Rotation.random(np.random.default_rng(4), (n,)) == R
    angle, axis = R.angle_axis
    uniform = np.sort((angle - np.sin(angle)) / np.pi)  # its cumulative distribution
    assert np.abs(uniform - (np.arange(n) + 0.5) / n).max() < 1.6 / np.sqrt(n)  # Kolmogorov-Smirnov at 1 %
    z = np.sort((axis[:, 2] + 1) / 2)  # Archimedes: each coordinate of a uniform axis is uniform
    assert np.abs(z - (np.arange(n) + 0.5) / n).max() < 1.6 / np.sqrt(n)
    assert np.abs(np.corrcoef(angle, axis[:, 0])[0, 1]) < 4 / np.sqrt(n)


# ---- poses -----------------------------------------------------------------------------------------------------------


@given(A_H_B=any_pose, B_H_C=any_pose, C_p=vectors(3, 10.0))
def test_poses_compose_as_their_matrices_and_map_points(A_H_B, B_H_C, C_p):
    """[MDN 12-13; RD 2.108-2.112; Kindr §Pose]"""
    near((A_H_B @ B_H_C).matrix, A_H_B.matrix @ B_H_C.matrix)
    near((A_H_B @ B_H_C) @ C_p, A_H_B @ (B_H_C @ C_p))
    near(A_H_B.inverse().matrix, np.linalg.inv(A_H_B.matrix), 1e-11)
    assert Pose.from_matrix(A_H_B.matrix) == A_H_B


@given(twist=vectors(6, 1.8), far=vectors(6, 30.0))
def test_pose_exp_is_the_matrix_exponential_and_log_takes_it_back(twist, far):
    """[From 59]"""
    H = Pose.exp(twist)
    near(H.matrix, expm(operators.hat6(twist)))
    near(H.log(), twist, 1e-11)
    near(Pose.exp(far).matrix, expm(operators.hat6(far)), 1e-10)
    near(Pose.exp(Pose.exp(far).log()).matrix, Pose.exp(far).matrix, 1e-10)


@given(H=any_pose, K=any_pose, twist=vectors(6, 1.8))
def test_pose_boxplus_and_boxminus_are_inverse(H, K, twist):
    near(K.boxplus(H.boxminus(K)).matrix, H.matrix, 1e-11)
    near(H.boxplus(twist).boxminus(H), twist, 1e-9)
    near(H.boxplus(twist).matrix, expm(operators.hat6(twist)) @ H.matrix, 1e-11)


@pytest.mark.parametrize("method", ["screw", "decoupled"])
@given(H=any_pose, twist=vectors(6, 1.5))
def test_pose_interpolation_reaches_both_ends_and_the_middle(method, H, twist):
    K = H.boxplus(twist)
    between = lambda t: H.interpolate(K, t, method)
    near(between(0.0).matrix, H.matrix, 1e-11)
    near(between(1.0).matrix, K.matrix, 1e-11)
    near(between(0.5).rotation.matrix, H.rotation.interpolate(K.rotation, 0.5).matrix, 1e-11)
    if method == "decoupled":
        near(between(0.5).position, (H.position + K.position) / 2)
    else:
        near((between(0.5) @ H.inverse() @ between(0.5)).matrix, K.matrix, 1e-10)  # the same screw twice


@given(H=any_pose, twist=vectors(6, 2.0), dt=st.floats(0.01, 0.5))
def test_pose_integration_moves_at_a_constant_twist(H, twist, dt):
    """[MDN 21, 26, 35-36]"""
    step = expm(operators.hat6(twist) * dt)
    near(H.integrate(twist, dt, "left").matrix, H.matrix @ step, 1e-11)
    near(H.integrate(twist, dt, "right").matrix, step @ H.matrix, 1e-11)
    mixed = H.integrate(twist, dt, "mixed")
    near(mixed.position, H.position + dt * twist[:3])
    near(mixed.rotation.matrix, H.rotation.integrate(twist[3:], dt, "A").matrix)
    assert H.integrate(twist, dt) == H.integrate(twist, dt, "left")


def test_adjoints_are_those_of_the_matrices():
    """A_X_B v = (H v^ H^-1)v, and A_Xf_B is its inverse transpose.  [MDN 27-29, 58-59, 64]"""
    rng = np.random.default_rng(5)
    H = Pose.from_matrix(homogeneous_matrices(rng, (7,)))
    v = rng.uniform(-1, 1, (7, 6))
    near(operators.hat6(mul(H.adjoint, v)), H.matrix @ operators.hat6(v) @ H.inverse().matrix)
    near(H.dual_adjoint, np.swapaxes(np.linalg.inv(H.adjoint), -1, -2))
