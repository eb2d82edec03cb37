"""Solutions of A x = b for a symmetric A that redundant rows make singular: of all, the smallest.

A = J M^-1 J^T is semidefinite. W A W^T = D is diagonal for a W that elimination makes, the largest pivot first; rows
that are sums of others leave pivots of zero. The columns N of W^T at these are what A does not feel; Π takes them out,
and A^+ = Π W^T D^+ W Π. Forces and torques have other units: W begins with the S for which S A S has ones on its
diagonal, so that units do not decide what counts as zero. Rows are swapped by selection, without a branch on values, so
that it compiles as it is.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multibody.algorithms._parts import mirrored
from multibody.geometry._arrays import eye_like, matrix, transpose

PIVOT_WITHIN = 1e-9
"""The share of its own entry on the diagonal below which a pivot counts as zero.

Pivots go with the squares of the rows of J: what the others do not say of a row is dropped below some 3e-5 of it, which
the rounding errors of J M^-1 J^T ask for. `constraints._constraint.RANK_WITHIN`, of singular values of J, is finer.
"""
NOTHING = 1e-20
"""Entries on the diagonal of J M^-1 J^T that come from rounding errors of zero rows, as a share of the largest one or,
where that is larger, of 1/kg; float32 has larger ones."""

_least_rounding: ContextVar[float] = ContextVar("least_rounding", default=0.0)


@contextmanager
def judged_in(dtype: Any) -> Iterator[None]:
    """Ranks are judged as in this precision, also where doubles stand for numbers of it: as its kernels judge them.

    >>> A, b = np.diag([1.0, 1e-12]), np.ones((2, 1))
    >>> with judged_in(np.float32):
    ...     solution(A, b).ravel()
    array([1., 0.])
    >>> solution(A, b).ravel().round(3)
    array([1.e+00, 1.e+12])
    """
    token = _least_rounding.set(float(np.finfo(dtype).eps))
    try:
        yield
    finally:
        _least_rounding.reset(token)


def solution(A: NDArray[Any], b: NDArray[Any]) -> NDArray[Any]:
    """The smallest x, (..., n, m), of those with the least |A x - b|, for b (..., n, m)."""
    W, inverse, dropped = _factors(A)
    N, N_T_N = _idle(W, dropped)

    def felt(x: NDArray[Any]) -> NDArray[Any]:
        return x - np.matmul(N, np.linalg.solve(N_T_N, np.matmul(transpose(N), x)))

    def solve(b: NDArray[Any]) -> NDArray[Any]:
        return felt(np.matmul(transpose(W), inverse[..., :, None] * np.matmul(W, felt(b))))

    x = solve(b)
    return x + solve(b - np.matmul(A, x))  # what rounding left


def pseudo_inverse(A: NDArray[Any]) -> NDArray[Any]:
    """A^+, (..., n, n)."""
    W, inverse, dropped = _factors(A)
    N, N_T_N = _idle(W, dropped)
    G = mirrored(np.matmul(transpose(W), inverse[..., :, None] * W))
    felt = eye_like(A, A.shape[-1]) - mirrored(np.matmul(N, np.linalg.solve(N_T_N, transpose(N))))
    return mirrored(np.matmul(felt, np.matmul(G, felt)))


def whitening(G: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """V, (..., n, n), and ones and zeros, (..., n), the ones first, with V^T G V diagonal and these on its diagonal."""
    W, inverse, dropped = _factors(G)
    kept = 1 - dropped
    return transpose(W) * (kept * np.sqrt(inverse + dropped))[..., None, :], kept  # a root of zero has no derivative


def _idle(W: NDArray[Any], dropped: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """N, (..., n, n), with zeros for rows that are kept, and N^T N with a one there."""
    N = transpose(W) * dropped[..., None, :]
    return N, mirrored(np.matmul(transpose(N), N)) + (1 - dropped)[..., :, None] * eye_like(W, W.shape[-1])


def _factors(A: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """W, (..., n, n), D^+, (..., n), and ones at the pivots that are zero, (..., n)."""
    n = A.shape[-1]
    rounding = 100 * max(float(np.finfo(A.dtype).eps), _least_rounding.get())
    within, nothing = max(PIVOT_WITHIN, rounding), max(NOTHING, rounding**2)
    zero, one = np.zeros_like(A[..., 0, 0]), np.ones_like(A[..., 0, 0])
    largest = reduce(np.maximum, (A[..., i, i] for i in range(n)), one)
    some = [A[..., i, i] > nothing * largest for i in range(n)]
    S = [np.where(some[i], one, zero) / np.sqrt(np.where(some[i], A[..., i, i], one)) for i in range(n)]
    H = [[S[i] * A[..., i, k] * S[k] for k in range(n)] for i in range(n)]
    W = [[np.where(some[i], S[i], one) if i == k else zero for k in range(n)] for i in range(n)]
    inverse, dropped = [], []
    for j in range(n):
        for i in range(j + 1, n):
            larger = H[i][i] > H[j][j]
            _swap(larger, H, i, j)
            _swap(larger, W, i, j)
            for row in H[j:]:
                row[j], row[i] = np.where(larger, row[i], row[j]), np.where(larger, row[j], row[i])
        kept = H[j][j] > within
        inverse.append(np.where(kept, one, zero) / np.where(kept, H[j][j], one))
        dropped.append(np.where(kept, zero, one))
        for i in range(j + 1, n):
            factor = H[i][j] * inverse[j]
            W[i] = [x - factor * y for x, y in zip(W[i], W[j], strict=True)]
            for k in range(j + 1, i + 1):
                H[i][k] = H[k][i] = H[i][k] - factor * H[k][j]
    return matrix(W), np.stack(inverse, axis=-1), np.stack(dropped, axis=-1)


def _swap(larger: NDArray[Any], rows: list[list[Any]], i: int, j: int) -> None:
    """Two rows, where a condition holds."""
    pairs = list(zip(rows[i], rows[j], strict=True))
    rows[j] = [np.where(larger, a, b) for a, b in pairs]
    rows[i] = [np.where(larger, b, a) for a, b in pairs]
