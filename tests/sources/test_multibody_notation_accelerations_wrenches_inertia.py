"""Multibody Dynamics Notation, sections 5.4 to 7 and appendix A: every printed formula, against exact motions.

Wrenches and inertias are checked against Newton's law for a cloud of particles. Where the print is wrong,
`test_errata_mdn.py` shows it and the corrected form stands here.
"""

import numpy as np
import pytest

import multibody as mb
from multibody.geometry import operators, representations

from .motions import Cloud, Series, random_motion, split
from .multibody_notation import (
    X_27,
    Xf_59,
    cross_38,
    dual_cross_62,
    equal_series,
    hat_5,
    hat_7,
    left,
    right,
    times,
    vee_6,
)
from .truth import T, differ, mul, same


@pytest.fixture
def rng():
    return np.random.default_rng(20191104)


@pytest.fixture
def A_H_B(rng):
    return random_motion(rng)


@pytest.fixture
def A_H_C(rng):
    return random_motion(np.random.default_rng(rng.integers(1 << 30)))


def apparent(v):
    """[MDN 44]: the derivative of the coordinates."""
    return v.rate


def cross(a, b):
    """The series of the 3D cross product of two series of vectors."""
    return a.product(b, np.cross)


def parts(v):
    return v.map(lambda v: v[..., :3]), v.map(lambda v: v[..., 3:])


def test_apparent_acceleration_in_a_moving_frame(A_H_B, A_H_C):
    """[MDN 44-45, §5.4]: d(C_v_AB) = C_X_B (B_v_CB x B_v_AB + dB_v_AB)."""
    C_H_B = A_H_C.inverse @ A_H_B
    C_v_AB = times(X_27(C_H_B), left(A_H_B))
    inner = times(left(C_H_B).map(cross_38), left(A_H_B)) + left(A_H_B).rate
    equal_series(apparent(C_v_AB), times(X_27(C_H_B), inner), 1e-11)
    differ(apparent(C_v_AB).now, times(X_27(C_H_B), left(A_H_B).rate).now)
    pose = mb.Pose.from_matrix(C_H_B.now)
    library = representations.apparent_in_frame(pose, left(C_H_B).now, left(A_H_B).now, left(A_H_B).rate.now)
    same(library, apparent(C_v_AB).now, 1e-12)


@pytest.mark.parametrize("source", ["left", "right", "mixed"])
@pytest.mark.parametrize("target", ["left", "right", "mixed"])
def test_apparent_accelerations_of_the_library(A_H_B, source, target):
    """[MDN 44-45]: the library's change of representation, against the derivative of each velocity."""
    o = split(A_H_B)[1]
    mixed = Series(np.concatenate([o.rate.c[..., 0], right(A_H_B).c[..., 3:]], -1))
    v = {"left": left(A_H_B), "right": right(A_H_B), "mixed": mixed}
    pose = mb.Pose.from_matrix(A_H_B.now)
    library = representations.acceleration(pose, v[source].now, v[source].rate.now, source, target)
    same(library, v[target].rate.now, 1e-12)


def test_left_and_right_accelerations_need_no_cross_product(A_H_B):
    """[MDN 46]: d(A_v_AB) = A_X_B d(B_v_AB)."""
    equal_series(right(A_H_B).rate, times(X_27(A_H_B), left(A_H_B).rate), 1e-11)


