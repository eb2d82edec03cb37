"""Trigonometric polynomials as dictionaries: sums of c x^M cos(K·θ) and c x^M sin(K·θ).

A form maps (K, s) to a polynomial {M: c}: s is 0 for a cosine and 1 for a sine, K the whole multiples of the angles, M
the exponents of the generators, which can be negative. Each is packed into one whole number, so that adding vectors is
adding numbers; the multiple of the last angle that is there is positive. Coefficients are whole numbers over one
denominator. Forms of equal expressions are equal, as long as generators and angles are independent.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from math import gcd, lcm

BITS = 24
SIGN_BIT = 1 << (BITS - 1)
MASK = (1 << BITS) - 1
EFFORT = 50
"""Products of terms that are worth one term of the largest form."""

Polynomial = dict[int, int]
Harmonic = tuple[int, int]


class TooLargeError(Exception):
    """A form would have more terms than was allowed."""


def pack(entries: Mapping[int, int]) -> int:
    """One whole number for a vector, given by the entries that are not zero."""
    return sum(e << (BITS * i) for i, e in entries.items())


def unpack(packed: int) -> dict[int, int]:
    """The entries that are not zero.

    >>> unpack(pack({0: 2, 3: -1}))
    {0: 2, 3: -1}
    """
    entries, i = {}, 0
    while packed:
        e = ((packed + SIGN_BIT) & MASK) - SIGN_BIT
        if e:
            entries[i] = e
        packed = (packed - e) >> BITS
        i += 1
    return entries


def entry(packed: int, i: int) -> int:
    """One entry of a packed vector."""
    bias = SIGN_BIT * (((1 << (BITS * (i + 1))) - 1) // MASK)  # half in entries 0 to i: none of them borrows
    return (((packed + bias) >> (BITS * i)) & MASK) - SIGN_BIT


@dataclass(frozen=True, slots=True)
class Form:
    """A trigonometric polynomial; see the head of this file."""

    parts: dict[Harmonic, Polynomial]
    den: int = 1

    def __len__(self) -> int:
        return sum(map(len, self.parts.values()))

    def terms(self) -> Iterable[tuple[Harmonic, int, Fraction]]:
        """Harmonic, monomial and coefficient."""
        for h, p in self.parts.items():
            for M, c in p.items():
                yield h, M, Fraction(c, self.den)


def monomial(M: int = 0, c: Fraction | int = 1, K: int = 0, s: int = 0) -> Form:
    """c x^M cos(K·θ), or sin when s is 1."""
    if K < 0:
        K, c = -K, -c if s else c
    if not c or (s and not K):
        return Form({})
    c = Fraction(c)
    return Form({(K, s): {M: c.numerator}}, c.denominator)


def total(forms: Iterable[Form]) -> Form:
    """The sum."""
    forms = [f for f in forms if f.parts]
    if len(forms) < 2:
        return forms[0] if forms else Form({})
    den = lcm(*(f.den for f in forms))
    parts: dict[Harmonic, Polynomial] = {}
    for f in forms:
        scale = den // f.den
        for h, p in f.parts.items():
            _add(parts.setdefault(h, {}), p, scale)
    return _reduced(parts, den)


def scaled(f: Form, c: Fraction | int, M: int = 0) -> Form:
    """c x^M f."""
    c = Fraction(c)
    parts = {h: {M + N: c.numerator * k for N, k in p.items()} for h, p in f.parts.items()} if c else {}
    return _reduced(parts, f.den * c.denominator)


def product_to_sum(f: Form, g: Form, most: int) -> Form:
    """f g, with products of sines and cosines as sums, so that sin² + cos² is 1.

    Raises:
        TooLargeError: when it would have more than `most` terms, or take too long to find.
    """
    if len(f) * len(g) > EFFORT * most:
        raise TooLargeError
    parts: dict[Harmonic, Polynomial] = {}
    for (J, r), p in f.parts.items():
        for (K, s), u in g.parts.items():
            pu = times(p, u)
            # 2 cos cos = cos(J-K) + cos(J+K), 2 sin sin = cos(J-K) - cos(J+K), 2 sin cos = sin(J-K) + sin(J+K)
            odd = r ^ s
            for L, sign in ((J - K, -1 if s and not r else 1), (J + K, -1 if s and r else 1)):
                if L < 0:
                    L, sign = -L, -sign if odd else sign
                if L or not odd:
                    _add(parts.setdefault((L, odd), {}), pu, sign)
    result = _reduced(parts, 2 * f.den * g.den)
    if len(result) > most:
        raise TooLargeError
    return result


def times(p: Polynomial, q: Polynomial) -> Polynomial:
    """The product of two polynomials, which may have zeros as coefficients."""
    result: Polynomial = {}
    for M, c in p.items():
        for N, d in q.items():
            result[M + N] = result.get(M + N, 0) + c * d
    return result


def by_power(f: Form, i: int, at_least: int = 1) -> dict[int, Form]:
    """The form as a polynomial in generator i: exponents, and what they multiply; below the least one all in 0."""
    coefficients: dict[int, dict[Harmonic, Polynomial]] = {}
    for h, p in f.parts.items():
        for M, c in p.items():
            e = entry(M, i)
            e = e if e >= at_least else 0
            coefficients.setdefault(e, {}).setdefault(h, {})[M - (e << (BITS * i))] = c
    return {e: Form(parts, f.den) for e, parts in coefficients.items()}


def along_generator(f: Form, i: int) -> Form:
    """∂f/∂x_i."""
    unit = pack({i: 1})
    parts = {h: {M - unit: c * e for M, c in p.items() if (e := entry(M, i))} for h, p in f.parts.items()}
    return _reduced(parts, f.den)


def along_angle(f: Form, j: int) -> Form:
    """∂f/∂θ_j."""
    parts: dict[Harmonic, Polynomial] = {}
    for (K, s), p in f.parts.items():
        k = entry(K, j)
        if k:
            parts[K, 1 - s] = {M: (k if s else -k) * c for M, c in p.items()}
    return _reduced(parts, f.den)


def _add(into: Polynomial, p: Polynomial, scale: int) -> None:
    for M, c in p.items():
        into[M] = into.get(M, 0) + scale * c


def _reduced(parts: dict[Harmonic, Polynomial], den: int) -> Form:
    parts = {h: kept for h, p in parts.items() if (kept := {M: c for M, c in p.items() if c})}
    if den == 1:
        return Form(parts)
    common = reduce(gcd, (c for p in parts.values() for c in p.values()), den)
    if common == 1:
        return Form(parts, den)
    return Form({h: {M: c // common for M, c in p.items()} for h, p in parts.items()}, den // common)
