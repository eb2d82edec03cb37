"""Robots that stand by whole-body control: a loop in NumPy by default; the claims of benchmarks/balance.py are slow."""

from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

import multibody as mb
from multibody import control, simulate

DT = 0.001


@pytest.fixture
def balance(monkeypatch):
    monkeypatch.syspath_prepend(Path(__file__).parents[2] / "benchmarks")
    return import_module("balance")


def test_torques_hold_the_feet_and_move_the_centre_of_mass_as_wanted():
    """Torques of the controller, motion by constrained dynamics, which knows nothing of it; nothing is compiled."""
    dog, steps = mb.load("quadruped"), 15
    feet = [mb.constraints.PointContact(name, name) for name in dog.frames if name.startswith("foot")]
    levels = [[control.CenterOfMassTask("com"), control.OrientationTask("trunk", "trunk")]]
    body = control.WholeBody(dog, feet, levels, (control.TorqueLimits(), control.FrictionCones(0.5)))
    held, q, v = dog.constraints(feet), np.array(dog.home()), np.zeros(18)
    with mb.eager(), np.errstate(all="ignore"):
        start, places = dog.center_of_mass(q), [dog.pose(foot.frame, q).position for foot in feet]
        for t in DT * (np.arange(steps) + 0.5):
            wanted = np.array([[np.sin(10 * t), 0.0, 0.5 * np.cos(10 * t)]])
            values = {"com_acceleration": wanted, "trunk_acceleration": np.zeros((1, 3))}
            answer = body.problem.solution({"q": q[None], "v": v[None], **values})
            assert not answer.missed.any()
            a, f = dog.constrained_dynamics(held, q, v, answer.tau[0])
            assert_allclose(a, answer.a[0], atol=1e-7 * max(1, np.abs(a).max()))
            assert_allclose(f, answer.f[0], atol=1e-6)
            q, v = dog.integrate(q, v + DT / 2 * a, DT), v + DT * a
        t = steps * DT
        moved = np.array([t / 10 - np.sin(10 * t) / 100, 0.0, (1 - np.cos(10 * t)) / 200])
        assert_allclose(dog.center_of_mass(q) - start, moved, atol=1e-6)
        for foot, place in zip(feet, places, strict=True):
            assert_allclose(dog.pose(foot.frame, q).position, place, atol=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["quadruped", "anymal", "humanoid"])
def test_it_holds_its_feet_follows_a_circle_and_survives_pushes(balance, name):
    """With the perfect model, from 16 directions, at 1 kHz."""
    stand = getattr(balance, name)()
    error, slip = balance.circle(stand, seconds=2.0 if name == "quadruped" else 10.0)
    assert error < 2e-3
    assert slip < 1e-4
    assert balance.pushed(stand, stand.impulse, 1.5).all()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["anymal", "humanoid"])
def test_most_survive_whose_masses_and_friction_are_not_known(balance, name):
    stand = getattr(balance, name)()
    assert balance.pushed(stand, stand.impulse, 1.5, **balance.unknown(stand)).mean() >= 0.95


@pytest.mark.slow
def test_a_humanoid_stands_on_one_sole_and_lifts_the_other(balance):
    """A mask per contact, as an input: what is left of two soles is one, and then two again."""
    stand = balance.humanoid()
    robot, q, t = stand.robot, stand.q, DT * np.arange(4000)
    soles = [mb.constraints.SurfaceContact(foot, foot, balance.CORNERS) for foot in stand.feet]
    levels = [
        [control.CenterOfMassTask("com"), control.OrientationTask("upright", stand.trunk)],
        [control.PoseTask("swing", stand.feet[1])],
        [control.PostureTask("rest")],
    ]
    body = control.WholeBody(robot, soles, levels, (control.TorqueLimits(), control.FrictionCones(0.5)))

    def path(start, way, *times):
        """Place, rate and acceleration: there from the first time to the second, back from the third on."""
        parts = [control.trajectories.quintic(np.zeros(3), way, times[k + 1] - times[k]) for k in (0, 2)]
        there, back = (part(t - times[2 * k]) for k, part in enumerate(parts))
        return start + there[0] - back[0], there[1] - back[1], there[2] - back[2]

    (left, right), center = (robot.pose(foot, q) for foot in stand.feet), robot.center_of_mass(q)
    middle = left @ np.mean(balance.CORNERS, axis=0)
    com = path(center, (middle - center) * [1, 1, 0], 0.0, 1.5, 2.7, 4.0)
    swing = path(right.position, np.array([0, 0, 0.08]), 1.7, 2.1, 2.1, 2.5)
    active = np.ones((len(t), 2))
    active[(t > 1.7) & (t < 2.5), 1] = 0.0

    def law(_, q_now, v, wanted):
        (place, rate, bend), (at, up, faster) = (np.split(wanted[name], 3) for name in ("com", "swing"))
        springs = {"com": place, "com_velocity": rate, "com_acceleration": bend, "upright": mb.Rotation.identity()}
        springs |= {"swing": mb.Pose(right.rotation, at), "swing_kp": 400.0}
        for name, x in (("velocity", up), ("acceleration", faster)):
            springs[f"swing_{name}"] = np.concatenate([x, 0 * x])
        return body(q_now, v, **springs, rest=q, active=wanted["active"]).tau

    touching = [simulate.SphereContact(sole.frame, point=corner) for sole in soles for corner in balance.CORNERS]
    simulator = simulate.Simulator(robot, DT, "contact", touching, simulate.Ground(friction=0.8), law)
    inputs = {"com": np.hstack(com), "swing": np.hstack(swing), "active": active}
    run = simulator(q, seconds=4.0, inputs=inputs)
    assert np.linalg.norm(robot.center_of_mass(run.q) - com[0], axis=-1).max() < 1e-3
    assert robot.pose(stand.feet[1], run.q).position[:, 2].max() - right.position[2] > 0.079
    assert np.linalg.norm(robot.pose(stand.feet[0], run.q).position - left.position, axis=-1).max() < 1e-3
    air = (run.t > 1.75) & (run.t < 2.45)
    assert_allclose(run.forces[air][:, 4:], 0)
    assert_allclose(run.forces[:, :, 2].sum(axis=-1)[[1000, -1]], 9.81 * robot.mass, rtol=0.05)
