"""Joints with limits or dry friction: one row for each."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from multibody.geometry._arrays import is_zero
from multibody.model.tree import Tree


class JointRows(NamedTuple):
    """The joints with limits or dry friction, each with one row."""

    coordinates: tuple[int, ...]
    velocities: tuple[int, ...]
    lower: NDArray[Any]
    upper: NDArray[Any]
    restitution: float = 0.0
    """The restitution of the limits, from 0, plastic, to 1, elastic."""


def bounds_of(tree: Tree, limits: bool, passive: bool, restitution: float = 0.0) -> JointRows:
    """The joints with one coordinate that have limits or, if `passive`, dry friction."""
    chosen = []
    for joint in tree.joints:
        if joint.mimic is not None or joint.kind.nv != 1 or joint.kind.nq != 1:
            continue
        k = joint.q.start
        limited = limits and bool(np.isfinite([tree.lower[k], tree.upper[k]]).any())
        if limited or (passive and not is_zero(tree.friction[..., joint.v])):
            chosen.append((k, joint.v.start, *((tree.lower[k], tree.upper[k]) if limited else (-np.inf, np.inf))))
    chosen.sort()
    columns = list(zip(*chosen, strict=True)) if chosen else [(), (), (), ()]
    return JointRows(columns[0], columns[1], np.array(columns[2]), np.array(columns[3]), restitution)
