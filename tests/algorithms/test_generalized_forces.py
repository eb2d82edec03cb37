"""Generalized forces: their power is that of the Cartesian ones, and actuators between bodies are joint torques."""

import numpy as np

import multibody as mb
from multibody.algorithms.generalized_forces import Action, generalized_force

ROBOT = mb.load("quadruped")
RNG = np.random.default_rng(0)
Q, V = ROBOT.random(RNG), RNG.standard_normal(ROBOT.nv)


def test_power():
    """Of forces [RD 3.49], torques [RD 3.50], their sum [RD 3.51], also with a reaction [RD 3.52-3.53, §3.5.3]."""
    F, T, p = RNG.standard_normal((3, 3))
    tau = generalized_force(ROBOT.model, Q, [Action("foot-lf", F, T, p), Action("foot-rh", T, F, reaction="foot-lf")])
    one, two = ROBOT.velocity("foot-lf", Q, V), ROBOT.velocity("foot-rh", Q, V)
    power = F @ ROBOT.point_velocity("foot-lf", Q, V, p) + T @ one[3:]
    power += T @ (two[:3] - one[:3]) + F @ (two[3:] - one[3:])
    np.testing.assert_allclose(V @ tau, power, rtol=1e-10)


def test_forces_are_those_of_wrenches():
    """The same motion as with the external wrench at the frame."""
    w, a = RNG.standard_normal(6), RNG.standard_normal(ROBOT.nv)
    tau = generalized_force(ROBOT.model, Q, [Action("foot-lf", w[:3], w[3:])])
    without, given = ROBOT.inverse_dynamics(Q, V, a), ROBOT.inverse_dynamics(Q, V, a, {"foot-lf": w})
    np.testing.assert_allclose(without - given, tau, atol=1e-10)


def test_an_actuator_along_a_joint_is_one_entry():
    """The simplest case of an actuator. [RD 3.52]"""
    robot = mb.load("planar-arm")
    q = robot.random(RNG)
    child, parent = robot.bodies[1].name, robot.bodies[0].name
    axis = robot.pose(child, q).rotation @ np.array(robot.joints[1].kind.axis)
    tau = generalized_force(robot.model, q, [Action(child, torque=3.0 * axis, reaction=parent)])
    np.testing.assert_allclose(tau, [0.0, 3.0, 0.0], atol=1e-12)


def test_batches():
    q = ROBOT.random(RNG, (4,))
    F = RNG.standard_normal((4, 3))
    whole = generalized_force(ROBOT.model, q, [Action("foot-lf", F)])
    for k in range(4):
        np.testing.assert_allclose(
            whole[k], generalized_force(ROBOT.model, q[k], [Action("foot-lf", F[k])]), atol=1e-13
        )
