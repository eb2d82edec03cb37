"""The LLVM functions of operations on whole matrices: loops over register tiles.

Every number of a result is computed by the same operations in the same order on every machine with fused multiply-adds
and in every form of a kernel, whatever the tiles: its products are added from the first to the last.
"""

from collections.abc import Callable

from multibody.compiler.codegen.matrices import factorizations, lu
from multibody.compiler.codegen.matrices.loop_nest import Nest, parts
from multibody.compiler.ir.matrix_storage import Dense, Place
from multibody.compiler.ir.tiling import Shape


def function(dense: Dense, name: str, shape: Shape) -> str:
    """The text of the function that does an operation for all vectors of a tile."""
    nest = Nest(shape)
    table = [f"i64 {slot * shape.bytes}" for pair in dense.copies for slot in pair]
    if table:
        nest.loop(len(dense.copies), lambda k: _copy(nest, f"@{name}.copies", k))
    _WRITERS[dense.kind](nest, dense)
    return "\n".join(
        [
            *([f"@{name}.copies = internal constant [{len(table)} x i64] [{', '.join(table)}]"] if table else []),
            f"define void @{name}(ptr noalias %buffer, i64 %count, ptr %rows, ptr %addresses) "
            "nounwind alignstack(64) {",
            "entry:",
            "  br label %vector",
            "vector:",
            "  %i = phi i64 [ 0, %entry ], [ %next, %ended ]",
            f"  %at = mul i64 %i, {shape.row}",
            "  %p = getelementptr inbounds i8, ptr %buffer, i64 %at",
            f"  br label %{nest.FIRST}",
            f"{nest.FIRST}:",
            *nest.lines,
            "  br label %ended",
            "ended:",
            "  %next = add i64 %i, 1",
            "  %more = icmp ult i64 %next, %count",
            "  br i1 %more, label %vector, label %done",
            "done:",
            "  ret void",
            "}",
        ]
    )


def _copy(nest: Nest, table: str, k: str) -> list[str]:
    """From one slot to another, as entry k of a table says."""
    pair = nest.line(f"getelementptr [2 x i64], ptr {table}, i64 {k}")
    source = nest.line(f"load i64, ptr {pair}, align 8")
    target = nest.line(f"load i64, ptr {nest.ahead(pair, 8)}, align 8")
    value = nest.load(nest.line(f"getelementptr i8, ptr %p, i64 {source}"))
    nest.store(value, nest.line(f"getelementptr i8, ptr %p, i64 {target}"))
    return []


def _product(nest: Nest, dense: Dense) -> None:
    """C = A B, a tile at a time."""
    m, k, n = dense.sizes
    A, B = dense.operands
    C = Place(dense.first, n, 1)
    height, width = nest.tile(m, n)

    def tile(i: str, rows: int, j: str, columns: int) -> list[str]:
        zero = {(r, c): "zeroinitializer" for r in range(rows) for c in range(columns)}
        total = nest.sums(zero, k, (nest.at(A, i, 0), A), (nest.at(B, 0, j), B))
        to = nest.at(C, i, j)
        for (r, c), value in total.items():
            nest.store(value, to, C, r, c)
        return []

    def band(i: str, rows: int) -> list[str]:
        for first, last, columns in parts(n, width):
            nest.loop(last, lambda j, columns=columns: tile(i, rows, j, columns), first=first, step=columns)
        return []

    for first, last, rows in parts(m, height):
        nest.loop(last, lambda i, rows=rows: band(i, rows), first=first, step=rows)


def _gram(nest: Nest, dense: Dense) -> None:
    """C = A^T A or A^T diag(w) A: tiles on the diagonal and below, each stored on both sides of it."""
    k, n = dense.sizes
    A, *weights = dense.operands
    C = Place(dense.first, n, 1)

    def tile(i: str, rows: int, j: str, columns: int) -> list[str]:
        zero = {(r, c): "zeroinitializer" for r in range(rows) for c in range(columns)}
        scale = (nest.at(weights[0]), weights[0]) if weights else None
        total = nest.sums(zero, k, (nest.at(A, 0, i), A.T), (nest.at(A, 0, j), A), weights=scale)
        to, mirrored = nest.at(C, i, j), nest.at(C, j, i)
        for (r, c), value in total.items():
            nest.store(value, to, C, r, c)
            nest.store(value, mirrored, C, c, r)
        return []

    def band(i: str, rows: int) -> list[str]:
        nest.loop(i, lambda j: tile(i, rows, j, nest.edge), step=nest.edge)
        return tile(i, rows, i, rows)

    for first, last, rows in parts(n, nest.edge):
        nest.loop(last, lambda i, rows=rows: band(i, rows), first=first, step=rows)


_WRITERS: dict[str, Callable[[Nest, Dense], None]] = {
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
