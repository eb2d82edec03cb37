"""Motion under constraints: what its functions refuse. Laws of it are in test_constraints and test_constraint_kinds."""

import re

import numpy as np
import pytest

import multibody as mb
from multibody.algorithms import constrained_dynamics as dynamics
from multibody.algorithms import constraint_projection as projection
from multibody.algorithms import impact as impacts
from multibody.algorithms.constraints import ConstraintSet, JointCoupling, PointContact
from multibody.errors import InputError
from multibody.model import configuration
from multibody.model.builder import Builder
from multibody.model.joint import Mimic
from multibody.model.joints import Revolute

QUADRUPED = mb.load("quadruped").model


def test_bad_arguments_of_projections():
    held = ConstraintSet(QUADRUPED, [PointContact("a", "foot-lf", anchor=(0.0, 0.0, 0.0))])
    q, v = configuration.neutral(QUADRUPED.tree), np.zeros(QUADRUPED.nv)
    for bad in (5, None, [held], (), QUADRUPED):
        for name, args in (("projected_configuration", (q,)), ("projected_velocity", (q, v))):
            with pytest.raises(InputError, match=re.escape(f"{name}: expected constraints, got {bad!r}")):
                getattr(projection, name)(QUADRUPED.tree, bad, *args)
    for bad in ("a", -1, 1.5, None, True):
        with pytest.raises(InputError, match=f"rounds: expected a whole number >= 0, got {bad!r}"):
            projection.projected_configuration(held.tree, held, q, bad)
    for bad in (5, "a", None, np.zeros(3)):
        with pytest.raises(InputError, match=r"v needs the shape|v: expected"):
            projection.projected_velocity(held.tree, held, q, bad)
    with pytest.raises(InputError, match="projected_velocity, q, v: batch shapes"):
        projection.projected_velocity(held.tree, held, np.stack([q] * 2), np.stack([v] * 3))


@pytest.mark.parametrize("name", ["contact_inertia", "consistent_inverse", "null_space_projector"])
def test_bad_matrices(name):
    function, one = getattr(projection, name), np.eye(3)
    for M, J, words in (
        (5, 6, r"M: expected a mass matrix \(..., nv, nv\), got shape \(\)"),
        (one[:2], one, r"M: expected a mass matrix \(..., nv, nv\), got shape \(2, 3\)"),
        ("a", one, "M: expected real floats"),
        (one, None, "J: expected real floats"),
        (one, np.eye(4), r"J: expected a matrix \(..., rows, 3\), got shape \(4, 4\)"),
        (one, one[0], r"J: expected a matrix \(..., rows, 3\), got shape \(3,\)"),
        (one, one[:0], r"J: expected a matrix \(..., rows, 3\), got shape \(0, 3\)"),
        (np.stack([one] * 2), np.stack([one] * 3), r"M, J: batch shapes \(2,\), \(3,\) do not broadcast"),
    ):
        with pytest.raises(InputError, match=f"{name}, {words}"):
            function(M, J)
    M, J = np.diag([1.0, 2.0, 4.0]), np.array([[1.0, 1.0, 0.0]])
    np.testing.assert_array_equal(function(M.tolist(), J.tolist()), function(M, J))
    np.testing.assert_allclose(mb.compile(function, (3, 3), (1, 3))(M, J), function(M, J), atol=1e-15)


def test_bad_arguments_of_a_support():
    one, w = np.eye(3), np.zeros(3)
    for J, task, wanted, words in (
        (5, one, w, r"J: expected a matrix \(..., rows, nv\), got shape \(\)"),
        (one, np.eye(4), np.zeros(4), r"task: expected a matrix \(..., rows, 3\), got shape \(4, 4\)"),
        (one, None, w, "task: expected real floats"),
        (one, one, np.zeros(4), r"wanted: expected an array of real floats of shape \(..., 3\), got shape \(4,\)"),
        (one, one, None, "wanted: expected an array"),
        (np.stack([one] * 2), one, np.zeros((3, 3)), r"J, task, wanted: batch shapes \(2,\), \(\), \(3,\)"),
    ):
        with pytest.raises(InputError, match=f"support_consistent_velocity, {words}"):
            projection.support_consistent_velocity(J, task, wanted)
    found = projection.support_consistent_velocity(one[:2].tolist(), one[2:].tolist(), [5])
    np.testing.assert_array_equal(found, [0, 0, 5])


