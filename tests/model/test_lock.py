"""Locked and removed joints on random robots: motion and mass are those of the same links before."""

import numpy as np
import pinocchio as pin
import pytest
from hypothesis import given
from hypothesis import strategies as st

from multibody.errors import InputError
from multibody.geometry import Pose, Rotation, SpatialInertia
from multibody.model import configuration
from multibody.model.builder import Builder
from multibody.model.joint import Limits, Mimic
from multibody.model.joints import Fixed, Floating, Prismatic, Revolute, Spherical
from multibody.model.load import load
from multibody.model.model import Model
from multibody.model.surgery import attach, lock, remove

from ..every_law import each_case
from ..oracles.robot_data import urdf
from .by_hand import mass_matrix as body_mass_matrix
from .links import assert_same_poses, carried, columns, gripper, mass_matrix, own_joints, poses
from .trees import models, random_model

SEEDS = st.integers(0, 2**32 - 1)


# ---- lock ------------------------------------------------------------------------------------------------------------


@given(models(most=7), SEEDS)
def test_lock_keeps_motion_and_mass(model, seed):
    rng = np.random.default_rng(seed)
    q = configuration.random(model.tree, rng)
    chosen = [joint for joint in own_joints(model) if rng.random() < 0.4]
    locked = lock(model, {joint.name: q[joint.q] for joint in chosen})
    assert locked.nq == model.nq - sum(joint.nq for joint in chosen)
    assert locked.frames == model.frames
    q_new, keep = carried(model, q, locked), columns(model, locked)
    assert_same_poses(poses(locked, q_new), poses(model, q))
    expected = body_mass_matrix(model, q)[np.ix_(keep, keep)]
    np.testing.assert_allclose(body_mass_matrix(locked, q_new), expected, atol=1e-10)
    np.testing.assert_array_equal(locked.tree.lower, model.tree.lower[_q(model, locked)])
    np.testing.assert_array_equal(locked.tree.effort_limits, model.tree.effort_limits[keep])


def _q(old: Model, new: Model) -> list[int]:
    slices = (old.joint(j.name).q for j in own_joints(new))
    return [k for s in slices for k in range(s.start, s.stop)]


def of_pinocchio(theirs: pin.Model) -> Model:
    """A model of Pinocchio with a free flyer and joints about axes of the frame."""
    b = Builder("theirs").body("universe")
    names = list(theirs.names)
    for k in range(1, theirs.njoints):
        kind = theirs.joints[k].shortname()
        I = theirs.inertias[k]
        b.body(names[k], SpatialInertia(mass=I.mass, com=I.lever, inertia=I.inertia))
        if kind != "JointModelFreeFlyer":
            place = theirs.jointPlacements[k]
            letter = kind[-1].lower()
            parent = names[theirs.parents[k]]
            where = Pose.from_matrix(place.homogeneous)
            b.joint(names[k], Revolute(letter), parent=parent, child=names[k], placement=where)
        else:
            b.joint(names[k], Floating(), parent="universe", child=names[k])
    return b.model(velocity="left")


def test_lock_is_the_reduced_model_of_pinocchio():
    theirs = pin.buildSampleModelHumanoid()
    rng = np.random.default_rng(4)
    pin.seed(4)
    ours = of_pinocchio(theirs)
    reference = pin.randomConfiguration(theirs, -np.ones(theirs.nq), np.ones(theirs.nq))
    chosen = [k for k in range(2, theirs.njoints) if rng.random() < 0.5]
    reduced = pin.buildReducedModel(theirs, chosen, reference)
    locked = lock(ours, {theirs.names[k]: reference[theirs.joints[k].idx_q] for k in chosen})
    assert locked.tree.mass == pytest.approx(sum(I.mass for I in reduced.inertias[1:]), rel=1e-12)
    assert [j.name for j in locked.joints] == list(reduced.names)[1:]
    for _ in range(5):
        q = pin.randomConfiguration(reduced, -np.ones(reduced.nq), np.ones(reduced.nq))
        M = pin.crba(reduced, reduced.createData(), q)
        M = np.triu(M) + np.triu(M, 1).T
        ours_q = np.concatenate([q[:3], q[[6, 3, 4, 5]], q[7:]])
        np.testing.assert_allclose(body_mass_matrix(locked, ours_q), M, atol=1e-10)


