"""Tasks: errors, Jacobians and biases against finite differences, for every base representation; traced; refused."""

from dataclasses import FrozenInstanceError, dataclass, replace

import numpy as np
import pytest
from numpy.testing import assert_allclose

import multibody as mb
from multibody import control
from multibody.algorithms import centroidal, kinematics
from multibody.algorithms.change_of_velocity import with_base
from multibody.control import tasks as rooms
from multibody.geometry.representations import REPRESENTATIONS
from multibody.model import configuration

DOG, ARM = mb.load("quadruped"), mb.load("panda")
AXIS, POINT = (0.0, 0.6, 0.8), (0.1, 0.2, 0.3)
EPS = 1e-6


def pose_of(tree, frame, q):
    return kinematics.pose(tree, frame, q)


def cases(frame, other):
    """Tasks, each with the target that a configuration meets."""
    look = control.GazeTask("gaze", frame, AXIS)
    return {
        "pose": (control.PoseTask("pose", frame), lambda t, q: pose_of(t, frame, q)),
        "point": (control.PositionTask("point", frame, point=POINT), lambda t, q: pose_of(t, frame, q) @ POINT),
        "axes": (control.PositionTask("axes", frame, "zx"), lambda t, q: pose_of(t, frame, q).position[..., [2, 0]]),
        "orientation": (control.OrientationTask("turn", frame), lambda t, q: pose_of(t, frame, q).rotation),
        "relative": (
            control.RelativePoseTask("relative", frame, other),
            lambda t, q: pose_of(t, other, q).inverse() @ pose_of(t, frame, q),
        ),
        "axis": (control.AxisTask("axis", frame, AXIS), lambda t, q: 3 * (pose_of(t, frame, q).rotation @ AXIS)),
        "gaze": (look, lambda t, q: pose_of(t, frame, q) @ (0.7 * np.array(AXIS))),
        "mass": (control.CenterOfMassTask("mass"), centroidal.center_of_mass),
        "level": (control.CenterOfMassTask("level", "yx"), lambda t, q: centroidal.center_of_mass(t, q)[..., [1, 0]]),
        "posture": (control.PostureTask("posture"), lambda _, q: q),
    }


ROBOTS = {"dog": (DOG, cases("foot-lf", "foot-rh")), "arm": (ARM, cases("tool", "link3"))}


@pytest.mark.parametrize(
    ("robot", "representation"),
    [
        ("arm", "mixed"),
        ("dog", REPRESENTATIONS[0]),
        *(pytest.param("dog", representation, marks=pytest.mark.slow) for representation in REPRESENTATIONS[1:]),
    ],
)
@pytest.mark.parametrize("name", ROBOTS["dog"][1])
def test_against_finite_differences(robot, name, representation):
    """The error is zero at its target, its derivative is -J, and J' v is the bias: in batches, as one by one."""
    robot, all_of_them = ROBOTS[robot]
    task, goal = all_of_them[name]
    tree = with_base(robot.tree, representation)
    task = task.on(tree)
    rng = np.random.default_rng(3)
    q, v = configuration.random(tree, rng, (2,)), rng.standard_normal((2, tree.nv))
    for k in range(2):
        target = goal(tree, q[k])

        def at(d, k=k, target=target):
            return task.error(tree, configuration.integrate(tree, q[k], d), target)

        J = task.jacobian_toward(tree, q[k], target)
        assert_allclose(at(np.zeros(tree.nv)), 0, atol=1e-12)
        slopes = [(at(-EPS * d) - at(EPS * d)) / (2 * EPS) for d in np.eye(tree.nv)]
        assert_allclose(np.stack(slopes, axis=-1), J, atol=3e-9)
        moved = [configuration.integrate(tree, q[k], s * EPS * v[k]) for s in (1, -1)]
        J_dot = np.subtract(*(task.jacobian_toward(tree, x, target) for x in moved)) / (2 * EPS)
        assert_allclose(task.bias_toward(tree, q[k], v[k], target), J_dot @ v[k], atol=2e-8)
        assert len(task.row_names) == task.rows == J.shape[0]
        if name != "gaze":
            assert_allclose(task.jacobian(tree, q)[k], J, atol=1e-14)
            assert_allclose(task.bias(tree, q, v)[k], task.bias_toward(tree, q[k], v[k], target), atol=1e-12)
    assert_allclose(task.error(tree, q, goal(tree, q[0]))[1], task.error(tree, q[1], goal(tree, q[0])), atol=1e-14)


