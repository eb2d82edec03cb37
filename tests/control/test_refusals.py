"""Inputs that once gave wrong numbers in silence, or errors that did not say what was wrong."""

from dataclasses import dataclass
from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import multibody as mb
from multibody import control, simulate
from multibody.control import Level, Status

ARM = mb.load("planar-arm")
DOG = mb.load("quadruped")
FEET = [mb.constraints.PointContact(f, f) for f in DOG.frames if f.startswith("foot")]
PLACE, TURN, HAND = (
    control.PositionTask("place", "tool", axes="xz"),
    control.OrientationTask("turn", "tool"),
    control.PoseTask("hand", "tool"),
)
Q, V = np.array([0.4, 0.5, 0.6]), np.array([0.1, -0.2, 0.3])
BODY = control.WholeBody(ARM, [], [[PLACE]], limits=(control.VelocityLimits(), control.TorqueLimits()))


@dataclass(frozen=True)
class Heavy(control.PositionTask):
    """A task with an array, which cannot be hashed."""

    factors: object = None


LINK = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
JOINT = '<axis xyz="0 0 1"/><limit effort="1" velocity="1" lower="-1" upper="1"/>'


def bare():
    """A robot whose last joint moves nothing."""
    with pytest.warns(mb.RobotFileWarning, match="tip"):
        return mb.load(
            f'<robot name="bare"><link name="a">{LINK}</link><link name="b">{LINK}</link><link name="tip"/>'
            f'<joint name="j" type="revolute"><parent link="a"/><child link="b"/>{JOINT}</joint>'
            f'<joint name="free" type="revolute"><parent link="b"/><child link="tip"/>{JOINT}</joint></robot>',
            floating=False,
        )


@pytest.mark.parametrize(
    ("words", "call"),
    [
        ("'free' carries no inertia", lambda: control.WholeBody(bare(), [], [[control.PositionTask("t", "b")]])),
        ("'free' carries no inertia", lambda: control.OperationalSpace(bare(), "b", rows="position")),
        ("target: expected kp", lambda: control.gravity_compensation(ARM, Q, V, Q)),
        ("target: expected kp", lambda: control.inverse_dynamics_control(ARM, Q, V, Q, kd=1.0)),
        ("target: expected kp", lambda: control.joint_impedance(ARM, Q, V, Q, kp=None, kd=1.0)),
        ("kd: expected gains", lambda: control.joint_impedance(ARM, Q, V, Q, kp=1.0, kd=None)),
        ("damping_ratio: expected finite", lambda: control.gains(1.0, np.nan)),
        (r"frequency, damping_ratio: .*\(2,\), \(3,\)", lambda: control.gains([1.0, 2.0], [1.0, 1.0, 1.0])),
        (
            "task 'h': expected a frozen value",
            lambda: control.multi_task_control(ARM, Q, V, [[(Heavy("h", "tool", factors=np.ones(3)), V)]]),
        ),
        ("got Pose", lambda: control.VelocityControl(ARM, [[PLACE]])(Q, place=ARM.pose("tool", Q))),
        ("got Rotation", lambda: BODY(Q, V, place=ARM.pose("tool", Q).rotation, dt=0.1)),
        ("turn: expected a Rotation", lambda: control.VelocityControl(ARM, [[TURN]])(Q, turn=2 * np.eye(3))),
        ("hand: expected a Pose", lambda: control.VelocityControl(ARM, [[HAND]])(Q, hand=np.eye(4))),
        (
            "task 'still': expected something that panda can move",
            lambda: control.VelocityControl(mb.load("panda"), [[control.PositionTask("still", "link0")]]),
        ),
        (
            "task 'self': expected something that planar-arm can move",
            lambda: control.VelocityControl(ARM, [[control.RelativePoseTask("self", "tool", "tool")]]),
        ),
        ("place_gain.*not negative", lambda: control.VelocityControl(ARM, [[PLACE]])(Q, place=V[:2], place_gain=-1)),
        (
            r"dt \(sample 1\): expected a positive number, a time in s",
            lambda: BODY(Q, V, place=V[:2], dt=np.array([0.1, -0.1])),
        ),
        (
            "place_kp: expected finite numbers that are not negative",
            lambda: BODY(Q, V, place=V[:2], place_kp=-1.0, dt=0.1),
        ),
        (
            "place_kd: expected finite numbers that are not negative",
            lambda: BODY(Q, V, place=V[:2], place_kd=-1, dt=0.1),
        ),
        (
            "active: expected ones and zeros",
            lambda: control.VirtualModel(DOG, FEET)(DOG.home(), active=np.full(4, 0.5)),
        ),
        (
            "active: expected ones and zeros",
            lambda: control.floating_inverse_dynamics(
                DOG, FEET, DOG.home(), np.zeros(18), np.zeros(18), active=np.full(4, 2.0)
            ),
        ),
        (
            "no contact 'hoof' for a normal; there are 'foot-lf'",
            lambda: control.WholeBody(
                DOG,
                FEET,
                [[control.CenterOfMassTask("com")]],
                limits=(control.FrictionCones(0.6, normal={"hoof": (0, 1, 1)}),),
            ),
        ),
        (
            "contact 'sole' is a FrameContact.*expected a SurfaceContact",
            lambda: control.WholeBody(
                DOG,
                [mb.constraints.FrameContact("sole", "foot-lf")],
                [[control.CenterOfMassTask("com")]],
                limits=(control.FrictionCones(0.6),),
            ),
        ),
        (r"lower\[0\] = inf", lambda: control.qp(np.eye(2), V[:2], C=np.eye(2), lower=np.full(2, np.inf))),
        (
            r"lower of level 1.*upper\[1\] = -inf",
            lambda: control.hierarchical_qp([Level(C=np.eye(2), upper=[1.0, -np.inf])]),
        ),
    ],
)
def test_what_would_be_wrong_is_refused(words, call):
    with pytest.raises(mb.InputError, match=words):
        call()


