"""Products, factorizations (L D L^T, Cholesky, LU) and solves as graph nodes, if they stay loops in a kernel.

All functions map arrays of nodes to arrays of nodes. A large product, factorization or solve is one node of the graph
with one node "entry" per result. Small ones, and sparse ones up to a size, are unrolled into scalars by
`linalg_unrolled`: the functions return None for them. The five constants below make all of these decisions.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from multibody.tracing.graph.graph import Graph
from multibody.tracing.matrices.kinds import KINDS, operands

Ids = NDArray[Any]
"""An array of nodes."""
MAX_UNROLLED_PRODUCTS = 2000
"""Scalar products up to which a matrix product, or Gram-Schmidt, is unrolled."""
MAX_UNROLLED_VECTOR_PRODUCTS = 300
"""Scalar products up to which a matrix-vector product is unrolled; it reads each entry once, so a loop is less code."""
MAX_UNROLLED_ROWS = 12
"""Rows up to which a factorization is unrolled."""
MIN_DENSITY = 0.5
"""The share of structural nonzeros below which an operation counts as sparse."""
MAX_SPARSE_PRODUCTS = 20_000
"""Scalar products up to which sparse operations are unrolled."""


def node(graph: Graph, kind: str, sizes: tuple[int, ...], *matrices: Ids) -> Ids:
    """The concatenated results of an operation; entries that it does not read are replaced by zeros."""
    zero = graph.const(0.0)
    arguments: list[int] = []
    for operand, ids in zip(operands(kind, sizes), matrices, strict=True):
        read = np.where(operand.read(), np.reshape(ids, (operand.rows, operand.columns)), zero)
        arguments += read.ravel().tolist()
    dense = graph.dense(kind, sizes, tuple(arguments))
    return np.array([graph.entry(dense, k) for k in range(KINDS[kind].results(*sizes))], dtype=np.int64)


# ---- products --------------------------------------------------------------------------------------------------------


def product(graph: Graph, A: Ids, B: Ids) -> Ids | None:
    """A B, or None if it is unrolled; A^T A is symmetric, with the same nodes in both halves."""
    m, k = A.shape
    n = B.shape[1]
    unrolled = MAX_UNROLLED_PRODUCTS if m > 1 and n > 1 else MAX_UNROLLED_VECTOR_PRODUCTS
    if m * k * n <= unrolled:
        return None
    left, right = _nonzeros(graph, A), _nonzeros(graph, B)
    products = int(left.sum(axis=0) @ right.sum(axis=1))
    if products <= unrolled:
        return None
    if products < MIN_DENSITY * m * k * n:
        blocks = _by_blocks(graph, A, B, left, right)
        if blocks is not None or products <= MAX_SPARSE_PRODUCTS:
            return blocks
    if A.shape == B.T.shape and (A.T == B).all():
        return _symmetric(node(graph, "gram", (k, n), B).reshape(n, n))
    for scaled, plain in ((A.T, B), (B, A.T)):
        weights = _weights(graph, scaled, plain)
        if weights is not None:
            return _symmetric(node(graph, "weighted_gram", (k, n), plain, weights).reshape(n, n))
    return node(graph, "product", (m, k, n), A, B).reshape(m, n)


def _by_blocks(graph: Graph, A: Ids, B: Ids, left: NDArray[Any], right: NDArray[Any]) -> Ids | None:
    """A B from blocks with equal sparsity patterns; None if all blocks would be unrolled."""
    rows, columns = _groups(left), _groups(right.T)
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
        out[np.ix_(i, j)] = unrolled_product(graph, A[np.ix_(i, inner)], B[np.ix_(inner, j)])
    return out


def _groups(pattern: NDArray[Any]) -> list[NDArray[Any]]:
    """The indices of equal rows, for each distinct row."""
    kinds: dict[bytes, list[int]] = {}
    for k, row in enumerate(pattern):
        kinds.setdefault(row.tobytes(), []).append(k)
    return [np.array(places) for places in kinds.values()]


def unrolled_product(graph: Graph, A: Ids, B: Ids) -> Ids:
    """A B as sums of products in their order; structural zeros are skipped."""
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


def _nonzeros(graph: Graph, ids: Ids) -> NDArray[Any]:
    """Whether each entry is a structural nonzero."""
    zeros = [graph.const(0.0), graph.const(-0.0)]
    return ~np.isin(ids, zeros)


def _symmetric(ids: Ids) -> Ids:
    """The symmetric matrix with this lower half."""
    return np.where(np.tri(len(ids), dtype=bool), ids, ids.T)


def _weights(graph: Graph, scaled: Ids, plain: Ids) -> Ids | None:
    """w, (k, 1), if row k of one matrix is w_k times that of the other, as in A^T diag(w) A."""
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
    """Whether the factorization of a square matrix stays a loop."""
    n = len(A)
    if n <= MAX_UNROLLED_ROWS:
        return False
    density = _nonzeros(graph, A).mean()
    return bool(density >= MIN_DENSITY or n**3 / 3 > MAX_SPARSE_PRODUCTS)


def solution(graph: Graph, A: Ids, b: Ids, *, definite: bool) -> Ids | None:
    """The solution of A x = b, for b (n, m): by LU with pivots, or by L D L^T from the lower half of a definite A."""
    if not is_large(graph, A):
        return None
    n, m = b.shape
    if definite:
        return node(graph, "ldlt_solve", (n, m), node(graph, "ldlt", (n,), A), b).reshape(n, m)
    factors = node(graph, "lu", (n,), A)
    return node(graph, "lu_solve", (n, m), factors[: n * n], factors[n * n :], b).reshape(n, m)


def cholesky(graph: Graph, A: Ids) -> Ids | None:
    """L with L L^T = A, from the lower half of A."""
    if not is_large(graph, A):
        return None
    n = len(A)
    return np.where(np.tri(n, dtype=bool), node(graph, "cholesky", (n,), A).reshape(n, n), graph.const(0.0))


def triangular_solution(graph: Graph, T: Ids, b: Ids, *, lower: bool) -> Ids | None:
    """The solution of T x = b for a triangular T."""
    n, m = b.shape
    if n * (n - 1) // 2 * m <= MAX_UNROLLED_PRODUCTS // 2 and n <= MAX_UNROLLED_ROWS:
        return None
    return node(graph, "lower_solve" if lower else "upper_solve", (n, m), T, b).reshape(n, m)
