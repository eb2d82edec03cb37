"""Sine, cosine and tangent: one range reduction and two polynomials, both for every lane.

The angle's magnitude is n π/2 + r with |r| <= π/4. π/2 comes in parts (Cody and Waite, Software Manual for the
Elementary Functions, 1980) such that each subtraction of n times a part is exact until the result has its final size:
full parts if products are fused, otherwise short ones, whose products are exact. This bounds n, so angles beyond the
limit take the cold path. For an angle near a multiple of π/2, r is small, and the last part still gives all its digits.
"""

import math
from typing import NamedTuple

from multibody.compiler.codegen.vector_math.coefficients import COSINE, HALF_PI, HALF_PI_SHORT, SINE
from multibody.compiler.codegen.vector_math.cold_paths import exit_if_any, lane_by_lane
from multibody.compiler.codegen.vector_math.function import Function
from multibody.compiler.codegen.vector_math.vectors import Bits, Mask, Real, fma, polynomial, where

LIMIT = {
    ("float64", True): 2.0**30,
    ("float64", False): 2.0**22,
    ("float32", True): 2.0**16,
    ("float32", False): 2.0**10,
}
"""The largest angle of the common path, for a format, with and without fused products."""


class _Angle(NamedTuple):
    """An angle modulo π/2, with sine and cosine of the remainder."""

    sine: Real
    cosine: Real
    odd: Bits
    """The highest bit is set if the multiple of π/2 is odd."""
    half: Bits
    """The highest bit is set if the multiple is 2 or 3 modulo 4."""


def _reduce(x: Real) -> _Angle:
    fmt = x.function.fmt
    parts = (HALF_PI if x.function.tiling.fma else HALF_PI_SHORT)[fmt.name]
    r = abs(x)
    shifted = fma(r, 2 / math.pi, fmt.shift)
    n = shifted - fmt.shift
    for part in parts:
        r = fma(n, -part, r)
    z = r * r
    sine = fma(r * z, polynomial(z, SINE), r)
    cosine = fma(z, fma(z, polynomial(z, COSINE), -0.5), 1.0)
    n_bits = shifted.bits
    return _Angle(sine, cosine, n_bits << (fmt.width - 1), n_bits << (fmt.width - 2))


def _sine(angle: _Angle, x: Real) -> Real:
    return where(angle.odd.negative, angle.cosine, angle.sine).signed(angle.half ^ x.bits)


def _cosine(angle: _Angle) -> Real:
    return where(angle.odd.negative, angle.sine, angle.cosine).signed(angle.half ^ angle.odd)


def _is_huge(x: Real) -> Mask:
    return abs(x) > _limit(x.function)


def _limit(function: Function) -> float:
    return LIMIT[function.fmt.name, function.tiling.fma]


def sin(x: Real) -> tuple[Real]:
    """The sine."""
    result = _sine(_reduce(x), x)
    exit_if_any(_is_huge(x), "sin_huge", x, result)
    return (result,)


def cos(x: Real) -> tuple[Real]:
    """The cosine."""
    result = _cosine(_reduce(x))
    exit_if_any(_is_huge(x), "cos_huge", x, result)
    return (result,)


def sincos(x: Real) -> tuple[Real, Real]:
    """Sine and cosine, equal bit for bit to `sin` and `cos`."""
    angle = _reduce(x)
    results = _sine(angle, x), _cosine(angle)
    exit_if_any(_is_huge(x), "sincos_huge", x, *results)
    return results


def tan(x: Real) -> tuple[Real]:
    """The tangent: s / c, or -c / s."""
    angle = _reduce(x)
    odd = angle.odd.negative
    quotient = where(odd, angle.cosine, angle.sine) / where(odd, angle.sine, angle.cosine)
    result = quotient.signed(angle.odd ^ x.bits)
    exit_if_any(_is_huge(x), "tan_huge", x, result)
    return (result,)


def sin_huge(x: Real, common: Real) -> tuple[Real]:
    """The C library's sine in the lanes of huge angles, the common one in the others."""
    return (where(_is_huge(x), lane_by_lane("sin", "double", x), common),)


def cos_huge(x: Real, common: Real) -> tuple[Real]:
    """The C library's cosine in the lanes of huge angles, the common one in the others."""
    return (where(_is_huge(x), lane_by_lane("cos", "double", x), common),)


def sincos_huge(x: Real, common_sine: Real, common_cosine: Real) -> tuple[Real, Real]:
    """The C library's sine and cosine in the lanes of huge angles, the common ones in the others."""
    return *sin_huge(x, common_sine), *cos_huge(x, common_cosine)


def tan_huge(x: Real, common: Real) -> tuple[Real]:
    """The C library's tangent in the lanes of huge angles, the common one in the others."""
    return (where(_is_huge(x), lane_by_lane("tan", "double", x), common),)
