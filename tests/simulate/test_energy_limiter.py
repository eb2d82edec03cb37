"""The energy limiter leaves robots alone whose targets jump from step to step, so that runs and gradients agree."""

import numpy as np
import pytest

import multibody as mb
from multibody import simulate

from .bodies import leg


def standing_quadruped(dt, kp, kd):
    robot = mb.load("quadruped")
    contacts = [simulate.SphereContact(frame, 0.02) for frame in robot.frames if frame.startswith("foot")]
    q = robot.home()
    q[2] += 0.02 - robot.pose("foot-lf", q).position[2]
    return simulate.Simulator(robot, dt=dt, contacts=contacts, controller=simulate.PD(kp, kd)), q


@pytest.mark.parametrize("dt", [0.002, 0.005, 0.01])
def test_standing_with_targets_that_jitter(dt):
    """Targets change by 0.05 rad in each step, at soft and stiff gains."""
    simulator, q = standing_quadruped(dt, 80.0, 2.0)
    kp = np.repeat([40.0, 80.0, 200.0], 8)
    targets = q[7:] + 0.05 * np.random.default_rng(0).standard_normal((24, round(0.5 / dt), 12))
    run = simulator(np.tile(q, (24, 1)), seconds=0.5, inputs=targets, parameters={"kp": kp, "kd": kp / 40.0})
    assert run.taken.max() == 0
    assert run.forces[..., 2].max() > 2 * 9.81 * simulator.tree.mass / 4  # feet hit the ground


@pytest.mark.parametrize("friction", [0.8, 0.15])
def test_a_run_is_the_motion_that_its_gradient_differentiates(friction):
    """The gradient's value is the cost of the run, and its derivatives are the central differences of runs."""
    robot, contacts, stand = leg()
    controller = simulate.PD([0.0, 60.0, 60.0], [0.0, 2.0, 2.0])
    ground = simulate.Ground(friction=friction)
    simulator = simulate.Simulator(
        robot, dt=0.005, contacts=contacts, ground=ground, controller=controller, tolerance=1e-12
    )
    rng = np.random.default_rng(1)
    targets = stand + 0.05 * rng.standard_normal((16, 100, 3))
    q, direction = np.tile(stand, (16, 1)), rng.standard_normal((16, 100, 3))

    def cost(q, v):
        return (q[0] - 0.4) ** 2 + 0.1 * q[1] * q[2] + 0.05 * v[1]

    def cost_of_run(targets):
        run = simulator(q, seconds=0.5, inputs=targets)
        assert run.taken.max() == 0
        end, speed = run.last
        return cost(end.T, speed.T)

    answer = simulate.gradient(simulator, cost)(q, None, targets)
    np.testing.assert_allclose(answer.value, cost_of_run(targets), rtol=1e-9)
    small = 1e-6
    difference = (cost_of_run(targets + small * direction) - cost_of_run(targets - small * direction)) / (2 * small)
    scale = np.sqrt(np.sum(answer.inputs**2, axis=(1, 2)))
    assert np.abs((np.sum(answer.inputs * direction, axis=(1, 2)) - difference) / scale).max() < 1e-6
