"""Robots inside functions that are compiled: the robot's dynamics becomes part of the user's kernel."""

import numpy as np
import pytest

import multibody as mb

from ..laws.tools import near
from .robots import robot_of


@pytest.fixture
def robot():
    return robot_of("double-pendulum")


def states(robot, batch=(5,)):
    rng = np.random.default_rng(3)
    return robot.random(rng, batch), *rng.standard_normal((2, *batch, robot.nv))


def agrees(function, *arrays, tolerance=1e-11):
    """A compiled function against the function itself, which calls kernels."""
    kernel = mb.compile(function, *(x.shape[-1] for x in arrays))
    near(kernel(*arrays), np.stack([function(*row) for row in zip(*arrays, strict=True)]), tolerance)


def test_computed_torque_control(robot):
    q, v, a = states(robot)
    agrees(lambda q, v, a: robot.inverse_dynamics(q, v, a - 10 * q - 3 * v), q, v, a)


def test_many_quantities_of_a_floating_robot():
    robot = robot_of("free-body-se3")
    frame = robot.frames[-1]
    q, v, a = states(robot)

    def function(q, v, a):
        tau = robot.inverse_dynamics(q, v, a, {frame: v})
        back = robot.forward_dynamics(q, v, tau, {frame: v})
        J = robot.jacobian(frame, q, "left")
        point = robot.pose(frame, q) @ a[:3]
        return np.concatenate([tau, back, J @ v, point, robot.mass_matrix(q) @ a, robot.center_of_mass(q)])

    agrees(function, q, v, a)


def test_all_ways_of_the_face(robot):
    """Points, Jacobians in frames, passive forces, configurations: those without kernels of their own too."""
    tip, base = robot.frames[-1], robot.frames[0]
    q, v, a = states(robot)

    def function(q, v, a):
        r = np.stack([q[0], v[1], a[0]])
        return np.concatenate([
            robot.point_velocity(tip, q, v, r),
            robot.point_acceleration(tip, q, v, a, r),
            robot.point_jacobian(tip, q, r).ravel(),
            robot.jacobian_in(tip, q, written_in=base).ravel(),
            robot.relative_jacobian(tip, base, q).ravel(),
            robot.integrate(q, v),
            robot.interpolate(q, robot.integrate(q, v), 0.3),
            robot.normalize(q),
            robot.rate_matrix(q) @ v,
            robot.passive(q, v),
            robot.inverse_dynamics(q, v, a, passive=True),
            robot.forward_dynamics(q, v, a, passive=True),
            robot.poses(q)[tip].position,
        ])  # fmt: skip

    agrees(function, q, v, a)


def test_evaluate_inside(robot):
    tip = robot.frames[-1]
    q, v, _ = states(robot)

    def function(q, v):
        found = robot.evaluate(q, v, ["mass_matrix", "bias", ("pose", tip)])
        return found["mass_matrix"] @ v + found["bias"] + found["pose", tip].position[:2]

    agrees(function, q, v)


def test_simulation_by_a_scan(robot):
    """Semi-implicit steps with the dynamics inside, as one kernel, against a loop over calls."""
    dt, steps = 1e-2, 30

    def step(state, tau):
        q, v = state
        v = v + dt * robot.forward_dynamics(q, v, tau)
        q = robot.integrate(q, dt * v)
        return (q, v), robot.kinetic_energy(q, v)

    q, v, _ = states(robot, ())
    taus = 0.1 * np.random.default_rng(4).standard_normal((steps, robot.nv))
    roll = mb.compile_scan(step, [robot.nq, robot.nv], [robot.nv])
    (q_end, v_end), energies = roll((q, v), taus)
    state, expected = (q, v), []
    for tau in taus:
        state, energy = step(state, tau)
        expected.append(energy)
    near(q_end, state[0], 1e-10)
    near(v_end, state[1], 1e-10)
    near(energies, np.array(expected), 1e-10)


def test_simulation_by_a_loop_inside_a_kernel(robot):
    def function(q, v):
        def step(state):
            q, v = state
            v = v + 1e-2 * robot.forward_dynamics(q, v, 0 * v)
            return robot.integrate(q, 1e-2 * v), v

        return np.concatenate(mb.loop(10, step, (q, v)))

    q, v, _ = states(robot)
    kernel = mb.compile(function, robot.nq, robot.nv)
    p, u = q, v
    for _ in range(10):
        u = u + 1e-2 * robot.forward_dynamics(p, u, 0 * u)
        p = robot.integrate(p, 1e-2 * u)
    near(kernel(q, v), np.concatenate([p, u], axis=-1), 1e-10)


def test_gradients_through_the_dynamics(robot):
    """Of the energy after a step, against central differences."""

    def energy(q, v):
        v = v + 0.05 * robot.forward_dynamics(q, v, -v)
        return robot.kinetic_energy(robot.integrate(q, 0.05 * v), v)

    q, v, _ = states(robot, ())
    slope = mb.gradient(energy, 0)(q, v)
    h = 1e-5
    expected = [(energy(q + h * e, v) - energy(q - h * e, v)) / (2 * h) for e in np.eye(robot.nq)]
    near(slope, np.array(expected), 1e-8)
