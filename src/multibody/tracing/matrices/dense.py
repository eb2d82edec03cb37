"""Operations on whole matrices, as nodes of a graph: which ones are worth it, and how each is made.

All take and give arrays of nodes. A product, a factorization or a solution of some size is one node of the graph with
an entry for each number of its result; small ones, and those of which structural zeros leave little, are the scalars
that `linear_algebra` writes out: these functions return None for them.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from multibody.tracing.graph.graph import Graph
from multibody.tracing.matrices.kinds import KINDS, operands

Ids = NDArray[Any]
"""An array of nodes."""
PRODUCTS = 2000
"""Products of two numbers up to which a product of matrices is written out."""
WITH_VECTOR = 300
"""The same, for a product of a matrix and a vector, whose numbers are read once in any case: a loop is less code."""
ROWS = 12
"""Rows up to which a matrix is factored by code that is written out."""
SPARSE = 0.5
"""The share of entries, or of products, that are not zero for all values, below which they are written out..."""
MOST = 20_000
"""... up to so many products of two numbers."""


def node(graph: Graph, kind: str, sizes: tuple[int, ...], *matrices: Ids) -> Ids:
    """The results of an operation, laid end to end; entries that it does not read are left out of its arguments."""
    zero = graph.const(0.0)
    arguments: list[int] = []
    for operand, ids in zip(operands(kind, sizes), matrices, strict=True):
        read = np.where(operand.read(), np.reshape(ids, (operand.rows, operand.columns)), zero)
        arguments += read.ravel().tolist()
    dense = graph.dense(kind, sizes, tuple(arguments))
    return np.array([graph.entry(dense, k) for k in range(KINDS[kind].results(*sizes))], dtype=np.int64)


# ---- products --------------------------------------------------------------------------------------------------------


def product(graph: Graph, A: Ids, B: Ids) -> Ids | None:
    """A B, where it pays; a product with the transpose of A is symmetric, with the same node on both sides."""
    m, k = A.shape
    n = B.shape[1]
    few = PRODUCTS if m > 1 and n > 1 else WITH_VECTOR
    if m * k * n <= few:
        return None
    left, right = _may_be(graph, A), _may_be(graph, B)
    products = int(left.sum(axis=0) @ right.sum(axis=1))
    if products <= few:
        return None
    if products < SPARSE * m * k * n:
        blocks = _by_blocks(graph, A, B, left, right)
        if blocks is not None or products <= MOST:
            return blocks
    if A.shape == B.T.shape and (A.T == B).all():
        return _mirrored(node(graph, "gram", (k, n), B).reshape(n, n))
    for scaled, plain in ((A.T, B), (B, A.T)):
        weights = _weights(graph, scaled, plain)
        if weights is not None:
            return _mirrored(node(graph, "weighted_gram", (k, n), plain, weights).reshape(n, n))
    return node(graph, "product", (m, k, n), A, B).reshape(m, n)


def _by_blocks(graph: Graph, A: Ids, B: Ids, left: NDArray[Any], right: NDArray[Any]) -> Ids | None:
    """A B from blocks of rows of A, and of columns of B, that are zero in the same places, where it pays for one."""
    rows, columns = _alike(left), _alike(right.T)
    if len(rows) == 1 and len(columns) == 1 and left[0].all() and right[:, 0].all():
        return None
    out, large = np.full((len(A), B.shape[1]), graph.const(0.0)), False
    small: list[tuple[NDArray[Any], NDArray[Any], NDArray[Any]]] = []
    for i in rows:
        for j in columns:
            inner = np.flatnonzero(left[i[0]] & right[:, j[0]])
            block = product(graph, A[np.ix_(i, inner)], B[np.ix_(inner, j)]) if len(inner) else None
            if block is not None:
                out[np.ix_(i, j)], large = block, True
            elif len(inner):
                small.append((i, j, inner))
    if not large:
        return None
    for i, j, inner in small:
        out[np.ix_(i, j)] = written_out(graph, A[np.ix_(i, inner)], B[np.ix_(inner, j)])
    return out


def _alike(pattern: NDArray[Any]) -> list[NDArray[Any]]:
    """The places of rows that are equal, for each kind of row."""
    kinds: dict[bytes, list[int]] = {}
    for k, row in enumerate(pattern):
        kinds.setdefault(row.tobytes(), []).append(k)
    return [np.array(places) for places in kinds.values()]


def written_out(graph: Graph, A: Ids, B: Ids) -> Ids:
    """A B as sums of products, each from the first to the last; what is zero for all values is left out."""
    zero, columns = graph.const(0.0), B.T.tolist()
    out = np.empty((len(A), len(columns)), dtype=np.int64)
    for i, row in enumerate(A.tolist()):
        for j, column in enumerate(columns):
            total = zero
            for a, b in zip(row, column, strict=True):
                if a != zero and b != zero:
                    total = graph.apply("add", total, graph.apply("mul", a, b))
            out[i, j] = total
    return out


def _may_be(graph: Graph, ids: Ids) -> NDArray[Any]:
    """Whether each entry may be another number than zero."""
    zeros = [graph.const(0.0), graph.const(-0.0)]
    return ~np.isin(ids, zeros)


def _mirrored(ids: Ids) -> Ids:
    """The lower half of a symmetric matrix in both halves."""
    return np.where(np.tri(len(ids), dtype=bool), ids, ids.T)


def _weights(graph: Graph, scaled: Ids, plain: Ids) -> Ids | None:
    """w, (k, 1), when every row of the one matrix is w_k times that of the other, as in A^T diag(w) A."""
    if scaled.shape != plain.shape:
        return None
    weights = np.empty((len(plain), 1), dtype=np.int64)
    for k, (products, factors) in enumerate(zip(scaled.tolist(), plain.tolist(), strict=True)):
        others: set[int] = set()
        for multiple, factor in zip(products, factors, strict=True):
            if graph.op[multiple] != "mul" or factor not in graph.args[multiple]:
                return None
            a, b = graph.args[multiple]
            others.add(b if a == factor else a)
        if len(others) != 1:
            return None
        weights[k, 0] = others.pop()
    return weights


# ---- factorizations and solutions ------------------------------------------------------------------------------------


def is_large(graph: Graph, A: Ids) -> bool:
    """Whether a square matrix is factored in loops."""
    n = len(A)
    if n <= ROWS:
        return False
    share = _may_be(graph, A).mean()
    return bool(share >= SPARSE or n**3 / 3 > MOST)


def solution(graph: Graph, A: Ids, b: Ids, *, definite: bool) -> Ids | None:
    """x of A x = b, for b (n, m), where it pays: with pivots, or by L D L^T from the lower half of a definite A."""
    if not is_large(graph, A):
        return None
    n, m = b.shape
    if definite:
        return ldlt_solution(graph, node(graph, "ldlt", (n,), A), b)
    factors = node(graph, "lu", (n,), A)
    return node(graph, "lu_solve", (n, m), factors[: n * n], factors[n * n :], b).reshape(n, m)


def ldlt_solution(graph: Graph, factors: Ids, b: Ids) -> Ids:
    """x of L D L^T x = b."""
    return node(graph, "ldlt_solve", b.shape, factors, b).reshape(b.shape)


def cholesky(graph: Graph, A: Ids) -> Ids | None:
    """L with L L^T = A, where it pays; of A the lower half is read."""
    if not is_large(graph, A):
        return None
    n = len(A)
    return np.where(np.tri(n, dtype=bool), node(graph, "cholesky", (n,), A).reshape(n, n), graph.const(0.0))


def triangular_solution(graph: Graph, T: Ids, b: Ids, *, lower: bool) -> Ids | None:
    """x of T x = b for a triangular T, where it pays."""
    n, m = b.shape
    if n * (n - 1) // 2 * m <= PRODUCTS // 2 and n <= ROWS:
        return None
    return node(graph, "lower_solve" if lower else "upper_solve", (n, m), T, b).reshape(n, m)
