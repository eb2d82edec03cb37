"""Strict priorities with inequalities at any level, one and batches.  [RD 3.102-3.108, §3.10.3]"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from multibody.errors import InputError
from multibody.geometry._arrays import Array, is_traced, split_last
from multibody.solvers.compiled_functions import evaluate
from multibody.solvers.program import Rows, Status
from multibody.solvers.quadratic_program import check_equations, check_inequalities
from multibody.solvers.strict_levels.projection import solve_hierarchy
from multibody.tracing.record.loop import loop


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
    """The x that is best for all levels under strict priorities: none gives way to later ones.
    [RD 3.108]

    An x is best for a level if it minimises the sum of squares of A x - b and of the violations
    of C x's bounds; of these, the best for the next level, and so on; of the remaining ones,
    the x of least norm. There is always an answer: what a level misses is in its slack.

    It runs in a kernel, compiled once per process for the shapes: a sample has the same bits
    alone and in every batch. Traced arrays become a part of the trace.

    Args:
        levels: the most important first; numbers of rows may differ, and be zero.

    Returns:
        x, (..., n); for each level its slacks, (..., k + m): A x - b, then the violations of C
        x's bounds, positive above the upper ones; and a `Status`, or an array of their numbers
        for a batch: SOLVED, or FAILED where numbers are not finite or too ill-conditioned.
        INFEASIBLE is for lower bounds above upper ones in traced functions.

    Raises:
        InputError: when there is no level, shapes do not fit, or a lower bound is above its
            upper one.

    >>> wish = Level(A=[[1.0, 1.0]], b=[4.0])
    >>> box = Level(C=[[1.0, 0.0], [0.0, 1.0]], lower=[-1.0, -1.0], upper=[1.0, 2.0])
    >>> x, slacks, status = hierarchical_qp([box, wish])
    >>> x.round(9), slacks[1].round(9), status.name
    (array([1., 2.]), array([-1.]), 'SOLVED')
    """
    checked = _checked(levels)
    arrays: dict[str, tuple[Array, int]] = {}
    for k, (A, b, C, lower, upper) in enumerate(checked, start=1):
        arrays |= {f"A{k}": (A, 2), f"b{k}": (b, 1), f"C{k}": (C, 2), f"lower{k}": (lower, 1), f"upper{k}": (upper, 1)}
    counts = [rows.b.shape[-1] + rows.upper.shape[-1] for rows in checked]
    if not any(counts):
        raise InputError("levels: expected at least one row in all of them, got none")
    x, slacks, status, small = evaluate(_outcome, arrays)
    if is_traced(small) or np.count_nonzero(small):
        arrays |= {"x": (x, 1), "slacks": (slacks, 1), "status": (status, 0), "small": (small, 0)}
        x, slacks, status = evaluate(_refined, arrays)
    return x, split_last(slacks, np.cumsum(counts)[:-1]), Status.of(status)


def _outcome(*arrays: Array, refined: bool = False) -> tuple[Array, Array, Array, Array]:
    """x, the slacks of all levels, the status, and ones if x can be refined."""
    levels = [Rows(*arrays[k : k + 5]) for k in range(0, len(arrays), 5)]
    x, slacks, status, small = solve_hierarchy(levels, refined=refined)
    return x, np.concatenate(slacks, axis=-1), status, small


def _refined(*arrays: Array) -> tuple[Array, ...]:
    """The results of `_outcome`, refined where that is possible."""
    *levels, x, slacks, status, small = arrays
    return loop(1, lambda _: _outcome(*levels, refined=True)[:3], (x, slacks, status), until=lambda _: ~(small > 0))


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
