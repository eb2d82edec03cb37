"""Analytic inverse kinematics: all branches, of arms with any other three joints and a wrist anywhere; and refusals."""

import itertools

import numpy as np
import pytest
from numpy.testing import assert_allclose

import multibody as mb
from multibody import control
from multibody.control.tasks.pose import pose_error
from multibody.model.joint import Limits
from multibody.model.joints import Prismatic, Revolute

from .arms import arm

PUMA = mb.load("puma-560")
ALL_KINDS = ["".join(kinds) for kinds in itertools.product("RP", repeat=3)]


@pytest.fixture
def plain():
    """Without kernels: those of many arms take longer than what they compute here."""
    with mb.eager():
        yield


def apart(robot, q, other):
    """(...): how far configurations are from each other, angles without whole turns."""
    turns = np.array([isinstance(joint.kind, Revolute) for joint in robot.joints])
    return np.where(turns, np.abs(np.exp(1j * q) - np.exp(1j * other)), np.abs(q - other)).max(axis=-1)


def check(robot, q):
    """All branches of the pose at q: right, different, and q among them."""
    target = robot.pose("tool", q)
    branches = control.analytic_solutions(robot, "tool", target)
    assert len(branches)
    assert_allclose(
        robot.pose("tool", branches).matrix, np.broadcast_to(target.matrix, (len(branches), 4, 4)), atol=1e-9
    )
    for a, b in itertools.combinations(branches, 2):
        assert apart(robot, a, b) > 1e-6
    if np.linalg.svd(robot.jacobian("tool", q), compute_uv=False)[-1] > 1e-5:
        assert apart(robot, branches, q).min() < 1e-6
    turns = [isinstance(joint.kind, Revolute) for joint in robot.joints]
    assert (np.abs(branches[:, turns]) <= np.pi).all()
    return branches


def numeric(robot, target, rng, starts=200):
    """Solutions by many damped steps from many starts."""
    q = rng.uniform(-np.pi, np.pi, (starts, 6))
    for _ in range(60):
        e, J = pose_error(target, robot.pose("tool", q)), robot.jacobian("tool", q)
        Jt, damping = np.swapaxes(J, 1, 2), 1e-2 * np.minimum(1, (e**2).sum(axis=-1)) + 1e-12
        d = (Jt @ np.linalg.solve(J @ Jt + damping[:, None, None] * np.eye(6), e[..., None]))[..., 0]
        q = q + d / np.maximum(1, np.linalg.norm(d, axis=-1, keepdims=True))
    return q[np.linalg.norm(pose_error(target, robot.pose("tool", q)), axis=-1) < 1e-9]


def test_puma():
    """Eight branches: shoulder left or right, elbow up or down, wrist flipped or not. [RD §2.9.3]"""
    rng = np.random.default_rng(1)
    counts = [len(check(PUMA, q)) for q in rng.uniform(-np.pi, np.pi, (12, 6))]
    assert counts.count(8) >= 11
    assert control.analytic_solutions(PUMA, "tool", mb.Pose(mb.Rotation.identity(), [5.0, 0, 0])).shape == (0, 6)


def test_limits():
    """Copies by whole turns that are within limits, each once, and nothing else; home is among them."""
    lower, upper = PUMA.tree.lower, PUMA.tree.upper
    target = PUMA.pose("tool", PUMA.home())
    kept = control.analytic_solutions(PUMA, "tool", target, limits=True)
    assert (kept >= lower).all()
    assert (kept <= upper).all()
    assert np.abs(kept - PUMA.home()).max(axis=1).min() < 1e-6
    # the last joint turns by 532 degrees: some branches are there twice
    assert any(apart(PUMA, a, b) < 1e-9 for a, b in itertools.combinations(kept, 2))
    free = control.analytic_solutions(PUMA, "tool", target)
    assert all(apart(PUMA, free, q).min() < 1e-9 for q in kept)
    assert_allclose(PUMA.pose("tool", kept).matrix, np.broadcast_to(target.matrix, (len(kept), 4, 4)), atol=1e-9)


@pytest.mark.usefixtures("plain")
@pytest.mark.parametrize("kinds", ALL_KINDS)
def test_any_first_three_joints(kinds):
    """Hinges and slides in any order, with offsets, before the wrist. [RD §2.9.3]"""
    rng = np.random.default_rng(2)
    for straight in (False, True):
        check(arm(rng, kinds, straight=straight), rng.uniform(-2, 2, 6))


@pytest.mark.usefixtures("plain")
@pytest.mark.parametrize("before", [0, 1, 2])
def test_wrist_elsewhere(before):
    """Three axes that meet at the base, or between the others, do as well."""
    rng = np.random.default_rng(3)
    for kinds, straight in (("RRR", False), ("RRR", True), ("RPR", False)):
        check(arm(rng, kinds, before, straight=straight), rng.uniform(-2, 2, 6))


