"""Wrong calls of the face: one typed error that says what was given, what was expected, and where."""

import numpy as np
import pytest

import multibody as mb
from multibody.errors import InputError, SingularityError
from multibody.model.builder import Builder
from multibody.model.joint import Passive
from multibody.model.joints import Revolute, Spherical

from ..laws.tools import near
from .robots import robot_of


@pytest.fixture
def arm():
    return robot_of("double-pendulum")


@pytest.fixture
def free():
    """nq 7, nv 6."""
    return robot_of("free-body-se3")


def says(call, *words):
    """Assert that a call raises an InputError whose message has all of the words."""
    with pytest.raises(InputError) as caught:
        call()
    for word in words:
        assert word in str(caught.value), str(caught.value)


def test_wrong_sizes(arm, free):
    q, v = free.neutral(), np.zeros(6)
    says(lambda: free.mass_matrix(v), "q needs the shape (..., 7)", "got (6,)", "6 is its nv")
    says(lambda: free.bias(q, q), "v needs the shape (..., 6)", "got (7,)", "7 is its nq")
    says(lambda: free.inverse_dynamics(q, v, q), "a needs the shape (..., 6)", "7 is its nq")
    says(lambda: free.forward_dynamics(q, v, q), "tau needs the shape (..., 6)")
    says(lambda: free.integrate(q, q), "dv needs the shape (..., 6)")
    says(lambda: free.difference(q, v), "q1 needs the shape (..., 7)")
    says(lambda: arm.mass_matrix(np.zeros(5)), "(..., 2)", "got (5,)")
    says(lambda: arm.mass_matrix(np.zeros((2, 5))), "(..., 2)", "got (2, 5)")
    says(lambda: arm.mass_matrix(1.0), "(..., 2)", "got ()")
    says(lambda: arm.bias(np.zeros((3, 2)), np.zeros((4, 2))), "do not broadcast", "q (3,)", "v (4,)")
    says(lambda: arm.point_velocity(arm.frames[-1], np.zeros(2), np.zeros(3), np.zeros(3)), "v needs the shape")
    says(lambda: arm.point_velocity(arm.frames[-1], np.zeros(2), np.zeros(2), np.zeros(2)), "point", "(..., 3)")
    says(lambda: free.rate_matrix(v), "q needs the shape")
    says(lambda: free.interpolate(q, v, 0.5), "q1 needs the shape")
    says(lambda: free.interpolate(np.stack([q] * 3), q, np.zeros(4)), "q0 and q1, t: batch shapes (3,), (4,) do not")


def test_what_is_no_number(arm):
    says(lambda: arm.mass_matrix("home"), "q", "float")
    says(lambda: arm.mass_matrix(["a", "b"]), "q", "float")
    says(lambda: arm.mass_matrix(None), "q", "float")
    says(lambda: arm.mass_matrix(np.zeros(2, complex)), "q", "complex128")
    says(lambda: arm.mass_matrix([[0.0, 1.0], [2.0]]), "q", "ragged")
    says(lambda: arm.bias(np.zeros(2), "still"), "v", "float")


def test_unknown_names(arm):
    q = arm.neutral()
    near_name = arm.frames[-1][:-1] + "x"
    for call in (
        lambda: arm.pose(near_name, q),
        lambda: arm.jacobian(near_name, q),
        lambda: arm.jacobian_in(arm.frames[-1], q, written_in=near_name),
        lambda: arm.relative_jacobian(arm.frames[0], near_name, q),
        lambda: arm.point_jacobian(near_name, q, np.zeros(3)),
        lambda: arm.inverse_dynamics(q, q, q, {near_name: np.zeros(6)}),
        lambda: arm.kernel("jacobian", near_name),
    ):
        says(call, f"no frame is named {near_name!r}", "did you mean", repr(arm.frames[-1]))
    says(lambda: arm.pose("?", q), "no frame is named '?'; it has", repr(arm.frames[0]))
    says(lambda: arm.pose(3, q), "no frame is named 3")
    says(lambda: arm.pose(["a"], q), "no frame is named ['a']")
    says(
        lambda: arm.kernel("inverse_dynamic"), "no quantity is named 'inverse_dynamic'; did you mean 'inverse_dynamics'"
    )
    says(lambda: arm.kernel("jacobian", arm.frames[-1], representation="body"), "'left', 'right', 'mixed', got 'body'")
    says(lambda: arm.velocity(arm.frames[-1], q, q, "kindr"), "'left', 'right', 'mixed', got 'kindr'")
    says(lambda: arm.velocity(arm.frames[-1], q, q, ["left"]), "representation", "got ['left']")
    says(lambda: arm.kernel("mass_matrix", representation="left"), "has no option 'representation'; it has none")
    says(lambda: arm.kernel("mass_matrix", arm.frames[0]), "takes no frame")
    says(lambda: arm.kernel("jacobian"), "needs a frame")
    says(lambda: arm.kernel("mass_matrix", wrenches=[arm.frames[0]]), "takes no external wrenches")
    says(lambda: arm.lock({"shoulde": 0.0}), "no joint is named 'shoulde'")


