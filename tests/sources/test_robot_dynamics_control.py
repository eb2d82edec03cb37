"""RD's kinematic control in the numbers that it prints.  [RD §2.9.1-2.9.4, §2.10.5, §A.1, §A.2]"""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.spatial.transform import Rotation as Truth

import multibody as mb
from multibody import control

Q = np.array([np.pi / 6, np.pi / 3, np.pi / 3])
J_E = 0.5 * np.array([[0, -np.sqrt(3), -np.sqrt(3)], [-4, -3, -1]])
J_J = np.eye(3)[:2]
W_E = np.ones(2)
PRINTED = 5.1e-4
"""Half of the last digit of three."""


def test_the_arm_of_the_example():
    """The Jacobian of the planar arm, rows x and z, at the configuration of the example. [RD 2.221-2.224, Ex. 2.9.1]"""
    arm = mb.load("planar-arm")
    assert_allclose(arm.jacobian("tool", Q)[[0, 2]], J_E, atol=1e-12)


def test_one_task():
    """q' = J^+ w, which meets the task. [RD 2.193-2.194, 2.222-2.226, 2.234-2.235, Ex. 2.9.2-2.9.3]"""
    v = control.pseudo_inverse(J_E) @ W_E
    assert_allclose(v, [0.069, -0.560, -0.595], atol=PRINTED)
    assert_allclose(J_E @ v, W_E, atol=1e-14)
    assert_allclose(np.sum((J_J @ v) ** 2), 0.319, atol=PRINTED)


def test_stacked_tasks():
    """Equal priorities: neither task is met. [RD 2.214, 2.227-2.233, Ex. 2.9.4-2.9.5]"""
    stacked = np.vstack([J_E, J_J])
    v = control.pseudo_inverse(stacked) @ [1, 1, 0, 0]
    assert_allclose(v, [-0.133, -0.067, -1.132], atol=PRINTED)
    assert_allclose(stacked @ v, [1.039, 0.933, -0.133, -0.067], atol=PRINTED)
    assert_allclose(np.sum((W_E - J_E @ v) ** 2), 0.0059, atol=5.1e-5)
    assert_allclose(np.sum((J_J @ v) ** 2), 0.0223, atol=5.1e-5)


def test_tasks_with_priority():
    """The hand first: the joints use what it leaves them. [RD 2.216-2.220, 2.236-2.240, Ex. 2.9.6]"""
    N = control.null_space_projector(J_E)
    assert_allclose(N, np.array([[1, -2, 2], [-2, 4, -4], [2, -4, 4]]) / 9, atol=1e-14)
    v, (hand, joints) = control.prioritised([(J_E, W_E), (J_J, np.zeros(2))])
    assert_allclose(v, [-0.169, -0.085, -1.070], atol=PRINTED)
    assert_allclose(hand, 0, atol=1e-14)
    assert_allclose(joints @ joints, 0.036, atol=PRINTED)
    single = control.pseudo_inverse(J_E) @ W_E
    as_printed = single + N @ np.linalg.pinv(J_J @ N, rcond=1e-6) @ (-J_J @ single)
    assert_allclose(v, as_printed, atol=1e-14)


WRIST, START, GOAL = mb.load("zyx-wrist"), np.array([-0.7, 0.0, 1.5]), np.array([0.7, 1.5, -0.5])


def test_jacobian_of_the_wrist():
    """[RD 2.245-2.247]"""
    z, y, _ = q = np.array([0.3, -0.4, 0.9])
    s, c = np.sin, np.cos
    printed = [[0, -s(z), c(y) * c(z)], [0, c(z), c(y) * s(z)], [1, 0, -s(y)]]
    assert_allclose(WRIST.jacobian("roll", q)[3:], printed, atol=1e-14)


@pytest.mark.parametrize("error", ["euler-zyx", "euler-xyz", "rotation-vector-difference", "rotation-vector"])
def test_the_wrist_reaches_its_target(error):
    """All four paths of the example, by k = 0.01, not 0.001. [RD 2.241-2.243, Alg. 1, Ex. 2.9.7-2.9.8]"""
    target = WRIST.pose("roll", GOAL)
    history = control.iterate(WRIST, "roll", target, START, error=error, step=0.01, iterations=1500)
    assert history.rotation_error[-1] < 1e-4
    if error == "euler-zyx":  # straight, since these angles are the joints'
        assert_allclose(history.q, GOAL + 0.99 ** np.arange(1501)[:, None] * (START - GOAL), atol=1e-9)


