"""Loops for elimination with partial pivoting, in which every lane has pivots of its own.

Rows are not swapped. A lane's pivot row is gathered, its rows that were pivots before are left alone, and at the end
the factors are gathered in the order of the pivots: the arithmetic is the same in all lanes, and its rows as well.
"""

from multibody.compiler.dense_blocks import Dense, Place
from multibody.compiler.factors_ir import substitute
from multibody.compiler.nest_ir import Nest

WIDE = 4
"""Columns that are eliminated together."""


def lu(nest: Nest, dense: Dense) -> None:
    """L below the diagonal, the reciprocals of U's on it, U above; then the pivot row of every column."""
    (n,), (A,) = dense.sizes, dense.operands
    F, P = Place(dense.first, n, 1), Place(dense.first + n * n, 1, 0)
    W, free = Place(dense.first + n * n + n, n, 1), Place(dense.first + 2 * n * n + n, 1, 0)
    v, mask, one = nest.shape.vector, nest.shape.mask, nest.shape.constant(1.0)

    def copy(i: str) -> list[str]:
        nest.store(one, nest.at(free, i))

        def entry(j: str) -> list[str]:
            nest.store(nest.load(nest.at(A, i, j)), nest.at(W, i, j))
            return []

        nest.loop(n, entry)
        return []

    def choose(j: str) -> str:
        """The number of the free row with the largest entry in column j."""

        def look(i: str, largest: str, pivot: str, row: str) -> list[str]:
            entry = nest.load(nest.at(W, i, j))
            size = nest.line(f"call {v} @llvm.fabs.{nest.suffix}({v} {entry})")
            is_free = nest.line(f"fcmp ogt {v} {nest.load(nest.at(free, i))}, zeroinitializer")
            size = nest.line(f"select {mask} {is_free}, {v} {size}, {v} {nest.shape.constant(-1.0)}")
            larger = nest.line(f"fcmp ogt {v} {size}, {largest}")
            largest = nest.line(f"select {mask} {larger}, {v} {size}, {v} {largest}")
            pivot = nest.line(f"select {mask} {larger}, {v} {row}, {v} {pivot}")
            return [largest, pivot, nest.binary("fadd", row, one)]

        return nest.loop(n, look, [(v, nest.shape.constant(-1.0)), (v, "zeroinitializer"), (v, "zeroinitializer")])[1]

    def column(j: str) -> list[str]:
        pivot = choose(j)
        nest.store(pivot, nest.at(P, j))
        rows = nest.rows(pivot, W)

        def take(c: str) -> list[str]:
            nest.store(nest.gather(nest.at(W, 0, c), rows), nest.at(F, j, c))
            return []

        nest.loop(n, take, first=j)
        head = nest.at(F, j, j)
        reciprocal = nest.reciprocal(nest.load(head))
        nest.store(reciprocal, head)
        right = nest.plus(j, 1)
        left = nest.line(f"sub i64 {n}, {right}")
        whole = nest.plus(right, nest.line(f"and i64 {left}, {-WIDE}"))

        def eliminate(i: str, row: str) -> list[str]:
            chosen = nest.line(f"fcmp oeq {v} {row}, {pivot}")
            mark = nest.at(free, i)
            still = nest.line(f"select {mask} {chosen}, {v} zeroinitializer, {v} {nest.load(mark)}")
            nest.store(still, mark)
            is_free = nest.line(f"fcmp ogt {v} {still}, zeroinitializer")
            entry = nest.at(W, i, j)
            old = nest.load(entry)
            factor = nest.line(
                f"select {mask} {is_free}, {v} {nest.binary('fmul', old, reciprocal)}, {v} zeroinitializer"
            )
            kept = nest.line(f"select {mask} {is_free}, {v} {factor}, {v} {old}")
            nest.store(kept, entry)

            def some(c: str, width: int) -> list[str]:
                mine, pivots = nest.at(W, i, c), nest.at(F, j, c)
                for t in range(width):
                    value = nest.load(mine, W, 0, t)
                    changed = nest.add_product(value, factor, nest.load(pivots, F, 0, t), minus=True)
                    nest.store(changed, mine, W, 0, t)
                return []

            nest.loop(whole, lambda c: some(c, WIDE), first=right, step=WIDE)
            nest.loop(n, lambda c: some(c, 1), first=whole)
            return [nest.binary("fadd", row, one)]

        nest.loop(n, eliminate, [(v, "zeroinitializer")])
        return []

    def order(k: str) -> list[str]:
        rows = nest.rows(nest.load(nest.at(P, k)), W)

        def take(c: str) -> list[str]:
            nest.store(nest.gather(nest.at(W, 0, c), rows), nest.at(F, k, c))
            return []

        nest.loop(k, take)
        return []

    nest.loop(n, copy)
    nest.loop(n, column)
    nest.loop(n, order)


def lu_solve(nest: Nest, dense: Dense) -> None:
    """x of A x = b: the rows of b in the order of the pivots, then L and U."""
    (n, m), (F, P, b) = dense.sizes, dense.operands
    X = Place(dense.first, m, 1)

    def order(k: str) -> list[str]:
        rows = nest.rows(nest.load(nest.at(P, k)), b)

        def take(c: str) -> list[str]:
            nest.store(nest.gather(nest.at(b, 0, c), rows), nest.at(X, k, c))
            return []

        nest.loop(m, take)
        return []

    nest.loop(n, order)
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
