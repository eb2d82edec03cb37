"""From expressions to forms: which generators and angles there are, and what is known of them."""

from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import reduce
from math import gcd, lcm
from typing import Any

import sympy as sp
from sympy.core.function import AppliedUndef
from sympy.functions.elementary.trigonometric import TrigonometricFunction

from multibody.derive.algebra.subexpressions import subexpressions
from multibody.derive.algebra.trigonometric_polynomials import (
    BITS,
    Form,
    Harmonic,
    along_angle,
    along_generator,
    by_power,
    entry,
    monomial,
    pack,
    product_to_sum,
    scaled,
    total,
    unpack,
)

MAX_EXPONENT = 1000
"""Powers and multiples of angles beyond it are not multiplied out."""


class FormReader:
    """Turns expressions into forms, all with the same generators and angles, and back.

    A symbol is a generator, and so is what is no polynomial of sines and cosines: a root, a quotient, another function.

    Args:
        expressions: all that will be read: of what every angle is a multiple, and whether numbers are floats.
        units: quadruples of symbols whose squares add up to 1.
        most: terms of the largest form.
        quotients: whether a tangent is a sine over a cosine, or a generator.
    """

    def __init__(
        self,
        expressions: Iterable[Any],
        units: Sequence[Sequence[Any]] = (),
        most: int = 20_000,
        *,
        quotients: bool = False,
    ) -> None:
        self.most, self.quotients = most, quotients
        self.generators: list[Any] = []
        self.angles: list[Any] = []
        self.relations: dict[int, tuple[int, Form]] = {}
        """By generator x: n and f, when x^n is f."""
        self.inverses: dict[int, Form] = {}
        """By generator x: f, when x is 1/f."""
        self.part, self.floats = _survey(expressions)
        self._index: dict[Any, int] = {}
        self._angle: dict[Any, int] = {}
        self._forms: dict[Any, Form] = {}
        self._trigonometric: dict[Harmonic, Any] = {}
        self._monomials: dict[int, Any] = {}
        self.know(units)

    def know(self, units: Sequence[Sequence[Any]]) -> None:
        """Use from now on that the squares of some symbols add up to 1."""
        for w, *others in units:
            squares = [scaled(self.power(self.read(x), 2), -1) for x in others]
            self.relations[self.generator(w)] = 2, total([monomial(), *squares])

    # ---- forms of expressions ----------------------------------------------------------------------------------------

    def read(self, e: Any) -> Form:
        """The form of an expression.

        Raises:
            TooLargeError: when it has too many terms.
        """
        form = self._forms.get(e)
        if form is None:
            form = self._forms[e] = self._of(e)
        return form

    def _of(self, e: Any) -> Form:
        if e.is_Symbol or isinstance(e, (AppliedUndef, sp.Derivative)):
            return self._atom(e)
        if e.is_Rational:
            return monomial(0, Fraction(int(e.p), int(e.q)))
        if e.is_Float:
            return monomial(0, _exact(e)) if e.is_finite else self._atom(e)
        if e.is_Add:
            return total(map(self.read, e.args))
        if e.is_Mul:
            result, *others = sorted(map(self.read, e.args), key=len)
            for f in others:
                result = self.times(result, f)
            return result
        if e.is_Pow:
            return self._powered(*e.args)
        if isinstance(e, (sp.sin, sp.cos)):
            return self._harmonic(self.read(e.args[0]), int(isinstance(e, sp.sin)))
        if self.quotients and type(e) in RATIOS:
            parts = ((self.read(f(e.args[0])), n) for f, n in RATIOS[type(e)])
            return reduce(self.times, (f if n > 0 else self.inverse(f) for f, n in parts))
        if e is sp.I:
            self.relations[self.generator(e)] = 2, monomial(0, -1)
            return self._atom(e)
        return self._opaque(e)

    def times(self, f: Form, g: Form) -> Form:
        """f g, where what is known of the generators is used."""
        result = product_to_sum(f, g, self.most)
        for i, (n, value) in self.relations.items():
            while len(split := by_power(result, i, n)) > 1 or (split and 0 not in split):
                pieces = [split.pop(0, Form({}))]
                for k, piece in split.items():
                    piece = scaled(piece, 1, (k % n) << (BITS * i))
                    pieces.append(self.times(piece, self.power(value, k // n)))
                result = total(pieces)
        return result

    def power(self, f: Form, n: int) -> Form:
        """f^n; n is at least 1."""
        result = f
        for bit in bin(n)[3:]:
            result = self.times(result, result)
            result = self.times(result, f) if bit == "1" else result
        return result

    def inverse(self, f: Form) -> Form:
        """1/f: a monomial with negative powers, or a generator of its own."""
        if not f.parts:
            return self._atom(sp.zoo)
        first, common = self.content(f)
        f = scaled(f, 1 / first, -common)
        if f.parts == {(0, 0): {0: 1}}:
            return monomial(-common, 1 / first)
        i = self.generator(1 / self.expanded(f))
        self.inverses[i] = f
        return monomial(pack({i: 1}) - common, 1 / first)

    def content(self, f: Form) -> tuple[Fraction, int]:
        """The number and the monomial that all terms of a form have in common; the sign is that of its last term."""
        last = max((h, M) for h, p in f.parts.items() for M in p)
        numbers = [c for p in f.parts.values() for c in p.values()]
        sign = 1 if f.parts[last[0]][last[1]] > 0 else -1
        exponents = [unpack(M) for p in f.parts.values() for M in p]
        least = {i: min(e.get(i, 0) for e in exponents) for i in set().union(*exponents)}
        return Fraction(sign * gcd(*numbers), f.den), pack(least)

    def _atom(self, e: Any) -> Form:
        return monomial(pack({self.generator(e): 1}))

    def generator(self, e: Any) -> int:
        """The number of a generator, a new one if there is none for the expression."""
        if e not in self._index:
            self._index[e] = len(self.generators)
            self.generators.append(e)
        return self._index[e]

    def _powered(self, base: Any, exponent: Any) -> Form:
        if exponent.is_Float and _exact(exponent).denominator <= MAX_EXPONENT:
            exponent = sp.Rational(_exact(exponent))
        if not exponent.is_Rational or abs(exponent) > MAX_EXPONENT:
            return self._opaque(sp.Pow(base, exponent, evaluate=False))
        f = self.read(base)
        whole, rest = divmod(int(exponent.p), int(exponent.q))
        result = monomial()
        if whole:
            result = self.power(f if whole > 0 else self.inverse(f), abs(whole))
        if rest:
            root: Any = sp.Pow(self.expanded(f), sp.Rational(1, exponent.q))
            if root.is_Pow and root.exp == sp.Rational(1, exponent.q):
                self.relations[self.generator(root)] = int(exponent.q), f
                result = self.times(result, monomial(pack({self.generator(root): rest})))
            else:
                result = self.times(result, self.power(self.read(root), rest))
        return result

    def _harmonic(self, angle: Form, s: int) -> Form:
        K: dict[int, int] = {}
        turn = Fraction(0)
        for h, M, c in angle.terms():
            atom = self.trigonometric(h) * self.monomial(M)
            if atom == sp.pi:
                turn = c
                continue
            if (c * self.part).denominator > 1 or abs(c) > MAX_EXPONENT:
                atom, c = sp.Rational(abs(c)) * atom, Fraction(1 if c > 0 else -1)
            if atom not in self._angle:
                self._angle[atom] = len(self.angles)
                self.angles.append(atom)
            K[self._angle[atom]] = int(c * self.part)
        if not turn:
            return monomial(0, 1, pack(K), s)
        cosine, sine = self._constant(sp.cos(sp.pi * turn)), self._constant(sp.sin(sp.pi * turn))
        same, other = monomial(0, 1, pack(K), s), monomial(0, 1 if s else -1, pack(K), 1 - s)
        return total([self.times(same, cosine), self.times(other, sine)])

    def _constant(self, e: Any) -> Form:
        return self._atom(e) if isinstance(e, (sp.sin, sp.cos)) else self.read(e)

    def _opaque(self, e: Any) -> Form:
        if not e.args or not all(isinstance(a, sp.Expr) for a in e.args):
            return self._atom(e)
        tidy = e.func(*(self.expanded(self.read(a)) for a in e.args))
        return self._atom(tidy) if type(tidy) is type(e) else self.read(tidy)

    # ---- what is done with forms -------------------------------------------------------------------------------------

    def derivative(self, f: Form, x: Any) -> Form:
        """∂f/∂x, by a symbol; other symbols do not depend on it."""
        pieces = []
        for i, e in enumerate(self.generators[:]):
            if x in e.free_symbols and (slope := along_generator(f, i)).parts:
                pieces.append(slope if e == x else self.times(slope, self._slope(i, x)))
        for j, e in enumerate(self.angles[:]):
            if x in e.free_symbols and (slope := along_angle(f, j)).parts:
                slope = scaled(slope, Fraction(1, self.part))
                pieces.append(slope if e == x else self.times(slope, self.read(sp.diff(e, x))))
        return total(pieces)

    def _slope(self, i: int, x: Any) -> Form:
        if i not in self.inverses:
            return self.read(sp.diff(self.generators[i], x))
        return scaled(self.times(monomial(pack({i: 2})), self.derivative(self.inverses[i], x)), -1)

    def numerator(self, f: Form) -> Form:
        """The form times all denominators in it: it is zero when the form is zero."""
        for i in sorted(self.relations):
            least = min((entry(M, i) for p in f.parts.values() for M in p), default=0)
            if least < 0:
                f = self.times(f, monomial(pack({i: -least})))
        for i in sorted(self.inverses, reverse=True):  # one can be in the denominator of those after it
            split = by_power(f, i)
            most = max(split, default=0)
            if most > 0:
                raised = [monomial(), *(self.power(self.inverses[i], k) for k in range(1, most + 1))]
                f = total([self.times(piece, raised[most - k]) for k, piece in split.items()])
        return f

    # ---- and expressions of forms ------------------------------------------------------------------------------------

    def expanded(self, f: Form) -> Any:
        """The expression of a form, a plain sum."""
        terms = [self.number(c) * self.monomial(M) * self.trigonometric(h) for h, M, c in f.terms()]
        return sp.Add(*terms)

    def number(self, c: Fraction) -> Any:
        """A number, exact if all that was read was."""
        if c.denominator == 1:
            return sp.Integer(c.numerator)
        return sp.Float(c.numerator / c.denominator) if self.floats else sp.Rational(c.numerator, c.denominator)

    def monomial(self, M: int) -> Any:
        """x^M."""
        if M not in self._monomials:
            self._monomials[M] = sp.Mul(*(self.generators[i] ** e for i, e in unpack(M).items()))
        return self._monomials[M]

    def trigonometric(self, h: Harmonic) -> Any:
        """cos(K·θ) or sin(K·θ)."""
        if h not in self._trigonometric:
            K, s = h
            angle = sp.Add(*(sp.Rational(k, self.part) * self.angles[i] for i, k in unpack(K).items()))
            self._trigonometric[h] = (sp.sin if s else sp.cos)(angle)
        return self._trigonometric[h]


RATIOS: dict[Any, tuple[tuple[Any, int], ...]] = {
    sp.tan: ((sp.sin, 1), (sp.cos, -1)),
    sp.cot: ((sp.cos, 1), (sp.sin, -1)),
    sp.sec: ((sp.cos, -1),),
    sp.csc: ((sp.sin, -1),),
}
"""Functions that are quotients of sines and cosines, with the powers of these."""


def _exact(x: Any) -> Fraction:
    """The decimal number that a float is written as, with 15 digits: the rounding of a product before is not in it."""
    return Fraction(f"{float(x):.15g}")


def _survey(expressions: Iterable[Any]) -> tuple[int, bool]:
    """The number of which every angle's multiple is a whole part, and whether there are floats."""
    part, floats = 1, False
    for e in subexpressions(expressions):
        floats = floats or bool(e.is_Float)
        if isinstance(e, TrigonometricFunction):
            for c in e.args[0].as_coefficients_dict().values():
                wider = lcm(part, (_exact(c) if c.is_Float else Fraction(int(c.p), int(c.q))).denominator)
                part = wider if wider <= MAX_EXPONENT else part
    return part, floats
