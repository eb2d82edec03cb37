"""The contract of limits: rows of a robot's velocity between bounds, and the rows of several limits together."""

from abc import abstractmethod
from collections.abc import Iterable
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from multibody.algorithms.rows import Rows
from multibody.control._checks import check_name
from multibody.errors import InputError
from multibody.geometry._arrays import matvec
from multibody.model import configuration
from multibody.model.tree import Tree


class Range(NamedTuple):
    """Rows of the velocity or the acceleration that are to stay between bounds."""

    J: NDArray[Any]
    """(..., m, nv)"""
    lower: NDArray[Any]
    """(..., m)"""
    upper: NDArray[Any]


class Limit(Rows):
    """Something that a robot must keep to: lower <= J v <= upper, row by row, before any task.

    A limit is frozen data: a subclass is a frozen dataclass with a `name`. All functions take
    batches, and traced arrays. Bounds may be infinite, and may depend on q. Here a sphere of
    the arm about a frame's origin stays 5 cm away from an obstacle, a point: in every hundredth
    of a second the distance may shrink by a tenth of what is left.

    >>> from dataclasses import dataclass
    >>> import multibody as mb
    >>> from multibody.algorithms import jacobian, kinematics
    >>> @dataclass(frozen=True)
    ... class Clearance(Limit):
    ...     name: str
    ...     frame: str
    ...     obstacle: tuple[float, float, float]
    ...     radius: float
    ...     rows = 1
    ...
    ...     def away(self, tree, q):
    ...         arm = kinematics.pose(tree, self.frame, q).position - np.array(self.obstacle)
    ...         return arm, np.sqrt(np.sum(arm * arm, axis=-1, keepdims=True))
    ...
    ...     def jacobian(self, tree, q):
    ...         arm, distance = self.away(tree, q)
    ...         J = jacobian.jacobian(tree, self.frame, q)[..., :3, :]
    ...         return np.matmul((arm / distance)[..., None, :], J)
    ...
    ...     def lower(self, tree, q, dt):
    ...         return 10.0 * (self.radius + 0.05 - self.away(tree, q)[1])
    >>> robot = mb.load("panda")
    >>> ball = Clearance("ball", "tool", (0.4, 0.0, 0.5), radius=0.1).on(robot.tree)
    >>> ball.jacobian(robot.tree, robot.home()).shape
    (1, 7)
    >>> ball.upper(robot.tree, robot.home(), None)
    array([inf])
    """

    needs_dt: bool = False
    """Whether the bounds depend on the time until the next call."""
    is_box: bool = False
    """Whether the rows are the velocities v themselves, all of them: such limits are merged, velocity by velocity."""

    @abstractmethod
    def lower(self, tree: Tree, q: NDArray[Any], dt: Any) -> NDArray[Any]:
        """(..., rows): the least J v; dt, (...) in s, is None where no limit needs it."""

    def upper(self, tree: Tree, q: NDArray[Any], dt: Any) -> NDArray[Any]:
        """(..., rows): the largest J v; none by default."""
        return np.full((*q.shape[:-1], self.rows), np.inf, q.dtype)

    def bounded(self, tree: Tree) -> NDArray[Any]:
        """(rows,), truth values: which rows can have a finite bound at all; the
        others are left out.
        """
        return np.ones(self.rows, bool)

    def bounded_rows(self, tree: Tree) -> list[int]:
        """The rows that can have a finite bound."""
        return np.flatnonzero(self.bounded(tree)).tolist()

    def velocity_range(self, tree: Tree, q: NDArray[Any], dt: Any) -> Range:
        """The bounded rows of the velocity, and their bounds."""
        rows = self.bounded_rows(tree)
        J = np.eye(tree.nv, dtype=q.dtype)[rows] if self.is_box else self.jacobian(tree, q)[..., rows, :]
        J = np.broadcast_to(J, (*q.shape[:-1], *J.shape[-2:]))
        return Range(J, self.lower(tree, q, dt)[..., rows], self.upper(tree, q, dt)[..., rows])

    def stopping_range(self, tree: Tree, q: NDArray[Any], v: NDArray[Any], dt: Any) -> Range:
        """The bounded rows of the velocity at the end of the time dt, and their bounds."""
        return self.velocity_range(tree, q, dt)

    def acceleration_range(self, tree: Tree, q: NDArray[Any], v: NDArray[Any], dt: Any) -> Range:
        """The bounds of accelerations, held for the time dt, at whose end J v is
        within its limits.
        """
        J, *ends = self.stopping_range(tree, q, v, dt)
        rates = v[..., self.bounded_rows(tree)] if self.is_box else matvec(J, v)
        lower, upper = ((end - rates) / dt[..., None] for end in ends)
        return Range(J, np.minimum(lower, upper), upper)

    def bias(self, tree: Tree, q: NDArray[Any], v: NDArray[Any]) -> NDArray[Any]:
        """J' v, which limits of velocities do not need."""
        raise InputError(f"limit {self.name!r}: it is one of velocities and has no bias")

    def on(self, tree: Tree) -> Self:
        """The limit, with all that depends on the robot, such as the number of rows.

        Raises:
            InputError: when the limit does not fit the robot.
        """
        return self._checked(tree)

    def _checked(self, tree: Tree) -> Self:
        check_name(self.name, f"limit {type(self).__name__}")
        q = configuration.neutral(tree)
        shape = self.jacobian(tree, q).shape
        bounds = [np.shape(bound(tree, q, 1.0)) for bound in (self.lower, self.upper)]
        if self.rows < 1 or shape != (self.rows, tree.nv) or bounds != [(self.rows,)] * 2:
            raise InputError(
                f"limit {self.name!r}: expected at least one row, a Jacobian ({self.rows}, {tree.nv}), and bounds "
                f"({self.rows},), got shapes {shape}, {bounds[0]} and {bounds[1]}"
            )
        if self.is_box and self.rows != tree.nv:
            raise InputError(f"limit {self.name!r}: expected {tree.nv} rows of a box, one a velocity, got {self.rows}")
        return self


def merge(parts: Iterable[tuple[Limit, Range]], tree: Tree) -> tuple[Range, list[int]]:
    """The rows of limits with their ranges, and the velocities that the first rows are.

    These are the velocities of boxes, each with one row. Of bounds that exclude each other the earlier ones hold, first
    those that do not depend on dt: velocities are what actuators can do at all, and ranges of joints give way to them.
    """
    box: dict[int, tuple[Any, Any]] = {}
    others, batch = [], ()
    for limit, own in sorted(parts, key=lambda part: part[0].needs_dt):
        if not limit.is_box:
            others.append(own)
            continue
        batch = own.J.shape[:-2]
        for row, k in enumerate(limit.bounded_rows(tree)):
            lower, upper = own.lower[..., row], own.upper[..., row]
            if k in box:
                lower, upper = (np.minimum(np.maximum(end, box[k][0]), box[k][1]) for end in (lower, upper))
            box[k] = lower, upper
    velocities = sorted(box)
    if box:
        lower, upper = (np.stack([box[k][end] for k in velocities], axis=-1) for end in (0, 1))
        rows = np.eye(tree.nv, dtype=lower.dtype)[velocities]
        others.insert(0, Range(np.broadcast_to(rows, (*batch, *rows.shape)), lower, upper))
    J, lower, upper = zip(*others, strict=True)
    return Range(np.concatenate(J, axis=-2), np.concatenate(lower, axis=-1), np.concatenate(upper, axis=-1)), velocities
