"""Derivatives of plain functions: of samples and batches, and inside other functions."""

import numpy as np
import pytest

from multibody import InputError, Pose, Rotation
from multibody.geometry import groups, so3
from multibody.tracing.ad import api
from multibody.tracing.ad.api import gradient, hessian_vector, jacobian, jvp, vjp
from multibody.tracing.interpret import evaluate
from multibody.tracing.record.trace import trace

from ..every_law import each_case
from ..laws.tools import difference, near


def cost(x):
    return np.sum(np.sin(x) ** 2, axis=-1) * x[..., 0] + np.exp(x[..., 1] * x[..., 2])


def test_functions_take_samples_and_batches():
    x, v = np.random.default_rng(4).uniform(-1, 1, (2, 4, 5, 3))
    for derivative in (jacobian, gradient):
        near(derivative(cost, shapes=[3])(x), [[derivative(cost)(x[i, j]) for j in range(5)] for i in range(4)], 0)
    products = hessian_vector(cost, shapes=[3])(x, v)
    near(products, [[hessian_vector(cost)(x[i, j], v[i, j]) for j in range(5)] for i in range(4)], 0)
    slopes = gradient(cost, shapes=[3])
    near(jvp(cost, shapes=[3])(x, v[0, 0])[1], np.sum(slopes(x) * v[0, 0], axis=-1), 1e-14)
    near(vjp(cost, shapes=[3])(x[0, 0], np.ones((4, 5)))[1], np.broadcast_to(slopes(x[0, 0]), (4, 5, 3)), 0)
    assert gradient(cost)(x[0, 0].tolist()).shape == (3,)


def test_hessian_vector_products():
    x, v = np.random.default_rng(5).uniform(-1, 1, (2, 3))
    near(hessian_vector(cost)(x, v), difference(lambda t: gradient(cost)(x + t * v)), 1e-9)
    H = jacobian(gradient(cost))(x)
    near(H, H.T, 1e-14)
    near(H @ v, hessian_vector(cost)(x, v), 1e-14)
    f = lambda p, x: p * cost(x)
    near(hessian_vector(f, argument=1, shapes=[(), 3])(2.0, x, v), 2 * H @ v, 1e-14)


def test_several_arguments_and_results():
    f = lambda q, v: (q * v[..., :1], np.sum(v, axis=-1))
    q, v = np.array([1.0, 2.0]), np.array([3.0, 4.0, 5.0])
    (a, b), (c, d) = jacobian(f, argument=(0, 1))(q, v)
    near(a, 3 * np.eye(2))
    near(b, [[1, 0, 0], [2, 0, 0]])
    near(c, [0, 0])
    near(d, [1, 1, 1])
    near(jacobian(f, argument=1)(q, v)[0], b)
    _, (dy, dtotal) = jvp(f)(q, v, np.ones(2), np.ones(3))
    near(dy, [4, 5])
    assert dtotal == 3
    _, (qbar, vbar) = vjp(f)(q, v, (np.ones(2), 2.0))
    near(qbar, [3, 3])
    near(vbar, [5, 2, 2])
    g = lambda x: {"a": x[..., 0], "b": x}
    near(vjp(g)(q, {"b": [1.0, 2.0], "a": 3.0})[1], [4, 2])


def test_matrices_are_told_by_shapes():
    A = np.random.default_rng(6).uniform(-1, 1, (4, 3, 3)) + 2 * np.eye(3)
    f = lambda A: np.trace(np.linalg.inv(A), axis1=-2, axis2=-1)
    inverse = np.linalg.inv(A)
    near(gradient(f, shapes=[(3, 3)])(A), -np.swapaxes(inverse @ inverse, -1, -2), 1e-13)


def test_single_precision_stays_single():
    assert jacobian(np.sin)(np.ones(3, dtype=np.float32)).dtype == np.float32
    assert jacobian(np.sin)(np.ones(3)).dtype == np.float64


