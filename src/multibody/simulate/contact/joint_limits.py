"""Velocities of joints with limits or dry friction: one row for each."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from multibody.geometry._arrays import is_zero
from multibody.model.robot_limits import integrated_coordinates
from multibody.model.tree import Tree


class JointRows(NamedTuple):
    """The velocities of joints with limits or dry friction, each with one row."""

    coordinates: NDArray[Any]
    """(rows,): indices in q of those with the limits; 0 where there are none."""
    velocities: NDArray[Any]
    """(rows,): indices in v."""
    lower: NDArray[Any]
    upper: NDArray[Any]
    restitution: float = 0.0
    """The restitution of the limits, from 0, plastic, to 1, elastic."""


def bounds_of(tree: Tree, limits: bool, passive: bool, restitution: float = 0.0) -> JointRows:
    """The velocities with limits of the coordinate that they are the rate of, or, if `passive`, with dry friction."""
    places = integrated_coordinates(tree)
    bounded, at = np.array([limits and k is not None for k in places], bool), np.array([k or 0 for k in places], int)
    lower, upper = np.where(bounded, tree.lower[at], -np.inf), np.where(bounded, tree.upper[at], np.inf)
    resisted = np.array([passive and not is_zero(tree.friction[..., k]) for k in range(tree.nv)], bool)
    v = np.flatnonzero(np.isfinite(lower) | np.isfinite(upper) | resisted)
    return JointRows(at[v], v, lower[v], upper[v], restitution)
