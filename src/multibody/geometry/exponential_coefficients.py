"""The coefficients of the exponential map and its Jacobians, exact to the last digits for every angle.

    A = sin θ / θ        B = (1 - cos θ) / θ²        C = (θ - sin θ) / θ³        D = (1 - A / 2B) / θ²

A and B come from the half angle, which leaves nothing to cancel. C, D and the derivatives of B and C with respect to
x = θ² have a power series below `SERIES_BELOW`, where their closed forms lose digits.
"""

from collections.abc import Sequence
from math import factorial
from typing import Any

import numpy as np
from numpy.typing import NDArray

SERIES_BELOW = 0.25
"""θ² below which the series are used: eight terms reach the last digit there."""

_TERMS = range(8)
_C_SERIES = [(-1) ** k / factorial(2 * k + 3) for k in _TERMS]
_DB_SERIES = [(-1) ** (k + 1) * (k + 1) / factorial(2 * k + 4) for k in _TERMS]
_DC_SERIES = [(-1) ** (k + 1) * (k + 1) / factorial(2 * k + 5) for k in _TERMS]
# (1 - θ/2 cot θ/2) / θ² = Σ |B_2k| θ^(2k-2) / (2k)!, with the Bernoulli numbers B_2, B_4, ...
_BERNOULLI = (1 / 6, 1 / 30, 1 / 42, 1 / 30, 5 / 66, 691 / 2730, 7 / 6, 3617 / 510)
_D_SERIES = [b / factorial(2 * k + 2) for k, b in enumerate(_BERNOULLI)]


def half_sinc(theta: NDArray[Any]) -> NDArray[Any]:
    """sin(θ/2) / θ, which is 1/2 at zero and next to it, where θ/2 may no longer be a normal number."""
    small = np.abs(theta) < 1e-30
    return np.where(small, 0.5, np.sin(theta / 2) / np.where(small, 1.0, theta))


def a_b(theta: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """A and B at an angle of either sign."""
    s = half_sinc(theta)
    return 2 * s * np.cos(theta / 2), 2 * s * s


def a_b_squared(x: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """A and B at θ² = x, smooth at zero: no root is taken where its slope is infinite."""
    small = x < 1e-5
    a, b = a_b(np.sqrt(np.where(small, 1.0, x)))
    return np.where(small, 1 - x * (1 / 6 - x / 120), a), np.where(small, 0.5 - x * (1 / 24 - x / 720), b)


def half_angle(x: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """cos(θ/2) and sin(θ/2) / θ at θ² = x, smooth at zero."""
    small = x < 1e-5
    theta = np.sqrt(np.where(small, 1.0, x))
    cosine = np.where(small, 1 - x * (1 / 8 - x / 384), np.cos(theta / 2))
    return cosine, np.where(small, 0.5 - x * (1 / 48 - x / 3840), np.sin(theta / 2) / theta)


def c(x: NDArray[Any], a: NDArray[Any]) -> NDArray[Any]:
    """C at θ² = x."""
    return _closed_or_series(x, 1 - a, _C_SERIES)


def d(x: NDArray[Any], a: NDArray[Any], b: NDArray[Any]) -> NDArray[Any]:
    """D at θ² = x; infinite at whole turns."""
    return _closed_or_series(x, 1 - a / (2 * b), _D_SERIES)


def db(x: NDArray[Any], a: NDArray[Any], b: NDArray[Any]) -> NDArray[Any]:
    """dB/dx = (A - 2B) / 2x."""
    return _closed_or_series(x, (a - 2 * b) / 2, _DB_SERIES)


def dc(x: NDArray[Any], b: NDArray[Any], c: NDArray[Any]) -> NDArray[Any]:
    """dC/dx = (B - 3C) / 2x."""
    return _closed_or_series(x, (b - 3 * c) / 2, _DC_SERIES)


def _closed_or_series(x: NDArray[Any], numerator: NDArray[Any], coefficients: Sequence[float]) -> NDArray[Any]:
    """Numerator / x, or its series in x where that cancels. Both are finite wherever they are not used."""
    small = x < SERIES_BELOW
    y = np.where(small, x, 0.0)
    series = y * coefficients[-1] + coefficients[-2]
    for coefficient in coefficients[-3::-1]:
        series = series * y + coefficient
    return np.where(small, series, numerator / np.where(small, 1.0, x))
