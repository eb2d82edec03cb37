"""Weights of `WholeBody` within a level of motions and forces, whatever the mass of the robot."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import multibody as mb
from multibody import control
from multibody.model.joints import Prismatic

SLIDER = control.PostureTask("slider", ("slider",))


@pytest.fixture(scope="module")
def carriage():
    """A floating carriage of 30 kg, and a load of 10 kg that slides through its centre."""
    b = mb.Builder("carriage", gravity=(0.0, 0.0, 0.0))
    for name, mass in (("carriage", 30.0), ("load", 10.0)):
        b.body(name, shape=mb.model.shapes.Sphere(0.1), mass=mass)
    return mb.Robot(b.joint("slider", Prismatic("x"), parent="carriage", child="load").model(floating=True))


@pytest.mark.parametrize("eliminate", [None, False])
@pytest.mark.parametrize("weight", [0.0025, 0.01])
@pytest.mark.parametrize("kind", ["force", "torque"])
def test_a_level_of_a_motion_and_a_force_minimises_the_weighted_squares(carriage, kind, weight, eliminate):
    """A contact holds the carriage: tau = f = m a, so (a - 1)² + weight (m a)² is least at a = 1/(1 + weight m²)."""
    hold = mb.constraints.PointContact("hold", "carriage")
    effort = control.ForceTask("effort", "hold", weight)
    if kind == "torque":
        effort = control.TorqueTask("effort", ("slider",), weight)
    body = control.WholeBody(carriage, [hold], [[SLIDER, effort]], eliminate=eliminate)
    with mb.eager():
        tau, a, f, report = body(
            carriage.neutral(), np.zeros(7), slider_acceleration=[1.0], effort=np.zeros(3 if kind == "force" else 1)
        )
    best = 1.0 / (1.0 + weight * 10.0**2)
    assert_allclose(a, [0.0] * 6 + [best], atol=1e-9)
    assert_allclose([tau[6], f[0]], 10.0 * best, rtol=1e-9)
    assert_allclose(report.slack("slider"), best - 1.0, rtol=1e-9)
