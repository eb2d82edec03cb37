"""Loops for LU factorization with partial pivoting, in which every lane has its own pivots.

Rows are not swapped. A lane gathers its pivot row and masks its earlier pivot rows. At the end the factors are gathered
in pivot order: the arithmetic is the same in all lanes.
"""

from multibody.compiler.codegen.matrices.factorizations import substitute
from multibody.compiler.codegen.matrices.loop_nest import LoopNestBuilder
from multibody.compiler.ir.matrix_storage import Dense, MatrixView

PANEL_COLUMNS = 4
"""Columns of a panel, after which the trailing columns are updated."""


def lu(nest: LoopNestBuilder, dense: Dense) -> None:
    """L below the diagonal, the reciprocals of U's diagonal on it, U above; then the pivot row of every column."""
    (n,), (A,) = dense.sizes, dense.operands
    F, P = MatrixView(dense.first, n, 1), MatrixView(dense.first + n * n, 1, 0)
    free = MatrixView(dense.first + n * n + n, 1, 0)
    W = MatrixView(dense.first + n * n + 2 * n, n | 1, 1)  # rows of an odd length do not alias in the cache
    v, one, minus_one = nest.tiling.vector, nest.tiling.constant(1.0), nest.tiling.constant(-1.0)
    no_pivot = [(v, minus_one), (v, "zeroinitializer"), (v, "zeroinitializer")]

    def larger(entry: str, is_free: str, number: str, largest: str, pivot: str) -> list[str]:
        """The largest entry of free rows so far, and the number of its row."""
        size = nest.select(is_free, nest.intrinsic("fabs", entry), minus_one)
        more = nest.binary("fcmp ogt", size, largest)
        return [nest.select(more, x, y) for x, y in ((size, largest), (number, pivot))]

    def choose(j: str) -> str:
        """The number of the free row with the largest entry in column j."""

        def compare(i: str, largest: str, pivot: str, number: str) -> list[str]:
            is_free = nest.binary("fcmp ogt", nest.load(nest.at(free, i)), "zeroinitializer")
            entry = nest.load(nest.at(W, i, j))
            return [*larger(entry, is_free, number, largest, pivot), nest.binary("fadd", number, one)]

        return nest.fold(n, compare, no_pivot)[1]

    def eliminate(j: str, pivot: str, reciprocal: str, trailing: list[tuple[str, str]]) -> str:
        """The multipliers of column j, zero for earlier pivot rows, and the update of the panel's trailing columns.

        Args:
            j: the column.
            pivot: the number of its pivot row.
            reciprocal: of the pivot.
            trailing: further columns, and the entries of the pivot row there.

        Returns:
            The pivot row of the first trailing column.
        """

        def row(i: str, largest: str, following: str, number: str) -> list[str]:
            chosen, mark = nest.binary("fcmp oeq", number, pivot), nest.at(free, i)
            still = nest.select(chosen, "zeroinitializer", nest.load(mark))
            nest.store(still, mark)
            is_free, entry = nest.binary("fcmp ogt", still, "zeroinitializer"), nest.at(W, i, j)
            scaled = nest.binary("fmul", nest.load(entry), reciprocal)
            factor = nest.select(is_free, scaled, "zeroinitializer")
            nest.store(factor, entry)
            best = [largest, following]
            for c, value in trailing:
                other = nest.at(W, i, c)
                changed = nest.multiply_add(factor, value, nest.load(other), negate=True)
                nest.store(changed, other)
                if c == trailing[0][0]:
                    best = larger(changed, is_free, number, largest, following)
            return [*best, nest.binary("fadd", number, one)]

        return nest.fold(n, row, no_pivot)[1]

    def panel(j: str, width: int) -> None:
        """Factor some columns, one after the other; then update all trailing columns at once."""
        columns = [j, *(nest.add(j, t) for t in range(1, width))]
        rows: list[str] = []
        pivot = choose(j)
        for t in range(width):
            nest.store(pivot, nest.at(P, columns[t]))
            rows.append(nest.row_offsets(pivot, W))
            values = {s: nest.gather(nest.at(W, 0, columns[s]), rows[t]) for s in range(t, width)}
            reciprocal = nest.reciprocal(values[t])
            nest.store(reciprocal, nest.at(F, columns[t], columns[t]))
            for s in range(t + 1, width):
                nest.store(values[s], nest.at(F, columns[t], columns[s]))
            pivot = eliminate(columns[t], pivot, reciprocal, [(columns[s], values[s]) for s in range(t + 1, width)])
        right = nest.add(j, width)
        multipliers = {(t, s): nest.gather(nest.at(W, 0, columns[s]), rows[t]) for t in range(width) for s in range(t)}
        for c in nest.loop(n, first=right):
            above: list[str] = []
            for t in range(width):
                value = nest.gather(nest.at(W, 0, c), rows[t])
                for s in range(t):
                    value = nest.multiply_add(multipliers[t, s], above[s], value, negate=True)
                nest.store(value, nest.at(F, columns[t], c))
                above.append(value)
        left = nest.let(f"sub i64 {n}, {right}")
        whole = nest.add(right, nest.mul(nest.let(f"udiv i64 {left}, {nest.edge}"), nest.edge))

        def tile(i: str, height: int, c: str, wide: int) -> None:
            base = nest.at(W, i, c)
            old = {(r, s): nest.load(nest.entry(base, W, r, s)) for r in range(height) for s in range(wide)}
            new = nest.sums(old, width, (nest.at(W, i, j), W), (nest.at(F, j, c), F), minus=True)
            nest.store_tile(new, base, W)

        for i, height in nest.blocks(n, nest.edge):
            for c in nest.loop(whole, first=right, step=nest.edge):
                tile(i, height, c, nest.edge)
            for c in nest.loop(n, first=whole):
                tile(i, height, c, 1)

    for i in nest.loop(n):
        nest.store(one, nest.at(free, i))
        for j, width in nest.blocks(n, 6):
            source, target = nest.at(A, i, j), nest.at(W, i, j)
            for k, value in enumerate([nest.load(nest.entry(source, A, 0, k)) for k in range(width)]):
                nest.store(value, nest.entry(target, W, 0, k))
    for j, width in nest.blocks(n, PANEL_COLUMNS):
        panel(j, width)
    _permute(nest, P, W, F, n)


