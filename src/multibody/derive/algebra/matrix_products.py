"""Products of matrices with large entries."""

from functools import reduce
from typing import Any

import sympy as sp


def product(*factors: Any) -> sp.Matrix:
    """The product of matrices, zeros left out.

    SymPy's own asks for each zero whether what it multiplies is finite, which takes long for large expressions.

    >>> x = sp.Symbol("x")
    >>> product(sp.Matrix([[x, 0]]), sp.Matrix([[0, x], [1, 0]]))
    Matrix([[0, x**2]])
    """
    return reduce(_pair, factors)


def _pair(A: Any, B: Any) -> sp.Matrix:
    rows = [[(k, x) for k, x in enumerate(A.row(i)) if x != 0] for i in range(A.rows)]
    columns = [list(B.col(j)) for j in range(B.cols)]
    return sp.Matrix(
        A.rows, B.cols, [sp.Add(*(x * c[k] for k, x in row if c[k] != 0)) for row in rows for c in columns]
    )


def cross(a: Any, b: Any) -> sp.Matrix:
    """a × b, or a × each column of b.

    >>> x = sp.Symbol("x")
    >>> cross(sp.Matrix([x, 0, 0]), sp.Matrix([0, 1, 0])).T
    Matrix([[0, 0, x]])
    """
    return product(sp.Matrix([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]]), b)