@pytest.mark.parametrize(
    ("words", "springs"),
    [
        ("stiffness: expected finite numbers that are not negative", {"stiffness": -1.0}),
        (r"stiffness: .*symmetric", {"stiffness": np.triu(np.ones((6, 6)))}),
        ("stiffness: .*semi-definite matrix by its eigenvalues, got -1", {"stiffness": np.diag([1.0, 1, 1, 1, 1, -1])}),
        ("damping: expected finite numbers that are not negative", {"damping": [1.0, 1, 1, 1, 1, -1]}),
        ("inertia: expected positive numbers", {"inertia": 0.0}),
        (r"inertia \(sample 1\): .*definite", {"inertia": np.stack([np.eye(6), np.zeros((6, 6))])}),
    ],
)
def test_springs_that_are_none_are_refused(words, springs):
    space = control.OperationalSpace(ARM, "tool")
    with pytest.raises(mb.InputError, match=words):
        space.impedance(Q, V, ARM.pose("tool", Q), **{"stiffness": 1.0, "damping": 1.0, **springs})


def test_a_pid_keeps_the_time_of_its_simulator():
    pid = control.PID(ARM, 10.0, 5.0, 1.0, dt=0.01)
    assert simulate.Simulator(ARM, dt=0.002, controller=pid, state=pid.state, control_every=5).control_every == 5
    for options in ({"dt": 0.002}, {"dt": 0.01, "control_every": 2}):
        with pytest.raises(mb.InputError, match=r"controller: expected one that is asked every .* every 0.01 s"):
            simulate.Simulator(ARM, controller=pid, state=pid.state, **options)


def test_a_pid_looks_at_its_arguments():
    pid = control.PID(ARM, 10.0, 5.0, 1.0, dt=0.01)
    tau, state = pid(0.0, Q, V, Q, pid.state)
    lists = pid(0.0, Q.tolist(), V.tolist(), Q.tolist(), [0, 0, 0])
    assert_array_equal(lists, (tau, state))
    still = ARM.change(limits={j.name: mb.model.joint.Limits(effort=(0.0,)) for j in ARM.joints})
    for words, call in (
        ("q: expected", lambda: pid(0.0, np.zeros(4), V, Q, pid.state)),
        ("state: expected", lambda: pid(0.0, Q, V, Q, np.zeros(2))),
        ("state: expected", lambda: simulate.Simulator(ARM, dt=0.01, controller=pid, state=Q[:2])(Q, seconds=0.1)),
        ("kp: expected finite", lambda: control.PID(ARM, np.nan, 1.0, 1.0, dt=0.01)),
        ("dt: expected one number", lambda: control.PID(ARM, 1.0, 1.0, 1.0, dt=[0.01])),
        ("effort: .*got nan", lambda: control.PID(ARM, 1.0, 1.0, 1.0, dt=0.01, effort=np.nan)),
        ("effort: .*those of the model", lambda: control.PID(still, 1.0, 1.0, 1.0, dt=0.01)),
    ):
        with pytest.raises(mb.InputError, match=words):
            call()


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_no_command_for_numbers_that_are_none(value):
    """Torques, accelerations and forces are NaN together, and the neighbours in the batch have their bits."""
    asked = np.array([[1.0, 0.0], [1.0, value], [1.0, 0.0]])
    command, alone = BODY(Q, V, place_acceleration=asked, dt=0.1), BODY(Q, V, place_acceleration=asked[0], dt=0.1)
    assert np.isnan(command.tau[1]).all()
    assert np.isnan(command.a[1]).all()
    assert command.report.violated[1] == ["place"]
    for k in (0, 2):
        assert_array_equal(command.tau[k], alone.tau)
        assert_array_equal(command.a[k], alone.a)


