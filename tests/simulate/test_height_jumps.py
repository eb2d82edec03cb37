"""Landscapes with jumps: contacts that pass through a riser are reported; smooth ground is not."""

import warnings

import numpy as np
import pytest

from multibody import simulate

from .bodies import at, ball


def riser(x, y):
    return np.where(x > 0.5, 0.2, 0.0) + 0.0 * y


def stairs(x, y):
    return -0.15 * np.floor(x / 0.4) + 0.0 * y


def rolling(height, speed=1.0, method="contact", dt=0.005):
    robot, contacts = ball()
    ground = simulate.Ground(friction=0.5, height=height)
    simulator = simulate.Simulator(robot, dt=dt, method=method, contacts=contacts, ground=ground)
    q, v = at(robot, contacts[0].radius), np.array([speed, 0, 0, 0, speed / contacts[0].radius, 0])
    return simulator, q, v


@pytest.mark.parametrize("method", ["contact", "events", "soft"])
def test_a_ball_in_a_riser_is_reported(method):
    simulator, q, v = rolling(riser, method=method)
    with pytest.warns(simulate.SimulationWarning, match=r"jumps by 0\.2 m under contact 0, .* at t = 0\.5") as told:
        run = simulator(q, v, seconds=1.0)
    assert told[0].filename == __file__
    assert len(run.warnings) == 1
    assert any("jumps by 0.2 m" in told for told in simulator.advice(run))


def test_stairs_down_are_reported_once_a_sample():
    """Only the samples that reach a step."""
    simulator, q, v = rolling(stairs)
    start = np.tile(q, (3, 1))
    start[:, 0] = 0.1
    with pytest.warns(simulate.SimulationWarning, match="sample 1: .*jumps by -0.15 m.*1 more in run.warnings"):
        run = simulator(start, np.array([0.0, 1.0, 2.0])[:, None] * v, seconds=0.6)
    assert [told.split(":")[0] for told in run.warnings] == ["sample 1", "sample 2"]


def test_a_step_warns_as_well():
    simulator, q, v = rolling(riser)
    q[0] = 0.499
    with pytest.warns(simulate.SimulationWarning, match=r"jumps by 0\.2 m under contact 0"):
        after, _ = simulator.step(simulator.start(q, v))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        simulator.step(after)  # a jump is told once


@pytest.mark.parametrize("method", ["contact", "soft"])
def test_a_gradient_warns_as_well(method):
    simulator, q, v = rolling(riser, method=method, dt=0.02)
    slope = simulate.gradient(simulator, lambda q, v: q[0] + 0.0 * v[0])
    start = np.stack([q, q])
    start[1, 0] = 0.4
    with pytest.warns(
        simulate.SimulationWarning, match=r"sample 1: .*jumps by 0\.2 m under contact 0, .*t = 0\.1"
    ) as told:
        slope(start, v, seconds=0.2)
    assert [warning.filename for warning in told] == [__file__]
    with warnings.catch_warnings():
        warnings.simplefilter("error", simulate.SimulationWarning)
        slope(q, v, seconds=0.2)  # which ends before the riser


SMOOTH = {
    "bump": lambda x, y: 0.1 * np.exp(-20.0 * (x - 1.0) ** 2 - 20.0 * y * y),
    "steep hill": lambda x, y: 0.5 * (1.0 + np.tanh(6.0 * (x - 1.5))) + 0.0 * y,  # 72 degrees
    "tilted": lambda x, y: 2.0 * x + 0.0 * y,
    "waves": lambda x, y: 0.1 * np.sin(6.0 * x) + 0.05 * np.cos(5.0 * y),
    "kinks": lambda x, y: np.abs(x - 1.0) + 0.0 * y,
}


@pytest.mark.filterwarnings("error::multibody.simulate.SimulationWarning")
@pytest.mark.parametrize("height", SMOOTH.values(), ids=SMOOTH)
@pytest.mark.parametrize("speed", [1.0, 10.0])
def test_smooth_ground_is_silent(height, speed):
    """Slow and at 0.1 m a step: the ball's radius."""
    simulator, q, v = rolling(height, speed, dt=0.01)
    q[2] += float(height(np.array(0.0), np.array(0.0))) + (0.15 if height is SMOOTH["tilted"] else 0.0)
    run = simulator(q, v, seconds=1.0)
    assert run.warnings == []


def test_a_foot_that_swings_over_a_riser_is_silent():
    robot, contacts = ball()
    simulator = simulate.Simulator(robot, dt=0.005, contacts=contacts, ground=simulate.Ground(height=riser))
    run = simulator(at(robot, 0.6), np.array([1.6, 0, 1.5, 0, 0, 0]), seconds=0.4)
    assert run.q[-1, 0] > 0.6
    assert run.warnings == []
