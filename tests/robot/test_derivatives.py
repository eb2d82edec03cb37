"""`derivatives`: of any quantity, in the tangent space, against finite differences and the recursions."""

import numpy as np
import pytest

import multibody as mb
from multibody.errors import InputError

from ..algorithms.states import along_each, by_each
from ..laws.tools import near
from .robots import robot_of


def state(robot):
    rng = np.random.default_rng(6)
    return robot.random(rng), *rng.standard_normal((2, robot.nv))


@pytest.mark.parametrize("velocity", ["kindr", "right"])
@pytest.mark.parametrize("name", ["velocity", "centroidal_momentum", "mass_matrix_product"])
def test_against_finite_differences(name, velocity):
    robot = mb.load("free-body-se3", velocity=velocity)
    frame = robot.frames[-1] if name == "velocity" else None
    q, v, _ = state(robot)
    function = robot.kernel(name, frame)
    by_q, by_v = robot.derivatives(name, q, v, frame=frame)
    near(np.moveaxis(by_q, -1, 0), along_each(robot.model, lambda q: function(q, v), q), 1e-8)
    near(np.moveaxis(by_v, -1, 0), by_each(lambda v: function(q, v), v), 1e-8)


def test_against_the_recursion():
    robot = robot_of("double-pendulum")
    args = state(robot)
    found = robot.derivatives("inverse_dynamics", *args)
    for one, other in zip(found, robot.inverse_dynamics_derivatives(*args), strict=True):
        near(one, other, 1e-12)


def test_of_quantities_of_q_alone():
    robot = robot_of("free-body-se3")
    q, _, _ = state(robot)
    (slopes,) = robot.derivatives("mass_matrix", q)
    near(np.moveaxis(slopes, -1, 0), along_each(robot.model, robot.mass_matrix, q), 1e-8)
    (of_R,), (of_p,) = robot.derivatives("pose", q, frame=robot.frames[-1])
    near(of_p, robot.jacobian(robot.frames[-1], q)[:3], 1e-12)
    rotations = along_each(robot.model, lambda q: robot.pose(robot.frames[-1], q).matrix[..., :3, :3], q)
    near(np.moveaxis(of_R, -1, 0), rotations, 1e-8)


def test_with_external_wrenches():
    robot = robot_of("double-pendulum")
    tip = robot.frames[-1]
    q, v, a = state(robot)
    push = np.arange(6.0)
    by_q, _, by_a, by_push = robot.derivatives("inverse_dynamics", q, v, a, push, wrenches=[tip])
    pushed = along_each(robot.model, lambda q: robot.inverse_dynamics(q, v, a, {tip: push}), q)
    near(np.moveaxis(by_q, -1, 0), pushed, 1e-8)
    near(by_a, robot.mass_matrix(q), 1e-12)
    near(by_push, -robot.jacobian(tip, q).T, 1e-12)
    with pytest.raises(InputError, match=f"the wrench at '{tip}'"):
        robot.derivatives("inverse_dynamics", q, v, a, push[:3], wrenches=[tip])


def test_second_derivatives():
    robot = robot_of("double-pendulum")
    q, v, a = state(robot)
    second = robot.derivatives("inverse_dynamics_derivatives", q, v, a)
    for k in range(3):
        by_q = along_each(robot.model, lambda q, k=k: robot.inverse_dynamics_derivatives(q, v, a)[k], q)
        near(np.moveaxis(second[k][0], -1, 0), by_q, 1e-8)


def test_batches_options_and_errors():
    robot = robot_of("double-pendulum")
    tip = robot.frames[-1]
    q, v = np.random.default_rng(7).standard_normal((2, 4, 2))
    by_q, by_v = robot.derivatives("velocity", q, v, frame=tip, representation="left")
    assert by_q.shape == by_v.shape == (4, 6, 2)
    near(by_v, robot.jacobian(tip, q, "left"), 1e-12)
    with pytest.raises(InputError, match="no quantity is named 'velocit'; did you mean 'velocity'"):
        robot.derivatives("velocit", q, v)
    with pytest.raises(InputError, match="needs a frame"):
        robot.derivatives("velocity", q, v)
    with pytest.raises(InputError, match=r"v needs the shape \(..., 2\)"):
        robot.derivatives("kinetic_energy", q, np.zeros(3))
    with pytest.raises(InputError, match="missing: v"):
        robot.derivatives("kinetic_energy", q)
