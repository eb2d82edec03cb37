"""Quotients of trigonometric polynomials: exact division, and what is left alone."""

import numpy as np
import pytest
import sympy as sp

from multibody.derive.algebra.numpy_evaluation import numeric
from multibody.derive.algebra.quotients import MAX_PRODUCT_TERMS, denominators, divided

a, b, m = sp.symbols("a b m", real=True)


@pytest.mark.parametrize(
    ("x", "short"),
    [
        ((sp.cos(a) + sp.cos(3 * a)) / sp.cos(a), 2 * sp.cos(2 * a)),
        ((sp.cos(a) - sp.cos(3 * a)) / sp.sin(a), 2 * sp.sin(2 * a)),
        ((sp.sin(a - b) / 2 + sp.sin(a + b) / 2) / sp.cos(b), sp.sin(a)),
        (m * (1 - sp.sin(a) ** 2) / sp.cos(a) ** 2 + sp.tan(a) * sp.cos(a) / sp.sin(a), m + 1),
        (sp.sin(a) * sp.cos(b) / sp.cos(a) - sp.tan(a) * sp.cos(b), 0),
        ((a**2 + 2 * a + 1) / (1 + a), a + 1),
        ((a**2 - b**2) * sp.sin(a) / (m * (a - b)), (a + b) * sp.sin(a) / m),
        (sp.sqrt(m) * (a**2 - 1) / (a - 1), sp.sqrt(m) * (a + 1)),
    ],
)
def test_what_divides(x, short):
    assert sp.expand(divided(x, {a, b}) - short) == 0


def test_lower_powers_where_not_all_divides():
    x = (sp.sin(a) + sp.cos(b) * sp.cos(a)) / sp.cos(a) ** 2 - sp.sin(a) / sp.cos(a) ** 2
    assert divided(x, {a}) == sp.cos(b) / sp.cos(a)


@pytest.mark.parametrize("x", [1 / sp.cos(a), sp.sin(a) / sp.cos(a), sp.cos(a / 2) / sp.cos(a), a * b / m, sp.sin(a)])
def test_what_stays(x):
    assert divided(x, {a, b}) == x


def test_large_expressions_stay():
    x = sp.Add(*(sp.cos(k * a) for k in range(1, 60))) * sp.Add(*(sp.sin(k * b) for k in range(1, 60))) / sp.cos(a)
    assert MAX_PRODUCT_TERMS < 59 * 59
    assert divided(x, {a, b}) == x


def test_denominators_that_change():
    x = 1 / (m * (1 + a)) + sp.tan(b) + 1 / (1 + m)
    assert denominators(x, {a, b}) == {1 + a, sp.cos(b)}


@pytest.mark.parametrize("seed", range(10))
def test_values_do_not_change(seed):
    """A random quotient has the same value, divided out or not."""
    rng = np.random.default_rng(seed)
    waves = [sp.sin(a), sp.cos(a), sp.sin(a - 2 * b), sp.cos(b), m, a, sp.Integer(2)]

    def some(n):
        return sp.Add(*(sp.Mul(*rng.choice(waves, 2)) * int(rng.integers(-3, 4)) for _ in range(n)))

    divisor = some(2) + 3
    x = (some(3) * divisor + rng.integers(0, 2) * some(2)) / divisor**2 + some(2) / divisor
    at = {s: float(v) for s, v in zip((a, b, m), rng.uniform(0.5, 1.5, 3), strict=True)}
    before, after = (float(numeric(e, at)) for e in (x, divided(sp.expand(x), {a, b})))
    assert abs(before - after) <= 1e-11 * (1 + abs(before))
