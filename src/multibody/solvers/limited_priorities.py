"""Strict priorities within limits: least squares level by level, none at the cost of a limit or of a level above.

Among all x with lower <= C x <= upper, those at which |A_1 x - b_1| is least have one A_1 x in common: the next level
moves in the null space of A_1, N = 1 - Q^T Q, and within the limits. Where a level's step of least norm stays
within the limits it is taken; else a quadratic program in y decides, x + N y, with the constant dimension of x: what N
takes away is put on the diagonal.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from multibody.geometry._arrays import eye_like, is_traced, matvec, transpose
from multibody.solvers import interior_point
from multibody.solvers.hierarchical_least_squares import Level, lexicographic
from multibody.solvers.least_squares import left_inverse, row_space

Array = NDArray[Any]
ROUNDING = {np.dtype(np.float64): 1e-12, np.dtype(np.float32): 1e-5}
"""By how much a step may be past a bound that it is then put on."""


class Bounds(NamedTuple):
    """lower <= C x <= upper."""

    C: Array
    """(..., m, n): unit vectors for the box first, the entries of x that it bounds."""
    lower: Array
    """(..., m)"""
    upper: Array
    box: tuple[int, ...]
    """Which entries of x the first rows are."""

    def clipped(self, x: Array) -> Array:
        """x, within the box to the last digit."""
        columns = [x[..., k] for k in range(x.shape[-1])]
        for row, k in enumerate(self.box):
            columns[k] = np.minimum(np.maximum(columns[k], self.lower[..., row]), self.upper[..., row])
        return np.stack(columns, axis=-1)

    def hold(self, x: Array) -> Any:
        """(...), truth values: whether x is within all bounds, but for rounding."""
        y = matvec(self.C, x)
        return np.min(np.minimum(y - self.lower, self.upper - y), axis=-1) >= -ROUNDING[np.dtype(x.dtype)]


def limited(levels: Sequence[Level], bounds: Bounds, support: Array | None = None, damping: float = 0.0) -> Array:
    """x, (..., n), that meets A x = b level by level, within bounds, of least norm in what is left.

    Args:
        levels: A, (..., m, n), and b, (..., m), the most important first.
        bounds: what comes before them.
        support: (..., m, n), rows that are zero whatever else: J x = 0.
        damping: as `damped_step` has it.
    """
    n = bounds.C.shape[-1]
    taken = None if support is None else row_space(support)
    x, bounds = _feasible(bounds, taken)
    rest = [*levels] if _is_identity(levels[-1][0]) else [*levels, (np.eye(n, dtype=x.dtype), np.zeros_like(x))]
    for A, b in rest[:-1]:
        x, taken = _level(A, b, x, taken, bounds, damping)
    return _last(rest[-1][1], x, taken, bounds)


def unlimited(levels: Sequence[Level], support: Array | None = None, damping: float = 0.0) -> Array:
    """`limited` without bounds; without damping, too, it is `lexicographic`."""
    first = [] if support is None else [(support, np.zeros_like(support[..., 0]))]
    if damping == 0:
        return lexicographic([*first, *levels])[0]
    taken = None if support is None else row_space(support)
    x: Any = None
    for A, b in levels:
        Q, missing = row_space(A, taken), b if x is None else b - matvec(A, x)
        step, _ = damped_step(A, Q, missing, damping)
        x = step if x is None else x + step
        taken = Q if taken is None else np.concatenate([taken, Q], axis=-2)
    return x


def damped_step(A: Array, Q: Array, missing: Array, damping: float) -> tuple[Array, Any]:
    """The step along Q that makes up for what is missing, and the λ² that it is damped with.

    λ² = d² - s², no less than zero, where 1 / s is the Frobenius norm of (A Q^T)^+: s is at most the smallest singular
    value that is left to the level, and at least that by the root of their number. At a singularity λ = d, and nothing
    is damped where all singular values are larger than d by that root, after Nakamura and Hanafusa, 1986.
    [RD 2.207-2.208]
    """
    L = np.matmul(A, transpose(Q))
    inverse = left_inverse(L)
    if damping == 0:
        return matvec(transpose(Q), matvec(inverse, missing)), None
    size = np.sum(inverse * inverse, axis=(-1, -2))
    some = size > 0
    squared = np.where(some, np.maximum(damping**2 - 1.0 / np.where(some, size, 1.0), 0.0), 0.0)
    spread = np.broadcast_to(
        np.sqrt(squared)[..., None, None] * eye_like(L, L.shape[-1]), (*L.shape[:-2], *[L.shape[-1]] * 2)
    )
    damped = left_inverse(np.concatenate([L, spread], axis=-2))[..., : L.shape[-2]]
    chosen = np.where((squared > 0)[..., None, None], damped, inverse)
    return matvec(transpose(Q), matvec(chosen, missing)), squared


def _level(A: Array, b: Array, x: Array, taken: Array | None, bounds: Bounds, damping: float) -> tuple[Array, Array]:
    """x after a level, and what is taken from the levels to come."""
    Q, missing = row_space(A, taken), b - matvec(A, x)
    step, squared = damped_step(A, Q, missing, damping)
    free = x + step
    met = bounds.hold(free)
    N, T = _projectors(x, taken)
    AN = np.matmul(A, N)
    H = np.matmul(transpose(AN), AN) + T
    if squared is not None:
        H = H + squared[..., None, None] * N
    y = _program(H, -matvec(transpose(AN), missing), N, x, bounds, met)
    x = bounds.clipped(np.where(met[..., None], free, x + matvec(N, y.x)))
    return x, Q if taken is None else np.concatenate([taken, Q], axis=-2)


def _last(b: Array, x: Array, taken: Array | None, bounds: Bounds) -> Array:
    """x after a last level |x - b|, whose step is N (b - x)."""
    N, _ = _projectors(x, taken)
    missing = matvec(N, b - x)
    free = x + missing
    met = bounds.hold(free)
    y = _program(np.eye(x.shape[-1], dtype=x.dtype), -missing, N, x, bounds, met)
    return bounds.clipped(np.where(met[..., None], free, x + matvec(N, y.x)))


def _program(H: Array, g: Array, N: Array, x: Array, bounds: Bounds, met: Any) -> interior_point.Solution:
    y = matvec(bounds.C, x)
    H = np.broadcast_to(H, (*x.shape[:-1], *H.shape[-2:]))
    return interior_point.solve(H, g, np.matmul(bounds.C, N), bounds.lower - y, bounds.upper - y, met)


def _projectors(x: Array, taken: Array | None) -> tuple[Array, Array]:
    """N = 1 - Q^T Q, and Q^T Q."""
    identity = np.eye(x.shape[-1], dtype=x.dtype)
    if taken is None:
        return identity, np.zeros_like(identity)
    T = np.matmul(transpose(taken), taken)
    return identity - T, T


def _feasible(bounds: Bounds, taken: Array | None) -> tuple[Array, Bounds]:
    """An x within bounds that the support allows, and the bounds, widened to it where it does not reach them.

    The box alone has one: zero, clipped. With other rows, x is the least that takes those which zero is outside of to
    their bounds, shortened to be within the box.
    """
    if taken is None and len(bounds.box) == bounds.C.shape[-2]:
        return bounds.clipped(np.zeros_like(bounds.C[..., 0, :])), bounds
    bound = np.minimum(np.maximum(np.zeros_like(bounds.lower), bounds.lower), bounds.upper)
    A = np.where((bound != 0)[..., None], bounds.C, np.zeros_like(bounds.C))
    Q = row_space(A, taken)
    x, _ = damped_step(A, Q, bound, 0.0)
    share = np.ones_like(x[..., 0])
    for row, k in enumerate(bounds.box):
        room = np.where(x[..., k] > 0, bounds.upper[..., row], -bounds.lower[..., row])
        size = np.abs(x[..., k])
        tight = (room > 0) & (size > room)
        share = np.where(tight, np.minimum(share, room / np.where(tight, size, np.ones_like(size))), share)
    x = x * share[..., None]
    y = matvec(bounds.C, x)
    return x, bounds._replace(lower=np.minimum(bounds.lower, y), upper=np.maximum(bounds.upper, y))


def _is_identity(A: Array) -> bool:
    """Whether A is the identity for all values."""
    n = A.shape[-1]
    return not is_traced(A) and A.shape[-2] == n and np.array_equal(A, np.broadcast_to(np.eye(n), A.shape))
