"""A quadruped that stands in simulation, by whole-body control: a sample of benchmarks/standing.py."""

from importlib import import_module
from pathlib import Path

import pytest


@pytest.mark.slow
def test_it_holds_its_feet_follows_a_circle_and_survives_pushes(monkeypatch):
    monkeypatch.syspath_prepend(Path(__file__).parents[2] / "benchmarks")
    standing = import_module("standing")
    dog = standing.quadruped()
    error, slip = standing.circle(dog, seconds=2.0)
    assert error < 2e-3
    assert slip < 1e-4
    assert standing.pushed(dog, dog.impulse, 1.5).all()
