"""A quadruped that stands in simulation, by whole-body control: a sample of benchmarks/balance.py."""

from importlib import import_module
from pathlib import Path

import pytest


@pytest.mark.slow
def test_it_holds_its_feet_follows_a_circle_and_survives_pushes(monkeypatch):
    monkeypatch.syspath_prepend(Path(__file__).parents[2] / "benchmarks")
    balance = import_module("balance")
    dog = balance.quadruped()
    error, slip = balance.circle(dog, seconds=2.0)
    assert error < 2e-3
    assert slip < 1e-4
    assert balance.pushed(dog, dog.impulse, 1.5).all()
