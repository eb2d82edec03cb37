"""Derivatives of matrix operations, which are matrix operations again.

Only solves read the factors of a matrix. So the tangent of a factor stands for that of the matrix: x = A^-1 b has the
tangent dx = A^-1 (db - dA x), and the factorization itself passes tangents on.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from multibody.tracing.array.traced import TracedArray
from multibody.tracing.graph.graph import Graph
from multibody.tracing.matrices import dense
from multibody.tracing.matrices.kinds import KINDS, argument_slices

Tangents = dict[int, int]
"""The derivatives of one node: {direction: node}, without structural zeros."""
Matrices = list[Any]
"""One traced matrix of tangents or cotangents per operand or direction, or None for zeros."""


def flows(graph: Graph, node: int) -> tuple[int, ...]:
    """The arguments that an operation depends on differentiably."""
    slices = argument_slices(*graph.value[node])
    return tuple(a for operand, at in slices if operand.smooth for a in graph.args[node][at])


def jvp(graph: Graph, node: int, tangents: dict[int, Tangents]) -> list[Tangents]:
    """The tangents of all results of an operation, from those of its arguments."""
    operation = _Operation(graph, node)
    rows = [tangents.get(a, {}) for a in graph.args[node]]
    directions = sorted({direction for row in rows for direction in row})
    matrices = [operation.matrices([row.get(direction) for row in rows]) for direction in directions]
    return operation.rows(directions, _RULES[operation.kind].jvp(operation, matrices), operation.results)


def vjp(graph: Graph, node: int, cotangents: dict[int, Tangents]) -> list[Tangents]:
    """The cotangents of all arguments of an operation, from those of its results by position."""
    operation = _Operation(graph, node)
    directions = sorted({direction for row in cotangents.values() for direction in row})
    columns = [[cotangents.get(k, {}).get(direction) for k in range(operation.results)] for direction in directions]
    pulled = _RULES[operation.kind].vjp(operation, list(map(operation.result, columns)))
    rows: list[Tangents] = []
    for k, (operand, _) in enumerate(operation.slices):
        rows += operation.rows(directions, [part[k] for part in pulled], operand.rows * operand.columns)
    return rows


class _Operation:
    """An operation with its operands and results as traced matrices."""

    def __init__(self, graph: Graph, node: int) -> None:
        self.graph = graph
        self.kind, self.sizes = graph.value[node]
        self.slices = argument_slices(self.kind, self.sizes)
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
        return [self.array(ids[at], (operand.rows, operand.columns)) for operand, at in self.slices]

    def result(self, ids: list[int | None]) -> Any:
        """The results as a matrix, or as a row where they are several."""
        return self.array(ids, KINDS[self.kind].shape(*self.sizes))

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


def _linear(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that is linear in each argument: None, which stands for zeros, becomes None."""
    return lambda *matrices: None if any(matrix is None for matrix in matrices) else function(*matrices)


def _plus(a: Any, b: Any) -> Any:
    return b if a is None else a if b is None else a + b


def _minus(a: Any, b: Any) -> Any:
    return a if b is None else -b if a is None else a - b


_times = _linear(lambda A, B: A @ B)
_same = _linear(lambda A: A)
_transposed = _linear(lambda A: A.T)
_scaled = _linear(lambda A, factors: A * factors.astype(float))
_lower = _linear(lambda A: _scaled(A, np.tri(len(A))))
_upper = _linear(lambda A: _scaled(A, np.tri(len(A)).T))
_half = _linear(lambda A: _scaled(A, np.tri(len(A)) - 0.5 * np.eye(len(A))))
_symmetric = _linear(lambda A: A._with(np.where(np.tri(len(A), dtype=bool), A.ids, A.ids.T)))
"""The symmetric matrix with the lower half of A."""
_lower_cotangent = _linear(lambda A: _lower(A) + _scaled(A.T, np.tri(len(A), k=-1)))
"""The cotangent of the lower half of a symmetric matrix, from that of all entries."""


class _Rule(NamedTuple):
    """The derivatives of a kind of operation, for every direction."""

    jvp: Callable[[_Operation, list[Matrices]], Matrices]
    """The tangents of the results, from those of the operands."""
    vjp: Callable[[_Operation, Matrices], list[Matrices]]
    """The cotangents of the operands, from those of the results."""


def _jvp_product(operation: _Operation, tangents: list[Matrices]) -> Matrices:
    A, B = operation.operands
    return [_plus(_times(dA, B), _times(A, dB)) for dA, dB in tangents]