@pytest.mark.parametrize("before", [3, 0])
def test_no_branch_is_missed(before):
    """What many numeric searches come to is among the branches."""
    rng = np.random.default_rng(4)
    robot = arm(rng, "RRR", before)
    for q in rng.uniform(-2, 2, (2, 6)):
        branches = check(robot, q)
        for other in numeric(robot, robot.pose("tool", q), rng):
            assert apart(robot, branches, other).min() < 1e-5


@pytest.mark.slow
@pytest.mark.usefixtures("plain")
@pytest.mark.parametrize("seed", range(2))
def test_many_arms(seed):
    rng = np.random.default_rng(100 + seed)
    for kinds, before, straight in itertools.product(ALL_KINDS, range(4), (False, True)):
        check(arm(rng, kinds, before, straight=straight), rng.uniform(-2, 2, 6))


def test_singular_configurations():
    """Finitely many stand for all: two axes of the wrist align, the elbow is stretched, both."""
    for q in ([0.3, 0.4, -1.2, 0.7, 0.0, -0.5], [0.3, 0.4, 0.2, 0.7, 0.0, -0.5], [0.0] * 6):
        check(PUMA, np.array(q))
    stretched = np.array([0.3, 0.4, -np.pi / 2 - np.arctan2(0.0203, 0.4318) + np.pi, 0.7, 0.5, -0.5])
    for turn in (0, np.pi):
        check(PUMA, stretched + turn * np.eye(6)[2])


@pytest.mark.usefixtures("plain")
def test_rounded_files():
    """Axes that meet but to a micrometre, and right angles of four digits, as files have them."""
    b = mb.Builder("rounded")
    b.body("link0")
    ways = [
        ("z", [0, 0, 0.4]),
        ("y", [0.025, 0, 0]),
        ("y", [0, 0, 0.455]),
        ("x", [0.42, 0, 0.035]),
        ("y", [5e-7, 0, 0]),
        ("x", [0, 0, 0]),
    ]
    for k, (axis, offset) in enumerate(ways, start=1):
        b.body(f"link{k}")
        turn = mb.Rotation.from_euler("xyz", [3.7e-6 * (k % 2), 0, 0])
        b.joint(f"joint{k}", Revolute(axis), parent=f"link{k - 1}", child=f"link{k}", placement=mb.Pose(turn, offset))
    b.frame("tool", "link6", [0.08, 0, 0])
    robot, rng = mb.Robot(b), np.random.default_rng(5)
    for q in rng.uniform(-1.5, 1.5, (5, 6)):
        assert len(check(robot, q)) in (4, 8)


def test_other_joints():
    """Those that do not move the frame are at home: six of Panda's seven, three of which meet in its shoulder."""
    panda = mb.load("panda")
    q = panda.home() + 0.3
    branches = control.analytic_solutions(panda, "link6", panda.pose("link6", q))
    assert (branches[:, 6] == panda.home()[6]).all()
    assert np.abs(np.exp(1j * branches[:, :6]) - np.exp(1j * q[:6])).max(axis=1).min() < 1e-6


def test_precision():
    """Results have the robot's precision."""
    single = PUMA.astype("float32")
    target = PUMA.pose("tool", np.full(6, 0.3))
    branches = control.analytic_solutions(single, "tool", target)
    assert branches.dtype == np.float32
    assert len(branches) == 8


def test_refusals():
    hands = mb.load("panda")
    slide = mb.Builder("slides")
    slide.body("link0")
    for k in range(1, 7):
        slide.body(f"link{k}")
        slide.joint(f"joint{k}", Prismatic("xyz"[k % 3]), parent=f"link{k - 1}", child=f"link{k}", limits=Limits(-1, 1))
    slides, dog = mb.Robot(slide), mb.load("quadruped")
    bad = mb.Pose(mb.Rotation.identity(), [np.nan, 0, 0])
    here = mb.Pose.identity()
    for message, call in (
        ("has no spherical wrist", lambda: control.analytic_solutions(slides, "link6", here)),
        ("7 joints move 'tool'.*spherical wrist", lambda: control.analytic_solutions(hands, "tool", here)),
        (
            "'floating_base'.*neither a hinge nor a slide.*wrist",
            lambda: control.analytic_solutions(dog, "foot-lf", here),
        ),
        ("target: expected a pose of finite numbers", lambda: control.analytic_solutions(PUMA, "tool", bad)),
        (
            r"target: expected one pose, got a batch of shape \(3,\)",
            lambda: control.analytic_solutions(PUMA, "tool", mb.Pose.identity((3,))),
        ),
        ("gripper9", lambda: control.analytic_solutions(PUMA, "gripper9", here)),
        ("limits: expected True or False", lambda: control.analytic_solutions(PUMA, "tool", here, limits=1)),
    ):
        with pytest.raises(mb.InputError, match=message):
            call()
