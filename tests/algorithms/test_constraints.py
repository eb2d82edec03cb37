"""Constraints: their rows by finite differences, their ranks, and dynamics under them, redundant ones included."""

import numpy as np
import pytest

import multibody as mb
from multibody.algorithms import constrained_dynamics as dynamics
from multibody.algorithms import constraint_projection as projection
from multibody.algorithms import impact as impacts
from multibody.algorithms.constraints import (
    ConstraintSet,
    Distance,
    FrameContact,
    HingeClosure,
    JointCoupling,
    NoSlip,
    PointClosure,
    PointContact,
    RollingContact,
    SurfaceContact,
    Weld,
    stated,
)
from multibody.errors import InputError
from multibody.geometry import Pose, Rotation
from multibody.model import configuration
from multibody.model.builder import Builder
from multibody.model.joints import Revolute
from multibody.model.shapes import Cylinder, Sphere
from multibody.textbook.generalized_forces import Action, generalized_force

from ..every_law import each_case
from ..sampling import sampled

QUADRUPED = mb.load("quadruped").model
FEET = ("foot-lf", "foot-rf", "foot-lh", "foot-rh")
CORNERS = ((0.0, 0.0, 0.0), (0.1, 0.0, 0.0), (0.0, 0.1, 0.0), (0.1, 0.1, 0.0))
EPS = 1e-6
FOOT = PointContact("foot", "foot-lf")


def four_bar():
    """Four rods of 1, 1.2, 0.9 and 1.1 m: a chain of three hinges, whose end is to be closed on the ground."""
    b = Builder("four-bar").body("ground")
    parent, at = "ground", [0.0, 0.0, 0.0]
    for k, length in enumerate((1.0, 1.2, 0.9)):
        b.body(
            f"rod{k}",
            shape=Cylinder(0.02, length),
            mass=length,
            pose=Pose(Rotation.elementary("y", np.pi / 2), [length / 2, 0, 0]),
        )
        b.joint(f"hinge{k}", Revolute("z"), parent=parent, child=f"rod{k}", placement=at)
        parent, at = f"rod{k}", [length, 0.0, 0.0]
    return b.frame("end", "rod2", [0.9, 0.0, 0.0]).frame("pin", "ground", [1.1, 0.0, 0.0]).model()


def closed(model):
    """A configuration in which the four-bar is closed, by Newton's method."""
    loop = ConstraintSet(model, [PointClosure("loop", "end", "pin")])
    q = np.array([1.2, -1.3, -1.0])
    for _ in range(50):
        q = q - np.linalg.pinv(loop.jacobian(q)) @ loop.error(q)
    assert np.abs(loop.error(q)).max() < 1e-12
    return q


def state(model, seed=0):
    rng = np.random.default_rng(seed)
    return configuration.random(model.tree, rng), rng.standard_normal(model.nv), rng.standard_normal(model.nv)


HERE, THERE = Pose.random(np.random.default_rng(3)), Pose.random(np.random.default_rng(4))
EACH = (
    PointContact("point", "foot-lf", (0.1, 0.2, 0.3), (0.0, 0.1, 0.0)),
    SurfaceContact("surface", "foot-lf", CORNERS),
    FrameContact("frame", "foot-lf", HERE),
    NoSlip("wheel", "foot-lf", (0, 1, 4)),
    RollingContact("ball", "foot-lf", 0.1, (0.0, 0.6, 0.8)),
    PointClosure("point loop", "foot-lf", "foot-rh"),
    Weld("weld", "foot-lf", "foot-rh"),
    HingeClosure("hinge", "foot-lf", "foot-rh"),
    Distance("rod", "foot-lf", "foot-rh", 0.3),
    JointCoupling("gear", QUADRUPED.joints[1].name, QUADRUPED.joints[4].name, 0.5, 0.1),
    SurfaceContact("held surface", "foot-lf", CORNERS, CORNERS),
    RollingContact("ball on a step", "foot-lf", 0.1, (0.0, 0.6, 0.8), 0.3),
    RollingContact("disc", "foot-lf", 0.1, (0.0, 0.6, 0.8), -0.3, (0.6, 0.8, 0.0)),
    HingeClosure("placed hinge", "foot-lf", "foot-rh", HERE, THERE),
    Distance("placed rod", "foot-lf", "foot-rh", 0.3, (0.1, 0.2, 0.3), (0.3, -0.2, 0.1)),
    PointClosure("point on the world", "foot-lf", None, (0.1, 0.2, 0.3), (0.3, -0.2, 0.1)),
    Weld("weld to the world", "foot-lf", None, HERE, THERE),
    HingeClosure("hinge on the world", "foot-lf", None, HERE, THERE),
    Distance("tether", "foot-lf", None, 0.3, (0.1, 0.2, 0.3), (0.3, -0.2, 0.1)),
    Distance("tether to the origin", "foot-lf", None, 0.3),
)