def _vjp_product(operation: _Operation, cotangents: Matrices) -> list[Matrices]:
    A, B = operation.operands
    return [[_times(C, B.T), _times(A.T, C)] for C in cotangents]


def _jvp_gram(operation: _Operation, tangents: list[Matrices]) -> Matrices:
    A, *weights = operation.operands
    changes = []
    for dA, *dw in tangents:
        half = _times(_transposed(dA), A * weights[0] if weights else A)
        change = _plus(half, _transposed(half))
        if weights and dw[0] is not None:
            change = _plus(change, (A * dw[0]).T @ A)
        changes.append(change)
    return changes


def _vjp_gram(operation: _Operation, cotangents: Matrices) -> list[Matrices]:
    A, *weights = operation.operands
    operands = []
    for C in cotangents:
        product = A @ (C + C.T)
        if weights:
            operands.append([product * weights[0], 0.5 * np.sum(product * A, axis=1, keepdims=True)])
        else:
            operands.append([product])
    return operands


def _jvp_factor(operation: _Operation, tangents: list[Matrices]) -> Matrices:
    del operation
    return [None if dA is None else dA.ravel() for (dA,) in tangents]


def _vjp_factor(operation: _Operation, cotangents: Matrices) -> list[Matrices]:
    n = operation.sizes[0]
    return [[None if C is None else C.ravel()[: n * n].reshape(n, n)] for C in cotangents]


def _jvp_cholesky(operation: _Operation, tangents: list[Matrices]) -> Matrices:
    """L Φ(L^-1 dA L^-T); Φ is the lower half with half of the diagonal."""
    L = _lower(operation.value)
    half = operation.solve("lower_solve", [L], [_symmetric(dA) for (dA,) in tangents])
    whole = operation.solve("lower_solve", [L], list(map(_transposed, half)))
    return [_times(L, _half(Z)) for Z in whole]


def _vjp_cholesky(operation: _Operation, cotangents: Matrices) -> list[Matrices]:
    """L^-T Φ(L^T C) L^-1."""
    L = _lower(operation.value)
    half = operation.solve("upper_solve", [L.T], [_half(L.T @ C) for C in cotangents])
    whole = operation.solve("upper_solve", [L.T], list(map(_transposed, half)))
    return [[_lower_cotangent(Z.T)] for Z in whole]


def _solve_rule(
    kind: str,
    adjoint: str,
    tangent: Callable[[Any], Any] = _same,
    cotangent: Callable[[Any], Any] = _same,
    factor: Callable[[Any], Any] = _same,
) -> _Rule:
    """The rule of a linear solve.

    Args:
        kind: of the solve.
        adjoint: the kind that solves with the transposed matrix.
        tangent: the tangent of the matrix of the system, from that of its stored factors.
        cotangent: the cotangent of the stored factors, from that of the matrix.
        factor: the factors that the adjoint takes, from the stored ones.
    """

    def jvp(operation: _Operation, tangents: list[Matrices]) -> Matrices:
        *factors, _ = operation.operands
        sides = [_minus(db, _times(tangent(dA), operation.value)) for dA, *_, db in tangents]
        return operation.solve(kind, factors, sides)

    def vjp(operation: _Operation, cotangents: Matrices) -> list[Matrices]:
        A, *order, _ = operation.operands
        sides = operation.solve(adjoint, [factor(A), *order], cotangents)
        return [[cotangent(_minus(None, _times(y, operation.value.T))), *(None for _ in order), y] for y in sides]

    return _Rule(jvp, vjp)


_RULES: dict[str, _Rule] = {
    "product": _Rule(_jvp_product, _vjp_product),
    "gram": _Rule(_jvp_gram, _vjp_gram),
    "weighted_gram": _Rule(_jvp_gram, _vjp_gram),
    "ldlt": _Rule(_jvp_factor, _vjp_factor),
    "lu": _Rule(_jvp_factor, _vjp_factor),
    "cholesky": _Rule(_jvp_cholesky, _vjp_cholesky),
    "ldlt_solve": _solve_rule("ldlt_solve", "ldlt_solve", _symmetric, _lower_cotangent),
    "lower_solve": _solve_rule("lower_solve", "upper_solve", cotangent=_lower, factor=_transposed),
    "upper_solve": _solve_rule("upper_solve", "lower_solve", cotangent=_upper, factor=_transposed),
    "lu_solve": _solve_rule("lu_solve", "lu_solve_transposed"),
    "lu_solve_transposed": _solve_rule("lu_solve_transposed", "lu_solve", _transposed, _transposed),
}
