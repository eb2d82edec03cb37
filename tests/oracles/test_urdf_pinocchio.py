"""Every URDF file of example-robot-data against Pinocchio: names, limits, inertias and the pose of every link."""

import math
from collections.abc import Callable

import numpy as np
import pinocchio as pin
import pytest

from multibody.errors import RobotFileError
from multibody.model import configuration
from multibody.model.joints import Continuous
from multibody.model.layouts import PinocchioLayout
from multibody.model.load import load
from multibody.model.model import Model

from .robot_data import REFUSED, urdf, urdfs

SAMPLE = {
    "anymal_c_simple_description/urdf/anymal.urdf",
    "baxter_description/urdf/baxter.urdf",
    "panda_description/urdf/panda.urdf",
    "pr2_description/urdf/pr2.urdf",
    "quadruped_description/urdf/quadruped.urdf",
    "so_arm_description/urdf/so101.urdf",
    "talos_data/robots/talos_full_v2.urdf",
}
MIMIC = (
    "baxter_description/urdf/baxter.urdf",
    "panda_description/urdf/panda.urdf",
    "pr2_description/urdf/pr2.urdf",
    "romeo_description/urdf/romeo.urdf",
    "talos_data/robots/talos_full_v2.urdf",
    "tiago_pro_description/robots/tiago_pro.urdf",
)
ORDER_TROUBLE = ("romeo", "talos_full")
"""Pinocchio cannot build these with mimic=True: it visits a joint before the one that it follows."""


def cases() -> list[object]:
    return [
        pytest.param(path, marks=() if path in SAMPLE else pytest.mark.slow, id=path.rsplit("/", 1)[1])
        for path in urdfs()
        if path not in REFUSED
    ]


def peer(path: str, *, floating: bool = False, mimic: bool = False) -> pin.Model:
    root = (pin.JointModelFreeFlyer(),) if floating else ()
    return pin.buildModelFromUrdf(str(urdf(path)), *root, mimic=mimic)


def uncoupled(model: Model, theirs: pin.Model, q: np.ndarray) -> np.ndarray:
    """Pinocchio's coordinates, of all joints that move there, from those of a model with coupled joints."""
    out = np.zeros(theirs.nq)
    for name, joint in zip(theirs.names, theirs.joints, strict=True):
        if name != "universe" and joint.nv:
            x = model.joint(name).coordinates(q)
            circle = joint.nq == 2  # a continuous joint
            out[joint.idx_q : joint.idx_q + joint.nq] = [math.cos(x[0]), math.sin(x[0])] if circle else x
    return out


def link_poses(model: Model, q: np.ndarray) -> dict[str, np.ndarray]:
    W_H = [np.eye(4)]
    for _, p, body in model.tree.outward():
        W_H.append(W_H[p] @ body.joint.pose(q).matrix)
    return {name: W_H[i] @ pose.matrix for name, (i, pose) in zip(model.frames, model.tree.frame_poses, strict=True)}


def their_poses(theirs: pin.Model, q: np.ndarray) -> dict[str, np.ndarray]:
    data = theirs.createData()
    pin.framesForwardKinematics(theirs, data, q)
    return {
        frame.name: data.oMf[k].homogeneous
        for k, frame in enumerate(theirs.frames)
        if frame.type == pin.FrameType.BODY and frame.name != "universe"
    }


def compare_poses(
    model: Model,
    theirs: pin.Model,
    rng: np.random.Generator,
    tolerance: float,
    convert: Callable[[np.ndarray], np.ndarray],
) -> None:
    for _ in range(3):
        q = configuration.random(model.tree, rng)
        # Beyond a few turns the sine of an angle has no 1e-12 left.
        q = np.where(np.abs(q) > 100, rng.uniform(-3, 3, q.shape), q)
        ours, other = link_poses(model, q), their_poses(theirs, convert(q))
        assert ours.keys() == other.keys()
        for name, pose in ours.items():
            np.testing.assert_allclose(pose, other[name], rtol=0, atol=tolerance, err_msg=name)


