"""Robots that stand by whole-body control: a loop in NumPy by default; the claims of benchmarks/balance.py are slow."""

from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

import multibody as mb
from multibody import control

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
    held, sizes, q, v = dog.constraints(feet), body.problem.plan(False), np.array(dog.home()), np.zeros(18)
    with mb.eager(), np.errstate(all="ignore"):
        start, places = dog.center_of_mass(q), [dog.pose(foot.frame, q).position for foot in feet]
        for t in DT * (np.arange(steps) + 0.5):
            wanted = np.array([[np.sin(10 * t), 0.0, 0.5 * np.cos(10 * t)]])
            values = {"com_acceleration": wanted, "trunk_acceleration": np.zeros((1, 3))}
            answer = body.problem.solution({"q": q[None], "v": v[None], **values}, sizes)
            assert not answer.missed.any()
            a, f = dog.constrained_dynamics(held, q, v, answer.tau[0])
            np.testing.assert_allclose(a, answer.a[0], atol=1e-7 * max(1, np.abs(a).max()))
            np.testing.assert_allclose(f, answer.f[0], atol=1e-6)
            q, v = dog.integrate(q, v + DT / 2 * a, DT), v + DT * a
        t = steps * DT
        moved = np.array([t / 10 - np.sin(10 * t) / 100, 0.0, (1 - np.cos(10 * t)) / 200])
        np.testing.assert_allclose(dog.center_of_mass(q) - start, moved, atol=1e-6)
        for foot, place in zip(feet, places, strict=True):
            np.testing.assert_allclose(dog.pose(foot.frame, q).position, place, atol=1e-6)


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
