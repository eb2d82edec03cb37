"""Loops for factorizations without pivots, and for triangular systems.

A tile of a factor is the matrix less a sum of products over all columns before it, summed in registers; then what its
own columns do to one another. So the matrix is read once, and left as it is.
"""

from collections.abc import Sequence

from multibody.compiler.codegen.matrices.loop_nest import Nest, Tile, parts
from multibody.compiler.ir.matrix_storage import Dense, Place


def ldlt(nest: Nest, dense: Dense) -> None:
    """L below the diagonal, 1 / D on it, (L D)^T above."""
    _factor(nest, dense, roots=False)


def cholesky(nest: Nest, dense: Dense) -> None:
    """L below the diagonal and on it, L^T above; behind, the reciprocals of the diagonal."""
    _factor(nest, dense, roots=True)


def _factor(nest: Nest, dense: Dense, *, roots: bool) -> None:
    (n,), (A,) = dense.sizes, dense.operands
    F = Place(dense.first, n, 1)
    R = Place(dense.first + n * n, 1, 0) if roots else Place(dense.first, n + 1, 0)  # reciprocals, a column

    def reduced(i: str, j: str, keys: Sequence[tuple[int, int]]) -> Tile:
        """Entries of the matrix less the products of L D and L^T over all columns before j."""
        base = nest.at(A, i, j)
        tile = {(r, c): nest.load(base, A, r, c) for r, c in keys}
        left, right = F.T, F.T  # left(r, k) = F(k, i + r), right(k, c) = F(j + c, k)
        return nest.sums(tile, j, (nest.at(F, 0, i), left), (nest.at(F, j, 0), right), minus=True)

    def below(i: str, rows: int, j: str) -> list[str]:
        columns = nest.edge
        tile = reduced(i, j, [(r, c) for c in range(columns) for r in range(rows)])
        to, mirrored, own, reciprocal = nest.at(F, i, j), nest.at(F, j, i), nest.at(F, j, j), nest.at(R, j)
        for c in range(columns):
            for t in range(c):
                factor = nest.load(own, F, c, t)
                for r in range(rows):
                    tile[r, c] = nest.add_product(tile[r, c], tile[r, t], factor, minus=True)
            scale = nest.load(reciprocal, R, c)
            for r in range(rows):
                scaled = nest.binary("fmul", tile[r, c], scale)
                if roots:
                    tile[r, c] = scaled
                nest.store(scaled, to, F, r, c)
                nest.store(tile[r, c], mirrored, F, c, r)
        return []

    def diagonal(i: str, rows: int) -> None:
        tile = reduced(i, i, [(r, c) for c in range(rows) for r in range(c, rows)])
        to, reciprocals = nest.at(F, i, i), nest.at(R, i)
        L: Tile = {}
        for c in range(rows):
            pivot = nest.root(tile[c, c]) if roots else tile[c, c]
            reciprocal = nest.reciprocal(pivot)
            if roots:
                nest.store(pivot, to, F, c, c)
            nest.store(reciprocal, reciprocals, R, c)
            for r in range(c + 1, rows):
                L[r, c] = nest.binary("fmul", tile[r, c], reciprocal)
                if roots:
                    tile[r, c] = L[r, c]
                nest.store(L[r, c], to, F, r, c)
                nest.store(tile[r, c], to, F, c, r)
            for t in range(c + 1, rows):
                for r in range(t, rows):
                    tile[r, t] = nest.add_product(tile[r, t], tile[r, c], L[t, c], minus=True)

    def band(i: str, rows: int) -> list[str]:
        nest.loop(i, lambda j: below(i, rows, j), step=nest.edge)
        diagonal(i, rows)
        return []

    for first, last, rows in parts(n, nest.edge):
        nest.loop(last, lambda i, rows=rows: band(i, rows), first=first, step=rows)


