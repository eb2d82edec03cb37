"""Rows: the interface of quantities linear in the velocities, such as constraints, and functions that stack them.

A user's own kind is a class with a Jacobian and a bias: `constraints.Constraint` shows one in ten lines.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from multibody.errors import InputError
from multibody.geometry._arrays import check_values, floats
from multibody.model import check_configuration
from multibody.model.tree import Tree


class Rows(ABC):
    """Velocities J v of a robot, row by row, with names: frozen data, a dataclass with a `name`.

    All functions take batches, and traced arrays; the parameters of the tree may be traced, too.
    """

    name: str

    @property
    @abstractmethod
    def rows(self) -> int:
        """The number of rows."""

    @property
    def row_names(self) -> tuple[str, ...]:
        """The names of the rows."""
        return tuple(f"{self.name}[{k}]" for k in range(self.rows))

    def error(self, tree: Tree, q: NDArray[Any], target: Any = None) -> NDArray[Any]:
        """(..., rows): the error of q with respect to a target, or to the rows' own;
        zeros if there is none.
        """
        del tree, target
        return np.zeros((*q.shape[:-1], self.rows), q.dtype)

    @abstractmethod
    def jacobian(self, tree: Tree, q: NDArray[Any]) -> NDArray[Any]:
        """J, (..., rows, nv), for the velocities of the tree."""

    @abstractmethod
    def bias(self, tree: Tree, q: NDArray[Any], v: NDArray[Any]) -> NDArray[Any]:
        """J' v, (..., rows): the acceleration of the rows when v' = 0."""


Kind = TypeVar("Kind", bound=Rows)


def members(rows: Iterable[Kind], where: str) -> tuple[Kind, ...]:
    """Return the rows as a tuple; refuse an empty one."""
    parts = tuple(rows) if isinstance(rows, Iterable) else ()
    if not parts or not all(isinstance(part, Rows) for part in parts):
        raise InputError(f"{where}: expected constraints, got {rows!r}")
    return parts


def count(rows: Iterable[Rows]) -> int:
    """The number of all rows."""
    return sum(part.rows for part in rows)


def names(rows: Iterable[Rows]) -> tuple[str, ...]:
    """The names of all rows."""
    return tuple(name for part in rows for name in part.row_names)


def slices(rows: Iterable[Rows]) -> dict[str, slice]:
    """The slice of each part's rows, by its name."""
    places, start = {}, 0
    for part in rows:
        places[part.name] = slice(start, start + part.rows)
        start += part.rows
    return places


def error(tree: Tree, rows: Iterable[Rows], q: NDArray[Any]) -> NDArray[Any]:
    """(..., rows): the errors of all rows at q, (..., nq), with respect to their own targets."""
    q = check_configuration.coordinates(tree, q)
    return np.concatenate([part.error(tree, q) for part in rows], axis=-1)


def jacobian(tree: Tree, rows: Iterable[Rows], q: NDArray[Any]) -> NDArray[Any]:
    """J, (..., rows, nv), of all rows.  [RD 2.271]"""
    q = check_configuration.coordinates(tree, q)
    return np.concatenate([part.jacobian(tree, q) for part in rows], axis=-2)


def bias(tree: Tree, rows: Iterable[Rows], q: NDArray[Any], v: NDArray[Any]) -> NDArray[Any]:
    """J' v, (..., rows), of all rows.  [RD 2.270]"""
    q, v = check_configuration.coordinates(tree, q), check_configuration.velocities(tree, v)
    return np.concatenate([part.bias(tree, q, v) for part in rows], axis=-1)


def mask(rows: Sequence[Rows], active: Any) -> NDArray[Any]:
    """(..., rows) of ones and zeros, from one per row, or from one per part."""
    active = floats(active, "active")
    check_values(active, "active", lambda x: (x == 0) | (x == 1), "ones and zeros", core=1)
    total, length = count(rows), active.shape[-1] if active.ndim else 0
    if length == total:
        return active
    if length != len(rows):
        raise InputError(
            f"active: expected (..., {len(rows)}), one for each constraint, or (..., {total}), one for each row; "
            f"got shape {active.shape}"
        )
    return np.concatenate([active[..., k : k + 1] for k, part in enumerate(rows) for _ in range(part.rows)], axis=-1)
