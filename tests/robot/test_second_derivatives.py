"""Derivatives of derivatives where coordinates are quaternions: a base that floats, a spherical joint.

The robot runs as plain NumPy, which is what is compiled; small ones run compiled.
"""

from functools import cache

import numpy as np
import pytest

import multibody as mb

from ..algorithms.covering import chain
from ..algorithms.states import along_each, by_each
from ..laws.tools import near
from ..plain import Plain
from ..sampling import sampled
from .robots import robot_of

RECURSIONS = ("inverse_dynamics_derivatives", "forward_dynamics_derivatives")
BASES = ("kindr", *(pytest.param(base, marks=pytest.mark.slow) for base in ("left", "right", "mixed")))


@cache
def robot_on(velocity: str) -> mb.Robot:
    """A base that floats, a spherical and a hinge joint."""
    return mb.Robot(chain(velocity, ("spherical", "revolute")).model)


def state(robot):
    rng = np.random.default_rng(6)
    return robot.random(rng), *rng.standard_normal((2, robot.nv))


def check(robot, function, found, args):
    """The derivatives of each result by q, v and the third argument, against finite differences of the function."""
    q, v, x = args
    for k, (by_q, by_v, by_x) in enumerate(found):
        near(np.moveaxis(by_q, -1, 0), along_each(robot.model, lambda q, k=k: function(q, v, x)[k], q), 1e-8)
        near(np.moveaxis(by_v, -1, 0), by_each(lambda v, k=k: function(q, v, x)[k], v), 1e-8)
        near(np.moveaxis(by_x, -1, 0), by_each(lambda x, k=k: function(q, v, x)[k], x), 1e-8)


def test_the_robot_has_both_kinds_of_quaternions():
    kinds = [type(joint.kind).__name__ for joint in robot_on("kindr").joints]
    assert kinds[0] == "Floating"
    assert "Spherical" in kinds


@pytest.mark.parametrize("velocity", BASES)
@pytest.mark.parametrize("name", sampled(RECURSIONS, 2))
def test_against_finite_differences(name, velocity):
    robot = robot_on(velocity)
    args = state(robot)
    with mb.eager():
        found = robot.derivatives(name, *args)
    check(robot, getattr(Plain(robot), name), found, args)


@pytest.mark.parametrize("name", RECURSIONS)
def test_of_kernels(name):
    robot = robot_of("double-pendulum")
    args = state(robot)
    check(robot, robot.kernel(name), robot.derivatives(name, *args), args)


@pytest.mark.slow
@pytest.mark.parametrize("name", RECURSIONS)
def test_of_kernels_with_a_base(name):
    robot = robot_of("free-body-se3")
    args = state(robot)
    check(robot, robot.kernel(name), robot.derivatives(name, *args), args)
