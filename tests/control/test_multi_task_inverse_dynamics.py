"""Inverse dynamics of several tasks: priorities, weights, contacts, batches, and what is refused."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import multibody as mb
from multibody import control
from multibody.algorithms import jacobian, kinematics
from multibody.control.multi_task_inverse_dynamics import accelerations

ARM = mb.load("planar-arm")
DOG = mb.load("quadruped")
HAND, REST = control.PositionTask("hand", "tool", axes="xz"), control.PostureTask("rest").on(ARM.tree)


def test_tasks_of_equal_rank_and_by_priority():
    """3.82 with weights, and 3.83 for tasks that contradict each other. [RD 3.81-3.83, §3.9.1]"""
    rng = np.random.default_rng(0)
    q, v, w, rest = rng.standard_normal((4, 3))
    J, b = ARM.jacobian("tool", q)[[0, 2]], (ARM.jacobian_dot("tool", q, v) @ v)[[0, 2]]
    heavy = control.PositionTask("hand", "tool", axes="xz", weight=9.0)
    equal = accelerations(ARM.tree, [[(heavy, w[:2]), (REST, rest)]], (), q, v)
    stacked = np.linalg.lstsq(np.vstack([3 * J, np.eye(3)]), np.concatenate([3 * (w[:2] - b), rest]), rcond=None)[0]
    assert_allclose(equal, stacked, atol=1e-9)
    a = accelerations(ARM.tree, [[(HAND, w[:2])], [(REST, rest)]], (), q, v)
    N = np.eye(3) - np.linalg.pinv(J) @ J
    assert_allclose(a, np.linalg.pinv(J) @ (w[:2] - b) + N @ rest, atol=1e-9)


def test_compiled_alone_and_in_batches():
    rng = np.random.default_rng(1)
    q, v, rest = rng.standard_normal((3, 5, 3))
    w = rng.standard_normal((5, 2))
    tau = control.multi_task_control(ARM, q, v, [[(HAND, w)], [(REST, rest)]])
    assert_array_equal(control.multi_task_control(ARM, q[3], v[3], [[(HAND, w[3])], [(REST, rest[3])]]), tau[3])
    moved = ARM.acceleration("tool", q, v, ARM.forward_dynamics(q, v, tau))
    assert_allclose(moved[:, [0, 2]], w, atol=1e-8)


def test_a_walking_machine_moves_its_trunk_on_its_feet():
    """Contacts first: feet stay, the trunk accelerates as wanted, torques are zero on the base. [RD 3.83, 3.100]"""
    tree, rng = DOG.tree, np.random.default_rng(2)
    feet = tuple(mb.constraints.PointContact(f, f) for f in DOG.frames if f.startswith("foot"))
    q, v, w = DOG.home(), rng.standard_normal(18), rng.standard_normal(6)
    a = accelerations(tree, [[(control.PoseTask("trunk", "trunk"), w)]], feet, q, v)
    for foot in feet:
        assert_allclose(foot.jacobian(tree, q) @ a + foot.bias(tree, q, v), 0, atol=1e-8)
    drift = kinematics.acceleration(tree, "trunk", q, v, 0 * v)
    assert_allclose(jacobian.jacobian(tree, "trunk", q) @ a + drift, w, atol=1e-8)


def test_bad_input():
    q, v = ARM.home(), np.zeros(3)
    for message, call in (
        ("levels: expected lists of pairs", lambda: control.multi_task_control(ARM, q, v, [])),
        ("level 2: expected a list of pairs", lambda: control.multi_task_control(ARM, q, v, [[(HAND, v[:2])], []])),
        ("level 1: expected a list of pairs", lambda: control.multi_task_control(ARM, q, v, [[HAND]])),
        ("the acceleration of task 'hand'", lambda: control.multi_task_control(ARM, q, v, [[(HAND, v)]])),
        ("contacts: expected at least one", lambda: control.multi_task_control(DOG, q, v, [[(REST, v)]])),
        ("robot: expected a Robot", lambda: control.multi_task_control(ARM.model, q, v, [[(HAND, v)]])),
    ):
        with pytest.raises(mb.InputError, match=message):
            call()
