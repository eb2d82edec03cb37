"""Ufuncs composed of others: rounding, signs, angles, logarithms of other bases, tests for NaN and infinity.

NaN, infinities and signed zeros are as in NumPy. Accuracy in units in the last place: log2 and log10 4 (log2 of a power
of two may be no integer); arctanh, arcsinh and arccosh 8; exp2 that of the C library's pow; the others are exact or
rounded once.
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from multibody.tracing.array.traced import TracedArray, floats, numbers, refuse
from multibody.tracing.graph.graph import Graph


def composed(function: Callable[..., Any]) -> Callable[..., Any]:
    """The handler of a ufunc that is composed of others, on floats."""

    def run(graph: Graph, dtype: np.dtype[Any], *inputs: Any) -> Any:
        return function(*(TracedArray(graph, floats(graph, x), dtype) for x in inputs))

    return run


# ---- powers and angles -----------------------------------------------------------------------------------------------


def square(x: Any) -> Any:
    """x²."""
    return x * x


def reciprocal(x: Any) -> Any:
    """1 / x."""
    return 1.0 / x


def arctan(x: Any) -> Any:
    """The angle with tangent x."""
    return np.arctan2(x, 1.0)


def deg2rad(x: Any) -> Any:
    """Degrees to radians."""
    return x * (math.pi / 180)


def rad2deg(x: Any) -> Any:
    """Radians to degrees."""
    return x * (180 / math.pi)


# ---- rounding --------------------------------------------------------------------------------------------------------


def ceil(x: Any) -> Any:
    """The smallest integer that is not below x."""
    return -np.floor(-x)


def trunc(x: Any) -> Any:
    """x rounded towards zero."""
    return np.where(x < 0.0, ceil(x), np.floor(x))


def floor_divide(x: Any, y: Any) -> Any:
    """x / y rounded down, from the exact remainder, consistent with np.mod."""
    rest = np.fmod(x, y)
    below = (rest != 0.0) & ((rest < 0.0) != (y < 0.0))
    ratio = x / y
    whole = np.rint((x - rest) / y - np.where(below, 1.0, 0.0))
    zero = np.where(signbit(ratio), -0.0, 0.0)
    return np.where(y == 0.0, ratio, np.where(whole == 0.0, zero, whole))


def divmod_(x: Any, y: Any) -> tuple[Any, Any]:
    """The quotient rounded down and the remainder."""
    return floor_divide(x, y), np.mod(x, y)


def round_(self: TracedArray, x: Any, decimals: int = 0) -> Any:
    """np.round: half to even."""
    x = numbers(self, x)
    if not isinstance(decimals, int | np.integer):
        raise refuse(f"np.round: expected a number of decimals, got {decimals!r}")
    if decimals == 0:
        return np.rint(x)
    scale = 10.0 ** abs(int(decimals))
    return np.rint(x * scale) / scale if decimals > 0 else np.rint(x / scale) * scale


# ---- signs and special values ----------------------------------------------------------------------------------------


def isnan(x: Any) -> Any:
    """Whether x is NaN."""
    return x != x


def isfinite(x: Any) -> Any:
    """Whether x is finite."""
    return np.abs(x) < math.inf


def isinf(x: Any) -> Any:
    """Whether x is infinite."""
    return np.abs(x) == math.inf


def signbit(x: Any) -> Any:
    """Whether x is negative, or -0; NaN counts as positive."""
    return (x < 0.0) | (1.0 / x < 0.0)


def copysign(x: Any, y: Any) -> Any:
    """|x| with the sign of y; NaN counts as positive."""
    return np.where(signbit(y), -np.abs(x), np.abs(x))


def heaviside(x: Any, at_zero: Any) -> Any:
    """0 below zero, 1 above."""
    return np.where(x < 0.0, 0.0, np.where(x > 0.0, 1.0, np.where(x == 0.0, at_zero, x)))


def fmin(x: Any, y: Any) -> Any:
    """The smaller one, ignoring NaN."""
    return np.where(isnan(x), y, np.where(isnan(y), x, np.minimum(x, y)))


def fmax(x: Any, y: Any) -> Any:
    """The larger one, ignoring NaN."""
    return np.where(isnan(x), y, np.where(isnan(y), x, np.maximum(x, y)))


def nan_to_num(self: TracedArray, x: Any, *, nan: Any = 0.0, posinf: Any = None, neginf: Any = None) -> Any:
    """Numbers in place of NaN and infinities."""
    x = numbers(self, x)
    limits = np.finfo(self.float_dtype)
    high, low = (limits.max if posinf is None else posinf), (limits.min if neginf is None else neginf)
    tame = np.where(x == math.inf, float(high), np.where(x == -math.inf, float(low), x))
    return np.where(isnan(x), nan, tame)


def isclose(self: TracedArray, a: Any, b: Any, rtol: float = 1e-5, atol: float = 1e-8) -> Any:
    """|a - b| <= atol + rtol |b|, or the same infinity."""
    x, y = numbers(self, a), numbers(self, b)
    return (x == y) | ((np.abs(x - y) <= atol + rtol * np.abs(y)) & isfinite(y))


# ---- exponentials ----------------------------------------------------------------------------------------------------


def exp2(x: Any) -> Any:
    """2^x."""
    return np.power(2.0, x)


def log2(x: Any) -> Any:
    """The logarithm to base 2."""
    return np.log(x) * (1 / math.log(2))


def log10(x: Any) -> Any:
    """The logarithm to base 10."""
    return np.log(x) * (1 / math.log(10))


def arctanh(x: Any) -> Any:
    """log ((1 + x) / (1 - x)) / 2, accurate near 0."""
    a = np.abs(x)
    return copysign(0.5 * np.log1p(2.0 * a / (1.0 - a)), x)


def arcsinh(x: Any) -> Any:
    """log (x + sqrt(x² + 1)), accurate near 0."""
    a = np.abs(x)
    near = np.log1p(a + a * (a / (1.0 + np.hypot(1.0, a))))
    return copysign(np.where(a < 1e15, near, np.log(a) + math.log(2.0)), x)


def arccosh(x: Any) -> Any:
    """log (x + sqrt(x² - 1)), accurate near 1."""
    t = x - 1.0
    near = np.log1p(t + np.sqrt(t) * np.sqrt(x + 1.0))
    return np.where(x < 1e15, near, np.log(x) + math.log(2.0))


COMPOSED = (
    square, reciprocal, arctan, deg2rad, rad2deg, ceil, trunc, floor_divide, isnan, isfinite, isinf, signbit, copysign,
    heaviside, fmin, fmax, exp2, log2, log10, arctanh, arcsinh, arccosh,
)  # fmt: skip
"""Each stands for the ufunc of its name."""