@pytest.mark.parametrize(("robot", "floating"), [("ur_description/urdf/ur5_robot.urdf", False),
                                                 ("talos_data/robots/talos_reduced.urdf", True)])  # fmt: skip
def test_lock_on_robot_files_is_the_reduced_model_of_pinocchio(robot, floating):
    path = str(urdf(robot))
    theirs = pin.buildModelFromUrdf(path, *([pin.JointModelFreeFlyer()] if floating else []))
    ours = load(path, floating=floating, velocity="left", snap=0, mimic="independent", trust_paths=True)
    rng = np.random.default_rng(8)
    pin.seed(8)
    chosen = [k for k in range(1 + floating, theirs.njoints) if rng.random() < 0.4]
    reference = pin.neutral(theirs) + rng.uniform(-1, 1, theirs.nq)
    reduced = pin.buildReducedModel(theirs, chosen, reference)
    locked = lock(ours, {theirs.names[k]: reference[theirs.joints[k].idx_q] for k in chosen})
    q = pin.randomConfiguration(reduced, -np.ones(reduced.nq), np.ones(reduced.nq))
    data = reduced.createData()
    pin.framesForwardKinematics(reduced, data, q)
    ours_q = _theirs_to_ours(locked, reduced, q, floating)
    for name, pose in poses(locked, ours_q).items():
        placed = data.oMf[reduced.getFrameId(name, pin.BODY)]
        np.testing.assert_allclose(pose.matrix, placed.homogeneous, atol=1e-12, err_msg=name)
    assert locked.tree.mass == pytest.approx(sum(I.mass for I in reduced.inertias[1:]), rel=1e-12)


def _theirs_to_ours(ours: Model, theirs: pin.Model, q, floating: bool):
    """q of Pinocchio, which sorts joints by name, in the order of ours."""
    parts = [np.concatenate([q[:3], q[[6, 3, 4, 5]]])] if floating else []
    parts += [q[[theirs.joints[theirs.getJointId(j.name)].idx_q]] for j in ours.joints[floating:]]
    return np.concatenate(parts)


def test_joints_that_mimic_are_locked_with_their_leader():
    model = gripper(home=(0.02, 0.7), actuators=True)
    locked = lock(model, {"f0": 0.3})
    assert [joint.name for joint in locked.joints] == ["t"]
    assert locked.home == (0.7,)
    assert [actuator.name for actuator in locked.actuators or ()] == ["thumb motor"]
    assert any("'motor' is removed" in str(d) and "'f0' is locked" in str(d) for d in locked.diagnostics)
    assert_same_poses(poses(locked, np.array([0.2])), poses(model, np.array([0.3, 0.2])))
    assert locked.equalities == model.equalities
    assert lock(gripper(), {"f0": 0.3}).actuators is None


def test_locking_the_base_fixes_it():
    model = random_model(np.random.default_rng(3), 4, floating=True, kinds=["revolute", "planar"])
    turn = Rotation.from_euler("zyx", [0.1, 0.2, 0.3]).quaternion
    locked = lock(model, {model.tree.bases[0].name: [1.0, 2.0, 3.0, *turn]})
    assert not locked.tree.bases
    index, W_H_base = locked.tree.frame("base")
    assert index == 0
    np.testing.assert_allclose(W_H_base.position, [1.0, 2.0, 3.0])
    assert locked.tree.mass == pytest.approx(model.tree.mass - float(model.bodies[0].inertia.mass))


def test_locking_past_the_limits_is_told():
    b = (
        Builder("door")
        .body("wall")
        .body("door")
        .joint("h", Revolute("z"), parent="wall", child="door", limits=Limits(-1, 1))
    )
    assert not lock(b.model(), {"h": 1.0}).diagnostics
    (told,) = lock(b.model(), {"h": 1.5}).diagnostics
    assert told.level == "warning"
    assert "'h' is locked at [1.5]" in told.message


