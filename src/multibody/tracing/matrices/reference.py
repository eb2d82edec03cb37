"""Matrix operations in plain NumPy: the reference for the loops of kernels.

All take matrices with any leading batch axes. Singular systems give infinities and NaN, as in kernels. Each function is
self-contained, because `kernel.to_numpy()` prints the ones that it needs.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Matrix = NDArray[Any]


def product(A: Matrix, B: Matrix) -> Matrix:
    """A B."""
    return A @ B


def gram(A: Matrix) -> Matrix:
    """A^T A."""
    return np.swapaxes(A, -1, -2) @ A


def weighted_gram(A: Matrix, w: Matrix) -> Matrix:
    """A^T diag(w) A."""
    return np.swapaxes(A, -1, -2) @ (w * A)


def ldlt(A: Matrix) -> Matrix:
    """L below the diagonal, 1 / D on it, (L D)^T above, with L D L^T = A."""
    F = np.where(np.tri(A.shape[-1], dtype=bool), A, np.swapaxes(A, -1, -2))
    for j in range(A.shape[-1]):
        scaled = F[..., j + 1 :, j]
        column = scaled / F[..., j, j, None]
        F[..., j + 1 :, j + 1 :] -= column[..., :, None] * scaled[..., None, :]
        F[..., j, j + 1 :], F[..., j + 1 :, j], F[..., j, j] = scaled, column, 1 / F[..., j, j]
    return F


def ldlt_solve(F: Matrix, b: Matrix) -> Matrix:
    """The solution of L D L^T x = b."""
    x = b.copy()
    for i in range(b.shape[-2]):
        x[..., i, :] -= (F[..., i, None, :i] @ x[..., :i, :])[..., 0, :]
    for i in reversed(range(b.shape[-2])):
        x[..., i, :] *= F[..., i, i, None]
        x[..., i, :] -= (F[..., None, i + 1 :, i] @ x[..., i + 1 :, :])[..., 0, :]
    return x


def cholesky(A: Matrix) -> Matrix:
    """L and its transpose, with L L^T = A."""
    L = np.where(np.tri(A.shape[-1], dtype=bool), A, np.swapaxes(A, -1, -2))
    for j in range(A.shape[-1]):
        L[..., j, j] = np.sqrt(L[..., j, j])
        column = L[..., j + 1 :, j] / L[..., j, j, None]
        L[..., j + 1 :, j] = L[..., j, j + 1 :] = column
        L[..., j + 1 :, j + 1 :] -= column[..., :, None] * column[..., None, :]
    return L


def lower_solve(T: Matrix, b: Matrix) -> Matrix:
    """The solution of T x = b for the lower half of T."""
    x = b.copy()
    for i in range(b.shape[-2]):
        x[..., i, :] -= (T[..., i, None, :i] @ x[..., :i, :])[..., 0, :]
        x[..., i, :] /= T[..., i, i, None]
    return x


def upper_solve(T: Matrix, b: Matrix) -> Matrix:
    """The solution of T x = b for the upper half of T."""
    x = b.copy()
    for i in reversed(range(b.shape[-2])):
        x[..., i, :] -= (T[..., i, None, i + 1 :] @ x[..., i + 1 :, :])[..., 0, :]
        x[..., i, :] /= T[..., i, i, None]
    return x


def lu(A: Matrix) -> Matrix:
    """L below the diagonal, the reciprocals of U's on it, U above, with the rows of A in the order that follows."""
    n = A.shape[-1]
    F, order = A.copy(), np.broadcast_to(np.arange(n), A.shape[:-1]).copy()
    for j in range(n):
        pivot = j + np.argmax(np.abs(F[..., j:, j]), axis=-1)[..., None]
        places = np.where(np.arange(n) == j, pivot, np.where(np.arange(n) == pivot, j, np.arange(n)))
        F, order = np.take_along_axis(F, places[..., None], -2), np.take_along_axis(order, places, -1)
        column = F[..., j + 1 :, j] / F[..., j, j, None]
        F[..., j + 1 :, j + 1 :] -= column[..., :, None] * F[..., j, None, j + 1 :]
        F[..., j + 1 :, j], F[..., j, j] = column, 1 / F[..., j, j]
    return np.concatenate([F.reshape(*A.shape[:-2], n * n), order], axis=-1)


def lu_solve(F: Matrix, order: Matrix, b: Matrix) -> Matrix:
    """The solution of A x = b from these factors."""
    x = np.take_along_axis(b, order.astype(int), -2)
    for i in range(b.shape[-2]):
        x[..., i, :] -= (F[..., i, None, :i] @ x[..., :i, :])[..., 0, :]
    for i in reversed(range(b.shape[-2])):
        x[..., i, :] -= (F[..., i, None, i + 1 :] @ x[..., i + 1 :, :])[..., 0, :]
        x[..., i, :] *= F[..., i, i, None]
    return x


def lu_solve_transposed(F: Matrix, order: Matrix, b: Matrix) -> Matrix:
    """The solution of A^T x = b from these factors."""
    x = b.copy()
    for i in range(b.shape[-2]):
        x[..., i, :] -= (F[..., None, :i, i] @ x[..., :i, :])[..., 0, :]
        x[..., i, :] *= F[..., i, i, None]
    for i in reversed(range(b.shape[-2])):
        x[..., i, :] -= (F[..., None, i + 1 :, i] @ x[..., i + 1 :, :])[..., 0, :]
    return np.take_along_axis(x, np.argsort(order, axis=-2), -2)


VALUES: dict[str, Callable[..., Matrix]] = {
    function.__name__: function
    for function in (
        product, gram, weighted_gram, ldlt, ldlt_solve, cholesky, lower_solve, upper_solve, lu, lu_solve,
        lu_solve_transposed,
    )
}  # fmt: skip
