"""VelocityControl: optimal level by level within limits, on contacts, in batches, damped, and bad input."""

from dataclasses import dataclass

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import multibody as mb
from multibody import control
from multibody.algorithms import jacobian, kinematics
from multibody.control.velocity_control import VelocityControl
from multibody.geometry._arrays import unit
from multibody.model.joint import Limits
from multibody.model.joints import Revolute

from .cascades import cascade

HAND, REST = control.PoseTask("hand", "tool"), control.PostureTask("rest")
LIMITS = (control.VelocityLimits(), control.JointLimits())
DT = 0.01


@pytest.fixture(scope="module")
def panda():
    return mb.load("panda")


@pytest.fixture(scope="module")
def free(panda):
    return VelocityControl(panda, [[HAND], [REST]])


@pytest.fixture(scope="module")
def limited(panda):
    return VelocityControl(panda, [[HAND], [REST]], limits=LIMITS)


@pytest.fixture(scope="module")
def arm():
    """Three hinges in a plane that may turn at 1 rad/s, 2 rad/s and 3 rad/s, within [-2, 2] rad."""
    robot = mb.load("planar-arm")
    speeds = {joint.name: Limits(-2.0, 2.0, speed) for joint, speed in zip(robot.joints, (1.0, 2.0, 3.0), strict=True)}
    return robot.change(limits=speeds)


@pytest.fixture(scope="module")
def planar(arm):
    levels = [
        [control.PositionTask("tip", "tool", axes="xz")],
        [control.PostureTask("wrist", joints=(arm.joints[2].name,))],
    ]
    return VelocityControl(arm, levels, limits=LIMITS)


def box(robot, q, dt=DT):
    top = robot.tree.velocity_limits
    return (np.clip((end - q) / dt, -top, top) for end in (robot.tree.lower, robot.tree.upper))


def wanted(robot, tasks, q, targets, gains):
    """(A, b) of levels of one task each."""
    tree = robot.tree
    tasks = [task.on(tree) for task in tasks]
    return [(t.jacobian(tree, q), k * t.error(tree, q, x)) for t, x, k in zip(tasks, targets, gains, strict=True)]


def samples(robot, count, seed=0, near=0.2):
    """Configurations within limits, some joints at them."""
    rng = np.random.default_rng(seed)
    q, (lower, upper) = robot.random(rng, (count,)), (robot.tree.lower, robot.tree.upper)
    ends = np.where(rng.random(q.shape) < 0.5, lower, upper)
    return np.where(rng.random(q.shape) < near, ends, q), robot.random(rng, (count,))


# ---- what it finds ---------------------------------------------------------------------------------------------------


def test_without_limits_it_is_prioritised(panda, free):
    q, goal = samples(panda, 20)
    target = panda.pose("tool", goal)
    v = free(q, hand=target, rest=goal, hand_gain=2.0, hand_velocity=np.full(6, 0.1))
    e = HAND.error(panda.tree, q, target)
    expected, _ = control.prioritised([(panda.jacobian("tool", q), 2 * e + 0.1), (np.eye(7), goal - q)])
    assert_allclose(v, expected, rtol=1e-10, atol=1e-10)


def test_limits_before_levels_as_a_cascade_of_programs(panda, limited):
    q, goal = samples(panda, 25)
    target, rest = panda.pose("tool", goal), panda.home()
    v = limited(q, hand=target, rest=rest, hand_gain=5.0, dt=DT)
    for k in range(25):
        lower, upper = box(panda, q[k])
        levels = wanted(panda, [HAND, REST], q[k], [panda.pose("tool", goal[k]), rest], [5.0, 1.0])
        x, norms = cascade(levels, np.eye(7), lower, upper)
        assert (v[k] >= lower).all()
        assert (v[k] <= upper).all()
        slacks = [np.linalg.norm(A @ v[k] - b) for A, b in levels]
        assert_allclose(slacks, norms, rtol=2e-6, atol=2e-6)
        assert_allclose(v[k], x, atol=2e-4)


