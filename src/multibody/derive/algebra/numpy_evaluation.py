"""Expressions run as NumPy: numbers, arrays or traced arrays in place of the symbols.

A walk over the expressions instead of generated source: nothing is printed, parsed or imported, and a kernel of
`mb.compile` comes out the same, as its graph shares what is common. It keeps a stack of its own, so that no expression
is too deep for it.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from operator import add, mul
from typing import Any

import numpy as np
import sympy as sp
from numpy.typing import NDArray

from multibody.errors import InputError

FUNCTIONS: dict[Any, Callable[..., Any]] = {
    sp.sin: np.sin,
    sp.cos: np.cos,
    sp.tan: np.tan,
    sp.asin: np.arcsin,
    sp.acos: np.arccos,
    sp.atan: np.arctan,
    sp.atan2: np.arctan2,
    sp.exp: np.exp,
    sp.log: np.log,
    sp.tanh: np.tanh,
    sp.Abs: np.abs,
    sp.sign: np.sign,
    sp.Min: lambda *x: reduce(np.minimum, x),
    sp.Max: lambda *x: reduce(np.maximum, x),
}
"""What functions of SymPy are in NumPy."""

Plan = tuple[Sequence[Any], Callable[..., Any]]
"""The parts of an expression, and the function of their values that gives its own."""


def evaluate(expressions: Sequence[Any], values: Mapping[Any, Any]) -> list[Any]:
    """The values of expressions; what is in several of them is computed once.

    Functions that are not among `FUNCTIONS` are left to SymPy, which computes them for numbers alone.

    Args:
        expressions: expressions of SymPy.
        values: by symbol, or by anything else that stands in the expressions.

    Raises:
        InputError: that names what has no value.

    >>> x, y = sp.symbols("x y")
    >>> evaluate([x * sp.sin(y) / 2, x**-2], {x: 2.0, y: np.pi / 2})
    [np.float64(1.0), 0.25]
    """
    known = dict(values)
    asked = [sp.sympify(e) for e in expressions]
    for e in asked:
        _walk(e, known)
    return [known[e] for e in asked]


def numeric(expression: Any, values: Mapping[sp.Symbol, float]) -> NDArray[np.float64]:
    """An expression or matrix as an array of floats, or 0-d.

    >>> x = sp.Symbol("x")
    >>> numeric(sp.Matrix([[x, 2 * x]]), {x: 0.5})
    array([[0.5, 1. ]])
    """
    entries = expression.flat() if isinstance(expression, sp.MatrixBase) else [expression]
    numbers = evaluate(entries, {x: np.float64(value) for x, value in values.items()})
    return np.array(numbers, dtype=float).reshape(expression.shape if isinstance(expression, sp.MatrixBase) else ())


def _walk(whole: Any, known: dict[Any, Any]) -> None:
    """Put the values of an expression and of all its parts into what is known: parts first, from left to right."""
    waiting: list[tuple[Any, Plan | None]] = [(whole, None)]
    while waiting:
        e, plan = waiting.pop()
        if plan is not None:
            parts, function = plan
            known[e] = function(*[known[part] for part in parts])
        elif e not in known:
            parts, function = _plan(e)
            waiting.append((e, (parts, function)))
            waiting += [(part, None) for part in reversed(parts)]


def _plan(e: Any) -> Plan:
    if e.is_Add:
        return _sum(e)
    if e.is_Mul:
        return _product(e)
    if e.is_Pow:
        return _power(e)
    if type(e) in FUNCTIONS:
        return e.args, FUNCTIONS[type(e)]
    return _rare(e)


def _sum(e: Any) -> Plan:
    """Sums before differences: a - b is one operation, -b + a two."""
    positive, negative = [], []
    for a in e.args:
        (negative if _is_negative(a) else positive).append(a)
    count = len(positive)
    if not negative:
        return positive, lambda *x: reduce(add, x)
    parts = [*positive, *(-a for a in negative)]
    if not positive:
        return parts, lambda *x: -reduce(add, x)
    return parts, lambda *x: reduce(lambda total, y: total - y, x[count:], reduce(add, x[:count]))


def _is_negative(e: Any) -> bool:
    number = e.args[0] if e.is_Mul else e
    return bool(number.is_Number and number.is_negative)


def _product(e: Any) -> Plan:
    above, below = [], []
    for a in e.args:
        (below if _divides(a) else above).append(a)
    count = len(above)
    if not below:
        return above, lambda *x: reduce(mul, x)
    parts = [*above, *(1 / a for a in below)]
    return parts, lambda *x: reduce(mul, x[:count], 1.0) / reduce(mul, x[count:])


def _divides(e: Any) -> bool:
    return bool(e.is_Pow and e.exp.is_Rational and e.exp.is_negative)


def _power(e: Any) -> Plan:
    x, n = e.base, e.exp
    if x.is_Number and n.is_Number:
        return (), lambda: float(e)
    if _divides(e):
        return (1 / e,), lambda y: 1 / y
    if n == sp.Rational(1, 2):
        return (x,), np.sqrt
    if n.is_Integer:
        return (x,), lambda y: y ** int(n)
    return (x, n), pow


def _rare(e: Any) -> Plan:
    """A number, or a function that is not among `FUNCTIONS`: SymPy computes it."""
    if not e.args and not e.is_number:
        raise InputError(f"{e}: there is no value for it")
    symbols = sorted(e.free_symbols, key=str)

    def by_sympy(*x: Any) -> float:
        if not all(isinstance(y, int | float) for y in x):
            raise InputError(f"{e}: there is no {type(e).__name__} of arrays or in kernels, but of numbers alone")
        try:
            return float(e.xreplace(dict(zip(symbols, map(sp.Float, x), strict=True))))
        except TypeError:
            raise InputError(f"{e}: it has no real value") from None

    return symbols, by_sympy
