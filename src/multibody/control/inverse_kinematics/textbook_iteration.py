"""Numerical inverse kinematics as the course has it: one step after the other, to be read and drawn.  [RD §2.9.3]

`control.InverseKinematics` is what finds every target; this shows what a parameterisation of rotations does on the way,
as the programs of the course do.  [RD §A.2]
"""

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from multibody._reprs import html_table, short
from multibody.algorithms import kinematics
from multibody.algorithms.analytical_jacobian import analytical_jacobian, parameters
from multibody.algorithms.jacobian import jacobian
from multibody.control._checks import check_gain, check_pose, check_positive, check_robot, check_whole, refuse_traced
from multibody.control.pose_error import DIFFERENCE, ERRORS, ROTATION_VECTOR, pose_error
from multibody.errors import SingularityError
from multibody.geometry import Pose, rates
from multibody.geometry._arrays import choice, matvec, numbers, transpose
from multibody.geometry.rates import orientation_name
from multibody.model import check_configuration, configuration
from multibody.model.tree import Tree
from multibody.robot import Robot
from multibody.robot.function import RobotFunction
from multibody.solvers.pseudo_inverse import damped_inverse, inverse

METHODS = ("newton", "damped", "transpose")
ROWS = {"xyzrpy": slice(None), "xyz": slice(0, 3), "rpy": slice(3, None)}
"""The rows of Δχ by the axes that `iterate` names, as `InverseKinematics` does."""
SINGULAR = 1e8
"""Entries of a Jacobian that only a singularity of the parameters has."""


@dataclass(frozen=True, eq=False)
class History:
    """Every configuration of an iteration, from the first on, and how far off it is."""

    q: NDArray[Any]
    """(k, ..., nq)."""
    position_error: NDArray[Any]
    """(k, ...): |p* - p|, in m."""
    rotation_error: NDArray[Any]
    """(k, ...): the angle of R* R^T, in rad."""

    def __post_init__(self) -> None:
        for array in (self.q, self.position_error, self.rotation_error):
            array.flags.writeable = False

    def __len__(self) -> int:
        return len(self.q)

    def __repr__(self) -> str:
        last = self.q[-1], self.position_error[-1], self.rotation_error[-1]
        q, position_error, rotation_error = map(short, last)
        return f"History of {len(self)} configurations, the last {q}: {position_error} m and {rotation_error} rad off"

    def _repr_html_(self) -> str:
        """The errors over the iterations; of a batch, the largest ones."""
        batch = self.q.shape[1:-1]
        title = f"{len(self) - 1} iterations" + (f", the largest errors of {math.prod(batch)} targets" if batch else "")
        errors = (self.position_error, self.rotation_error)
        columns = (error.reshape(len(self), -1).max(axis=1, initial=0.0) for error in errors)
        rows = list(zip(range(len(self)), *columns, strict=True))
        return html_table(title, ("iteration", "position error [m]", "rotation error [rad]"), rows)


