"""Kinds of constraints by what they mean: ranks, anchors, closures on the world, wheels, and sets that contradict."""

from dataclasses import replace

import numpy as np
import pytest

import multibody as mb
from multibody.algorithms import constrained_dynamics as dynamics
from multibody.algorithms import constraint_projection as projection
from multibody.algorithms import kinematics
from multibody.algorithms.constrained_dynamics_derivatives import constrained_dynamics_derivatives
from multibody.algorithms.constraints import (
    ConstraintSet,
    Distance,
    FrameContact,
    HingeClosure,
    JointCoupling,
    PointClosure,
    PointContact,
    RollingContact,
    SurfaceContact,
    Weld,
)
from multibody.errors import InputError
from multibody.geometry import Pose, Rotation
from multibody.model import configuration
from multibody.model.builder import Builder
from multibody.model.shapes import Cylinder, Sphere

from ..every_law import each_case
from .test_constraints import CORNERS, EACH, FEET, HERE, QUADRUPED, THERE, four_bar, state

ROBOT = mb.Robot(QUADRUPED)
FRONT = ROBOT.lock({j.name: 0.3 for j in ROBOT.joints[1:] if "h-" in j.name}).model  # kernels of it compile sooner
NEW = tuple(
    each for each in EACH if each.name not in ("point", "surface", "frame", "wheel", "ball", "point loop", "weld")
)


# ---- ranks -----------------------------------------------------------------------------------------------------------


@each_case("constraint", EACH, ids=lambda c: c.name)
def test_rank_of_each(constraint):
    """Of one configuration a number, of a batch as many; only a surface has redundant rows. [RD §2.10.4]"""
    q = configuration.random(QUADRUPED.tree, np.random.default_rng(1), (2, 3))
    expected = 6 if isinstance(constraint, SurfaceContact) else constraint.rows
    found = constraint.rank(QUADRUPED.tree, q)
    assert found.shape == (2, 3)
    assert (found == expected).all()
    assert type(constraint.rank(QUADRUPED.tree, q[0, 0])) is int
    assert constraint.rank(QUADRUPED.tree, q[0, 0].astype(np.float32)) == expected  # rows of float32 look independent


def test_ranks_of_batches():
    """Sample by sample, with one that is special: a leg that is stretched out cannot hold its foot. [RD §2.10.4]"""
    q = configuration.random(QUADRUPED.tree, np.random.default_rng(1), (2, 3))
    feet = ConstraintSet(QUADRUPED, [PointContact(f, f) for f in FEET[:3]])
    found = feet.ranks(q)
    assert (found.rank == 9).all()
    assert (found.base == 6).all()
    assert (found.internal == np.full((2, 3), 3)).all()
    assert feet.ranks(q[:0]).rank.shape == (0, 3)
    model = four_bar()
    bent, straight = [0.3, 0.4, 0.5], [0.3, 0.0, 0.0]
    end = ConstraintSet(model, [PointContact("end", "end")])
    assert end.ranks([bent, straight]).rank.tolist() == [2, 1]
    assert end.ranks([bent, straight]).base.tolist() == [0, 0]
    assert end.ranks(straight) == (3, 1, 0, 1)


def test_ranks_of_what_is_no_configuration():
    feet = ConstraintSet(QUADRUPED, [PointContact(f, f) for f in FEET[:2]])
    q = configuration.random(QUADRUPED.tree, np.random.default_rng(1), (3,))
    with pytest.raises(InputError, match="expected finite numbers, got nan"):
        feet.ranks(q * np.nan)
    bad = q.copy()
    bad[1, 8] = np.inf
    for ask in (feet.ranks, lambda q: feet.constraints[0].rank(QUADRUPED.tree, q)):
        with pytest.raises(InputError, match=r"q \(sample 1\): expected finite numbers, got inf at joint"):
            ask(bad)
    pointed = Distance("rod", FEET[0], None, 1.0, second_point=kinematics.pose(QUADRUPED.tree, FEET[0], q[2]).position)
    for ask in (ConstraintSet(QUADRUPED, [pointed]).ranks, lambda q: pointed.rank(QUADRUPED.tree, q)):
        with pytest.raises(InputError, match=r"q \(sample 2\): the row 'rod\[0\]' has no direction here"):
            ask(q)


