"""LLVM functions of matrix operations: loops over register tiles.

Every entry of a result is computed by the same operations in the same order on every machine with fused multiply-adds
and in every variant of a kernel, whatever the tiles: its products are added from the first to the last.
"""

from collections.abc import Callable

from multibody.compiler.codegen.matrices import factorizations, lu
from multibody.compiler.codegen.matrices.loop_nest import LoopNestBuilder
from multibody.compiler.ir.matrix_storage import Dense, MatrixView
from multibody.compiler.ir.tiling import Tiling


def function(dense: Dense, head: str, name: str, tiling: Tiling) -> str:
    """The function, of that head and name, that does an operation for all vectors of a tile."""
    nest = LoopNestBuilder(tiling)
    table = [f"i64 {slot * tiling.bytes}" for pair in dense.copies for slot in pair]
    constant = [f"@{name}.copies = internal constant [{len(table)} x i64] [{', '.join(table)}]"] if table else []
    for _, slots in nest.vectors("%buffer"):
        nest.slots = slots
        nest.enter(nest.name())
        if table:
            _copy_slots(nest, f"@{name}.copies", len(dense.copies))
        _WRITERS[dense.kind](nest, dense)
        nest.enter(nest.name())
    return "\n".join([*constant, nest.function(head, "nounwind alignstack(64)")])


def _copy_slots(nest: LoopNestBuilder, table: str, count: int) -> None:
    """Copy slots to others: the table has their offsets in pairs."""
    for k in nest.loop(count):
        pair = nest.gep(table, k, "[2 x i64]")
        source = nest.load(pair, "i64")
        target = nest.load(nest.ahead(pair, 8), "i64")
        value = nest.load(nest.gep(nest.slots, source))
        nest.store(value, nest.gep(nest.slots, target))


def _product(nest: LoopNestBuilder, dense: Dense) -> None:
    """C = A B, a tile at a time."""
    m, k, n = dense.sizes
    A, B = dense.operands
    C = MatrixView(dense.first, n, 1)
    for i, rows, j, columns in nest.tiles(m, n):
        zero = {(r, c): "zeroinitializer" for r in range(rows) for c in range(columns)}
        total = nest.sums(zero, k, (nest.at(A, i, 0), A), (nest.at(B, 0, j), B))
        nest.store_tile(total, nest.at(C, i, j), C)


def _gram(nest: LoopNestBuilder, dense: Dense) -> None:
    """C = A^T A or A^T diag(w) A: tiles on the diagonal and below, each stored on both sides of it."""
    k, n = dense.sizes
    A, *weights = dense.operands
    C = MatrixView(dense.first, n, 1)

    def tile(i: str, rows: int, j: str, columns: int) -> None:
        zero = {(r, c): "zeroinitializer" for r in range(rows) for c in range(columns)}
        scale = (nest.at(weights[0]), weights[0]) if weights else None
        total = nest.sums(zero, k, (nest.at(A, 0, i), A.T), (nest.at(A, 0, j), A), weights=scale)
        below, above = nest.at(C, i, j), nest.at(C, j, i)
        for (r, c), value in total.items():
            nest.store(value, nest.entry(below, C, r, c))
            nest.store(value, nest.entry(above, C, c, r))

    for i, rows in nest.blocks(n, nest.edge):
        for j in nest.loop(i, step=nest.edge):
            tile(i, rows, j, nest.edge)
        tile(i, rows, i, rows)


_WRITERS: dict[str, Callable[[LoopNestBuilder, Dense], None]] = {
    "product": _product,
    "gram": _gram,
    "weighted_gram": _gram,
    "ldlt": factorizations.ldlt,
    "ldlt_solve": factorizations.ldlt_solve,
    "cholesky": factorizations.cholesky,
    "lower_solve": factorizations.triangular_solve,
    "upper_solve": factorizations.triangular_solve,
    "lu": lu.lu,
    "lu_solve": lu.lu_solve,
    "lu_solve_transposed": lu.lu_solve_transposed,
}
