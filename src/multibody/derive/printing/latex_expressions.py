"""Expressions in LaTeX: with the names of `symbol_names`, decimals, products and sums as a person would write them."""

import re
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import sympy as sp
from sympy.printing.latex import LatexPrinter

from multibody.derive.printing.symbol_names import latex_name
from multibody.derive.printing.unicode_text import text, width

LARGEST_FRACTION = 8
"""Denominators up to this one are fractions; larger ones of twos and fives alone came from decimals."""
MAX_DIGITS = 9
"""Fractions with more digits than this, above or below, are decimals."""

DIGITS = 6
"""Decimals with more digits than that are written with so many."""
MAX_REARRANGED_OPERATIONS = 30
"""Operations of expressions beyond which they are not multiplied out and factored to find the shortest form."""


def decimals(x: Any) -> Any:
    """An expression or matrix in which rational numbers that came from decimals are decimals.

    >>> x, y = sp.symbols("x y")
    >>> decimals(sp.Rational(333, 1000) * x + y / 2), decimals(x / 3)
    (0.333*x + y/2, x/3)
    """
    if isinstance(x, sp.MatrixBase):
        return x.applyfunc(decimals)
    floats = {r: _rounded(r) for r in sp.sympify(x).atoms(sp.Rational) if _is_decimal(r)}
    return x.xreplace(floats) if floats else x


def is_rounded(x: Any) -> bool:
    """Whether numbers of an expression or matrix have more digits than are written."""
    return any(_is_decimal(r) and not _equal(float(_rounded(r)), r) for r in sp.sympify(x).atoms(sp.Rational))


def _rounded(r: Any) -> sp.Float:
    """A decimal as it is if it is short, with a few digits otherwise."""
    short = f"{float(r):.{MAX_DIGITS}g}"
    return sp.Float(short if _equal(float(short), r) else f"{float(r):.{DIGITS}g}")


def _equal(x: float, r: Any) -> bool:
    """Whether a float is the number but for errors of rounding."""
    return abs(x - float(r)) <= 1e-14 * abs(x)


def _is_decimal(r: Any) -> bool:
    rest = int(r.q)
    for prime in (2, 5):
        while rest % prime == 0:
            rest //= prime
    digits = len(str(max(abs(int(r.p)), int(r.q))))
    return r.q > LARGEST_FRACTION and (rest == 1 or digits > MAX_DIGITS)


@dataclass(frozen=True)
class Writer:
    """Writes expressions in LaTeX.

    Args:
        short: write cos(q1 + q2) as c_12 and sin(q1) as s_1, as books on robots do.
        taken: names of symbols: when one of them is written c_1 or s_1, cosines and sines are C_1 and S_1.

    >>> x, = sp.symbols("q_1,")
    >>> Writer(short=True)(sp.cos(x)), Writer(short=True, taken=frozenset({"c1"}))(sp.cos(x))
    ('c_{1}', 'C_{1}')
    """

    short: bool = False
    taken: frozenset[str] = frozenset()
    _printer: LatexPrinter = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_printer", _Printer(_letters(self.taken) if self.short else None))

    def __call__(self, x: Any) -> str:
        """An expression in LaTeX."""
        return self._printer.doprint(decimals(shortest(sp.sympify(x))))

    def terms(self, x: Any) -> list[str]:
        """The terms of a sum, each with its sign.

        >>> x, y = sp.symbols("x y")
        >>> Writer().terms(x - 2 * y)
        ['+x', '-2 y']
        """
        x = decimals(shortest(sp.sympify(x)))
        terms = self._printer._as_ordered_terms(x) if x.is_Add else [x] if x != 0 else []
        return [signed(self._printer.doprint(term)) for term in terms]

    def factor(self, x: Any) -> str:
        """An expression as a factor of a product: a sum in brackets."""
        x = decimals(shortest(sp.sympify(x)))
        written = self._printer.doprint(x)
        return f"\\left({written}\\right)" if x.is_Add else written


@lru_cache(maxsize=4096)
def shortest(x: Any) -> Any:
    """The shortest to write of a sum and its product form, without a sign in front of brackets where that is shorter.

    >>> k, l, r = sp.symbols("k l r")
    >>> shortest(k * r - k * l), shortest(k * (k + 1)), shortest(-k * (l - r))
    (k*(-l + r), k**2 + k, k*(-l + r))
    """
    sums = x.atoms(sp.Add)
    if not sums or sp.count_ops(x) > MAX_REARRANGED_OPERATIONS:
        return _without_sign(x)
    forms = [x]
    if not any(power.exp.is_negative for power in x.atoms(sp.Pow)):  # one fraction is easier to read than several
        forms += [sp.expand(x, power_base=False), sp.expand(x, power_base=False, trig=True)]
    if all(number.is_Integer for number in x.atoms(sp.Number)):
        forms += [sp.factor(form) for form in (x, forms[-1])]
    forms = [_without_sign(form) for form in dict.fromkeys(forms)]
    return min(forms, key=lambda form: (width(text(_PLAIN.doprint(form))), sp.count_ops(form)))