# ---- anchors ---------------------------------------------------------------------------------------------------------


def test_anchors_of_a_surface():
    """Its points are pulled to their anchors, and projected there."""
    q, v, tau = state(QUADRUPED)
    target = Pose(Rotation.elementary("z", 0.02), [0.01, -0.02, 0.03]) @ ROBOT.pose(FEET[0], q)
    anchors = tuple(tuple(target @ np.array(corner)) for corner in CORNERS)
    sole = SurfaceContact("sole", FEET[0], CORNERS, anchors)
    assert [part.anchor for part in sole.parts] == list(anchors)
    held = ConstraintSet(QUADRUPED, [sole])
    there = projection.projected_configuration(held.tree, held, q)
    np.testing.assert_allclose(ROBOT.pose(FEET[0], there).matrix, target.matrix, atol=1e-9)
    error, J = held.error(there), held.jacobian(there)
    assert np.abs(error).max() < 1e-9
    off = configuration.integrate(QUADRUPED.tree, there, 1e-7 * v)
    still = np.zeros(QUADRUPED.nv)
    a = dynamics.constrained_dynamics(held.tree, held, off, still, tau, baumgarte=(1e6, 0.0)).acceleration
    np.testing.assert_allclose(held.jacobian(off) @ a, -0.1 * (J @ v), atol=1e-5)
    free = ConstraintSet(QUADRUPED, [replace(sole, anchors=None)])
    assert not free.error(q).any()
    np.testing.assert_array_equal(free.jacobian(q), held.jacobian(q))
    with pytest.raises(InputError, match="expected as many anchors as points, 4, got 3"):
        SurfaceContact("sole", FEET[0], CORNERS, CORNERS[:3])


# ---- the world -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("closure", "contact"),
    [
        (
            PointClosure("a", FEET[0], None, (0.1, 0.2, 0.3), (0.4, 0.5, 0.6)),
            PointContact("a", FEET[0], (0.1, 0.2, 0.3), (0.4, 0.5, 0.6)),
        ),
        (Weld("a", FEET[0], None, second_pose=THERE), FrameContact("a", FEET[0], THERE)),
    ],
    ids=["point", "weld"],
)
def test_closures_on_the_world_are_contacts(closure, contact):
    q, v, _ = state(QUADRUPED)
    for function, args in (("error", (q,)), ("jacobian", (q,)), ("bias", (q, v))):
        found, expected = (getattr(one, function)(QUADRUPED.tree, *args) for one in (closure, contact))
        np.testing.assert_allclose(found, expected, atol=1e-13)


@pytest.mark.parametrize("kind", [PointClosure, HingeClosure, Weld, Distance])
def test_the_world_is_a_frame_that_is_fixed_to_it(kind):
    """A pin of the ground, by its name and by its place in the world."""
    model, more = four_bar(), ((0.4,) if kind is Distance else ())
    q, v, _ = state(model)
    place = {"second_pose": Pose(Rotation.identity(), [1.1, 0.0, 0.0])}
    if kind in (PointClosure, Distance):
        place = {"second_point": (1.1, 0.0, 0.0)}
    named, placed = kind("loop", "end", "pin", *more), kind("loop", "end", None, *more, **place)
    for function, args in (("error", (q,)), ("jacobian", (q,)), ("bias", (q, v))):
        found, expected = (getattr(one, function)(model.tree, *args) for one in (placed, named))
        np.testing.assert_allclose(found, expected, atol=1e-13)


