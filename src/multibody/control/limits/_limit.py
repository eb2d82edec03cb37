"""The contract of limits: rows of a robot's velocity between bounds."""

from abc import abstractmethod
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from multibody.algorithms.rows import Rows
from multibody.errors import InputError
from multibody.model import configuration
from multibody.model.tree import Tree


class Limit(Rows):
    """Something that a robot must keep to: lower <= J v <= upper, row by row, before any task.

    A limit is frozen data: a subclass is a frozen dataclass with a `name`. All functions take batches, and traced
    arrays. Bounds may be infinite, and may depend on q: the rate at which a distance may still shrink, say. Here a sphere
    about a frame's origin stays 5 cm away from an obstacle: it may use up what is left of the distance in a time of
    1 / rate.

    >>> from dataclasses import dataclass
    >>> import multibody as mb
    >>> from multibody.algorithms import jacobian, kinematics
    >>> from multibody.geometry._arrays import unit
    >>> @dataclass(frozen=True)
    ... class Clearance(Limit):
    ...     name: str
    ...     frame: str
    ...     obstacle: tuple[float, float, float]
    ...     least: float = 0.05
    ...     rate: float = 10.0
    ...     rows = 1
    ...
    ...     def _away(self, tree, q):
    ...         return kinematics.pose(tree, self.frame, q).position - np.array(self.obstacle)
    ...
    ...     def jacobian(self, tree, q):
    ...         J = jacobian.jacobian(tree, self.frame, q)[..., :3, :]
    ...         return (unit(self._away(tree, q))[..., None, :] @ J)
    ...
    ...     def lower(self, tree, q, dt):
    ...         return self.rate * (self.least - np.sqrt(np.sum(self._away(tree, q) ** 2, axis=-1, keepdims=True)))
    >>> robot = mb.load("panda")
    >>> ball = Clearance("ball", "tool", (0.4, 0.0, 0.5)).on(robot.tree)
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
        q = configuration.neutral(tree)
        J = self.jacobian(tree, q).shape
        bounds = [np.shape(bound(tree, q, 1.0)) for bound in (self.lower, self.upper)]
        if self.rows < 1 or J != (self.rows, tree.nv) or any(shape != (self.rows,) for shape in bounds):
            raise InputError(
                f"limit {self.name!r}: expected at least one row, a Jacobian ({self.rows}, {tree.nv}), and bounds "
                f"({self.rows},), got shapes {J}, {bounds[0]} and {bounds[1]}"
            )
        return self
