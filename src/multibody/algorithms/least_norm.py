"""Least-norm solutions of A x = b for a symmetric A = Y^T w Y that redundant rows make singular.

J M^-1 J^T is such an A; w is diagonal. W A W^T = D is diagonal for a W that is made column by column of Y, the largest
that is left first; rows that are sums of others leave pivots of zero. The columns N of W^T at these are what A does not
feel; Π takes them out, and A^+ = Π W^T D^+ W Π. Forces and torques have other units: W begins with the S for which
S A S has ones on its diagonal, so that units do not decide what counts as zero. Rows are swapped by selection, without
a branch on values, so that it compiles as it is.

Doubles find W by elimination of A, in fewer operations. In single precision the squares in A hide what is below 3e-4
of a column of Y, and more; there W makes the columns of Y orthogonal, so that both judge ranks alike.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multibody.geometry._arrays import eye_like, matrix, mirror_upper, transpose
from multibody.tracing.matrices import linalg

PIVOT_TOLERANCE = 1e-9
"""A pivot below this fraction of its diagonal entry of A counts as zero.

Pivots are squares: the independent part of a column of Y is dropped below about 3e-5 of it. The rounding errors of A
in double precision, and of Y in single precision, require this. `constraints.constraint.RANK_TOLERANCE`, of
singular values of J, is finer.
"""
ZERO_DIAGONAL = 1e-20
"""Entries on the diagonal of A that come from rounding errors of zero rows, as a share of the largest one or,
where that is larger, of 1/kg; float32 has larger ones."""

Rows = list[list[Any]]
Weights = NDArray[Any] | None

_least_rounding: ContextVar[float] = ContextVar("least_rounding", default=0.0)


@contextmanager
def rank_precision(dtype: Any) -> Iterator[None]:
    """Determine ranks as kernels of this precision do, also in double precision.

    >>> Y, b = np.diag([1.0, 1e-6]), np.ones((2, 1))
    >>> with rank_precision(np.float32):
    ...     solution(Y, b).ravel()
    array([1., 0.])
    >>> solution(Y, b).ravel().round(3)
    array([1.e+00, 1.e+12])
    """
    token = _least_rounding.set(float(np.finfo(dtype).eps))
    try:
        yield
    finally:
        _least_rounding.reset(token)


def gram(Y: NDArray[Any], weights: Weights = None) -> NDArray[Any]:
    """A = Y^T w Y, (..., n, n), for Y (..., m, n) and weights (..., m), or without weights Y^T Y."""
    return mirror_upper(np.matmul(transpose(Y), Y if weights is None else weights[..., :, None] * Y))


def solution(Y: NDArray[Any], b: NDArray[Any], weights: Weights = None) -> NDArray[Any]:
    """The smallest x, (..., n, k), of those with the least |A x - b|, for b (..., n, k); A is that of `gram`."""
    W, inverse, dropped = _factors(Y, weights)
    N, N_T_N = _idle(W, dropped)

    def felt(x: NDArray[Any]) -> NDArray[Any]:
        return x - np.matmul(N, linalg.solve(N_T_N, np.matmul(transpose(N), x), definite=True))

    def solve(b: NDArray[Any]) -> NDArray[Any]:
        return felt(np.matmul(transpose(W), inverse[..., :, None] * np.matmul(W, felt(b))))

    x = solve(b)
    return x + solve(b - _product(Y, weights, x))  # iterative refinement


def pseudo_inverse(Y: NDArray[Any], weights: Weights = None) -> NDArray[Any]:
    """A^+, (..., n, n); A is that of `gram`."""
    W, inverse, dropped = _factors(Y, weights)
    N, N_T_N = _idle(W, dropped)
    G = mirror_upper(np.matmul(transpose(W), inverse[..., :, None] * W))
    felt = eye_like(W, W.shape[-1]) - mirror_upper(np.matmul(N, linalg.solve(N_T_N, transpose(N), definite=True)))
    return mirror_upper(np.matmul(felt, np.matmul(G, felt)))


def whitening(Y: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """V, (..., n, n), and ones and zeros, (..., n), the ones first, with V^T Y^T Y V diagonal and these on it."""
    W, inverse, dropped = _factors(Y)
    kept = 1 - dropped
    return transpose(W) * (kept * np.sqrt(inverse + dropped))[..., None, :], kept  # a root of zero has no derivative


def _idle(W: NDArray[Any], dropped: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """N, (..., n, n), with zeros for rows that are kept, and N^T N with a one there."""
    N = transpose(W) * dropped[..., None, :]
    return N, mirror_upper(np.matmul(transpose(N), N)) + (1 - dropped)[..., :, None] * eye_like(W, W.shape[-1])


def _product(Y: NDArray[Any], weights: Weights, x: NDArray[Any]) -> NDArray[Any]:
    """A x, from Y itself where the rounding errors of A would count."""
    if not _is_coarse(Y):
        return np.matmul(gram(Y, weights), x)
    Y_x = np.matmul(Y, x)
    return np.matmul(transpose(Y), Y_x if weights is None else weights[..., :, None] * Y_x)


def _is_coarse(Y: NDArray[Any]) -> bool:
    """Whether rounding errors of squares exceed the pivot tolerance."""
    return bool(np.finfo(Y.dtype).eps > PIVOT_TOLERANCE)


def _factors(Y: NDArray[Any], weights: Weights = None) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """W, (..., n, n), D^+, (..., n), and ones at the pivots that are zero, (..., n)."""
    A, n = gram(Y, weights), Y.shape[-1]
    nothing = max(ZERO_DIAGONAL, (100 * max(float(np.finfo(Y.dtype).eps), _least_rounding.get())) ** 2)
    zero, one = np.zeros_like(A[..., 0, 0]), np.ones_like(A[..., 0, 0])
    largest = reduce(np.maximum, (A[..., i, i] for i in range(n)), one)
    some = [A[..., i, i] > nothing * largest for i in range(n)]
    S = [np.where(some[i], one, zero) / np.sqrt(np.where(some[i], A[..., i, i], one)) for i in range(n)]
    W = [[np.where(some[i], S[i], one) if i == k else zero for k in range(n)] for i in range(n)]
    if _is_coarse(Y):
        scaled = Y if weights is None else np.sqrt(weights)[..., :, None] * Y
        pivots = _orthogonalize([[S[i] * scaled[..., k, i] for k in range(Y.shape[-2])] for i in range(n)], W)
    else:
        pivots = _eliminate([[S[i] * A[..., i, k] * S[k] for k in range(n)] for i in range(n)], W)
    inverse, dropped = (np.stack(x, axis=-1) for x in zip(*pivots, strict=True))
    return matrix(W), inverse, dropped


def _eliminate(H: Rows, W: Rows) -> list[tuple[Any, Any]]:
    """The pivots of H = S A S, each inverted and judged; W, which begins with S, takes part in the elimination."""
    pivots, n = [], len(W)
    for j in range(n):
        for i in range(j + 1, n):
            larger = H[i][i] > H[j][j]
            _swap(larger, H, i, j)
            _swap(larger, W, i, j)
            for row in H[j:]:
                row[j], row[i] = np.where(larger, row[i], row[j]), np.where(larger, row[j], row[i])
        pivots.append(_invert_pivot(H[j][j]))
        for i in range(j + 1, n):
            factor = H[i][j] * pivots[j][0]
            W[i] = _minus(W[i], factor, W[j])
            for k in range(j + 1, i + 1):
                H[i][k] = H[k][i] = H[i][k] - factor * H[k][j]
    return pivots


def _orthogonalize(Y_T: Rows, W: Rows) -> list[tuple[Any, Any]]:
    """As `_eliminate`, from the columns of Y S by modified Gram-Schmidt, which avoids rounding errors of squares."""
    pivots, n = [], len(W)
    for j in range(n):
        squares = [_dot(column, column) for column in Y_T[j:]]
        for i in range(j + 1, n):
            larger = squares[i - j] > squares[0]
            _swap(larger, Y_T, i, j)
            _swap(larger, W, i, j)
            squares[0] = np.maximum(squares[0], squares[i - j])
        pivots.append(_invert_pivot(squares[0]))
        for i in range(j + 1, n):
            factor = _dot(Y_T[i], Y_T[j]) * pivots[j][0]
            Y_T[i], W[i] = _minus(Y_T[i], factor, Y_T[j]), _minus(W[i], factor, W[j])
    return pivots


def _invert_pivot(pivot: Any) -> tuple[Any, Any]:
    """1 / pivot and a zero, or, for a pivot that counts as zero, a zero and a one."""
    zero, one = np.zeros_like(pivot), np.ones_like(pivot)
    kept = pivot > PIVOT_TOLERANCE
    return np.where(kept, one, zero) / np.where(kept, pivot, one), np.where(kept, zero, one)


def _dot(x: list[Any], y: list[Any]) -> Any:
    return reduce(np.add, (a * b for a, b in zip(x, y, strict=True)))


def _minus(x: list[Any], factor: Any, y: list[Any]) -> list[Any]:
    return [a - factor * b for a, b in zip(x, y, strict=True)]


def _swap(larger: NDArray[Any], rows: Rows, i: int, j: int) -> None:
    """Two rows, where a condition holds."""
    pairs = list(zip(rows[i], rows[j], strict=True))
    rows[j] = [np.where(larger, a, b) for a, b in pairs]
    rows[i] = [np.where(larger, b, a) for a, b in pairs]
