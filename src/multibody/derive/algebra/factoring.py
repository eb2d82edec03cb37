"""Factors of polynomials with whole coefficients: quadratic forms by hand, which is quick, others by SymPy.

A polynomial maps exponents, packed into one number as in `forms`, to coefficients. It comes without common factors that
are numbers or generators.
"""

from collections.abc import Mapping
from functools import cache
from math import gcd, isqrt
from typing import Any

import sympy as sp
from sympy.polys.rings import ring

from multibody.derive.algebra.trigonometric_polynomials import Polynomial, pack, unpack

MAX_SEARCHED_TERMS = 9
"""Polynomials with more terms are not searched for factors, unless they are quadratic forms."""

Linear = dict[int, int]
"""Generator to coefficient."""


def primitive(polynomial: Polynomial) -> tuple[int, Polynomial]:
    """The number that all coefficients have in common, and what remains; its last coefficient is positive."""
    common = gcd(*polynomial.values())
    common = common if polynomial[max(polynomial)] > 0 else -common
    return common, {M: c // common for M, c in polynomial.items()}


def factors(polynomial: Polynomial) -> list[tuple[Polynomial, int]]:
    """Irreducible factors and their powers; the polynomial and each factor are primitive, with no sign in front.

    >>> x, y = pack({0: 1}), pack({1: 1})
    >>> factors({2 * x: 1, x + y: 2, 2 * y: 1}) == [({x: 1, y: 1}, 2)]
    True
    """
    alone = [(polynomial, 1)]
    exponents = {M: unpack(M) for M in polynomial}
    if all(sorted(e.values()) in ([2], [1, 1]) for e in exponents.values()):
        return _quadratic(polynomial, exponents) or alone
    if not 4 <= len(polynomial) <= MAX_SEARCHED_TERMS or _linear_once(exponents):
        return alone
    return _general(polynomial, exponents)


def _linear_once(exponents: Mapping[int, Mapping[int, int]]) -> bool:
    """Whether a generator is in one term alone, to the first power: nothing divides both that term and the rest."""
    degrees: dict[int, int] = {}
    for entries in exponents.values():
        for i, e in entries.items():
            degrees[i] = degrees.get(i, 0) + (1 if e == 1 else 2)
    return 1 in degrees.values()


def _quadratic(polynomial: Polynomial, exponents: Mapping[int, Mapping[int, int]]) -> list[tuple[Polynomial, int]]:
    """The two linear factors of a quadratic form, or nothing."""
    form = {tuple(sorted(e)) * (1 if len(e) == 2 else 2): polynomial[M] for M, e in exponents.items()}
    square = next((i for i, j in form if i == j), None)
    pair = _without_square(form) if square is None else _with_square(form, square)
    if pair is None:
        return []
    factor, other = (primitive({pack({i: 1}): c for i, c in f.items()})[1] for f in pair)
    return [(factor, 2)] if factor == other else [(factor, 1), (other, 1)]


def _with_square(form: Mapping[tuple[int, ...], int], x: int) -> tuple[Linear, Linear] | None:
    """a x² + B x + C: twice a x + B plus or minus the root of B² - 4 a C, if that is a linear form."""
    a = form[x, x]
    B = {i + j - x: c for (i, j), c in form.items() if (i == x) != (j == x)}
    D = _product(B, B)
    for pair, c in form.items():
        if x not in pair:
            D[pair] = D.get(pair, 0) - 4 * a * c
    D = {pair: c for pair, c in D.items() if c}
    root: Linear = {}
    for i in sorted({i for pair in D for i in pair}):
        size = isqrt(max(D.get((i, i), 0), 0))
        first = next(iter(root), i)
        root[i] = size if first == i or D.get((first, i), 0) > 0 else -size
    if _product(root, root) != D:
        return None
    both = B.keys() | root.keys()
    return tuple(_without_zeros({x: 2 * a} | {i: B.get(i, 0) + s * root.get(i, 0) for i in both}) for s in (1, -1))  # type: ignore[return-value]


def _without_square(form: Mapping[tuple[int, ...], int]) -> tuple[Linear, Linear] | None:
    """x B + C, where C must be a multiple of B."""
    x = next(iter(form))[0]
    B = {i + j - x: c for (i, j), c in form.items() if x in (i, j)}
    y, b = next(iter(B.items()))
    other = {i + j - y: c for (i, j), c in form.items() if y in (i, j)}
    if _product(B, other) != _without_zeros({pair: b * c for pair, c in form.items()}):
        return None
    return B, other


def _product(f: Linear, g: Linear) -> dict[tuple[int, ...], int]:
    result: dict[tuple[int, ...], int] = {}
    for i, c in f.items():
        for j, d in g.items():
            pair = (min(i, j), max(i, j))
            result[pair] = result.get(pair, 0) + c * d
    return _without_zeros(result)


def _without_zeros(x: dict[Any, int]) -> dict[Any, int]:
    return {k: c for k, c in x.items() if c}


def _general(polynomial: Polynomial, exponents: Mapping[int, Mapping[int, int]]) -> list[tuple[Polynomial, int]]:
    used = sorted(set().union(*exponents.values()))
    terms = {tuple(exponents[M].get(i, 0) for i in used): sp.ZZ(c) for M, c in polynomial.items()}
    _, powers = _ring(len(used)).from_dict(terms).factor_list()
    return [(primitive({pack(dict(zip(used, M, strict=True))): int(c) for M, c in f.terms()})[1], n) for f, n in powers]


@cache
def _ring(size: int) -> Any:
    return ring([f"x{k}" for k in range(size)], sp.ZZ)[0]
