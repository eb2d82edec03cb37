"""The hyperbolic functions, and e^x - 1, on which they are based."""

import math

from multibody.compiler.codegen.vector_math.coefficients import EXPONENTIAL
from multibody.compiler.codegen.vector_math.exponentials import EXP_RANGE, power_of_two, reduce
from multibody.compiler.codegen.vector_math.vectors import Real, constant, fma, polynomial, where

TANH_RANGE = {"float64": 20.0, "float32": 10.0}
"""Beyond it the hyperbolic tangent is 1."""


_SINH_LINEAR = 2.0**-30
"""Below this, sinh x rounds to x in both formats."""


def _scaled_expm1(x: Real, halvings: int) -> Real:
    """(e^x - 1) / 2^halvings = (e^r - 1) 2^(n - halvings) + (2^n - 1) / 2^halvings, powers of two in two factors."""
    fmt = x.function.fmt
    least, most = EXP_RANGE[fmt.name]
    x = where(x < least, least, x)
    x = where(x > most + 2, most + 2, x)
    n, r = reduce(x)
    n = n - float(halvings)
    half = fma(n - fmt.shift, 0.5, fmt.shift)
    first, second = power_of_two(half.bits), power_of_two(n.bits - half.bits)
    inverse = power_of_two(half.bits - n.bits)
    return fma(fma(r * r, polynomial(r, EXPONENTIAL), r), first, first - inverse * 0.5**halvings) * second


def expm1(x: Real) -> tuple[Real]:
    """e^x - 1, accurate near 0."""
    return (abs(_scaled_expm1(x, 0)).signed(x.bits),)


def sinh(x: Real) -> tuple[Real]:
    """The hyperbolic sine: h + h / (2 h + 1) with h = (e^|x| - 1) / 2."""
    h = _scaled_expm1(abs(x), 1)
    rest = where(h < math.inf, h / fma(h, 2.0, 1.0), h)
    value = (h + rest).signed(x.bits)
    return (where(abs(x) < _SINH_LINEAR, x, value),)  # half of a denormal number would lose a digit


def cosh(x: Real) -> tuple[Real]:
    """The hyperbolic cosine: (h + 1/2) + (1/2) / (2 h + 1) with h = (e^|x| - 1) / 2."""
    h = _scaled_expm1(abs(x), 1)
    return ((h + 0.5) + constant(x.function, 0.5) / fma(h, 2.0, 1.0),)


def tanh(x: Real) -> tuple[Real]:
    """The hyperbolic tangent: m / (m + 2) with m = e^(2 |x|) - 1 = 2^n (e^r - 1) + (2^n - 1), which is exact near 0."""
    most = 2 * TANH_RANGE[x.function.fmt.name]
    twice = abs(x) * 2.0
    n, r = reduce(where(twice > most, most, twice))
    power = power_of_two(n.bits)
    m = fma(fma(r * r, polynomial(r, EXPONENTIAL), r), power, power - 1.0)
    return ((m / (m + 2.0)).signed(x.bits),)
