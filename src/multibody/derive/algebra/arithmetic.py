"""Expressions run as NumPy: numbers, arrays or traced arrays in place of the symbols.

A walk over the expressions instead of generated source: nothing is printed, parsed or imported, and a kernel of
`mb.compile` comes out the same, as its graph shares what is common.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import reduce
from operator import add, mul
from typing import Any

import numpy as np
import sympy as sp

from multibody.errors import InputError

FUNCTIONS: dict[Any, Callable[..., Any]] = {
    sp.sin: np.sin,
    sp.cos: np.cos,
    sp.tan: np.tan,
    sp.asin: np.arcsin,
    sp.acos: np.arccos,
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


def evaluate(expressions: Sequence[Any], values: Mapping[Any, Any]) -> list[Any]:
    """The values of expressions; what is in several of them is computed once.

    Args:
        expressions: of SymPy.
        values: by symbol, or by anything else that stands in the expressions.

    >>> x, y = sp.symbols("x y")
    >>> evaluate([x * sp.sin(y) / 2, x**-2], {x: 2.0, y: np.pi / 2})
    [np.float64(1.0), 0.25]
    """
    known = dict(values)
    return [_value(sp.sympify(e), known) for e in expressions]


def _value(e: Any, known: dict[Any, Any]) -> Any:
    if e in known:
        return known[e]
    if e.is_number:
        result = float(e)
    elif e.is_Add:
        result = _sum(e, known)
    elif e.is_Mul:
        result = _product(e, known)
    elif e.is_Pow:
        result = _power(_value(e.base, known), e.exp, known)
    elif type(e) in FUNCTIONS:
        result = FUNCTIONS[type(e)](*(_value(a, known) for a in e.args))
    else:
        raise InputError(f"{e}: there is no value for it among {', '.join(map(str, known)) or 'none'}")
    known[e] = result
    return result


def _sum(e: Any, known: dict[Any, Any]) -> Any:
    negative = [a for a in e.args if a.could_extract_minus_sign()]
    positive = [_value(a, known) for a in e.args if a not in negative]
    taken = [_value(-a, known) for a in negative]
    if not positive:
        return -reduce(add, taken)
    return reduce(lambda total, x: total - x, taken, reduce(add, positive))


def _product(e: Any, known: dict[Any, Any]) -> Any:
    above = [a for a in e.args if not _divides(a)]
    below = [_value(1 / a, known) for a in e.args if _divides(a)]
    result = reduce(mul, (_value(a, known) for a in above), 1.0) if above else 1.0
    return result / reduce(mul, below) if below else result


def _divides(e: Any) -> bool:
    return bool(e.is_Pow and e.exp.is_Rational and e.exp < 0)


def _power(x: Any, exponent: Any, known: dict[Any, Any]) -> Any:
    if exponent.is_Rational and exponent < 0:
        return 1 / _power(x, -exponent, known)
    if exponent == sp.Rational(1, 2):
        return np.sqrt(x)
    return x ** (int(exponent) if exponent.is_Integer else _value(exponent, known))
