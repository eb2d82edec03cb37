"""Geometric Jacobians and moving-base dynamics, as printed, on the embedded quadruped.  [MDN §8-9]"""

import numpy as np
import pytest
from scipy.linalg import expm

from multibody.algorithms.change_of_velocity import equations_of_motion
from multibody.algorithms.jacobian import moving_contact_velocity
from multibody.geometry import Pose, Rotation

from ..every_law import each_case
from ..plain import Plain, bodies_alone
from .truth import differ, hat, same

LINK = "lf-shank"
BASE = "trunk"


@pytest.fixture(scope="module", params=["left", "mixed", "right"])
def representation(request):
    return request.param


@pytest.fixture(scope="module")
def robot():
    """With the velocity of its base left-trivialised: ^B ν."""
    return Plain(bodies_alone("quadruped").change(velocity="left"))


@pytest.fixture(scope="module")
def state(robot):
    rng = np.random.default_rng(70)
    return robot.random(rng), *rng.normal(size=(3, robot.nv))


def se3_hat(v):
    """The 4 × 4 matrix of a twist, linear part first."""
    return np.block([[hat(v[3:]), v[:3, None]], [np.zeros((1, 4))]])


def adjoint(H):
    """^A X_B of a pose matrix."""
    R, o = H[:3, :3], H[:3, 3]
    return np.block([[R, hat(o) @ R], [np.zeros((3, 3)), R]])


def mixed(H):
    """The pose of the frame B[A]: the origin of B, the axes of A."""
    M = np.eye(4)
    M[:3, 3] = H[:3, 3]
    return M


def Y(X, n=12):
    """diag(X, I)."""
    full = np.eye(6 + n)
    full[:6, :6] = X
    return full


def frame_of(name, A_H_E):
    """D or C of 75 for a representation of the velocity of E: E itself, E[A], or A."""
    return {"left": A_H_E, "mixed": mixed(A_H_E), "right": np.eye(4)}[name]


def moved(robot, q, Delta, ds):
    """The configuration with the base at H exp(Δ^) and the joints at s + δs."""
    A_H_B = Pose.from_matrix(robot.pose(BASE, q).matrix @ expm(se3_hat(Delta)))
    return np.concatenate([A_H_B.position, A_H_B.rotation.quaternion, q[7:] + ds])


# ---- section 8 -------------------------------------------------------------------------------------------------------


def test_a_frame_moves_with_the_base(robot, state):
    """[MDN 70]: ^A H_E is a function of H and s, and H G for a base at H, when it is G for one at the identity."""
    q = state[0]
    at_rest = np.concatenate([np.zeros(3), [1.0, 0, 0, 0], q[7:]])
    same(robot.pose(LINK, q).matrix, robot.pose(BASE, q).matrix @ robot.pose(LINK, at_rest).matrix, 1e-12)


def test_doubly_left_trivialised_jacobian(robot, state):
    """[MDN 71-74]: ^E Δ_AE = ^E J_AE/B (Δ; δs), with perturbations trivialised by H^-1 δH."""
    q = state[0]
    J, h = robot.jacobian(LINK, q, "left"), 1e-6
    A_H_E = robot.pose(LINK, q).matrix
    for k, d in enumerate(h * np.eye(18)):
        ahead, behind = (robot.pose(LINK, moved(robot, q, s * d[:6], s * d[6:])).matrix for s in (1, -1))
        change = np.linalg.inv(A_H_E) @ (ahead - behind) / (2 * h)
        same(change, se3_hat(J[:, k]), 1e-8)