@pytest.mark.parametrize("constraint", EACH, ids=lambda c: c.name)
@pytest.mark.parametrize("velocity", sampled(["kindr", "left", "mixed", "right"], 2))
def test_rows_against_finite_differences(constraint, velocity):
    """[RD 2.269-2.270, 3.59-3.61]; nonholonomic rows have no position [RD 3.35-3.37]."""
    model = QUADRUPED.with_(velocity=velocity)
    q, v, _ = state(model)
    ahead, behind = configuration.integrate(model.tree, q, EPS * v), configuration.integrate(model.tree, q, -EPS * v)
    J = constraint.jacobian(model.tree, q)
    assert J.shape == (constraint.rows, model.nv)
    assert len(constraint.row_names) == constraint.rows
    J_dot = (constraint.jacobian(model.tree, ahead) - constraint.jacobian(model.tree, behind)) / (2 * EPS)
    np.testing.assert_allclose(constraint.bias(model.tree, q, v), J_dot @ v, atol=2e-8)
    change = (constraint.error(model.tree, ahead) - constraint.error(model.tree, behind)) / (2 * EPS)
    if constraint.name in ("surface", "wheel"):
        assert not change.any()
    elif isinstance(constraint, RollingContact):  # a position along the normal alone
        np.testing.assert_allclose(constraint.normal @ change, constraint.normal @ (J @ v), atol=2e-8)
    elif isinstance(constraint, FrameContact | Weld):  # rotation vectors: exact for the position
        np.testing.assert_allclose(change[:3], (J @ v)[:3], atol=2e-8)
    else:
        np.testing.assert_allclose(change, J @ v, atol=2e-8)


def test_errors_of_rotation_are_exact_where_they_vanish():
    q, v, _ = state(QUADRUPED)
    held = FrameContact("held", "foot-lf", mb.Robot(QUADRUPED).pose("foot-lf", q))
    assert np.abs(held.error(QUADRUPED.tree, q)).max() < 1e-14
    ahead = held.error(QUADRUPED.tree, configuration.integrate(QUADRUPED.tree, q, EPS * v))
    np.testing.assert_allclose(ahead / EPS, held.jacobian(QUADRUPED.tree, q) @ v, atol=1e-4)


def test_batches_are_sample_by_sample():
    rng = np.random.default_rng(5)
    q, v = configuration.random(QUADRUPED.tree, rng, (2, 3)), rng.standard_normal((2, 3, 18))
    together = ConstraintSet(QUADRUPED, EACH, alternatives=True)
    for function, args in ((together.error, (q,)), (together.jacobian, (q,)), (together.bias, (q, v))):
        whole = function(*args)
        np.testing.assert_allclose(whole[1, 2], function(*(x[1, 2] for x in args)), atol=1e-13)


@pytest.mark.parametrize(("feet", "rank", "base"), [(1, 3, 3), (2, 6, 5), (3, 9, 6), (4, 12, 6)])
def test_ranks_of_feet(feet, rank, base):
    """Two feet hold five directions of the base and couple one among the joints. [RD 2.271-2.272, §2.10.4]"""
    found = ConstraintSet(QUADRUPED, [PointContact(f, f) for f in FEET[:feet]]).ranks(state(QUADRUPED)[0])
    assert found == (3 * feet, rank, base, rank - base)


