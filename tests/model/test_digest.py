"""Digests of models: equal for equal ones, in every process; unequal when any field changes."""

import os
import subprocess
import sys
from dataclasses import dataclass, fields, replace
from functools import cached_property

import numpy as np
import pytest
from hypothesis import given

from multibody.errors import InputError
from multibody.geometry import Pose, SpatialInertia
from multibody.model.actuator import Actuator, Equality
from multibody.model.builder import Builder
from multibody.model.diagnostics import Diagnostic
from multibody.model.digest import digest
from multibody.model.joint import Joint, Limits, Mimic, Passive
from multibody.model.joints import Continuous, Prismatic, Revolute
from multibody.model.link import Frame, Geometry, Link
from multibody.model.model import Model
from multibody.model.shapes import Box, Mesh, Sphere
from multibody.model.tree import Body, Tree

from ..every_law import each_case
from .trees import models

SOURCE = """
from multibody.model.builder import Builder
from multibody.model.joint import Limits, Mimic, Passive
from multibody.model.joints import Prismatic, Revolute
from multibody.model.shapes import Box, Mesh

def made():
    b = Builder("arm", gravity=(0.0, 0.1, -9.81))
    b.body("base").body("upper", shape=Box([0.1, 0.2, 0.3]), mass=2.0, pose=[0.0, 0.0, 0.1], color=(1, 0, 0, 1))
    b.body("hand").shape("hand", Mesh("package://arm/hand.stl"))
    b.joint("shoulder", Revolute((1, 2, 2)), parent="base", child="upper", placement=[0.1, 0.2, 0.3],
            limits=Limits(-1.0, 1.0, 2.0, 3.0), passive=Passive(damping=0.1, armature=0.01))
    b.joint("slide", Prismatic("x"), parent="upper", child="hand", mimic=Mimic("shoulder", 0.5, 0.1))
    b.frame("tool", "hand", [0.0, 0.0, 0.1]).actuator("motor", "shoulder", gear=50.0, rotor_inertia=1e-5)
    return b.model(home=[0.25])
"""
space: dict = {}
exec(SOURCE, space)
made = space["made"]


def test_equal_models_have_equal_digests_in_every_process():
    code = SOURCE + "\nmodel = made()\nprint(model.digest, model.tree_digest)"
    outputs = set()
    for seed in ("1", "2"):
        process = {**os.environ, "PYTHONHASHSEED": seed}
        run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=process)
        outputs.add(run.stdout)
    model = made()
    assert outputs == {f"{model.digest} {model.tree_digest}\n"}
    assert len(model.digest) == 64


def changed(model, **changes):
    return model.with_(**changes)


def with_joint(model, **changes):
    first, *others = model.description
    return model.with_(description=(replace(first, **changes), *others))


def with_mimic(model, **changes):
    first, second = model.description
    return model.with_(description=(first, replace(second, mimic=replace(second.mimic, **changes))))


def with_link(model, **changes):
    base, upper, hand = model.links
    return model.with_(links=(base, replace(upper, **changes), hand))


def heavier(model, part):
    inertia = model.link("upper").inertia
    parts = {"mass": inertia.mass + 0.0, "com": inertia.com + 0.0, "inertia": inertia.inertia + 0.0}
    parts[part] = parts[part] * (1 + 1e-15) + 1e-15
    return with_link(model, inertia=SpatialInertia(**parts))