@settings(max_examples=60)
@given(st.integers(0, 10**6), st.floats(0.1, 30.0))
def test_planar_arm_with_freedom_left(arm, planar, seed, gain):
    q, goal = samples(arm, 1, seed, near=0.3)
    tip = arm.pose("tool", goal[0]).position[[0, 2]]
    tasks = planar.levels[0][0], planar.levels[1][0]
    v = planar(q[0], tip=tip, wrist=goal[0], tip_gain=gain, wrist_gain=gain, dt=DT)
    levels = [*wanted(arm, tasks, q[0], [tip, goal[0]], [gain, gain]), (np.eye(3), np.zeros(3))]
    lower, upper = box(arm, q[0])
    _, norms = cascade(levels, np.eye(3), lower, upper)
    assert (v >= lower).all()
    assert (v <= upper).all()
    mine = [np.linalg.norm(A @ v - b) for A, b in levels]
    size = np.maximum(1, norms)
    assert mine[0] <= norms[0] + 1e-6 * size[0]
    if mine[0] >= norms[0] - 1e-8 * size[0]:  # else the level above made better use of what rounding leaves open
        assert mine[1] <= norms[1] + 1e-5 * size[1]


def test_what_is_left_has_least_norm(arm):
    tip = control.PositionTask("tip", "tool", axes="xz")
    motion = VelocityControl(arm, [[tip]], limits=LIMITS)
    q, goal = samples(arm, 30, 3)
    place = arm.pose("tool", goal).position[:, [0, 2]]
    v = motion(q, tip=place, tip_gain=2.0, dt=DT)
    for k in range(30):
        levels = [*wanted(arm, [tip], q[k], [place[k]], [2.0]), (np.eye(3), np.zeros(3))]
        x, norms = cascade(levels, np.eye(3), *box(arm, q[k]))
        assert_allclose([np.linalg.norm(A @ v[k] - b) for A, b in levels], norms, rtol=1e-5, atol=1e-5)
        assert_allclose(v[k], x, atol=1e-3)


def test_a_lower_level_never_disturbs_an_upper_one(panda, limited):
    q, goal = samples(panda, 40, 5)
    hand = {"hand": panda.pose("tool", goal), "hand_gain": 5.0, "dt": DT}
    A, b = panda.jacobian("tool", q), 5 * HAND.error(panda.tree, q, hand["hand"])
    slack = [
        np.linalg.norm((A @ limited(q, rest=rest, rest_gain=gain, **hand)[..., None])[..., 0] - b, axis=1)
        for rest, gain in ((panda.home(), 0.0), (panda.home(), 50.0), (goal, 5.0))
    ]
    assert_allclose(slack[1], slack[0], rtol=1e-6, atol=1e-6)
    assert_allclose(slack[2], slack[0], rtol=1e-6, atol=1e-6)


def test_weights_within_a_level(arm):
    heavy = control.PositionTask("tip", "tool", axes="xz", weight=9.0)
    motion = VelocityControl(arm, [[heavy, control.PostureTask("rest")]])
    q, goal = np.array([0.3, 0.5, -0.4]), np.array([1.0, -0.5, 0.2])
    tip = arm.pose("tool", goal).position[[0, 2]]
    A, b = zip(*wanted(arm, [heavy, control.PostureTask("rest")], q, [tip, goal], [1.0, 1.0]), strict=True)
    root = np.sqrt([9.0, 9.0, 1.0, 1.0, 1.0])
    expected = np.linalg.lstsq(root[:, None] * np.vstack(A), root * np.concatenate(b), rcond=None)[0]
    assert_allclose(motion(q, tip=tip, rest=goal), expected, rtol=1e-9)


