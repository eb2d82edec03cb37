"""Simplification of a whole set of matrices: shared factors come out alike, and fewest operations win."""

from collections.abc import Sequence
from typing import Any

import sympy as sp

from multibody.derive.algebra.forms_to_expressions import ORDERS, PRODUCTS, cost
from multibody.derive.algebra.normal_form import MAX_TERMS, entries_of, normals, shaped_like

MAX_CSE_OPERATIONS = 2000
"""Operations beyond which variants are compared by their equal parts, without a search for all common ones."""


def simplify(matrices: Sequence[Any], *, units: Sequence[Sequence[Any]] = (), most: int = MAX_TERMS) -> list[Any]:
    """Matrices and expressions with few operations in all: products of sines and cosines as sums, terms collected.

    Args:
        matrices: that belong together, as M, b and g: parameters that always come together become one factor in all.
        units: quadruples of symbols whose squares add up to 1.
        most: terms of an entry beyond which it is left as it is.

    >>> m, n, l, q, q_dot = sp.symbols("m n l q q_dot")
    >>> simplify([(m + n) * l * sp.cos(q), (n * sp.sin(q) + m * sp.sin(q)) * l * q_dot**2])
    [l*(m + n)*cos(q), l*q_dot**2*(m + n)*sin(q)]
    """
    split = [entries_of(x) for x in matrices]
    entries = [e for part in split for e in part]
    orders = (ORDERS, (PRODUCTS,), *((by,) for by in ORDERS))
    if cost(*entries) > MAX_CSE_OPERATIONS:
        orders = orders[:2]
    variants = [*normals(entries, units=units, most=most, orders=orders), entries]
    best = iter(min(dict.fromkeys(map(tuple, variants)), key=_shortness))
    return [shaped_like(x, [next(best) for _ in part]) for x, part in zip(matrices, split, strict=True)]


def _shortness(expressions: Sequence[Any]) -> int:
    operations = cost(*expressions)
    return operations if operations > MAX_CSE_OPERATIONS else count(expressions)


def count(expressions: Sequence[Any]) -> int:
    """Count the operations of expressions and matrices together, common subexpressions once.

    >>> x, y = sp.symbols("x y")
    >>> count([x * y + 1, sp.Matrix([x * y * sp.sin(x * y)])])
    4
    """
    steps, results = sp.cse([e for x in expressions for e in entries_of(x)])
    return sum(cost(e) for e in (*(e for _, e in steps), *results))
