"""The interface of constraints: rows that forbid motion, and the forces that they can exert."""

from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from multibody.algorithms.rows import Rows
from multibody.errors import InputError
from multibody.geometry._arrays import at, first, transpose
from multibody.model import check_configuration, configuration
from multibody.model.tree import Tree

Point = tuple[float, float, float]

RANK_TOLERANCE = 1e-9
"""Singular values of J below this times the largest are zero; `least_norm.PIVOT_TOLERANCE` is for their squares."""


class Grip(NamedTuple):
    """The points of a rigid body that rows fix: velocities along the world's axes, three rows each."""

    frame: str
    points: tuple[Point, ...]
    """In the frame, in m."""
    turning: bool = False
    """Whether the last three rows fix the angular velocity of the body."""


class Constraint(Rows):
    """Rows c with error(q) = 0, J(q) v = 0 and J v' + J' v = 0.  [RD 2.269-2.270, 3.59-3.61]

    The time derivative of the error is J v; for errors of rotation only as far as they are
    small. It has no target. A constraint pushes the robot with the generalized force J^T f,
    where f, (..., rows), is on the robot: row k of f is along what row k of J measures, in N
    for a velocity in m/s and in N m for one in rad/s. A constraint is frozen data: a subclass
    is a frozen dataclass with a `name`. All functions take batches, and all but `rank` traced
    arrays. A kernel has the code of a constraint, and the globals in it, as they are when the
    robot first needs it.

    >>> from dataclasses import dataclass
    >>> import multibody as mb
    >>> from multibody.algorithms import centroidal
    >>> @dataclass(frozen=True)
    ... class Level(Constraint):
    ...     name: str
    ...     rows = 1
    ...
    ...     def jacobian(self, tree, q):
    ...         return centroidal.com_jacobian(tree, q)[..., 2:, :]
    ...
    ...     def bias(self, tree, q, v):
    ...         rate = centroidal.centroidal_momentum_rate(tree, q, v, 0 * v)
    ...         return rate[..., 2:3] / tree.mass
    >>> robot = mb.load("quadruped")
    >>> held = robot.constraints([Level("height of the centre of mass")])
    >>> held.row_names, held.ranks(robot.home()).rank
    (('height of the centre of mass[0]',), 1)
    >>> q, v = robot.home(), np.ones(18)
    >>> a, f = robot.constrained_dynamics(held, q, v, np.zeros(18))
    >>> bool(np.abs(held.jacobian(q) @ a + held.bias(q, v)) < 1e-9)
    True
    """

    def force_basis(self, tree: Tree, q: NDArray[Any]) -> NDArray[Any]:
        """W = J^T, (..., nv, rows): the generalized force of each row's unit force.
        [Kindr §Dynamics; RD 3.57]

        These are all forces that do no work at velocities that the rows allow.
        """
        return transpose(self.jacobian(tree, q))

    def rank(self, tree: Tree, q: NDArray[Any]) -> int | NDArray[Any]:
        """The rank of J, a number for one configuration, (...) for a batch: its independent rows.
        [RD §2.10.4]

        Raises:
            InputError: when q is no configuration, or a row has no direction there.

        >>> import multibody as mb
        >>> robot = mb.load("quadruped")
        >>> edge = mb.constraints.SurfaceContact("edge", "foot-lf", ((0, 0, 0), (0.1, 0, 0)))
        >>> edge.rows, edge.rank(robot.tree, robot.home())
        (6, 5)
        """
        q = checked_configuration(tree, q)
        with np.errstate(invalid="ignore", divide="ignore"):
            J = self.jacobian(tree, q)
        return rank(J, self.row_names)

    def grip(self) -> Grip | None:
        """The points of one body that the rows fix, if they do: at most six rows are independent."""
        return None

    def anchored(self) -> tuple[tuple[str, Point, Point], ...]:
        """(frame, point in it, place in the world) of each point for which the
        constraint states a place.
        """
        return ()

    def check(self, tree: Tree) -> None:
        """Refuse a tree that does not match the constraint."""
        shape = self.jacobian(tree, configuration.neutral(tree)).shape
        if self.rows < 1 or shape != (self.rows, tree.nv):
            raise InputError(
                f"constraint {self.name!r}: expected at least one row, and a Jacobian ({self.rows}, {tree.nv}), got "
                f"one of shape {shape}"
            )


class FixedRows(Constraint):
    """The abstract base of constraints with a number of rows that their class sets."""

    _row_count: ClassVar[int]

    @property
    def rows(self) -> int:
        return self._row_count


def checked_configuration(tree: Tree, q: Any) -> NDArray[Any]:
    """Check a configuration and return it as float64, in which redundant rows are resolved."""
    return check_configuration.check(tree, q, limits=False).astype(np.float64)


def rank(J: NDArray[Any], names: tuple[str, ...]) -> int | NDArray[Any]:
    """The rank of J, (..., rows, n), when it is finite; names are those of its rows."""
    bad = ~np.isfinite(J)
    if bad.any():
        *sample, row, _ = first(bad)
        raise InputError(f"q{at(tuple(sample))}: the row {names[row]!r} has no direction here")
    values = np.linalg.svd(J, compute_uv=False)
    largest = values.max(axis=-1, initial=1.0)
    ranks = (values > RANK_TOLERANCE * largest[..., None]).sum(axis=-1)
    return ranks if ranks.ndim else int(ranks)
