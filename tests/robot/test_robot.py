"""What all methods of the face have: `out=`, `threads=`, and arguments that are what they should be."""

import contextlib
import inspect

import numpy as np
import pytest

import multibody as mb
from multibody.algorithms import change_of_velocity, jacobian
from multibody.errors import InputError
from multibody.geometry import Pose
from multibody.model import base_velocity
from multibody.model.joint import Passive

from ..laws.tools import near
from ..sampling import sampled
from .robots import identical, parts, robot_of

rng = np.random.default_rng(0)
ROBOT = robot_of("free-body-se3")
TIP = ROBOT.frames[-1]
Q, V, A, POINT = ROBOT.random(rng, (6,)), *rng.standard_normal((2, 6, 6)), rng.standard_normal((6, 3))
HELD = ROBOT.constraints([mb.constraints.PointContact("pin", TIP)])

METHODS = {
    "normalize": (1.5 * Q,),
    "integrate": (Q, V),
    "difference": (Q, Q[::-1]),
    "interpolate": (Q, Q[::-1], np.linspace(0.0, 1.0, 6)),
    "rate_matrix": (Q,),
    "rate_inverse": (Q,),
    "velocity": (TIP, Q, V),
    "acceleration": (TIP, Q, V, A),
    "jacobian": (TIP, Q),
    "jacobian_dot": (TIP, Q, V),
    "hessian": (TIP, Q),
    "analytical_jacobian": (TIP, Q, "quaternion"),
    "end_effector": (TIP, Q),
    "relative_jacobian": (TIP, TIP, Q),
    "jacobian_in": (TIP, Q),
    "moving_contact_velocity": (TIP, Q, V, Pose.identity(), np.ones(6)),
    "point_jacobian": (TIP, Q, POINT),
    "point_velocity": (TIP, Q, V, POINT),
    "point_acceleration": (TIP, Q, V, A, POINT),
    "inverse_dynamics": (Q, V, A),
    "forward_dynamics": (Q, V, A),
    "mass_matrix": (Q,),
    "mass_matrix_product": (Q, V),
    "bias": (Q, V),
    "gravity": (Q,),
    "coriolis": (Q, V),
    "passive": (Q, V),
    "equations_of_motion": (Q, V, "mixed"),
    "inverse_dynamics_derivatives": (Q, V, A),
    "forward_dynamics_derivatives": (Q, V, A),
    "joint_wrenches": (Q, V, A),
    "center_of_mass": (Q,),
    "com_jacobian": (Q,),
    "com_velocity": (Q, V),
    "momentum": (Q, V),
    "centroidal_momentum": (Q, V),
    "centroidal_momentum_rate": (Q, V, A),
    "centroidal_momentum_matrix": (Q,),
    "centroidal_momentum_matrix_dot": (Q, V),
    "centroidal_inertia": (Q,),
    "kinetic_energy": (Q, V),
    "potential_energy": (Q,),
    "power": (Q, V, A),
    "regressor": (Q, V, A),
    "derivatives": ("momentum", Q, V),
    "constrained_dynamics": (HELD, Q, V, A),
    "constrained_dynamics_derivatives": (HELD, Q, V, A),
    "impact": (HELD, Q, V),
    "null_space_projector": (HELD, Q),
    "support_consistent_velocity": (HELD, Q, np.eye(2, 6), np.ones(2)),
}


def test_no_method_has_one_of_them_alone():
    taken = {
        name: inspect.signature(call).parameters for name, call in inspect.getmembers(mb.Robot, inspect.isfunction)
    }
    out, threads = (
        {name for name in taken if ({which, "options"} & set(taken[name])) and name[0] != "_"}
        - {"kernel", "rename", "inverse_kinematics"}
        for which in ("out", "threads")
    )
    assert out == threads == {*METHODS, "pose", "poses", "evaluate"}


def test_what_no_method_has_is_refused():
    with pytest.raises(TypeError, match=r"bias\(\) has no argument 'thread'; it takes out, threads, parameters, too"):
        ROBOT.bias(Q[0], np.zeros(ROBOT.nv), thread=2)


