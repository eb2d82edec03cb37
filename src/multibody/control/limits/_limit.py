"""The contract of limits: rows of a robot's velocity between bounds."""

from abc import abstractmethod
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from multibody.algorithms.rows import Rows
from multibody.control._checks import check_name
from multibody.errors import InputError
from multibody.geometry._arrays import matvec
from multibody.model import configuration
from multibody.model.tree import Tree


class AccelerationRange(NamedTuple):
    """Rows of the acceleration that are to stay between bounds."""

    J: NDArray[Any]
    """(..., m, nv)"""
    lower: NDArray[Any]
    """(..., m)"""
    upper: NDArray[Any]

    @staticmethod
    def toward(
        velocities: tuple[NDArray[Any], NDArray[Any]], J: NDArray[Any], rates: NDArray[Any], dt: NDArray[Any]
    ) -> "AccelerationRange":
        """The accelerations that take J v from its rates, (..., m), to between two velocities in the time dt."""
        lower, upper = ((end - rates) / dt[..., None] for end in velocities)
        return AccelerationRange(np.broadcast_to(J, (*rates.shape, J.shape[-1])), np.minimum(lower, upper), upper)


class Limit(Rows):
    """Something that a robot must keep to: lower <= J v <= upper, row by row, before any task.

    A limit is frozen data: a subclass is a frozen dataclass with a `name`. All functions take batches, and traced
    arrays. Bounds may be infinite, and may depend on q. Here a sphere of the arm about a frame's origin stays 5 cm away
    from an obstacle, a point: in every hundredth of a second the distance may shrink by a tenth of what is left.

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
    ...         return np.matmul((arm / distance)[..., None, :], jacobian.jacobian(tree, self.frame, q)[..., :3, :])
    ...
    ...     def lower(self, tree, q, dt):
    ...         return 10.0 * (self.radius + 0.05 - self.away(tree, q)[1])
    >>> robot = mb.load("panda")
    >>> ball = Clearance("ball", "tool", (0.4, 0.0, 0.5), radius=0.1).on(robot.tree)
    >>> ball.jacobian(robot.tree, robot.home()).shape, ball.upper(robot.tree, robot.home(), None)
    ((1, 7), array([inf]))
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
        del tree, dt
        return np.full((*q.shape[:-1], self.rows), np.inf, q.dtype)

    def bounded(self, tree: Tree) -> NDArray[Any]:
        """(rows,), truth values: which rows can have a finite bound at all; the others are left out."""
        del tree
        return np.ones(self.rows, bool)

    def acceleration_range(self, tree: Tree, q: NDArray[Any], v: NDArray[Any], dt: Any) -> AccelerationRange:
        """The bounds of accelerations, held for the time dt, at whose end J v is within its limits."""
        J = self.jacobian(tree, q)
        return AccelerationRange.toward((self.lower(tree, q, dt), self.upper(tree, q, dt)), J, matvec(J, v), dt)

    def bias(self, tree: Tree, q: NDArray[Any], v: NDArray[Any]) -> NDArray[Any]:
        """J' v, which limits of velocities do not need."""
        del tree, q, v
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
