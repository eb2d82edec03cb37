"""Fixed points: their derivative is that of the solution, by the implicit function theorem."""

import numpy as np
import pytest

import multibody as mb

from ..laws.tools import near
from .test_custom import P, V, central


def scalar(p):
    return mb.fixed_point(lambda x: 0.5 * np.cos(x * p[0]) + p[1] * p[2], 0.0)


def pair(p):
    """Of two numbers, one of which is used."""
    step = lambda x: np.stack([0.3 * np.sin(x[1] * p[0]) + p[1], 0.2 * x[0] * x[1] + p[2]])
    return mb.fixed_point(step, np.zeros(2))[0] ** 2


def newton(p):
    """Whose own slope is zero at the solution."""
    root = mb.fixed_point(lambda x: {"y": x["y"] - (x["y"] ** 3 + x["y"] - p[0]) / (3 * x["y"] ** 2 + 1)}, {"y": 1.0})
    return root["y"] * p[1]


def in_a_loop(p):
    return mb.loop(7, lambda y: 0.5 * y + mb.fixed_point(lambda z: 0.3 * np.cos(z * y) + p[0], 0.1) * p[2], p[1])


@pytest.mark.parametrize("function", [scalar, pair, newton, in_a_loop], ids=lambda f: f.__name__)
def test_derivatives_of_fixed_points(function):
    expected = central(function)
    near(mb.compile(function, 3)(P), function(P), 1e-11)
    near(mb.gradient(function)(P), expected, 1e-8)
    near(mb.compile(mb.gradient(function), 3)(P), expected, 1e-8)
    near(mb.compile(mb.jvp(function), 3, 3)(P, V)[1], expected @ V, 1e-8)
    second = central(mb.gradient(function)) @ V
    near(mb.compile(mb.hessian_vector(function), 3, 3)(P, V), second, 1e-7)
    near(mb.compile(mb.gradient(lambda p: mb.gradient(function)(p) @ V), 3)(P), second, 1e-7)


def test_what_has_not_converged_has_no_derivative():
    function = lambda p: mb.fixed_point(lambda x: x * p + 1.0, 0.0, count=60)
    slope = mb.compile(mb.gradient(function), ())
    np.testing.assert_allclose(slope(np.array([0.1, 0.5])), 1 / (1 - np.array([0.1, 0.5])) ** 2, rtol=1e-10)
    assert np.isnan(slope(np.array([0.99, 2.0, np.nan]))).all()
    value = mb.compile(function, ())(np.array([0.99, 0.5]))
    assert np.isfinite(value).all(), "the value is that of the last round"


def test_rounds_and_tolerance():
    x, taken = mb.compile(lambda p: mb.fixed_point(np.cos, p, tolerance=1e-3, rounds=True), ())(np.array([0.5, 0.7]))
    assert (taken < 30).all()
    near(x, [0.739085] * 2, 2e-3)
    single = mb.compile(lambda p: mb.fixed_point(np.cos, p, rounds=True), (), dtype=np.float32)
    assert single(np.float32(0.5))[1] < 50


def test_no_code_for_derivatives_that_are_not_asked_for():
    plain = mb.compile(lambda p: mb.loop(30, lambda x: 0.5 * np.cos(x) + p, 0.0, until=lambda x: x > 9), ())
    fixed = mb.compile(lambda p: mb.fixed_point(lambda x: 0.5 * np.cos(x) + p, 0.0), ())
    assert fixed.ops["cos"] == plain.ops["cos"] == 1