def test_the_jacobian_of_the_exponential_map_is_the_known_one():
    phi = np.random.default_rng(7).uniform(-2, 2, (6, 3))
    dR = jacobian(so3.exp, shapes=[3])(phi)  # (6, 3, 3, 3)
    skew = np.einsum("nijk,nlj->nilk", dR, so3.exp(phi))  # dR R^T = (Γ e_k)^
    computed = np.stack([skew[:, 2, 1], skew[:, 0, 2], skew[:, 1, 0]], axis=1)
    near(computed, so3.left_jacobian(phi), 1e-13)
    near(jacobian(lambda x: Rotation.exp(x).log(), shapes=[3])(phi), np.broadcast_to(np.eye(3), (6, 3, 3)), 1e-12)
    near(jacobian(lambda x: Pose.exp(x).log())(np.full(6, 0.3)), np.eye(6), 1e-12)
    near(jacobian(lambda x: groups.SE2().log(groups.SE2().exp(x)))(np.full(3, 0.3)), np.eye(3), 1e-12)


# ---- inside other functions ------------------------------------------------------------------------------------------


def same(function, *inputs, tolerance=1e-13):
    """The function traced and plain."""
    near(evaluate(trace(function, [np.shape(x) for x in inputs]), *inputs), function(*inputs), tolerance)


X = np.array([0.3, -0.7, 1.1])


def test_derivatives_inside_a_traced_function():
    same(lambda x: jacobian(np.sin)(x) @ x, X)
    same(lambda x: gradient(cost)(2 * x) * x[0], X)
    same(lambda x: hessian_vector(cost)(x, np.cos(x)), X)
    same(lambda x: jvp(cost)(x, x * x)[1] + vjp(cost)(x, x[0])[1], X)
    same(lambda x: jacobian(gradient(cost))(x), X)
    same(
        lambda x: gradient(lambda y: np.sum(jacobian(so3.exp)(y)[..., 0, :, :] ** 2, axis=(-1, -2)))(x),
        X,
        tolerance=1e-12,
    )


def test_batches_inside_a_traced_function():
    x = np.random.default_rng(8).uniform(-1, 1, (4, 3))
    same(lambda x: gradient(cost, shapes=[3])(x), x)
    same(lambda x: jacobian(so3.exp, shapes=[3])(x), x)
    same(lambda x: jvp(cost, shapes=[3])(x, x[0])[1], x)
    same(lambda x: gradient(lambda y: cost(y) * x[0, 0], shapes=[3])(np.ones((2, 3))), x)
    near(
        evaluate(trace(gradient(cost, shapes=[3]), [(4, 3)]), np.stack([x, 2 * x])),
        gradient(cost, shapes=[3])(np.stack([x, 2 * x])),
        1e-14,
    )


def test_arguments_that_depend_on_one_another_are_independent_to_the_function():
    f = lambda y: np.sin(y[..., 0]) * y[..., 1]
    near(
        evaluate(trace(lambda x: gradient(f)(np.stack([x[0], np.sin(x[0])])), [1]), [0.3]),
        gradient(f)([0.3, np.sin(0.3)]),
    )
    near(evaluate(trace(lambda x: gradient(f)(np.stack([x[0], x[0]])), [1]), [0.3]), gradient(f)([0.3, 0.3]))
    near(evaluate(trace(lambda x: gradient(f)(np.stack([x[0], 2.0])), [1]), [0.3]), gradient(f)([0.3, 2.0]))
    same(lambda x: jvp(f)(x[:2], np.array([1.0, 0.0]))[1], X)


def test_what_the_function_takes_from_outside_is_constant():
    same(lambda x: gradient(lambda y: np.sum(x * y * y))(x), X)
    near(evaluate(trace(lambda x: gradient(lambda y: np.sum(x * y))(x), [3]), X), X)
    inner = lambda x: gradient(lambda y: y @ np.sin(x) * gradient(lambda z: x @ z * (y @ z))(x)[0])(x)
    same(inner, X)
    near(
        jacobian(inner)(X),
        np.stack([difference(lambda t, k=k: inner(X + t * np.eye(3)[k])) for k in range(3)], axis=-1),
        1e-9,
    )


def test_values_of_geometry_come_and_go():
    def f(x):
        y, dy = jvp(Pose.exp)(x, np.ones(6))
        return y.matrix[:3, :3] @ dy[0] + y.position * dy[1][..., None]

    same(f, np.linspace(0.1, 0.6, 6))


