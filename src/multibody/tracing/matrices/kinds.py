"""Kinds of matrix operations that stay loops in a kernel: operands, results and costs.

An operation is a kind and its sizes. The arguments of its node are the concatenated operands; of a triangular or
symmetric one only a half is read. Factorizations without pivots store the reciprocals of their pivots.
"""

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
    results: Callable[..., int]
    """The number of results."""
    scratch: Callable[..., int]
    """The number of scratch values."""
    cost: Callable[..., dict[str, int]]
    """The number of scalar operations of each kind."""


def _factor(n: int) -> dict[str, int]:
    return {"fnma": (n**3 - n) // 6, "mul": n * (n - 1) // 2, "div": n}


KINDS: dict[str, Kind] = {
    # C = A B, of (m, k) and (k, n)
    "product": Kind(
        lambda m, k, n: [Operand(m, k), Operand(k, n)],
        lambda m, k, n: m * n,
        lambda m, k, n: 0,
        lambda m, k, n: {"fma": m * n * k},
    ),
    # C = A^T A, of (k, n)
    "gram": Kind(
        lambda k, n: [Operand(k, n)],
        lambda k, n: n * n,
        lambda k, n: 0,
        lambda k, n: {"fma": n * (n + 1) // 2 * k},
    ),
    # C = A^T diag(w) A, of (k, n) and (k, 1)
    "weighted_gram": Kind(
        lambda k, n: [Operand(k, n), Operand(k, 1)],
        lambda k, n: n * n,
        lambda k, n: 0,
        lambda k, n: {"fma": n * (n + 1) // 2 * k, "mul": k * n},
    ),
    # A = L D L^T: L below the diagonal, 1 / D on it, (L D)^T above
    "ldlt": Kind(lambda n: [Operand(n, n, "lower")], lambda n: n * n, lambda n: 0, _factor),
    # solves L D L^T x = b, for b (n, m)
    "ldlt_solve": Kind(
        lambda n, m: [Operand(n, n, "lower"), Operand(n, m)],
        lambda n, m: n * m,
        lambda n, m: 0,
        lambda n, m: {"fnma": n * (n - 1) * m, "mul": n * m},
    ),
    # A = L L^T: L below the diagonal and on it, L^T above; scratch: the reciprocals of the diagonal
    "cholesky": Kind(
        lambda n: [Operand(n, n, "lower")], lambda n: n * n, lambda n: n, lambda n: {**_factor(n), "sqrt": n}
    ),
    # solves T x = b for a lower or an upper triangular T
    "lower_solve": Kind(
        lambda n, m: [Operand(n, n, "lower"), Operand(n, m)],
        lambda n, m: n * m,
        lambda n, m: n,
        lambda n, m: {"fnma": n * (n - 1) // 2 * m, "mul": n * m, "div": n},
    ),
    "upper_solve": Kind(
        lambda n, m: [Operand(n, n, "upper"), Operand(n, m)],
        lambda n, m: n * m,
        lambda n, m: n,
        lambda n, m: {"fnma": n * (n - 1) // 2 * m, "mul": n * m, "div": n},
    ),
    # P A = L U with the largest pivot of each column: L below the diagonal, the reciprocals of U's on it, U above,
    # then the row of A that became row k, for every k
    "lu": Kind(
        lambda n: [Operand(n, n)],
        lambda n: n * n + n,
        lambda n: n * (n | 1) + n,
        lambda n: {"fnma": n * n * (n - 1) // 2, "mul": n * n, "div": n, "lt": n * n, "select": 3 * n * n},
    ),
    # solves A x = b, or of A^T x = b, from these
    "lu_solve": Kind(
        lambda n, m: [Operand(n, n), Operand(n, 1, smooth=False), Operand(n, m)],
        lambda n, m: n * m,
        lambda n, m: 0,
        lambda n, m: {"fnma": n * (n - 1) * m, "mul": n * m},
    ),
    "lu_solve_transposed": Kind(
        lambda n, m: [Operand(n, n), Operand(n, 1, smooth=False), Operand(n, m)],
        lambda n, m: n * m,
        lambda n, m: n * m,
        lambda n, m: {"fnma": n * (n - 1) * m, "mul": n * m},
    ),
}


def operands(kind: str, sizes: Sizes) -> list[Operand]:
    """The matrices that an operation reads."""
    return KINDS[kind].operands(*sizes)


def operations(kind: str, sizes: Sizes) -> Counter[str]:
    """The number of scalar operations of each kind in a matrix operation."""
    return Counter(KINDS[kind].cost(*sizes))
