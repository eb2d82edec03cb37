"""Robots that compute in single precision."""

import numpy as np
import pytest

import multibody as mb
from multibody.errors import InputError

from ..laws.tools import near
from .robots import SMALL, Call, identical, parts, robot_of

SOME = ("pose", "velocity", "jacobian", "inverse_dynamics", "mass_matrix", "integrate", "kinetic_energy")


@pytest.mark.parametrize("name", SMALL)
@pytest.mark.parametrize("quantity", SOME)
def test_single_precision_is_the_double_one_rounded(name, quantity):
    double = Call(robot_of(name), quantity)
    single = Call(double.robot.astype("float32"), quantity)
    args = [x.astype(np.float32) for x in single.arguments((6,))]
    found = parts(single.kernel(*args))
    for low, high in zip(found, parts(double.kernel(*args)), strict=True):
        assert low.dtype == np.float32
        assert high.dtype == np.float64
        near(low, high, 2e-4)
    identical(tuple(x[3] for x in found), tuple(parts(single.kernel(*(x[3] for x in args)))))


def test_all_results_have_the_precision_of_the_robot():
    robot = robot_of("double-pendulum").astype("float32")
    q, v, r = robot.random(np.random.default_rng(0)), np.ones(2), np.ones(3)
    tip = robot.frames[-1]
    results = {
        "neutral": robot.neutral(),
        "random": q,
        "integrate": robot.integrate(q, v),
        "normalize": robot.normalize(q),
        "interpolate": robot.interpolate(q, q, 0.5),
        "rate_matrix": robot.rate_matrix(q),
        "pose": robot.pose(tip, q).position,
        "jacobian_in": robot.jacobian_in(tip, q, written_in=tip),
        "point_jacobian": robot.point_jacobian(tip, q, r),
        "point_velocity": robot.point_velocity(tip, q, v, r),
        "point_acceleration": robot.point_acceleration(tip, q, v, v, r),
        "singular_values": robot.singular_values(tip, q),
        "manipulability": robot.manipulability(tip, q),
    }
    assert {name: x.dtype for name, x in results.items()} == dict.fromkeys(results, np.dtype("float32"))


def test_unknown_precisions():
    robot = robot_of("double-pendulum")
    with pytest.raises(InputError, match="expected float64 or float32, got 'float16'"):
        robot.astype("float16")
    with pytest.raises(InputError, match="expected float64 or float32, got 'int'"):
        mb.Robot(robot.model, dtype="int")
    assert robot.astype("float32") != robot
    assert robot.astype("float32").astype("float64") == robot
