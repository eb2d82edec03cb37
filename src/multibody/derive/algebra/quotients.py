"""Quotients of trigonometric polynomials: what divides out is divided out.

Sines and cosines become powers of z = e^iθ, in which division is that of polynomials: (cos θ - cos 3θ) / sin θ is
2 sin 2θ because its polynomial in z has that factor. The normal form alone does not see it.
"""

from collections.abc import Collection
from typing import Any

import sympy as sp
from sympy.polys.rings import PolyElement, ring

from multibody.derive.algebra.expressions_to_forms import RATIOS

MAX_PRODUCT_TERMS = 2_000
"""Terms of a numerator beyond which an expression is left as it is."""


def denominators(x: Any, changing: Collection[sp.Symbol]) -> set[Any]:
    """Denominators of an expression or matrix, as far as they depend on some symbols."""
    x = _plain(x)
    return {p.base for p in x.atoms(sp.Pow) if _divides(p) and p.base.free_symbols & set(changing)}


def divided(x: Any, changing: Collection[sp.Symbol]) -> Any:
    """An expression or matrix without the denominators that divide its numerators.

    >>> y = sp.Symbol("y", real=True)
    >>> divided((sp.cos(y) + sp.cos(3 * y)) / sp.cos(y), {y})
    2*cos(2*y)
    """
    if isinstance(x, sp.MatrixBase):
        return x.applyfunc(lambda e: divided(e, changing))
    x = _plain(x)
    divisors = sorted(denominators(x, changing), key=sp.default_sort_key)
    if not divisors:
        return x
    try:
        shorter = _Reading(x, divisors).shorter()
    except _LeftAloneError:
        return x
    return x if shorter is None else shorter


class _LeftAloneError(Exception):
    """A sine of something other than whole multiples of symbols, or too many terms."""


