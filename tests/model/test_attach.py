"""Surgery on random robots: motion and mass before and after are those of the same links, looked at one by one."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from multibody.errors import InputError
from multibody.geometry import Pose
from multibody.model import configuration
from multibody.model.builder import Builder
from multibody.model.joint import Limits, Mimic, Passive
from multibody.model.joints import Fixed, Prismatic, Revolute
from multibody.model.model import Model
from multibody.model.shapes import Box, Cylinder
from multibody.model.surgery import attach, beside, change, lock, payload, remove, rename, scale

from ..every_law import each_case
from .by_hand import jacobians
from .by_hand import mass_matrix as body_mass_matrix
from .links import assert_same_poses, gripper, own_joints, poses
from .trees import models, random_inertia

SEEDS = st.integers(0, 2**32 - 1)


# ---- attach and payload ----------------------------------------------------------------------------------------------


@given(models(most=5), models(most=4), SEEDS)
def test_attach_puts_one_robot_on_another(model, other, seed):
    rng = np.random.default_rng(seed)
    frame, pose = str(rng.choice(model.frames)), Pose.random(rng)
    on_base = [name for name in other.frames if other.tree.frame(name)[0] == (1 if other.tree.floating else 0)]
    other_frame = str(rng.choice(on_base))
    new = attach(model, other, frame=frame, other_frame=other_frame, pose=pose, prefix="tool_")
    seat = lock(other, {base.name: base.kind.neutral() for base in other.tree.bases})
    assert new.nq == model.nq + seat.nq
    q, q_other = configuration.random(model.tree, rng), configuration.random(seat.tree, rng)
    mine = {joint.name: q[joint.q] for joint in own_joints(model)}
    theirs = {"tool_" + joint.name: q_other[joint.q] for joint in own_joints(seat)}
    q_new = np.concatenate([np.zeros(0), *((mine | theirs)[joint.name] for joint in own_joints(new))])
    before, alone, after = poses(model, q), poses(seat, q_other), poses(new, q_new)
    W_H_other = before[frame] @ pose @ alone[other_frame].inverse()
    expected = before | {"tool_" + name: W_H_other @ H for name, H in alone.items()}
    assert set(after) == set(expected)
    assert_same_poses(after, expected)
    on_world = [mass for mass, index in _link_masses(seat) if index == 0 and model.tree.frame(frame)[0] == 0]
    total = sum(mass for mass, _ in _link_masses(seat))
    assert new.tree.mass == pytest.approx(model.tree.mass + total - sum(on_world), rel=1e-12)
    assert new.gravity == model.gravity
    assert new.velocity == model.velocity


def _link_masses(model: Model):
    return [
        (float(link.inertia.mass), model.tree.frame(link.name)[0]) for link in model.links if link.inertia is not None
    ]


def test_attach_by_default_joins_the_root_and_keeps_homes_and_motors():
    arm = Builder("arm").body("base").body("hand").joint("wrist", Revolute("z"), parent="base", child="hand")
    arm.frame("flange", "hand", [0.0, 0.0, 1.0])
    new = attach(arm.model(), gripper(home=(0.02, 0.7), actuators=True), frame="flange")
    np.testing.assert_array_equal(poses(new, np.zeros(3))["palm"].position, [0.0, 0.0, 1.0])
    assert new.home == (0.0, 0.02, 0.7)
    assert [(a.name, a.joint) for a in new.actuators or ()] == [
        ("wrist", "wrist"), ("motor", "f0"), ("thumb motor", "t")
    ]  # fmt: skip
    assert new.joint("flange_to_palm").kind == Fixed()
    assert new.equalities == gripper().equalities
    assert attach(arm.model(), gripper(), frame="flange").actuators is None


def test_attach_refuses_what_it_cannot_join():
    arm = Builder("arm").body("base").body("hand").joint("t", Revolute("z"), parent="base", child="hand").model()
    with pytest.raises(
        InputError, match=r"both robots have a joint named 't'; give a prefix, such as prefix='gripper_'"
    ):
        attach(arm, gripper(), frame="hand")
    with pytest.raises(InputError, match="both robots have a link or frame named 'base', 'hand'"):
        attach(arm, arm, frame="hand")
    with pytest.raises(InputError, match="'thumb' moves with the body 'thumb'"):
        attach(arm, gripper(), frame="hand", other_frame="thumb")
    for bad in (5, None, ["x_"], b"x_"):
        for join in (partial(attach, frame="hand"), beside):
            with pytest.raises(InputError) as error:
                join(arm, gripper(), prefix=bad)
            assert str(error.value) == f"gripper, prefix: expected a text, got {bad!r}"
    with pytest.raises(InputError, match="gripper: no frame is named 5; it has"):
        attach(arm, gripper(), frame="hand", other_frame=5, prefix="x_")
    with pytest.raises(InputError, match=r"expected the Model of a robot, .*, got Builder"):
        attach(arm, Builder("tool").body("tool"), frame="hand")
    with pytest.raises(InputError, match="no frame is named 'hnd'; did you mean 'hand'"):
        attach(arm, gripper(), frame="hnd")
    assert attach(arm, gripper(), frame="hand", prefix="gripper_").joint("gripper_t").kind == Revolute("x")


def test_attach_a_floating_robot_to_a_floating_robot():
    def box(name):
        return Builder(name).body(name, shape=Box([1, 1, 1]), mass=2.0).model(floating=True)

    new = attach(box("a"), box("b"), frame="a", pose=[0.0, 0.0, 1.0])
    assert (new.nv, new.tree.mass) == (6, 4.0)
    assert new.bodies[0].links == ("a", "b")


@given(models(most=6), SEEDS)
def test_payload_adds_its_inertia_at_the_frame(model, seed):
    rng = np.random.default_rng(seed)
    frame, load, pose = str(rng.choice(model.frames)), random_inertia(rng), Pose.random(rng)
    new = payload(model, frame, load, pose)
    q = configuration.random(model.tree, rng)
    index, i_H_frame = model.tree.frame(frame)
    J = (i_H_frame @ pose).inverse().adjoint @ jacobians(model, q)[index]
    expected = body_mass_matrix(model, q) + J.T @ load.matrix @ J
    np.testing.assert_allclose(body_mass_matrix(new, q), expected, atol=1e-10)
    assert new.tree.mass == pytest.approx(model.tree.mass + (float(load.mass) if index else 0.0), rel=1e-12)
    assert len(new.diagnostics) == len(model.diagnostics) + (index == 0)


def test_payload_refuses():
    with pytest.raises(InputError, match="no frame is named 'pam'"):
        payload(gripper(), "pam", random_inertia(np.random.default_rng(0)))
    with pytest.raises(InputError, match="payload on 'palm': expected one SpatialInertia"):
        payload(gripper(), "palm", "2 kg")  # type: ignore[arg-type]


# ---- rename and change -----------------------------------------------------------------------------------------------


def test_rename_changes_names_everywhere_and_nothing_else():
    model = gripper(home=(0.02, 0.7), actuators=True)
    there = {"palm": "hand", "f0": "slide", "f1": "slide 1", "tip": "point", "finger0": "index", "t": "pivot"}
    new = rename(model, there, name="hand")
    assert new.name == "hand"
    assert new.joint("slide 1").mimic == Mimic("slide", -2.0, 0.1)
    assert [a.joint for a in new.actuators or ()] == ["slide", "pivot"]
    assert [(e.first, e.second) for e in new.equalities] == [("slide", "pivot"), ("index", "thumb")]
    for numbers in ("parameters", "placements", "frame_placements"):
        np.testing.assert_array_equal(getattr(new.tree, numbers)(), getattr(model.tree, numbers)())
    assert rename(model, name="hand").tree_digest == model.tree_digest != new.tree_digest
    assert new.tree.frame("point")[0] == model.tree.frame("tip")[0]
    assert rename(new, {v: k for k, v in there.items()}, name="gripper") == model
    swapped = rename(model, {"f0": "t", "t": "f0"})
    assert swapped.joint("t").kind == Prismatic("y")


def test_rename_refuses_what_is_unclear():
    b = Builder("twin").body("base").body("arm").joint("arm", Revolute("z"), parent="base", child="arm")
    model = b.model()
    with pytest.raises(InputError, match="'arm' is a link or frame and a joint; rename with frames= or joints="):
        rename(model, {"arm": "x"})
    assert rename(model, joints={"arm": "x"}).joint("x").child == "arm"
    assert rename(model, frames={"arm": "x"}).joint("arm").child == "x"
    for what in ("names", "frames", "joints"):
        for bad in (5, "arm", ["arm"], [("arm", "x")], True, 0, "", np.zeros(2)):
            with pytest.raises(InputError, match=rf"rename, {what}: expected {{name: new name}}, got "):
                rename(model, **{what: bad})
    with pytest.raises(InputError, match="no link, frame or joint is named 'bas'; did you mean 'base'"):
        rename(model, {"bas": "x"})
    with pytest.raises(InputError, match="two links are named 'base'"):
        rename(model, frames={"arm": "base"})
    with pytest.raises(InputError, match="expected a text that is not empty, got ''"):
        rename(model, joints={"arm": ""})
    with pytest.raises(InputError, match="no joint is named"):
        rename(model, joints={"leg": "x"})


def test_change_sets_parameters():
    rng = np.random.default_rng(0)
    model, load, place = gripper(), random_inertia(rng), Pose.random(rng)
    new = change(
        model,
        inertias={"thumb": load, "palm": None},
        placements={"t": place, "f0": [1.0, 2.0, 3.0]},
        limits={"t": Limits(-1.0, 2.0)},
        passive={"t": Passive(damping=0.3, armature=0.2)},
        gravity=(0.0, 0.0, -1.62),
        home=(0.1, 0.2),
    )
    assert new.link("thumb").inertia == load
    assert new.link("palm").inertia is None
    assert new.joint("t").placement == place
    np.testing.assert_array_equal(new.joint("f0").placement.position, [1.0, 2.0, 3.0])
    np.testing.assert_array_equal(new.tree.lower, [-np.inf, -1.0])
    np.testing.assert_array_equal(new.armature, [0.0, 0.2])
    assert (new.gravity, new.home) == ((0.0, 0.0, -1.62), (0.1, 0.2))
    assert change(model) == model


@each_case(
    "given, message",
    [
        ({"inertias": {"thum": None}}, "no link is named 'thum'; did you mean 'thumb'"),
        ({"inertias": {"thumb": 3.0}}, "change, inertia: expected SpatialInertia, got 3.0"),
        ({"limits": {"t": (0, 1)}}, "change, limits: expected Limits"),
        ({"passive": {"u": Passive()}}, "no joint is named 'u'"),
        ({"placements": {"t": [1.0]}}, "position"),
        ({"mass": 3.0}, "change: no parameter is named 'mass'"),
        ({"limit": {}}, "no parameter is named 'limit'; did you mean 'limits'"),
        ({"gravity": (1.0, 2.0)}, "gravity: expected three finite numbers"),
        ({"inertias": 5}, "change, inertias: expected {name: SpatialInertia}, got 5"),
        ({"inertias": []}, r"change, inertias: expected {name: SpatialInertia}, got \[\]"),
        ({"placements": Pose.identity()}, "change, placements: expected {name: Pose}, got Pose"),
        ({"limits": Limits()}, "change, limits: expected {name: Limits}, got Limits"),
        ({"passive": "a"}, "change, passive: expected {name: Passive}, got 'a'"),
        ({"home": 5}, "home: expected 2 finite numbers, got 5"),
        ({"home": "ab"}, "home: expected 2 finite numbers, got 'ab'"),
        ({"home": {"t": 0.0}}, "home: expected 2 finite numbers, got {'t': 0.0}"),
        ({"home": [[0.0, 0.0]]}, r"home: expected 2 finite numbers, got \[\[0.0, 0.0\]\]"),
        ({"actuators": 5}, "actuators: expected a list of Actuator objects, got 5"),
        ({"actuators": ["t"]}, "actuators: expected a list of Actuator objects, got 't' in it"),
    ],
)
def test_change_refuses(given, message):
    with pytest.raises(InputError, match=message):
        change(gripper(), **given)


# ---- long robots -----------------------------------------------------------------------------------------------------


def test_surgery_does_not_recurse():
    n = 1100  # past the depth at which Python stops a recursion
    b = Builder("chain").body("link0")
    rod = Cylinder(0.01, 0.1).inertia(mass=0.1)
    for k in range(1, n + 1):
        b.body(f"link{k}", rod)
        b.joint(f"joint{k}", Revolute("y"), parent=f"link{k - 1}", child=f"link{k}", placement=[0.0, 0.0, 0.1])
    model = b.model()
    assert lock(model, {f"joint{k}": 0.1 for k in range(2, n + 1)}).nv == 1
    assert remove(model, "link2").nv == 1
    assert attach(model, model, frame=f"link{n}", prefix="more_").nv == 2 * n
    assert rename(scale(model, 2.0), {"joint1": "first"}).joint("first").v == slice(0, 1)
