"""From forms to expressions that take few operations: parameters that always come together are one factor.

A form is a sum of (number)(monomial of parameters)(monomial of states)(sine or cosine). Monomials of parameters whose
factors are the same everywhere, but for a number, are added up first: they are the base parameters of a robot, as in
l1 (c2 m2 + l2 m3). What remains is collected by base parameter, by sine and cosine or by rates, whichever is shortest.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from fractions import Fraction
from math import gcd, lcm
from typing import Any

import sympy as sp
from sympy.core.function import AppliedUndef

from multibody.derive.algebra.expressions_to_forms import FormReader
from multibody.derive.algebra.factoring import factors, primitive
from multibody.derive.algebra.subexpressions import subexpressions
from multibody.derive.algebra.trigonometric_polynomials import Form, Harmonic, Polynomial, pack, times, unpack

MAX_ORDERED_TERMS = 100
"""Terms of a form beyond which it is collected in one way only."""
MAX_WHOLE_FACTOR = 4
"""Whole coefficients up to it stay what they are among floats."""
READABLE = 10**6
"""The same without floats."""
ORDERS = ("parameters", "harmonics", "rates")
"""What terms can be collected by."""
PRODUCTS = "products"
"""Another way: sines and cosines of sums as products, which are shorter when axes are not parallel."""

Term = tuple[int, Harmonic, Polynomial]
"""A base parameter, a harmonic, and the polynomial of states that multiplies both."""


class FormWriter:
    """Expressions of the forms of one reader."""

    def __init__(self, reader: FormReader, forms: Sequence[Form]) -> None:
        self.reader = reader
        self.den = lcm(*(f.den for f in forms))
        self._open: dict[Harmonic, Polynomial] = {}
        self._known: dict[frozenset[tuple[int, int]], Any] = {}
        self._entries, self._base = self._collected(forms, _state_generators(reader))

    def expressions(self, orders: Sequence[str] = ORDERS) -> Iterator[Any]:
        """One for each form: the shortest of those collected by what `orders` has."""
        written: dict[Any, Any] = {}
        for terms in self._entries:
            choice = orders if 1 < len(terms) <= MAX_ORDERED_TERMS else orders[:1]
            key = tuple((g, h, tuple(p.items())) for g, h, p in terms)
            if key not in written:
                written[key] = min((self._written(terms, by) for by in choice), key=cost)
            yield written[key]

    # ---- base parameters ---------------------------------------------------------------------------------------------

    def _collected(self, forms: Sequence[Form], states: set[int]) -> tuple[list[list[Term]], list[Any]]:
        columns: dict[int, dict[tuple[int, Harmonic, int], int]] = {}
        split: dict[int, tuple[int, int]] = {}
        for n, f in enumerate(forms):
            scale = self.den // f.den
            for h, p in f.parts.items():
                for M, c in p.items():
                    if M not in split:
                        S = pack({i: e for i, e in unpack(M).items() if i in states})
                        split[M] = M - S, S
                    P, S = split[M]
                    columns.setdefault(P, {})[n, h, S] = c * scale
        groups: dict[frozenset[Any], Polynomial] = {}
        for P, column in columns.items():
            common = gcd(*column.values())
            common = common if column[min(column)] > 0 else -common
            key = frozenset((k, c // common) for k, c in column.items())
            groups.setdefault(key, {})[P] = common
        entries: list[dict[tuple[int, Harmonic], Polynomial]] = [{} for _ in forms]
        base = []
        for key, polynomial in groups.items():
            scale, polynomial = self._scaled(polynomial)
            for (n, h, S), c in key:
                entries[n].setdefault((len(base), h), {})[S] = c * scale
            base.append(self._compact(polynomial))
        return [[(g, h, p) for (g, h), p in entry.items()] for entry in entries], base

    # ---- sums --------------------------------------------------------------------------------------------------------

    def _written(self, terms: Sequence[Term], by: str) -> Any:
        if by == "rates":
            return self._by_rates(terms)
        if by == PRODUCTS:
            return self._as_products(terms)
        outer, inner = (0, 1) if by == "parameters" else (1, 0)
        groups: dict[Any, list[tuple[Any, Polynomial]]] = {}
        for term in terms:
            groups.setdefault(term[outer], []).append((term[inner], term[2]))
        names: tuple[Callable[[Any], Any], ...] = (self._base.__getitem__, self.reader.trigonometric)
        return sp.Add(*(self._product(names[outer](k), parts, names[inner]) for k, parts in groups.items()))

    def _by_rates(self, terms: Sequence[Term]) -> Any:
        groups: dict[frozenset[tuple[int, int]], list[tuple[int, Harmonic, int]]] = {}
        for g, h, polynomial in terms:
            scale, rates = self._scaled(polynomial)
            groups.setdefault(frozenset(rates.items()), []).append((g, h, scale))
        return sp.Add(
            *(
                self._compact(dict(rates)) * self._written([(g, h, {0: c}) for g, h, c in parts], "parameters")
                for rates, parts in groups.items()
            )
        )

    def _product(self, front: Any, parts: Iterable[tuple[Any, Polynomial]], name: Callable[[Any], Any]) -> Any:
        """Front times Σ name(k) p, where equal p are taken out."""
        groups: dict[frozenset[tuple[int, int]], list[tuple[Any, Any]]] = {}
        for k, polynomial in parts:
            scale, rates = self._scaled(polynomial)
            groups.setdefault(frozenset(rates.items()), []).append((self._number(scale), name(k)))
        products = [
            (self._compact(dict(rates)), *(sums[0] if len(sums) == 1 else [sp.Add(*(sp.Mul(*s) for s in sums))]))
            for rates, sums in groups.items()
        ]
        if len(products) == 1:
            return sp.Mul(front, *products[0])
        return front * sp.Add(*(sp.Mul(*factors) for factors in products))

    def _as_products(self, terms: Sequence[Term]) -> Any:
        polynomials: dict[int, Polynomial] = {}
        for g, h, polynomial in terms:
            into = polynomials.setdefault(g, {})
            for T, k in self._opened(h).items():
                for M, c in polynomial.items():
                    into[M + T] = into.get(M + T, 0) + k * c
        sums = []
        for g, polynomial in polynomials.items():
            scale, rest = self._scaled({M: c for M, c in polynomial.items() if c})
            sums.append(self._number(scale) * self._base[g] * self._compact(rest))
        return sp.Add(*sums)

    def _opened(self, h: Harmonic) -> Polynomial:
        """cos(K·θ) or sin(K·θ) as a polynomial in the sine and cosine of each angle, sines not squared."""
        if h not in self._open:
            real, imaginary = {0: 1}, {}
            for j, k in unpack(h[0]).items():
                angle = self.reader.angles[j] / self.reader.part
                x, y = (pack({self.reader.generator(f(angle)): 1}) for f in (sp.cos, sp.sin))
                first, second = _chebyshev(abs(k))
                c = {x * e: n for e, n in first.items()}
                s = {x * e + y: n if k > 0 else -n for e, n in second.items()}
                real, imaginary = (
                    _sum(times(real, c), times(imaginary, s), -1),
                    _sum(times(real, s), times(imaginary, c), 1),
                )
            self._open[h] = imaginary if h[1] else real
        return self._open[h]

    def _number(self, c: int) -> Any:
        return self.reader.number(Fraction(c, self.den))

    # ---- polynomials -------------------------------------------------------------------------------------------------

    def _scaled(self, polynomial: Polynomial) -> tuple[int, Polynomial]:
        """The polynomial as a number times one that `_compact` writes."""
        common, polynomial = primitive(polynomial)
        return common * self._unit(polynomial), polynomial

    def _unit(self, polynomial: Polynomial) -> int:
        """The coefficient that is written as 1: coefficients that are no small whole numbers are over the last one.

        Over a common denominator the numbers of a robot's file would be whole, and have dozens of digits.
        """
        largest = max(map(abs, polynomial.values()))
        if largest <= (MAX_WHOLE_FACTOR if self.reader.floats else READABLE):
            return 1
        return polynomial[max(polynomial)]

    def _compact(self, polynomial: Polynomial) -> Any:
        """A primitive polynomial over its unit: a product, or a sum with common factors taken out."""
        key = frozenset(polynomial.items())
        if key not in self._known:
            exponents = {M: unpack(M) for M in polynomial}
            least = {i: min(e.get(i, 0) for e in exponents.values()) for i in set().union(*exponents.values())}
            common = pack(least)
            rest = {M - common: c for M, c in polynomial.items()}
            unit = self._unit(polynomial)
            powers = factors(rest) if unit == 1 else [(rest, 1)]
            self._known[key] = self.reader.monomial(common) * sp.Mul(*(self._horner(f, unit) ** n for f, n in powers))
        return self._known[key]

    def _horner(self, polynomial: Polynomial, unit: int) -> Any:
        """A sum in which the generator that most terms have is taken out of them, and so on."""
        uses = Counter(i for M in polynomial for i in unpack(M))
        i = max(uses, key=lambda i: (uses[i], i), default=-1)
        if i < 0 or uses[i] < 2:
            number = self.reader.number
            return sp.Add(*(number(Fraction(c, unit)) * self.reader.monomial(M) for M, c in polynomial.items()))
        inside = {M: c for M, c in polynomial.items() if i in unpack(M)}
        rest = {M: c for M, c in polynomial.items() if M not in inside}
        scale, inside = self._scaled(inside)
        taken = self.reader.number(Fraction(scale, unit)) * self._compact(inside)
        return taken + self._horner(rest, unit) if rest else taken


def _chebyshev(k: int) -> tuple[dict[int, int], dict[int, int]]:
    """T and U by exponent: cos kθ = T(cos θ), sin kθ = U(cos θ) sin θ."""
    T, U = sp.chebyshevt_poly(k, polys=True), sp.chebyshevu_poly(k - 1, polys=True)
    first, second = ({e: int(n) for (e,), n in p.terms()} for p in (T, U))  # type: ignore[union-attr]
    return first, second


def _sum(p: Polynomial, q: Polynomial, scale: int) -> Polynomial:
    return {M: c for M in p.keys() | q.keys() if (c := p.get(M, 0) + scale * q.get(M, 0))}


def cost(*expressions: Any) -> int:
    """About how many operations expressions take, what is in them twice counted once."""
    compound = (e for e in subexpressions(expressions) if e.args)
    return sum(1 if e.is_Pow or e.is_Function else len(e.args) - 1 for e in compound)


def _state_generators(reader: FormReader) -> set[int]:
    """Generators that change with time: angles and functions, and symbols that are called like a rate or have one."""
    names = {x.name for e in reader.generators for x in e.free_symbols}
    moving = set().union(*(a.free_symbols for a in reader.angles))

    def moves(x: Any) -> bool:
        return x in moving or x.name.endswith(("_dot", "_ddot")) or x.name + "_dot" in names

    return {
        i
        for i, e in enumerate(reader.generators)
        if e.atoms(AppliedUndef, sp.Derivative) or any(moves(x) for x in e.free_symbols)
    }