def test_a_hierarchy_of_numbers_that_are_none_has_failed():
    b = np.array([[1.0, 2.0], [np.nan, 2.0], [np.inf, 2.0]])
    for box in ({}, {"C": np.eye(2), "upper": [5.0, 5.0]}):
        x, _, status = control.hierarchical_qp([Level(np.eye(2), b, **box)])
        assert_array_equal(status, [Status.SOLVED, Status.FAILED, Status.FAILED])
        np.testing.assert_allclose(x[0], [1.0, 2.0], atol=1e-9)


@pytest.mark.parametrize(
    ("name", "shape", "call"),
    [
        ("InverseKinematics", 3, lambda q: control.InverseKinematics(ARM, "tool")(ARM.pose("tool", Q), q0=q).q),
        ("InverseKinematics", 3, lambda p: ARM.inverse_kinematics("tool", mb.Pose(mb.Rotation.identity(), p)).q),
        ("iterate", 3, lambda q: control.iterate(ARM, "tool", ARM.pose("tool", Q), q).q),
        (
            "analytic_solutions",
            3,
            lambda p: control.analytic_solutions(ARM, "tool", mb.Pose(mb.Rotation.identity(), p)),
        ),
    ],
)
def test_what_cannot_be_traced_says_so(name, shape, call):
    with pytest.raises(mb.InputError, match=f"{name} cannot be a part of a kernel"):
        mb.compile(call, shape)


@pytest.mark.parametrize("size", [1e-200, 1e160, 1e200])
@pytest.mark.parametrize("place", [0, 1, 2])
def test_a_level_may_have_any_units(size, place):
    """Bounds of legs times 1e160 were dropped, as the squares of their rows are infinite, and the answer was SOLVED."""
    factors = np.where(np.arange(3) == place, size, 1.0)
    legs = Level(C=factors[0] * np.eye(3), lower=np.zeros(3), upper=np.full(3, factors[0] * 125.0))
    moment = Level(factors[1] * np.array([[-1.0, 0.0, 1.0]]), [factors[1] * 60.0])
    weight = Level(factors[2] * np.ones((1, 3)), [factors[2] * 500.0])
    x, _, status = control.hierarchical_qp([legs, moment, weight])
    assert status == Status.SOLVED
    np.testing.assert_allclose(x, [65.0, 125.0, 125.0], rtol=1e-7)


def test_numbers_of_numpy_are_numbers():
    for make in (
        lambda x: control.PositionTask("h", "tool", weight=x).on(ARM.tree),
        lambda x: control.TorqueLimits(fraction=x),
        lambda x: control.JointLimits(deceleration=x),
        lambda x: control.FrictionCones(x, minimum=x),
        lambda x: control.OperationalSpace(ARM, "tool", heaviest=x),
        lambda x: control.VelocityControl(ARM, [[PLACE]], damping=x),
        lambda x: control.VirtualModel(DOG, FEET, friction=0.5, minimum=x),
    ):
        for x in (np.float32(2.0), np.int64(2), 2):
            make(x)
        for x in (True, "2", np.nan):
            with pytest.raises(mb.InputError):
                make(x)


def test_joints_without_a_motor_have_no_torque():
    """A pole on a cart: its hinge was given torques, and gears of motors were not looked at."""
    cart = mb.load("cart-pendulum")
    q, v = np.array([0.0, 0.3]), np.array([0.1, -0.2])
    assert_array_equal(cart.tree.effort_limits > 0, (cart.selection != 0).any(axis=0))
    command = control.WholeBody(cart, [], [[control.PostureTask("rest")]], limits=(control.TorqueLimits(),))(
        q, v, rest=0 * q
    )
    assert abs(command.tau[1]) < 1e-9
    assert command.report.violated == ["rest"]
    np.testing.assert_allclose(cart.forward_dynamics(q, v, command.tau), command.a, rtol=1e-9)
    pid = control.PID(cart, 10.0, 1.0, 1.0, dt=0.002)
    assert pid(0.0, q, v, 0 * q, pid.state)[0][1] == 0.0
    law = simulate.Simulator(cart, effort=True, controller=lambda _, q, v: control.gravity_compensation(cart, q, v))
    assert np.abs(law(q, seconds=0.1).tau[:, 1]).max() == 0.0
    free = simulate.Simulator(cart)(q, seconds=0.1)
    np.testing.assert_allclose(law(q, seconds=0.1).q, free.q, atol=1e-12)  # no motor helps where there is none


