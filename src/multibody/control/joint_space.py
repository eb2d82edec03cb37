"""Laws of joint space: impedance, gravity compensation, computed torque, friction compensation.  [RD §3.8, §3.8.1]

On a floating base the laws act on the joints behind it: τ has nv entries, of which the base's six are zero. Functions
of (tree, q, v, ...) are the laws; those of a robot compile them, for states, batches, and functions that are traced.
"""

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from multibody.algorithms import coriolis, crba, rnea
from multibody.control._checks import check_gain, check_needed, check_positive, expect_robot
from multibody.control._robot_controller import robot_function
from multibody.errors import InputError
from multibody.geometry._arrays import Array, batch_shape, floats, numbers
from multibody.model.actuation import (
    actuated_coordinates,
    actuated_indices,
    base_velocity_indices,
    joint_error,
    with_zero_base,
)
from multibody.model.tree import Tree
from multibody.robot import Robot
from multibody.robot.function import RobotFunction
from multibody.robot.inputs import Kind
from multibody.tracing.matrices import linalg

WIDTH = 0.01
"""In rad/s or m/s: speeds from which on nearly all of the dry friction is compensated."""


def gains(frequency: ArrayLike, damping_ratio: ArrayLike = 1.0) -> tuple[Any, Any]:
    """kp = ω² and kd = 2 D ω of a unit mass on a spring and a damper, ω = 2π frequency.
    [RD 3.79-3.80]

    Args:
        frequency: in Hz, a number or an array.
        damping_ratio: D, not negative; 1 is critical.

    Returns:
        Two numbers, in 1/s² and 1/s, or two arrays.

    Raises:
        InputError: when a frequency is not positive, or a ratio negative.

    >>> kp, kd = gains(3.0)
    >>> round(kp, 1), round(kd, 1)
    (355.3, 37.7)
    """
    omega = 2 * np.pi * check_positive(floats(frequency, "frequency"), "frequency", "in Hz")
    ratio = check_gain(floats(damping_ratio, "damping_ratio"), "damping_ratio")
    batch_shape("frequency, damping_ratio", (omega, 0), (ratio, 0))
    kp, kd = omega * omega, 2 * ratio * omega
    return (float(kp), float(kd)) if type(kd) is np.float64 else (kp, kd)


def joint_impedance(
    robot: Robot,
    q: ArrayLike,
    v: ArrayLike,
    target: ArrayLike,
    target_velocity: ArrayLike | None = None,
    *,
    kp: ArrayLike,
    kd: ArrayLike,
    out: Any = None,
    threads: int | None = None,
) -> Array:
    """τ = kp (q* - q) + kd (v* - v), (..., nv): springs and dampers at the joints.  [RD 3.73]

    At rest the joints are off by g / kp [RD 3.74]. Differences of angles are not wrapped.

    Args:
        robot: with a fixed base, or with a floating one, on whose joints the law acts: τ is
            zero on the base.
        q: (..., nq).
        v: (..., nv).
        target: q*, (..., nq); where a floating base is in it does not matter.
        target_velocity: v*, (..., nv), zero by default.
        kp: in N m/rad or N/m, not negative: a number, or (..., n) for the velocities behind the
            base.
        kd: in N m s/rad or N s/m, likewise.
        out: an array for the result.
        threads: over which a batch is split.

    >>> import multibody as mb
    >>> arm = mb.load("double-pendulum")
    >>> joint_impedance(arm, [0.1, 0.0], [0.0, 0.5], [0.0, 0.0], kp=10.0, kd=2.0)
    array([-1., -1.])
    """
    if kd is None:
        raise InputError("kd: expected gains of the dampers, zero for none, got None")
    values = {"target": target, "target_velocity": target_velocity, "kp": kp, "kd": kd}
    return _evaluate(robot, "joint_impedance", q, v, values, out, threads)


