"""Derivatives of matrix operations, which are matrix operations again.

Only solves read the factors of a matrix. So the tangent of a factor stands for that of the matrix: x = A^-1 b has the
tangent dx = A^-1 (db - dA x), and the factorization itself passes tangents on.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from multibody.tracing.array.traced import TracedArray
from multibody.tracing.graph.graph import Graph
from multibody.tracing.matrices import dense
from multibody.tracing.matrices.kinds import KINDS, operands

Tangents = dict[int, int]
"""The derivatives of one node: {direction: node}, without structural zeros."""
Matrices = list[Any]
"""One traced matrix of tangents or cotangents per operand or direction, or None for zeros."""


def flows(graph: Graph, node: int) -> tuple[int, ...]:
    """The arguments that an operation depends on differentiably."""
    args: list[int] = []
    first = 0
    for operand in operands(*graph.value[node]):
        size = operand.rows * operand.columns
        args += graph.args[node][first : first + size] if operand.smooth else ()
        first += size
    return tuple(args)


def jvp(graph: Graph, node: int, tangents: dict[int, Tangents]) -> list[Tangents]:
    """The tangents of all results of an operation, from those of its arguments."""
    rule = _Rule(graph, node)
    rows = [tangents.get(a, {}) for a in graph.args[node]]
    directions = sorted({direction for row in rows for direction in row})
    matrices = [rule.matrices([row.get(direction) for row in rows]) for direction in directions]
    return rule.rows(directions, _JVP[rule.kind](rule, matrices), rule.results)


def vjp(graph: Graph, node: int, cotangents: dict[int, Tangents]) -> list[Tangents]:
    """The cotangents of all arguments of an operation, from those of its results by position."""
    rule = _Rule(graph, node)
    directions = sorted({direction for row in cotangents.values() for direction in row})
    matrices = [
        rule.result([cotangents.get(k, {}).get(direction) for k in range(rule.results)]) for direction in directions
    ]
    pulled = _VJP[rule.kind](rule, matrices)
    parts = [
        rule.rows(directions, [part[k] for part in pulled], rows * columns)
        for k, (rows, columns) in enumerate(rule.shapes)
    ]
    return [row for part in parts for row in part]


class _Rule:
    """An operation with its operands and results as traced matrices."""

    def __init__(self, graph: Graph, node: int) -> None:
        self.graph = graph
        self.kind, self.sizes = graph.value[node]
        self.shapes = [(operand.rows, operand.columns) for operand in operands(self.kind, self.sizes)]
        self.results = KINDS[self.kind].results(*self.sizes)
        self.operands: Any = self.matrices(list(graph.args[node]))
        self.value: Any = self.result([graph.entry(node, k) for k in range(self.results)])

    def array(self, ids: list[int | None], shape: tuple[int, ...]) -> Any:
        """A traced array with zeros for None; None if all are."""
        if all(node is None for node in ids):
            return None
        zero = self.graph.const(0.0)
        filled = np.array([zero if node is None else node for node in ids], dtype=np.int64)
        return TracedArray(self.graph, filled.reshape(shape), self.graph.dtype)

    def matrices(self, ids: list[int | None]) -> Matrices:
        """The operands with other entries."""
        arrays, first = [], 0
        for rows, columns in self.shapes:
            arrays.append(self.array(ids[first : first + rows * columns], (rows, columns)))
            first += rows * columns
        return arrays

    def result(self, ids: list[int | None]) -> Any:
        """The results as a matrix, or as a row where they are several."""
        shape = {"product": (0, 2), "gram": (1, 1), "weighted_gram": (1, 1), "ldlt": (0, 0), "cholesky": (0, 0)}
        if self.kind == "lu":
            return self.array(ids, (self.results,))
        i, j = shape.get(self.kind, (0, 1))
        return self.array(ids, (self.sizes[i], self.sizes[j]))

    def rows(self, directions: list[int], arrays: list[Any], size: int) -> list[Tangents]:
        """Arrays, one per direction, as the sparse derivatives of each entry."""
        rows: list[Tangents] = [{} for _ in range(size)]
        for direction, array in zip(directions, arrays, strict=True):
            for row, node in zip(rows, [] if array is None else array.ids.ravel().tolist(), strict=False):
                if self.graph.number(node) != 0:
                    row[direction] = node
        return rows

    def node(self, kind: str, *matrices: Any) -> Any:
        """Another operation, on n rows and the columns of the last matrix."""
        *_, b = matrices
        ids = dense.node(self.graph, kind, b.shape, *(matrix.ids for matrix in matrices))
        return TracedArray(self.graph, ids.reshape(b.shape), self.graph.dtype)

    def solve(self, kind: str, factors: Any, sides: Matrices) -> Matrices:
        """The solutions for several right-hand sides in one operation; None stays."""
        some = [side for side in sides if side is not None]
        if not some:
            return sides
        x = self.node(kind, *factors, np.concatenate(some, axis=1))
        parts = iter(np.split(x, np.cumsum([side.shape[1] for side in some])[:-1], axis=1))
        return [None if side is None else next(parts) for side in sides]


def _plus(a: Any, b: Any) -> Any:
    return b if a is None else a if b is None else a + b


def _minus(a: Any, b: Any) -> Any:
    return a if b is None else -b if a is None else a - b


def _times(a: Any, b: Any) -> Any:
    return None if a is None or b is None else a @ b


def _scaled(A: Any, factors: Any) -> Any:
    """The product with a constant matrix, entry by entry."""
    return A * factors.astype(float)


def _symmetric(A: Any) -> Any:
    """The symmetric matrix with the lower half of A."""
    if A is None:
        return None
    n = len(A)
    ids = np.where(np.tri(n, dtype=bool), A.ids, A.ids.T)
    return TracedArray(A.graph, ids, A.dtype)


def _lower_cotangent(A: Any) -> Any:
    """The cotangent of the lower half of a symmetric matrix, from that of all entries."""
    if A is None:
        return None
    n = len(A)
    return _scaled(A, np.tri(n)) + _scaled(A.T, np.tri(n, k=-1))


def _lower(L: Any) -> Any:
    """The Cholesky factor, from the results of the operation."""
    return _scaled(L, np.tri(len(L)))


def _half(A: Any) -> Any:
    """The lower half of a matrix with half of its diagonal."""
    n = len(A)
    return _scaled(A, np.tri(n) - 0.5 * np.eye(n))


# ---- forward mode: for every direction the tangents of the results, from those of the operands -----------------------


def _jvp_product(rule: _Rule, tangents: list[Matrices]) -> Matrices:
    A, B = rule.operands
    return [_plus(_times(dA, B), _times(A, dB)) for dA, dB in tangents]


def _jvp_gram(rule: _Rule, tangents: list[Matrices]) -> Matrices:
    A, *weights = rule.operands
    changes = []
    for dA, *dw in tangents:
        scaled = A if not weights else A * weights[0]
        half = None if dA is None else dA.T @ scaled
        change = None if half is None else half + half.T
        if weights and dw[0] is not None:
            change = _plus(change, (A * dw[0]).T @ A)
        changes.append(change)
    return changes


def _jvp_factor(rule: _Rule, tangents: list[Matrices]) -> Matrices:
    del rule
    return [None if dA is None else dA.ravel() for (dA,) in tangents]


def _jvp_cholesky(rule: _Rule, tangents: list[Matrices]) -> Matrices:
    """L Φ(L^-1 dA L^-T); Φ is the lower half with half of the diagonal."""
    L = _lower(rule.value)
    half = rule.solve("lower_solve", [L], [_symmetric(dA) for (dA,) in tangents])
    whole = rule.solve("lower_solve", [L], [None if Y is None else Y.T for Y in half])
    return [None if Z is None else L @ _half(Z) for Z in whole]


def _jvp_solve(kind: str, matrix: Callable[[Any], Any]) -> Callable[..., Matrices]:
    def jvp(rule: _Rule, tangents: list[Matrices]) -> Matrices:
        *factors, _ = rule.operands
        sides = [_minus(db, _times(matrix(dA), rule.value)) for dA, *_, db in tangents]
        return rule.solve(kind, factors, sides)

    return jvp


def _same(A: Any) -> Any:
    return A


def _transposed(A: Any) -> Any:
    return None if A is None else A.T


_JVP: dict[str, Callable[[_Rule, list[Matrices]], Matrices]] = {
    "product": _jvp_product,
    "gram": _jvp_gram,
    "weighted_gram": _jvp_gram,
    "ldlt": _jvp_factor,
    "lu": _jvp_factor,
    "cholesky": _jvp_cholesky,
    "ldlt_solve": _jvp_solve("ldlt_solve", _symmetric),
    "lower_solve": _jvp_solve("lower_solve", _same),
    "upper_solve": _jvp_solve("upper_solve", _same),
    "lu_solve": _jvp_solve("lu_solve", _same),
    "lu_solve_transposed": _jvp_solve("lu_solve_transposed", _transposed),
}

# ---- reverse mode: for every direction the cotangents of the operands, from those of the results ---------------------


def _vjp_product(rule: _Rule, cotangents: Matrices) -> list[Matrices]:
    A, B = rule.operands
    return [[_times(C, B.T), _times(A.T, C)] for C in cotangents]


def _vjp_gram(rule: _Rule, cotangents: Matrices) -> list[Matrices]:
    A, *weights = rule.operands
    operands = []
    for C in cotangents:
        product = A @ (C + C.T)
        if weights:
            operands.append([product * weights[0], 0.5 * np.sum(product * A, axis=1, keepdims=True)])
        else:
            operands.append([product])
    return operands


def _vjp_factor(rule: _Rule, cotangents: Matrices) -> list[Matrices]:
    n = rule.sizes[0]
    return [[None if C is None else C.ravel()[: n * n].reshape(n, n)] for C in cotangents]


def _vjp_cholesky(rule: _Rule, cotangents: Matrices) -> list[Matrices]:
    """L^-T Φ(L^T C) L^-1."""
    L = _lower(rule.value)
    half = rule.solve("upper_solve", [L.T], [_half(L.T @ C) for C in cotangents])
    whole = rule.solve("upper_solve", [L.T], [Y.T for Y in half])
    return [[_lower_cotangent(Z.T)] for Z in whole]


def _vjp_solve(kind: str, matrix: Callable[[Any], Any], transposed: Callable[[Any], Any]) -> Callable[..., Any]:
    def vjp(rule: _Rule, cotangents: Matrices) -> list[Matrices]:
        A, *rest, _ = rule.operands
        sides = rule.solve(kind, [transposed(A), *rest], cotangents)
        return [[matrix(_minus(None, _times(y, rule.value.T))), *(None for _ in rest), y] for y in sides]

    return vjp


def _triangle(lower: bool) -> Callable[[Any], Any]:
    return lambda A: None if A is None else _scaled(A, np.tri(len(A)) if lower else np.tri(len(A)).T)


_VJP: dict[str, Callable[[_Rule, Matrices], list[Matrices]]] = {
    "product": _vjp_product,
    "gram": _vjp_gram,
    "weighted_gram": _vjp_gram,
    "ldlt": _vjp_factor,
    "lu": _vjp_factor,
    "cholesky": _vjp_cholesky,
    "ldlt_solve": _vjp_solve("ldlt_solve", _lower_cotangent, _same),
    "lower_solve": _vjp_solve("upper_solve", _triangle(lower=True), _transposed),
    "upper_solve": _vjp_solve("lower_solve", _triangle(lower=False), _transposed),
    "lu_solve": _vjp_solve("lu_solve_transposed", _same, _same),
    "lu_solve_transposed": _vjp_solve("lu_solve", _transposed, _same),
}
