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


# ---- rounding --------------------------------------------------------------------------------------------------------


def floor_divide(x: Any, y: Any) -> Any:
    """x / y rounded down, from the exact remainder, consistent with np.mod."""
    remainder = np.fmod(x, y)
    below = (remainder != 0.0) & ((remainder < 0.0) != (y < 0.0))
    ratio = x / y
    whole = np.rint((x - remainder) / y - np.where(below, 1.0, 0.0))
    zero = np.where(signbit(ratio), -0.0, 0.0)
    return np.where(y == 0.0, ratio, np.where(whole == 0.0, zero, whole))


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
    return np.where(x != x, y, np.where(y != y, x, np.minimum(x, y)))


def fmax(x: Any, y: Any) -> Any:
    """The larger one, ignoring NaN."""
    return np.where(x != x, y, np.where(y != y, x, np.maximum(x, y)))


def nan_to_num(self: TracedArray, x: Any, *, nan: Any = 0.0, posinf: Any = None, neginf: Any = None) -> Any:
    """Numbers in place of NaN and infinities."""
    x = numbers(self, x)
    limits = np.finfo(self.float_dtype)
    high, low = (limits.max if posinf is None else posinf), (limits.min if neginf is None else neginf)
    finite = np.where(x == math.inf, float(high), np.where(x == -math.inf, float(low), x))
    return np.where(np.isnan(x), nan, finite)


def isclose(self: TracedArray, a: Any, b: Any, rtol: float = 1e-5, atol: float = 1e-8) -> Any:
    """|a - b| <= atol + rtol |b|, or the same infinity."""
    x, y = numbers(self, a), numbers(self, b)
    return (x == y) | ((np.abs(x - y) <= atol + rtol * np.abs(y)) & np.isfinite(y))


# ---- exponentials ----------------------------------------------------------------------------------------------------


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


_DEFINED = (floor_divide, signbit, copysign, heaviside, fmin, fmax, arctanh, arcsinh, arccosh)
COMPOSED: dict[np.ufunc, Callable[..., Any]] = {
    np.square: lambda x: x * x,
    np.reciprocal: lambda x: 1.0 / x,
    np.arctan: lambda x: np.arctan2(x, 1.0),
    **dict.fromkeys((np.deg2rad, np.radians), lambda x: x * (math.pi / 180)),
    **dict.fromkeys((np.rad2deg, np.degrees), lambda x: x * (180 / math.pi)),
    np.ceil: lambda x: -np.floor(-x),
    np.trunc: lambda x: np.where(x < 0.0, -np.floor(-x), np.floor(x)),
    np.isnan: lambda x: x != x,
    np.isfinite: lambda x: np.abs(x) < math.inf,
    np.isinf: lambda x: np.abs(x) == math.inf,
    np.exp2: lambda x: np.power(2.0, x),
    np.log2: lambda x: np.log(x) * (1 / math.log(2)),
    np.log10: lambda x: np.log(x) * (1 / math.log(10)),
    np.divmod: lambda x, y: (floor_divide(x, y), np.mod(x, y)),
    **{getattr(np, function.__name__): function for function in _DEFINED},
}
"""The composition of each ufunc."""
