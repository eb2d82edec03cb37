"""Loops that stop: derivatives through what they give, and bodies of which simplifications would leave nothing."""

from typing import Any

import numpy as np
import pytest

import multibody as mb
from multibody.tracing.graph.unroll import unrolled
from multibody.tracing.interpret import evaluate
from multibody.tracing.record.trace import trace

from ..laws.tools import near

X = np.array([0.1, 0.5, 0.9, 1.1, 1.6, 0.2, 2.0])


def halves(a):
    """The sum of what is carried, from outputs that are the carried values themselves."""
    last, seen = mb.loop(5, lambda x: (0.5 * a * x, x), a, until=lambda x: x < 0.3, outputs=True)
    return last + np.sum(np.where(np.isnan(seen), 0.0, seen))


def slope(function, x, step=1e-6):
    return (function(x + step) - function(x - step)) / (2 * step)


EXPECTED = np.array([slope(halves, x) for x in X])
SECOND = np.array([slope(lambda y: slope(halves, y, 1e-4), x, 1e-4) for x in X])


def test_weights_pass_outputs_that_are_carried_values():
    near(mb.compile(mb.gradient(halves), ())(X), EXPECTED, 1e-8)
    near(mb.compile(mb.jvp(halves), (), ())(X, 1.0)[1], EXPECTED, 1e-8)
    near(mb.gradient(halves, shapes=[()])(X), EXPECTED, 1e-8)
    near(mb.compile(mb.hessian_vector(halves), (), ())(X, 1.0), SECOND, 1e-5)
    near(mb.compile(mb.hessian(halves), ())(X), SECOND, 1e-5)


def test_emitted_and_unrolled_weights_pass_outputs():
    traced = trace(mb.gradient(halves), [()])
    near(evaluate(traced, X), EXPECTED, 1e-8)
    near(evaluate(unrolled(traced), X), EXPECTED, 1e-8)
    scope: dict[str, Any] = {}
    kernel = mb.compile(mb.gradient(halves), ())
    exec(kernel.to_numpy(), scope)
    near(scope[kernel.name](X), EXPECTED, 1e-8)


# ---- bodies that simplifications would empty -------------------------------------------------------------------------


def done_at_once(x):
    return mb.loop(None, lambda c, u: 0.7 * c + u * x[1], x[0], until=lambda c: 2.0 + 0.0 * c > 1.0, xs=np.sin(x))


def asking_twice(x):
    """The body chooses by the same question: its row is never taken."""
    return mb.loop(None, lambda c, u: np.where(c < 1.0, u * x[1], 0.7 * c), x[0], until=lambda c: c < 1.0, xs=np.sin(x))


def always_one_of_two(x):
    """Samples of the inner loop are done in it, or in the outer one."""

    def body(c):
        return 0.9 * c + 0.1 * mb.loop(3, lambda y: 2 * y * x[1], 0.1 * c, until=lambda _: np.logical_not(c < 1.0))

    return mb.loop(4, body, x[0], until=lambda c: c < 1.0)


def sine_asked_cosine_used(x):
    """The question has the sine of an angle, the body its cosine."""

    def body(c):
        return 1.3 * np.cos(c) + 0.1 * mb.loop(3, lambda y: 0.3 * y * x[1], c)

    return mb.loop(7, body, x[0], until=lambda c: np.sin(c) < 0.2)


@pytest.mark.parametrize("function", [done_at_once, asking_twice, always_one_of_two, sine_asked_cosine_used])
def test_a_body_keeps_what_its_loop_lists(function):
    x = np.random.default_rng(1).uniform(0.0, 2.5, size=(9, 3))
    near(mb.compile(function, 3)(x), np.array([function(row) for row in x]))
    h = 1e-7 * np.eye(3)
    expected = np.array([[(function(row + d) - function(row - d)) / 2e-7 for d in h] for row in x])
    near(mb.compile(mb.gradient(function), 3)(x), expected, 1e-6)
