"""Configurations to begin from, and which of them are nearest to a target."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multibody.control.inverse_kinematics.goals import Goal
from multibody.geometry import Pose
from multibody.model import configuration
from multibody.model.tree import Tree
from multibody.tracing.loop import loop

COUNT = 256
"""Configurations in a table."""
CORNERS = 64
"""How many of them are near the limits of all joints, where random ones hardly ever are."""
INSET = 0.03
"""How near, as a share of the range."""
NEAREST = 7
"""How many of them are found in the kernel: those of the first three rounds of seeds."""


def table(tree: Tree, lower: NDArray[Any], upper: NDArray[Any], seed: int) -> NDArray[Any]:
    """(COUNT, nq): configurations within limits; a base is at the origin."""
    rng = np.random.default_rng(seed)
    q = configuration.random(tree, rng, (COUNT,))
    finite = np.isfinite(lower) & np.isfinite(upper)
    low, high = np.where(finite, lower, 0.0), np.where(finite, upper, 0.0)
    side = rng.random((CORNERS, tree.nq)) < 0.5
    corner = np.where(side, low + INSET * (high - low), high - INSET * (high - low))
    q[:: COUNT // CORNERS] = np.where(finite, corner, q[:: COUNT // CORNERS])
    neutral = configuration.neutral(tree)
    for base in tree.bases:
        q[:, base.q] = neutral[base.q]
    return q


def features(goals: Sequence[Goal], poses: Sequence[Pose]) -> NDArray[Any]:
    """(..., n): numbers of the wanted parts of poses, whose distance tells how far configurations are from targets.

    A metre weighs as much as some 80 degrees.
    """
    parts = []
    for goal, pose in zip(goals, poses, strict=True):
        R = pose.rotation.matrix
        parts.append(pose.position[..., list(goal.positions)])
        if goal.rotation:
            parts += [0.5 * R[..., k] for k in range(3)]
        elif goal.axis is not None:
            parts.append(R[..., goal.axis])
    return np.concatenate(parts, axis=-1)


def nearest(rows: NDArray[Any], targets: NDArray[Any]) -> NDArray[Any]:
    """(NEAREST,): the numbers of the rows of a table (COUNT, n) that are nearest to features (n,), nearest first.

    A loop over the table that keeps the nearest in order: what it gives for a target depends on no other one, which
    the last bit of a product of matrices does.
    """

    def insert(carry: Any, row: Any) -> Any:
        distances, numbers = carry
        features, number = row
        off = features - targets
        new, label = np.sum(off * off), number
        kept, labels = [], []
        for k in range(NEAREST):
            closer = new < distances[k]
            kept.append(np.where(closer, new, distances[k]))
            labels.append(np.where(closer, label, numbers[k]))
            new, label = np.where(closer, distances[k], new), np.where(closer, numbers[k], label)
        return np.stack(kept), np.stack(labels)

    start = np.full(NEAREST, np.inf) + 0.0 * targets[0], np.zeros(NEAREST) + 0.0 * targets[0]
    return loop(len(rows), insert, start, xs=(rows, np.arange(float(len(rows)))))[1]


def order(rows: NDArray[Any], targets: NDArray[Any]) -> NDArray[Any]:
    """(k, COUNT): all numbers of rows, nearest first, for features (k, n): the same as `nearest`, to the end."""
    distances = np.zeros((len(targets), len(rows)))
    for k in range(rows.shape[-1]):
        off = rows[:, k] - targets[:, k, None]
        distances += off * off
    return np.argsort(distances, axis=-1, kind="stable")
