"""Generalized forces: their power is that of the Cartesian ones, and actuators between bodies are joint torques."""

import numpy as np
import pytest

import multibody as mb
from multibody.errors import InputError
from multibody.textbook.generalized_forces import Action, generalized_force

from ..every_law import each_case

ROBOT = mb.load("quadruped")
RNG = np.random.default_rng(0)
Q, V = ROBOT.random(RNG), RNG.standard_normal(ROBOT.nv)


def test_power():
    """Of forces [RD 3.49], torques [RD 3.50], their sum [RD 3.51], also with a reaction [RD 3.52-3.53, §3.5.3]."""
    F, T, p = RNG.standard_normal((3, 3))
    tau = generalized_force(
        ROBOT.model.tree, Q, [Action("foot-lf", F, T, p), Action("foot-rh", T, F, reaction="foot-lf")]
    )
    one, two = ROBOT.velocity("foot-lf", Q, V), ROBOT.velocity("foot-rh", Q, V)
    power = F @ ROBOT.point_velocity("foot-lf", Q, V, p) + T @ one[3:]
    power += T @ (two[:3] - one[:3]) + F @ (two[3:] - one[3:])
    np.testing.assert_allclose(V @ tau, power, rtol=1e-10)


def test_forces_are_those_of_wrenches():
    """The same motion as with the external wrench at the frame."""
    w, a = RNG.standard_normal(6), RNG.standard_normal(ROBOT.nv)
    tau = generalized_force(ROBOT.model.tree, Q, [Action("foot-lf", w[:3], w[3:])])
    without, given = ROBOT.inverse_dynamics(Q, V, a), ROBOT.inverse_dynamics(Q, V, a, {"foot-lf": w})
    np.testing.assert_allclose(without - given, tau, atol=1e-10)


def test_an_actuator_along_a_joint_is_one_entry():
    """The simplest case of an actuator. [RD 3.52]"""
    robot = mb.load("planar-arm")
    q = robot.random(RNG)
    child, parent = robot.bodies[1].name, robot.bodies[0].name
    axis = robot.pose(child, q).rotation @ np.array(robot.joints[1].kind.axis)
    tau = generalized_force(robot.tree, q, [Action(child, torque=3.0 * axis, reaction=parent)])
    np.testing.assert_allclose(tau, [0.0, 3.0, 0.0], atol=1e-12)


def test_batches():
    q = ROBOT.random(RNG, (4,))
    F = RNG.standard_normal((4, 3))
    whole = generalized_force(ROBOT.model.tree, q, [Action("foot-lf", F)])
    for k in range(4):
        np.testing.assert_allclose(
            whole[k], generalized_force(ROBOT.model.tree, q[k], [Action("foot-lf", F[k])]), atol=1e-13
        )


def test_lists_and_kernels():
    """Actions may hold what is traced: a force that is an input of a kernel."""
    q, F = ROBOT.random(RNG, (4,)), RNG.standard_normal((4, 3))

    def tau(q, F):
        return generalized_force(ROBOT.model.tree, q, [Action("foot-lf", F, point=[0.0, 0.1, 0.0], reaction="trunk")])

    np.testing.assert_array_equal(tau(q.tolist(), F.tolist()), tau(q, F))
    np.testing.assert_allclose(mb.compile(tau, 19, 3)(q, F), tau(q, F), atol=1e-12)
    assert tau(Q, F).shape == (4, 18)
    assert not generalized_force(ROBOT.model.tree, q, []).any()


@each_case(
    "given, message",
    [
        ({"force": [1, 2]}, r"action on 'foot-lf', force: expected .* \(..., 3\), got shape \(2,\)"),
        ({"force": 1.0}, r"action on 'foot-lf', force: expected .* \(..., 3\), got shape \(\)"),
        ({"force": ["a", 1, 2]}, "action on 'foot-lf', force: expected .* got dtype"),
        ({"torque": [[1, 2], [3]]}, "action on 'foot-lf', torque: expected .* got a ragged sequence"),
        ({"point": np.zeros((3, 1))}, r"action on 'foot-lf', point: expected .* got shape \(3, 1\)"),
    ],
)
def test_actions_that_are_refused(given, message):
    with pytest.raises(InputError, match=message):
        Action("foot-lf", **given)


@each_case(
    "q, actions, message",
    [
        (Q[:-1], [], r"quadruped: q needs the shape \(..., 19\)"),
        ("a", [], "q: expected real floats"),
        (np.ones(19), [], "the quaternion .* has the length 2"),
        (Q, Action("foot-lf"), "generalized_force: expected a list of actions, got Action"),
        (Q, ["foot-lf"], "generalized_force: expected actions, got str"),
        (Q, [Action("tail")], "'tail'"),
        (Q, [Action("foot-lf", reaction="tail")], "'tail'"),
        (Q, [Action(3)], "quadruped: .*3"),
        (np.stack([Q] * 3), [Action("foot-lf", np.zeros((4, 3)))], r"batch shapes \(3,\), \(4,\), .* do not broadcast"),
        (Q, [Action("trunk", np.zeros((n, 3))) for n in (2, 3)], "batch shapes .* do not broadcast"),
    ],
)
def test_what_is_refused(q, actions, message):
    with pytest.raises(InputError, match=message):
        generalized_force(ROBOT.model.tree, q, actions)