def _permute(
    nest: LoopNestBuilder, P: MatrixView, source: MatrixView, target: MatrixView, n: int, columns: int | None = None
) -> None:
    """Gather n rows in pivot order: some columns of them, or all on the left of the diagonal."""
    for k in nest.loop(n):
        rows = nest.row_offsets(nest.load(nest.at(P, k)), source)
        for c in nest.loop(k if columns is None else columns):
            nest.store(nest.gather(nest.at(source, 0, c), rows), nest.at(target, k, c))


def lu_solve(nest: LoopNestBuilder, dense: Dense) -> None:
    """x of A x = b: the rows of b in pivot order, then L and U."""
    (n, m), (F, P, b) = dense.sizes, dense.operands
    X = MatrixView(dense.first, m, 1)
    _permute(nest, P, b, X, n, m)
    substitute(nest, dense.sizes, F, X, X)
    substitute(nest, dense.sizes, F, X, X, upward=True, after=F.diagonal)


def lu_solve_transposed(nest: LoopNestBuilder, dense: Dense) -> None:
    """x of A^T x = b: U^T and L^T, then the rows back to their order before the pivots."""
    (n, m), (F, P, b) = dense.sizes, dense.operands
    X, Z = MatrixView(dense.first, m, 1), MatrixView(dense.first + n * m, m, 1)
    substitute(nest, dense.sizes, F.T, b, Z, after=F.diagonal)
    substitute(nest, dense.sizes, F.T, Z, Z, upward=True)
    for k in nest.loop(n):
        rows = nest.row_offsets(nest.load(nest.at(P, k)), X)
        for c in nest.loop(m):
            nest.scatter(nest.load(nest.at(Z, k, c)), nest.at(X, 0, c), rows)