def iterate(
    robot: Robot,
    frame: str,
    target: Pose,
    q0: ArrayLike,
    method: str = "newton",
    error: str = ROTATION_VECTOR,
    step: float = 1.0,
    iterations: int = 100,
    *,
    damping: float = 0.1,
    tolerance: float | None = None,
    axes: str = "xyzrpy",
) -> History:
    """Algorithm 1 of RD, q <- q + k J^+ Δχ, and its variants, with all that it went through.
    [RD 2.242-2.255, Alg. 1]

    Args:
        robot: any.
        frame: the frame that is to reach the target.
        target: a pose, one or a batch.
        q0: (..., nq), where it starts.
        method: "newton" with the pseudo-inverse [RD 2.243]; "damped" with J^T (J J^T + λ² 1)^-1
            [RD 2.208]; "transpose" with α J^T [RD 2.244].
        error: what Δχ is after the position p* - p: "rotation-vector", the shortest rotation
            [RD 2.251, 2.255], or the difference of parameters, not wrapped:
            "rotation-vector-difference", "quaternion", "angle-axis", "euler-zyx" and all other
            sequences.
        step: k, or α for "transpose".
        iterations: how many steps at most.
        damping: λ, for "damped".
        tolerance: stop at |Δχ| of at most this, as Algorithm 1 does; by default all steps are
            made.
        axes: the rows of Δχ: "xyzrpy" for the pose, "xyz" for the position alone, "rpy" for the
            rotation alone.

    Returns:
        The history, with one more entry than there were steps.

    Raises:
        InputError: when an argument does not fit, or the target is not finite.
        SingularityError: when a step leads to a place where the rates of the parameters are not
            defined.

    >>> import multibody as mb
    >>> wrist = mb.load("zyx-wrist")
    >>> target = wrist.pose("roll", [0.7, 1.5, -0.5])
    >>> history = iterate(
    ...     wrist, "roll", target, [-0.7, 0.0, 1.5], error="euler-zyx", step=0.5, iterations=2
    ... )
    >>> history.q.round(6)
    array([[-0.7  ,  0.   ,  1.5  ],
           [ 0.   ,  0.75 ,  0.5  ],
           [ 0.35 ,  1.125,  0.   ]])
    """
    check_robot(robot, frame)
    refuse_traced("iterate", target, q0)
    check_pose(target, finite=True)
    choice(method, "method", METHODS)
    error = choice(orientation_name(error), "error", ERRORS)
    choice(axes, "axes", tuple(ROWS))
    iterations = check_whole(iterations, "iterations")
    q = check_configuration.check(robot.tree, q0, limits=False)
    k = check_positive(numbers(step, "step", q), "step", "a factor of the steps")
    lam = check_gain(numbers(damping, "damping", q), "damping")
    least = -1.0 if tolerance is None else float(check_gain(numbers(tolerance, "tolerance", q), "tolerance"))
    advance = _step(robot, frame, method, error, axes)
    entries: list[tuple[NDArray[Any], ...]] = []
    for count in range(iterations + 1):
        after, size, errors, largest = advance(q, target, k, lam)
        q = np.broadcast_to(q, after.shape)
        entries.append((q, errors[..., 0], errors[..., 1]))
        busy = ~(size <= least)
        if count == iterations or not busy.any():
            break
        if not (largest < SINGULAR).all():
            raise SingularityError(
                f"iterate: the rates of {error!r} are singular before step {count + 1}: start elsewhere, or take "
                f"error={ROTATION_VECTOR!r}"
            )
        q = np.where(busy[..., None], after, q)
    return History(*(np.stack(parts) for parts in zip(*entries, strict=True)))


@lru_cache(maxsize=64)
def _step(robot: Robot, frame: str, method: str, error: str, axes: str) -> RobotFunction:
    """The next q, |Δχ|, both errors of q and the largest entry of J, as a kernel."""
    tree = robot.tree

    def advance(q: NDArray[Any], target: Pose, k: NDArray[Any], damping: NDArray[Any]) -> tuple[Any, ...]:
        J, delta = _linearised(tree, frame, error, q, target)
        J, delta = J[..., ROWS[axes], :], delta[..., ROWS[axes]]
        if method == "transpose":
            back = transpose(J)
        else:
            back = inverse(J) if method == "newton" else damped_inverse(J, damping)
        off = pose_error(target, kinematics.pose(tree, frame, q))
        both = np.stack([np.sqrt(np.sum(part * part, axis=-1)) for part in (off[..., :3], off[..., 3:])], axis=-1)
        after = configuration.integrate(tree, q, k[..., None] * matvec(back, delta))
        return after, np.sqrt(np.sum(delta * delta, axis=-1)), both, np.max(np.abs(J), axis=(-1, -2))

    inputs: dict[str, Any] = {"q": "configuration", "target": "pose", "step": "number", "damping": "number"}
    return robot.function(advance, key=f"control.iterate {frame!r} {method} {error} {axes}", **inputs)


def _linearised(tree: Tree, frame: str, error: str, q: NDArray[Any], target: Pose) -> tuple[NDArray[Any], NDArray[Any]]:
    """J and Δχ: geometric for the shortest rotation [RD 2.251, 2.255], analytical for differences [RD 2.242]."""
    if error == ROTATION_VECTOR:
        return jacobian(tree, frame, q, "mixed"), pose_error(target, kinematics.pose(tree, frame, q))
    name = ROTATION_VECTOR if error == DIFFERENCE else error
    goal = np.concatenate([target.position, rates.parameters(name, target.rotation)], axis=-1)
    return analytical_jacobian(tree, frame, q, name), goal - parameters(tree, frame, q, name)