def test_intrinsic_acceleration(A_H_B, A_H_C):
    """[MDN 47-51, 56]: C_a_AB both ways, its parts, and its relation to the apparent acceleration."""
    C_H_A, C_H_B = A_H_C.inverse, A_H_C.inverse @ A_H_B
    a = times(X_27(C_H_A), right(A_H_B).rate)
    equal_series(a, times(X_27(C_H_B), left(A_H_B).rate), 1e-11)
    C_v_AB = times(X_27(C_H_B), left(A_H_B))
    C_v_AC, C_v_CB = left(A_H_C), right(C_H_B)
    # the equality in the text before [MDN 49]
    chain = times((-C_v_AC).map(cross_38), C_v_AB)
    equal_series(times(C_v_CB.map(cross_38), C_v_AB), chain, 1e-11)
    equal_series(a, C_v_AB.rate + times(C_v_AC.map(cross_38), C_v_AB), 1e-11)
    (a_linear, alpha), (v_AB, w_AB), (v_AC, w_AC) = parts(a), parts(C_v_AB), parts(C_v_AC)
    equal_series(a_linear, v_AB.rate + cross(w_AC, v_AB) + cross(v_AC, w_AB), 1e-11)
    equal_series(alpha, w_AB.rate + cross(w_AC, w_AB), 1e-11)
    # [MDN 56]: d(Ad_g xi) = Ad_g (ad_(g^-1 dg) xi + dxi) for g = C_H_B and xi = B_v_AB, by conjugation of 4x4 matrices
    g, xi = C_H_B, left(A_H_B).map(hat_7)
    body = g.inverse @ g.rate
    equal_series((g @ xi @ g.inverse).rate, g @ (body @ xi - xi @ body + xi.rate) @ g.inverse, 1e-11)
    library = representations.intrinsic(C_v_AB.rate.now, C_v_AC.now, C_v_AB.now)
    same(library, a.now, 1e-12)
    same(representations.apparent(a.now, C_v_AC.now, C_v_AB.now), C_v_AB.rate.now, 1e-12)


def test_mixed_acceleration(A_H_B):
    """[MDN 52-55]: in B[A] the apparent acceleration is (ddA_o_B, dA_w_AB)."""
    A_H_mixed = A_H_B.map(np.copy)
    A_H_mixed.c[..., :3, :3] = 0
    A_H_mixed.c[0, ..., :3, :3] = np.eye(3)
    mixed_H_B = A_H_mixed.inverse @ A_H_B
    v = times(X_27(mixed_H_B), left(A_H_B))
    a = times(X_27(mixed_H_B), left(A_H_B).rate)
    o, w = split(A_H_B)[1], right(A_H_B).map(lambda v: v[..., 3:])
    expected = np.concatenate([o.rate.rate.now[..., 0], w.rate.now], -1)
    same(v.rate.now, expected, 1e-12)
    v_of_mixed = left(A_H_mixed)
    equal_series(v.rate, a - times(v_of_mixed.map(cross_38), v), 1e-11)
    (linear, angular), (a_linear, alpha) = parts(v), parts(a)
    equal_series(linear.rate, a_linear - cross(linear, angular), 1e-11)
    equal_series(angular.rate, alpha, 1e-11)
    same(v_of_mixed.now[..., 3:], np.zeros((5, 3)))
    same(v_of_mixed.now[..., :3], linear.now)
    pose = mb.Pose.from_matrix(A_H_B.now)
    same(representations.acceleration(pose, left(A_H_B).now, left(A_H_B).rate.now, "left", "mixed"), expected, 1e-12)


def test_wrench_coordinates_and_their_transformation(A_H_B, rng):
    """[MDN 57-59, §6]: forces on points of a body, summed about B and about A, are moved by A_Xf_B = B_X_A^T."""
    H = A_H_B.now
    R, o = H[..., :3, :3], H[..., :3, 3]
    B_points, B_forces = rng.normal(size=(2, 9, 3))
    B_f = np.concatenate([B_forces.sum(0), np.cross(B_points, B_forces).sum(0)])
    A_points, A_forces = B_points @ T(R) + o[:, None, :], B_forces @ T(R)
    A_f = np.concatenate([A_forces.sum(1), np.cross(A_points, A_forces).sum(1)], -1)
    same(mul(Xf_59(H), B_f), A_f)
    same(T(X_27(np.linalg.inv(H))), Xf_59(H))
    B_o_A = np.linalg.inv(H)[..., :3, 3]
    same(Xf_59(H)[..., 3:, :3], -R @ hat_5(B_o_A))
    same(Xf_59(H)[..., :3, 3:], np.zeros((5, 3, 3)))
    pose = mb.Pose.from_matrix(H)
    same(pose.dual_adjoint, Xf_59(H))
    wrench = pose @ mb.Wrench.from_vector(np.broadcast_to(B_f, (5, 6)))
    same(wrench.vector, A_f)
    same(wrench.force, A_f[..., :3])
    same(wrench.torque, A_f[..., 3:])


