"""Loops written out: what the interpreter, emitted text and derivatives make of them."""

import numpy as np
import pytest

from multibody.compiler.export.to_numpy import to_numpy
from multibody.tracing.ad import traces
from multibody.tracing.ad.api import gradient, jacobian, jvp
from multibody.tracing.ad.jacobian import jacobian_rows
from multibody.tracing.graph.unroll import unroll, unrolled
from multibody.tracing.interpret import evaluate
from multibody.tracing.record.loop import loop
from multibody.tracing.record.trace import trace

from ..laws.tools import difference, near


def newton(x):
    """Square roots."""
    return loop(6, lambda y: (y + x / y) / 2, x * 0 + 1.0)


def integrate(x):
    """A pendulum, with nested results."""

    def step(state):
        v = state["v"] - 0.1 * np.sin(state["q"]) * x[0]
        return {"q": state["q"] + 0.1 * v, "v": v}

    return loop(8, step, {"q": x[1], "v": x[2]})["q"]


def nested(x):
    """A loop in a loop, which uses what does not change, what the outer one carries, and two results at once."""
    fixed = np.exp(x[2])

    def outer(state):
        a, b = state
        c, d = loop(3, lambda s: (s[0] * fixed / (1 + a * a), s[1] + s[0]), (a, b))
        return c + d * x[0], d - c

    a, b = loop(4, outer, (x[0], x[1]))
    return a * b + a


FUNCTIONS = {"newton": newton, "integrate": integrate, "nested": nested}
X = np.array([0.6, 0.3, 0.4])


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_interpreter_and_text_compute_loops(name):
    function = FUNCTIONS[name]
    traced = trace(function, [3])
    near(evaluate(traced, X), function(X), 1e-13)
    scope = {}
    exec(to_numpy(traced), scope)
    near(scope["f"](X), function(X), 1e-13)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_derivatives_of_loops(name):
    function = FUNCTIONS[name]
    expected = np.stack([difference(lambda t, k=k: function(X + t * np.eye(3)[k])) for k in range(3)], axis=-1)
    near(jacobian(function)(X), expected, 1e-9)
    traced = trace(lambda x: jacobian(function)(x) @ x, [3])
    near(evaluate(traced, X), expected @ X, 1e-9)
    near(jvp(function)(X, X)[1], expected @ X, 1e-9)


def test_derivatives_inside_a_loop():
    def descend(x):
        return loop(5, lambda y: y - 0.1 * gradient(lambda z: np.sum((z * z - x) ** 2))(y), x * 0 + 1.0)

    near(evaluate(trace(descend, [3]), X), descend(X), 1e-13)
    inner = lambda x: loop(3, lambda y: y - 0.1 * jacobian(newton)(y) @ x, x)
    near(evaluate(trace(inner, [3]), X), inner(X), 1e-13)


def test_loops_that_do_not_depend_on_the_inputs_stay():
    def f(x):
        y = loop(50, np.sin, x)
        return gradient(lambda z: np.sum(np.sin(z) * y))(x)

    traced = trace(f, [3])
    ops = [traced.graph.op[k] for k in traced.graph.live(traced.roots)]
    assert ops.count("sin") == 3
    assert ops.count("result") == 3
    y = X
    for _ in range(50):
        y = np.sin(y)
    near(evaluate(traced, X), np.cos(X) * y, 1e-13)


def test_straight_code_is_left_alone():
    traced = trace(np.sin, [3])
    assert unroll(traced.graph, traced.roots) == traced.roots
    kept = trace(newton, [3])
    assert unrolled(kept, repeats=True) is kept
    looped = unrolled(trace(newton, [3]))
    assert not {"carry", "result"} & {looped.graph.op[k] for k in looped.graph.live(looped.roots)}
    rows = jacobian_rows(looped.graph, looped.roots, traces.leaves(looped)[0].tolist())
    assert [list(row) for row in rows] == [[0], [1], [2]]
