"""Functions with derivatives of their own: fixed points by the implicit function, and rules that are given."""

import numpy as np
import pytest

import multibody as mb
from multibody import InputError

from ..laws.tools import difference, near

P = np.array([0.7, 0.3, 0.5])
V = np.array([0.2, -0.4, 0.3])


def central(function, x=P):
    return np.stack([difference(lambda t, k=k: function(x + t * np.eye(3)[k])) for k in range(3)], axis=-1)


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


# ---- rules that are given --------------------------------------------------------------------------------------------


def iterate(A, b):
    """A x = b by Richardson's iteration."""
    return mb.loop(80, lambda x: x + 0.3 * (b - A @ x), b)


def weights(A, b, xbar):
    adjoint = np.linalg.solve(A.T, xbar)
    return -adjoint[:, None] * iterate(A, b)[None, :], adjoint


FORWARD = mb.custom(iterate, jvp=lambda A, b, dA, db: np.linalg.solve(A, db - dA @ iterate(A, b)))
BACK = mb.custom(iterate, vjp=weights)


def used(solve):
    def function(p):
        A = np.stack([np.stack([2.0 + p[0], p[1]]), np.stack([p[2], 1.5 + 0 * p[0]])])
        x = solve(A, p[:2] * p[2])
        return x[0] * np.sin(x[1])

    return function


@pytest.mark.parametrize("solve", [FORWARD, BACK], ids=["jvp", "vjp"])
def test_given_rules(solve):
    """Either rule serves both modes, and derivatives of derivatives."""
    function, reference = used(solve), used(iterate)
    near(mb.compile(function, 3)(P), reference(P), 1e-12)
    expected = central(reference)
    near(mb.gradient(function)(P), expected, 1e-8)
    near(mb.compile(mb.gradient(function), 3)(P), expected, 1e-8)
    near(mb.compile(mb.jvp(function), 3, 3)(P, V)[1], expected @ V, 1e-8)
    near(mb.compile(mb.hessian_vector(function), 3, 3)(P, V), central(mb.gradient(reference)) @ V, 1e-7)


def test_the_rule_is_what_counts():
    """Also where it is not that of the operations."""
    wrong = mb.custom(np.sin, jvp=lambda _, dx: 7.0 * dx)
    assert mb.gradient(wrong)(0.3) == 7.0
    assert mb.compile(mb.gradient(lambda x: mb.loop(3, wrong, x)), ())(0.3) == 343.0
    assert wrong(0.5) == np.sin(0.5)
    still = mb.custom(lambda x: x, jvp=lambda _, dx: 0.0 * dx)
    assert mb.gradient(lambda x: x * still(x))(3.0) == 3.0


def test_nested_arguments():
    rule = lambda s, ds: {"y": ds["k"] * s["x"] + s["k"] * ds["x"]}
    function = mb.custom(lambda s: {"y": s["k"] * s["x"]}, jvp=rule)
    slopes = mb.gradient(lambda s: np.sum(function(s)["y"] ** 2))({"k": 2.0, "x": np.array([1.0, 3.0])})
    near(slopes["k"], 40.0)
    near(slopes["x"], [8.0, 24.0])


def test_wrong_rules():
    with pytest.raises(InputError, match="custom: expected jvp or vjp"):
        mb.custom(np.sin)
    with pytest.raises(
        mb.TraceError, match=r"custom: jvp: expected a tangent nested as the result, of shapes \[\(3,\)\]"
    ):
        mb.gradient(lambda x: np.sum(mb.custom(np.sin, jvp=lambda _, dx: dx[:2])(x)))(P)
    with pytest.raises(mb.TraceError, match="custom: vjp: expected cotangents nested as the arguments"):
        mb.gradient(lambda x: np.sum(mb.custom(np.sin, vjp=lambda _, w: (w, w))(x)))(P)
    with pytest.raises(mb.TraceError, match="expected numbers as arguments and results, got booleans"):
        mb.compile(lambda x: np.where(mb.custom(lambda y: y > 0, jvp=lambda _, dy: dy)(x), 1.0, 2.0), 3)
