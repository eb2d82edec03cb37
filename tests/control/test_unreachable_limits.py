"""Limits that torques cannot meet are violated by the least sum of squares, in their own units, as SciPy finds it."""

import daqp
import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import minimize

import multibody as mb
from multibody import control

DT = 0.01


@pytest.fixture(scope="module")
def robot():
    return mb.load("planar-arm")


def test_velocity_limits_out_of_reach_are_met_in_least_squares(robot):
    rng = np.random.default_rng(5)
    q, v = rng.uniform(-2, 2, (16, 3)), rng.uniform(-9, 9, (16, 3))
    body = control.WholeBody(
        robot, [], [[control.PostureTask("rest")]], limits=(control.TorqueLimits(), control.VelocityLimits())
    )
    with mb.eager():
        answer = body(q, v, rest_acceleration=np.zeros((16, 3)), dt=DT)
    ours = _squares(robot, v + DT * answer.a)
    least = np.array([_least_squares(robot, *state) for state in zip(q, v, strict=True)])
    assert (least > 1e-3).sum() >= 4
    assert_allclose(ours, least, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("eliminate", [True, False])
def test_torques_are_least_at_accelerations_that_limits_leave_open(eliminate):
    """A level that limits out of reach leave nothing to decide decides no torque: DAQP finds no smaller ones."""
    arm, rng, count = mb.load("panda"), np.random.default_rng(0), 24
    tip = mb.constraints.PointContact("tip", "tool")
    q = rng.uniform(arm.limits.lower, arm.limits.upper, (count, 7))
    v = rng.uniform(-8, 8, (count, 7))
    limits = control.TorqueLimits(), control.VelocityLimits()
    body = control.WholeBody(arm, [tip], [[control.PositionTask("p", "link4")]], limits, eliminate=eliminate)
    with mb.eager():
        answer = body(q, v, p_acceleration=np.zeros((count, 3)), dt=DT)
        needed = arm.inverse_dynamics(q, v, answer.a)
        J = arm.constraints([tip]).jacobian(q)
    assert not any(answer.report.unsolved)
    assert sum("velocity limits" in names for names in answer.report.violated) > 12
    effort = arm.limits.effort
    for tau, total, rows in zip(answer.tau, needed, J, strict=True):
        f = daqp.solve(
            rows @ rows.T, -rows @ total, rows.T.copy(), total + effort, total - effort, np.zeros(7, np.int32)
        )[0]
        best = total - rows.T @ f
        assert tau @ tau <= best @ best * (1 + 1e-6) + 1e-9


def _squares(robot, v):
    limits = robot.limits.velocity
    return np.sum(np.square(np.maximum(np.abs(v) - limits, 0.0)), axis=-1)


def _least_squares(robot, q, v):
    """The sum over all torques within their limits, by a quasi-Newton method from several starts."""
    inverse, bias = np.linalg.inv(robot.mass_matrix(q)), robot.bias(q, v)
    torques, limits = robot.limits.effort, robot.limits.velocity

    def cost(tau):
        after = v + DT * inverse @ (tau - bias)
        excess = np.sign(after) * np.maximum(np.abs(after) - limits, 0.0)
        return excess @ excess, 2 * DT * inverse @ excess

    options = {"ftol": 1e-16, "gtol": 1e-13, "maxiter": 5000}
    starts = np.random.default_rng(0).uniform(-torques, torques, (4, 3))
    bounds = list(zip(-torques, torques, strict=True))
    return min(minimize(cost, x, jac=True, bounds=bounds, method="L-BFGS-B", options=options).fun for x in starts)
