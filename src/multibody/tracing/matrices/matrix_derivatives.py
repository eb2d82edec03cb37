"""Derivatives of operations on matrices, by linear algebra: they are such operations again.

The factors of a matrix are read by solutions alone. So what a change of a factor's entry stands for is a change of the
matrix's entry: of x = A^-1 b it is dx = A^-1 (db - dA x), and the factorization itself passes changes on.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from multibody.tracing.array.traced import TracedArray
from multibody.tracing.graph.graph import Graph
from multibody.tracing.matrices import dense
from multibody.tracing.matrices.kinds import KINDS, operands

Row = dict[int, int]
"""The nodes of the changes that are not zero for all values, by the number of the direction."""
Changes = list[Any]
"""For each operand a traced matrix of changes, or None where nothing changes."""


def flows(graph: Graph, node: int) -> tuple[int, ...]:
    """The arguments of an operation through which changes reach it."""
    args: list[int] = []
    first = 0
    for operand in operands(*graph.value[node]):
        size = operand.rows * operand.columns
        args += graph.args[node][first : first + size] if operand.smooth else ()
        first += size
    return tuple(args)


def push(graph: Graph, node: int, changes: dict[int, Row]) -> list[Row]:
    """The changes of all results of an operation that follow from those of its arguments."""
    rule = _Rule(graph, node)
    rows = [changes.get(a, {}) for a in graph.args[node]]
    directions = sorted({direction for row in rows for direction in row})
    tangents = [rule.matrices([row.get(direction) for row in rows]) for direction in directions]
    return rule.rows(directions, _PUSH[rule.kind](rule, tangents), rule.results)


def pull(graph: Graph, node: int, weights: dict[int, Row]) -> list[Row]:
    """The derivatives, by all arguments of an operation, of its results weighted with rows, by their positions."""
    rule = _Rule(graph, node)
    directions = sorted({direction for row in weights.values() for direction in row})
    cotangents = [
        rule.result([weights.get(k, {}).get(direction) for k in range(rule.results)]) for direction in directions
    ]
    pulled = _PULL[rule.kind](rule, cotangents)
    parts = [
        rule.rows(directions, [part[k] for part in pulled], rows * columns)
        for k, (rows, columns) in enumerate(rule.shapes)
    ]
    return [row for part in parts for row in part]


class _Rule:
    """An operation, its operands and results as traced matrices."""

    def __init__(self, graph: Graph, node: int) -> None:
        self.graph = graph
        self.kind, self.sizes = graph.value[node]
        self.shapes = [(operand.rows, operand.columns) for operand in operands(self.kind, self.sizes)]
        self.results = KINDS[self.kind].results(*self.sizes)
        self.operands: Any = self.matrices(list(graph.args[node]))
        self.value: Any = self.result([graph.entry(node, k) for k in range(self.results)])

    def array(self, ids: list[int | None], shape: tuple[int, ...]) -> Any:
        """A traced array; zeros where there is no node; None for zeros alone."""
        if all(node is None for node in ids):
            return None
        zero = self.graph.const(0.0)
        filled = np.array([zero if node is None else node for node in ids], dtype=np.int64)
        return TracedArray(self.graph, filled.reshape(shape), self.graph.dtype)

    def matrices(self, ids: list[int | None]) -> Changes:
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

    def rows(self, directions: list[int], arrays: list[Any], size: int) -> list[Row]:
        """Arrays of changes, one for each direction, as a row for each of their entries."""
        rows: list[Row] = [{} for _ in range(size)]
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

    def solved(self, kind: str, factors: Any, sides: Changes) -> Changes:
        """The solutions for several right-hand sides, found together; None stays."""
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


def _part(A: Any, keep: Any) -> Any:
    """The entries of a matrix where a constant one is not zero, times those."""
    return A * keep.astype(float)


def _both(A: Any) -> Any:
    """The symmetric matrix of which A has the lower half."""
    if A is None:
        return None
    n = len(A)
    ids = np.where(np.tri(n, dtype=bool), A.ids, A.ids.T)
    return TracedArray(A.graph, ids, A.dtype)


def _folded(A: Any) -> Any:
    """The derivative by the lower half of a symmetric matrix, from that by all entries."""
    if A is None:
        return None
    n = len(A)
    return _part(A, np.tri(n)) + _part(A.T, np.tri(n, k=-1))


def _lower(L: Any) -> Any:
    """The factor itself, of what Cholesky's operation gives."""
    return _part(L, np.tri(len(L)))


def _half(A: Any) -> Any:
    """The lower half of a matrix and half of its diagonal."""
    n = len(A)
    return _part(A, np.tri(n) - 0.5 * np.eye(n))


# ---- forward: for every direction the changes of the results, from those of the operands -----------------------------


