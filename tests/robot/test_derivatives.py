"""`derivatives`: of any quantity, in the tangent space, against finite differences and the recursions."""

from functools import cache, partial

import numpy as np
import pytest

import multibody as mb
from multibody.errors import InputError
from multibody.robot.quantities import QUANTITIES

from ..algorithms.covering import chain
from ..algorithms.states import along_each, by_each
from ..laws.tools import near
from ..plain import Plain
from .robots import robot_of


def state(robot):
    rng = np.random.default_rng(6)
    return robot.random(rng), *rng.standard_normal((2, robot.nv))


def check(robot, function, found, args):
    """The derivatives by each argument, q first, against finite differences of the function."""
    for k, slopes in enumerate(found):

        def moved(x, k=k):
            return function(*args[:k], x, *args[k + 1 :])

        expected = by_each(moved, args[k]) if k else along_each(robot.model, moved, args[0])
        near(np.moveaxis(slopes, -1, 0), expected, 1e-8)


@pytest.mark.parametrize("velocity", ["kindr", "right"])
@pytest.mark.parametrize("name", ["velocity", "acceleration", "centroidal_momentum", "mass_matrix_product"])
def test_against_finite_differences(name, velocity):
    robot = mb.load("free-body-se3", velocity=velocity)
    frame = robot.frames[-1] if QUANTITIES[name].frame else None
    args = state(robot)[: len(QUANTITIES[name].inputs)]
    check(robot, robot.kernel(name, frame), robot.derivatives(name, *args, frame=frame), args)


@cache
def figure(velocity):
    """A base that floats, a spherical, a universal and a sliding joint, and the frame at the end of the chain."""
    s = chain(velocity, ("spherical", "universal", "prismatic"))
    return mb.Robot(s.model), s.frame


MOTIONS = {
    "velocity": {},
    "velocity left": {"representation": "left"},
    "velocity right": {"representation": "right"},
    "acceleration": {},
    "acceleration left": {"representation": "left"},
    "acceleration right": {"representation": "right"},
    "acceleration intrinsic": {"intrinsic": True},
}
FORCES = (
    "mass_matrix_product",
    "centroidal_momentum",
    "centroidal_momentum_rate",
    "momentum",
    "com_velocity",
    "kinetic_energy",
    "bias",
    "coriolis",
    "inverse_dynamics",
    "forward_dynamics",
    "joint_wrenches",
)
SLOW = "coriolis"
"""Of matrices the derivatives take long."""


@pytest.mark.parametrize(
    ("case", "velocity"),
    [
        pytest.param(case, velocity, marks=() if velocity == "kindr" and case != SLOW else pytest.mark.slow)
        for case in (*MOTIONS, *FORCES)
        for velocity in ("kindr", "left", "right", "mixed")
    ],
)
def test_of_every_argument_against_finite_differences(case, velocity):
    """As plain NumPy, on a robot whose coordinates have two quaternions."""
    (robot, end), name = figure(velocity), case.split()[0]
    options = MOTIONS.get(case, {})
    frame = {"frame": end} if case in MOTIONS else {}
    args = state(robot)[: len(QUANTITIES[name].inputs)]
    function = partial(getattr(Plain(robot), name), *frame.values(), **options)
    with mb.eager():
        found = robot.derivatives(name, *args, **frame, **options)
    check(robot, function, found, args)


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
