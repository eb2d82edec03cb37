"""RD's algorithm: its steps one by one against NumPy, every error and method, when it stops, and bad input."""

from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.spatial.transform import Rotation as SciPy

import multibody as mb
from multibody import control
from multibody.control.inverse_kinematics.textbook_iteration import ERRORS

from ..sampling import sampled

ARM, WRIST = mb.load("panda"), mb.load("zyx-wrist")
Q0 = np.array([0.2, -0.4, 0.6, -2.3, -0.8, 0.9, 0.7])
"""From here no set of angles comes near its singularity, or wraps."""
TARGET = ARM.pose("tool", Q0 + 0.2 * np.array([1, -1, 1, 1, -1, 1, -1]))
PLANAR, BENT = mb.load("planar-arm"), np.array([0.5, 0.9, 0.6])
BESIDE = PLANAR.pose("tool", BENT + np.array([0.3, -0.2, 0.2]))
START, GOAL = np.array([-0.7, 0.0, 1.5]), np.array([0.7, 1.5, -0.5])
"""Of RD's example 2.9.7."""


def errors(robot, frame, target, q):
    H = robot.pose(frame, q)
    return np.array([np.linalg.norm(target.position - H.position), target.rotation.angle_to(H.rotation)])


@pytest.mark.parametrize("error", ["rotation-vector", "euler-zyx", "quaternion"])
def test_converges_on_the_arm(error):
    """Quadratically: the last of ten steps is exact, and errors are those of the configurations. [RD 2.243, Alg. 1]"""
    history = control.iterate(ARM, "tool", TARGET, Q0, error=error, iterations=10)
    assert len(history) == 11
    assert history.q.shape == (11, 7)
    assert_allclose(errors(ARM, "tool", TARGET, history.q[-1]), 0, atol=1e-10)
    for k in (0, 1, 3):
        mine = history.position_error[k], history.rotation_error[k]
        assert_allclose(mine, errors(ARM, "tool", TARGET, history.q[k]), atol=1e-10)


@pytest.mark.parametrize("error", sampled(ERRORS, 2))
def test_every_error_on_the_wrist(error):
    """Each parameterisation leads there by small steps, on its own way. [RD 2.245-2.255, Ex. 2.9.7-2.9.8]"""
    target = WRIST.pose("roll", GOAL - [0, 0.4, 0])  # RD's goal is nearly singular for ZYX
    history = control.iterate(
        WRIST, "roll", target, START + np.array([0, 0.1, 0]), error=error, step=0.2, iterations=100
    )
    assert history.rotation_error[-1] < 1e-6


@pytest.mark.parametrize("sequence", ["ZYX", "XYZ"])
def test_steps_one_by_one(sequence):
    """Angles by SciPy, their rates by finite differences: q <- q + k J_A^-1 (χ* - χ). [RD 2.242-2.243, Ex. 2.9.7]"""

    def angles(q):
        return SciPy.from_matrix(WRIST.pose("roll", q).rotation.matrix).as_euler(sequence)

    history = control.iterate(
        WRIST, "roll", WRIST.pose("roll", GOAL), START, error=f"euler-{sequence.lower()}", step=0.05, iterations=30
    )
    q, eps = START, 1e-6
    for k in range(31):
        assert_allclose(history.q[k], q, atol=1e-7)
        J = np.stack([(angles(q + eps * d) - angles(q - eps * d)) / (2 * eps) for d in np.eye(3)], axis=-1)
        q = q + 0.05 * np.linalg.solve(J, angles(GOAL) - angles(q))


def test_shortest_way_on_the_sphere():
    """By the rotation vector of R* R^T the wrist turns about one axis alone. [RD 2.248-2.255, Ex. 2.9.8]"""
    target = WRIST.pose("roll", GOAL)
    history = control.iterate(WRIST, "roll", target, START, step=0.002, iterations=1500)
    turns = target.rotation.boxminus(WRIST.pose("roll", history.q[::100]).rotation)
    axes = turns / np.linalg.norm(turns, axis=1, keepdims=True)
    assert_allclose(axes, np.broadcast_to(axes[0], axes.shape), atol=2e-3)
    assert_allclose(history.rotation_error[:200], history.rotation_error[0] * 0.998 ** np.arange(200), rtol=1e-3)


def test_methods():
    """The damped step is smaller and converges, that of the transpose never grows the error. [RD 2.208, 2.244]"""
    e = control.iterate(PLANAR, "tool", BESIDE, BENT, method="transpose", step=0.1, iterations=50)
    assert (np.diff(np.hypot(e.position_error, e.rotation_error)) < 0).all()
    history = control.iterate(PLANAR, "tool", BESIDE, BENT, method="damped", damping=0.5, iterations=300)
    assert history.rotation_error[-1] < 1e-6
    J = PLANAR.jacobian("tool", BENT)
    H = PLANAR.pose("tool", BENT)
    delta = np.concatenate([BESIDE.position - H.position, BESIDE.rotation.boxminus(H.rotation)])
    assert_allclose(history.q[1] - BENT, J.T @ np.linalg.solve(J @ J.T + 0.25 * np.eye(6), delta), atol=1e-12)
    assert_allclose(e.q[1] - BENT, 0.1 * J.T @ delta, atol=1e-12)