# ---- paths -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("reachable", [True, False])
def test_a_path_stays_within_limits(panda, limited, reachable):
    lower, upper, top = panda.tree.lower, panda.tree.upper, panda.tree.velocity_limits
    goal = panda.pose("tool", panda.home() + 0.3)
    far = goal if reachable else mb.Pose(goal.rotation, goal.position * 3)
    q = panda.home()
    for _ in range(500):
        v = limited(q, hand=far, rest=panda.home(), hand_gain=5.0, dt=DT)
        q = q + DT * v
        assert np.abs(v).max() <= top.max()
        assert (np.abs(v) <= top).all()
        assert (q <= upper + 1e-9).all()
        assert (q >= lower - 1e-9).all()
    if reachable:
        assert np.abs(HAND.error(panda.tree, q, far)).max() < 1e-8


def test_a_joint_outside_of_its_range_moves_back(panda, limited):
    q = panda.home()
    q[3] = panda.tree.upper[3] + 0.5
    v = limited(q, hand=panda.pose("tool", q), rest=q, dt=DT)
    assert v[3] == -panda.tree.velocity_limits[3]
    q[3] = panda.tree.upper[3] + 0.01
    assert limited(q, hand=panda.pose("tool", q), rest=q, dt=DT)[3] <= -1.0 + 1e-9
    swapped = VelocityControl(panda, [[HAND], [REST]], limits=LIMITS[::-1])
    assert_array_equal(
        swapped(q, hand=panda.pose("tool", q), rest=q, dt=DT), limited(q, hand=panda.pose("tool", q), rest=q, dt=DT)
    )


def test_damping_near_singularities_only(arm):
    tip = control.PositionTask("tip", "tool", axes="xz")
    plain, damped = VelocityControl(arm, [[tip]]), VelocityControl(arm, [[tip]], damping=0.1)
    bent, straight = np.array([0.3, 1.0, -0.8]), np.array([0.3, 1e-4, 1e-4])
    for q, same in (bent, True), (straight, False):
        target = arm.pose("tool", q).position[[0, 2]] * 0.5
        v, w = plain(q, tip=target), damped(q, tip=target)
        if same:  # but for the last digit: without damping nothing is inverted
            assert_allclose(v, w, rtol=1e-14)
        else:
            assert np.abs(v).max() > 100
            assert np.abs(w).max() < 10
    # and with limits that are far away it is the same
    wide = arm.change(limits={joint.name: Limits(velocity=1e3) for joint in arm.joints})
    within = VelocityControl(wide, [[tip]], damping=0.1, limits=(control.VelocityLimits(),))
    assert_allclose(within(straight, tip=target), w, rtol=1e-8)
    tight = arm.change(limits={joint.name: Limits(velocity=0.01) for joint in arm.joints})
    slow = VelocityControl(tight, [[tip]], damping=0.1, limits=(control.VelocityLimits(),))(straight, tip=target)
    assert np.abs(slow).max() <= 0.01


# ---- floating, contacts, other limits --------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def biped():
    """A floating trunk on two legs of three hinges, 5 rad/s each."""
    b = mb.Builder("biped")
    b.body("trunk", mb.SpatialInertia(mass=8.0, com=(0, 0, 0), inertia=0.1 * np.eye(3)))
    for side, y in (("left", 0.15), ("right", -0.15)):
        parent, place = "trunk", (0.0, y, 0.0)
        for k, axis in enumerate("xyy"):
            b.body(f"{side}{k}", mb.SpatialInertia(mass=1.0, com=(0, 0, -0.15), inertia=0.01 * np.eye(3)))
            limits = Limits(-2.0, 2.0, 5.0)
            b.joint(
                f"{side}-joint{k}", Revolute(axis), parent=parent, child=f"{side}{k}", placement=place, limits=limits
            )
            parent, place = f"{side}{k}", (0.0, 0.0, -0.3)
        b.frame(f"{side}-foot", parent, mb.Pose(mb.Rotation.identity(), place))
    return mb.Robot(b.model(floating=True))