def test_the_graph_of_a_derivative_is_as_small_as_if_written_by_hand():
    traced = trace(lambda x: jacobian(lambda y: y * y)(x), [3])
    live = traced.graph.live(traced.roots)
    assert traced.graph.count(live).total() == 3  # x + x, three times
    traced = trace(lambda x: gradient(lambda y: y @ np.sin(y))(x * 0 + 1), [3])
    assert traced.graph.count(traced.graph.live(traced.roots)).total() == 0  # all constant


@each_case(
    "call, message",
    [
        (lambda: jvp(np.sin)(X), "as many directions, got 1"),
        (lambda: jvp(np.sin)(), "as many directions, got 0"),
        (lambda: vjp(np.sin)(X), "the cotangents of its result"),
        (lambda: vjp(lambda x: (x, x))(X, X[:2]), "nested as the result"),
        (lambda: vjp(lambda x: {"a": x})(X, {"b": X}), "nested as the result"),
        (lambda: jacobian(np.sin, argument=1)(X), "expected a position below 1"),
        (lambda: jacobian(np.sin, argument=0.0)(X), "expected a position below 1"),
        (lambda: jacobian(np.sin, argument=(0, 0))(X), "each once"),
        (lambda: gradient(np.sin)(X), "one number"),
        (lambda: gradient(cost)(np.ones((4, 3))), "for a batch of samples pass shapes="),
        (lambda: hessian_vector(cost)(np.ones((4, 3)), np.ones((4, 3))), "for a batch of samples pass shapes="),
        (lambda: trace(gradient(cost), [(4, 3)]), "for a batch of samples pass shapes="),
        (lambda: hessian_vector(cost)(X, np.ones((4, 3))), r"expected shape \(3,\), got \(4, 3\): for a batch"),
        (lambda: jvp(cost)(X, np.ones((4, 3))), r"expected shape \(3,\), got \(4, 3\): for a batch"),
        (lambda: vjp(cost)(X, np.ones(4)), r"expected shape \(\), got \(4,\): for a batch"),
        (lambda: trace(lambda x: vjp(cost)(x, x), [3]), r"expected shape \(\), got \(3,\): for a batch"),
        (lambda: hessian_vector(cost)(X), "and then a direction"),
        (lambda: jvp(lambda s: s["x"])({"x": X}, {"y": X}), "directions must be nested as the arguments"),
        (lambda: hessian_vector(lambda s: cost(s[0]))((X,), X), "direction must be nested as the argument"),
        (
            lambda: gradient(lambda s: cost(s["x"]), shapes=[3])({"x": X}),
            "must be nested as it is: expected a dict with keys x, got int",
        ),
        (lambda: gradient(cost)("x"), "expected real numbers"),
        (lambda: gradient(cost)(None), "expected real numbers"),
        (lambda: gradient(cost)([[1.0, 2.0], [3.0]]), "expected numbers"),
        (lambda: jvp(cost)(X, None), "expected real numbers"),
        (lambda: jacobian(np.sin, shapes=[3, 3])(X), r"one for each of 1 arguments, got \[3, 3\]"),
        (lambda: jacobian(np.sin, shapes=3)(X), "one for each of 1 arguments, got 3"),
        (lambda: jacobian(np.sin, shapes=[4])(X), r"expected an array of shape \(\.\.\., 4\)"),
        (lambda: trace(jacobian(np.sin, shapes=[4]), [3]), r"expected an array of shape \(\.\.\., 4\)"),
    ],
)
def test_wrong_arguments(call, message):
    with pytest.raises(InputError, match=message):
        call()


def test_the_door_is_documented():
    for function in (jvp, vjp, jacobian, gradient, hessian_vector):
        assert ">>>" in (function.__doc__ or "")
        assert function.__module__ == api.__name__


def test_the_exponential_map_has_a_derivative_at_zero():
    hats = np.cross(np.eye(3)[:, None], np.eye(3)).transpose(2, 1, 0)
    near(np.abs(jacobian(so3.exp)(np.zeros(3))), np.abs(hats), 1e-15)
