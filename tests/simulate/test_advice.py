"""Advice and faults: what is unstable is told, with numbers; what is well is not."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import multibody as mb
from multibody import simulate
from multibody.model.joint import Passive

from ..oracles.robot_data import urdf
from .bodies import at, ball, box, puck, slider


def damper(gain):
    return lambda t, q, v: -gain * v


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"method": "euler", "controller": simulate.PD(0.0, 500.0)}, "PD is explicit"),
        ({"method": "rk4", "controller": simulate.PD(3e5, 0.0)}, "swings"),
        ({"method": "contact", "controller": damper(500.0)}, "controller is explicit"),
        ({"method": "verlet", "controller": damper(60.0), "control_every": 10}, "held over 10 steps"),
    ],
)
def test_unstable_controllers_are_told(options, word):
    """2 kg at 10 ms: each grows without bound, and each says so before it runs."""
    simulator = simulate.Simulator(slider(), dt=0.01, **options)
    assert word in simulator.advice()[0]
    run = simulator([0.01], [1.0], seconds=10.0)
    assert not np.abs(run.last[1]).max() < 1e3


@pytest.mark.parametrize(
    "options",
    [
        {"method": "euler", "controller": simulate.PD(100.0, 20.0)},
        {"method": "contact", "controller": simulate.PD(1e6, 1e4)},
        {"method": "contact", "controller": damper(100.0)},
        {"method": "verlet", "controller": damper(5.0), "control_every": 10},
        {"method": "rk4", "controller": lambda t, q, v, u: -u * v},
        {"method": "verlet"},
    ],
)
def test_good_ones_are_silent(options):
    simulator = simulate.Simulator(slider(), dt=0.01, **options)
    assert simulator.advice() == ()
    inputs = [3.0] if options["method"] == "rk4" else None
    run = simulator([0.01], [1.0], seconds=1.0, inputs=inputs)
    assert np.abs(run.v).max() < 10.0
    assert simulator.advice(run, inputs=inputs) == ()


def test_inputs_may_be_gains():
    simulator = simulate.Simulator(slider(), dt=0.01, method="rk4", controller=lambda t, q, v, u: -u * v)
    assert "decays at 400/s" in simulator.advice(inputs=np.array([800.0]))[0]


def test_stiff_joints_in_explicit_methods():
    robot = slider(Passive(damping=1000.0, stiffness=10.0))
    assert "damping of joints" in simulate.Simulator(robot, dt=0.01, method="verlet", passive=True).advice()[0]
    assert simulate.Simulator(robot, dt=0.01, passive=True).advice() == ()
    assert simulate.Simulator(robot, dt=0.0005, method="verlet", passive=True).advice() == ()


def test_stiff_ground_and_deep_contacts():
    robot, contacts = ball()
    stiff = simulate.Ground(stiffness=1e7, damping=0.0)
    assert "softer ground" in simulate.Simulator(robot, 0.005, "soft", contacts, stiff).advice()[0]
    robot, contacts = puck()
    soft = simulate.Simulator(robot, 0.005, "soft", contacts, simulate.Ground(stiffness=50.0, damping=10.0))
    assert soft.advice() == ()
    assert "mm deep" in soft.advice(soft([0.0, 0.0], seconds=1.0))[0]


def test_impulses_that_do_not_agree():
    robot, contacts = box()
    q, v = at(robot, 0.1), np.array([0.5, 0.3, -1.0, 0.3, 0.2, 1.0])
    few = simulate.Simulator(robot, dt=0.005, contacts=contacts, sweeps=1)
    assert any("did not agree" in told for told in few.advice(few(q, v, seconds=0.1)))
    many = simulate.Simulator(robot, dt=0.005, contacts=contacts)
    assert many.advice(many(q, v, seconds=0.1)) == ()


def test_energy_that_was_taken_away():
    simulator = simulate.Simulator(mb.load("double-pendulum"), dt=0.01)
    with pytest.warns(
        simulate.SimulationWarning, match="the energy limiter removed more energy than the motion ever had"
    ):
        whirl = simulator([0.3, 0.2], [150.0, -400.0], seconds=1.0)
    assert any("taken away" in told for told in simulator.advice(whirl))
    assert simulator.advice(simulator([0.3, 0.2], [1.0, -1.0], seconds=1.0)) == ()


@pytest.mark.parametrize("every", [1, 100])
def test_a_controller_that_diverges_is_told(every):
    """Its numbers stay finite, since energy is taken away: they are no motion, whether rows with it are kept or not."""
    arm = mb.load("double-pendulum")
    simulator = simulate.Simulator(arm, dt=0.01, controller=lambda t, q, v, k: np.array([5.0, 0.0]) - k * v)
    gains = np.array([1.0, 100.0, 1e5])[:, None, None]
    with pytest.warns(simulate.SimulationWarning, match="in 2 of 3 samples the energy limiter removed more energy"):
        run = simulator(np.tile([0.5, 0.2], (3, 1)), seconds=2.0, every=every, inputs=gains)
    assert np.isfinite(run.q).all()
    assert_array_equal(run.share_taken > 1, [False, True, True])
    assert "2 diverged" in repr(run)
    assert any("J that no force had put in" in told for told in simulator.advice(run))
    exact = simulate.Simulator(arm, dt=0.0005, method="rk4", controller=lambda t, q, v: np.array([5.0, 0.0]) - v)
    assert_allclose(run.last[0][0], exact([0.5, 0.2], seconds=2.0, every=4000).last[0], atol=0.02)


def test_faults_say_what_went_first():
    euler = simulate.Simulator(slider(), dt=0.01, method="euler", controller=damper(1e6))
    assert "diverged" in euler([0.0], [1.0], seconds=2.0).failures[0]
    assert "the start is not finite" in euler([0.0], [np.nan], seconds=0.1).failures[0]
    root = simulate.Simulator(slider(), dt=0.01, controller=lambda t, q, v: np.sqrt(0.05 - t) + 0.0 * v)
    run = root([0.0], seconds=0.2)
    assert run.failed == 6
    assert "controller returned" in run.failures[0]
    push = np.zeros((20, 6))
    push[7] = np.nan
    pushed = simulate.Simulator(slider(), dt=0.01)([0.0], seconds=0.2, wrenches={"cart": push})
    assert pushed.failed == 8
    assert "pushes" in pushed.failures[0]
    assert "NOT FINITE from t = 0.08 s" in pushed.plot().get_suptitle()


def test_steps_that_are_too_long_to_bounce():
    robot, contacts = ball()
    ground = simulate.Ground(restitution=0.5)
    long = simulate.Simulator(robot, dt=0.1, contacts=contacts, ground=ground).advice()
    assert "below 2.9 m/s" in long[0]
    assert "at most 0.02 s" in long[0]
    assert simulate.Simulator(robot, dt=0.01, contacts=contacts, ground=ground).advice() == ()
    assert simulate.Simulator(robot, dt=0.1, contacts=contacts).advice() == ()


def test_a_controller_is_judged_along_the_run():
    """Fast at home alone, or along the run alone: 2 kg with a damper whose gain depends on where it is."""

    def law(t, q, v):
        return -np.where(q > 0.5, 500.0, 20.0) * v

    simulator = simulate.Simulator(slider(), dt=0.01, controller=law)
    assert simulator.advice() == ()
    near, far = simulator([0.0], [0.1], seconds=0.2), simulator([0.6], [0.1], seconds=0.2)
    assert simulator.advice(near) == ()
    assert "decays at 250/s" in simulator.advice(far)[0]
    assert "decays at 250/s" in simulator.advice(near, q=[0.6])[0]


def test_a_controller_that_switches_is_no_stiff_one():
    """A force of 1 N on 2 kg changes its sign at 0.1 m, through which the run goes."""
    simulator = simulate.Simulator(slider(), dt=0.01, controller=lambda t, q, v: np.where(q > 0.1, -1.0, 1.0) + 0.0 * v)
    assert simulator.advice(q=[0.1 + 5e-7]) == ()
    assert simulator.advice(simulator([0.0], seconds=0.5)) == ()


@pytest.mark.filterwarnings("ignore::multibody.errors.RobotFileWarning")
def test_talos_is_judged_where_it_is():
    """A leg in the air whose foot is controlled in the task space: singular with straight legs, as at home."""
    robot = mb.load(str(urdf("talos_data/robots/talos_reduced.urdf")), floating=False)
    bent = robot.home()
    legs = [robot.tree.joint(f"leg_left_{k}_joint").v.start for k in range(1, 7)]
    for k, angle in ((3, -0.5), (4, 1.0), (5, -0.5)):
        bent[robot.tree.joint(f"leg_left_{k}_joint").q.start] = angle
    goal = robot.pose("leg_left_6_link", bent)

    def law(t, q, v):
        J = robot.jacobian("leg_left_6_link", q, "left")[:, legs]
        error = robot.pose("leg_left_6_link", q).boxminus(goal)
        pull = np.linalg.solve(J + 1e-9 * np.eye(6), -100.0 * error) - 20.0 * v[legs]
        return robot.inverse_dynamics(q, v, np.eye(robot.nv)[:, legs] @ pull)

    simulator = simulate.Simulator(robot, dt=0.001, method="verlet", controller=law)
    run = simulator(bent, seconds=0.2)
    assert np.abs(run.q - bent).max() < 1e-6
    assert simulator.advice(run) == ()
    assert "explicit and" in simulator.advice()[0]


def test_runs_of_another_robot_are_refused():
    robot, contacts = ball()
    run = simulate.Simulator(robot, dt=0.01, contacts=contacts)(at(robot, 0.5), seconds=0.02)
    with pytest.raises(mb.InputError, match="run: expected one of the robot 'slider', got one of 'ball'"):
        simulate.Simulator(slider(), dt=0.01).advice(run)
    heavy = mb.Robot(mb.Builder("ball").body("ball", shape=mb.model.shapes.Sphere(0.1), mass=3.0).model(floating=True))
    with pytest.raises(mb.InputError, match="got one of 'ball', of other numbers"):
        simulate.Simulator(heavy, dt=0.01).advice(run)
