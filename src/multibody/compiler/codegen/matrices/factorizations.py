"""Loops for factorizations without pivots (L D L^T, Cholesky), and for triangular systems; LU is in `lu`.

A tile of a factor is the matrix minus a sum of products over all columns before it, accumulated in registers, followed
by the elimination within its own columns. So the matrix is read once and not modified.
"""

from collections.abc import Sequence

from multibody.compiler.codegen.matrices.loop_nest import LoopNestBuilder, Tile, parts
from multibody.compiler.ir.matrix_storage import Dense, MatrixView


def ldlt(nest: LoopNestBuilder, dense: Dense) -> None:
    """L below the diagonal, 1 / D on it, (L D)^T above."""
    _factor(nest, dense, roots=False)


def cholesky(nest: LoopNestBuilder, dense: Dense) -> None:
    """L below the diagonal and on it, L^T above; behind, the reciprocals of the diagonal."""
    _factor(nest, dense, roots=True)


def _factor(nest: LoopNestBuilder, dense: Dense, *, roots: bool) -> None:
    (n,), (A,) = dense.sizes, dense.operands
    F = MatrixView(dense.first, n, 1)
    R = MatrixView(dense.first + n * n, 1, 0) if roots else F.diagonal  # reciprocals, a column

    def reduced(i: str, j: str, keys: Sequence[tuple[int, int]]) -> Tile:
        """Entries of the matrix minus the products of L D and L^T over all columns before j."""
        base = nest.at(A, i, j)
        tile = {(r, c): nest.load(nest.entry(base, A, r, c)) for r, c in keys}
        # left(r, k) = F(k, i + r), right(k, c) = F(j + c, k)
        return nest.sums(tile, j, (nest.at(F, 0, i), F.T), (nest.at(F, j, 0), F.T), minus=True)

    def below(i: str, rows: int, j: str) -> None:
        columns = nest.edge
        tile = reduced(i, j, [(r, c) for c in range(columns) for r in range(rows)])
        to, mirrored, own, reciprocal = nest.at(F, i, j), nest.at(F, j, i), nest.at(F, j, j), nest.at(R, j)
        for c in range(columns):
            for t in range(c):
                factor = nest.load(nest.entry(own, F, c, t))
                for r in range(rows):
                    tile[r, c] = nest.multiply_add(tile[r, t], factor, tile[r, c], negate=True)
            scale = nest.load(nest.entry(reciprocal, R, c))
            for r in range(rows):
                scaled = nest.binary("fmul", tile[r, c], scale)
                if roots:
                    tile[r, c] = scaled
                nest.store(scaled, nest.entry(to, F, r, c))
                nest.store(tile[r, c], nest.entry(mirrored, F, c, r))

    def diagonal(i: str, rows: int) -> None:
        tile = reduced(i, i, [(r, c) for c in range(rows) for r in range(c, rows)])
        to, reciprocals = nest.at(F, i, i), nest.at(R, i)
        L: Tile = {}
        for c in range(rows):
            pivot = nest.intrinsic("sqrt", tile[c, c]) if roots else tile[c, c]
            reciprocal = nest.reciprocal(pivot)
            if roots:
                nest.store(pivot, nest.entry(to, F, c, c))
            nest.store(reciprocal, nest.entry(reciprocals, R, c))
            for r in range(c + 1, rows):
                L[r, c] = nest.binary("fmul", tile[r, c], reciprocal)
                if roots:
                    tile[r, c] = L[r, c]
                nest.store(L[r, c], nest.entry(to, F, r, c))
                nest.store(tile[r, c], nest.entry(to, F, c, r))
            for t in range(c + 1, rows):
                for r in range(t, rows):
                    tile[r, t] = nest.multiply_add(tile[r, c], L[t, c], tile[r, t], negate=True)

    for i, rows in nest.blocks(n, nest.edge):
        for j in nest.loop(i, step=nest.edge):
            below(i, rows, j)
        diagonal(i, rows)


def ldlt_solve(nest: LoopNestBuilder, dense: Dense) -> None:
    """L^-T D^-1 L^-1 b."""
    F, b = dense.operands
    X = MatrixView(dense.first, dense.sizes[1], 1)
    substitute(nest, dense.sizes, F, b, X)
    substitute(nest, dense.sizes, F.T, X, X, upward=True, before=F.diagonal)


def triangular_solve(nest: LoopNestBuilder, dense: Dense) -> None:
    """T^-1 b; the reciprocals of the diagonal come first."""
    (n, m), (T, b) = dense.sizes, dense.operands
    X, reciprocals = MatrixView(dense.first, m, 1), MatrixView(dense.first + n * m, 1, 0)
    for i in nest.loop(n):
        nest.store(nest.reciprocal(nest.load(nest.at(T, i, i))), nest.at(reciprocals, i))
    substitute(nest, dense.sizes, T, b, X, upward=dense.kind == "upper_solve", after=reciprocals)


def substitute(
    nest: LoopNestBuilder,
    sizes: tuple[int, ...],
    T: MatrixView,
    b: MatrixView,
    X: MatrixView,
    *,
    upward: bool = False,
    before: MatrixView | None = None,
    after: MatrixView | None = None,
) -> None:
    """x of T x = b for a triangular T, whose diagonal is not read: it is ones, or given by reciprocals.

    Args:
        nest: the builder.
        sizes: rows and columns of b.
        T: lower triangular; with `upward`, upper.
        b: may alias x.
        X: the result.
        upward: begin with the last row.
        before: a column by which the rows of b are multiplied first.
        after: a column by which the rows of x are multiplied.
    """
    n, m = sizes
    height, width = nest.tile_shape(n, m)

    def tile(i: str, rows: int, j: str, columns: int) -> None:
        base, to, own = nest.at(b, i, j), nest.at(X, i, j), nest.at(T, i, i)
        x: Tile = {(r, c): nest.load(nest.entry(base, b, r, c)) for r in range(rows) for c in range(columns)}
        order = range(rows)
        if before:
            scales = [nest.load(nest.entry(nest.at(before, i), before, r)) for r in order]
            x = {(r, c): nest.binary("fmul", value, scales[r]) for (r, c), value in x.items()}
        if upward:
            count = nest.let(f"sub i64 {n - rows}, {i}")  # from the last row on, whatever the height of tiles
            left, right = T._replace(column_stride=-T.column_stride), X._replace(row_stride=-X.row_stride)
            x = nest.sums(x, count, (nest.at(T, i, n - 1), left), (nest.at(X, n - 1, j), right), minus=True)
        else:
            x = nest.sums(x, i, (nest.at(T, i, 0), T), (nest.at(X, 0, j), X), minus=True)
        done: list[int] = []
        for r in reversed(order) if upward else order:
            for t in done:
                factor = nest.load(nest.entry(own, T, r, t))
                for c in range(columns):
                    x[r, c] = nest.multiply_add(factor, x[t, c], x[r, c], negate=True)
            scale = nest.load(nest.entry(nest.at(after, i), after, r)) if after else None
            for c in range(columns):
                if scale:
                    x[r, c] = nest.binary("fmul", x[r, c], scale)
                nest.store(x[r, c], nest.entry(to, X, r, c))
            done.append(r)

    for first, last, rows in parts(n, height):
        # upward: whole tiles from the last row on, the remainder at the top
        for k in nest.loop(last - first if upward else last, first=0 if upward else first, step=rows):
            i = nest.let(f"sub i64 {n - first - rows}, {k}") if upward else k
            for j, columns in nest.blocks(m, width):
                tile(i, rows, j, columns)