def test_arguments_of_another_kind(arm):
    """What would pass without a word, or end in an error of Python's."""
    q, tip = arm.neutral(), arm.frames[-1]
    says(lambda: arm.acceleration(tip, q, q, q, intrinsic="no"), "intrinsic: expected True or False, got 'no'")
    says(lambda: arm.rate_matrix(q, "quat"), "parameterisation of an orientation", "got 'quat'")
    says(lambda: arm.rate_inverse(q, "quat"), "parameterisation of an orientation", "got 'quat'")
    says(lambda: arm.kernel("inverse_dynamics", wrenches=[tip, tip]), "expected every frame once", tip)
    says(lambda: arm.kernel("inverse_dynamics", wrenches=tip), "expected a list of frames", tip)
    says(lambda: arm.kernel("inverse_dynamics", wrenches=[[tip]]), "wrenches: expected a list of frames, got [[")
    says(lambda: arm.kernel("inverse_dynamics", wrenches=np.eye(2)), "wrenches: expected a list of frames, got array")
    says(lambda: arm.kernel("jacobian", tip, optional=[["damping"]]), "optional: expected a list of inputs, got [[")
    says(lambda: arm.jacobian(tip, q, np.eye(2)), "representation: expected one of 'left'", "got array")
    says(lambda: arm.rate_matrix(q, np.eye(2)), "parameterisation of an orientation", "got array")
    says(lambda: arm.rate_inverse(q, np.eye(2)), "parameterisation of an orientation", "got array")
    says(lambda: arm.astype(np.eye(2)), "dtype: expected float64 or float32, got array")
    says(lambda: arm.check(q, limits="no"), "limits: expected True or False, got 'no'")
    says(lambda: arm.kernel(["jacobian"]), "no quantity is named ['jacobian']")
    says(lambda: arm.derivatives("velocity", q, q, frame=tip, representation=["left"]), "got ['left']")
    says(lambda: arm.jacobian_in(tip, q, written_in=3), "written_in: expected the name of a frame or a Pose, got int")
    for bad in ([6], [0.5], [-1], []):
        says(lambda bad=bad: arm.manipulability(tip, q, bad), "coordinates: expected some of 0 to 5", str(bad))
    says(lambda: arm.lock(["shoulder"]), "expected {joint: value}, got list")
    says(lambda: arm.attach(3, frame=tip), "attach: expected a Robot, got int")
    says(lambda: arm.scale("two"), "expected a positive factor, got 'two'")


def test_unknown_rotations_of_a_base(free):
    says(lambda: free.rate_matrix(free.neutral(), "quat"), "parameterisation of an orientation", "got 'quat'")
    says(lambda: free.jacobian_in("body", free.neutral(), base="lft"), "no frame or representation is named 'lft'")
    says(lambda: mb.load("free-body-se3", velocity="world"), "'left', 'right', 'mixed', 'kindr', got 'world'")