@pytest.mark.parametrize("limits", [(), pytest.param(LIMITS, marks=pytest.mark.slow)])
def test_contacts_come_before_all(biped, limits):
    feet = [mb.constraints.PointContact(f, f) for f in ("left-foot", "right-foot")]
    com, turn = control.CenterOfMassTask("com"), control.OrientationTask("turn", "trunk")
    levels = [[com]] if limits else [[com], [turn]]  # a quick kernel
    motion = VelocityControl(biped, levels, limits=limits, contacts=feet)
    rng = np.random.default_rng(0)
    q = np.tile(biped.neutral(), (6, 1))
    q[:, 7:] = [0.1, 0.5, -0.9, -0.1, 0.5, -0.9] + 0.2 * rng.standard_normal((6, 6))
    q[0, 8] = 2.1  # out of its range
    goal = biped.center_of_mass(q) + np.array([0.1, 0.05, 0.05])
    also = {} if limits else {"turn": biped.pose("trunk", q).rotation}
    v = motion(q, com=goal, com_gain=30.0, dt=DT, **also)
    J = biped.constraints(feet).jacobian(q)
    assert_allclose((J @ v[..., None])[..., 0], 0, atol=1e-8)
    if not limits:
        wish = 30 * (goal - biped.center_of_mass(q))
        alone = VelocityControl(biped, [[com]], contacts=feet)(q, com=goal, com_gain=30.0)
        assert_allclose(alone, biped.support_consistent_velocity(feet, q, biped.com_jacobian(q), wish), atol=1e-7)
        assert_allclose((biped.com_jacobian(q) @ (v - alone)[..., None])[..., 0], 0, atol=1e-8)
        return
    for k in range(6):
        ends = [np.clip((end[7:] - q[k, 7:]) / DT, -5, 5) for end in (biped.tree.lower, biped.tree.upper)]
        assert (np.abs(v[k, 6:]) <= 5).all()
        (A, b), *_ = wanted(biped, [com], q[k], [goal[k]], [30.0])
        if k == 0:
            assert v[k, 7] < 0  # on its way back, as fast as the feet that stay let it
            continue
        assert (v[k, 6:] >= ends[0]).all()
        assert (v[k, 6:] <= ends[1]).all()
        x, norms = cascade([(A, b), (np.eye(12), np.zeros(12))], np.eye(12)[6:], *ends, support=J[k])
        assert_allclose(np.linalg.norm(A @ v[k] - b), norms[0], rtol=1e-6, atol=1e-6)
        assert_allclose(np.linalg.norm(v[k]), norms[1], rtol=1e-5)
        assert_allclose(v[k], x, atol=1e-3)
    assert (np.abs(v[:, 6:]) > 0.999 * 5).any()


def test_momentum_is_what_is_asked_for(biped):
    motion = VelocityControl(biped, [[control.MomentumTask("h")]])
    q, h = biped.neutral(), np.array([1.0, 2.0, 3.0, 0.1, 0.2, 0.3])
    assert_allclose(biped.centroidal_momentum(q, motion(q, h=h)), h, atol=1e-9)
    with pytest.raises(mb.InputError, match="h_gain"):
        motion(q, h=h, h_gain=2.0)


@dataclass(frozen=True)
class Clearance(control.Limit):
    """The origin of a frame stays away from a point."""

    name: str
    frame: str
    obstacle: tuple[float, float, float]
    least: float = 0.05
    rate: float = 10.0
    rows = 1

    def _away(self, tree, q):
        return kinematics.pose(tree, self.frame, q).position - np.array(self.obstacle)

    def jacobian(self, tree, q):
        return unit(self._away(tree, q))[..., None, :] @ jacobian.jacobian(tree, self.frame, q)[..., :3, :]

    def lower(self, tree, q, dt):
        del dt
        return self.rate * (self.least - np.sqrt(np.sum(self._away(tree, q) ** 2, axis=-1, keepdims=True)))


def test_an_obstacle_is_kept_away_from(arm):
    q, place = np.array([0.3, 0.5, 0.6]), arm.pose("tool", np.array([-0.4, 0.9, 0.9])).position
    tip = control.PositionTask("tip", "tool", axes="xz")
    motion = VelocityControl(arm, [[tip]], limits=(*LIMITS, Clearance("ball", "tool", tuple(place.tolist()))))
    distances = []
    for _ in range(400):
        v = motion(q, tip=place[[0, 2]], tip_gain=4.0, dt=DT)
        assert (np.abs(v) <= arm.tree.velocity_limits).all()
        q = q + DT * v
        distances.append(np.linalg.norm(arm.pose("tool", q).position - place))
    assert distances[0] > 0.4
    assert min(distances) > 0.0499
    assert_allclose(distances[-1], 0.05, atol=1e-4)


