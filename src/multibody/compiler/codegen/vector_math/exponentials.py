"""The exponential and the natural logarithm, also of 1 + x."""

import math

from multibody.compiler.codegen.vector_math.coefficients import EXPONENTIAL, LOG_2, LOGARITHM
from multibody.compiler.codegen.vector_math.vectors import Bits, Real, fma, polynomial, where

EXP_RANGE = {"float64": (-746.0, 710.0), "float32": (-104.0, 89.0)}
"""Beyond it the exponential is zero or infinite."""


def reduce(x: Real) -> tuple[Real, Real]:
    """The integer n and r in x = n ln 2 + r; n includes the shift that puts it into the lowest bits."""
    high, low = LOG_2[x.function.fmt.name]
    shift = x.function.fmt.shift
    shifted = fma(x, 1 / math.log(2), shift)
    n = shifted - shift
    return shifted, fma(n, -low, fma(n, -high, x))


def power_of_two(n: Bits) -> Real:
    """2^n, of the lowest bits of n."""
    fmt = n.function.fmt
    return ((n << fmt.mantissa) + fmt.bits(1.0)).real


def exp(x: Real) -> tuple[Real]:
    """The exponential: 2^n e^r. The power of two has two factors, for results that are almost infinite or denormal."""
    fmt = x.function.fmt
    least, most = EXP_RANGE[fmt.name]
    x = where(x < least, least, x)
    x = where(x > most, most, x)
    n, r = reduce(x)
    value = fma(r, fma(r, polynomial(r, EXPONENTIAL), 1.0), 1.0)
    half = fma(n - fmt.shift, 0.5, fmt.shift)
    return (value * power_of_two(half.bits) * power_of_two(n.bits - half.bits),)


def log(x: Real) -> tuple[Real]:
    """The natural logarithm: k ln 2 + log m with m = 1 + f between sqrt(1/2) and sqrt(2).

    With s = f / (2 + f) and h = f²/2, log m = log (1 + s) / (1 - s) = f - (h - s (h + z p(z))), as in fdlibm's e_log.c
    (Sun Microsystems, 1993), which loses no digits near 1. Denormal numbers are scaled first.
    """
    fmt = x.function.fmt
    high, low = LOG_2[fmt.name]
    digits = fmt.mantissa + 2
    root = fmt.bits(math.sqrt(0.5))
    denormal = x < fmt.smallest_normal
    pattern = where(denormal, x * 2.0**digits, x).bits + (fmt.bits(1.0) - root)
    m = ((pattern & (1 << fmt.mantissa) - 1) + root).real
    offset = 2.0**fmt.mantissa + fmt.bias
    k = ((pattern >> fmt.mantissa) | fmt.bits(2.0**fmt.mantissa)).real - where(denormal, offset + digits, offset)
    f = m - 1.0
    s = f / (f + 2.0)
    z = s * s
    h = f * 0.5 * f
    finite = fma(k, high, f - (h - fma(s, fma(z, polynomial(z, LOGARITHM), h), k * low)))
    positive = where(x < math.inf, finite, x)
    return (where(x > 0.0, positive, where(x.equals(0.0), -math.inf, math.nan)),)


def log1p(x: Real) -> tuple[Real]:
    """log (1 + x): log u + c / u with u = 1 + x rounded, and c the rounding error."""
    u = x + 1.0
    (whole,) = log(u)
    lost = where(u > 2.0, (u - x) * -1.0 + 1.0, x - (u - 1.0))
    inside = where(u < math.inf, whole + lost / u, whole)
    return (where(u.equals(1.0), x, where(u > 0.0, inside, whole)),)
