"""Derivatives of constrained dynamics against finite differences: regular and redundant rows, loops, masks."""

import numpy as np
import pytest
from hypothesis import assume, given

import multibody as mb
from multibody.algorithms import constrained_dynamics as dynamics
from multibody.algorithms import constraint_projection as projection
from multibody.algorithms.constrained_dynamics_derivatives import constrained_dynamics_derivatives
from multibody.algorithms.constraints import (
    ConstraintSet,
    Distance,
    FrameContact,
    HingeClosure,
    PointClosure,
    PointContact,
    RollingContact,
    SurfaceContact,
)

from ..laws.test_random_constraints import held
from ..laws.tools import near
from ..oracles.robot_data import urdf
from .states import along_each, by_each, few
from .test_constraints import CORNERS, FEET, QUADRUPED, closed, consistent, four_bar

LOCKED = {joint.name: 0.3 for joint in QUADRUPED.joints[1:] if joint.name.startswith(("lh", "rh", "rf-hip"))}
FRONT = mb.Robot(QUADRUPED).lock(LOCKED).model  # two legs are enough, and quicker
REDUNDANT = ConstraintSet(FRONT, [SurfaceContact("sole", FEET[0], CORNERS), Distance("rod", FEET[1], "trunk", 0.3)])
STANDING = ConstraintSet(FRONT, [PointContact(f, f, anchor=(0.1, 0.2, 0.0)) for f in FEET[:2]])


def differences(constraints, q, v, tau, wrenches=None, **options):
    """The derivatives in the order of ours."""

    def of(part, q, v, tau):
        return dynamics.constrained_dynamics(constraints.tree, constraints, q, v, tau, wrenches, **options)[part]

    return [
        np.moveaxis(found, 0, -1)
        for part in (0, 1)
        for found in (
            along_each(constraints.model, lambda x: of(part, x, v, tau), q),  # noqa: B023
            by_each(lambda x: of(part, q, x, tau), v),  # noqa: B023
            by_each(lambda x: of(part, q, v, x), tau),  # noqa: B023
        )
    ]


def check(constraints, q, v, tau, wrenches=None, within=1e-6, **options):
    ours = constrained_dynamics_derivatives(constraints.tree, constraints, q, v, tau, wrenches, **options)
    for one, expected in zip(ours, differences(constraints, q, v, tau, wrenches, **options), strict=True):
        near(one, expected, within * max(1.0, np.abs(expected).max()))
    return ours


@pytest.mark.parametrize(
    ("constraints", "options"),
    [
        (STANDING, {"baumgarte": (100.0, 20.0), "wrenches": {FEET[1]: np.arange(6.0), "trunk": -np.arange(6.0)}}),
        pytest.param(STANDING, {"active": [0, 1]}, marks=pytest.mark.slow),
        pytest.param(REDUNDANT, {}, marks=pytest.mark.slow),
        (REDUNDANT, {"active": [1, 0], "baumgarte": (10.0, 2.0)}),
    ],
    ids=["more", "one foot", "redundant", "sole"],
)
def test_legs(constraints, options):
    q, v, tau = consistent(constraints)
    ours = check(constraints, q, v, tau, **options)
    near(ours.acceleration_by_tau, ours.acceleration_by_tau.T, 1e-9)  # N_c M^-1


@pytest.mark.slow
def test_rows_that_cannot_all_be_met():
    """Redundant rows at a velocity that they forbid: the forces are those of least squares, and so are derivatives."""
    q, tau = consistent(REDUNDANT)[::2]
    v = np.random.default_rng(4).standard_normal(FRONT.nv)
    found = dynamics.constrained_dynamics(REDUNDANT.tree, REDUNDANT, q, v, tau)
    assert np.abs(REDUNDANT.jacobian(q) @ found.acceleration + REDUNDANT.bias(q, v)).max() > 1e-3
    check(REDUNDANT, q, v, tau)


def test_exact_is_the_same_for_regular_rows():
    q, v, tau = consistent(STANDING)
    both = [
        constrained_dynamics_derivatives(STANDING.tree, STANDING, q, v, tau, method=method)
        for method in dynamics.METHODS
    ]
    for one, two in zip(*both, strict=True):
        near(one, two, 1e-8 * max(1.0, np.abs(two).max()))


@pytest.mark.parametrize("cut", [PointClosure, HingeClosure])
def test_four_bar(cut):
    """In a plane, one row of a point and three of a hinge are redundant."""
    model = four_bar()
    q = closed(model)
    loop = ConstraintSet(model, [cut("loop", "end", "pin")])
    assert loop.ranks(q).rank == 2
    v = np.linalg.svd(loop.jacobian(q))[2][-1] * 2.0
    check(loop, q, v, np.array([1.0, -2.0, 3.0]), within=1e-5)


def test_rolling():
    b = mb.Builder("ball").body("ball", mb.SpatialInertia(mass=3.0, com=[0.01, 0, 0], inertia=np.eye(3)))
    model = b.model(floating=True)
    roll = ConstraintSet(model, [RollingContact("ground", "ball", 0.2, (0.0, 0.6, 0.8))])
    q = np.concatenate([[0.5, -0.3, 0.2], mb.Rotation.random(np.random.default_rng(0)).quaternion])
    v = projection.projected_velocity(roll.tree, roll, q, np.arange(1.0, 7.0))
    check(roll, q, v, np.arange(6.0), baumgarte=(10.0, 3.0))


@pytest.mark.parametrize(
    ("path", "contacts"),
    [
        (
            "anymal_b_simple_description/robots/anymal.urdf",
            [PointContact(f, f) for f in ("LF_FOOT", "RF_FOOT", "LH_FOOT", "RH_FOOT")],
        ),
        pytest.param(
            "talos_data/robots/talos_reduced.urdf",
            [FrameContact("left", "left_sole_link"), SurfaceContact("right", "right_sole_link", CORNERS)],
            marks=pytest.mark.slow,
        ),
    ],
    ids=["anymal", "talos"],
)
@pytest.mark.filterwarnings("ignore::multibody.errors.RobotFileWarning")  # of files of others
def test_walking_machines(path, contacts):
    robot = mb.load(urdf(path), floating=True)
    constraints = ConstraintSet(robot.model, contacts)
    check(constraints, *consistent(constraints, seed=1), within=1e-5)


def test_batches():
    """Sample by sample, also with inputs that broadcast."""
    loop = ConstraintSet(four_bar(), [PointClosure("loop", "end", "pin"), PointContact("tip", "end")])
    q, v = np.random.default_rng(1).standard_normal((2, 3, 3))
    tau, active = np.arange(3.0), np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
    options = {"baumgarte": (10.0, 2.0)}
    whole = constrained_dynamics_derivatives(loop.tree, loop, q, v, tau, active=active, **options)
    for k in range(3):
        single = constrained_dynamics_derivatives(loop.tree, loop, q[k], v[k], tau, active=active[k], **options)
        for one, two in zip(whole, single, strict=True):
            near(one[k], two, 1e-9 * max(1.0, np.abs(two).max()))


@few
@given(held(gap=3e-2, most=2))
def test_random_constraints(c):
    """On random trees, redundant sets among them, where the steps of differences keep the rank."""
    expected = differences(c.set, c.s.q, c.v, c.tau)
    ours = constrained_dynamics_derivatives(c.set.tree, c.set, c.s.q, c.v, c.tau)
    size = max(1.0, *(np.abs(x).max(initial=0.0) for x in expected))
    assume(size < 1e4)
    for one, other in zip(ours, expected, strict=True):
        near(one, other, 1e-5 * size)