def test_power_does_not_depend_on_the_frame(A_H_B, rng):
    """[MDN 60]: <B_f, B_v_AB> = <A_f, A_v_AB>, which is the power of the forces on the moving points."""
    H = A_H_B.now
    B_points, B_forces = rng.normal(size=(2, 9, 3))
    B_f = np.concatenate([B_forces.sum(0), np.cross(B_points, B_forces).sum(0)])
    A_f = mul(Xf_59(H), B_f)
    Rd, od = A_H_B.rate.now[..., :3, :3], A_H_B.rate.now[..., :3, 3]
    velocities = B_points @ T(Rd) + od[:, None, :]
    power = np.sum(velocities * (B_forces @ T(H[..., :3, :3])), (-2, -1))
    same(left(A_H_B).now @ B_f, power)
    same(np.sum(A_f * right(A_H_B).now, -1), power)
    same(mb.Twist.from_vector(right(A_H_B).now).power(mb.Wrench.from_vector(A_f)), power)
    pose = mb.Pose.from_matrix(H)
    same(representations.wrench(pose, np.broadcast_to(B_f, (5, 6)), "left", "right"), A_f)


def test_dual_cross_product(A_H_B):
    """[MDN 61-66, §6.1]: dA_Xf_B = A_Xf_B B_v xbar* = A_v xbar* A_Xf_B, and xbar* = -ad^T."""
    Xf, v = Xf_59(A_H_B), left(A_H_B)
    equal_series(Xf.rate, Xf @ v.map(dual_cross_62), 1e-11)
    equal_series(Xf @ v.map(dual_cross_62), right(A_H_B).map(dual_cross_62) @ Xf, 1e-11)
    same(dual_cross_62(v.now), -T(cross_38(v.now)))
    # [MDN 64, 66]: Ad*_(g^-1) is the transpose of Ad of the inverse
    equal_series(Xf, X_27(A_H_B.inverse).T)
    Ad_star = X_27(A_H_B.inverse).T
    equal_series(Ad_star.rate, -(Ad_star @ v.map(cross_38).T), 1e-11)
    same(operators.ad_dual(v.now), dual_cross_62(v.now))


def test_dual_cross_product_of_the_library(rng):
    """[MDN 62, 65]: Twist.cross on a wrench is (w x f, v x f + w x tau)."""
    v, f = rng.normal(size=(2, 7, 6))
    expected = np.concatenate(
        [np.cross(v[:, 3:], f[:, :3]), np.cross(v[:, :3], f[:, :3]) + np.cross(v[:, 3:], f[:, 3:])], -1
    )
    same(mul(dual_cross_62(v), f), expected)
    same(mb.Twist.from_vector(v).cross(mb.Wrench.from_vector(f)).vector, expected)


def test_inertia_about_the_centre_of_mass_and_elsewhere(A_H_B, rng):
    """[MDN 67-69, §7]: against a cloud of particles, with a frame C at the centre of mass and turned against B."""
    cloud = Cloud(rng)
    m = cloud.masses.sum()
    B_o_C = cloud.masses @ cloud.points / m
    B_H_C = random_motion(rng, batch=()).now
    B_H_C[:3, 3] = B_o_C
    B_R_C, C_R_B = B_H_C[:3, :3], B_H_C[:3, :3].T
    C_points = (cloud.points - B_o_C) @ B_R_C
    C_I = -sum(mass * hat_5(p) @ hat_5(p) for mass, p in zip(cloud.masses, C_points, strict=True))
    zero = np.zeros((3, 3))
    C_M = np.block([[m * np.eye(3), zero], [zero, C_I]])
    C_H_B = np.linalg.inv(B_H_C)
    B_M = Xf_59(B_H_C) @ C_M @ X_27(C_H_B)
    same(B_M, cloud.inertia, 1e-12)
    B_I = C_R_B.T @ C_I @ C_R_B - m * hat_5(B_o_C) @ hat_5(B_o_C)
    same(np.block([[m * np.eye(3), -m * hat_5(B_o_C)], [m * hat_5(B_o_C), B_I]]), cloud.inertia, 1e-12)
    same(B_o_C, -B_R_C @ C_H_B[:3, 3])
    v = left(A_H_B).now
    same(0.5 * np.sum(v * mul(B_M, v), -1), cloud.kinetic_energy(A_H_B), 1e-12)
    B_I_com = B_R_C @ C_I @ C_R_B
    library = mb.SpatialInertia(mass=m, com=B_o_C, inertia=B_I_com)
    same(library.matrix, cloud.inertia, 1e-12)
    at_com = mb.SpatialInertia(mass=m, com=np.zeros(3), inertia=C_I)
    same(at_com.matrix, C_M, 1e-12)
    same(at_com.transformed(mb.Pose.from_matrix(B_H_C)).matrix, cloud.inertia, 1e-12)
    same(library.kinetic_energy(v), cloud.kinetic_energy(A_H_B), 1e-12)