@pytest.mark.parametrize("representation", REPRESENTATIONS)
def test_momentum(representation):
    """J v is the momentum, linear first, and the bias its rate at v' = 0; there is no error of q."""
    tree, task = with_base(DOG.tree, representation), control.MomentumTask("momentum")
    rng = np.random.default_rng(4)
    q, v = configuration.random(tree, rng), rng.standard_normal(tree.nv)
    assert_allclose(task.jacobian(tree, q) @ v, centroidal.centroidal_momentum(tree, q, v), atol=1e-12)
    moved = [task.jacobian(tree, configuration.integrate(tree, q, s * EPS * v)) for s in (1, -1)]
    assert_allclose(task.bias(tree, q, v), (moved[0] - moved[1]) @ v / (2 * EPS), atol=1e-6)
    assert task.on(tree) is task
    assert task.of_velocity
    with pytest.raises(mb.InputError, match="no error of q"):
        task.error(tree, q, np.zeros(6))


def test_traced_as_eager():
    """All tasks in one kernel of the arm, with targets as inputs."""
    tree, everything = ARM.tree, ROBOTS["arm"][1]

    def values(q, v, place, goal):
        parts = []
        for task, _ in everything.values():
            kind = task.target_kind(tree)
            target = {"pose": place, "configuration": goal, "rotation": place.rotation if kind == "rotation" else None}
            size = None if isinstance(kind, str) else kind
            aim = target[kind] if size is None else place.position[..., :size] + 0.3
            J = task.jacobian_toward(tree, q, aim)
            parts += [
                task.error(tree, q, aim),
                np.matmul(J, v[..., :, None])[..., 0],
                task.bias_toward(tree, q, v, aim),
            ]
        return np.concatenate(parts, axis=-1)

    rng = np.random.default_rng(5)
    q, v, goal = ARM.random(rng, (3,)), rng.standard_normal((3, 7)), ARM.random(rng, (3,))
    place = ARM.pose("tool", ARM.random(rng, (3,)))
    kernel = ARM.function(values, q="configuration", v="velocity", place="pose", goal="configuration")
    assert_allclose(kernel(q, v, place, goal), values(q, v, place, goal), atol=1e-11)


@pytest.mark.parametrize("kind", ["axis", "gaze"])
@pytest.mark.parametrize("axis", [(1.0, 0, 0), (0, 1.0, 0), (0, 0, 1.0), AXIS])
def test_leaves_its_antipode(kind, axis):
    """Exactly opposite, n* - n is along n, where no motion changes it: a turn aside is asked for, and leads there."""
    frame, q, tree = "trunk", DOG.neutral(), DOG.tree
    target = -np.array(axis) * (1 if kind == "axis" else 2)
    task = control.AxisTask("axis", frame, axis) if kind == "axis" else control.GazeTask("gaze", frame, axis)
    assert np.linalg.norm(task.error(tree, q, target)) > 1
    v = np.zeros(18)
    for _ in range(60):
        J, e = task.jacobian_toward(tree, q, target)[:, 3:6], task.error(tree, q, target)
        v[3:6] = 0.3 * np.linalg.pinv(J, rcond=1e-8) @ e
        q = DOG.integrate(q, v)
    assert_allclose(task.error(tree, q, target), 0, atol=1e-6)


def test_axis_states_its_direction():
    level = control.AxisTask("level", "tool", (0, 0, 2), direction=(0, 0, -5))
    assert level.axis == (0, 0, 1)
    assert level.direction == (0, 0, -1)
    assert not level.needs_target
    q = ARM.home()
    assert_allclose(level.error(ARM.tree, q), level.error(ARM.tree, q, np.array([0, 0, -1.0])))
    with pytest.raises(mb.InputError, match="expected a direction as its target"):
        control.AxisTask("free", "tool", (0, 0, 1)).error(ARM.tree, q)


def test_posture_of_some_joints():
    """Rows are those of the joints that are named, in their order, and of all but a floating base otherwise."""
    q, goal = DOG.home(), DOG.random(np.random.default_rng(6))
    some = control.PostureTask("some", joints=["rf-knee", "lf-hip"]).on(DOG.tree)
    at = [next(j.v.start for j in DOG.joints if j.name == name) for name in some.joints]
    assert some.rows == 2
    assert_allclose(some.error(DOG.tree, q, goal), DOG.difference(q, goal)[at])
    assert_allclose(some.jacobian(DOG.tree, q), np.eye(18)[at])
    assert control.PostureTask("all").on(DOG.tree).rows == 12
    assert_allclose(control.PostureTask("all").jacobian(DOG.tree, q), np.eye(18)[6:])
    base = control.PostureTask("base", joints=("floating_base",)).on(DOG.tree)
    assert base.rows == 6
    with pytest.raises(mb.InputError, match=r"depends on the robot: ask task.on\(robot.tree\)"):
        _ = control.PostureTask("all").rows