def test_stops_at_a_tolerance():
    """As line 2 of the algorithm has it: the first whose |Δχ| is not larger is the last. [RD Alg. 1]"""
    whole = control.iterate(PLANAR, "tool", BESIDE, BENT, iterations=30)
    size = np.hypot(whole.position_error, whole.rotation_error)
    history = control.iterate(PLANAR, "tool", BESIDE, BENT, iterations=30, tolerance=1e-6)
    assert len(history) == np.argmax(size <= 1e-6) + 1 < 31
    assert_allclose(history.q, whole.q[: len(history)], atol=0)
    both = control.iterate(PLANAR, "tool", BESIDE, [BENT, history.q[-1]], iterations=30, tolerance=1e-6)
    assert_allclose(both.q[:, 0], history.q)
    assert (both.q[:, 1] == history.q[-1]).all()
    assert len(control.iterate(PLANAR, "tool", BESIDE, BENT, iterations=0)) == 1


def test_history_is_frozen():
    history = control.iterate(WRIST, "roll", WRIST.pose("roll", GOAL), START, iterations=1)
    with pytest.raises(FrozenInstanceError):
        history.q = 0  # type: ignore[misc]
    with pytest.raises(ValueError, match="read-only"):
        history.q[0] = 0


def test_singular_parameters():
    """In gimbal lock the rates of Euler angles do not exist: said so, rather than NaN."""
    with pytest.raises(mb.SingularityError, match="'euler-xyz' are singular before step 1"):
        control.iterate(WRIST, "roll", WRIST.pose("roll", GOAL), [np.pi / 2, 0.0, np.pi / 2], error="euler-xyz")


def test_bad_input():
    bad = mb.Pose(mb.Rotation.identity(), [np.nan, 0, 0])
    for message, call in (
        ("target: expected a pose of finite numbers", lambda: control.iterate(ARM, "tool", bad, Q0)),
        ("target: expected a Pose", lambda: control.iterate(ARM, "tool", np.eye(4), Q0)),
        ("newtonian", lambda: control.iterate(ARM, "tool", TARGET, Q0, method="newtonian")),
        ("euler-xxx", lambda: control.iterate(ARM, "tool", TARGET, Q0, error="euler-xxx")),
        ("gripper9", lambda: control.iterate(ARM, "gripper9", TARGET, Q0)),
        ("iterations", lambda: control.iterate(ARM, "tool", TARGET, Q0, iterations=-1)),
        ("tolerance", lambda: control.iterate(ARM, "tool", TARGET, Q0, tolerance=-1.0)),
        ("damping", lambda: control.iterate(ARM, "tool", TARGET, Q0, damping=-1.0)),
        ("expected finite numbers", lambda: control.iterate(ARM, "tool", TARGET, Q0 * np.nan)),
        ("needs the shape", lambda: control.iterate(ARM, "tool", TARGET, Q0[:3])),
    ):
        with pytest.raises(mb.InputError, match=message):
            call()


# ---- position or rotation alone --------------------------------------------------------------------------------------


@pytest.mark.parametrize("error", ["euler-zyx", "rotation-vector"])
def test_the_rotation_alone_on_the_wrist(error):
    """With rates of ZYX angles, its joints, each step of 1/2 halves the way; otherwise it arrives. [RD Ex. 2.9.7]"""
    goal = np.array([0.4, 0.8, -0.5])
    far = mb.Pose(WRIST.pose("roll", goal).rotation, [9.0, 9.0, 9.0])  # where the wrist cannot be
    history = control.iterate(WRIST, "roll", far, START, error=error, step=0.5, iterations=40, axes="rpy")
    if error == "euler-zyx":
        halves = goal + 0.5 ** np.arange(41)[:, None] * (START - goal)
        assert_allclose(history.q, halves, atol=1e-10)
    assert_allclose(errors(WRIST, "roll", far, history.q[-1])[1], 0, atol=1e-6)
    assert history.position_error[-1] > 9


@pytest.mark.parametrize("method", ["newton", "damped"])
def test_the_position_or_the_rotation_alone_on_the_arm(method):
    """The rows that are wanted vanish, and the first step is that of these rows of the Jacobian in NumPy."""
    for k, axes in enumerate(("xyz", "rpy")):
        history = control.iterate(ARM, "tool", TARGET, Q0, method=method, damping=0.01, iterations=30, axes=axes)
        assert_allclose(errors(ARM, "tool", TARGET, history.q[-1])[k], 0, atol=1e-8)
        assert errors(ARM, "tool", TARGET, history.q[-1])[1 - k] > 1e-3
        J, here = ARM.jacobian("tool", Q0)[3 * k : 3 * k + 3], ARM.pose("tool", Q0)
        turn = SciPy.from_matrix(TARGET.rotation.matrix @ here.rotation.matrix.T).as_rotvec()
        wanted = TARGET.position - here.position if axes == "xyz" else turn
        lam = 0.01 if method == "damped" else 0.0
        first = Q0 + J.T @ np.linalg.solve(J @ J.T + lam**2 * np.eye(3), wanted)
        assert_allclose(history.q[1], first, atol=1e-9)
    with pytest.raises(mb.InputError, match="axes: expected one of 'xyzrpy', 'xyz', 'rpy', got 'rotation'"):
        control.iterate(ARM, "tool", TARGET, Q0, axes="rotation")