@pytest.mark.parametrize("name", METHODS)
def test_out_and_threads(name):
    call, args = getattr(ROBOT, name), METHODS[name]
    expected = call(*args)
    identical(call(*args, threads=2), expected)
    several = isinstance(expected, tuple)
    out = tuple(np.zeros_like(x) for x in parts(expected))
    found = call(*args, out=out if several else out[0], threads=2)
    assert all(a is b for a, b in zip(found if several else (found,), out, strict=True))
    identical(out if several else out[0], expected)
    with pytest.raises(InputError, match="threads"):
        call(*args, threads=0)


@pytest.mark.parametrize("batch", [(), (6,)])
def test_poses_keep_their_numbers_when_out_is_written_again(batch):
    """The arrays stay the caller's; a pose is frozen."""
    q, other = (Q, Q[::-1]) if batch else (Q[0], Q[1])
    count = len(ROBOT.frames)
    one = np.zeros((*batch, 3, 3)), np.zeros((*batch, 3))
    every = np.zeros((*batch, count, 3, 3)), np.zeros((*batch, count, 3))
    for x in (q, other):
        pose, poses = ROBOT.pose(TIP, x, out=one, threads=2), ROBOT.poses(x, out=every, threads=2)
        expected = ROBOT.pose(TIP, x)
        for found in (pose, poses[TIP], ROBOT.pose(TIP, x, threads=2)):
            identical(found.rotation.matrix, expected.rotation.matrix)
            identical(found.position, expected.position)
        identical(one, (expected.rotation.matrix, expected.position))
        assert not np.shares_memory(pose.position, one[1])
        assert not np.shares_memory(poses[TIP].rotation.matrix, every[0])
        assert not pose.position.flags.writeable
        one[0][...] = every[1][...] = np.nan
        assert pose == poses[TIP] == expected
        found = ROBOT.evaluate(x, None, [("pose", TIP), "poses"], out=(one, every))
        assert found["pose", TIP] == found["poses"][TIP] == expected
    with pytest.raises(InputError, match="out: expected 2 arrays in a tuple"):
        ROBOT.pose(TIP, q, out=one[0])
    with mb.eager():
        near(ROBOT.pose(TIP, q, out=one).matrix, ROBOT.pose(TIP, q).matrix, 1e-14)


@pytest.mark.parametrize("name", ["rate_matrix", "rate_inverse"])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_rates_of_euler_angles_have_out_and_the_precision_of_the_robot(name, dtype):
    call = getattr(ROBOT.astype(dtype), name)
    expected = call(Q, "euler-zyx", threads=2)
    assert expected.dtype == dtype
    out = np.zeros_like(expected)
    assert call(Q, "euler-zyx", out=out) is out
    identical(out, expected)
    with pytest.raises(InputError, match=r"out: expected an array of shape \(6, 6, 6\), got \(6, 7, 6\)"):
        call(Q, "euler-zyx", out=np.zeros((6, 7, 6), dtype))


def test_normalize_in_place():
    """What it refuses stays as it was."""
    q = 3.0 * Q
    assert ROBOT.normalize(q, out=q) is q
    near(np.linalg.norm(q[:, 3:], axis=-1), np.ones(6), 1e-15)
    q[4, 3:], q[2, 4] = 0.0, np.nan
    before = q.copy()
    for run in (contextlib.nullcontext, mb.eager):
        with run(), pytest.raises(InputError, match=r"quaternion \(sample 4\): expected a direction, got zero"):
            ROBOT.normalize(q, out=q)
        identical(q, before)
    with pytest.raises(InputError, match="threads: expected a positive integer, got 0"):
        ROBOT.normalize(q, threads=0)
    q[4] = Q[4]
    assert np.isnan(ROBOT.normalize(q)).any(axis=-1).tolist() == [False, False, True, False, False, False]


# ---- arguments that are not what they should be ----------------------------------------------------------------------


