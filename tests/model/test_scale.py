"""Scaled robots are similar to the original: in form, in energy, and in what acts in their joints."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from multibody.errors import InputError
from multibody.model import check_configuration, configuration
from multibody.model.actuation import passive
from multibody.model.actuator import Equality
from multibody.model.builder import Builder
from multibody.model.joint import Passive
from multibody.model.joints import Helical, Prismatic
from multibody.model.model import Model
from multibody.model.shapes import Box, Capsule, Cylinder, Ellipsoid, Mesh, Plane, Sphere
from multibody.model.surgery import scale

from .by_hand import mass_matrix as body_mass_matrix
from .links import gripper, own_joints, poses
from .trees import models, random_model

SEEDS = st.integers(0, 2**32 - 1)


def _lengths(model: Model, s: float, which: str) -> np.ndarray:
    units = [unit for joint in own_joints(model) for unit in getattr(joint.kind, which)]
    return np.array([s if unit == "m" else 1.0 for unit in units])


@given(models(most=6, passive=False), SEEDS, st.sampled_from([None, 5.0]))
def test_scale_multiplies_lengths_and_masses(model, seed, mass):
    rng = np.random.default_rng(seed)
    s = rng.uniform(0.3, 3.0)
    m = s**3 if mass is None else mass
    new = scale(model, s, mass)
    q, D = configuration.random(model.tree, rng), _lengths(model, s, "rates")
    q_new = q * _lengths(model, s, "units")
    check_configuration.check(new.tree, q_new)
    before, after = poses(model, q), poses(new, q_new)
    for name, pose in before.items():
        np.testing.assert_allclose(after[name].position, s * pose.position, atol=1e-11)
        np.testing.assert_allclose(after[name].rotation.matrix, pose.rotation.matrix, atol=1e-12)
    # energy is mass times length squared
    expected = m * s**2 * body_mass_matrix(model, q)
    np.testing.assert_allclose(D[:, None] * body_mass_matrix(new, q_new) * D, expected, atol=1e-9, rtol=1e-10)
    np.testing.assert_allclose(new.tree.velocity_limits, model.tree.velocity_limits * D / s**0.5)
    np.testing.assert_allclose(new.tree.effort_limits, model.tree.effort_limits * m * s / D)


@given(SEEDS, st.sampled_from([None, 5.0]))
def test_scaled_robots_are_similar_in_the_same_gravity(seed, mass):
    rng = np.random.default_rng(seed)
    kinds = ("revolute", "continuous", "prismatic", "helical", "universal", "spherical", "translational")
    model = random_model(rng, 5, kinds=kinds, mimic=0.5)
    s = rng.uniform(0.3, 3.0)
    m = s**3 if mass is None else mass
    new = scale(model, s, mass)
    q, v = configuration.random(model.tree, rng), rng.standard_normal(model.nv)
    D, q_new = _lengths(model, s, "rates"), q * _lengths(model, s, "units")
    np.testing.assert_allclose(D**2 * new.armature, m * s**2 * model.armature)
    # work is mass times length, in the same gravity
    np.testing.assert_allclose(
        D * passive(new.tree, q_new, D * v / s**0.5), m * s * passive(model.tree, q, v), rtol=1e-9
    )


def test_scale_reaches_shapes_motors_homes_and_frames():
    b = Builder("shapes").body("base").body("lift", shape=Box([1, 2, 3]), density=1000.0)
    for shape in (Cylinder(1, 2), Capsule(1, 2), Sphere(1), Ellipsoid([1, 2, 3]), Mesh("a.stl", None), Plane()):
        b.shape("lift", shape, pose=[1.0, 0.0, 0.0])
    b.joint("j", Prismatic("z"), parent="base", child="lift", passive=Passive(stiffness=1.0, rest=(0.1,)))
    b.body("nut").joint("n", Helical("z", pitch=0.01), parent="lift", child="nut")
    b.frame("tip", "nut", [0.0, 0.0, 1.0])
    b.actuator("ram", "j", gear=3.0, rotor_inertia=2.0, effort=5.0)
    b.actuator("spindle", "n", rotor_inertia=2.0, effort=5.0)
    b.equality(Equality("connect", "lift", "nut", (1.0, 2.0, 3.0), name="pin"))
    new = scale(b.model(home=[0.5, 0.25]), 2.0)
    shapes = [each.shape for each in new.link("lift").visuals]
    assert shapes == [
        Box([2, 4, 6]), Cylinder(2, 4), Capsule(2, 4), Sphere(2), Ellipsoid([2, 4, 6]),
        Mesh("a.stl", None, (2.0, 2.0, 2.0)), Plane(),
    ]  # fmt: skip
    assert isinstance(shapes[0], Box)
    assert new.link("lift").inertia == shapes[0].inertia(density=1000.0)
    np.testing.assert_array_equal(new.link("lift").collisions[1].pose.position, [2.0, 0.0, 0.0])
    assert new.joint("n").kind == Helical("z", pitch=0.02)
    np.testing.assert_array_equal(new.tree.frame("tip")[1].position, [0.0, 0.0, 2.0])
    assert [(a.gear, a.rotor_inertia, a.effort) for a in new.actuators or ()] == [(3.0, 16.0, 40.0), (1.0, 64.0, 80.0)]
    assert new.home == (1.0, 0.25)
    assert new.joint("j").passive.rest == (0.2,)
    assert "equality 'pin' (connect) are not scaled" in new.diagnostics[-1].message


def test_scale_refuses():
    with pytest.raises(InputError, match="scale gripper: expected a positive factor, got -1"):
        scale(gripper(), -1.0)
    with pytest.raises(InputError, match="expected a positive mass, got 0"):
        scale(gripper(), 2.0, 0.0)
    for bad in (np.complex128(2.0 + 1.0j), "2", None, np.nan, np.array(2.0)):
        with pytest.raises(InputError, match="scale gripper: expected a positive factor, got "):
            scale(gripper(), bad)
    for bad in (1e200, 1e-200, 10**400, np.inf):
        with pytest.raises(InputError, match=r"scale gripper: expected a factor from 1e-60 to 1e\+60, got "):
            scale(gripper(), bad)
        with pytest.raises(InputError, match=r"scale gripper: expected a mass from 1e-60 to 1e\+60, got "):
            scale(gripper(), 2.0, bad)
    model = random_model(np.random.default_rng(0), 1, kinds=["cylindrical"], passive=True)
    with pytest.raises(InputError, match="'joint0' has one number for the lengths and the angles of a cylindrical"):
        scale(model, 2.0)
