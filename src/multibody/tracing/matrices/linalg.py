"""Linear algebra that `np.linalg` lacks: `mb.linalg`.

Plain NumPy on arrays with any leading batch axes; in a traced function, part of the kernel, as
loops if matrices are large. No function branches on the rank: dependent rows are set to zero by
selection.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from multibody._signatures import readable_names
from multibody.errors import InputError
from multibody.geometry._arrays import transpose
from multibody.tracing.array.traced import TracedArray
from multibody.tracing.matrices import linalg_unrolled
from multibody.tracing.matrices.dense import MAX_UNROLLED_PRODUCTS
from multibody.tracing.record.loop import loop

Array = Any
"""A NumPy array or a traced one."""


class Rows(NamedTuple):
    """Orthonormal rows, and the independent ones among the original rows."""

    Q: Array
    """(..., m, n): orthonormal rows, or zeros."""
    independent: Array
    """(..., m): 1.0 if a row is independent of the rows before it, otherwise 0.0 and its row of Q is zero."""


def solve(A: Array, b: Array, *, definite: bool = False) -> Array:
    """Solve A x = b as `np.linalg.solve` does, with at most half of the
    operations if A is definite.

    Args:
        A: (..., n, n).
        b: (n,) or (..., n, m).
        definite: whether A is symmetric and positive or negative definite, such as a mass
            matrix or A^T A + δ 1. Only its lower half is read, and factored without pivots; for
            any other A the result is wrong.

    >>> solve([[0.0, 2.0], [1.0, 0.0]], [4.0, 3.0])
    array([3., 2.])
    """
    A, b = _arrays(A, b)
    _square(A, "solve")
    if isinstance(A, TracedArray):
        return linalg_unrolled.solve(A, b, definite=definite)
    return np.linalg.solve(_mirrored(A) if definite else A, b)


def solve_triangular(T: Array, b: Array, *, lower: bool = True) -> Array:
    """Solve T x = b for a triangular T; the other half is not read.

    Args:
        T: (n, n), or in plain NumPy (..., n, n).
        b: (n,) or (..., n, m).
        lower: whether T is lower triangular; otherwise it is upper triangular.

    >>> solve_triangular([[2.0, 9.0], [1.0, 1.0]], [2.0, 3.0])
    array([1., 2.])
    """
    T, b = _arrays(T, b)
    _square(T, "solve_triangular")
    right = b[:, None] if b.ndim == 1 else b
    if right.shape[-2] != T.shape[-1]:
        raise InputError(f"solve_triangular: expected b of {T.shape[-1]} rows, got shape {b.shape}")
    if isinstance(T, TracedArray):
        if T.ndim > 2 or right.ndim > 2:
            raise InputError(f"solve_triangular: expected one matrix in a traced function, got shape {T.shape}")
        x = linalg_unrolled.solve_triangular(T, right, lower=lower)
    else:
        x = np.linalg.solve(np.tril(T) if lower else np.triu(T), right)
    return x[..., 0] if b.ndim == 1 else x


def orthonormal_rows(A: Array, tolerance: float | None = None) -> Rows:
    """Orthonormalize the rows of A by Gram-Schmidt, run twice.

    A row is dependent if its remainder, orthogonal to the rows before it, is at most
    `tolerance` times its length. Dependent rows become zeros. Q^T Q projects onto the row space
    of A, 1 - Q^T Q onto its null space.

    Args:
        A: (..., m, n).
        tolerance: by default 1e-10, in single precision 1e-5.

    >>> rows = orthonormal_rows([[3.0, 4.0], [6.0, 8.0], [1.0, 0.0]])
    >>> rows.independent
    array([1., 0., 1.])
    >>> rows.Q.round(3) + 0.0
    array([[ 0.6,  0.8],
           [ 0. ,  0. ],
           [ 0.8, -0.6]])
    """
    (A,) = _arrays(A)
    if A.ndim < 2:
        raise InputError(f"orthonormal_rows: expected a matrix (..., m, n), got shape {A.shape}")
    m, n = A.shape[-2:]
    within = (1e-5 if A.dtype == np.float32 else 1e-10) if tolerance is None else tolerance
    empty: Array = np.zeros_like(A)
    if not m:
        return Rows(empty, np.zeros_like(A[..., 0]))

    def add(state: tuple[Array, Array], row: tuple[Array, Array]) -> tuple[Array, Array]:
        (Q, independent), (a, place) = state, row
        rest = a
        for _ in range(2):
            rest = rest - _times(transpose(Q), _times(Q, rest))
        length, whole = _length(rest), _length(a)
        kept = length > within * whole
        one = np.ones_like(length)
        q = np.where(kept, one, np.zeros_like(one))[..., None] * rest / np.where(kept, length, one)[..., None]
        return Q + place[:, None] * q[..., None, :], independent + place * np.where(kept, one, 0.0 * one)[..., None]

    places, rows = np.eye(m), np.moveaxis(A, -2, 0)
    state = empty, empty[..., 0]
    if isinstance(A, TracedArray) and m * m * n > MAX_UNROLLED_PRODUCTS:
        return Rows(*loop(None, add, state, xs=(rows, places)))
    for k in range(m):
        state = add(state, (rows[k], places[k]))
    return Rows(*state)


def rank(A: Array, tolerance: float | None = None) -> Array:
    """Return the number of independent rows of A, as in `orthonormal_rows`.

    >>> float(rank([[1.0, 2.0], [2.0, 4.0]]))
    1.0
    """
    return np.sum(orthonormal_rows(A, tolerance).independent, axis=-1)


def least_norm(A: Array, b: Array, tolerance: float | None = None) -> Array:
    """Solve the least-squares problem |A x - b| with the smallest |x|, for A of any rank.

    A = C Q with orthonormal rows in Q, and V C = R is upper triangular for orthonormal rows in
    V: x = Q^T R^-1 V b.

    Args:
        A: (..., m, n).
        b: (m,) or (..., m, k).
        tolerance: that of dependent rows of A, as in `orthonormal_rows`.

    >>> least_norm([[1.0, 1.0], [2.0, 2.0]], [2.0, 4.0])
    array([1., 1.])
    """
    A, b = _arrays(A, b)
    right = b[:, None] if b.ndim == 1 else b
    if A.ndim < 2 or right.shape[-2] != A.shape[-2]:
        raise InputError(f"least_norm: expected (..., m, n) and (m,) or (..., m, k), got {A.shape} and {b.shape}")
    Q, independent = orthonormal_rows(A, tolerance)
    C = np.matmul(A, transpose(Q))
    V, kept = orthonormal_rows(transpose(C), tolerance)
    R = np.matmul(V, C) + (1.0 - independent * kept)[..., :, None] * np.eye(A.shape[-2])
    x = np.matmul(transpose(Q), solve_triangular(R, np.matmul(V, right), lower=False))
    return x[..., 0] if b.ndim == 1 else x


def pinv(A: Array, tolerance: float | None = None) -> Array:
    """Return the pseudo-inverse A^+, (..., n, m), for A of any rank, with the
    rank of `orthonormal_rows`.

    >>> pinv([[1.0, 1.0], [2.0, 2.0]]).round(12)
    array([[0.1, 0.2],
           [0.1, 0.2]])
    """
    (A,) = _arrays(A)
    return least_norm(A, np.zeros((A.shape[-2], A.shape[-2])) + np.eye(A.shape[-2]), tolerance)


def _arrays(*values: Any) -> list[Array]:
    """The values as floats; all of them traced if one is."""
    traced = next((x for x in values if isinstance(x, TracedArray)), None)
    if traced is None:
        arrays = [np.asarray(x) for x in values]
        return [x if x.dtype.kind == "f" else x.astype(float) for x in arrays]
    zero: Any = traced.ravel()[0] * 0.0
    return [x if isinstance(x, TracedArray) else np.asarray(x, dtype=float) + zero for x in values]


def _square(A: Array, name: str) -> None:
    if A.ndim < 2 or A.shape[-1] != A.shape[-2]:
        raise InputError(f"{name}: expected a square matrix (..., n, n), got shape {A.shape}")


def _mirrored(A: Array) -> Array:
    """The lower half of A in both halves."""
    return np.where(np.tri(A.shape[-1], dtype=bool), A, transpose(A))


def _times(A: Array, x: Array) -> Array:
    return np.matmul(A, x[..., None])[..., 0]


def _length(x: Array) -> NDArray[Any]:
    return np.sqrt(np.sum(x * x, axis=-1))


readable_names(__name__)