def test_a_robot_on_a_tether():
    """A ball on a rod that ends at a point of the world is a spherical pendulum: the rod pulls by m (g + v²/l)."""
    b = Builder("ball", gravity=(0.0, 0.0, -10.0)).body("ball", shape=Sphere(0.1), mass=2.0)
    model = b.model(floating=True)
    rod = ConstraintSet(model, [Distance("rod", "ball", None, 1.5, second_point=(1.0, 2.0, 3.0))])
    q = np.array([1.0, 2.0, 1.5, 1.0, 0.0, 0.0, 0.0])
    v = np.array([0.3, 0.4, 0.0, 1.0, 2.0, 3.0])
    assert np.abs(rod.error(q)).max() < 1e-15
    a, f = dynamics.constrained_dynamics(rod.tree, rod, q, v, np.zeros(6))
    np.testing.assert_allclose(f, [-2.0 * (10.0 + 0.25 / 1.5)], atol=1e-12)
    np.testing.assert_allclose(a[:3], [0.0, 0.0, 0.25 / 1.5], atol=1e-12)


def test_closures_of_fixed_frames_on_the_world_are_refused():
    for kind in (PointClosure, HingeClosure, Weld):
        with pytest.raises(InputError, match="the frame 'pin' is fixed to the world and cannot move"):
            ConstraintSet(four_bar(), [kind("a", "pin")])


# ---- rolling ---------------------------------------------------------------------------------------------------------


def disc(shape, gravity):
    return Builder("disc", gravity=gravity).body("disc", shape=shape, mass=3.0).model(floating=True)


@pytest.mark.parametrize(
    ("shape", "axle", "part"), [(Sphere(0.2), None, 5 / 7), (Cylinder(0.2, 0.1), (0, 0, 1), 2 / 3)]
)
def test_rolling_down_a_plane_that_is_not_through_the_origin(shape, axle, part):
    """A ball by 5/7 of g sin θ, a wheel on its axle by 2/3; without an axle, an upright wheel rolls as a ball."""
    model = disc(shape, (2.0, 0.0, -9.6))
    q = np.concatenate([[0.5, -0.3, 0.7], Rotation.elementary("x", np.pi / 2).quaternion])
    for given in (axle, None):
        roll = ConstraintSet(model, [RollingContact("ground", "disc", 0.2, offset=0.5, axle=given)])
        assert np.abs(roll.error(q)).max() < 1e-15
        np.testing.assert_allclose(roll.error(q + 0.1 * np.eye(7)[2]), [0.0, 0.0, 0.1], atol=1e-15)
        a, f = dynamics.constrained_dynamics(roll.tree, roll, q, np.zeros(6), np.zeros(6))
        np.testing.assert_allclose(a[:3], [2.0 * part, 0.0, 0.0], atol=1e-12)
        np.testing.assert_allclose(f, [-3.0 * 2.0 * (1 - part), 0.0, 3.0 * 9.6], atol=1e-11)


def test_a_coin_that_spins_down():
    """A thin disc whose centre rests while its edge rolls around, with the known rate Ω² = 4 g / (r sin α)."""
    r, g, tilt = 0.2, 9.6, 0.7
    model = disc(Cylinder(r, 1e-9), (0.0, 0.0, -g))
    roll = ConstraintSet(model, [RollingContact("ground", "disc", r, axle=(0, 0, 1))])
    R = Rotation.elementary("z", 0.4) @ Rotation.elementary("y", tilt)  # x of the disc goes down to its lowest point
    q = np.concatenate([[0.1, 0.2, r * np.sin(tilt)], R.quaternion])
    assert np.abs(roll.error(q)).max() < 1e-15
    rate = np.sqrt(4 * g / (r * np.sin(tilt)))
    B_w = np.array([-rate * np.sin(tilt), 0.0, 0.0])  # the disc turns about the line from its centre to the ground
    v = np.concatenate([np.zeros(3), B_w])
    assert np.abs(roll.jacobian(q) @ v).max() < 1e-14
    a, f = dynamics.constrained_dynamics(roll.tree, roll, q, v, np.zeros(6))
    W_w = R @ B_w
    np.testing.assert_allclose(f, [0.0, 0.0, 3.0 * g], atol=1e-9)
    np.testing.assert_allclose(a[:3], np.zeros(3), atol=1e-9)
    np.testing.assert_allclose(R @ a[3:], rate * np.cross([0.0, 0.0, 1.0], W_w), atol=1e-7)


