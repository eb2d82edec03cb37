"""Kinds of matrix operations that stay loops in a kernel: operands, results and costs.

An operation is a kind and its sizes. The arguments of its node are the concatenated operands; of a triangular or
symmetric one only a half is read. Factorizations without pivots store the reciprocals of their pivots.
"""

import math
from collections import Counter
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

# ruff: noqa: ARG005 - all entries of a kind take its sizes
Sizes = tuple[int, ...]


class Operand(NamedTuple):
    """A matrix that an operation reads."""

    rows: int
    columns: int
    part: str = "all"
    """The entries that are read: "all", or "lower" or "upper" with the diagonal."""
    smooth: bool = True
    """Whether results are differentiable with respect to it; the order of pivots is not."""

    def read(self) -> NDArray[Any]:
        """Whether each entry is read, (rows, columns)."""
        whole = np.ones((self.rows, self.columns), dtype=bool)
        return {"all": whole, "lower": np.tril(whole), "upper": np.triu(whole)}[self.part]


class Kind(NamedTuple):
    """Operands, results and costs of a kind, as functions of its sizes."""

    operands: Callable[..., list[Operand]]
    shape: Callable[..., tuple[int, ...]]
    """The shape of the results."""
    cost: Callable[..., dict[str, int]]
    """The number of scalar operations of each kind."""
    scratch: Callable[..., int] = lambda *sizes: 0
    """The number of scratch values."""

    def results(self, *sizes: int) -> int:
        """The number of results."""
        return math.prod(self.shape(*sizes))


def _factor(n: int) -> dict[str, int]:
    return {"fnma": (n**3 - n) // 6, "mul": n * (n - 1) // 2, "div": n}


def _solver(read: str, scratch: Callable[[int, int], int], *, triangular: bool = False, pivots: bool = False) -> Kind:
    """The solution of a linear system with the right-hand sides (n, m), from the factors of a matrix (n, n).

    Args:
        read: the entries of the factors that are read.
        scratch: the number of scratch values.
        triangular: whether the matrix is triangular, so that there is one substitution and not two.
        pivots: whether the order of the pivots follows the factors.
    """

    def operands(n: int, m: int) -> list[Operand]:
        order = [Operand(n, 1, smooth=False)] if pivots else []
        return [Operand(n, n, read), *order, Operand(n, m)]

    def cost(n: int, m: int) -> dict[str, int]:
        products, divisions = n * (n - 1) * m, {"div": n} if triangular else {}
        return {"fnma": products // 2 if triangular else products, "mul": n * m, **divisions}

    return Kind(operands, lambda n, m: (n, m), cost, scratch)


KINDS: dict[str, Kind] = {
    # C = A B, of (m, k) and (k, n)
    "product": Kind(
        lambda m, k, n: [Operand(m, k), Operand(k, n)], lambda m, k, n: (m, n), lambda m, k, n: {"fma": m * n * k}
    ),
    # C = A^T A, of (k, n)
    "gram": Kind(lambda k, n: [Operand(k, n)], lambda k, n: (n, n), lambda k, n: {"fma": n * (n + 1) // 2 * k}),
    # C = A^T diag(w) A, of (k, n) and (k, 1)
    "weighted_gram": Kind(
        lambda k, n: [Operand(k, n), Operand(k, 1)],
        lambda k, n: (n, n),
        lambda k, n: {"fma": n * (n + 1) // 2 * k, "mul": k * n},
    ),
    # A = L D L^T: L below the diagonal, 1 / D on it, (L D)^T above
    "ldlt": Kind(lambda n: [Operand(n, n, "lower")], lambda n: (n, n), _factor),
    # solves L D L^T x = b, for b (n, m)
    "ldlt_solve": _solver("lower", lambda n, m: 0),
    # A = L L^T: L below the diagonal and on it, L^T above; scratch: the reciprocals of the diagonal
    "cholesky": Kind(
        lambda n: [Operand(n, n, "lower")], lambda n: (n, n), lambda n: {**_factor(n), "sqrt": n}, lambda n: n
    ),
    # solves T x = b for a lower or an upper triangular T
    "lower_solve": _solver("lower", lambda n, m: n, triangular=True),
    "upper_solve": _solver("upper", lambda n, m: n, triangular=True),
    # P A = L U with the largest pivot of each column: L below the diagonal, the reciprocals of U's on it, U above,
    # then the row of A that became row k, for every k
    "lu": Kind(
        lambda n: [Operand(n, n)],
        lambda n: (n * n + n,),
        lambda n: {"fnma": n * n * (n - 1) // 2, "mul": n * n, "div": n, "lt": n * n, "select": 3 * n * n},
        lambda n: n * (n | 1) + n,
    ),
    # solves A x = b, or A^T x = b, from these
    "lu_solve": _solver("all", lambda n, m: 0, pivots=True),
    "lu_solve_transposed": _solver("all", lambda n, m: n * m, pivots=True),
}


def operands(kind: str, sizes: Sizes) -> list[Operand]:
    """The matrices that an operation reads."""
    return KINDS[kind].operands(*sizes)


def argument_slices(kind: str, sizes: Sizes) -> list[tuple[Operand, slice]]:
    """The operands of an operation, and their positions among its concatenated arguments."""
    slices, first = [], 0
    for operand in operands(kind, sizes):
        last = first + operand.rows * operand.columns
        slices.append((operand, slice(first, last)))
        first = last
    return slices


def operations(kind: str, sizes: Sizes) -> Counter[str]:
    """The number of scalar operations of each kind in a matrix operation."""
    return Counter(KINDS[kind].cost(*sizes))