def test_bad_arguments_of_motion():
    held = ConstraintSet(QUADRUPED, [PointContact("a", "foot-lf")])
    q, v = configuration.neutral(QUADRUPED.tree), np.zeros(QUADRUPED.nv)
    for bad in (5, None, QUADRUPED):
        for function, args in (
            (projection.projected_equations, (v, v)),
            (dynamics.constrained_dynamics, (v, v)),
            (impacts.impact, (v,)),
        ):
            with pytest.raises(InputError, match=re.escape(f"{function.__name__}: expected constraints, got {bad!r}")):
                function(QUADRUPED.tree, bad, q, *args)
            with pytest.raises(InputError, match=f"expected the Tree of a robot, .* got {type(bad).__name__}"):
                function(bad, held, q, *args)
    for args, words in (
        ((v, v, v), "q needs the shape"),
        ((q, q, v), "v needs the shape"),
        ((q, v, None), "tau: expected real floats"),
        ((q, v, 5), "tau needs the shape"),
        ((np.stack([q] * 2), v, np.stack([v] * 3)), "projected_equations, q, v, tau: batch shapes"),
    ):
        with pytest.raises(InputError, match=words):
            projection.projected_equations(held.tree, held, *args)


def test_an_impact_of_nothing_loses_no_energy():
    """Its sign, too, is that of zero, of the kernel as of the source."""
    robot, v = mb.Robot(QUADRUPED), np.ones(QUADRUPED.nv)
    held = robot.constraints([PointContact(foot, foot) for foot in ("foot-lf", "foot-rh")])
    for velocity, active in ((v, [0, 0]), (0 * v, [1, 1]), (-v, [0, 0])):
        for loss in (
            impacts.impact(held.tree, held, robot.home(), velocity, active=active).energy_loss,
            robot.impact(held, robot.home(), velocity, active=active).energy_loss,
        ):
            assert loss == 0
            assert not np.signbit(loss)
    assert robot.impact(held, robot.home(), v, active=[0, 1]).energy_loss > 0


def test_constraints_act_on_any_tree_that_has_their_frames():
    foot = PointContact("a", "foot-lf")
    held = ConstraintSet(QUADRUPED, [foot])
    robot = mb.Robot(QUADRUPED)
    q, v = robot.home(), np.zeros(QUADRUPED.nv)
    falling = dynamics.constrained_dynamics(QUADRUPED.tree, held, q, v, v)
    weightless = dynamics.constrained_dynamics(QUADRUPED.tree.with_values(gravity=np.zeros(3)), held, q, v, v)
    assert np.abs(falling.acceleration).max() > 1
    np.testing.assert_allclose(weightless.acceleration, 0, atol=1e-12)
    np.testing.assert_array_equal(dynamics.constrained_dynamics(QUADRUPED.tree, [foot], q, v, v).force, falling.force)
    panda = mb.load("panda")
    with pytest.raises(InputError, match="foot-lf"):
        dynamics.constrained_dynamics(panda.tree, held, panda.home(), np.zeros(panda.nv), np.zeros(panda.nv))


def test_couplings_of_joints_that_mimic_are_refused():
    b = Builder("pair").body("ground")
    for child, name, mimic in (("a", "one", None), ("b", "two", Mimic("one", 2.0)), ("c", "three", None)):
        b.body(child).joint(name, Revolute("z"), parent="ground", child=child, mimic=mimic)
    model = b.model()
    for joints in (("two", "three"), ("three", "two"), ("two",)):
        with pytest.raises(InputError, match=r"constraint 'gear': .* but 'two' mimics 'one'; take that"):
            ConstraintSet(model, [JointCoupling("gear", *joints)])
    assert ConstraintSet(model, [JointCoupling("gear", "one", "three")]).rows == 1
