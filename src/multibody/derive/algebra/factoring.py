"""Factors of polynomials with whole coefficients, by SymPy; quadratic forms only if their rank allows factors.

A polynomial maps exponents, packed into one number as in `trigonometric_polynomials`, to coefficients. It comes without
common factors that are numbers or generators.
"""

from collections.abc import Mapping
from functools import cache
from math import gcd
from typing import Any

import numpy as np
import sympy as sp
from sympy.polys.rings import ring

from multibody.derive.algebra.trigonometric_polynomials import Polynomial, pack, unpack

MAX_SEARCHED_TERMS = 9
"""Polynomials with more terms are not searched for factors, unless they are quadratic forms."""


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
        return alone if _rank(polynomial, exponents) > 2 else _general(polynomial, exponents)
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


def _rank(polynomial: Polynomial, exponents: Mapping[int, Mapping[int, int]]) -> int:
    """The rank of the symmetric matrix of a quadratic form: at most 2 for a product of two linear forms."""
    used = sorted(set().union(*exponents.values()))
    Q = np.zeros((len(used), len(used)))
    for M, e in exponents.items():
        i, j = (used.index(k) for k in (min(e), max(e)))
        Q[i, j] += polynomial[M]
        Q[j, i] += polynomial[M]
    return int(np.linalg.matrix_rank(Q))


def _general(polynomial: Polynomial, exponents: Mapping[int, Mapping[int, int]]) -> list[tuple[Polynomial, int]]:
    used = sorted(set().union(*exponents.values()))
    terms = {tuple(exponents[M].get(i, 0) for i in used): sp.ZZ(c) for M, c in polynomial.items()}
    _, powers = _ring(len(used)).from_dict(terms).factor_list()
    return [(primitive({pack(dict(zip(used, M, strict=True))): int(c) for M, c in f.terms()})[1], n) for f, n in powers]


@cache
def _ring(size: int) -> Any:
    return ring([f"x{k}" for k in range(size)], sp.ZZ)[0]