@each_case("base", ["left", "mixed", "right"])
def test_jacobian_with_other_representations(robot, state, representation, base):
    """[MDN 75-76]: ^D J_AE/C = ^D X_E ^E J_AE/B ^B Y_C, for every pair of D and C."""
    q = state[0]
    A_H_E, A_H_B = robot.pose(LINK, q).matrix, robot.pose(BASE, q).matrix
    D, C = frame_of(representation, A_H_E), frame_of(base, A_H_B)
    D_X_E, B_X_C = adjoint(np.linalg.inv(D) @ A_H_E), adjoint(np.linalg.inv(A_H_B) @ C)
    printed = D_X_E @ robot.jacobian(LINK, q, "left") @ Y(B_X_C)
    same(Plain(robot.change(velocity=base)).jacobian(LINK, q, representation), printed, 1e-12)
    place = Pose.from_matrix(D)
    same(robot.jacobian_in(LINK, q, written_in=place, base=base), printed, 1e-12)


def test_jacobian_written_in_another_link(robot, state):
    """[MDN 75]: D can be any frame, such as one of another leg, or one that is nobody's."""
    q = state[0]
    E_J = robot.jacobian(LINK, q, "left")
    A_H_E = robot.pose(LINK, q).matrix
    nobody = Pose.random(np.random.default_rng(75))
    for written_in, D in (("rh-shank", robot.pose("rh-shank", q).matrix), (nobody, nobody.matrix)):
        ours = robot.jacobian_in(LINK, q, written_in=written_in)
        same(ours, adjoint(np.linalg.inv(D) @ A_H_E) @ E_J, 1e-12)


def test_relative_jacobian(robot, state, representation):
    """[MDN 32-33, 74]: v_EF of one link relative to another vanishes with the motion of the base."""
    q, v, _, _ = state
    E, F = "rh-shank", LINK
    J = robot.relative_jacobian(F, E, q, representation=representation)
    same(J[:, :6], np.zeros((6, 6)), 1e-12)
    h = 1e-6
    E_H_F = [
        np.linalg.inv(robot.pose(E, x).matrix) @ robot.pose(F, x).matrix
        for x in (robot.integrate(q, h * v), robot.integrate(q, -h * v), q)
    ]
    rate, now = (E_H_F[0] - E_H_F[1]) / (2 * h), E_H_F[2]
    left = np.linalg.inv(now) @ rate
    F_v_EF = np.array([*left[:3, 3], left[2, 1], left[0, 2], left[1, 0]])
    D = frame_of(representation, now)
    same(J @ v, adjoint(np.linalg.inv(D) @ now) @ F_v_EF, 1e-8)


# ---- section 9 -------------------------------------------------------------------------------------------------------


def test_rate_of_the_configuration(robot, state):
    """[MDN 77-79]: H' = H (X v)^, s' = r, for the mixed velocity of the base."""
    q, nu, _, _ = state
    mixed_robot = Plain(robot.change(velocity="mixed"))
    h = 1e-6
    ahead, behind = mixed_robot.integrate(q, h * nu), mixed_robot.integrate(q, -h * nu)
    H = robot.pose(BASE, q).matrix
    X = adjoint(np.linalg.inv(H) @ mixed(H))
    H_dot = (robot.pose(BASE, ahead).matrix - robot.pose(BASE, behind).matrix) / (2 * h)
    same(H_dot, H @ se3_hat(X @ nu[:6]), 1e-8)
    same((ahead - behind)[7:] / (2 * h), nu[6:], 1e-8)


def test_equations_of_motion_with_contact_wrenches(robot, state):
    """[MDN §9; MDN 80-81]: M ν' + C ν + G = S τ + Σ J_k^T f_k in mixed velocities, S = [0; I]."""
    q, nu, _, tau = state
    r = Plain(robot.change(velocity="mixed"))
    S = np.concatenate([np.zeros((6, 12)), np.eye(12)])
    same(r.selection.T, S)
    rng = np.random.default_rng(80)
    link_H_C = {name: Pose.random(rng) for name in (LINK, "rh-shank")}
    f = {name: rng.normal(size=6) for name in link_H_C}
    total, wrenches = np.zeros(18), {}
    for name, L_H_C in link_H_C.items():
        A_H_C = r.pose(name, q) @ L_H_C
        J_k = r.jacobian_in(name, q, written_in=Pose(Rotation.identity(), A_H_C.position))  # ^C[A] J_A,L/B[A]
        total = total + J_k.T @ f[name]
        arm = A_H_C.position - r.pose(name, q).position
        wrenches[name] = np.concatenate([f[name][:3], f[name][3:] + np.cross(arm, f[name][:3])])
    a = r.forward_dynamics(q, nu, S @ tau[6:], wrenches)
    left = r.mass_matrix(q) @ a + r.coriolis(q, nu) @ nu + r.gravity(q)
    same(left, S @ tau[6:] + total, 1e-8)


