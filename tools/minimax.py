"""Print src/multibody/compiler/codegen/vector_math/coefficients.json anew: `python tools/minimax.py > that file`.

Every polynomial is the best one of its degree (Remez' exchange algorithm, in 60 digits): the largest error that it
causes in the function's value, relative to that value, is as small as can be. Its coefficients are then rounded.
"""

import json
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import mpmath as mp

Real = Any
"""A number of mpmath."""


class Fit(NamedTuple):
    """A polynomial p to find on an interval, close to `target`."""

    name: str
    meaning: str
    target: Callable[[Real], Real]
    weight: Callable[[Real], Real]
    """How much an error of p(x) changes the value of the function, relatively."""
    interval: tuple[Real, Real]
    terms: dict[str, int]


def _sin(z: Real) -> Real:
    return mp.sin(mp.sqrt(z)) / mp.sqrt(z)


def _asin(z: Real) -> Real:
    return mp.asin(mp.sqrt(z)) / mp.sqrt(z)


def _atan(z: Real) -> Real:
    return mp.atan(mp.sqrt(z)) / mp.sqrt(z)


def _atanh(z: Real) -> Real:
    return mp.atanh(mp.sqrt(z)) / mp.sqrt(z)


QUARTER = (mp.mpf(0), mp.mpf("0.79") ** 2)
"""Squares of the angles that the range reduction leaves: π/4 and a little for the rounding of the quotient."""

HALF_PI = {"float64": (52, 106, 160), "float32": (23, 48, 72)}
HALF_PI_SHORT = {"float64": (30, 53, 84, 137), "float32": (13, 24, 38, 62)}
LOG_2 = {"float64": (42, 95), "float32": (16, 40)}
"""How many binary places each part of the number goes to."""

FITS = (
    Fit(
        "SINE",
        "sin r = r + r z p(z), z = r², |r| <= 0.79",
        lambda z: (_sin(z) - 1) / z,
        lambda z: z / _sin(z),
        QUARTER,
        {"float64": 6, "float32": 3},
    ),
    Fit(
        "COSINE",
        "cos r = 1 + z (-1/2 + z p(z)), z = r², |r| <= 0.79",
        lambda z: (mp.cos(mp.sqrt(z)) - 1 + z / 2) / z**2,
        lambda z: z**2 / mp.cos(mp.sqrt(z)),
        QUARTER,
        {"float64": 6, "float32": 3},
    ),
    Fit(
        "ARCSINE",
        "asin s = s + s z p(z), z = s², |s| <= 1/2",
        lambda z: (_asin(z) - 1) / z,
        lambda z: z / _asin(z),
        (mp.mpf(0), mp.mpf(1) / 4),
        {"float64": 12, "float32": 5},
    ),
    Fit(
        "ARCTANGENT",
        "atan t = t + t z p(z), z = t², |t| <= 1",
        lambda z: (_atan(z) - 1) / z,
        lambda z: z / _atan(z),
        (mp.mpf(0), mp.mpf(1)),
        {"float64": 20, "float32": 9},
    ),
    Fit(
        "EXPONENTIAL",
        "e^r - 1 = r + r² p(r), |r| <= ln 2 / 2",
        lambda r: (mp.expm1(r) - r) / r**2,
        lambda r: abs(r**2 / mp.expm1(r)),
        (mp.mpf("-0.3466"), mp.mpf("0.3466")),
        {"float64": 10, "float32": 5},
    ),
    Fit(
        "LOGARITHM",
        "log (1 + s) / (1 - s) = 2 s + s z p(z), z = s², |s| <= (√2 - 1)²",
        lambda z: 2 * (_atanh(z) - 1) / z,
        lambda z: z / _atanh(z) / 2,
        (mp.mpf(0), (mp.sqrt(2) - 1) ** 4),
        {"float64": 7, "float32": 3},
    ),
)