@pytest.mark.parametrize(("points", "rank"), [(1, 3), (2, 5), (3, 6), (4, 6)])
def test_ranks_of_points_on_one_foot(points, rank):
    """[RD §2.10.4]"""
    found = ConstraintSet(QUADRUPED, [SurfaceContact("foot", FEET[0], CORNERS[:points])]).ranks(state(QUADRUPED)[0])
    assert (found.rank, found.base, found.internal) == (rank, rank, 0)


REDUNDANT = ConstraintSet(QUADRUPED, [SurfaceContact("sole", FEET[0], CORNERS), PointContact("other", FEET[1])])
REGULAR = ConstraintSet(QUADRUPED, [PointContact(f, f) for f in FEET])


def consistent(constraints, seed=0):
    """A state whose velocity the constraints allow."""
    q, v, tau = state(constraints.model, seed)
    J = constraints.jacobian(q)
    return q, v - np.linalg.pinv(J) @ (J @ v), tau


@pytest.mark.parametrize("constraints", [REGULAR, REDUNDANT], ids=["regular", "redundant"])
@pytest.mark.parametrize("seed", range(3))
def test_constrained_dynamics(constraints, seed):
    """The constraint and the equation of motion hold, forces do no work, methods agree. [RD 3.57, 3.61-3.65, §3.7.2]"""
    robot = mb.Robot(constraints.model)
    q, v, tau = consistent(constraints, seed)
    J, M, h = constraints.jacobian(q), robot.mass_matrix(q), robot.bias(q, v)
    a, f = dynamics.constrained_dynamics(constraints.tree, constraints, q, v, tau)
    assert np.abs(J @ a + constraints.bias(q, v)).max() < 1e-8
    np.testing.assert_allclose(M @ a + h, tau + J.T @ f, atol=1e-9)
    assert abs(f @ (J @ v)) < 1e-9
    np.testing.assert_allclose(projection.projected_equations(constraints.tree, constraints, q, v, tau), a, atol=1e-7)
    N = projection.null_space_projector(M, J)
    assert np.abs(J @ N).max() < 1e-10
    np.testing.assert_allclose(N @ N, N, atol=1e-9)
    symmetric = N @ np.linalg.inv(M)
    np.testing.assert_allclose(symmetric, symmetric.T, atol=1e-8 * np.abs(symmetric).max())


def test_contact_force_as_printed():
    """RD's F_c is the force on the world: minus ours. [RD 3.62]"""
    q, v, tau = consistent(REGULAR)
    robot = mb.Robot(QUADRUPED)
    J, M, h = REGULAR.jacobian(q), robot.mass_matrix(q), robot.bias(q, v)
    printed = projection.contact_inertia(M, J) @ (J @ np.linalg.solve(M, tau - h) + REGULAR.bias(q, v))
    np.testing.assert_allclose(
        dynamics.constrained_dynamics(REGULAR.tree, REGULAR, q, v, tau, method="exact").force, -printed, atol=1e-8
    )


@pytest.mark.parametrize("constraints", [REGULAR, REDUNDANT], ids=["regular", "redundant"])
def test_impacts(constraints):
    """Energy never grows; both forms of the loss are equal; the projector gives the velocity. [RD 3.66-3.72, §3.7.3]"""
    robot = mb.Robot(constraints.model)
    q, v, _ = state(constraints.model)
    J, M = constraints.jacobian(q), robot.mass_matrix(q)
    plastic = impacts.impact(constraints.tree, constraints, q, v)
    assert np.abs(J @ plastic.velocity).max() < 1e-9
    change = plastic.velocity - v
    np.testing.assert_allclose(M @ change, J.T @ plastic.impulse, atol=1e-9)
    np.testing.assert_allclose(plastic.velocity, projection.null_space_projector(M, J) @ v, atol=1e-8)
    np.testing.assert_allclose(plastic.energy_loss, change @ M @ change / 2, rtol=1e-7)
    if constraints is REGULAR:
        slip = J @ v
        np.testing.assert_allclose(plastic.energy_loss, slip @ projection.contact_inertia(M, J) @ slip / 2, rtol=1e-7)
    assert plastic.energy_loss > 0
    elastic = impacts.impact(constraints.tree, constraints, q, v, restitution=1.0)
    np.testing.assert_allclose(J @ elastic.velocity, -J @ v, atol=1e-8)
    assert abs(elastic.energy_loss) < 1e-9


