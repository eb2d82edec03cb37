"""Robots made by hand: what each method adds, and what it refuses."""

import numpy as np
import pytest

from multibody.errors import InputError
from multibody.geometry import Pose, Rotation, SpatialInertia
from multibody.model import configuration
from multibody.model.builder import BASE, Builder
from multibody.model.diagnostics import Diagnostic
from multibody.model.joint import Limits
from multibody.model.joints import Fixed, Floating, Prismatic, Revolute
from multibody.model.shapes import Box, Cylinder, Mesh, Sphere

from ..every_law import each_case
from ..laws.tools import near
from .trees import random_inertia, world_poses


@pytest.fixture
def rng():
    return np.random.default_rng(71)


def test_a_scara_arm(rng):
    """Three angles about the vertical axis and a stroke; the pose is the product of the joints'.

    [RD Ex. 2.8.1; RD 2.130; RD §2.8, §2.8.1]
    """
    b = Builder("scara").body("base").body("upper").body("fore").body("quill").body("tool")
    b.joint("alpha", Revolute("z"), parent="base", child="upper", placement=[0, 0, 0.4])
    b.joint("beta", Revolute("z"), parent="upper", child="fore", placement=[0.5, 0, 0])
    b.joint("gamma", Revolute("z"), parent="fore", child="quill", placement=[0.3, 0, 0])
    b.joint("zeta", Prismatic("z"), parent="quill", child="tool")
    model = b.model()
    assert [joint.name for joint in model.joints] == ["alpha", "beta", "gamma", "zeta"]
    assert model.nq == model.nv == 4
    alpha, beta, gamma, zeta = q = rng.uniform(-2, 2, 4)
    x, y = (0.5 * f(alpha) + 0.3 * f(alpha + beta) for f in (np.cos, np.sin))
    tool = world_poses(model, q)[-1]
    near(tool.position, [x, y, 0.4 + zeta], 1e-15)
    near(tool.rotation.matrix, Rotation.elementary("z", alpha + beta + gamma).matrix, 1e-14)


def test_bodies_take_inertia_from_their_shape(rng):
    pose = Pose.random(rng)
    b = Builder("a").body("rod", shape=Cylinder(0.1, 2.0), mass=3.0, pose=pose, color=(1, 0, 0, 1))
    link = b.model().link("rod")
    expected = (pose @ Cylinder(0.1, 2.0).inertia(mass=3.0)).matrix
    near(link.inertia.matrix, expected, 1e-15)
    assert link.visuals[0].shape == link.collisions[0].shape == Cylinder(0.1, 2.0)
    assert link.visuals[0].pose == pose
    assert link.visuals[0].color == (1, 0, 0, 1)
    dense = Builder("b").body("cube", shape=Box([0.1, 0.1, 0.1]), density=1000.0).model().link("cube")
    near(dense.inertia.mass, 1.0, 1e-15)


def test_loads_add_up(rng):
    one, two, pose = random_inertia(rng), random_inertia(rng), Pose.random(rng)
    b = Builder("a").body("a", one).load("a", two, pose=pose).body("empty").load("empty", two)
    near(b._links["a"].inertia.matrix, one.matrix + (pose @ two).matrix, 1e-14)
    near(b._links["empty"].inertia.matrix, two.matrix, 0.0)


def test_shapes_can_be_seen_or_collide():
    b = Builder("a").body("a").shape("a", Sphere(1.0), collision=False).shape("a", Box([1, 1, 1]), visual=False)
    link = b.model().link("a")
    assert [part.shape for part in link.visuals] == [Sphere(1.0)]
    assert [part.shape for part in link.collisions] == [Box([1, 1, 1])]
    assert link.inertia is None


def test_a_floating_base_is_added_first():
    """[RD §2.10]"""
    b = Builder("a").body("torso").body("arm").joint("turn", Revolute("x"), parent="torso", child="arm")
    model = b.model(floating=True, velocity="mixed")
    base = model.joints[0]
    assert (base.name, base.kind, base.parent, base.child) == (BASE, Floating(), None, "torso")
    assert (model.nq, model.nv) == (8, 7)
    assert model.velocity == "mixed"
    assert b.model().nv == 1


def test_the_joint_of_a_base_finds_a_free_name():
    b = Builder("a").body("a").body("b").joint(BASE, Revolute("x"), parent="a", child="b")
    assert [joint.name for joint in b.model(floating=True).joints] == [BASE + "_", BASE]


def test_parts_can_come_in_any_order():
    b = Builder("a").joint("j", Revolute("x"), parent="a", child="b").frame("f", "b").body("b").body("a")
    assert b.model().frames == ("b", "a", "f")


def test_a_builder_can_go_on_after_a_model():
    b = Builder("a").body("a")
    first = b.model()
    b.body("b").joint("j", Revolute("x"), parent="a", child="b")
    assert first.nv == 0
    assert b.model().nv == 1