def _without_sign(x: Any) -> Any:
    """The expression with -(a - b) as (b - a), in every product."""
    if not x.args or not x.has(sp.Add):
        return x
    x = x.func(*map(_without_sign, x.args))
    if x.is_Mul and x.args[0].is_Rational and x.args[0] < 0:
        for factor in x.args:
            if factor.is_Add and any(_is_negative(term) for term in factor.args):
                others = [-other if other is x.args[0] else other for other in x.args if other is not factor]
                return sp.Mul(*others, sp.Add(*(-term for term in factor.args)))
    return x


def _is_negative(term: Any) -> bool:
    """Whether a term is written with a minus sign."""
    return bool(term.as_coeff_Mul()[0] < 0)


def signed(latex: str) -> str:
    """A term with its sign."""
    return "-" + latex[1:].lstrip() if latex.startswith("-") else "+" + latex


def joined(terms: list[str]) -> str:
    """Terms with their signs as a sum."""
    if not terms:
        return "0"
    spaced = " ".join(f"{term[0]} {term[1:]}" for term in terms)
    return spaced.removeprefix("+ ") if spaced.startswith("+") else "-" + spaced[2:]


class _Printer(LatexPrinter):
    def __init__(self, letters: dict[Any, str] | None) -> None:
        super().__init__({"mul_symbol": None, "parenthesize_super": True, "full_prec": False})
        self._letters = letters

    def _as_ordered_terms(self, expr: Any, order: Any = None) -> list[Any]:
        """The terms in the order of SymPy, but a positive one first."""
        terms = super()._as_ordered_terms(expr, order)
        first = next((k for k, term in enumerate(terms) if not _is_negative(term)), 0)
        return [terms[first], *terms[:first], *terms[first + 1 :]]

    def _print_Symbol(self, expr: Any, style: str = "plain") -> str:  # noqa: ARG002
        return latex_name(expr.name)

    def _trigonometric(self, expr: Any, exp: str | None) -> str:
        angle = expr.args[0]
        power = "" if exp is None else f"^{{{exp}}}"
        letter = self._letters.get(expr.func) if self._letters else None
        indices = _indices(angle) if letter else None
        if indices is not None:
            return f"{letter}_{{{indices}}}{power}"
        return f"\\{expr.func.__name__}{power}({self._print(angle)})"

    def _print_sin(self, expr: Any, exp: str | None = None) -> str:
        return self._trigonometric(expr, exp)

    def _print_cos(self, expr: Any, exp: str | None = None) -> str:
        return self._trigonometric(expr, exp)

    def _print_tan(self, expr: Any, exp: str | None = None) -> str:
        return self._trigonometric(expr, exp)


_PLAIN = _Printer(None)


def _letters(taken: frozenset[str]) -> dict[Any, str] | None:
    """The letters of cosines and sines, which no symbol with an index has; None when both pairs are taken."""
    used = {written[0] for name in taken if (written := latex_name(name))[1:2] == "_"}
    for letters in ("cs", "CS"):
        if used.isdisjoint(letters):
            return dict(zip((sp.cos, sp.sin), letters, strict=True))
    return None


def _indices(angle: Any) -> str | None:
    """q1 + q2 as 12, theta as θ, q1 - q2 as 1-2; None when it is another expression."""
    parts: list[tuple[int, str]] = []
    for term in sp.Add.make_args(angle):
        factor, rest = term.as_coeff_Mul()
        if factor not in (1, -1) or not isinstance(rest, sp.Symbol):
            return None
        parts.append((int(factor), rest.name))
    parts.sort(key=lambda part: (-part[0], _natural(part[1])))
    numbers = [re.fullmatch(r"(\D+?)_?(\d+)", name) for _, name in parts]
    if all(numbers) and len({match[1] for match in numbers if match}) == 1:
        names = [match[2] for match in numbers if match]
        between = "," if any(len(name) > 1 for name in names) and len(names) > 1 else ""
    else:
        names, between = [latex_name(name) for _, name in parts], "+"
    if all(sign > 0 for sign, _ in parts):
        return between.join(names)
    written = "".join(f"{'+' if sign > 0 else '-'}{name}" for (sign, _), name in zip(parts, names, strict=True))
    return written.removeprefix("+")


def _natural(name: str) -> tuple[str, int]:
    match = re.fullmatch(r"(.*?)(\d*)", name)
    return (match[1], int(match[2] or 0)) if match else (name, 0)
