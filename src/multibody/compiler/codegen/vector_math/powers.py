"""The hypotenuse and general powers."""

import math

from multibody.compiler.codegen.vector_math.cold_paths import lane_by_lane
from multibody.compiler.codegen.vector_math.vectors import Real, fma, sqrt, where

_SCALES = {"float64": (2.0**-450, 2.0**511, 2.0**600), "float32": (2.0**-40, 2.0**62, 2.0**90)}
"""Below the first and beyond the second, squares leave the range of the format; the third brings them back."""


def hypot(x: Real, y: Real) -> tuple[Real]:
    """sqrt(x² + y²), with the numbers scaled so that no square overflows or vanishes; infinite if one of them is."""
    small, large, scale = _SCALES[x.function.fmt.name]
    a, b = abs(x), abs(y)
    greater = where(a > b, a, b)
    is_small, is_large = greater < small, greater > large
    there = where(is_large, 1 / scale, where(is_small, scale, 1.0))
    back = where(is_large, scale, where(is_small, 1 / scale, 1.0))
    u, v = a * there, b * there
    length = sqrt(fma(u, u, v * v)) * back
    return (where(a.equals(math.inf) | b.equals(math.inf), math.inf, length),)


def pow(x: Real, y: Real) -> tuple[Real]:  # noqa: A001
    """x to the power y, through the C library: powers with an exponent that is not a constant are rare."""
    kind = x.function.fmt.real
    return (lane_by_lane({"double": "pow", "float": "powf"}[kind], kind, x, y),)