def test_support_consistent_motion():
    """The null-space form reaches the task with still feet and the least velocity. [RD 2.273-2.276, §2.10.5]"""
    q = state(QUADRUPED)[0]
    robot = mb.Robot(QUADRUPED)
    support = ConstraintSet(QUADRUPED, [PointContact(f, f) for f in FEET[:3]])
    J_t, w = robot.jacobian("foot-rh", q)[:3], np.array([0.1, -0.2, 0.3])
    u = projection.support_consistent_velocity(support.jacobian(q), J_t, w)
    J_c = support.jacobian(q)
    assert np.abs(J_c @ u).max() < 1e-10
    np.testing.assert_allclose(J_t @ u, w, atol=1e-9)
    least = np.linalg.pinv(np.vstack([J_c, J_t])) @ np.concatenate([np.zeros(len(J_c)), w])
    np.testing.assert_allclose(u, least, atol=1e-8)


def test_four_bar_keeps_its_energy_and_stays_closed():
    """Each kind of cut gives the same motion; Baumgarte's terms pull a loop that is off back."""
    model = four_bar()
    robot, q = mb.Robot(model), closed(model)
    cuts = [PointClosure("loop", "end", "pin")], [HingeClosure("loop", "end", "pin")]
    J = ConstraintSet(model, cuts[0]).jacobian(q)
    v = np.linalg.svd(J)[2][-1] * 2.0
    found = [dynamics.constrained_dynamics(model.tree, cut, q, v, np.zeros(3)).acceleration for cut in cuts]
    np.testing.assert_allclose(found[0], found[1], atol=1e-9)
    loop, dt = ConstraintSet(model, cuts[0]), 2e-4
    start = robot.kinetic_energy(q, v) + robot.potential_energy(q)
    for _ in range(500):
        v = v + dt * robot.constrained_dynamics(loop, q, v, np.zeros(3), baumgarte=(2500.0, 100.0)).acceleration
        q = robot.integrate(q, dt * v)
    assert np.abs(loop.error(q)).max() < 1e-4
    assert abs(robot.kinetic_energy(q, v) + robot.potential_energy(q) - start) < 0.05 * start
    off = closed(model) + 0.01
    pull = dynamics.constrained_dynamics(
        loop.tree, loop, off, np.zeros(3), np.zeros(3), baumgarte=(100.0, 0.0)
    ).acceleration
    np.testing.assert_allclose(loop.jacobian(off) @ pull, -100.0 * loop.error(off), atol=1e-9)


def test_errors_decay_as_stated():
    """With stiffness λ² and damping 2 λ, a loop that is at rest apart closes as (1 + λ t) exp(-λ t)."""
    model, rate, dt = four_bar(), 20.0, 1e-3
    robot = mb.Robot(model)
    loop = ConstraintSet(model, [PointClosure("loop", "end", "pin")])
    x = np.concatenate([closed(model) + 0.02, np.zeros(3)])
    start = loop.error(x[:3])

    def change(x):
        q, v = x[:3], x[3:]
        found = robot.constrained_dynamics(loop, q, v, np.zeros(3), baumgarte=(rate**2, 2 * rate))
        return np.concatenate([v, found.acceleration])

    for _ in range(100):
        k1 = change(x)
        k2 = change(x + dt / 2 * k1)
        k3 = change(x + dt / 2 * k2)
        x = x + dt / 6 * (k1 + 2 * k2 + 2 * k3 + change(x + dt * k3))
    t = 100 * dt
    assert np.abs(start).max() > 1e-2
    np.testing.assert_allclose(loop.error(x[:3]), (1 + rate * t) * np.exp(-rate * t) * start, atol=1e-7)


