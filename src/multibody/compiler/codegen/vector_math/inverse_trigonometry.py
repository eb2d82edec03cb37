"""Arc sine, arc cosine and the arc tangent of a quotient."""

from multibody.compiler.codegen.vector_math.coefficients import ARCSINE, ARCTANGENT, HALF_PI
from multibody.compiler.codegen.vector_math.vectors import Mask, Real, fma, polynomial, sqrt, where

_SMALLEST_DENORMAL = {"float64": 2.0**-1074, "float32": 2.0**-149}
"""The smallest positive number."""


def _arcsine(x: Real) -> tuple[Mask, Real, Real]:
    """Whether |x| > 1/2, and s with asin s - s: s is |x|, or sqrt((1 - |x|) / 2), for which asin |x| = π/2 - 2 asin s.

    Beyond 1, s is the root of a negative number: NaN.
    """
    magnitude = abs(x)
    large = magnitude > 0.5
    z = where(large, fma(magnitude, -0.5, 0.5), magnitude * magnitude)
    s = where(large, sqrt(z), magnitude)
    return large, s, s * z * polynomial(z, ARCSINE)


def asin(x: Real) -> tuple[Real]:
    """The arc sine: asin s, or π/2 - 2 asin s, with the sign of x."""
    half_pi = HALF_PI[x.function.fmt.name][0]
    large, s, rest = _arcsine(x)
    factor = where(large, -2.0, 1.0)
    result = fma(factor, rest, fma(factor, s, where(large, half_pi, 0.0)))
    return (result.signed(x.bits),)


def acos(x: Real) -> tuple[Real]:
    """The arc cosine: π/2 - asin x, or 2 asin s for x > 1/2, or π - 2 asin s for x < -1/2."""
    half_pi = HALF_PI[x.function.fmt.name][0]
    large, s, rest = _arcsine(x)
    factor = where(large, 2.0, -1.0).signed(x.bits)
    offset = where(large, where(x.bits.negative, 2 * half_pi, 0.0), half_pi)
    return (fma(factor, rest, fma(factor, s, offset)),)


def atan2(y: Real, x: Real) -> tuple[Real]:
    """The angle of the point (x, y): a multiple of π/2, and the arc tangent of a quotient t <= 1 added or subtracted.

    The quotients 0/0 and ∞/∞ count as 0 and 1.
    """
    name = x.function.fmt.name
    half_pi, half_pi_low, *_ = HALF_PI[name]
    a, b = abs(x), abs(y)
    steep = b > a
    smaller, larger = where(steep, a, b), where(steep, b, a)
    larger = where(larger < _SMALLEST_DENORMAL[name], _SMALLEST_DENORMAL[name], larger)
    t = where(smaller.equals(larger), 1.0, smaller / larger).signed(x.bits ^ steep.bits)
    z = t * t
    turn = where(steep, half_pi, where(x.bits.negative, 2 * half_pi, 0.0))
    rest = fma(t * z, polynomial(z, ARCTANGENT), where(steep, half_pi_low, 0.0))
    return (((turn + t) + rest).signed(y.bits),)