def test_user_task_in_ten_lines():
    """A task of a user has all that those of the library have, by inheritance."""

    @dataclass(frozen=True)
    class Reach(control.Task):
        name: str
        frame: str
        rows = 1

        def error(self, tree, q, target):
            p = kinematics.pose(tree, self.frame, q).position
            return target - np.sqrt(np.sum(p * p, axis=-1, keepdims=True))

        def jacobian(self, tree, q):
            p = kinematics.pose(tree, self.frame, q).position
            J = mb.control.PositionTask("p", self.frame).jacobian(tree, q)
            return np.matmul((p / np.linalg.norm(p, axis=-1, keepdims=True))[..., None, :], J)

        def bias(self, tree, q, v):
            raise NotImplementedError

    task = Reach("far", "tool").on(ARM.tree)
    q = ARM.home()
    slopes = [
        (task.error(ARM.tree, q - EPS * d, 0.5) - task.error(ARM.tree, q + EPS * d, 0.5)) / (2 * EPS) for d in np.eye(7)
    ]
    assert_allclose(np.stack(slopes, axis=-1), task.jacobian(ARM.tree, q), atol=1e-9)
    assert task.weight == 1.0
    assert task.target_kind(ARM.tree) == 1
    assert task.row_names == ("far[0]",)


def test_frozen_and_exported():
    names = {name for name, value in vars(rooms).items() if isinstance(value, type)}
    assert len(names) == 13
    assert names <= set(control.__all__)
    task = control.PoseTask("hand", "tool", weight=2.0)
    with pytest.raises(FrozenInstanceError):
        task.weight = 1.0  # type: ignore[misc]
    assert hash(task) == hash(replace(task))
    assert task.row_names == ("hand.x", "hand.y", "hand.z", "hand.rx", "hand.ry", "hand.rz")


def test_bad_input():
    q, H = ARM.home(), ARM.pose("tool", ARM.home())
    for message, call in (
        ("gripper9", lambda: control.PoseTask("hand", "gripper9").on(ARM.tree)),
        ("positive weight, got -1", lambda: control.PoseTask("hand", "tool", weight=-1).on(ARM.tree)),
        (
            "'hand': expected a Pose as its target, got ndarray",
            lambda: control.PoseTask("hand", "tool").error(ARM.tree, q, np.eye(4)),
        ),
        (
            "'turn': expected a Rotation as its target, got Pose",
            lambda: control.OrientationTask("turn", "tool").error(ARM.tree, q, H),
        ),
        ("different letters of 'xyz', got 'xx'", lambda: control.PositionTask("p", "tool", axes="xx")),
        ("different letters of 'xyz', got ''", lambda: control.CenterOfMassTask("c", axes="")),
        ("point of task 'p'", lambda: control.PositionTask("p", "tool", point=(0, 1))),
        ("point of task 'p'.*finite", lambda: control.PositionTask("p", "tool", point=(0, 1, np.nan))),
        ("the target of task 'p'", lambda: control.PositionTask("p", "tool").error(ARM.tree, q, np.zeros(2))),
        ("axis of task 'a'.*not all zero", lambda: control.AxisTask("a", "tool", (0, 0, 0))),
        ("direction of task 'a'", lambda: control.AxisTask("a", "tool", (0, 0, 1), direction=(0, 0, 0))),
        ("elbow", lambda: control.PostureTask("rest", joints=("elbow",)).on(ARM.tree)),
        ("different names of joints, got 'joint1'", lambda: control.PostureTask("rest", joints="joint1")),
        ("the target of task 'rest'", lambda: control.PostureTask("rest").error(ARM.tree, q, np.zeros(3))),
        ("jacobian_toward", lambda: control.GazeTask("g", "tool", AXIS).jacobian(ARM.tree, q)),
        ("bias_toward", lambda: control.GazeTask("g", "tool", AXIS).bias(ARM.tree, q, q)),
    ):
        with pytest.raises(mb.InputError, match=message):
            call()