def gravity_compensation(
    robot: Robot,
    q: ArrayLike,
    v: ArrayLike,
    target: ArrayLike | None = None,
    target_velocity: ArrayLike | None = None,
    *,
    kp: ArrayLike | None = None,
    kd: ArrayLike | None = None,
    out: Any = None,
    threads: int | None = None,
) -> Array:
    """τ = kp (q* - q) + kd (v* - v) + g(q), (..., nv); without gains g alone: the arm floats.
    [RD 3.75]

    The arguments are those of `joint_impedance`; kd alone damps. On a floating base g is what
    holds the joints while something else holds the base, and τ is zero on it; on legs, see
    `VirtualModel`.

    >>> import multibody as mb
    >>> arm = mb.load("double-pendulum")
    >>> tau = gravity_compensation(arm, [0.5, 0.2], [0.0, 0.0])
    >>> bool(np.abs(arm.forward_dynamics([0.5, 0.2], [0.0, 0.0], tau)).max() < 1e-12)
    True
    """
    values = {"target": target, "target_velocity": target_velocity, "kp": kp, "kd": kd}
    return _evaluate(robot, "gravity_compensation", q, v, values, out, threads)


def inverse_dynamics_control(
    robot: Robot,
    q: ArrayLike,
    v: ArrayLike,
    target: ArrayLike | None = None,
    target_velocity: ArrayLike | None = None,
    target_acceleration: ArrayLike | None = None,
    *,
    kp: ArrayLike | None = None,
    kd: ArrayLike | None = None,
    out: Any = None,
    threads: int | None = None,
) -> Array:
    """The τ, (..., nv), with which v' = a* + kp (q* - q) + kd (v* - v): M v' + b + g.
    [RD 3.76-3.78]

    Every joint moves as a unit mass on a spring and a damper, whose gains `gains` tells.

    Args:
        robot: with a fixed base, or with a floating one that nothing holds: then it is the
            joints that move so, and the base as it must, with no force on it. Of a robot that
            stands, see `floating_inverse_dynamics`.
        q: (..., nq).
        v: (..., nv).
        target: q*, (..., nq), needed with kp; where a floating base is in it does not matter.
        target_velocity: v*, (..., nv), zero by default.
        target_acceleration: a*, (..., nv), zero by default.
        kp: in 1/s², not negative: a number, or (..., n) for the velocities behind the base.
        kd: in 1/s, likewise.
        out: an array for the result.
        threads: over which a batch is split.

    >>> import multibody as mb
    >>> arm = mb.load("double-pendulum")
    >>> q, v = np.array([0.5, 0.2]), np.array([1.0, -1.0])
    >>> tau = inverse_dynamics_control(arm, q, v, 0 * q, kp=100.0, kd=20.0)
    >>> arm.forward_dynamics(q, v, tau).round(9)
    array([-70., 0.])
    """
    values = {"target": target, "target_velocity": target_velocity, "target_acceleration": target_acceleration}
    return _evaluate(robot, "inverse_dynamics_control", q, v, {**values, "kp": kp, "kd": kd}, out, threads)


def friction_compensation(
    robot: Robot, v: ArrayLike, *, width: ArrayLike = WIDTH, out: Any = None, threads: int | None = None
) -> Array:
    """The τ, (..., nv), that takes the place of the model's damping and dry
    friction, to be added to that of a law.

    Dry friction F has the sign of the velocity and is compensated by F v / sqrt(v² + width²):
    never by more than F, so that the joint as it is felt still takes energy out, or none.
    Springs of joints are left alone, and a base is, too.

    Args:
        robot: fixed or floating; its joints have `passive.damping` and `passive.friction`.
        v: (..., nv); the velocity that is wanted serves as well, and does not chatter.
        width: in rad/s or m/s, positive: from some such speed on, dry friction is compensated.
        out: an array for the result.
        threads: over which a batch is split.

    >>> import multibody as mb
    >>> arm = mb.load("puma-560")
    >>> tau = friction_compensation(arm, np.ones(6))
    >>> bool(np.allclose(tau, -arm.passive(arm.home(), np.ones(6)), rtol=1e-4))
    True
    """
    function, _ = _law(expect_robot(robot), "friction_compensation")
    v = floats(v, "v")
    return function(v, check_positive(numbers(width, "width", v), "width", "in rad/s or m/s"), out=out, threads=threads)


# ---- the laws --------------------------------------------------------------------------------------------------------


