"""Users' functions of a robot: kinds of inputs, values of geometry, optional inputs, precision, errors."""

import numpy as np
import pytest

import multibody as mb
from multibody.compiler.runtime import native
from multibody.errors import InputError

from ..every_law import each_case
from ..laws.tools import near

ROBOT = mb.load("free-body-se3")
FRAME = ROBOT.frames[-1]


def reach(q, target, push=None):
    """The way from a frame to a target, and a push."""
    pose = ROBOT.pose(FRAME, q)
    turn = (pose.rotation.inverse() @ target.rotation).rotation_vector
    way = np.concatenate([target.position - pose.position, turn], axis=-1)
    return way if push is None else way + push


@pytest.fixture(scope="module")
def function():
    return ROBOT.function(reach, q="configuration", target="pose", optional={"push": "wrench"})


def samples(count=5):
    rng = np.random.default_rng(2)
    return ROBOT.random(rng, (count,)), ROBOT.pose(FRAME, ROBOT.random(rng, (count,))), rng.standard_normal((count, 6))


def test_kernels_are_looked_up_without_a_title(function, monkeypatch):
    """The text of a function is for its errors: writing it at each look-up took 3 us of each call of controllers."""
    kernel = function.kernel("push")
    monkeypatch.setattr(type(function), "__repr__", None)
    assert function.kernel("push") is kernel


def test_single_samples_and_batches(function):
    q, target, push = samples()
    expected = np.stack([reach(q[k], target[k]) for k in range(5)])
    near(function(q, target), expected, 1e-12)
    near(function(q[1], target=target[1]), expected[1], 1e-12)
    near(function(q, target, push=push), expected + push, 1e-12)
    near(function(q[0], target), np.stack([reach(q[0], target[k]) for k in range(5)]), 1e-12)
    near(function(q, target, push=None), expected, 1e-12)
    out = np.empty((5, 6))
    assert function(q, target, out=out, threads=2) is out
    near(out, expected, 1e-12)
    with mb.eager():
        near(function(q, target, push=push), expected + push, 1e-12)


def test_absent_inputs_are_absent_from_the_code(function):
    without, with_push = function.kernel(), function.kernel("push")
    assert without.ops.total() < with_push.ops.total()
    names = [argument.name for argument in with_push.signature.inputs]
    assert names == ["q", "target.rotation", "target.position", "push"]


def test_within_another_function(function, monkeypatch):
    q, target, _ = samples()
    counted, compile_objects = [], native.compile_objects
    monkeypatch.setattr(native, "compile_objects", lambda *a, **k: counted.append(1) or compile_objects(*a, **k))
    fresh = ROBOT.function(reach, q="configuration", target="pose")
    values = mb.compile(lambda q: fresh(q, target[0]).sum(), 7)(q)
    assert len(counted) <= 1
    near(values, function(q, target[0]).sum(axis=-1), 1e-12)


def test_a_traced_batch_is_one_of_samples():
    """A function of single samples, as its kernel takes it: not of the whole batch."""
    double = ROBOT.function(lambda q: (2 * q[0], {"x": q[:2]}), q="configuration")
    q, _, _ = samples(6)
    Q = q.reshape(2, 3, 7)
    plain = double(Q)
    traced = mb.compile(lambda Q: double(Q), (2, 3, 7))(Q)
    near(traced[0], plain[0], 0)
    near(traced[1]["x"], plain[1]["x"], 0)
    with pytest.raises(InputError, match=r"q needs the shape \(..., 7\)"):
        mb.compile(lambda x: double(x), (6,))
    with pytest.raises(InputError, match="out= is not traced"):
        mb.compile(lambda x: double(x, out=np.zeros(())), (7,))


@pytest.mark.parametrize("warm", [False, True])
def test_quaternions_are_checked_inside_a_trace_whatever_is_compiled(warm):
    robot = mb.load("quadrotor")
    frame, v, q = robot.frames[-1], np.arange(float(robot.nv)), robot.neutral()
    if warm:
        robot.velocity(frame, q, v, "left")
    q[3:7] = 1.1 * np.array([0.8, 0.6, 0.0, 0.0])
    with pytest.raises(InputError, match=r"q: the quaternion .* has the length 1.1"):
        mb.compile(lambda v: robot.velocity(frame, q, v, "left"), v.shape)


def test_precision():
    single = ROBOT.astype("float32")
    q, _, _ = samples()
    result = single.function(lambda q: q * 1.0, q="configuration")(q)
    assert result.dtype == np.float32


def test_a_rotation_a_number_and_a_matrix():
    def turned(R, angle, A):
        return R @ A[0] * np.cos(angle)

    function = ROBOT.function(turned, R="rotation", angle="number", A=(2, 3))
    rng = np.random.default_rng(0)
    R, A = mb.Rotation.random(rng, (4,)), rng.standard_normal((4, 2, 3))
    near(function(R, 0.3, A), R @ A[:, 0] * np.cos(0.3), 1e-12)


def test_keys_are_kept(tmp_path, monkeypatch):
    """With a key the next robot loads the kernel without tracing; another robot has another."""
    monkeypatch.setenv("MULTIBODY_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(mb.config, "verify", False)
    tmp_path.chmod(0o700)
    traced = []

    def height(q):
        traced.append(1)
        return robot.center_of_mass(q)[..., 2]

    for robot, count in ((mb.load("planar-arm"), 1), (mb.load("planar-arm"), 1), (mb.load("planar-arm").scale(2.0), 2)):
        result = robot.function(height, q="configuration", key="height 1")(np.zeros(3))
        near(result, robot.center_of_mass(np.zeros(3))[2], 1e-12)
        assert len(traced) == count


@each_case(
    "call, words",
    [
        (lambda f: f(np.ones(6), mb.Pose.identity()), r"q needs the shape \(..., 7\)"),
        (lambda f: f(np.ones(7), mb.Pose.identity()), r"q: the quaternion .* has the length 2"),
        (lambda f: f(ROBOT.neutral(), np.eye(4)), "target: expected a Pose, got ndarray"),
        (lambda f: f(ROBOT.neutral()), "missing: target"),
        (lambda f: f(ROBOT.neutral(), mb.Pose.identity(), np.ones(6)), "expected 2 arguments"),
        (lambda f: f(ROBOT.neutral(), mb.Pose.identity(), pull=1), "no argument is called 'pull'"),
        (lambda f: f(ROBOT.neutral(), mb.Pose.identity(), q=1), "'q' is given twice"),
        (lambda f: f(ROBOT.neutral(), mb.Pose.identity(), push=np.ones(5)), r"push: expected .* \(..., 6\)"),
        (lambda f: f.kernel("pull"), "no optional input is called 'pull'; expected push"),
        (
            lambda _: ROBOT.function(reach, q="coordinates"),
            "the kind of the input 'q': expected one of 'configuration'",
        ),
        (lambda _: ROBOT.function(reach), "expected at least one input"),
        (lambda _: ROBOT.function("reach", q="configuration"), "expected a function of arrays, got str"),
        (lambda _: ROBOT.function(reach, q=3, optional={"q": 3}), "both required and optional"),
    ],
)
def test_errors(function, call, words):
    with pytest.raises(InputError, match=words):
        call(function)