@each_case(
    "values, message",
    [
        ({"f9": 0.0}, "no joint is named 'f9'; did you mean 'f3'"),
        ({"f2": 0.0}, "this one is -1 times that of 'f0' plus -0.25; lock 'f0'"),
        ({"t": [0.0, 1.0]}, "lock joint 't': expected 1 finite coordinates"),
        ({"t": np.nan}, "expected 1 finite coordinates"),
        ({"t": 10**400}, "expected 1 finite coordinates, got 1000"),
        ({"t": "half"}, "expected 1 finite coordinates, got 'half'"),
        ({"t": [[0.0], [1.0, 2.0]]}, "expected 1 finite coordinates"),
        ({"ball": [1.0, 1.0, 0.0, 0.0]}, "has the length 1.41"),
        ({"weld": 0.0}, "expected a joint that moves, this one is fixed"),
    ],
)
def test_lock_refuses(values, message):
    b = Builder("two").body("base").body("a").body("b")
    b.joint("ball", Spherical(), parent="base", child="a").joint("weld", Fixed(), parent="a", child="b")
    model = attach(gripper(), b.model(), frame="palm")
    with pytest.raises(InputError, match=message):
        lock(model, values)


# ---- remove ----------------------------------------------------------------------------------------------------------


@given(models(most=7, mimic=0.0), SEEDS)
def test_remove_takes_away_a_subtree(model, seed):
    rng = np.random.default_rng(seed)
    link = str(rng.choice([each.name for each in model.links if each.name != "base"] or ["base"]))
    if link == "base":
        with pytest.raises(InputError, match="leaves no link"):
            remove(model, link)
        return
    new = remove(model, link)
    q = configuration.random(model.tree, rng)
    q_new, keep = carried(model, q, new), columns(model, new)
    assert_same_poses(poses(new, q_new), poses(model, q))
    gone = {each.name for each in model.links} - {each.name for each in new.links}
    above = {joint.child: joint.parent for joint in model.description}
    for name in above:  # gone is what has the link above it, or is the link
        way = [name]
        while way[-1] in above:
            way.append(above[way[-1]])
        assert (name in gone) == (link in way)
    expected = mass_matrix(model, q, without=gone)
    np.testing.assert_allclose(expected, expected * np.outer(_mask(model, keep), _mask(model, keep)), atol=1e-12)
    np.testing.assert_allclose(
        body_mass_matrix(new, q_new) - np.diag(new.armature), expected[np.ix_(keep, keep)], atol=1e-10
    )
    np.testing.assert_array_equal(new.armature, model.armature[keep])


def _mask(model: Model, keep: list[int]) -> np.ndarray:
    mask = np.zeros(model.nv)
    mask[keep] = 1.0
    return mask


def test_when_a_leader_goes_the_first_follower_leads():
    model = gripper(home=(0.02, 0.7), actuators=True)
    new = remove(model, "finger0")
    assert {j.name: j.mimic is None for j in new.joints} == {"f1": True, "f2": False, "f3": False, "t": True}
    assert new.home == pytest.approx((-2.0 * 0.02 + 0.1, 0.7))
    for y in (-0.4, 0.0, 1.1):
        q = np.array([y, 0.2])
        assert_same_poses(poses(new, np.array([-2.0 * y + 0.1, 0.2])), poses(model, q))
    assert [actuator.name for actuator in new.actuators or ()] == ["thumb motor"]
    assert new.equalities == ()
    told = "\n".join(map(str, new.diagnostics))
    for part in (
        "'motor' is removed",
        "'tie'",
        "'loop'",
        "joint 'f0' is removed: joints that mimic it, 'f1', 'f2', 'f3'",
    ):
        assert part in told


def test_a_chain_of_mimics_outlives_its_middle():
    model = gripper()
    new = remove(model, "finger1")
    for y in (-0.4, 0.0, 1.1):
        assert_same_poses(poses(new, np.array([y, 0.2])), poses(model, np.array([y, 0.2])))
    assert [each.name for each in new.equalities] == ["tie", "loop"]
    assert "tip" not in remove(model, "finger2").frames


def test_followers_that_stand_still_stay_where_they_are():
    b = Builder("odd").body("base").body("a").body("b")
    b.joint("ja", Revolute("z"), parent="base", child="a")
    b.joint("jb", Prismatic("z"), parent="base", child="b", mimic=Mimic("ja", 0.0, 0.3))
    new = remove(b.model(), "a")
    assert new.nq == 0
    np.testing.assert_array_equal(new.tree.frame("b")[1].position, [0.0, 0.0, 0.3])
    assert "hold still" in new.diagnostics[0].message
