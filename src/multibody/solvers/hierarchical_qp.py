"""Strict priorities with inequalities at any level, one and batches.  [RD 3.102-3.108, §3.10.3]"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from multibody.errors import InputError
from multibody.geometry._arrays import is_traced
from multibody.solvers.array_functions import evaluate
from multibody.solvers.program import Rows, Status
from multibody.solvers.quadratic_program import check_equations, check_inequalities, rows_of
from multibody.solvers.strict_levels.full_dimension import solve_hierarchy

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class Level:
    """The rows of a level: A x = b and lower <= C x <= upper. None, or no rows, for either."""

    A: ArrayLike | None = None
    """(..., k, n)"""
    b: ArrayLike | None = None
    """(..., k)"""
    C: ArrayLike | None = None
    """(..., m, n)"""
    lower: ArrayLike | None = None
    """(..., m), -inf where there is no bound, or None for none at all."""
    upper: ArrayLike | None = None
    """(..., m), likewise."""


def hierarchical_qp(levels: Iterable[Level]) -> tuple[Array, list[Array], Any]:
    """The x that is best for all levels under strict priorities: none gives way to later ones.  [RD 3.108]

    An x is best for a level if it minimises the sum of squares of A x - b and of the violations of C x's bounds; of
    these, the best for the next level, and so on; of the remaining ones, the x of least norm. There is always an
    answer: what a level misses is in its slack.

    It runs in a kernel, compiled once per process for the shapes: a sample has the same bits alone and in every batch.
    Traced arrays become a part of the trace.

    Args:
        levels: the most important first; numbers of rows may differ, and be zero.

    Returns:
        x, (..., n); for each level its slacks, (..., k + m): A x - b, then the violations of C x's bounds, positive
        above the upper ones; and a `Status`, or an array of their numbers for a batch: SOLVED, or FAILED where numbers
        are not finite or too ill-conditioned. INFEASIBLE is for lower bounds above upper ones in traced functions.

    Raises:
        InputError: when there is no level, shapes do not fit, or a lower bound is above its upper one.

    >>> wish = Level(A=[[1.0, 1.0]], b=[4.0])
    >>> box = Level(C=[[1.0, 0.0], [0.0, 1.0]], lower=[-1.0, -1.0], upper=[1.0, 2.0])
    >>> x, slacks, status = hierarchical_qp([box, wish])
    >>> x.round(9), slacks[1].round(9), status.name
    (array([1., 2.]), array([-1.]), 'SOLVED')
    """
    checked = _checked(levels)
    arrays: dict[str, tuple[Array, int]] = {}
    for k, rows in enumerate(checked, start=1):
        if rows.b.shape[-1]:  # a kernel has no arguments without entries
            arrays |= {f"A{k}": (rows.A, 2), f"b{k}": (rows.b, 1)}
        if rows.upper.shape[-1]:
            arrays |= {f"C{k}": (rows.C, 2), f"lower{k}": (rows.lower, 1), f"upper{k}": (rows.upper, 1)}
    if not arrays:
        raise InputError("levels: expected at least one row in all of them, got none")
    numbers = tuple((rows.b.shape[-1], rows.upper.shape[-1]) for rows in checked)
    x, status, *some = evaluate(_outcome, arrays, (checked[0].A.shape[-1], numbers))
    if not is_traced(status):
        status = status.astype(np.int64) if np.ndim(status) else Status(int(status))
    slacks = iter(some)
    return x, [next(slacks) if sum(pair) else np.zeros((*x.shape[:-1], 0), x.dtype) for pair in numbers], status


def _outcome(structure: tuple[int, tuple[tuple[int, int], ...]], *arrays: Array) -> tuple[Array, ...]:
    """x, the status, and the slacks of all levels with rows."""
    n, numbers = structure
    rest, batch = list(arrays), arrays[0].shape[:-2]
    like = np.zeros((*batch, n), arrays[0].dtype)
    levels: list[Rows] = []
    for pair in numbers:
        count = 2 * bool(pair[0]) + 3 * bool(pair[1])
        levels.append(rows_of(pair, rest[:count], like))
        rest = rest[count:]
    outcome = solve_hierarchy(levels)
    return (outcome.x, outcome.status, *(slack for slack in outcome.slacks if slack.shape[-1]))


def _checked(levels: Iterable[Level]) -> list[Rows]:
    parts = list(levels) if isinstance(levels, Iterable) else []
    if not parts:
        raise InputError(f"levels: expected at least one level, got {levels!r}")
    for k, level in enumerate(parts, start=1):
        if not isinstance(level, Level):
            raise InputError(f"level {k}: expected a Level, got {type(level).__name__}")
    matrices = [matrix for level in parts for matrix in (level.A, level.C) if matrix is not None]
    given = [np.shape(matrix)[-1] for matrix in matrices if np.ndim(matrix) > 1]
    if not given or not given[0]:
        raise InputError("levels: expected at least one matrix of n > 0 columns, A or C of a level, got none")
    checked: list[Rows] = []
    for k, level in enumerate(parts, start=1):
        where = f" of level {k}"
        A, b = check_equations(level.A, level.b, given[0], np.float64, where)
        checked.append(Rows(A, b, *check_inequalities(level.C, level.lower, level.upper, given[0], np.float64, where)))
    return checked
