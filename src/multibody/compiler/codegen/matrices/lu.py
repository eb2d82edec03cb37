"""Loops for elimination with partial pivoting, in which every lane has pivots of its own.

Rows are not swapped. A lane's pivot row is gathered, its rows that were pivots before are left alone, and at the end
the factors are gathered in the order of the pivots: the arithmetic is the same in all lanes, and its rows as well.
"""

from multibody.compiler.codegen.matrices.factorizations import substitute
from multibody.compiler.codegen.matrices.loop_nest import Nest, parts
from multibody.compiler.ir.matrix_storage import Dense, Place

WIDE = 4
"""Columns of a panel, after which the columns on its right are changed."""


def lu(nest: Nest, dense: Dense) -> None:
    """L below the diagonal, the reciprocals of U's on it, U above; then the pivot row of every column."""
    (n,), (A,) = dense.sizes, dense.operands
    F, P = Place(dense.first, n, 1), Place(dense.first + n * n, 1, 0)
    free = Place(dense.first + n * n + n, 1, 0)
    W = Place(dense.first + n * n + 2 * n, n | 1, 1)  # rows of an odd length do not crowd one set of the cache
    v, mask, one = nest.shape.vector, nest.shape.mask, nest.shape.constant(1.0)

    def copy(i: str) -> list[str]:
        nest.store(one, nest.at(free, i))

        def some(j: str, width: int) -> list[str]:
            source, target = nest.at(A, i, j), nest.at(W, i, j)
            for k, value in enumerate([nest.load(source, A, 0, k) for k in range(width)]):
                nest.store(value, target, W, 0, k)
            return []

        for first, last, width in parts(n, 6):
            nest.loop(last, lambda j, width=width: some(j, width), first=first, step=width)
        return []

    nothing = [(v, nest.shape.constant(-1.0)), (v, "zeroinitializer"), (v, "zeroinitializer")]

    def larger(entry: str, is_free: str, number: str, largest: str, pivot: str) -> list[str]:
        """The largest entry of free rows so far, and the number of its row."""
        size = nest.line(f"call {v} @llvm.fabs.{nest.suffix}({v} {entry})")
        size = nest.line(f"select {mask} {is_free}, {v} {size}, {v} {nest.shape.constant(-1.0)}")
        more = nest.line(f"fcmp ogt {v} {size}, {largest}")
        return [nest.line(f"select {mask} {more}, {v} {x}, {v} {y}") for x, y in ((size, largest), (number, pivot))]

    def choose(j: str) -> str:
        """The number of the free row with the largest entry in column j."""

        def look(i: str, largest: str, pivot: str, number: str) -> list[str]:
            is_free = nest.line(f"fcmp ogt {v} {nest.load(nest.at(free, i))}, zeroinitializer")
            entry = nest.load(nest.at(W, i, j))
            return [*larger(entry, is_free, number, largest, pivot), nest.binary("fadd", number, one)]

        return nest.loop(n, look, nothing)[1]

    def eliminate(j: str, pivot: str, reciprocal: str, rest: list[tuple[str, str]]) -> str:
        """Multipliers of column j, zero for rows that were pivots, and what they do to the rest of the panel.

        Args:
            j: the column.
            pivot: the number of its pivot row.
            reciprocal: of the pivot.
            rest: further columns, and what the pivot row has there.

        Returns:
            The pivot row of the first of these columns.
        """

        def row(i: str, largest: str, following: str, number: str) -> list[str]:
            chosen, mark = nest.line(f"fcmp oeq {v} {number}, {pivot}"), nest.at(free, i)
            still = nest.line(f"select {mask} {chosen}, {v} zeroinitializer, {v} {nest.load(mark)}")
            nest.store(still, mark)
            is_free, entry = nest.line(f"fcmp ogt {v} {still}, zeroinitializer"), nest.at(W, i, j)
            scaled = nest.binary("fmul", nest.load(entry), reciprocal)
            factor = nest.line(f"select {mask} {is_free}, {v} {scaled}, {v} zeroinitializer")
            nest.store(factor, entry)
            best = [largest, following]
            for c, value in rest:
                other = nest.at(W, i, c)
                changed = nest.add_product(nest.load(other), factor, value, minus=True)
                nest.store(changed, other)
                if c == rest[0][0]:
                    best = larger(changed, is_free, number, largest, following)
            return [*best, nest.binary("fadd", number, one)]

        return nest.loop(n, row, nothing)[1]

    def panel(j: str, width: int) -> list[str]:
        """Some columns, one after the other, then all at once what they do to the columns on their right."""
        columns = [nest.plus(j, t) for t in range(width)]
        rows: list[str] = []
        pivot = choose(j)
        for t in range(width):
            nest.store(pivot, nest.at(P, columns[t]))
            rows.append(nest.rows(pivot, W))
            values = {s: nest.gather(nest.at(W, 0, columns[s]), rows[t]) for s in range(t, width)}
            reciprocal = nest.reciprocal(values[t])
            nest.store(reciprocal, nest.at(F, columns[t], columns[t]))
            for s in range(t + 1, width):
                nest.store(values[s], nest.at(F, columns[t], columns[s]))
            rest = [(columns[s], values[s]) for s in range(t + 1, width)]
            pivot = eliminate(columns[t], pivot, reciprocal, rest)
        right = nest.plus(j, width)
        multipliers = {(t, s): nest.gather(nest.at(W, 0, columns[s]), rows[t]) for t in range(width) for s in range(t)}

        def pivot_rows(c: str) -> list[str]:
            above: list[str] = []
            for t in range(width):
                value = nest.gather(nest.at(W, 0, c), rows[t])
                for s in range(t):
                    value = nest.add_product(value, multipliers[t, s], above[s], minus=True)
                nest.store(value, nest.at(F, columns[t], c))
                above.append(value)
            return []

        nest.loop(n, pivot_rows, first=right)
        left = nest.line(f"sub i64 {n}, {right}")
        whole = nest.plus(right, nest.line(f"mul i64 {nest.line(f'udiv i64 {left}, {nest.edge}')}, {nest.edge}"))

        def tile(i: str, height: int, c: str, wide: int) -> list[str]:
            base = nest.at(W, i, c)
            old = {(r, s): nest.load(base, W, r, s) for r in range(height) for s in range(wide)}
            new = nest.sums(old, width, (nest.at(W, i, j), W), (nest.at(F, j, c), F), minus=True)
            for (r, s), value in new.items():
                nest.store(value, base, W, r, s)
            return []

        def band(i: str, height: int) -> list[str]:
            nest.loop(whole, lambda c: tile(i, height, c, nest.edge), first=right, step=nest.edge)
            nest.loop(n, lambda c: tile(i, height, c, 1), first=whole)
            return []

        for first, last, height in parts(n, nest.edge):
            nest.loop(last, lambda i, height=height: band(i, height), first=first, step=height)
        return []

    nest.loop(n, copy)
    for first, last, width in parts(n, WIDE):
        nest.loop(last, lambda j, width=width: panel(j, width), first=first, step=width)
    _in_order(nest, P, W, F, n)


