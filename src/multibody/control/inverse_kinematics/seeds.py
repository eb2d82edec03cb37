"""The table of random configurations that a search starts from, and its order by distance to a target."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multibody.control.inverse_kinematics.frame_goals import Goal
from multibody.geometry import Pose
from multibody.model import configuration
from multibody.model.tree import Tree
from multibody.tracing.record.loop import loop

COUNT = 256
"""Configurations in a table."""
RANDOM = 128
"""How many of them are uniform between the limits; the others are near them in all joints."""
INSET = 0.03
"""How near, as a fraction of the range."""
NEAREST = 7
"""How many of the random ones are ranked in the kernel, and tried first."""


def table(tree: Tree, lower: NDArray[Any], upper: NDArray[Any], seed: int) -> NDArray[Any]:
    """(COUNT, nq): configurations within limits, random ones first; a base is at the origin."""
    rng = np.random.default_rng(seed)
    q = configuration.random(tree, rng, (COUNT,))
    finite = np.isfinite(lower) & np.isfinite(upper)
    low, high = np.where(finite, lower, 0.0), np.where(finite, upper, 0.0)
    side = rng.random((COUNT - RANDOM, tree.nq)) < 0.5
    corner = np.where(side, low + INSET * (high - low), high - INSET * (high - low))
    q[RANDOM:] = np.where(finite, corner, q[RANDOM:])
    neutral = configuration.neutral(tree)
    for base in tree.bases:
        q[:, base.q] = neutral[base.q]
    return q


def middle(tree: Tree, lower: NDArray[Any], upper: NDArray[Any]) -> NDArray[Any]:
    """(nq,): the middle of the limits; joints without them as in the neutral configuration, as far as they may."""
    finite = np.isfinite(lower) & np.isfinite(upper)
    middle = 0.5 * (np.where(finite, lower, 0.0) + np.where(finite, upper, 0.0))
    return np.where(finite, middle, np.clip(configuration.neutral(tree), lower, upper))


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
    """(NEAREST,): the numbers of the random rows (RANDOM, n) of a table nearest to features (n,), nearest first.

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
    return loop(RANDOM, insert, start, xs=(rows, np.arange(float(RANDOM))))[1]


def order(rows: NDArray[Any], targets: NDArray[Any], tried: NDArray[Any]) -> NDArray[Any]:
    """(k, COUNT): all numbers of rows for features (k, n): those (k, NEAREST) that were tried, then nearest first."""
    distances = np.zeros((len(targets), len(rows)))
    for k in range(rows.shape[-1]):  # not a product of matrices, whose last bit depends on the batch
        off = rows[:, k] - targets[:, k, None]
        distances += off * off
    np.put_along_axis(distances, tried, np.arange(-NEAREST, 0.0), axis=1)
    return np.argsort(distances, axis=-1, kind="stable")