CHANGES = {
    "name": lambda m: changed(m, name="leg"),
    "gravity": lambda m: changed(m, gravity=(0.0, 0.1, -9.8)),
    "velocity": lambda m: changed(m, velocity="left"),
    "home": lambda m: changed(m, home=(0.26,)),
    "no home": lambda m: changed(m, home=None),
    "no actuators": lambda m: changed(m, actuators=()),
    "default actuators": lambda m: changed(m, actuators=None),
    "gear": lambda m: changed(m, actuators=(replace(m.actuators[0], gear=51.0),)),
    "rotor": lambda m: changed(m, actuators=(replace(m.actuators[0], rotor_inertia=2e-5),)),
    "motor's effort": lambda m: changed(m, actuators=(replace(m.actuators[0], effort=9.0),)),
    "motor's name": lambda m: changed(m, actuators=(replace(m.actuators[0], name="m"),)),
    "equality": lambda m: changed(m, equalities=(Equality("weld", "upper", "hand"),)),
    "frame": lambda m: changed(m, extra_frames=()),
    "frame's name": lambda m: changed(m, extra_frames=(replace(m.extra_frames[0], name="tip"),)),
    "frame's pose": lambda m: changed(m, extra_frames=(replace(m.extra_frames[0], pose=Pose.identity()),)),
    "frame's link": lambda m: changed(m, extra_frames=(replace(m.extra_frames[0], link="base"),)),
    "order of links": lambda m: changed(m, links=m.links[::-1]),
    "joint's name": lambda m: changed(m, description=(m.description[0], replace(m.description[1], name="s"))),
    "axis": lambda m: with_joint(m, kind=Revolute((1, 2, 2.1))),
    "kind": lambda m: with_joint(m, kind=Continuous((1, 2, 2))),
    "slider": lambda m: with_joint(m, kind=Prismatic((1, 2, 2))),
    "placement": lambda m: with_joint(m, placement=Pose.identity()),
    "lower": lambda m: with_joint(m, limits=Limits(-1.1, 1.0, 2.0, 3.0)),
    "upper": lambda m: with_joint(m, limits=Limits(-1.0, 1.1, 2.0, 3.0)),
    "fastest": lambda m: with_joint(m, limits=Limits(-1.0, 1.0, 2.1, 3.0)),
    "strongest": lambda m: with_joint(m, limits=Limits(-1.0, 1.0, 2.0, 3.1)),
    "damping": lambda m: with_joint(m, passive=Passive(damping=0.2, armature=0.01)),
    "friction": lambda m: with_joint(m, passive=Passive(damping=0.1, friction=1.0, armature=0.01)),
    "stiffness": lambda m: with_joint(m, passive=Passive(damping=0.1, stiffness=1.0, armature=0.01)),
    "rest": lambda m: with_joint(m, passive=Passive(damping=0.1, rest=(0.1,), armature=0.01)),
    "armature": lambda m: with_joint(m, passive=Passive(damping=0.1, armature=0.02)),
    "mimic's ratio": lambda m: with_mimic(m, ratio=0.6),
    "mimic's offset": lambda m: with_mimic(m, offset=0.2),
    "mass": lambda m: heavier(m, "mass"),
    "centre of mass": lambda m: heavier(m, "com"),
    "inertia": lambda m: heavier(m, "inertia"),
    "no inertia": lambda m: with_link(m, inertia=None),
    "no visuals": lambda m: with_link(m, visuals=()),
    "no collisions": lambda m: with_link(m, collisions=()),
    "shape": lambda m: with_link(m, visuals=(Geometry(Sphere(0.1)),)),
    "colour": lambda m: with_link(m, visuals=(replace(m.link("upper").visuals[0], color=(0, 1, 0, 1)),)),
    "texture": lambda m: with_link(m, visuals=(replace(m.link("upper").visuals[0], texture="wood.png"),)),
    "shape's pose": lambda m: with_link(m, visuals=(replace(m.link("upper").visuals[0], pose=Pose.identity()),)),
    "shape's name": lambda m: with_link(m, visuals=(replace(m.link("upper").visuals[0], name="rod"),)),
}

INVISIBLE = {
    "name", "home", "no home", "motor's effort", "motor's name", "equality", "no visuals", "no collisions", "shape",
    "colour", "texture", "shape's pose", "shape's name",
}  # fmt: skip
"""Changes of what the tree has not."""


@each_case("change", CHANGES)
def test_every_change_shows(change):
    model, other = made(), CHANGES[change](made())
    assert other.digest != model.digest
    assert other != model
    assert (other.tree_digest == model.tree_digest) == (change in INVISIBLE)


def test_every_field_is_changed_above():
    """A field that is added to one of these classes needs a line in CHANGES; a joint's offset is of trees alone."""
    known = {
        Model: 10, Link: 4, Joint: 11, Frame: 3, Geometry: 5, Limits: 4, Passive: 5, Mimic: 3, Actuator: 5,
    }  # fmt: skip
    assert {cls: len(fields(cls)) for cls in known} == known


def test_what_a_loader_noticed_makes_no_difference():
    model = made()
    noticed = model.with_(diagnostics=(Diagnostic("note", "assumed", "an effort"),))
    assert noticed == model
    assert noticed.digest == model.digest


@given(models(most=4))
def test_models_made_again_are_equal(model):
    again = Model(*(getattr(model, f.name) for f in fields(model)))
    assert again == model
    assert hash(again) == hash(model)
    assert again.tree_digest == model.tree_digest


def test_equal_numbers_have_equal_digests():
    assert digest(1.0, (2.0,), 0.0) == digest(1, [2], -0.0)
    assert digest(np.float64(0.5), np.float32(0.5)) == digest(0.5, 0.5)
    assert digest(np.array([0.0, 1.0])) == digest(np.array([-0.0, 1.0], np.float32))
    pose = Pose.identity()
    assert digest(pose) == digest(Pose(pose.rotation, [-0.0, 0.0, 0.0]))
    one, two = (Builder("a").body("a").body("b").joint("j", Revolute("x"), parent="a", child="b", limits=limits,
                mimic=None).model() for limits in (Limits(-1, 1), Limits(-1.0, 1.0)))  # fmt: skip
    assert one == two