def test_newton_euler_from_momentum(A_H_B, rng):
    """[MDN 61, 68]: A_f = d(A_Xf_B B_M B_v): with the dual cross product it is the particles' wrench."""
    cloud = Cloud(rng)
    v = left(A_H_B)
    momentum = times(Xf_59(A_H_B), v.map(lambda v: mul(cloud.inertia, v)))
    equal_series(momentum, cloud.momentum(A_H_B).map(lambda h: h[..., 0]), 1e-11)
    B_f = mul(cloud.inertia, v.rate.now) + mul(dual_cross_62(v.now), mul(cloud.inertia, v.now))
    same(B_f, cloud.wrench(A_H_B), 1e-11)
    same(mul(Xf_59(A_H_B.now), B_f), momentum.rate.now, 1e-11)
    library = mb.SpatialInertia.from_matrix(cloud.inertia)
    same(library.newton_euler(v.now, v.rate.now), B_f, 1e-11)
    same(library.momentum(v.now), mul(cloud.inertia, v.now), 1e-12)
    same(library.acceleration(v.now, B_f), v.rate.now, 1e-10)


def test_featherstone(A_H_B, A_H_C):
    """[MDN 85-87, §A.1]: the spatial acceleration is C_X_A dA_v_AB; in the body frame dot and ring agree."""
    C_H_A, C_H_B = A_H_C.inverse, A_H_C.inverse @ A_H_B
    dot = {  # derivative with respect to the inertial frame A, then expressed in the frame
        "B": times(X_27(A_H_B.inverse), right(A_H_B).rate).now,
        "C": times(X_27(C_H_A), right(A_H_B).rate).now,
    }
    ring = {"B": left(A_H_B).rate.now, "C": times(X_27(C_H_B), left(A_H_B)).rate.now}
    same(dot["B"], ring["B"], 1e-12)
    differ(dot["C"], ring["C"])
    C_v_AB = times(X_27(C_H_B), left(A_H_B)).now
    same(representations.intrinsic(ring["C"], left(A_H_C).now, C_v_AB), dot["C"], 1e-12)


def test_siciliano_and_spong(A_H_B, rng):
    """[MDN 88-91, §A.2, §A.3]: T_B^A and H_B^A are A_H_B, with a last row 0, 0, 0, 1; their velocity is mixed."""
    R, o = split(A_H_B)
    T_B = np.concatenate([np.concatenate([R.now, o.now], -1), np.broadcast_to([0, 0, 0, 1.0], (5, 1, 4))], -2)
    same(T_B, A_H_B.now)
    B_p = rng.normal(size=(5, 3))
    same(mul(T_B, np.concatenate([B_p, np.ones((5, 1))], -1))[..., :3], mul(R.now, B_p) + o.now[..., 0])
    velocity = np.concatenate([o.rate.now[..., 0], vee_6((R.rate @ R.T).now)], -1)
    same(representations.velocity(mb.Pose.from_matrix(T_B), left(A_H_B).now, "left", "mixed"), velocity)


def test_murray_li_sastry(A_H_B):
    """[MDN 92-94, §A.4]: V^s is the right-trivialised velocity, V^b the left-trivialised one."""
    R_ab, p_ab = split(A_H_B)
    V_s = np.concatenate([(-(R_ab.rate @ R_ab.T @ p_ab) + p_ab.rate).now[..., 0], vee_6((R_ab.rate @ R_ab.T).now)], -1)
    V_b = np.concatenate([(R_ab.T @ p_ab.rate).now[..., 0], vee_6((R_ab.T @ R_ab.rate).now)], -1)
    same(V_s, right(A_H_B).now)
    same(V_b, left(A_H_B).now)
    pose = mb.Pose.from_matrix(A_H_B.now)
    same(pose.matrix[..., :3, :3], R_ab.now)
    same(pose.matrix[..., :3, 3], p_ab.now[..., 0])
    same(representations.velocity(pose, V_b, "left", "right"), V_s)
