"""The energy limiter leaves robots alone whose targets jump from step to step, so that runs and gradients agree."""

import numpy as np
import pytest

import multibody as mb
from multibody import simulate
from multibody.model.joint import Mimic
from multibody.model.joints import Revolute
from multibody.model.shapes import Box

from .bodies import G, leg


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


@pytest.mark.parametrize("dt", [0.002, 0.005])
def test_standing_on_ground_with_restitution(dt):
    """Implicit forces react to impacts in the middle of the step: their delays are no gain of energy."""
    simulator, q = standing_quadruped(dt, 80.0, 2.0)
    kp, e = np.tile([40.0, 80.0, 200.0], 8), np.repeat([0.3, 0.5, 0.8, 1.0], 6)
    targets = q[7:] + 0.05 * np.random.default_rng(0).standard_normal((24, round(0.5 / dt), 12))
    parameters = {"kp": kp, "kd": kp / 40.0, "restitution": e}
    run = simulator(np.tile(q, (24, 1)), seconds=0.5, inputs=targets, parameters=parameters)
    assert run.share_taken.max() < 1e-9
    plastic = simulator(q, seconds=0.5, inputs=targets[0], parameters={"kp": kp[0], "kd": kp[0] / 40.0})
    assert np.abs(run.q[0, -1] - plastic.q[-1]).max() > 1e-3  # feet bounce


@pytest.mark.parametrize("e", [0.5, 1.0])
def test_a_rod_that_bounces_gains_no_energy(e):
    """The ends of a thin rod hit the ground one after the other, from random states."""
    builder = mb.Builder("rod").body("rod", shape=Box((1.0, 0.02, 0.02)), mass=1.0)
    robot = mb.Robot(builder.model(floating=True))
    contacts = [simulate.SphereContact("rod", 0.01, (x, 0.0, 0.0)) for x in (-0.5, 0.5)]
    rng = np.random.default_rng(0)
    q, v = robot.random(rng, 32), 0.5 * rng.standard_normal((32, 6))
    q[:, :3] = 0.0, 0.0, 0.8
    ground = simulate.Ground(friction=0.3, restitution=e)
    run = simulate.Simulator(robot, dt=0.002, contacts=contacts, ground=ground)(q, v, seconds=1.5)
    start = robot.kinetic_energy(q, v) + robot.potential_energy(q)
    assert (run.energy().max(axis=1) - start).max() < 1e-4 * G * 0.8


def ball():
    return mb.Robot(mb.Builder("ball").body("ball", shape=mb.model.shapes.Sphere(0.1), mass=0.4).model(floating=True))


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("method", ["contact", "soft"])
def test_a_robot_that_whirls_does_not_slow_the_ball_beside_it(method, dtype):
    """Each moves as it does alone: the ball was 64 mm off within 0.2 s."""
    contact = simulate.SphereContact("ball", radius=0.1)
    settings = {"dt": 0.002, "method": method, "contacts": [contact], "dtype": dtype}
    q, v = ball().home(), np.array([1.0, 0.0, 3.0, 5.0, 1.0, 2.0])
    alone = simulate.Simulator(ball(), **settings)(q, v, seconds=0.4)
    scene = simulate.Simulator(mb.load("double-pendulum").beside(ball()), **settings)
    both = scene([0.3, 0.5, *q], [150.0, -300.0, *v], seconds=0.4)
    np.testing.assert_allclose(both.q[:, 2:], alone.q, atol=1e-9 if dtype == "float64" else 1e-3)
    assert both.share_taken > 0.1
    assert alone.taken == 0


def test_parts_exchange_no_forces():
    """Robots side by side, two arms on one wall; not what touches, what mimics, and what constraints hold."""
    two, settings = ball().beside(ball(), prefix="b-"), {"dt": 0.002}
    spheres = [simulate.SphereContact(frame, radius=0.1) for frame in two.frames]

    def parts(robot, **more):
        return len(simulate.Simulator(robot, **settings | more).start(robot.home())["bound"]) // 4

    def arms(**more):
        b = mb.Builder("arms").body("wall")
        for name in "ab":
            b.body(name, shape=Box((0.1, 0.1, 0.1)), mass=1.0)
            b.joint(name, Revolute("x"), parent="wall", child=name, **(more if name == "b" else {}))
        return mb.Robot(b.model())

    assert parts(ball()) == 1
    assert parts(two, contacts=spheres) == 2
    assert parts(two, pairs=[simulate.SpherePair(*spheres)]) == 1
    assert parts(two, constraints=[mb.constraints.PointContact("held", two.frames[0])]) == 1
    assert parts(arms()) == 2
    assert parts(arms(mimic=Mimic("a"))) == 1


def test_the_limiter_costs_few_operations():
    simulator, q = standing_quadruped(5e-3, 80.0, 2.0)
    simulator(q, seconds=5e-3)
    (scan,) = simulator._scans.values()
    assert scan.ops.total() < 9600, "9,531 before returned work had a bound"
