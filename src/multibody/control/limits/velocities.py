"""Velocity limits, and the base of limits on the velocities themselves."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multibody.control._checks import check_number, known_rows
from multibody.control.limits._limit import Limit
from multibody.model.tree import Tree


@dataclass(frozen=True)
class BoxLimit(Limit):
    """Bounds of the velocities themselves."""

    name: str
    count: int | None = None
    """The number of rows; `on` sets it, since it depends on the robot."""
    is_box = True

    @property
    def rows(self) -> int:
        return known_rows(self.count, f"limit {self.name!r}", "limit.on(robot.tree)")

    def on(self, tree: Tree) -> "BoxLimit":
        return replace(self, count=tree.nv)._checked(tree)

    def jacobian(self, tree: Tree, q: NDArray[Any]) -> NDArray[Any]:
        return np.broadcast_to(np.eye(tree.nv, dtype=q.dtype), (*q.shape[:-1], tree.nv, tree.nv))

    def bias(self, tree: Tree, q: NDArray[Any], v: NDArray[Any]) -> NDArray[Any]:
        return np.zeros_like(v)


@dataclass(frozen=True)
class VelocityLimits(BoxLimit):
    """Keep |v| of every joint within a fraction of its velocity limit, in rad/s or m/s.

    >>> import multibody as mb
    >>> robot = mb.load("panda")
    >>> VelocityLimits().on(robot.tree).upper(robot.tree, robot.home(), None)
    array([2.175, 2.175, 2.175, 2.175, 2.61 , 2.61 , 2.61 ])
    >>> VelocityLimits(scale=0.2).on(robot.tree).upper(robot.tree, robot.home(), None)
    array([0.435, 0.435, 0.435, 0.435, 0.522, 0.522, 0.522])
    """

    name: str = "velocity limits"
    scale: float = 1.0
    """The fraction of the limits, positive."""

    def __post_init__(self) -> None:
        check_number(self.scale, str(self.name), "a positive scale of the limits")

    def lower(self, tree: Tree, q: NDArray[Any], dt: Any) -> NDArray[Any]:
        return -self.upper(tree, q, dt)

    def upper(self, tree: Tree, q: NDArray[Any], dt: Any) -> NDArray[Any]:
        return np.broadcast_to((self.scale * tree.velocity_limits).astype(q.dtype), (*q.shape[:-1], tree.nv))

    def bounded(self, tree: Tree) -> NDArray[Any]:
        return np.isfinite(tree.velocity_limits)