def test_a_coin_keeps_its_energy():
    """It rolls along a curve, tilted, and touches the ground all the time."""
    model = disc(Cylinder(0.2, 0.01), (0.0, 0.0, -9.6))
    robot, roll = mb.Robot(model), ConstraintSet(model, [RollingContact("ground", "disc", 0.2, axle=(0, 0, 1))])
    R = Rotation.elementary("x", 1.3)
    q = projection.projected_configuration(roll.tree, roll, np.concatenate([[0.0, 0.0, 0.2], R.quaternion]))
    v = projection.projected_velocity(roll.tree, roll, q, np.array([2.0, 0.0, 0.0, 0.3, 0.5, -10.0]))
    start, dt = robot.kinetic_energy(q, v) + robot.potential_energy(q), 1e-3

    def change(q, v):
        return dt * robot.constrained_dynamics(roll, q, v, np.zeros(6)).acceleration

    height = q[2]
    for _ in range(300):  # by the midpoint
        half = robot.integrate(q, dt / 2 * v), v + change(q, v) / 2
        q, v = robot.integrate(q, dt * half[1]), v + change(*half)
    assert abs(q[2] - height) > 1e-3
    assert np.abs(roll.error(q)).max() < 1e-5
    assert np.abs(roll.jacobian(q) @ v).max() < 1e-3
    assert abs(robot.kinetic_energy(q, v) + robot.potential_energy(q) - start) < 1e-4 * start


def test_bad_axles():
    for given in ((0.0, 0.0, 0.0), (0.0, 2.0, 0.0)):
        with pytest.raises(InputError, match="normal and axle of length one"):
            ConstraintSet(QUADRUPED, [RollingContact("a", FEET[0], 0.1, axle=given)])
    with pytest.raises(InputError, match="expected a finite number, got nan"):
        RollingContact("a", FEET[0], 0.1, offset=np.nan)


# ---- sets that contradict --------------------------------------------------------------------------------------------


def apart(**shifts):
    return [PointContact(name, FEET[0], anchor=(x, 0.0, 0.0)) for name, x in shifts.items()]


@each_case(
    "constraints, words",
    [
        (apart(a=0.0, b=1.0), "'a' and 'b' hold two points of 'lf-shank', 0 m apart, at places 1 m apart"),
        ([SurfaceContact("sole", FEET[0], CORNERS[:2], CORNERS[::2][:1] + CORNERS[3:])], "'sole' holds two points"),
        ([*apart(a=0.0), PointClosure("b", FEET[0], None, (0.1, 0.0, 0.0))], "'a' and 'b' hold two points"),
        ([FrameContact("a", FEET[0], HERE), Weld("b", FEET[0], None, HERE, THERE)], "'a' and 'b' hold two points"),
        ([*apart(a=0.0), HingeClosure("b", FEET[0], None, THERE, HERE)], "'a' and 'b' hold two points"),
    ],
    ids=["points", "surface", "closure", "frames", "hinge"],
)
def test_anchors_that_no_pose_meets(constraints, words):
    with pytest.raises(InputError, match=words):
        ConstraintSet(QUADRUPED, constraints)
    assert ConstraintSet(QUADRUPED, constraints, alternatives=True).rows


def test_anchors_that_agree():
    """On different bodies, or where one pose meets all of them, in float32, and by another frame of the body."""
    anchor = HERE @ np.array(CORNERS[1])
    shank_H_foot = QUADRUPED.tree.frame(FEET[0])[1]
    assert np.linalg.norm(shank_H_foot.position) > 0.1
    ConstraintSet(QUADRUPED, [*apart(a=0.0), replace(apart(b=1.0)[0], frame=FEET[1])])
    ConstraintSet(
        QUADRUPED,
        [
            FrameContact("a", FEET[0], HERE),
            PointContact("b", FEET[0], CORNERS[1], tuple(anchor.astype(np.float32))),
            SurfaceContact("c", FEET[0], CORNERS, tuple(tuple(HERE @ np.array(corner)) for corner in CORNERS)),
            Weld("d", FEET[0], None, THERE, HERE @ THERE),
            HingeClosure("e", FEET[0], None, THERE, HERE @ THERE),
            FrameContact("f", "lf-shank", HERE @ shank_H_foot.inverse()),
        ],
    )