def test_home_and_gravity_and_notes_are_kept():
    b = Builder("a", gravity=[0.0, 0.0, -1.62]).body("a").body("b").joint("j", Revolute("x"), parent="a", child="b")
    note = Diagnostic("note", "assumed", "nothing", "a.urdf", 3, "<link name='a'>")
    model = b.note(note).model(home=[0.5])
    assert model.gravity == (0.0, 0.0, -1.62)
    assert model.home == (0.5,)
    assert model.diagnostics == (note,)
    assert str(note) == "note: a.urdf:3 <link name='a'>: nothing [assumed]"
    assert str(Diagnostic("warning", "inertia", "odd")) == "warning: odd [inertia]"


def test_actuators_are_all_or_those_that_are_named():
    b = Builder("a").body("a").body("b").joint("j", Revolute("x"), parent="a", child="b")
    assert b.model().actuators is None
    assert b.unactuated().model().actuators == ()
    (motor,) = b.actuator("m", "j", gear=5.0).unactuated().model().actuators
    assert (motor.joint, motor.gear) == ("j", 5.0)


@each_case(
    "build, says",
    [
        (lambda b: b.body("a"), "robot: a link named 'a' is there already"),
        (lambda b: b.frame("a", "a"), "robot: a frame named 'a' is there already"),
        (lambda b: b.body(""), "link: expected a name, got ''"),
        (lambda b: b.body(3), "link: expected a name, got 3"),
        (lambda b: b.body("b", mass=1.0), "body 'b': a mass or a density needs a solid shape, and no other inertia"),
        (lambda b: b.body("b", shape=Mesh("x.stl"), mass=1.0), "body 'b': a mass or a density needs a solid shape"),
        (
            lambda b: b.body(
                "b", SpatialInertia(mass=1.0, com=[0, 0, 0], inertia=np.eye(3)), shape=Sphere(1), mass=1.0
            ),
            "body 'b': a mass or a density needs a solid shape, and no other inertia",
        ),
        (lambda b: b.body("b", shape=Sphere(1.0), mass=1.0, density=1.0), "expected a mass or a density"),
        (lambda b: b.load("A", SpatialInertia(mass=1.0, com=[0, 0, 0], inertia=np.eye(3))), "no link is named 'A'"),
        (lambda b: b.load("a", 3.0), "load on 'a': expected one SpatialInertia, got 3.0"),
        (lambda b: b.joint("j", "revolute", parent="a", child="b"), "joint 'j': expected a kind such as Revolute('z')"),
        (lambda b: b.joint("k", Fixed(), parent="a", child="b"), "robot: a joint named 'k' is there already"),
        (lambda b: b.frame("f", "a", Pose.identity((2,))), "expected one pose, got a batch of shape (2,)"),
        (lambda b: b.frame("f", "a", [1.0, 2.0]), "expected a pose, or a position of three finite numbers"),
        (lambda b: b.frame("f", "a", [[1.0, 2, 3]]), "expected a pose, or a position of three finite numbers"),
        (lambda b: b.frame("f", "a", [1.0, 2, np.nan]), "expected a pose, or a position of three finite numbers"),
        (lambda b: b.model(velocity="body"), "velocity: expected one of"),
        (lambda b: b.frame("f", "nowhere").model(), "frame 'f' is on the link 'nowhere', which does not exist"),
        (lambda b: b.body("b").model(floating=True), "a robot has one root, but 2 links have no parent"),
    ],
)
def test_what_cannot_be_is_told_at_once(build, says):
    b = Builder("robot").body("a").body("x").joint("k", Revolute("x"), parent="a", child="x")
    with pytest.raises(InputError) as error:
        build(b)
    assert says in str(error.value)


def test_an_example_moves_as_it_should():
    """A pendulum that hangs down has its tip at the bottom, and its mass there.  [RD 2.130]"""
    b = Builder("pendulum").body("base").body("rod", shape=Cylinder(0.02, 1.0), mass=1.0, pose=[0, 0, -0.5])
    b.joint("hinge", Revolute("y"), parent="base", child="rod", limits=Limits(-1, 1)).frame("tip", "rod", [0, 0, -1.0])
    model = b.model()
    i, i_H_tip = model.tree.frame("tip")
    near((world_poses(model, configuration.neutral(model.tree))[i] @ i_H_tip).position, [0, 0, -1], 1e-15)
    near((world_poses(model, np.array([np.pi / 2]))[i] @ i_H_tip).position, [-1, 0, 0], 1e-15)
    near(model.bodies[0].inertia.com, [0, 0, -0.5], 0.0)


def test_what_cannot_float_for_it_is_no_tree_is_told_so():
    with pytest.raises(InputError, match="a robot has at least one link"):
        Builder("nothing").model(floating=True)
    ring = Builder("ring").body("a").body("b")
    ring = ring.joint("j", Revolute("x"), parent="a", child="b").joint("k", Revolute("x"), parent="b", child="a")
    with pytest.raises(InputError, match="cycle"):
        ring.model(floating=True)


@pytest.mark.parametrize("gravity", [9.81, "down", [0.0, -9.81], None])
def test_gravity_that_is_none(gravity):
    with pytest.raises(InputError, match="gravity: expected three finite numbers"):
        Builder("a", gravity=gravity).body("a").model()