def feedback(
    tree: Tree,
    q: Array,
    v: Array,
    target: Array | None = None,
    target_velocity: Array | None = None,
    kp: Array | None = None,
    kd: Array | None = None,
) -> Array:
    """kp (q* - q) + kd (v* - v), (..., n), behind the base; what is absent is zero.  [RD 3.73, 3.78]"""
    joints = actuated_indices(tree)
    total = np.zeros_like(v[..., joints])
    if kp is not None and target is not None:
        total = total + kp * joint_error(tree, q, target[..., actuated_coordinates(tree)])
    if kd is not None:
        slower = -v if target_velocity is None else target_velocity - v
        total = total + kd * slower[..., joints]
    return total


def _impedance(tree: Tree, q: Array, v: Array, **wanted: Any) -> Array:
    return with_zero_base(tree, feedback(tree, q, v, **wanted))


def _with_gravity(tree: Tree, q: Array, v: Array, **wanted: Any) -> Array:
    return with_zero_base(tree, feedback(tree, q, v, **wanted) + coriolis.gravity(tree, q)[..., actuated_indices(tree)])


def _computed_torque(tree: Tree, q: Array, v: Array, target_acceleration: Any = None, **wanted: Any) -> Array:
    joints, bases, a = actuated_indices(tree), base_velocity_indices(tree), feedback(tree, q, v, **wanted)
    if target_acceleration is not None:
        a = a + target_acceleration[..., joints]
    tau = rnea.rnea(tree, q, v, with_zero_base(tree, a))
    if not bases:
        return tau
    M = crba.crba(tree, q)[..., bases]  # a base without force: M_bb a_b = -τ_b
    a_base = linalg.solve(M[..., bases, :], -tau[..., bases, None], definite=True)
    return with_zero_base(tree, tau[..., joints] + np.matmul(M[..., joints, :], a_base)[..., 0])


def _against_friction(tree: Tree, v: Array, width: Array) -> Array:
    joints = actuated_indices(tree)
    rates, damping, friction = v[..., joints], tree.damping[..., joints], tree.friction[..., joints]
    w = width[..., None]
    return with_zero_base(tree, damping * rates + friction * rates / np.sqrt(rates * rates + w * w))


LAWS: dict[str, Callable[..., Array]] = {
    "joint_impedance": _impedance,
    "gravity_compensation": _with_gravity,
    "inverse_dynamics_control": _computed_torque,
    "friction_compensation": _against_friction,
}


# ---- compiled --------------------------------------------------------------------------------------------------------


def _evaluate(
    robot: Robot, name: str, q: ArrayLike, v: ArrayLike, values: dict[str, Any], out: Any, threads: int | None
) -> Array:
    check_needed(values, kp="target", target="kp", target_velocity="kd")
    law, n = _law(expect_robot(robot), name)
    values |= {gain: joint_gains(values[gain], gain, n, robot.dtype) for gain in ("kp", "kd")}
    return law(q, v, out=out, threads=threads, **values)


def joint_gains(x: Any, what: str, n: int, dtype: np.dtype[Any]) -> Any:
    """A number, or one for each of n velocities, as (..., n); None as it is."""
    if x is None or (isinstance(x, int | float) and 0 <= x < np.inf):
        return x if x is None else np.full(n, x, dtype)
    gain = check_gain(numbers(x, what, np.empty((), dtype)), what)
    if gain.ndim and gain.shape[-1] != n:
        raise InputError(f"{what}: expected a number, or (..., {n}), one for each velocity, got shape {gain.shape}")
    return gain if gain.ndim else np.broadcast_to(gain, (n,))


@lru_cache(maxsize=64)
def _law(robot: Robot, name: str) -> tuple[RobotFunction, int]:
    """A law as a kernel, and on how many velocities it acts."""
    tree, law = robot.tree, LAWS[name]
    n = len(actuated_indices(tree))
    inputs: dict[str, Kind] = {"q": "configuration", "v": "velocity"}
    optional: dict[str, Kind] = {"target": "configuration", "target_velocity": "velocity", "kp": n, "kd": n}
    if name == "inverse_dynamics_control":
        optional["target_acceleration"] = "acceleration"
    if name == "friction_compensation":
        inputs, optional = {"v": "velocity", "width": "number"}, {}

    def torques(*values: Any, **extras: Any) -> Array:
        return law(tree, *values, **extras)

    return robot_function(robot, torques, inputs, optional, f"control.{name}"), n
