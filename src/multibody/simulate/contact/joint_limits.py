"""Joints with limits or dry friction: one row for each."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from multibody.geometry._arrays import is_zero
from multibody.model.tree import Tree


class JointRows(NamedTuple):
    """The joints with limits or dry friction, each with one row."""

    coordinates: NDArray[Any]
    """(joints,): indices in q."""
    velocities: NDArray[Any]
    """(joints,): indices in v."""
    lower: NDArray[Any]
    upper: NDArray[Any]
    restitution: float = 0.0
    """The restitution of the limits, from 0, plastic, to 1, elastic."""


def bounds_of(tree: Tree, limits: bool, passive: bool, restitution: float = 0.0) -> JointRows:
    """The joints with one coordinate that have limits or, if `passive`, dry friction."""
    lower, upper = (tree.lower, tree.upper) if limits else (np.full(tree.nq, -np.inf), np.full(tree.nq, np.inf))
    places = [
        (joint.q.start, joint.v.start)
        for joint in tree.joints
        if joint.mimic is None and joint.kind.nv == joint.kind.nq == 1
        if np.isfinite([lower[joint.q], upper[joint.q]]).any() or (passive and not is_zero(tree.friction[..., joint.v]))
    ]
    q, v = np.array(sorted(places), int).reshape(-1, 2).T
    return JointRows(q, v, lower[q], upper[q], restitution)