def _push_product(rule: _Rule, tangents: list[Changes]) -> Changes:
    A, B = rule.operands
    return [_plus(_times(dA, B), _times(A, dB)) for dA, dB in tangents]


def _push_gram(rule: _Rule, tangents: list[Changes]) -> Changes:
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


def _push_factor(rule: _Rule, tangents: list[Changes]) -> Changes:
    del rule
    return [None if dA is None else dA.ravel() for (dA,) in tangents]


def _push_cholesky(rule: _Rule, tangents: list[Changes]) -> Changes:
    """L Φ(L^-1 dA L^-T), where Φ takes the lower half and half of the diagonal."""
    L = _lower(rule.value)
    half = rule.solved("lower_solve", [L], [_both(dA) for (dA,) in tangents])
    whole = rule.solved("lower_solve", [L], [None if Y is None else Y.T for Y in half])
    return [None if Z is None else L @ _half(Z) for Z in whole]


def _push_solve(kind: str, matrix: Callable[[Any], Any]) -> Callable[..., Changes]:
    def push(rule: _Rule, tangents: list[Changes]) -> Changes:
        *factors, _ = rule.operands
        sides = [_minus(db, _times(matrix(dA), rule.value)) for dA, *_, db in tangents]
        return rule.solved(kind, factors, sides)

    return push


def _same(A: Any) -> Any:
    return A


def _transposed(A: Any) -> Any:
    return None if A is None else A.T


_PUSH: dict[str, Callable[[_Rule, list[Changes]], Changes]] = {
    "product": _push_product,
    "gram": _push_gram,
    "weighted_gram": _push_gram,
    "ldlt": _push_factor,
    "lu": _push_factor,
    "cholesky": _push_cholesky,
    "ldlt_solve": _push_solve("ldlt_solve", _both),
    "lower_solve": _push_solve("lower_solve", _same),
    "upper_solve": _push_solve("upper_solve", _same),
    "lu_solve": _push_solve("lu_solve", _same),
    "lu_solve_transposed": _push_solve("lu_solve_transposed", _transposed),
}

# ---- reverse: for every direction the derivatives by all operands, from those by the results -------------------------


def _pull_product(rule: _Rule, cotangents: Changes) -> list[Changes]:
    A, B = rule.operands
    return [[_times(C, B.T), _times(A.T, C)] for C in cotangents]


def _pull_gram(rule: _Rule, cotangents: Changes) -> list[Changes]:
    A, *weights = rule.operands
    pulled = []
    for C in cotangents:
        product = A @ (C + C.T)
        if weights:
            pulled.append([product * weights[0], 0.5 * np.sum(product * A, axis=1, keepdims=True)])
        else:
            pulled.append([product])
    return pulled


def _pull_factor(rule: _Rule, cotangents: Changes) -> list[Changes]:
    n = rule.sizes[0]
    return [[None if C is None else C.ravel()[: n * n].reshape(n, n)] for C in cotangents]


def _pull_cholesky(rule: _Rule, cotangents: Changes) -> list[Changes]:
    """L^-T Φ(L^T C) L^-1."""
    L = _lower(rule.value)
    half = rule.solved("upper_solve", [L.T], [_half(L.T @ C) for C in cotangents])
    whole = rule.solved("upper_solve", [L.T], [Y.T for Y in half])
    return [[_folded(Z.T)] for Z in whole]


def _pull_solve(kind: str, matrix: Callable[[Any], Any], transposed: Callable[[Any], Any]) -> Callable[..., Any]:
    def pull(rule: _Rule, cotangents: Changes) -> list[Changes]:
        A, *rest, _ = rule.operands
        sides = rule.solved(kind, [transposed(A), *rest], cotangents)
        return [[matrix(_minus(None, _times(y, rule.value.T))), *(None for _ in rest), y] for y in sides]

    return pull


def _triangle(lower: bool) -> Callable[[Any], Any]:
    return lambda A: None if A is None else _part(A, np.tri(len(A)) if lower else np.tri(len(A)).T)


_PULL: dict[str, Callable[[_Rule, Changes], list[Changes]]] = {
    "product": _pull_product,
    "gram": _pull_gram,
    "weighted_gram": _pull_gram,
    "ldlt": _pull_factor,
    "lu": _pull_factor,
    "cholesky": _pull_cholesky,
    "ldlt_solve": _pull_solve("ldlt_solve", _folded, _same),
    "lower_solve": _pull_solve("upper_solve", _triangle(lower=True), _transposed),
    "upper_solve": _pull_solve("lower_solve", _triangle(lower=False), _transposed),
    "lu_solve": _pull_solve("lu_solve_transposed", _same, _same),
    "lu_solve_transposed": _pull_solve("lu_solve", _transposed, _same),
}