def test_limits_that_zero_is_outside_of(arm):
    """Within an obstacle it moves out, as fast as asked for, or else as the joints let it."""
    q = np.array([0.3, 0.5, 0.6])
    place = tuple((arm.pose("tool", q).position + np.array([0.01, 0.0, 0.01])).tolist())
    tip = control.PositionTask("tip", "tool", axes="xz")
    for rate, reached in (2.0, True), (1e3, False):
        ball = Clearance("ball", "tool", place, least=0.2, rate=rate)
        v = VelocityControl(arm, [[tip]], limits=(*LIMITS, ball))(q, tip=np.array(place)[[0, 2]], dt=DT)
        speed = (ball.jacobian(arm.tree, q) @ v)[0]
        assert (np.abs(v) <= arm.tree.velocity_limits).all()
        assert (speed >= ball.lower(arm.tree, q, DT)[0] - 1e-8) == reached
        assert speed > 0.3


# ---- batches, precisions, tracing ------------------------------------------------------------------------------------


def test_a_sample_does_not_depend_on_its_batch(panda, free, limited):
    q, goal = samples(panda, 22, 7)
    position = np.array(panda.pose("tool", goal).position)
    position[11] = np.nan
    target = mb.Pose(panda.pose("tool", goal).rotation, position)
    for motion in free, limited:
        v = motion(q, hand=target, rest=panda.home(), hand_gain=5.0, dt=DT)
        assert np.isnan(v[11]).any()
        assert np.isfinite(np.delete(v, 11, axis=0)).all()
        for k in (0, 10, 12, 21):
            one = motion(
                q[k],
                hand=mb.Pose(mb.Rotation.from_matrix(target.rotation.matrix[k]), position[k]),
                rest=panda.home(),
                hand_gain=5.0,
                dt=DT,
            )
            assert_array_equal(one, v[k])


def test_batches_of_every_input(panda, limited):
    q, goal = samples(panda, 6, 9)
    gains, times = np.linspace(1, 9, 6), np.linspace(0.005, 0.05, 6)
    v = limited(q, hand=panda.pose("tool", goal), rest=goal, hand_gain=gains, dt=times)
    assert v.shape == (6, 7)
    assert_array_equal(
        v[4],
        limited(q[4], hand=panda.pose("tool", goal[4]), rest=goal[4], hand_gain=float(gains[4]), dt=float(times[4])),
    )
    place = np.empty((6, 7))
    assert (
        limited(q, hand=panda.pose("tool", goal), rest=goal, hand_gain=gains, dt=times, out=place, threads=2) is place
    )
    assert_array_equal(place, v)


def test_eager_is_compiled(arm, planar):
    q, goal = samples(arm, 6, 2)
    ask = {"tip": arm.pose("tool", goal).position[:, [0, 2]], "wrist": goal, "tip_gain": 5.0, "dt": DT}
    v = planar(q, **ask)
    with mb.eager():
        assert_allclose(planar(q, **ask), v, atol=1e-6)


def test_float32(arm, planar):
    single = arm.astype(np.float32)
    motion = VelocityControl(single, planar.levels, limits=LIMITS)
    q, goal = samples(arm, 40, 4)
    ask = {"tip": arm.pose("tool", goal).position[:, [0, 2]], "wrist": goal, "tip_gain": 3.0, "dt": DT}
    v = motion(q.astype(np.float32), **ask)
    assert v.dtype == np.float32
    lower, upper = box(arm, q)
    assert (v >= lower - 1e-3).all()
    assert (v <= upper + 1e-3).all()
    exact = planar(q, **ask)
    J, e = planar.levels[0][0].jacobian(arm.tree, q), 3 * planar.levels[0][0].error(arm.tree, q, ask["tip"])
    slack = [np.linalg.norm((J @ x[..., None])[..., 0] - e, axis=1) for x in (v, exact)]
    assert_allclose(slack[0], slack[1], atol=3e-2)