def test_limits_of_motors_are_behind_their_gears():
    ball = mb.model.shapes.Sphere(0.1)
    b = mb.Builder("arm").body("base").body("upper", shape=ball, mass=1.0).body("fore", shape=ball, mass=1.0)
    hinge = mb.model.joints.Revolute("y")
    b.joint("shoulder", hinge, parent="base", child="upper", limits=mb.model.joint.Limits(effort=30.0))
    b.joint("elbow", hinge, parent="upper", child="fore")
    b.actuator("first", "shoulder", gear=-20.0, effort=2.0).actuator("second", "elbow", gear=5.0, effort=2.0)
    b.actuator("third", "elbow", gear=5.0, effort=1.0)
    assert_array_equal(mb.Robot(b).tree.effort_limits, [30.0, 15.0])
    assert_array_equal(mb.Robot(b).limits.effort, [30.0, 15.0])


def move(task, *limits):
    return control.VelocityControl(ARM, [[task]], limits=limits)


def threads(n):
    return control.InverseKinematics(ARM, "tool", axes="xz")(TIP, threads=n)


GAINED = {
    "kp": lambda x: control.joint_impedance(ARM, Q, V, Q, kp=x, kd=1.0),
    "kd": lambda x: control.gravity_compensation(ARM, Q, V, kd=x),
    "ki": lambda x: control.PID(ARM, 1.0, x, 1.0, dt=0.01),
    "position_gain": lambda x: control.track_pose(ARM, "tool", Q, TIP, position_gain=x),
    "rotation_gain": lambda x: control.track_pose(ARM, "tool", Q, TIP, rotation_gain=x),
    "place_gain": lambda x: MOVE(Q, place=V[:2], dt=0.1, place_gain=x),
    "place_kp": lambda x: BODY(Q, V, place=V[:2], dt=0.1, place_kp=x),
    "dt": lambda x: MOVE(Q, place=V[:2], dt=x),
    "stiffness": lambda x: SPACE.impedance(Q, V, TIP, stiffness=x, damping=1.0),
    "damping": lambda x: SPACE.impedance(Q, V, TIP, stiffness=1.0, damping=np.full((6, 6), x)),
    "inertia": lambda x: SPACE.impedance(Q, V, TIP, stiffness=1.0, damping=1.0, inertia=x),
}
NAN, INF = np.nan, np.inf
TIP = ARM.pose("tool", Q)
MOVE, SPACE = (
    control.VelocityControl(ARM, [[PLACE]], limits=(control.JointLimits(),)),
    control.OperationalSpace(ARM, "tool"),
)
COM = [[control.CenterOfMassTask("com")]]
TWICE = [FEET[0], FEET[0], FEET[1]]
SILENT = {
    "no bounds of C": ("C: expected bounds", lambda: control.qp(np.eye(2), V[:2], C=np.eye(2))),
    "no bounds of a level": ("C of level 1: expected bounds", lambda: control.hierarchical_qp([Level(C=np.eye(2))])),
    "task without a name": ("task PositionTask: expected a name", lambda: move(control.PositionTask("", "tool"))),
    "task called 3": ("task PositionTask: expected a name", lambda: move(control.PositionTask(3, "tool"))),
    "limit without a name": ("limit VelocityLimits: expected a name", lambda: move(PLACE, control.VelocityLimits(""))),
    "contacts of one name, virtual model": ("contacts: expected different", lambda: control.VirtualModel(DOG, TWICE)),
    "contacts of one name, frame": (
        "contacts: expected different",
        lambda: control.OperationalSpace(DOG, "trunk", contacts=TWICE),
    ),
    "eliminate in words": ("eliminate: expected", lambda: control.WholeBody(DOG, FEET, COM, eliminate="no")),
    "eliminate nothing": (
        "eliminate: expected contacts",
        lambda: control.WholeBody(ARM, [], [[PLACE]], eliminate=True),
    ),
    "step without end": ("step: expected a positive number", lambda: control.iterate(ARM, "tool", TIP, Q, step=INF)),
    "step back": ("step: expected a positive number", lambda: control.iterate(ARM, "tool", TIP, Q, step=-1.0)),
    "damping nan": ("damping: expected finite", lambda: control.iterate(ARM, "tool", TIP, Q, "damped", damping=NAN)),
    "tolerance nan": ("tolerance: expected finite", lambda: control.iterate(ARM, "tool", TIP, Q, tolerance=NAN)),
    "iterations True": ("iterations: expected", lambda: control.iterate(ARM, "tool", TIP, Q, iterations=True)),
    "kp without a target": (
        "place_kp: expected the target place=",
        lambda: BODY(Q, V, place_acceleration=V[:2], place_kp=1.0, dt=0.1),
    ),
    "normals without a direction": (
        "normals.*: expected a direction",
        lambda: control.WholeBody(DOG, FEET, COM)(
            DOG.home(), np.zeros(DOG.nv), com_acceleration=V, normals=np.zeros((len(FEET), 3))
        ),
    ),
    **{
        f"seed {bad}": ("seed: expected a whole number", partial(control.InverseKinematics(ARM, "tool"), TIP, seed=bad))
        for bad in (-1, 1.5)
    },
    "threads with daqp": (
        "threads: expected None with solver='daqp'",
        lambda: BODY(Q, V, place=V[:2], dt=0.1, solver="daqp", threads=2),
    ),
    **{f"{n} threads": ("threads: expected a positive integer", partial(threads, n)) for n in (0, -1, 1.5)},
    **{
        f"{name} {bad}": (f"{name}.*: expected (finite|a positive|positive)", partial(law, bad))
        for bad in (NAN, INF, -1.0)
        for name, law in GAINED.items()
    },
}


