"""Least squares of any rank, by two orthogonal factorizations without branches on values.

A = L Q: the rows of Q are orthonormal and span those of A, by Gram-Schmidt with pivoting on the longest remaining row.
If A has fewer independent rows than Q has rows, the last of these are zero. Then L = P R with orthonormal columns P and
an upper triangular R, and

    A^+ = Q^T R^-1 P^T,   N = 1 - Q^T Q.

Nothing is squared, so that small singular values keep their digits. Every vector is orthogonalised twice, which leaves
only rounding errors. Rows are chosen by selection: a sample does not depend on the others of its batch.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from multibody.geometry._arrays import Array, dot, matvec, positive_or_one, transpose
from multibody.tracing.matrices import linalg
from multibody.tracing.record.loop import loop

RANK_TOLERANCE = {np.dtype(np.float64): 1e-10, np.dtype(np.float32): 1e-5}
"""The length of a row after projection, relative to the largest singular value, below which it counts as zero.

The Frobenius norm stands for that singular value: it is larger by the root of the rank at most. The length of the row
is larger than the corresponding singular value by a similar factor.
"""
ZERO_PROJECTION = {np.dtype(np.float64): 1e-8, np.dtype(np.float32): 1e-4}
"""The length after projection up to which a row of the length 1 is a rounding error."""
UNROLLED = 8
"""Factorizations with at most this many steps are unrolled, which is faster; others are loops of the kernel."""


def row_space(A: Array, above: Array | None = None, **sizes: Any) -> Array:
    """The Q of `row_factors`: orthonormal rows that span those of A."""
    return row_factors(A, above, **sizes)[1]


def row_factors(
    A: Array,
    above: Array | None = None,
    *,
    rank: int | None = None,
    part_of: Array | None = None,
) -> tuple[Array, Array]:
    """L = A Q^T, (..., m, k), and Q, (..., k, n) with k = min(m, n); L Q is A without its part along `above`.

    Q has orthonormal rows that span those of A, (..., m, n), beyond those of `above`.

    Args:
        A: its size, before the projection by `above`, is the scale of the rank tolerance.
        above: (..., j, n), orthonormal rows, or zeros, that Q is orthogonal to.
        rank: k if it is known to be smaller; the longest rows are taken.
        part_of: (..., m, j), a matrix whose size is the scale instead.
    """
    whole = A if part_of is None else part_of
    size = scale(whole)[..., None, None]
    W, whole = A / size, whole / size
    cut = RANK_TOLERANCE[np.dtype(W.dtype)] ** 2 * np.sum(whole * whole, axis=(-1, -2))
    steps = min(W.shape[-2:]) if rank is None else rank
    if above is not None:
        W = W - np.matmul(np.matmul(W, transpose(above)), above)

    def step(carry: tuple[Array, ...]) -> tuple[Array, ...]:
        W, L, Q = carry
        q = _unit(*_longest(W), cut)
        for taken in (Q,) if above is None else (above, Q):
            q = q - matvec(transpose(taken), matvec(taken, q))
        q = _unit(q, dot(q, q))
        along = matvec(W, q)
        L = np.concatenate([L[..., 1:], along[..., None]], axis=-1)
        return W - along[..., :, None] * q[..., None, :], L, np.concatenate([Q[..., 1:, :], q[..., None, :]], axis=-2)

    start = W, np.zeros((*W.shape[:-1], steps), W.dtype), np.zeros_like(W[..., :steps, :])
    _, L, Q = _repeat(steps, step, start)
    return L * size, Q


def left_inverse(L: Array) -> Array:
    """L^+, (..., k, m), of an L, (..., m, k), with columns that are independent, or zero."""
    if not L.shape[-1]:
        return transpose(L)
    P_T, R, size = _triangular(L)
    return _substituted(R, P_T) / size[..., None, None]


def left_solution(L: Array, b: Array) -> Array:
    """L^+ b, (..., k), for b (..., m)."""
    if not L.shape[-1]:
        return L[..., 0, :] if L.shape[-2] else matvec(transpose(L), b)
    P_T, R, size = _triangular(L)
    return _substituted(R, matvec(P_T, b)[..., None])[..., 0] / size[..., None]


def _triangular(L: Array) -> tuple[Array, Array, Array]:
    """P^T, (..., k, m), R, (..., k, k), and the size, with L = P R size; columns as in `left_inverse`."""
    size = scale(L)
    L = L / size[..., None, None]

    def step(carry: tuple[Array, Array]) -> tuple[Array, Array]:
        rest, P = carry
        p = rest[..., :, 0]
        for _ in range(2):
            p = p - matvec(P, matvec(transpose(P), p))
        p = _unit(p, dot(p, p))
        return np.roll(rest, -1, axis=-1), np.concatenate([P[..., :, 1:], p[..., :, None]], axis=-1)

    P_T = transpose(_repeat(L.shape[-1], step, (L, np.zeros_like(L)))[1])
    return P_T, np.matmul(P_T, L), size


def _substituted(R: Array, right: Array) -> Array:
    """R^-1 right, (..., k, j), for an upper triangular R; zeros in rows of zeros."""
    columns = R.shape[-1]
    if columns > UNROLLED and R.ndim == 2:
        ends = np.stack([R[i, i] for i in range(columns)], axis=-1)
        filled = R + np.where(ends == 0, np.ones_like(ends), np.zeros_like(ends)) * np.eye(columns, dtype=R.dtype)
        return linalg.solve_triangular(filled, right, lower=False)
    x: list[Any] = [None] * columns
    for i in reversed(range(columns)):
        own = right[..., i, :]
        for k in range(i + 1, columns):
            own = own - R[..., i, k, None] * x[k]
        x[i] = own * _reciprocal(R[..., i, i], R[..., i, i] != 0)[..., None]
    return np.stack(x, axis=-2)


def complement(Q: Array, least: int | None = None) -> Array:
    """C, (..., n, n - least): orthonormal columns, orthogonal to the rows of Q, (..., k, n), orthonormal or zeros.

    With D = Q^T - (S, 0)^T for signs S, the columns of (0, 1)^T + D S D_1^-T D_2^T are those of a product of
    reflections that has +-Q^T as its first columns. The signs are chosen during the elimination of D_1, so that every
    pivot is at least 1. A row of zeros takes a direction, too, unless it is one of those from `least` on: the first
    columns are for such rows, and zero if the rows are not. [Ballard et al. 2015, Reconstructing Householder vectors]
    """
    k, n = Q.shape[-2:]
    m = k if least is None else least
    if not k:
        return np.broadcast_to(np.eye(n, dtype=Q.dtype), (*Q.shape[:-2], n, n))
    signs, X = _reflectors(Q, m) if k <= UNROLLED else _reflectors_by_loop(Q, m)
    S = signs[..., None]
    square = np.eye(k, dtype=Q.dtype) * S
    upper = np.matmul(transpose(Q[..., :k]) - square, S * X) + np.eye(k, n - m, -m, dtype=Q.dtype)
    lower = np.matmul(transpose(Q[..., k:]), S * X) + np.eye(n - k, n - m, k - m, dtype=Q.dtype)
    C = np.concatenate([upper, lower], axis=-2)
    if m == k:
        return C
    taken = np.sum(Q[..., m:, :] * Q[..., m:, :], axis=-1)[..., None, :] > 0
    return np.concatenate([np.where(taken, np.zeros_like(C[..., : k - m]), C[..., : k - m]), C[..., k - m :]], axis=-1)


def _reflectors(Q: Array, first: int) -> tuple[Array, Array]:
    """The signs of `complement`, and X with D_1^T X = Q_2, the columns of Q from `first` on, by elimination."""
    k = Q.shape[-2]
    rows, signs, inverses = [Q[..., i, :] for i in range(k)], list[Any](), list[Any]()
    for i in range(k):
        sign, inverse = _pivot(rows[i][..., i])
        signs.append(sign)
        inverses.append(inverse)
        for r in range(i + 1, k):
            rows[r] = rows[r] - (rows[r][..., i] * inverse)[..., None] * rows[i]
    x: list[Any] = [None] * k
    for i in reversed(range(k)):
        right = rows[i][..., first:]
        for j in range(i + 1, k):
            right = right - rows[i][..., j, None] * x[j]
        x[i] = right * inverses[i][..., None]
    return np.stack(signs, axis=-1), np.stack(x, axis=-2)


def _reflectors_by_loop(Q: Array, first: int) -> tuple[Array, Array]:
    """`_reflectors`, with a loop of the kernel for the signs, and a solve after it."""
    k = Q.shape[-2]

    def step(carry: tuple[Array, Array]) -> tuple[Array, Array]:
        M, signs = carry
        sign, inverse = _pivot(M[..., 0, 0])
        ratios = M[..., 1:, 0] * inverse[..., None]
        rest = M[..., 1:, 1:] - ratios[..., :, None] * M[..., None, 0, 1:]
        rest = np.concatenate([rest, np.zeros_like(M[..., 1:, :1])], axis=-1)
        rest = np.concatenate([rest, np.zeros_like(M[..., :1, :])], axis=-2)
        return rest, np.concatenate([signs[..., 1:], sign[..., None]], axis=-1)

    signs = loop(k, step, (Q[..., :k], np.zeros_like(Q[..., 0, :k])))[1]
    return signs, np.linalg.solve(Q[..., :k] - np.eye(k, dtype=Q.dtype) * signs[..., None], Q[..., first:])


def _pivot(entry: Array) -> tuple[Array, Array]:
    """The sign for which |entry - sign| is at least 1, and the inverse of entry - sign."""
    sign = np.where(entry < 0, np.ones_like(entry), -np.ones_like(entry))
    return sign, 1.0 / (entry - sign)


def project_out(chosen: Array, G: Array, others: Array, isometric: int) -> tuple[Array, Array]:
    """G, (..., m, n), and other rows, projected on the orthogonal complement of chosen rows of G.

    It takes as many steps as there are independent chosen rows, and none if no row is chosen.

    Args:
        chosen: (..., m), ones and zeros; rows count as zero if their projections are at most ZERO_PROJECTION long.
        G: rows of the length 1, or less.
        others: (..., k, n).
        isometric: the number of these, the first ones, with orthonormal columns in all directions that G feels.
    """
    cut = ZERO_PROJECTION[np.dtype(G.dtype)] ** 2

    def step(carry: tuple[Array, ...]) -> tuple[Array, ...]:
        G, others, _ = carry
        row, squared = _longest(chosen[..., None] * G)
        Z, q = others[..., :isometric, :], _unit(row, squared, cut)
        q = matvec(transpose(Z), matvec(Z, q))  # orthogonal to the rows of earlier steps
        q = _unit(q, dot(q, q))
        G, others = (X - matvec(X, q)[..., :, None] * q[..., None, :] for X in (G, others))
        return G, others, squared

    return loop(min(G.shape[-2:]), step, (G, others, np.max(chosen, axis=-1)), until=lambda at: ~(at[2] > cut))[:2]


def _repeat(steps: int, step: Callable[[Any], Any], carry: Any) -> Any:
    if steps > UNROLLED:
        return loop(steps, step, carry)
    for _ in range(steps):
        carry = step(carry)
    return carry


def scale(A: Array) -> Array:
    """(...): the largest entry of a matrix, 1 for zeros; squares of A / scale neither under- nor overflow."""
    if not A.shape[-2] or not A.shape[-1]:
        return np.ones(A.shape[:-2], A.dtype)
    return positive_or_one(np.max(np.abs(A), axis=(-1, -2)))


def _longest(W: Array) -> tuple[Array, Array]:
    """The longest row, the first of equals, and the square of its length."""
    row, squared = W[..., 0, :], dot(W[..., 0, :], W[..., 0, :])
    for i in range(1, W.shape[-2]):
        other = dot(W[..., i, :], W[..., i, :])
        longer = other > squared
        row, squared = np.where(longer[..., None], W[..., i, :], row), np.where(longer, other, squared)
    return row, squared


def _unit(x: Array, squared: Array, cut: Any = 0.0) -> Array:
    """The unit vector along x, or zeros if the square of its length is not above the cut."""
    some = squared > cut
    inverse = _reciprocal(np.sqrt(np.where(some, squared, np.ones_like(squared))), some)
    return x * inverse[..., None]


def _reciprocal(x: Array, some: Array) -> Array:
    """1 / x for some, otherwise 0."""
    one = np.ones_like(x)
    return np.where(some, one / np.where(some, x, one), np.zeros_like(x))
