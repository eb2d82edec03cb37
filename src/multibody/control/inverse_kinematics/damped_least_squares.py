"""Damped pseudo-inverse steps toward goals within limits, and two iterations of them.  [RD 2.207, 2.243-2.255]

A step solves (J J^T + λ 1) y = e, d = J^T y. Joints that would leave their limits are put on them, their columns are
left out, what they do is taken off e, and the rest solves once more: clipping alone would stop far from many goals.
`damped_least_squares` takes λ = 0.03 |e|² + 1e-8, which vanishes at the goal, and every step; `levenberg_marquardt`
lowers λ after a step downhill and raises it otherwise, for goals that are hard to reach or out of reach.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multibody.control.inverse_kinematics.frame_goals import Goal
from multibody.geometry import Pose
from multibody.geometry._arrays import dot, eye_like, matvec, transpose
from multibody.model import configuration
from multibody.model.robot_limits import integrated_coordinates
from multibody.model.tree import Tree
from multibody.tracing.matrices import linalg
from multibody.tracing.record.loop import loop

DAMPING_FACTOR, MIN_DAMPING, MIN_PATH_DAMPING = 0.03, 1e-8, 1e-4
"""λ = DAMPING_FACTOR |e|² + MIN_DAMPING, or + MIN_PATH_DAMPING on a path, so that it does not jump."""
REFERENCE_DAMPING = 0.01
"""The damping of the step that a jump is compared with."""
DECREASE, INCREASE, MIN_MARQUARDT_DAMPING = 0.25, 6.0, 1e-12
"""Factors of λ in `levenberg_marquardt` after a step downhill and after any other, and the lower bound of λ."""
POSTURE_STEP = 1e-4
"""The iteration toward a posture ends when a step is shorter, in rad or m."""
MAX_ITERATIONS = 60
"""The largest number of iterations that a call can ask for."""


@dataclass(frozen=True)
class Reaching:
    """Goals, joint limits and the velocities that may change."""

    tree: Tree
    goals: tuple[Goal, ...]
    lower: NDArray[Any]
    """(nq,)"""
    upper: NDArray[Any]
    moving: NDArray[Any]
    """(nv,): ones, and zeros for velocities that stay zero."""

    def errors(self, q: NDArray[Any], targets: Sequence[Pose]) -> tuple[NDArray[Any], NDArray[Any]]:
        """(..., goals), twice: the lengths of the errors of position, in m, and of rotation, in rad."""
        pairs = [goal.errors(self.tree, q, target) for goal, target in zip(self.goals, targets, strict=True)]
        lengths = [
            np.stack([np.linalg.norm(part, axis=-1) for part in parts], axis=-1) for parts in zip(*pairs, strict=True)
        ]
        return lengths[0], lengths[1]

    def rows(self, q: NDArray[Any], targets: Sequence[Pose]) -> tuple[NDArray[Any], NDArray[Any]]:
        """(..., m) and (..., m, nv): the errors of all goals, and the Jacobian of what may move."""
        parts = [goal.rows(self.tree, q, target) for goal, target in zip(self.goals, targets, strict=True)]
        e, J = (np.concatenate(part, axis=axis) for part, axis in zip(zip(*parts, strict=True), (-1, -2), strict=True))
        return e, J * self.moving

    def joint_margins(self, q: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        """(..., nv), twice: the displacements to the limits; infinite where q is no integral of v."""
        places, endless = integrated_coordinates(self.tree), np.inf + 0 * q[..., 0]
        low = [-endless if k is None else self.lower[k] - q[..., k] for k in places]
        high = [endless if k is None else self.upper[k] - q[..., k] for k in places]
        return np.stack(low, axis=-1), np.stack(high, axis=-1)

    def step_within_limits(self, q: NDArray[Any], d: NDArray[Any]) -> NDArray[Any]:
        """q after a step, within the limits to the last digit."""
        q = configuration.integrate(self.tree, q, d)
        return np.minimum(np.maximum(q, self.lower), self.upper)


def damped_least_squares(
    problem: Reaching,
    q: NDArray[Any],
    targets: Sequence[Pose],
    settings: NDArray[Any],
    posture: NDArray[Any] | None = None,
) -> tuple[NDArray[Any], ...]:
    """Iterate damped least squares until the goals are met, or for a number of iterations.

    Args:
        problem: what is to be reached.
        q: (nq,) where to begin.
        targets: a pose for each goal.
        settings: (4,) the tolerances in m and rad, the largest number of iterations, the least damping.
        posture: (nq,), a configuration to be near to as far as the goals allow.

    Returns:
        q, its errors of position and of rotation, and the number of iterations.
    """

    def advance(q: NDArray[Any]) -> NDArray[Any]:
        e, J = problem.rows(q, targets)
        low, high = problem.joint_margins(q)
        damping = DAMPING_FACTOR * dot(e, e) + settings[..., 3]
        if posture is None:
            return step(J, e, low, high, damping)
        rest = configuration.difference(problem.tree, q, posture) * problem.moving
        rest = np.minimum(np.maximum(rest, low), high)
        return rest + step(J, e - matvec(J, rest), low - rest, high - rest, damping)

    def over(carry: Any) -> Any:
        q, count, *last = carry
        ended = within_tolerance(problem, q, targets, settings) & (last[0] < POSTURE_STEP if last else True)
        return ended | (count >= settings[..., 2])

    def body(carry: Any) -> Any:
        q, count, *last = carry
        d = advance(q)
        return (problem.step_within_limits(q, d), count + 1.0, *([np.linalg.norm(d, axis=-1)] if last else []))

    start = (q, np.zeros_like(q[..., 0])) + (() if posture is None else (1.0 + np.zeros_like(q[..., 0]),))
    q, count, *_ = loop(MAX_ITERATIONS, body, start, until=over)
    return q, *problem.errors(q, targets), count


def levenberg_marquardt(
    problem: Reaching, q: NDArray[Any], targets: Sequence[Pose], settings: NDArray[Any]
) -> tuple[NDArray[Any], ...]:
    """Iterate as `damped_least_squares`, with Levenberg and Marquardt's damping and steps downhill only."""

    def cost(q: NDArray[Any]) -> NDArray[Any]:
        positions, rotations = problem.errors(q, targets)
        return dot(positions, positions) + dot(rotations, rotations)

    def over(carry: Any) -> Any:
        q, _, count = carry
        return within_tolerance(problem, q, targets, settings) | (count >= settings[..., 2])

    def body(carry: Any) -> Any:
        q, damping, count = carry
        e, J = problem.rows(q, targets)
        trial = problem.step_within_limits(q, step(J, e, *problem.joint_margins(q), damping))
        downhill = cost(trial) < cost(q)
        damping = np.where(downhill, np.maximum(DECREASE * damping, MIN_MARQUARDT_DAMPING), INCREASE * damping)
        return np.where(downhill[..., None], trial, q), damping, count + 1.0

    start = q, DAMPING_FACTOR * cost(q) + MIN_DAMPING, np.zeros_like(q[..., 0])
    q, _, count = loop(MAX_ITERATIONS, body, start, until=over)
    return q, *problem.errors(q, targets), count