def test_different_things_have_different_digests():
    things = [
        (), ((),), (1,), ((1,),), ("1",), (None,), (1, 2), ((1, 2),), ([1], [2]), (float("inf"),), (-1.0,), ("a", "b"),
        ("ab",), (Box([1, 1, 1]),), (Sphere(1),), (np.zeros(3),), (np.zeros((3, 1)),), (np.zeros((1, 3)),),
        (Mesh("a"),), (Mesh("b"),), (slice(0, 1),), (slice(1, 2),), (float("nan"),),
    ]  # fmt: skip
    assert len({digest(*parts) for parts in things}) == len(things)


class Opaque:
    """An object whose repr is its place in memory."""


@dataclass
class Loose:
    """A dataclass that can be written to."""

    x: float = 1.0


@dataclass(frozen=True)
class Holder:
    x: object = 1.0


class Geared(Revolute):
    """A subclass with a number that is no field."""

    def __init__(self, axis, gear):
        super().__init__(axis)
        object.__setattr__(self, "gear", gear)


@each_case(
    "x",
    [Opaque(), Opaque, len, lambda: 1, {1, 2}, frozenset({1}), {"a": 1}, b"a", 1j, object(), np.array([Opaque()]),
     np.array([1j]), Loose(), Holder, Geared("z", 3.0)],
    ids=lambda x: type(x).__name__,
)  # fmt: skip
def test_what_nobody_can_tell_is_refused(x):
    for place in (x, (1.0, (x,)), Holder(x)):
        with pytest.raises(InputError, match=r"expected .* got"):
            digest(place)


def test_what_a_property_keeps_is_no_part_of_a_value():
    class Kept(Revolute):
        @cached_property
        def length(self):
            return 3.0

    kind = Kept("z")
    before = digest(kind)
    assert kind.length == 3.0
    assert digest(kind) == before


@dataclass(frozen=True, init=False)
class Subclass(Prismatic):
    __qualname__ = "Prismatic"

    @property
    def screw(self):
        return 2.0, 0.0


@dataclass(frozen=True, init=False)
class Impostor(Subclass):
    __qualname__ = "Prismatic"
    __module__ = Prismatic.__module__


def hinged(kind):
    return Builder("a").body("a").body("b").joint("j", kind, parent="a", child="b").model()


@pytest.mark.parametrize("cls", [Subclass, Impostor])
def test_a_kind_of_the_user_is_none_of_the_library(cls):
    """Even by the same name: its code is another, and can change under that name."""
    theirs, ours = hinged(cls("z")), hinged(Prismatic("z"))
    assert theirs.tree_digest is None
    assert ours.tree_digest is not None
    assert theirs != ours
    assert theirs == hinged(cls("z"))
    assert (theirs.digest == ours.digest) == (cls is Impostor)


def test_the_digest_of_a_tree_sees_all_of_it():
    """A change of any field of a tree, of its bodies and of their joints would show, but for the robot's name."""
    model = made()
    tree, body = model.tree, model.bodies[0]
    joint = body.joint
    seen = {
        Tree: (tree, {"gravity": (0.0, 0.0, 1.0), "velocity": "left", "frames": tree.frames[::-1],
                      "armature": tree.armature + 1.0, "damping": tree.damping + 1.0,
                      "friction": tree.friction + 1.0, "effort_limits": tree.effort_limits + 1.0,
                      "frame_poses": tree.frame_poses[::-1], "bodies": tree.bodies[::-1]}),
        Body: (body, {"index": 2, "parent": 1, "name": "x", "links": ("x",), "joint": tree.joints[1],
                      "inertia": tree.bodies[1].inertia + body.inertia}),
        Joint: (joint, {"name": "x", "kind": Prismatic("x"), "parent": "x", "child": "x", "placement": Pose.identity(),
                        "limits": Limits(), "passive": Passive(), "mimic": Mimic("x"), "q": slice(1, 2),
                        "v": slice(1, 2), "offset": np.array(0.5)}),
    }  # fmt: skip
    for cls, (part, others) in seen.items():
        assert set(others) | ({"name"} if cls is Tree else set()) == {f.name for f in fields(cls)}
        for name, other in others.items():
            new = replace(part, **{name: other})
            if cls is Joint:
                new = replace(body, joint=new)
            if cls is not Tree:
                new = replace(tree, bodies=(new, *tree.bodies[1:]))
            changed_model = made()
            vars(changed_model)["tree"] = new
            assert changed_model.tree_digest != model.tree_digest, (cls, name)