class _Reading:
    """An expression as a polynomial in e^iθ for its angles, in 1/Δ for its denominators, and in the rest."""

    def __init__(self, x: Any, denominators: list[Any]) -> None:
        trigonometric = {f for e in (x, *denominators) for f in e.atoms(sp.sin, sp.cos)}
        self.angles = sorted({s for f in trigonometric for s in _multiples(f.args[0])}, key=sp.default_sort_key)
        self.denominators = denominators
        rest: set[Any] = set()
        for e in (x, *denominators):
            self._others(e, rest)
        self.rest = sorted(rest, key=sp.default_sort_key)
        size = len(self.angles), len(denominators), len(self.rest)
        self.ring, *self.gens = ring([f"g{k}" for k in range(sum(size))], sp.QQ_I)
        self.first, self.others = size[0], size[0] + size[1]
        self.x = self._read(x)
        written = [p for p in x.atoms(sp.Pow) if p.exp.is_Integer]
        self.powers = [max((int(-p.exp) for p in written if p.base == e), default=0) for e in denominators]

    def _others(self, x: Any, rest: set[Any]) -> None:
        """All that is neither an angle's sine or cosine, a sum, a product, a whole power, nor a number."""
        if isinstance(x, sp.sin | sp.cos) or x.is_Rational:
            return
        if x.is_Add or x.is_Mul:
            for e in x.args:
                self._others(e, rest)
        elif x.is_Pow and x.exp.is_Integer and (x.exp > 0 or x.base in self.denominators or x.base.is_Symbol):
            self._others(x.base, rest)
        else:
            rest.add(x)

    def _read(self, x: Any) -> PolyElement:
        if x.is_Rational:
            return self.ring(sp.QQ_I(x.p) / sp.QQ_I(x.q))
        if x.is_Add:
            return sum((self._read(e) for e in x.args), self.ring.zero)
        if x.is_Mul:
            product = self.ring.one
            for e in x.args:
                product = self._product(product, self._read(e))
            return product
        if isinstance(x, sp.sin | sp.cos):
            return self._wave(x)
        if x.is_Pow and x.exp.is_Integer:
            if x.exp > 0:
                return self._power(self._read(x.base), int(x.exp))
            if x.base in self.denominators:
                return self.gens[self.first + self.denominators.index(x.base)] ** int(-x.exp)
            if x.base.is_Symbol:
                return self._monomial({self.others + self.rest.index(x.base): int(x.exp)})
        return self.gens[self.others + self.rest.index(x)]

    def _product(self, a: PolyElement, b: PolyElement) -> PolyElement:
        if len(a) * len(b) > MAX_PRODUCT_TERMS:
            raise _LeftAloneError
        return a * b

    def _power(self, base: PolyElement, exponent: int) -> PolyElement:
        product = self.ring.one
        for _ in range(exponent):
            product = self._product(product, base)
        return product

    def _wave(self, x: Any) -> PolyElement:
        turns = {self.angles.index(s): int(k) for s, k in _multiples(x.args[0]).items()}
        ahead, behind = self._monomial(turns), self._monomial({i: -k for i, k in turns.items()})
        half = sp.QQ_I(1) / sp.QQ_I(2)
        return (ahead + behind) * half if isinstance(x, sp.cos) else (ahead - behind) * (half * sp.QQ_I(0, -1))

    def _monomial(self, powers: dict[int, int]) -> PolyElement:
        """A monomial with any whole powers: negative ones, too, until something is divided."""
        return self.ring.from_dict({tuple(powers.get(i, 0) for i in range(len(self.gens))): sp.QQ_I(1)})

    def shorter(self) -> sp.Expr | None:
        """The expression with lower powers of denominators; None when none divides."""
        slots = range(self.first, self.others)
        below = [self._read(e) for e in self.denominators]
        powers = [max((m[k] for m in self.x), default=0) for k in slots]
        total = self.ring.zero
        for monomial, c in self.x.items():
            term = self.ring.from_dict({tuple(0 if i in slots else e for i, e in enumerate(monomial)): c})
            for k, slot in enumerate(slots):
                term = self._product(term, self._power(below[k], powers[k] - monomial[slot]))
            total = total + term
        left = list(powers)
        for k, divisor in enumerate(below):
            while left[k] and (quotient := self._exact(total, divisor)) is not None:
                total, left[k] = quotient, left[k] - 1
        if left == powers and all(now >= was for now, was in zip(powers, self.powers, strict=True)):
            return None
        bottom = sp.Mul(*(e**-p for e, p in zip(self.denominators, left, strict=True)))
        return self._written(total) * bottom

    def _exact(self, top: PolyElement, bottom: PolyElement) -> PolyElement | None:
        (top, up), (bottom, down) = self._raised(top), self._raised(bottom)
        quotient, remainder = top.div(bottom)
        if remainder:
            return None
        return quotient * self._monomial({i: d - u for i, (u, d) in enumerate(zip(up, down, strict=True))})

    def _raised(self, x: PolyElement) -> tuple[PolyElement, list[int]]:
        """The polynomial times the least powers without which some would be negative."""
        up = [max(0, *(-m[i] for m in x)) if x else 0 for i in range(len(self.gens))]
        return x * self._monomial(dict(enumerate(up))), up

    def _written(self, x: PolyElement) -> sp.Expr:
        terms = []
        for monomial, c in x.items():
            turns = monomial[: self.first]
            first = next((k for k in turns if k), 0)
            if first < 0:
                continue  # its conjugate says the same
            factor = sp.Mul(*(e**p for e, p in zip(self.rest, monomial[self.others :], strict=True)))
            angle = sp.Add(*(k * s for k, s in zip(turns, self.angles, strict=True)))
            real, imaginary = sp.Rational(str(c.x)), sp.Rational(str(c.y))
            twice = 2 if first else 1
            terms.append(factor * twice * (real * sp.cos(angle) - imaginary * sp.sin(angle)))
        return sp.Add(*terms)


def _plain(x: Any) -> Any:
    """Tangents and their like as quotients of sines and cosines."""
    return x.replace(lambda e: type(e) in RATIOS, lambda e: sp.Mul(*(f(e.args[0]) ** n for f, n in RATIOS[type(e)])))


def _divides(p: Any) -> bool:
    return bool(p.exp.is_Integer and p.exp < 0 and not p.base.is_Symbol)


def _multiples(angle: Any) -> dict[sp.Symbol, Any]:
    multiples: dict[Any, Any] = dict(angle.as_coefficients_dict())
    if not all(s.is_Symbol and k.is_Integer for s, k in multiples.items()):
        raise _LeftAloneError
    return multiples