def test_alternatives_are_chosen_by_a_mask():
    q, _, tau = state(QUADRUPED)
    both = ConstraintSet(QUADRUPED, apart(a=0.0, b=1.0), alternatives=True)
    still = np.zeros(QUADRUPED.nv)
    for k, one in enumerate(both.constraints):
        found = dynamics.constrained_dynamics(
            both.tree, both, q, still, tau, baumgarte=(100.0, 20.0), active=np.eye(2)[k]
        )
        alone = dynamics.constrained_dynamics(QUADRUPED.tree, [one], q, still, tau, baumgarte=(100.0, 20.0))
        np.testing.assert_allclose(found.acceleration, alone.acceleration, atol=1e-7)


def test_contradictions_give_least_squares():
    """Two anchors 1 m apart: the foot is pulled to the middle, and no acceleration leaves less."""
    q, _, tau = state(QUADRUPED)
    still, gains = np.zeros(QUADRUPED.nv), (100.0, 20.0)
    both = ConstraintSet(QUADRUPED, apart(a=0.0, b=1.0), alternatives=True)
    middle = ConstraintSet(QUADRUPED, apart(middle=0.5))
    a = dynamics.constrained_dynamics(both.tree, both, q, still, tau, baumgarte=gains).acceleration
    expected = dynamics.constrained_dynamics(middle.tree, middle, q, still, tau, baumgarte=gains).acceleration
    np.testing.assert_allclose(a, expected, atol=1e-7)
    left = both.jacobian(q) @ a + 100.0 * both.error(q)
    np.testing.assert_allclose(left, [50.0, 0, 0, -50.0, 0, 0], atol=1e-7)


def test_the_worst_row():
    """What an error message of many samples can name."""
    held = ConstraintSet(QUADRUPED, [PointContact(f, f, anchor=(0.0, 0.0, 0.0)) for f in FEET[:2]])
    q = configuration.random(QUADRUPED.tree, np.random.default_rng(1), (2, 3))
    q[1, 2, 1] = 1000.0
    error, row, sample = held.worst(q)
    assert sample == (1, 2)
    assert row in ("foot-lf.y", "foot-rf.y")
    assert error == np.abs(held.error(q)).max()
    assert held.worst(q[1, 2]) == (error, row, ())
    with pytest.raises(
        InputError, match=r"worst: expected at least one configuration, got none, of shape \(0, 3, 19\)"
    ):
        held.worst(q[:0])
    assert projection.projected_configuration(held.tree, held, q[:0], 0).shape == (0, 3, 19)
    q[0, 1, 2] = np.nan
    assert np.isnan(held.worst(q).error)
    assert held.worst(q).sample == (0, 1)


# ---- kernels ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("dtype", "within"), [("float64", 1e-10), pytest.param("float32", 2e-4, marks=pytest.mark.slow)]
)
def test_kernels_of_every_kind(dtype, within):
    """Rows, errors and biases of all kinds in one kernel, in both precisions, are the NumPy."""
    robot, held = mb.Robot(FRONT, dtype=dtype), ConstraintSet(FRONT, NEW, alternatives=True)
    rng = np.random.default_rng(2)
    q, v = configuration.random(FRONT.tree, rng, (5,)), rng.standard_normal((5, FRONT.nv))
    for name, args in (("error", (q,)), ("jacobian", (q,)), ("bias", (q, v))):
        found = robot.kernel(f"constraint_{name}", constraints=held)(*(x.astype(dtype) for x in args))
        expected = getattr(held, name)(*args)
        assert found.dtype == dtype
        np.testing.assert_allclose(found, expected, atol=within * np.abs(expected).max())


