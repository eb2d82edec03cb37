"""Limits that torques cannot meet are violated by the least sum of squares, in their own units, as SciPy finds it."""

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