def reference_step(problem: Reaching, q: NDArray[Any], targets: Sequence[Pose]) -> NDArray[Any]:
    """(..., 2): the norm of the damped pseudo-inverse's step towards the targets, and its largest number."""
    e, J = problem.rows(q, targets)
    d = damped_step(J, e, REFERENCE_DAMPING + np.zeros_like(e[..., 0]))
    return np.stack([np.linalg.norm(d, axis=-1), np.max(np.abs(d), axis=-1)], axis=-1)


def within_tolerance(problem: Reaching, q: NDArray[Any], targets: Sequence[Pose], tolerances: NDArray[Any]) -> Any:
    """(...): whether all goals are within their tolerances."""
    positions, rotations = problem.errors(q, targets)
    within = (positions <= tolerances[..., 0]) & (rotations <= tolerances[..., 1])
    return np.all(within, axis=-1)


def step(
    J: NDArray[Any], e: NDArray[Any], low: NDArray[Any], high: NDArray[Any], damping: NDArray[Any]
) -> NDArray[Any]:
    """(..., nv): a step d with low <= d <= high, towards J d = e.

    Args:
        J: (..., m, nv).
        e: (..., m), the errors.
        low: (..., nv), the displacement to the lower limits, not positive.
        high: (..., nv), the displacement to the upper ones, not negative.
        damping: (...), λ.
    """
    d = damped_step(J, e, damping)
    below, above = d < low, d > high
    beyond = below | above
    clamped = np.where(below, low, np.where(above, high, np.zeros_like(d)))
    free = damped_step(J * np.where(beyond, 0.0, 1.0)[..., None, :], e - matvec(J, clamped), damping)
    return np.minimum(np.maximum(np.where(beyond, clamped, free), low), high)


def damped_step(J: NDArray[Any], e: NDArray[Any], damping: Any) -> NDArray[Any]:
    """(..., nv): J^T (J J^T + λ 1)^-1 e, which is (J^T J + λ 1)^-1 J^T e.  [RD 2.207]"""
    A = np.matmul(J, transpose(J)) + damping[..., None, None] * eye_like(e, e.shape[-1])
    return matvec(transpose(J), linalg.solve(A, e[..., None], definite=True)[..., 0])