@pytest.mark.parametrize("path", cases())
@pytest.mark.parametrize("floating", [False, True], ids=["fixed", "floating"])
def test_a_robot_is_that_of_pinocchio(path: str, floating: bool) -> None:
    rng = np.random.default_rng(0)
    theirs = peer(path, floating=floating)
    exact = load(urdf(path), floating=floating, mimic="independent", snap=0)
    model = load(urdf(path), floating=floating, mimic="independent")
    names = [joint.name for joint in model.joints if not model.tree.is_base(joint)]
    assert sorted(names) == sorted(name for name in theirs.names if name not in ("universe", "root_joint"))
    assert model.nv == theirs.nv
    assert model.tree.mass == pytest.approx(pin.computeTotalMass(theirs), rel=1e-12, abs=1e-15)
    for name in names:
        joint, other = model.joint(name), theirs.joints[theirs.getJointId(name)]
        at, v = other.idx_q, other.idx_v
        if not isinstance(joint.kind, Continuous):
            assert joint.limits.lower == (theirs.lowerPositionLimit[at],)
            assert joint.limits.upper == (theirs.upperPositionLimit[at],)
        assert joint.limits.velocity == (theirs.upperVelocityLimit[v],)
        assert joint.limits.effort == (theirs.upperEffortLimit[v],)
        assert joint.passive.damping == theirs.damping[v]
        assert joint.passive.friction == theirs.upperDryFrictionLimit[v]
    compare_poses(exact, theirs, rng, 1e-12, PinocchioLayout(exact, theirs).q_to)
    compare_poses(model, theirs, rng, 1e-9, PinocchioLayout(model, theirs).q_to)
    compare_inertias(exact, theirs)


def compare_inertias(model: Model, theirs: pin.Model) -> None:
    """Of every moving body, in the frame of its joint."""
    for body in model.bodies:
        name = "root_joint" if model.tree.is_base(body.joint) else body.joint.name
        other = theirs.inertias[theirs.getJointId(name)]
        np.testing.assert_allclose(body.inertia.matrix, other.matrix(), rtol=1e-11, atol=1e-12, err_msg=name)


@pytest.mark.parametrize("path", MIMIC, ids=lambda path: path.rsplit("/", 1)[1])
def test_coupled_joints_move_as_the_independent_ones_they_stand_for(path: str) -> None:
    rng = np.random.default_rng(1)
    model, free = load(urdf(path), snap=0), load(urdf(path), snap=0, mimic="independent")
    followers = [joint for joint in model.joints if joint.mimic is not None]
    assert followers
    assert model.nv == free.nv - len(followers)
    assert {d.code for d in model.diagnostics} >= {"coupled"}
    theirs = peer(path)
    compare_poses(model, theirs, rng, 1e-12, lambda q: uncoupled(model, theirs, q))
    if not any(name in path for name in ORDER_TROUBLE):
        mimic = peer(path, mimic=True)
        assert mimic.nv == model.nv
        compare_poses(model, mimic, rng, 1e-12, lambda q: uncoupled(model, mimic, q))


@pytest.mark.parametrize("path", REFUSED)
def test_the_files_that_do_not_load_say_why(path: str) -> None:
    with pytest.raises(RobotFileError, match=REFUSED[path]) as caught:
        load(urdf(path), mimic="independent", trust_paths=True)
    assert caught.value.file == str(urdf(path))
    assert caught.value.line


def test_a_joint_that_follows_none_is_an_error_unless_it_is_independent() -> None:
    path = urdf("alex_description/urdf/alex_psyonic_hands.urdf")
    with pytest.raises(RobotFileError, match=r"mimics the joint 'index_q1', which does not exist"):
        load(path)
    assert load(path, mimic="independent").nv == 39
