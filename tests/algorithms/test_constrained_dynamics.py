"""Motion under constraints: what its functions refuse. Laws of it are in test_constraints and test_constraint_kinds."""

import numpy as np
import pytest

import multibody as mb
from multibody.algorithms import constrained_dynamics as dynamics
from multibody.algorithms.constraints import ConstraintSet, PointContact
from multibody.errors import InputError
from multibody.model import configuration

QUADRUPED = mb.load("quadruped").model


def test_bad_arguments_of_projections():
    held = ConstraintSet(QUADRUPED, [PointContact("a", "foot-lf", anchor=(0.0, 0.0, 0.0))])
    q, v = configuration.neutral(QUADRUPED), np.zeros(QUADRUPED.nv)
    for bad in (5, None, [held], QUADRUPED):
        for project in (dynamics.projected_configuration, lambda c, q: dynamics.projected_velocity(c, q, v)):
            with pytest.raises(InputError, match=f": expected a ConstraintSet, got {type(bad).__name__}"):
                project(bad, q)
    for bad in ("a", -1, 1.5, None, True):
        with pytest.raises(InputError, match=f"rounds: expected a whole number >= 0, got {bad!r}"):
            dynamics.projected_configuration(held, q, bad)
    for bad in (5, "a", None, np.zeros(3)):
        with pytest.raises(InputError, match=r"v needs the shape|v: expected"):
            dynamics.projected_velocity(held, q, bad)
    with pytest.raises(InputError, match="projected_velocity, q, v: batch shapes"):
        dynamics.projected_velocity(held, np.stack([q] * 2), np.stack([v] * 3))