def test_equations_of_motion_without_forces(robot, state):
    """[MDN 83]: M ν' + C ν + G = 0 is free motion; M' - 2 C is skew."""
    q, nu, _, _ = state
    a = robot.forward_dynamics(q, nu, np.zeros(18))
    same(robot.mass_matrix(q) @ a + robot.coriolis(q, nu) @ nu + robot.gravity(q), np.zeros(18), 1e-8)
    h = 1e-6
    M_dot = (robot.mass_matrix(robot.integrate(q, h * nu)) - robot.mass_matrix(robot.integrate(q, -h * nu))) / (2 * h)
    skew = M_dot - 2 * robot.coriolis(q, nu)
    same(skew, -skew.T, 1e-7)


def test_mass_matrix_on_velocity_parametrization(robot, state, representation):
    """[MDN 76, §9]: M(q) = Y^T I(q) Y, with I(q) that of left-trivialised velocities; and G = Y^T G of left."""
    q = state[0]
    A_H_B = robot.pose(BASE, q).matrix
    one = Y(adjoint(np.linalg.inv(A_H_B) @ frame_of(representation, A_H_B)))
    M, bias = equations_of_motion(robot.tree, q, np.zeros(18), representation)
    same(M, one.T @ robot.mass_matrix(q) @ one, 1e-12)
    same(bias, one.T @ robot.gravity(q), 1e-11)


def test_power_of_a_contact_wrench(robot, state):
    """[MDN 82]: the three ways to write the power of a wrench at a contact frame C on a link L."""
    q, nu, _, _ = state
    rng = np.random.default_rng(82)
    L_H_C, C_f = Pose.random(rng), rng.normal(size=6)
    C_X_L = adjoint(L_H_C.inverse().matrix)
    L_J = robot.jacobian(LINK, q, "left")
    C_J = robot.jacobian_in(LINK, q, written_in=robot.pose(LINK, q) @ L_H_C)
    power = (C_X_L.T @ C_f) @ (L_J @ nu)
    same(C_f @ (C_X_L @ L_J @ nu), power, 1e-12)
    same(C_f @ (C_J @ nu), power, 1e-12)


def test_contact_frames_that_move_on_their_link(robot, state):
    """[MDN 81-82]: ^C J_A,L ν is not the velocity of C when C moves on the link: that has ^C v_LC besides."""
    q, nu, _, _ = state
    rng = np.random.default_rng(83)
    L_H_C, C_v_LC = Pose.random(rng), rng.normal(size=6)
    h = 1e-6

    def A_H_C(t):
        return robot.pose(LINK, robot.integrate(q, t * nu)).matrix @ L_H_C.matrix @ expm(t * se3_hat(C_v_LC))

    rate = np.linalg.inv(A_H_C(0)) @ (A_H_C(h) - A_H_C(-h)) / (2 * h)
    C_v_AC = np.array([*rate[:3, 3], rate[2, 1], rate[0, 2], rate[1, 0]])
    same(moving_contact_velocity(robot.tree, LINK, q, nu, L_H_C, C_v_LC), C_v_AC, 1e-8)
    rigid = robot.jacobian_in(LINK, q, written_in=robot.pose(LINK, q) @ L_H_C) @ nu
    differ(rigid, C_v_AC)
    same(rigid + C_v_LC, C_v_AC, 1e-8)
