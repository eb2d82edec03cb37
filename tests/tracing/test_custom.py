"""Custom derivatives: one rule of the user serves both modes, and derivatives of derivatives."""

import numpy as np
import pytest

import multibody as mb
from multibody import InputError

from ..laws.tools import difference, near

P = np.array([0.7, 0.3, 0.5])
V = np.array([0.2, -0.4, 0.3])


def central(function, x=P):
    return np.stack([difference(lambda t, k=k: function(x + t * np.eye(3)[k])) for k in range(3)], axis=-1)


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