def test_force_basis():
    """The generalized forces of forces that act where the rows are."""
    q = state(QUADRUPED)[0]
    point, frame = (next(c for c in EACH if isinstance(c, kind)) for kind in (PointContact, FrameContact))
    for k in range(3):
        push = Action("foot-lf", force=np.eye(3)[k], point=point.point)
        np.testing.assert_allclose(
            point.force_basis(QUADRUPED.tree, q)[:, k], generalized_force(QUADRUPED.tree, q, [push]), atol=1e-13
        )
        turn = Action("foot-lf", torque=np.eye(3)[k])
        np.testing.assert_allclose(
            frame.force_basis(QUADRUPED.tree, q)[:, 3 + k], generalized_force(QUADRUPED.tree, q, [turn]), atol=1e-13
        )


@pytest.mark.parametrize(
    "constraints",
    [pytest.param(REGULAR, marks=pytest.mark.slow, id="regular"), pytest.param(REDUNDANT, id="redundant")],
)
def test_redundant_rows_compile(constraints):
    """The same source finds the rank in a kernel."""
    q, v, tau = consistent(constraints)
    kernel = mb.compile(
        lambda q, v, tau: tuple(dynamics.constrained_dynamics(constraints.tree, constraints, q, v, tau)), 19, 18, 18
    )
    for found, plain in zip(
        kernel(q, v, tau), dynamics.constrained_dynamics(constraints.tree, constraints, q, v, tau), strict=True
    ):
        np.testing.assert_allclose(found, plain, atol=1e-9 * np.abs(plain).max())


@each_case(
    "constraints, words",
    [
        ([], "expected at least one constraint"),
        ([PointContact("a", "foot-lf"), PointContact("a", "foot-rf")], "two constraints are named 'a'"),
        (["foot"], "expected constraints, got str"),
        ([PointContact("a", "foot-l")], "no frame is named 'foot-l'; did you mean"),
        ([SurfaceContact("a", "foot-lf", ())], "expected at least one point"),
        ([NoSlip("a", "foot-lf", (6,))], "expected axes from 0 to 5"),
        ([RollingContact("a", "foot-lf", -1.0)], "expected a positive radius"),
        ([Weld("a", "foot-lf", "foot-lf")], "always move as one body"),
        ([Distance("a", "foot-lf", "foot-rf", 0.0)], "expected a positive length"),
        ([JointCoupling("a", "floating_base", QUADRUPED.joints[1].name)], "expected joints with one velocity"),
        ([JointCoupling("a", QUADRUPED.joints[1].name, QUADRUPED.joints[1].name)], "expected two joints, got"),
        ([NoSlip("a", "foot-lf", (1.0,))], "expected axes from 0 to 5"),
    ],
)
def test_bad_sets(constraints, words):
    with pytest.raises(InputError, match=words):
        ConstraintSet(QUADRUPED, constraints)


@each_case(
    "make, words",
    [
        (lambda: Distance("a", "foot-lf", "foot-rf", np.inf), "expected a finite number, got inf"),
        (lambda: Distance("a", "foot-lf", "foot-rf", "long"), "constraint 'a': expected real floats"),
        (lambda: RollingContact("a", "foot-lf", [0.1, 0.2]), "expected a finite number"),
        (lambda: JointCoupling("a", "hip", "knee", np.nan), "expected a finite number, got nan"),
        (lambda: JointCoupling("a", "hip", "knee", 1.0, 0.0, (np.nan,)), "expected a finite number, got nan"),
        (lambda: JointCoupling("a", "hip", "knee", higher=5), "expected a list of higher coefficients, got 5"),
        (lambda: FrameContact("a", "foot-lf", (0.0, 0.0, 0.0)), "expected one Pose"),
        (lambda: FrameContact("a", "foot-lf", Pose(Rotation.identity(), np.zeros((2, 3)))), "expected one Pose"),
        (lambda: Weld("a", "foot-lf", "foot-rf", (0.0, 0.0, 0.0)), "expected one Pose"),
        (lambda: SurfaceContact("a", "foot-lf", None), "constraint 'a': expected real floats"),
        (
            lambda: ConstraintSet(mb.load("quadruped"), [FOOT]),
            "expected the Model of a robot, such as robot.model, got Robot",
        ),
        (lambda: ConstraintSet(QUADRUPED, [FOOT], alternatives="no"), "alternatives: expected True or False, got 'no'"),
        (lambda: stated(mb.load("quadruped")), "stated: expected the Model of a robot, got Robot"),
        (lambda: stated(QUADRUPED, inactive=1), "inactive: expected True or False, got 1"),
    ],
)
def test_bad_arguments(make, words):
    with pytest.raises(InputError, match=words):
        make()