def _in_order(nest: Nest, P: Place, source: Place, target: Place, n: int, columns: int | None = None) -> None:
    """Gather n rows in the order of the pivots: some columns of them, or all on the left of the diagonal."""

    def row(k: str) -> list[str]:
        rows = nest.rows(nest.load(nest.at(P, k)), source)

        def take(c: str) -> list[str]:
            nest.store(nest.gather(nest.at(source, 0, c), rows), nest.at(target, k, c))
            return []

        nest.loop(k if columns is None else columns, take)
        return []

    nest.loop(n, row)


def lu_solve(nest: Nest, dense: Dense) -> None:
    """x of A x = b: the rows of b in the order of the pivots, then L and U."""
    (n, m), (F, P, b) = dense.sizes, dense.operands
    X = Place(dense.first, m, 1)

    _in_order(nest, P, b, X, n, m)
    substitute(nest, dense.sizes, F, X, X)
    substitute(nest, dense.sizes, F, X, X, upward=True, after=Place(F.first, F.row + F.column, 0))


def lu_solve_transposed(nest: Nest, dense: Dense) -> None:
    """x of A^T x = b: U^T and L^T, then the rows back to where the pivots were."""
    (n, m), (F, P, b) = dense.sizes, dense.operands
    X, Z = Place(dense.first, m, 1), Place(dense.first + n * m, m, 1)
    substitute(nest, dense.sizes, F.T, b, Z, after=Place(F.first, F.row + F.column, 0))
    substitute(nest, dense.sizes, F.T, Z, Z, upward=True)

    def order(k: str) -> list[str]:
        rows = nest.rows(nest.load(nest.at(P, k)), X)

        def put(c: str) -> list[str]:
            nest.scatter(nest.load(nest.at(Z, k, c)), nest.at(X, 0, c), rows)
            return []

        nest.loop(m, put)
        return []

    nest.loop(n, order)