def ldlt_solve(nest: Nest, dense: Dense) -> None:
    """L^-T D^-1 L^-1 b."""
    F, b = dense.operands
    X = Place(dense.first, dense.sizes[1], 1)
    reciprocals = Place(F.first, F.row + F.column, 0)
    substitute(nest, dense.sizes, F, b, X)
    substitute(nest, dense.sizes, F.T, X, X, upward=True, before=reciprocals)


def triangular_solve(nest: Nest, dense: Dense) -> None:
    """T^-1 b; the reciprocals of the diagonal come first."""
    (n, m), (T, b) = dense.sizes, dense.operands
    X, reciprocals = Place(dense.first, m, 1), Place(dense.first + n * m, 1, 0)

    def invert(i: str) -> list[str]:
        nest.store(nest.reciprocal(nest.load(nest.at(T, i, i))), nest.at(reciprocals, i))
        return []

    nest.loop(n, invert)
    substitute(nest, dense.sizes, T, b, X, upward=dense.kind == "upper_solve", after=reciprocals)


def substitute(
    nest: Nest,
    sizes: tuple[int, ...],
    T: Place,
    b: Place,
    X: Place,
    *,
    upward: bool = False,
    before: Place | None = None,
    after: Place | None = None,
) -> None:
    """x of T x = b for a triangular T, whose diagonal is not read: it is ones, or told by reciprocals.

    Args:
        nest: where it is written.
        sizes: the rows and columns of b.
        T: lower triangular; with `upward`, upper.
        b: may be where x is.
        X: where x goes.
        upward: begin with the last row.
        before: a column by which the rows of b are multiplied first.
        after: a column by which the rows of x are multiplied.
    """
    n, m = sizes
    height, width = nest.tile(n, m)

    def tile(i: str, rows: int, j: str, columns: int) -> list[str]:
        base, to, own = nest.at(b, i, j), nest.at(X, i, j), nest.at(T, i, i)
        x: Tile = {(r, c): nest.load(base, b, r, c) for r in range(rows) for c in range(columns)}
        order = range(rows)
        if before:
            scales = [nest.load(nest.at(before, i), before, r) for r in order]
            x = {(r, c): nest.binary("fmul", value, scales[r]) for (r, c), value in x.items()}
        if upward:
            count = nest.line(f"sub i64 {n - rows}, {i}")  # from the last row on, whatever the height of tiles
            left, right = T._replace(column=-T.column), X._replace(row=-X.row)
            x = nest.sums(x, count, (nest.at(T, i, n - 1), left), (nest.at(X, n - 1, j), right), minus=True)
        else:
            x = nest.sums(x, i, (nest.at(T, i, 0), T), (nest.at(X, 0, j), X), minus=True)
        done: list[int] = []
        for r in reversed(order) if upward else order:
            for t in done:
                factor = nest.load(own, T, r, t)
                for c in range(columns):
                    x[r, c] = nest.add_product(x[r, c], factor, x[t, c], minus=True)
            scale = nest.load(nest.at(after, i), after, r) if after else None
            for c in range(columns):
                if scale:
                    x[r, c] = nest.binary("fmul", x[r, c], scale)
                nest.store(x[r, c], to, X, r, c)
            done.append(r)
        return []

    def band(i: str, rows: int) -> list[str]:
        for first, last, columns in parts(m, width):
            nest.loop(last, lambda j, columns=columns: tile(i, rows, j, columns), first=first, step=columns)
        return []

    def from_below(i: str, rows: int, last: int) -> list[str]:
        return band(nest.line(f"sub i64 {last - rows}, {i}"), rows)

    for first, last, rows in parts(n, height):
        if upward:  # whole tiles from the last row on, what is left at the top
            end = n - first
            nest.loop(last - first, lambda i, rows=rows, end=end: from_below(i, rows, end), step=rows)
        else:
            nest.loop(last, lambda i, rows=rows: band(i, rows), first=first, step=rows)
