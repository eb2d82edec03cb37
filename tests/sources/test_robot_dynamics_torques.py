"""Torque control as the lecture notes print it, and where a check contradicts them.

[RD §3.7.3, §3.8, §3.9, §3.9.2, §3.10, §3.10.4, §3.11]
"""

import numpy as np
from numpy.testing import assert_allclose

import multibody as mb
from multibody import control
from multibody.algorithms import rows
from multibody.control.operational_space_laws import Laws, along
from multibody.control.pose_tracking import ROWS
from multibody.geometry import rates
from multibody.geometry.operators import hat3

from ..plain import Plain

PANDA = Plain(mb.load("panda"))
PUMA = Plain(mb.load("puma-560"))


def laws(compensation="joint"):
    return Laws("tool", ROWS["pose"], (), compensation, "rotation-vector", 1e9)


def state(robot, seed=0):
    rng = np.random.default_rng(seed)
    return rng, robot.home() + 0.3 * rng.standard_normal(robot.nv), rng.standard_normal(robot.nv)


def test_rd35_gains_of_three_hertz():
    """350 and 37 are rounded down, which leaves the damping below the critical one. [RD 3.79-3.80]"""
    kp, kd = control.gains(3.0)
    assert_allclose([kp, kd], [355.31, 37.70], atol=5e-3)
    assert 37 / (2 * np.sqrt(350)) < 0.99
    assert_allclose(kd / (2 * np.sqrt(kp)), 1.0)


def test_rd36_joint_and_task_space_compensation_differ_for_redundant_arms():
    """3.90 and 3.96 are one law for six joints; the elbow of a Panda at rest falls under 3.90. [RD 3.90, 3.93-3.96]"""
    for robot in (PUMA, PANDA):
        rng, q, v = state(robot)
        w = rng.standard_normal(6)
        tau = [laws(x).torques(robot.tree, q, v, acceleration=w) for x in ("joint", "task")]
        moved = [robot.acceleration("tool", q, v, robot.forward_dynamics(q, v, x)) for x in tau]
        assert_allclose(moved, [w, w], atol=1e-8)
        assert (np.abs(tau[0] - tau[1]).max() < 1e-8) == (robot is PUMA)
    _, q, v = state(PANDA)
    held, let = (PANDA.forward_dynamics(q, 0 * v, laws(x).torques(PANDA.tree, q, 0 * v)) for x in ("joint", "task"))
    assert np.abs(held).max() < 1e-10
    assert np.abs(PANDA.jacobian("tool", q) @ let).max() < 1e-9
    assert np.abs(let).max() > 0.5  # rad/s², of the elbow alone


def test_rd37_the_inverse_of_a_redundant_jacobian_is_the_consistent_one():
    """J^-T M J^-1 is Λ with J̄ for the inverse; with Moore's and Penrose's it is not. [RD 3.87]"""
    _, q, _ = state(PANDA)
    J, M = PANDA.jacobian("tool", q), PANDA.mass_matrix(q)
    inertia, J_bar, J_plus = laws().inertia(PANDA.tree, q), laws().inverse(PANDA.tree, q), np.linalg.pinv(J)
    assert_allclose(J_bar.T @ M @ J_bar, inertia, rtol=1e-8, atol=1e-9)
    assert np.abs(J_plus.T @ M @ J_plus - inertia).max() > 1e-2
    _, q, _ = state(PUMA)
    J_inv = np.linalg.inv(PUMA.jacobian("tool", q))
    inertia = laws().inertia(PUMA.tree, q)
    assert_allclose(J_inv.T @ PUMA.mass_matrix(q) @ J_inv, inertia, atol=1e-9 * np.abs(inertia).max())


def test_rd38_c_maps_from_the_world_to_the_axes_of_the_contact():
    """C^T Σ C selects along the contact's axes when C is C_TI; with the C_IT of "rotated with respect to the inertial
    frame" [RD 2.22] it selects others. [RD 3.98-3.99]"""
    C_IT = mb.Rotation.from_euler("zyx", [0.7, -0.4, 0.3])
    normal, sigma = C_IT.matrix[:, 2], np.array([1.0, 1.0, 0.0])
    S_M = C_IT.matrix @ np.diag(sigma) @ C_IT.matrix.T
    assert_allclose(S_M @ normal, 0, atol=1e-12)
    assert_allclose(along(C_IT, sigma, normal), 0, atol=1e-12)
    printed = C_IT.matrix.T @ np.diag(sigma) @ C_IT.matrix
    assert np.abs(printed @ normal).max() > 0.1


def test_rd39_task_dynamics_need_all_rows():
    """3.86 follows from 3.84 with τ = J^T F and independent rows of J alone; of other torques F = J̄^T τ is felt, and of
    a singular J there is no Λ. [RD 3.84-3.87]"""
    rng, q, v = state(PANDA)
    tau = rng.standard_normal(7)
    w = PANDA.acceleration("tool", q, v, PANDA.forward_dynamics(q, v, tau))
    law, tree = laws(), PANDA.tree
    F = law.inverse(tree, q).T @ tau
    assert_allclose(law.inertia(tree, q) @ w + law.bias(tree, q, v) + law.gravity(tree, q), F, atol=1e-8)
    assert np.abs(PANDA.jacobian("tool", q).T @ F - tau).max() > 1e-2
    J = PANDA.jacobian("tool", np.zeros(7))
    assert np.linalg.cond(J @ np.linalg.solve(PANDA.mass_matrix(np.zeros(7)), J.T)) > 1e12