@pytest.mark.parametrize("case", SILENT)
def test_what_was_accepted_in_silence_is_refused(case):
    words, call = SILENT[case]
    with pytest.raises(mb.InputError, match=words):
        call()


def test_the_rate_of_a_momentum_is_a_sum():
    """Its target alone was what counted of both."""
    body, h = control.WholeBody(ARM, [], [[control.MomentumTask("spin")]]), 1e-2 * np.arange(6.0)
    both, one = body(Q, V, spin=h, spin_acceleration=2.0 * h), body(Q, V, spin=3.0 * h)
    np.testing.assert_allclose(both.a, one.a, rtol=1e-9)


def test_a_gain_of_one_sample_is_named():
    with pytest.raises(mb.InputError, match=r"place_gain \(sample 1\): expected finite numbers .* got nan"):
        control.VelocityControl(ARM, [[PLACE]])(np.stack([Q, Q]), place=V[:2], place_gain=np.array([1.0, np.nan]))


@pytest.mark.parametrize("shape", [(0,), (2, 0), (0, 3)])
def test_empty_batches(shape):
    q, v = np.zeros((*shape, 3)), np.zeros((*shape, 3))
    assert control.joint_impedance(ARM, q, v, q, kp=1.0, kd=1.0).shape == (*shape, 3)
    assert MOVE(q, place=np.zeros((*shape, 2)), dt=0.1).shape == (*shape, 3)
    assert SPACE(q, v).shape == (*shape, 3)
    command = BODY(q, v, place=np.zeros((*shape, 2)), dt=0.1)
    assert command.tau.shape == (*shape, 3)
    assert control.iterate(ARM, "tool", TIP, q, iterations=2).q.shape[1:] == (*shape, 3)


def test_memory_layouts_and_single_precision_change_no_numbers():
    q = np.linspace(0.1, 0.9, 24).reshape(3, 8).T[::2]  # neither C nor contiguous
    v, goal = np.asfortranarray(0.1 * q), np.ones((8, 2))[::2]
    for law in (
        lambda q, v: control.joint_impedance(ARM, q, v, Q, kp=1.0, kd=1.0),
        lambda q, _: MOVE(q, place=goal, dt=0.1),
        lambda q, v: SPACE(q, v),
        lambda q, v: BODY(q, v, place=goal, dt=0.1).tau,
        lambda q, _: control.track_pose(ARM, "tool", q, TIP, rows="position"),
    ):
        plain = law(q.copy(), v.copy())
        assert_array_equal(law(q, v), plain)
        single = np.asarray(q, np.float32), np.asarray(v, np.float32)
        np.testing.assert_allclose(law(*single), law(*(x.astype(float) for x in single)), rtol=1e-12)