def test_true_and_false():
    """NumPy's count, nothing else does; what counts does not depend on which kernels there are."""
    robot = robot_of("double-pendulum")
    damped = robot.change(passive={robot.joints[0].name: Passive(damping=2.0)})
    tip, q = robot.frames[-1], np.array([0.3, 0.2])
    for method in (damped.inverse_dynamics, damped.forward_dynamics):
        identical(method(q, q, q, passive=np.True_), method(q, q, q, passive=True))
        identical(method(q, q, q, passive=np.False_), method(q, q, q))
        for bad in ("no", 1, 0, None, "", [True]):
            with pytest.raises(InputError, match="passive: expected True or False, got"):
                method(q, q, q, passive=bad)
    itself = robot.acceleration(tip, q, q, q, intrinsic=True)
    identical(robot.acceleration(tip, q, q, q, intrinsic=np.True_), itself)
    identical(robot.acceleration(tip, q, q, q, intrinsic=np.False_), robot.acceleration(tip, q, q, q))
    identical(robot.kernel("acceleration", tip, intrinsic=np.True_)(q, q, q), itself)
    for bad in ("no", 1, 0, None, [True]):
        with pytest.raises(InputError, match="intrinsic: expected True or False, got"):
            robot.acceleration(tip, q, q, q, intrinsic=bad)
    for bad in ("no", 1, 0):
        with pytest.raises(InputError, match="intrinsic: expected True or False, got"):
            robot.kernel("acceleration", tip, intrinsic=bad)


# ---- moving contacts and other velocities ----------------------------------------------------------------------------


def test_moving_contact_velocity():
    """The kernel's part is that of the algorithm, which the tests of MDN 81-82 differentiate."""
    robot, rng = robot_of("quadruped"), np.random.default_rng(3)
    q, v = robot.random(rng, (4,)), rng.standard_normal((4, robot.nv))
    placement, twist = Pose.random(rng, (4,)), rng.standard_normal((4, 6))
    found = robot.moving_contact_velocity("foot-lf", q, v, placement, twist)
    near(found, jacobian.moving_contact_velocity(robot.tree, "foot-lf", q, v, placement, twist), 1e-10)
    one = robot.moving_contact_velocity("foot-lf", q[2], v[2], placement[2], twist[2].tolist())
    near(one, found[2], 1e-12)
    single = robot.astype("float32")
    assert single.moving_contact_velocity("foot-lf", q, v, placement, twist).dtype == np.float32
    for bad, told in (((3, twist), "placement: expected a Pose, got int"), ((placement, [1.0]), "twist: expected")):
        with pytest.raises(InputError, match=told):
            robot.moving_contact_velocity("foot-lf", q, v, *bad)
    with pytest.raises(InputError, match=r"state, placement, twist: batch shapes .* do not broadcast"):
        robot.moving_contact_velocity("foot-lf", q, v, Pose.random(rng, (3,)), twist)


@pytest.mark.parametrize("base", sampled(["kindr", "left", "right", "mixed"], 4))
def test_equations_of_motion(base):
    """M and h are those of the same robot with that base velocity; its motion is the same."""
    robot, rng = robot_of("quadruped"), np.random.default_rng(4)
    other = robot.change(velocity=base)
    q, v = robot.random(rng, (3,)), rng.standard_normal((3, robot.nv))
    u = base_velocity.from_left(other.tree, q, base_velocity.to_left(robot.tree, q, v))
    M, h = robot.equations_of_motion(q, u, base)
    near(M, other.mass_matrix(q), 1e-11)
    near(h, other.bias(q, u), 1e-9)
    near(np.einsum("...i,...ij,...j", u, M, u) / 2, robot.kinetic_energy(q, v), 1e-9)
    plain = change_of_velocity.equations_of_motion(robot.tree, q, u, base)
    near(M, plain[0], 1e-11)
    if base == "kindr":
        identical((M, h), robot.equations_of_motion(q, u))
    with pytest.raises(InputError, match="'kindr', got 'body'"):
        robot.equations_of_motion(q, u, "body")