def test_wrenches(arm):
    q, tip = arm.neutral(), arm.frames[-1]
    for bad in ([(tip, np.zeros(6))], np.zeros(6), tip, 3):
        says(
            lambda bad=bad: arm.inverse_dynamics(q, q, q, bad),
            "wrenches: expected {frame: (..., 6)}",
            type(bad).__name__,
        )
    says(lambda: arm.inverse_dynamics(q, q, q, {tip: np.zeros(3)}), "wrench", "6", "(3,)", tip)
    says(lambda: arm.forward_dynamics(q, q, q, {tip: np.zeros((6, 2))}), "wrench", "6", "(6, 2)", tip)
    says(lambda: arm.forward_dynamics(q, q, q, {tip: "push"}), "wrench", tip)
    says(lambda: arm.inverse_dynamics(q, q, q, {3: np.zeros(6), tip: np.zeros(6)}), "no frame is named 3")
    near(arm.inverse_dynamics(q, q, q, {}), arm.inverse_dynamics(q, q, q), 1e-15)


def test_quaternions_that_are_not_units(free):
    q, v = free.neutral(), np.zeros(6)
    q[3:7] = [1.0, 0.1, 0.0, 0.0]
    words = ("the quaternion (w, x, y, z) of joint", "has the length 1.00498", "robot.normalize(q) scales it to 1")
    for call in (
        lambda: free.mass_matrix(q),
        lambda: free.inverse_dynamics(q, v, v),
        lambda: free.pose(free.frames[-1], q.tolist()),
        lambda: free.integrate(q, v),
        lambda: free.difference(free.neutral(), q),
        lambda: free.mass_matrix(q.astype(np.float32)),
        lambda: free.evaluate(q, v, ["mass_matrix"]),
        lambda: free.astype("float32").mass_matrix(q),
        lambda: free.point_jacobian(free.frames[-1], q, np.zeros(3)),
    ):
        says(call, *words)
    batch = np.stack([free.neutral(), free.neutral(), q, q])
    says(lambda: free.mass_matrix(batch), "q (sample 2)", *words)
    says(lambda: free.mass_matrix(batch.reshape(2, 2, 7)), "q (sample 1, 0)", *words)
    says(lambda: free.mass_matrix(batch, threads=2), "q (sample 2)", *words)
    with mb.eager():
        says(lambda: free.mass_matrix(q), *words)
    q[3:7] = 0.0
    says(lambda: free.mass_matrix(q), "has the length 0")
    free.mass_matrix(free.normalize(batch))


def test_quaternions_rounded_to_single_precision_pass(free):
    q = free.random(np.random.default_rng(0), (100,))
    free.mass_matrix(q.astype(np.float32))
    free.astype("float32").mass_matrix(q)


def test_nan_is_data_and_not_an_error(free):
    q = np.stack([free.neutral()] * 3)
    q[1, 3] = np.nan
    M = free.mass_matrix(q)
    assert np.isnan(M[1]).any()
    assert np.isfinite(M[[0, 2]]).all()
    says(lambda: free.bias(q, np.zeros(7)), "v needs the shape (..., 6)")


def test_singular_parameters(arm):
    """The kernel has huge entries or NaN; the method says where."""
    wrist, tip = robot_of("zyx-wrist"), arm.frames[-1]
    bent = np.array([[0.4, 1.5, 0.3], [0.4, np.pi / 2, 0.3]])
    for rotation in ("euler-xyz", "quaternion"):
        assert np.isfinite(wrist.analytical_jacobian("tool", bent, rotation)).all()
    assert np.isfinite(wrist.analytical_jacobian("tool", bent[0])).all()
    with pytest.raises(SingularityError, match="gimbal lock"):
        wrist.analytical_jacobian("tool", bent)
    hanging = np.zeros(2)
    assert np.isnan(arm.kernel("analytical_jacobian", tip, position="cylindrical")(hanging)).any()
    with pytest.raises(SingularityError, match="rho = 0"):
        arm.analytical_jacobian(tip, hanging, position="cylindrical")
    unknown = wrist.analytical_jacobian("tool", [[0.4, np.nan, 0.3], [0.4, 1.5, 0.3]])
    assert np.isnan(unknown[0]).any()
    assert np.isfinite(unknown[1]).all()


