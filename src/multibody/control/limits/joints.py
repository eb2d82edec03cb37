"""The range of joints."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multibody.control._checks import is_number
from multibody.control.limits.velocities import BoxLimit
from multibody.errors import InputError
from multibody.model.joints import Kind
from multibody.model.tree import Tree


@dataclass(frozen=True)
class JointLimits(BoxLimit):
    """Joints within their range after the time dt: (lower - q) / dt <= v <= (upper - q) / dt.

    In `VelocityControl` a joint outside of its range moves back, as fast as velocity limits let it if these are there
    too. In `WholeBody` it moves back at least at the velocity from which `deceleration` stops it at its limit, as far
    as the torques allow.
    Coordinates that are no integrals of velocities, such as quaternions, have no bounds.

    >>> import multibody as mb
    >>> robot = mb.load("planar-arm")
    >>> robot.tree.upper
    array([2.8, 2.8, 2.8])
    >>> JointLimits().on(robot.tree).upper(robot.tree, np.array([2.7, 0.0, 0.0]), 0.1).round(9)
    array([ 1., 28., 28.])
    """

    name: str = "joint limits"
    deceleration: float = 10.0
    """In rad/s² or m/s²: with what joints can brake; `WholeBody` keeps to velocities from which they can still stop."""
    needs_dt = True

    def __post_init__(self) -> None:
        if not is_number(self.deceleration) or not 0 < self.deceleration < np.inf:
            raise InputError(f"{self.name}: expected a positive deceleration, got {self.deceleration!r}")

    def lower(self, tree: Tree, q: NDArray[Any], dt: Any) -> NDArray[Any]:
        return _rates(tree, tree.lower, q, dt)

    def upper(self, tree: Tree, q: NDArray[Any], dt: Any) -> NDArray[Any]:
        return _rates(tree, tree.upper, q, dt)

    def bounded(self, tree: Tree) -> NDArray[Any]:
        ends = [None if k is None else (tree.lower[k], tree.upper[k]) for k in coordinates(tree)]
        return np.array([end is not None and bool(np.isfinite(end).any()) for end in ends])


def coordinates(tree: Tree) -> list[int | None]:
    """For every velocity the coordinate that it is the rate of, None where there is none."""
    places: list[int | None] = [None] * tree.nv
    for joint in tree.joints:
        if joint.mimic is None and type(joint.kind).rate_matrix is Kind.rate_matrix:
            for k in range(joint.nv):
                places[joint.v.start + k] = joint.q.start + k
    return places


def _rates(tree: Tree, ends: NDArray[Any], q: NDArray[Any], dt: Any) -> NDArray[Any]:
    """(..., nv): the velocities that take joints to their ends in the time dt; infinite where there is no end."""
    none = np.full(q.shape[:-1], np.inf if ends is tree.upper else -np.inf, q.dtype)
    places = coordinates(tree)
    rates = [none if k is None or np.isinf(ends[k]) else (ends[k] - q[..., k]) / dt for k in places]
    return np.stack(rates, axis=-1)
