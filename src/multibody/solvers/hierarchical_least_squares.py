"""Linear equations with strict priorities.  [RD 2.216-2.220, 3.102-3.107, §2.9.2, §3.10.2, §A.1]"""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from multibody.errors import InputError
from multibody.geometry._arrays import Array, floats, matvec, split_last, transpose
from multibody.solvers.compiled_functions import evaluate
from multibody.solvers.least_squares import row_factors, row_space
from multibody.solvers.pseudo_inverse import damped_solution

Equations = tuple[Array, Array]
"""A, (..., m, n), and b, (..., m), of A x = b."""


def prioritized(levels: Iterable[tuple[ArrayLike, ArrayLike]]) -> tuple[Array, list[Array]]:
    """The v that meets J v = w level by level: no level gives way to those after it.
    [RD 2.216-2.220, Alg. 2]

    Among all v that minimise |J_1 v - w_1|, those that minimise |J_2 v - w_2|, and so on; of
    the remaining ones, the v of least norm. Jacobians have any rank: directions that an earlier
    level decides stay decided. Singular values below about 1e-10 of the largest one of the
    level's own J count as zero, 1e-5 in float32.

    Args:
        levels: pairs of J, (..., m, n), and w, (..., m), the most important first; m may
            differ, and be zero.

    Returns:
        v, (..., n), and for each level its slack J v - w, (..., m).

    Raises:
        InputError: when there is no level, or shapes do not fit.

    >>> v, slacks = prioritized([([[1.0, 1.0]], [2.0]), ([[1.0, 0.0], [0.0, 1.0]], [3.0, 0.0])])
    >>> v.round(12)
    array([ 2.5, -0.5])
    >>> [slack.round(12).tolist() for slack in slacks]
    [[0.0], [-0.5, -0.5]]
    """
    checked = _checked(levels)
    arrays: dict[str, tuple[Array, int]] = {}
    for k, (J, w) in enumerate(checked, start=1):
        arrays[f"J{k}"], arrays[f"w{k}"] = (J, 2), (w, 1)
    counts = [w.shape[-1] for _, w in checked]
    if not any(counts):
        raise InputError("levels: expected at least one row in all of them, got none")
    v, slacks = evaluate(_interleaved, arrays)
    return v, split_last(slacks, np.cumsum(counts)[:-1])


prioritised = prioritized
hierarchical_least_squares = prioritized
"""`prioritized`, under the name that RD has for it where x are accelerations and forces.  [RD 3.102-3.107]"""


def lexicographic(
    levels: Sequence[Equations], support: Array | None = None, damping: float = 0.0
) -> tuple[Array, list[Array]]:
    """`prioritized`, of arrays or traced arrays of one batch shape.

    Q are orthonormal rows that span those of the levels so far. For the next, A = A Q^T Q + L Q_i, where Q_i are new
    rows: v grows by Q_i^T L^+ (b - A v), which no level before feels. That is N_{i-1} (A_i N_{i-1})^+ (b_i - A_i v).

    Args:
        levels: the most important first.
        support: (..., m, n), rows with J v = 0, before all levels.
        damping: as `damped_solution` has it.
    """
    v: Any = None
    decided = None if support is None else row_space(support)
    for A, b in levels:
        L, Q = row_factors(A, decided)
        missing = b if v is None else b - matvec(A, v)
        step = matvec(transpose(Q), damped_solution(L, missing, damping)[0])
        v = step if v is None else v + step
        decided = Q if decided is None else np.concatenate([decided, Q], axis=-2)
    return v, [matvec(A, v) - b for A, b in levels]


def _interleaved(*arrays: Array) -> tuple[Array, Array]:
    """v and the slacks of all levels, from J_1, w_1, J_2, ..."""
    v, slacks = lexicographic([(J, w) for J, w in zip(arrays[::2], arrays[1::2], strict=True) if J.shape[-2]])
    return v, np.concatenate(slacks, axis=-1)


def _checked(levels: Iterable[tuple[ArrayLike, ArrayLike]]) -> list[Equations]:
    pairs = list(levels) if isinstance(levels, Iterable) else []
    if not pairs:
        raise InputError(f"levels: expected at least one level, a pair (J, w), got {levels!r}")
    checked: list[Equations] = []
    for k, pair in enumerate(pairs, start=1):
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            raise InputError(f"level {k}: expected a pair (J, w), got {type(pair).__name__}")
        J, w = floats(pair[0], f"J of level {k}"), floats(pair[1], f"w of level {k}")
        if J.ndim < 2 or not w.ndim or w.shape[-1] != J.shape[-2]:
            raise InputError(f"level {k}: expected J (..., m, n) and w (..., m), got shapes {J.shape} and {w.shape}")
        if not J.shape[-1] or J.shape[-1] != (checked or [(J, w)])[0][0].shape[-1]:
            width = checked[0][0].shape[-1] if checked else "n > 0"
            raise InputError(f"level {k}: expected a J of {width} columns as the levels before, got {J.shape[-1]}")
        checked.append((J, w))
    return checked