def test_rotation_errors():
    """rotVec of C_AB is the same in A and in B; in the inertial axes it is that of C_IB C_IA^T. [RD 2.248-2.255]"""
    C_IA, C_IB = (WRIST.pose("roll", q).rotation for q in (START, GOAL))
    A_phi = Truth.from_matrix(C_IA.matrix.T @ C_IB.matrix).as_rotvec()
    assert_allclose((C_IA.inverse() @ C_IB).matrix @ A_phi, A_phi, atol=1e-14)
    I_phi = control.OrientationTask("turn", "roll").error(WRIST.tree, START, C_IB)
    assert_allclose(I_phi, C_IA.matrix @ A_phi, atol=1e-13)
    step = control.iterate(WRIST, "roll", WRIST.pose("roll", GOAL), START, step=0.1, iterations=1).q[1] - START
    assert_allclose(step, 0.1 * np.linalg.solve(WRIST.jacobian("roll", START)[3:], I_phi), atol=1e-12)
    step = (
        control.iterate(WRIST, "roll", WRIST.pose("roll", GOAL), START, "transpose", step=0.1, iterations=1).q[1]
        - START
    )
    assert_allclose(step, 0.1 * WRIST.jacobian("roll", START)[3:].T @ I_phi, atol=1e-12)  # [RD 2.244]


def test_rd32_projectors_of_the_recursion():
    """[RD 2.220]: with projectors of one task less, as the text after it has them, task 2 disturbs task 1."""
    rng = np.random.default_rng(1)
    J, w = rng.standard_normal((3, 2, 6)), rng.standard_normal((3, 2))

    def recursion(tasks_above):
        v = np.zeros(6)
        for i in range(3):
            above = np.reshape(J[: max(tasks_above(i), 0)], (-1, 6))
            N = np.eye(6) - np.linalg.pinv(above) @ above
            v = v + N @ np.linalg.pinv(J[i] @ N, rcond=1e-9) @ (w[i] - J[i] @ v)
        return v

    v, _ = control.prioritised(list(zip(J, w, strict=True)))
    assert_allclose(recursion(lambda i: i), v, atol=1e-12)
    assert np.abs(J[0] @ recursion(lambda i: i - 1) - w[0]).max() > 1e-2


def test_rd33_redundant_and_singular():
    """[RD 2.209]: where rows depend on each other, J J^T has no inverse; J^+ has the least norm there, too."""
    J = np.array([[1.0, 2.0, 0.0], [2.0, 4.0, 0.0]])
    with pytest.raises(np.linalg.LinAlgError):
        np.linalg.inv(J @ J.T)
    assert_allclose(control.pseudo_inverse(J) @ [1.0, 2.0], [0.2, 0.4, 0.0], atol=1e-14)


def test_rd42_equations_that_can_all_be_met_have_full_row_rank():
    """The cost of the levels above is zero for a full row rank, not for a full column rank. [RD 3.108]"""
    rng = np.random.default_rng(0)
    wide, tall = rng.standard_normal((2, 3)), rng.standard_normal((3, 2))
    _, (met, _) = control.prioritised([(wide, [1.0, 2.0]), (np.eye(3), np.ones(3))])
    assert_allclose(met, 0, atol=1e-12)
    assert np.linalg.matrix_rank(tall) == 2
    _, (unmet,) = control.prioritised([(tall, [1.0, 2.0, 3.0])])
    assert np.linalg.norm(unmet) > 1e-3


def test_inverse_joint_space_dynamics_as_a_program():
    """Task 1 is A = [M, 0, -1], b = -b - g; task 2 is A = [1, 0, 0], b = q''*: tau = M q''* + b + g.

    By the hierarchy of the notes, over (q'', F, tau) without F, and by `WholeBody`, in which the equations of motion
    hold whatever the unknowns are. [RD 3.109-3.110, 3.114-3.115, Ex. 3.10.1]
    """
    arm = mb.load("planar-arm")
    rng = np.random.default_rng(5)
    q, v, a = rng.uniform(-1, 1, (3, 3))
    M, h, one, none = arm.mass_matrix(q), arm.bias(q, v), np.eye(3), np.zeros((3, 3))
    x, slacks = control.hierarchical_least_squares([(np.hstack([M, -one]), -h), (np.hstack([one, none]), a)])
    assert_allclose(x, np.concatenate([a, M @ a + h]), atol=1e-10)
    assert max(np.abs(slack).max() for slack in slacks) < 1e-10
    body = control.WholeBody(arm, (), [[control.PostureTask("joints")]])
    tau, acceleration, f, report = body(q, v, joints_acceleration=a)
    assert_allclose(tau, arm.inverse_dynamics(q, v, a), atol=1e-9)
    assert_allclose(acceleration, a, atol=1e-9)
    assert (f.shape, report.violated) == ((0,), [])