def test_bad_configurations():
    held = ConstraintSet(QUADRUPED, [PointContact("a", "foot-lf", anchor=(0.0, 0.0, 0.0))])
    for ask in (held.error, held.jacobian, held.ranks, lambda q: held.bias(q, np.zeros(QUADRUPED.nv))):
        with pytest.raises(InputError, match="q needs the shape"):
            ask(np.zeros(QUADRUPED.nq + 1))
    q = configuration.neutral(held.tree)
    assert held.ranks(q.tolist()) == held.ranks(q)
    with pytest.raises(InputError, match="velocity: expected one of 'left'"):
        held.jacobian(q, velocity="up")
    q[-1] = np.nan
    with pytest.raises(InputError, match="expected finite numbers, got nan"):
        projection.projected_configuration(held.tree, held, q)


def test_a_ball_rolls_down_a_slope():
    """The contact point moves on the ball [MDN 81-82]: it accelerates by 5/7 of g sin θ, and turns as it rolls."""
    b = Builder("ball", gravity=(2.0, 0.0, -9.6)).body("ball", shape=Sphere(0.2), mass=3.0)
    model = b.model(floating=True)
    roll = ConstraintSet(model, [RollingContact("ground", "ball", 0.2)])
    q = np.concatenate([[0.5, -0.3, 0.2], Rotation.random(np.random.default_rng(0)).quaternion])
    v = projection.projected_velocity(roll.tree, roll, q, np.array([0.4, 0.1, 0.3, 1.0, 2.0, 3.0]))
    assert np.abs(roll.error(q)).max() < 1e-15
    a, f = dynamics.constrained_dynamics(roll.tree, roll, q, v, np.zeros(6))
    np.testing.assert_allclose(a[:3], [2.0 * 5 / 7, 0.0, 0.0], atol=1e-12)
    np.testing.assert_allclose(f, [-3.0 * 2.0 * 2 / 7, 0.0, 3.0 * 9.6], atol=1e-11)
    # the rows are those of the link's Jacobian written at the contact frame
    place = Pose(Rotation.identity(), q[:3] - [0.0, 0.0, 0.2])
    np.testing.assert_allclose(
        roll.jacobian(q), mb.Robot(model).jacobian_in("ball", q, written_in=place)[:3], atol=1e-13
    )


def test_a_contact_on_the_world_is_refused():
    with pytest.raises(InputError, match="the frame 'pin' is fixed to the world"):
        ConstraintSet(four_bar(), [PointContact("a", "pin")])


def test_rows_of_rounding_errors_hold_nothing():
    """A point on the axis of a tilted hinge never moves, and leaves the hinge free."""
    axis = np.array([0.3, 0.5, 0.7])
    b = Builder("tilted").body("ground").body("rod", shape=Cylinder(0.02, 1.0), mass=1.0, pose=[0.1, 0.2, 0.0])
    b.joint("hinge", Revolute(tuple(axis)), parent="ground", child="rod", placement=[0.1, 0.2, 0.3])
    model = b.frame("on axis", "rod", 0.37 * axis).model()
    contact = ConstraintSet(model, [PointContact("contact", "on axis")])
    q, v, tau = np.array([0.3]), np.array([1.0]), np.array([2.0])
    free = mb.Robot(model).forward_dynamics(q, v, tau)
    assert contact.ranks(q).rank == 0
    assert contact.ranks(q.astype(np.float32)).rank == 0
    np.testing.assert_allclose(dynamics.constrained_dynamics(contact.tree, contact, q, v, tau).acceleration, free)
    np.testing.assert_allclose(impacts.impact(contact.tree, contact, q, v).velocity, v)
    single = mb.Robot(model, dtype="float32").constrained_dynamics(contact, q, v, tau)
    np.testing.assert_allclose(single.acceleration, free, rtol=1e-5)
    assert not single.force.any()
