"""The motion of the demo: the order of its method, and what it conserves."""

import numpy as np
import pytest

import multibody as mb
from multibody.cli._throw import collect, throw


def after(robot: mb.Robot, steps: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(4)
    q, v = robot.random(rng), 3 * rng.standard_normal(robot.nv)
    return list(throw(robot, q, v, 0.2 / steps, steps))[-1]


@pytest.mark.parametrize("name", ["free-body-se3", "branching-figure"])
def test_halving_the_step_divides_the_error_by_sixteen(name: str) -> None:
    robot = mb.load(name)
    exact = after(robot, 640)

    def error(steps: int) -> float:
        q, v = after(robot, steps)
        return float(np.hypot(np.abs(robot.difference(exact[0], q)).max(), np.abs(v - exact[1]).max()))

    assert 13 < error(40) / error(80) < 20


def test_energy_and_momentum_of_a_free_body() -> None:
    robot = mb.load("free-body-se3")
    v = np.array([1.0, 0.0, 2.0, 3.0, 0.1, -0.2])
    flight = collect(robot, 1e-3, list(throw(robot, robot.neutral(), v, 1e-3, 200)))
    assert flight.energy_drift.max() < 1e-10
    assert flight.momentum_drift.max() < 1e-10
    assert np.ptp(flight.kinetic) > 0.1 * flight.kinetic[0]  # or nothing would be shown
    np.testing.assert_allclose(np.linalg.norm(flight.q[:, 3:7], axis=-1), 1.0, atol=1e-12)
    falling = flight._replace(kinetic=flight.kinetic + flight.time)
    assert falling.energy_drift.max() == pytest.approx(0.2 / flight.kinetic[0], rel=1e-6)
