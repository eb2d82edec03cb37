"""The balance of energy: nothing in ordinary motion, a bound where no step is stable."""

import numpy as np
import pytest

import multibody as mb
from multibody import simulate
from multibody.model.joint import Passive

from .bodies import hinge, slider, swing


@pytest.mark.parametrize("dt", [0.01, 0.002])
def test_a_pendulum_is_left_alone(dt):
    """From rest, many swings: energies differ from side to side by the order of the step, and that is no gain."""
    robot = hinge()
    run = simulate.Simulator(robot, dt=dt)([1.5], seconds=4.0, every=round(1 / dt))
    fine = simulate.Simulator(robot, dt=0.001, method="rk4")([1.5], seconds=4.0, every=1000)
    assert run.taken == 0
    assert np.abs(run.q - fine.q).max() < 0.6 * dt * dt


def test_work_is_counted():
    """A controller and a push put energy in; a controller that brakes and a push that goes on meanwhile, too."""
    robot = slider()
    pushed = simulate.Simulator(robot, dt=0.01, controller=lambda t, q, v: 3.0 * np.sin(2.0 * t) - 0.5 * v)
    run = pushed([0.0], seconds=5.0, wrenches={"cart": np.array([1.0, 0, 0, 0, 0, 0])})
    assert run.taken == 0
    np.testing.assert_allclose(run.robot.kinetic_energy(run.q, run.v).max(), run.energy().max())
    body = swing("kindr")
    q = body.neutral()
    thrown = simulate.Simulator(body, dt=0.002)(q, np.r_[0, 0, 2, 1.0, 2, 3, 8.0], seconds=1.0)
    assert thrown.taken == 0


@pytest.mark.filterwarnings("ignore::multibody.simulate.SimulationWarning")
def test_a_light_link_that_whirls_is_bounded():
    """At several radians a step nothing is right, but nothing explodes, and the run tells what was taken."""
    run = simulate.Simulator(mb.load("double-pendulum"), dt=0.02)([1.0, 0.5], [40.0, -160.0], seconds=2.0)
    E = run.energy()
    assert np.isfinite(run.q).all()
    assert E.max() < 1.01 * E[0]
    assert run.taken > 0.01 * E[0]
    assert simulate.Simulator(mb.load("double-pendulum"), method="rk4")([1.0, 0.5], seconds=0.01).taken == 0


@pytest.mark.parametrize(("stiffness", "damping"), [(1e4, 0.0), (1e6, 0.0), (1e6, 100.0)])
def test_stiff_springs_keep_their_energy(stiffness, damping):
    """At up to 7 rad a step, of the spring alone: the trapezoidal rule keeps its energy, damping takes some."""
    robot = slider(Passive(stiffness=stiffness, damping=damping))
    run = simulate.Simulator(robot, dt=0.01, passive=True)([0.1], [0.5], seconds=2.0)
    H = stiffness * run.q[:, 0] ** 2 / 2 + run.robot.kinetic_energy(run.q, run.v)
    H0 = stiffness * 0.01 / 2 + 0.25
    assert run.taken == 0
    if damping:
        assert H.max() < H0
        assert H[-1] < 0.01 * H0
    else:
        np.testing.assert_allclose(H, H0, rtol=1e-9)
