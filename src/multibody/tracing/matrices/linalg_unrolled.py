"""Linear systems of traced arrays: small ones unrolled into scalars, larger ones by the graph nodes of `dense`.

Small matrices are eliminated with partial pivoting by selection; definite ones are factored as L D L^T without pivots,
from their lower half.
"""

from typing import Any

import numpy as np

from multibody.tracing.array.traced import TracedArray, refuse
from multibody.tracing.matrices import dense

Rows = list[list[Any]]


def solve(A: TracedArray, b: TracedArray, *, definite: bool = False) -> TracedArray:
    """Solve A x = b; b is (n,) or (..., n, m), as in NumPy; without pivots if A is definite."""
    vector = b.ndim == 1
    right = b[:, None] if vector else b
    if A.ndim < 2 or A.shape[-1] != A.shape[-2] or right.shape[-2] != A.shape[-1]:
        raise refuse(f"np.linalg.solve of shapes {A.shape} and {b.shape}: expected (..., n, n) and (..., n, m) or (n,)")
    batch = np.broadcast_shapes(A.shape[:-2], right.shape[:-2])
    left = np.broadcast_to(A.ids, batch + A.shape[-2:])
    right_ids = np.broadcast_to(right.ids, batch + right.shape[-2:])
    out = np.empty(right_ids.shape, dtype=np.int64)
    for index in np.ndindex(*batch):
        ids = left[index]
        large = dense.solution(A.graph, ids, right_ids[index], definite=definite)
        if large is not None:
            out[index] = large
            continue
        matrix, columns = _rows(A, ids), _rows(A, right_ids[index])
        solution = (_by_ldlt if definite else _by_elimination)(matrix, columns)
        out[index] = [[int(x.ids) for x in row] for row in solution]
    return A._with(out[..., 0] if vector else out)


def inverse(A: TracedArray) -> TracedArray:
    """A^-1."""
    if A.ndim < 2 or A.shape[-1] != A.shape[-2]:
        raise refuse(f"np.linalg.inv of shape {A.shape}: expected (..., n, n)")
    identity: Any = np.zeros_like(A) + np.eye(A.shape[-1])
    return solve(A, identity)


def cholesky(A: TracedArray) -> TracedArray:
    """The lower triangular L with L L^T = A."""
    if A.ndim < 2 or A.shape[-1] != A.shape[-2]:
        raise refuse(f"np.linalg.cholesky of shape {A.shape}: expected (..., n, n)")
    out = np.full(A.shape, A.graph.const(0.0))
    for index in np.ndindex(*A.shape[:-2]):
        large = dense.cholesky(A.graph, A.ids[index])
        if large is not None:
            out[index] = large
            continue
        a = _rows(A, A.ids[index])
        n = len(a)
        L: Rows = [[None] * n for _ in range(n)]
        for j in range(n):
            L[j][j] = np.sqrt(_minus(a[j][j], [(L[j][k], L[j][k]) for k in range(j)]))
            for i in range(j + 1, n):
                L[i][j] = _minus(a[i][j], [(L[i][k], L[j][k]) for k in range(j)]) / L[j][j]
            for i in range(j, n):
                out[(*index, i, j)] = int(L[i][j].ids)
    return A._with(out)


def solve_triangular(T: TracedArray, b: TracedArray, *, lower: bool) -> TracedArray:
    """Solve T x = b for a triangular T (n, n) and b (n, m); the other half of T is not read."""
    large = dense.triangular_solution(T.graph, T.ids, b.ids, lower=lower)
    if large is not None:
        return T._with(large)
    t, x = _rows(T, T.ids), _rows(b, b.ids)
    n, done = len(t), list[int]()
    for i in range(n) if lower else reversed(range(n)):
        for c in range(b.shape[1]):
            x[i][c] = _minus(x[i][c], [(t[i][k], x[k][c]) for k in done]) / t[i][i]
        done.append(i)
    return T._with([[int(entry.ids) for entry in row] for row in x])


def _rows(like: TracedArray, ids: Any) -> Rows:
    return [[like._with(x) for x in row] for row in ids]


def _minus(x: TracedArray, products: list[tuple[TracedArray, TracedArray]]) -> TracedArray:
    for a, b in products:
        x = x - a * b
    return x


def _is_zero(x: TracedArray) -> bool:
    """Whether a number is a structural zero."""
    return x.graph.number(int(x.ids)) == 0


def _by_ldlt(a: Rows, b: Rows) -> Rows:
    """Solve L D L^T x = b with the reciprocals of D, from the lower half of a."""
    n = len(a)
    L: Rows = [[None] * n for _ in range(n)]
    scaled: Rows = [[None] * n for _ in range(n)]  # L D
    reciprocal: list[TracedArray] = []
    for j in range(n):
        pivot = _minus(a[j][j], [(scaled[j][k], L[j][k]) for k in range(j)])
        reciprocal.append(1.0 / pivot)
        for i in range(j + 1, n):
            scaled[i][j] = _minus(a[i][j], [(scaled[i][k], L[j][k]) for k in range(j)])
            L[i][j] = scaled[i][j] * reciprocal[j]
    x = [list(row) for row in b]
    for c in range(len(b[0])):
        for i in range(n):
            x[i][c] = _minus(x[i][c], [(L[i][k], x[k][c]) for k in range(i)])
        for i in reversed(range(n)):
            x[i][c] = _minus(x[i][c] * reciprocal[i], [(L[k][i], x[k][c]) for k in range(i + 1, n)])
    return x


def exchange_rows(rows: Rows, i: int, j: int) -> Any:
    """Put the larger pivot of two rows into row j, by selection; returns whether they were exchanged."""
    larger = np.abs(rows[i][j]) > np.abs(rows[j][j])
    pairs = list(zip(rows[j], rows[i], strict=True))
    rows[j] = [np.where(larger, low, high) for high, low in pairs]
    rows[i] = [np.where(larger, high, low) for high, low in pairs]
    return larger


def eliminate(rows: Rows, i: int, j: int, factor: Any) -> None:
    """Subtract a multiple of row j from row i, after column j."""
    rows[i] = [x if k <= j else x - factor * y for k, (x, y) in enumerate(zip(rows[i], rows[j], strict=True))]


def _by_elimination(a: Rows, b: Rows) -> Rows:
    """Gaussian elimination with partial pivoting by selection; structural zeros are skipped."""
    n = len(a)
    rows = [list(left) + list(right) for left, right in zip(a, b, strict=True)]
    for j in range(n):
        for i in range(j + 1, n):
            if _is_zero(rows[i][j]):
                continue
            if _is_zero(rows[j][j]):
                rows[j], rows[i] = rows[i], rows[j]
                continue
            exchange_rows(rows, i, j)
        head = 1.0 / rows[j][j]
        for i in range(j + 1, n):
            if not _is_zero(rows[i][j]):
                eliminate(rows, i, j, rows[i][j] * head)
    x: Rows = [[None] * len(b[0]) for _ in range(n)]
    for i in reversed(range(n)):
        head = 1.0 / rows[i][i]
        for c in range(len(b[0])):
            x[i][c] = _minus(rows[i][n + c], [(rows[i][k], x[k][c]) for k in range(i + 1, n)]) * head
    return x