def polynomial(coefficients: Sequence[Real], x: Real) -> Real:
    """By Horner's scheme; the constant term comes first."""
    value = mp.mpf(0)
    for c in reversed(coefficients):
        value = value * x + c
    return value


def minimax(fit: Fit, terms: int) -> tuple[list[Real], Real]:
    """The coefficients, constant term first, and the largest weighted error."""
    low, high = fit.interval
    angles = [(k + mp.mpf(1) / 2) / (60 * terms) * mp.pi for k in range(60 * terms)]
    grid = [(low + high) / 2 - (high - low) / 2 * mp.cos(a) for a in angles]
    target = [fit.target(x) for x in grid]
    weight = [fit.weight(x) for x in grid]
    chosen = [round((k + 0.5) / (terms + 1) * len(grid)) for k in range(terms + 1)]
    while True:
        rows = [[weight[i] * grid[i] ** k for k in range(terms)] + [(-1) ** n] for n, i in enumerate(chosen)]
        *coefficients, level = mp.lu_solve(mp.matrix(rows), mp.matrix([weight[i] * target[i] for i in chosen]))
        errors = [w * (polynomial(coefficients, x) - t) for x, t, w in zip(grid, target, weight, strict=True)]
        if max(map(abs, errors)) <= abs(level) * mp.mpf("1.001"):
            return coefficients, abs(level)
        chosen = _alternating_peaks(errors, terms + 1)


def _alternating_peaks(errors: Sequence[Real], count: int) -> list[int]:
    """Where the error is largest between its changes of sign; the smaller end of the list goes if it is too long."""
    peaks: list[int] = []
    for i, error in enumerate(errors):
        if not peaks or error * errors[peaks[-1]] < 0:
            peaks.append(i)
        elif abs(error) > abs(errors[peaks[-1]]):
            peaks[-1] = i
    while len(peaks) > count:
        peaks.pop(0 if abs(errors[peaks[0]]) < abs(errors[peaks[-1]]) else -1)
    return peaks


def parts(x: Real, places: Sequence[int]) -> list[Real]:
    """Numbers whose sum is x, each with what the ones before it leave, to so many binary places."""
    found = []
    for n in places:
        found.append(mp.nint(mp.ldexp(x, n)) / mp.mpf(2) ** n)
        x -= found[-1]
    return found


def table(name: str, meaning: str, numbers: dict[str, list[Real]]) -> str:
    """The JSON of one table, with as many digits as bring back the same floats."""
    digits = {"float64": 17, "float32": 9}
    rows = [f'    "meaning": {json.dumps(meaning, ensure_ascii=False)}']
    for dtype, values in numbers.items():
        rows.append(f'    "{dtype}": [{", ".join(f"{float(x):.{digits[dtype]}g}" for x in values)}]')
    return "\n".join([f'  "{name}": {{', ",\n".join(rows), "  }"])


@mp.workdps(60)
def main() -> None:
    """Print the file."""
    tables = []
    for fit in FITS:
        fits = {dtype: minimax(fit, terms) for dtype, terms in fit.terms.items()}
        errors = ", ".join(f"2^{float(mp.log(error, 2)):.1f} ({dtype})" for dtype, (_, error) in fits.items())
        found = {dtype: coefficients for dtype, (coefficients, _) in fits.items()}
        tables.append(table(fit.name, f"{fit.meaning}. Relative error before rounding: {errors}.", found))
    for name, x, places, meaning in (
        ("HALF_PI", mp.pi / 2, HALF_PI, "π/2 in full parts, for fused products."),
        ("HALF_PI_SHORT", mp.pi / 2, HALF_PI_SHORT, "π/2 in parts whose products with the quotient are exact."),
        ("LOG_2", mp.log(2), LOG_2, "ln 2: the product of the leading part with any exponent is exact."),
    ):
        tables.append(table(name, meaning, {dtype: parts(x, n) for dtype, n in places.items()}))
    print("{", ",\n".join(tables), "}", sep="\n")


if __name__ == "__main__":
    main()