def test_inside_a_function_of_a_robot(arm, planar):
    def step(q, tip):
        return q + DT * planar(q, tip=tip, wrist=np.zeros(3), dt=DT)

    q, tip = np.array([0.3, 0.5, -0.4]), np.array([0.5, 0.5])
    compiled = arm.function(step, q="configuration", tip=2)
    assert_allclose(compiled(q, tip), step(q, tip), atol=1e-9)


# ---- bad input -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("culprit", "make"),
    [
        ("Robot", lambda panda: VelocityControl(panda.name, [[HAND]])),
        ("levels", lambda panda: VelocityControl(panda, [])),
        ("levels", lambda panda: VelocityControl(panda, 3)),
        ("level 2", lambda panda: VelocityControl(panda, [[HAND], []])),
        ("level 1", lambda panda: VelocityControl(panda, [HAND])),
        ("level 1", lambda panda: VelocityControl(panda, [["hand"]])),
        ("'hand'", lambda panda: VelocityControl(panda, [[HAND], [control.PostureTask("hand")]])),
        ("'hand_gain'", lambda panda: VelocityControl(panda, [[HAND], [control.PostureTask("hand_gain")]])),
        ("'dt'", lambda panda: VelocityControl(panda, [[control.PostureTask("dt")]])),
        ("gripper9", lambda panda: VelocityControl(panda, [[control.PoseTask("hand", "gripper9")]])),
        ("damping", lambda panda: VelocityControl(panda, [[HAND]], damping=-1.0)),
        ("limits", lambda panda: VelocityControl(panda, [[HAND]], limits=[HAND])),
        ("limits", lambda panda: VelocityControl(panda, [[HAND]], limits="velocity")),
        ("contacts", lambda panda: VelocityControl(panda, [[HAND]], contacts=["tool"])),
        (
            "gripper9",
            lambda panda: VelocityControl(panda, [[HAND]], contacts=[mb.constraints.PointContact("c", "gripper9")]),
        ),
    ],
)
def test_bad_problems_are_refused(panda, culprit, make):
    with pytest.raises(mb.InputError, match=culprit):
        make(panda)


def test_bad_calls_are_refused(panda, free, limited):
    q = panda.home()
    target = panda.pose("tool", q)
    for culprit, call in (
        ("'elbow'", lambda: free(q, hand=target, rest=q, elbow=q)),
        ("'hand'", lambda: free(q, rest=q)),
        ("'rest'", lambda: free(q, hand=target, rest=None)),
        ("hand", lambda: free(q, hand=np.eye(4), rest=q)),
        ("rest", lambda: free(q, hand=target, rest=np.zeros(3))),
        ("q", lambda: free(np.zeros(3), hand=target, rest=q)),
        ("hand_gain", lambda: free(q, hand=target, rest=q, hand_gain="much")),
        ("hand_velocity", lambda: free(q, hand=target, rest=q, hand_velocity=np.zeros(3))),
        ("dt", lambda: limited(q, hand=target, rest=q)),
        ("dt", lambda: limited(q, hand=target, rest=q, dt=0.0)),
        ("dt", lambda: free(q, hand=target, rest=q, dt=-1.0)),
    ):
        with pytest.raises(mb.InputError, match=culprit):
            call()


def test_optional_inputs_may_be_none(panda, limited):
    q = panda.home()
    target = panda.pose("tool", q + 0.1)
    v = limited(q, hand=target, rest=q, hand_gain=None, hand_velocity=None, dt=DT)
    assert_array_equal(v, limited(q, hand=target, rest=q, hand_gain=1, dt=DT))
    assert limited.inputs == ("hand", "hand_gain", "hand_velocity", "rest", "rest_gain", "rest_velocity", "dt")
    assert repr(limited) == "<VelocityControl of 'panda': hand > rest>"