def test_rd40_the_approximation_of_rotation_errors_depends_on_where_e_is_taken():
    """E_R at χ is right to first order; at the middle of both to second. [RD 3.92]"""
    start = mb.Rotation.from_euler("zyx", [0.4, 0.5, -0.3])
    chi = rates.parameters("euler-zyx", start)
    errors = []
    for size in (1e-1, 1e-2):
        goal = chi + size * np.array([1.0, -2.0, 1.5])
        exact = rates.rotation("euler-zyx", goal).boxminus(start)
        errors.append(
            [np.abs(rates.angular("euler-zyx", x) @ (goal - chi) - exact).max() for x in (chi, (chi + goal) / 2)]
        )
    assert 50 < errors[0][0] / errors[1][0] < 200
    assert 500 < errors[0][1] / errors[1][1] < 2000


def test_multi_task_decomposition():
    """3.82 is least squares of all tasks, 3.83 meets the first whatever the others want. [RD 3.81-3.83, §3.9.1]"""
    rng, q, v = state(PANDA, 3)
    J, b = PANDA.jacobian("tool", q), PANDA.jacobian_dot("tool", q, v) @ v
    J_2, w, w_2 = np.eye(7)[:3], rng.standard_normal(6), rng.standard_normal(3)
    stacked = np.linalg.pinv(np.vstack([J, J_2])) @ np.concatenate([w - b, w_2])
    assert_allclose(control.pseudo_inverse(np.vstack([J, J_2])) @ np.concatenate([w - b, w_2]), stacked, atol=1e-9)
    a, slacks = control.prioritised([(J, w - b), (J_2, w_2)])
    first = np.linalg.pinv(J) @ (w - b)
    N = np.eye(7) - np.linalg.pinv(J) @ J
    second = np.linalg.pinv(J_2 @ N, rcond=1e-9) @ (w_2 - J_2 @ first)
    assert_allclose(a, first + N @ second, atol=1e-8)
    assert_allclose(PANDA.acceleration("tool", q, v, a), w, atol=1e-8)
    assert np.abs(slacks[1]).max() > 1e-3


def test_virtual_displacement_of_a_point():
    """δr_p = δr_b + δφ × r_bp + J_bp δq: the columns of the Jacobian of a floating robot. [RD 3.116]"""
    dog = Plain(mb.load("quadruped", velocity="mixed"))
    q = dog.home()
    J = dog.jacobian("foot-lf", q, "mixed")[:3]
    r = dog.pose("foot-lf", q).position - dog.pose("trunk", q).position
    assert_allclose(J[:, :3], np.eye(3), atol=1e-12)
    assert_allclose(J[:, 3:6], -hat3(r), atol=1e-12)


def test_rd43_the_rate_of_the_jacobian_stands_in_the_task_of_an_acceleration():
    """With J' u in b the point accelerates as wanted, with J u it is off by the difference. [RD 3.111]"""
    rng, q, v = state(PANDA, 4)
    J, wanted = PANDA.jacobian("tool", q), rng.standard_normal(6)
    rate = PANDA.jacobian_dot("tool", q, v) @ v
    right, printed = (np.linalg.pinv(J) @ (wanted - drift) for drift in (rate, J @ v))
    assert_allclose(PANDA.acceleration("tool", q, v, right), wanted, atol=1e-9)
    assert_allclose(PANDA.acceleration("tool", q, v, printed) - wanted, rate - J @ v, atol=1e-9)
    assert np.abs(rate - J @ v).max() > 0.1


def impact(M, J, v):
    """The velocity after an inelastic impact, and the kinetic energy that is gone. [RD 3.69-3.72]"""
    after = v - np.linalg.solve(M, J.T @ np.linalg.pinv(J @ np.linalg.solve(M, J.T), rcond=1e-10) @ (J @ v))
    return after, (v @ M @ v - after @ M @ after) / 2


def test_rd45_a_contact_that_closes_at_rest_loses_nothing():
    dog = Plain(mb.load("quadruped", velocity="mixed"))
    q, v = dog.home(), np.random.default_rng(0).standard_normal(18)
    J, M = dog.jacobian("foot-lf", q, "mixed")[:3], dog.mass_matrix(q)
    after, loss = impact(M, J, v)
    assert loss > 0.01
    again, none = impact(M, J, after)  # the foot is at rest: what touches now changes nothing
    assert_allclose(again, after, atol=1e-12)
    assert abs(none) < 1e-12


def test_rd46_contacts_that_repeat_each_other_have_no_inverse_and_one_motion():
    """Four corners of a sole have 12 rows of rank 6: N_c is that of the sole held as a whole. [RD 3.62-3.70]"""
    robot = mb.load("humanoid")
    tree, q, v = robot.tree, robot.home(), np.random.default_rng(1).standard_normal(robot.nv)
    corners = [(x, y, 0.0) for x in (0.1, -0.1) for y in (0.05, -0.05)]
    sole = mb.constraints.SurfaceContact("sole", "foot-left", corners)
    whole = mb.constraints.FrameContact("sole", "foot-left")
    J, J_whole = (rows.jacobian(tree, [contact], q) for contact in (sole, whole))
    M = Plain(robot).mass_matrix(q)
    assert np.linalg.matrix_rank(J @ np.linalg.solve(M, J.T), tol=1e-9) == 6 < len(J)
    for own, other in zip(impact(M, J, v), impact(M, J_whole, v), strict=True):
        assert_allclose(own, other, atol=1e-9)
