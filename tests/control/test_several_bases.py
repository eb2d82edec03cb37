"""Robots with several bases: no controller drives a free body, and the equations of motion hold for each robot."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import multibody as mb
from multibody import control
from multibody.control.floating_base_inverse_dynamics import distribute_torques
from multibody.control.inverse_kinematics.textbook_iteration import ROTATION_VECTOR
from multibody.control.joint_space import LAWS
from multibody.control.operational_space_laws import Laws
from multibody.model import actuation
from multibody.model.joints import Floating, Revolute

DOG, PANDA, ARM = mb.load("quadruped"), mb.load("panda"), mb.load("planar-arm")
BALL = mb.Robot(mb.Builder("ball").body("ball", shape=mb.model.shapes.Sphere(0.1), mass=0.4).model(floating=True))
LIMITS = (control.TorqueLimits(), control.FrictionCones(0.6))
GRAVITY = np.array([0.0, 0.0, -9.81])


def feet_of(prefix=""):
    return [mb.constraints.PointContact(prefix + f, prefix + f) for f in DOG.frames if f.startswith("foot")]


def dog_tasks(prefix=""):
    return [
        [
            control.OrientationTask(f"{prefix}trunk", f"{prefix}trunk"),
            control.PositionTask(f"{prefix}place", f"{prefix}trunk"),
        ],
        [control.PostureTask(f"{prefix}rest", tuple(prefix + j.name for j in DOG.joints[1:]))],
    ]


def arm_tasks(robot, frame):
    return [[control.PositionTask(frame, frame)], [control.PostureTask("rest", tuple(j.name for j in robot.joints))]]


def whole(name):
    """The combined robot, its parts with their prefixes in the order of q, contacts, tasks and limits."""
    if name == "dog, ball":
        return DOG.beside(BALL, prefix="b_"), [(DOG, ""), (BALL, "b_")], feet_of(), dog_tasks(), LIMITS
    if name == "ball, dog":
        return BALL.beside(DOG, prefix="d_"), [(BALL, ""), (DOG, "d_")], feet_of("d_"), dog_tasks("d_"), LIMITS
    if name == "panda, ball":
        return PANDA.beside(BALL), [(PANDA, ""), (BALL, "")], [], arm_tasks(PANDA, "tool"), LIMITS[:1]
    if name == "ball, panda":
        return BALL.beside(PANDA), [(BALL, ""), (PANDA, "")], [], arm_tasks(PANDA, "tool"), LIMITS[:1]
    if name == "arm, ball, panda":
        robot = ARM.beside(BALL).beside(PANDA, prefix="p_")
        tasks = [[control.PositionTask("p_tool", "p_tool"), control.PositionTask("tool", "tool", axes="xz")]]
        tasks += [[control.PostureTask("rest", tuple(j.name for j in robot.joints if "floating" not in j.name))]]
        return robot, [(ARM, ""), (BALL, ""), (PANDA, "p_")], [], tasks, LIMITS[:1]
    levels = [first + second for first, second in zip(dog_tasks(), dog_tasks("b_"), strict=True)]
    return DOG.beside(DOG, prefix="b_"), [(DOG, ""), (DOG, "b_")], feet_of() + feet_of("b_"), levels, LIMITS


NAMES = ["dog, ball", "ball, dog", "panda, ball", "ball, panda", "arm, ball, panda", "dog, dog"]


def state(parts, seed=3):
    rng = np.random.default_rng(seed)
    q, v = [], []
    for part, _ in parts:
        speed = 0.3 * rng.standard_normal(part.nv)
        v.append(speed)
        q.append(part.integrate(part.home(), 0.3 * rng.standard_normal(part.nv)))
    return q, v


def asked(tasks):
    rng = np.random.default_rng(5)
    each = [task for level in tasks for task in level]
    counts = [len(task.joints) if isinstance(task, control.PostureTask) else task.rows for task in each]
    return {f"{task.name}_acceleration": 0.2 * rng.standard_normal(n) for task, n in zip(each, counts, strict=True)}


def jacobian_of(robot, frames, q, h=1e-6):
    """(3 per frame, nv), by central differences of positions."""
    columns = []
    for step in h * np.eye(robot.nv):
        ahead, back = robot.integrate(q, step), robot.integrate(q, -step)
        columns.append([(robot.pose(f, ahead).position - robot.pose(f, back).position) / (2 * h) for f in frames])
    return np.array(columns).reshape(robot.nv, 3 * len(frames)).T


@pytest.mark.parametrize("name", NAMES)
def test_whole_body_drives_joints_alone(name):
    """S^T tau + J^T f = M a + h of every robot by itself, J by differences; free bodies fall freely."""
    robot, parts, contacts, tasks, limits = whole(name)
    tasks[0].append(control.CenterOfMassTask("com"))  # which a torque on a free body would serve
    q, v = state(parts)
    body = control.WholeBody(robot, contacts, tasks, limits=limits)
    problem = body.problem  # without a kernel, whose compilation takes minutes for two robots
    values = {"q": np.concatenate(q), "v": np.concatenate(v), **asked(tasks)}
    tau, a, f, *_, residuals = problem.solution(values)
    assert_allclose(residuals, 0.0, atol=1e-6)
    start, push = 0, 0
    for (part, prefix), own_q, own_v in zip(parts, q, v, strict=True):
        own = slice(start, start + part.nv)
        start += part.nv
        floating = [
            k for joint in part.joints if isinstance(joint.kind, Floating) for k in range(joint.v.start, joint.v.stop)
        ]
        assert_array_equal(tau[own][floating], 0.0)
        frames = [c.name.removeprefix(prefix) for c in contacts] if part is DOG else []
        frames = frames[:4]
        force = f[push : push + 3 * len(frames)]
        push += 3 * len(frames)
        load = part.inverse_dynamics(own_q, own_v, a[own])
        J = jacobian_of(part, frames, own_q) if frames else np.zeros((0, part.nv))
        assert_allclose(tau[own] + J.T @ force, load, atol=1e-8 * max(1.0, np.abs(load).max()))
        if part is BALL:  # a sphere: Euler's equations have no gyroscopic moment
            fall = part.acceleration("ball", own_q, own_v, a[own])
            assert_allclose(fall, np.concatenate([GRAVITY, np.zeros(3)]), atol=1e-9)


@pytest.mark.parametrize(("name", "solver"), [("ball, dog", "interior-point"), ("panda, ball", "daqp")])
def test_a_body_beside_a_robot_changes_nothing(name, solver):
    robot, parts, contacts, tasks, limits = whole(name)
    q, v = state(parts)
    wished = asked(tasks)
    together = control.WholeBody(robot, contacts, tasks, limits=limits)
    number = next(k for k, (part, _) in enumerate(parts) if part is not BALL)
    part, prefix = parts[number]
    own_tasks = dog_tasks() if part is DOG else arm_tasks(PANDA, "tool")
    alone = control.WholeBody(part, feet_of() if part is DOG else [], own_tasks, limits=limits)
    with mb.eager():  # kernels are compared in test_whole_body.py
        both = together(np.concatenate(q), np.concatenate(v), solver=solver, **wished)
        single = alone(q[number], v[number], solver=solver, **{k.removeprefix(prefix): x for k, x in wished.items()})
    start = sum(part.nv for part, _ in parts[:number])
    own = slice(start, start + part.nv)
    for ours, theirs in ((both.tau[own], single.tau), (both.a[own], single.a), (both.f, single.f)):
        assert_allclose(ours, theirs, atol=2e-6 * max(1.0, np.abs(theirs).max(initial=0.0)))
    assert_allclose(both.report.residuals, 0.0, atol=1e-6)


def test_torque_tasks_of_joints_behind_a_base_in_the_middle():
    robot, parts, *_ = whole("arm, ball, panda")
    q, v = state(parts)
    names = ("p_joint4", "joint2")
    body = control.WholeBody(robot, [], [[control.TorqueTask("hold", names)]])
    tau = body(np.concatenate(q), np.concatenate(v), hold=[3.0, -2.0]).tau
    places = [next(j.v.start for j in robot.joints if j.name == name) for name in names]
    assert_allclose(tau[places], [3.0, -2.0], atol=1e-9)


@pytest.mark.parametrize("robot", [DOG, PANDA.beside(BALL)])
def test_torques_of_a_joint_that_floats_are_refused(robot):
    """They once were the torques of the last joints."""
    with pytest.raises(mb.InputError, match=r"task 'push': expected actuated joints, got .*floating_base"):
        control.TorqueTask("push", ("floating_base",)).on(robot.tree, ())


def test_a_floating_robot_beside_a_fixed_one_needs_contacts():
    with pytest.raises(mb.InputError, match="contacts: expected at least one"):
        control.WholeBody(ARM.beside(DOG), [], [[control.PositionTask("t", "trunk")]])


def test_a_joint_that_floats_inside_of_the_tree_has_no_motor():
    builder = (
        mb.Builder("carrier")
        .body("cart", shape=mb.model.shapes.Sphere(0.2), mass=2.0)
        .body("free", shape=mb.model.shapes.Sphere(0.1), mass=1.0)
    )
    builder.joint("hinge", Revolute("y"), parent=None, child="cart").joint(
        "fly", Floating(), parent="cart", child="free"
    )
    robot = mb.Robot(builder.model())
    tree = robot.tree
    assert actuation.actuated_indices(tree) == [0]
    assert actuation.base_velocity_indices(tree) == [1, 2, 3, 4, 5, 6]
    q, v = robot.neutral(), 0.1 * np.arange(7.0)
    body = control.WholeBody(robot, [], [[control.PostureTask("rest", ("hinge",))]])
    tau, a, _, _ = body(q, v, rest_acceleration=[1.0])
    assert_array_equal(tau[1:], 0.0)
    assert_allclose(robot.inverse_dynamics(q, v, a), tau, atol=1e-9)
    for law in (
        control.joint_impedance(robot, q, v, q, kp=1.0, kd=1.0),
        control.gravity_compensation(robot, q, v, kd=1.0),
        control.inverse_dynamics_control(robot, q, v, q, kp=1.0, kd=1.0),
    ):
        assert_array_equal(law[1:], 0.0)
    with pytest.raises(mb.InputError, match="contacts: expected at least one"):
        control.multi_task_control(robot, q, v, [[(control.PostureTask("rest"), [1.0])]])
    with pytest.raises(mb.InputError, match="contacts: expected at least one"):
        control.OperationalSpace(robot, "cart", rows="position")  # the free body pushes on what carries it


@pytest.mark.parametrize("name", NAMES)
def test_other_laws_leave_free_bodies_alone(name):
    """The laws as NumPy: kernels of so many robots take minutes."""
    robot, parts, contacts, *_ = whole(name)
    parts_q, parts_v = state(parts)
    tree, q, v = robot.tree, np.concatenate(parts_q), np.concatenate(parts_v)
    bases, gain = actuation.base_velocity_indices(tree), np.array(10.0)
    assert len(bases) == 6 * len(tree.bases)
    torques = [law(tree, q, v, target=robot.home(), kp=gain, kd=gain) for law in list(LAWS.values())[:3]]
    torques.append(LAWS["friction_compensation"](tree, v, np.array(0.01)))
    if contacts:
        torques.append(distribute_torques(tree, contacts, q, v))
        frame = next(frame for frame in robot.frames if frame.endswith("trunk"))
        laws = Laws(frame, slice(0, 6), tuple(contacts), "joint", ROTATION_VECTOR, 1e9)
        torques.append(laws.torques(tree, q, v, acceleration=np.zeros(6)))
    for tau in torques:
        assert_array_equal(tau[bases], 0.0)
        assert np.isfinite(tau).all()


def test_a_body_without_motors_has_the_forces_of_its_contacts():
    """Least forces carry a box equally; those of one corner are of the constrained dynamics."""
    builder = mb.Builder("box").body("box", shape=mb.model.shapes.Box((0.4, 0.4, 0.2)), mass=2.0)
    corners = [(x, y, -0.1) for x in (-0.2, 0.2) for y in (-0.2, 0.2)]
    for k, place in enumerate(corners):
        builder.frame(f"corner{k}", "box", place)
    box = mb.Robot(builder.model(floating=True))
    contacts = [mb.constraints.PointContact(f"corner{k}", f"corner{k}") for k in range(4)]
    q, v, levels = box.home(), np.zeros(6), [[control.CenterOfMassTask("com")]]
    body = control.WholeBody(box, contacts, levels, limits=(control.TorqueLimits(), control.FrictionCones(0.6)))
    tau, a, f, report = body(q, v, com_acceleration=np.zeros(3))
    assert_array_equal(tau, np.zeros(6))
    assert_allclose(a, 0.0, atol=1e-9)
    assert_allclose(f.reshape(4, 3), np.tile([0.0, 0.0, 2.0 * 9.81 / 4], (4, 1)), atol=1e-9)
    assert not report.violated
    tau, a, f, _ = control.WholeBody(box, contacts[:1], levels)(q, v, com_acceleration=np.zeros(3))
    expected = box.constrained_dynamics(contacts[:1], q, v, tau)
    assert_allclose(a, expected.acceleration, atol=1e-9)
    assert_allclose(f, expected.force, atol=1e-9)
    with pytest.raises(mb.InputError, match=r"contacts: expected at least one .* without motors"):
        control.WholeBody(box, [], levels)
    with pytest.raises(mb.InputError, match="eliminate: expected motors"):
        control.WholeBody(box, contacts[:1], levels, eliminate=True)


def test_limits_that_bound_no_joint_change_nothing():
    builder = mb.Builder("wheel").body("wheel", shape=mb.model.shapes.Sphere(0.1), mass=1.0)
    wheel = mb.Robot(builder.joint("axle", Revolute("y"), parent=None, child="wheel").model())
    limits = control.TorqueLimits(), control.VelocityLimits(), control.JointLimits()
    body = control.WholeBody(wheel, [], [[control.PostureTask("rest")]], limits=limits)
    assert_allclose(body([0.3], [0.2], rest_acceleration=[1.0], dt=0.01).a, [1.0], atol=1e-9)


@pytest.mark.parametrize("compensation", ["joint", "task"])
def test_operational_space_beside_a_free_body_is_that_of_the_arm(compensation):
    rng, options = np.random.default_rng(7), {"rows": "position", "compensation": compensation}
    q, v, push = PANDA.home() + 0.1 * rng.standard_normal(7), rng.standard_normal(7), np.array([1.0, 2.0, 3.0])
    ball_q, ball_v = BALL.integrate(BALL.home(), rng.standard_normal(6)), rng.standard_normal(6)
    tau0, pose = rng.standard_normal(7), PANDA.pose("tool", q + 0.1)
    spring = {"stiffness": 100.0, "damping": 5.0}
    alone = control.OperationalSpace(PANDA, "tool", **options)
    for robot, arm, body in (
        (PANDA.beside(BALL), slice(0, 7), slice(7, 13)),
        (BALL.beside(PANDA), slice(6, 13), slice(0, 6)),
    ):
        both = control.OperationalSpace(robot, "tool", **options)
        first = arm.start == 0
        all_q = np.concatenate([q, ball_q] if first else [ball_q, q])
        all_v, all_tau0 = np.zeros(13), np.ones(13)
        all_v[arm], all_v[body], all_tau0[arm] = v, ball_v, tau0
        tau = both(all_q, all_v, acceleration=push, tau0=all_tau0)
        assert_allclose(tau[arm], alone(q, v, acceleration=push, tau0=tau0), atol=1e-9)
        assert_array_equal(tau[body], 0.0)
        tau = both.impedance(all_q, all_v, pose, **spring)
        assert_allclose(tau[arm], alone.impedance(q, v, pose, **spring), atol=1e-9)
        assert_array_equal(tau[body], 0.0)
        assert_allclose(both.bias(all_q, all_v), alone.bias(q, v), atol=1e-9)
        assert_allclose(both.gravity(all_q), alone.gravity(q), atol=1e-9)
        with pytest.raises(mb.InputError, match="contacts: expected at least one"):
            control.OperationalSpace(robot, "ball")


def test_the_default_bound_of_inertia_leaves_free_bodies_out():
    """A planar arm is singular everywhere in three rows: its torques depend on the bound."""
    q, v, up = np.array([0.3, -0.4, 0.5]), np.array([0.1, 0.2, 0.3]), np.ones(3)
    tau = control.OperationalSpace(ARM.beside(BALL), "tool", rows="position")(
        np.concatenate([q, BALL.home()]), np.concatenate([v, np.zeros(6)]), acceleration=up
    )
    alone = control.OperationalSpace(ARM, "tool", rows="position")(q, v, acceleration=up)
    assert_allclose(tau, [*alone, *np.zeros(6)], atol=1e-9)