HANGING = [
    HingeClosure("hinge", "trunk", None, HERE, HERE),
    Distance("tether", FEET[1], None, 0.5, second_point=(0.0, 0.0, 2.0)),
    RollingContact("wheel", FEET[0], 0.1, offset=0.2, axle=(0.0, 1.0, 0.0)),
]


@pytest.mark.parametrize(
    ("dtype", "within"), [("float64", 1e-9), pytest.param("float32", 1e-3, marks=pytest.mark.slow)]
)
def test_dynamics_of_a_robot_that_hangs_on_the_world(dtype, within):
    """Compiled, in batches and in float32: a hinge, a tether and a wheel."""
    rng = np.random.default_rng(2)
    q = configuration.integrate(FRONT.tree, mb.Robot(FRONT).home(), 0.1 * rng.standard_normal((3, FRONT.nv)))
    v, tau = rng.standard_normal((2, 3, FRONT.nv))
    expected = dynamics.constrained_dynamics(FRONT.tree, HANGING, q, v, tau, baumgarte=(10.0, 2.0))
    found = mb.Robot(FRONT, dtype=dtype).constrained_dynamics(HANGING, q, v, tau, baumgarte=(10.0, 2.0))
    for one, two in zip(found, expected, strict=True):
        np.testing.assert_allclose(one, two, atol=within * np.abs(two).max())


def test_derivatives_of_what_hangs_on_the_world():
    """By automatic differentiation of rows, errors and biases, beside differences along each velocity."""
    rng = np.random.default_rng(2)
    q = configuration.integrate(FRONT.tree, mb.Robot(FRONT).home(), 0.1 * rng.standard_normal(FRONT.nv))
    v, tau = rng.standard_normal((2, FRONT.nv))
    held = ConstraintSet(FRONT, HANGING)
    found = constrained_dynamics_derivatives(held.tree, held, q, v, tau, baumgarte=(10.0, 2.0))
    steps = 1e-6 * np.concatenate([np.eye(FRONT.nv), -np.eye(FRONT.nv)])
    moved = dynamics.constrained_dynamics(
        held.tree, held, configuration.integrate(FRONT.tree, q, steps), v, tau, baumgarte=(10.0, 2.0)
    )
    turned = dynamics.constrained_dynamics(held.tree, held, q, v + steps, tau, baumgarte=(10.0, 2.0))
    pairs = (found.acceleration_by_q, moved.acceleration), (found.force_by_q, moved.force)
    for one, x in (*pairs, (found.acceleration_by_v, turned.acceleration), (found.force_by_v, turned.force)):
        two = ((x[: FRONT.nv] - x[FRONT.nv :]) / 2e-6).T
        np.testing.assert_allclose(one, two, atol=1e-6 * np.abs(two).max())


def test_couplings_on_a_curve():
    """Rows by differences along a polynomial."""
    gear = JointCoupling("gear", QUADRUPED.joints[1].name, QUADRUPED.joints[4].name, 0.5, 0.1, (0.3, -0.2, 0.1))
    q, v, _ = state(QUADRUPED)
    ahead, behind = (configuration.integrate(QUADRUPED.tree, q, s * 1e-6 * v) for s in (1, -1))
    rates = [(gear.error(QUADRUPED.tree, ahead) - gear.error(QUADRUPED.tree, behind)) / 2e-6]
    rates.append((gear.jacobian(QUADRUPED.tree, ahead) - gear.jacobian(QUADRUPED.tree, behind)) @ v / 2e-6)
    np.testing.assert_allclose(rates[0], gear.jacobian(QUADRUPED.tree, q) @ v, atol=1e-8)
    np.testing.assert_allclose(rates[1], gear.bias(QUADRUPED.tree, q, v), atol=1e-8)
    assert np.abs(rates[1]).max() > 1e-3