def test_out(arm):
    q = np.zeros((3, 2))
    says(lambda: arm.mass_matrix(q, out=np.zeros((3, 2))), "out: expected an array of shape (3, 2, 2), got (3, 2)")
    says(lambda: arm.mass_matrix(q, out=np.zeros((3, 2, 2), int)), "out: expected dtype float64, got int64")
    says(lambda: arm.mass_matrix(q, out=[[0.0]]), "out")
    locked = np.zeros((3, 2, 2))
    locked.flags.writeable = False
    says(lambda: arm.mass_matrix(q, out=locked), "read-only")
    says(
        lambda: arm.inverse_dynamics_derivatives(q, q, q, out=np.zeros((3, 2, 2))), "out: expected 3 arrays in a tuple"
    )
    says(lambda: arm.evaluate(q, q, ["bias", "gravity"], out=(np.zeros((3, 2)),)), "out: expected 2 arrays")
    says(lambda: arm.normalize(q, out=np.zeros(7)), "out: expected an array of shape (3, 2), got (7,)")
    plain = mb.load("double-pendulum")  # without kernels
    with mb.eager():
        says(lambda: plain.inverse_dynamics_derivatives(q, q, q, out=3), "out: expected 3 arrays in a tuple, got int")
        says(lambda: plain.bias(q, np.zeros((4, 2))), "the batch shapes do not broadcast: q (3,), v (4,)")


def test_threads(arm):
    for bad in (0, -1, 1.5, "two"):
        says(lambda bad=bad: arm.mass_matrix(np.zeros((4, 2)), threads=bad), "threads")


# ---- links that move without mass ------------------------------------------------------------------------------------


def hand(**passive):
    """An arm whose last link has no inertia."""
    mass = mb.SpatialInertia(mass=1.0, com=[0.0, 0.0, 0.5], inertia=np.eye(3))
    b = Builder("hand").body("base", mass).body("arm", mass).body("finger")
    b.joint("elbow", Revolute("x"), parent="base", child="arm")
    b.joint("knuckle", Revolute("y"), parent="arm", child="finger", passive=Passive(**passive))
    return mb.Robot(b)


def test_a_massless_link_that_moves():
    robot = hand()
    q = robot.neutral()
    assert np.isfinite(robot.inverse_dynamics(q, q, q)).all()
    assert robot.mass_matrix(q)[1, 1] == 0.0
    for call in (
        lambda: robot.forward_dynamics(q, q, q),
        lambda: robot.forward_dynamics_derivatives(q, q, q),
        lambda: robot.evaluate(q, q, ["bias", "forward_dynamics"], tau=q),
        lambda: robot.kernel("forward_dynamics"),
        lambda: robot.derivatives("forward_dynamics", q, q, q),
        lambda: robot.derivatives("forward_dynamics_derivatives", q, q, q),
    ):
        says(call, "hand: the joint 'knuckle' carries no inertia", "'finger'", "armature", "lock")
    assert np.isfinite(hand(armature=0.1).forward_dynamics(q, q, q)).all()
    assert np.isfinite(robot.lock({"knuckle": 0.0}).forward_dynamics(q[:1], q[:1], q[:1])).all()


def test_a_massless_link_inside_a_chain_is_no_problem():
    mass = mb.SpatialInertia(mass=1.0, com=[0.0, 0.3, 0.5], inertia=np.eye(3))
    b = Builder("wrist").body("base").body("first").body("second", mass)
    b.joint("roll", Revolute("x"), parent="base", child="first")
    b.joint("pitch", Revolute("y"), parent="first", child="second")
    robot = mb.Robot(b)
    rng = np.random.default_rng(0)
    q, v, tau = robot.random(rng), *rng.standard_normal((2, 2))
    near(robot.inverse_dynamics(q, v, robot.forward_dynamics(q, v, tau)), tau, 1e-12)


def test_a_particle_on_a_ball_joint_turns_freely_about_its_arm():
    """Two of three axes have inertia: the joint is named."""
    point = mb.SpatialInertia(mass=1.0, com=[0.0, 0.0, 1.0], inertia=np.zeros((3, 3)))
    b = Builder("flail").body("post").body("ball", point).joint("chain", Spherical(), parent="post", child="ball")
    robot = mb.Robot(b)
    says(lambda: robot.forward_dynamics(robot.neutral(), np.zeros(3), np.zeros(3)), "'chain' carries no inertia")
