"""Derivatives of loops, in both modes and of second order: against differences, and against the loop written out."""

import numpy as np
import pytest

import multibody as mb
from multibody.tracing.ad import checkpoints
from multibody.tracing.ad.memory_limit import limits
from multibody.tracing.graph.loop_nodes import AFTER
from multibody.tracing.record.trace import trace

from ..every_law import each_case
from ..laws.tools import difference, near
from ..sampling import sampled


def simple(x):
    return mb.loop(20, lambda y: np.sin(y) * x[0] + x[1] * 0.5, x[2])


def stopped(x):
    """The number of rounds is that of the sample, and no small change changes it."""
    return mb.loop(20, lambda y: np.sin(y) * x[0] + x[1] * 0.2, x[2] + 1.0, until=lambda y: y < 0.3)


def rows(x):
    return mb.loop(None, lambda y, u: np.sin(y) + u * y, 0.3, xs=np.stack([x[0], x[1] * x[2], x[0] ** 2, x[2]]))


def stopped_rows(x):
    return mb.loop(None, lambda y, u: np.sin(y) + u * y, x[0], xs=np.concatenate([x, x, x]), until=lambda y: y > 1.5)


def outputs(x):
    return np.sum(mb.loop(None, lambda y, u: (np.sin(y) + u * y, y * u), 0.3, xs=x, outputs=True)[1] ** 2)


def read_again(x):
    """A loop reads what another has kept."""
    _, ys = mb.loop(8, lambda y: (np.cos(y) * x[0] + x[1], y * x[2]), x[2], outputs=True)
    return mb.loop(None, lambda s, y: 0.5 * s + y * y, x[0], xs=ys)


def nested(x):
    scale = np.exp(x[2])

    def outer(c, u):
        a, b = c
        t = mb.loop(6, lambda t: 0.5 * t + scale * a * u[0], b, until=lambda t: t > 2.5)
        return 0.9 * a + 0.1 * t, t - b * np.cos(a)

    a, b = mb.loop(7, outer, (x[0], x[1] * x[0]), xs=np.stack([x[:2] * k for k in range(7)]))
    return a * b + a


def branching(x):
    """What a choice does not take contributes nothing, though its slope be infinite."""

    def body(c):
        y, high = c
        y = np.where(y > 0.5, np.sqrt(np.abs(y - 0.5)), y + 0.3 * x[1])
        return y * x[0], high | (y > 0.6)

    y, high = mb.loop(9, body, (x[2], x[2] > 9))
    return np.where(high, y, 2 * y)


def siblings(x):
    first = mb.loop(5, lambda y: np.sin(y) + x[0], x[1])
    second = mb.loop(6, lambda y: y * first * 0.3 + 0.1, first)
    return first * second + mb.loop(4, lambda y: 0.3 * y + second * x[2], 0.0)


def invariant(x):
    """An inner loop that does not depend on the outer one, and a carried value that nothing depends on."""

    def body(c):
        t = mb.loop(5, lambda t: 0.5 * np.cos(t) + x[0], x[1])
        return c[0] * t * 0.9 + x[2], c[1] + 1.0

    return mb.loop(6, body, (x[0], 0.0))[0]


FUNCTIONS = [simple, stopped, rows, stopped_rows, outputs, read_again, nested, branching, siblings, invariant]
X = np.array([0.6, 0.3, 0.4])
V = np.array([0.3, -0.2, 0.5])


def central(function, x=X):
    """The gradient by differences that are right to some 1e-10."""
    return np.stack([difference(lambda t, k=k: function(x + t * np.eye(3)[k])) for k in range(3)], axis=-1)


@pytest.mark.parametrize("tape", [2**20, 30], ids=["stored", "checkpoints"])
@pytest.mark.parametrize("function", sampled(FUNCTIONS), ids=lambda f: f.__name__)
def test_both_modes_and_second_order(function, tape, monkeypatch):
    monkeypatch.setattr(limits, "tape", tape)
    expected = central(function)
    near(mb.gradient(function)(X), expected, 1e-8)
    kernel = mb.compile(mb.gradient(function), 3)
    near(kernel(X), expected, 1e-8)
    batch = X + 1e-3 * np.random.default_rng(0).normal(size=(19, 3))
    for k, row in enumerate(kernel(batch)):
        assert row.tobytes() == kernel(batch[k]).tobytes()
    near(mb.compile(mb.jvp(function), 3, 3)(X, V)[1], expected @ V, 1e-8)
    two = lambda x: np.stack([function(x), np.sin(function(x))])
    near(mb.compile(mb.jacobian(two), 3)(X)[0], expected, 1e-8)
    second = central(mb.gradient(function)) @ V
    near(mb.compile(mb.hessian_vector(function), 3, 3)(X, V), second, 1e-7)
    near(mb.compile(mb.gradient(lambda x: mb.gradient(function)(x) @ V), 3)(X), second, 1e-7)


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_equal_those_of_the_loop_in_python(function, monkeypatch):
    """To rounding: the same operations, written out as the for loop in Python runs them."""

    def plainly(count, body, carry, until=None, xs=None, outputs=False, **_):
        done, ys = False, []
        tree = xs is not None
        rounds = len(xs) if tree else count
        for k in range(rounds):
            if until is not None:
                asked = until(carry)
                done = asked if done is False else done | asked
            after = body(carry, xs[k]) if tree else body(carry)
            after, y = after if outputs else (after, None)
            ys.append(y)
            held = lambda a, b, done=done: b if done is False else np.where(done, a, b)
            carry = tuple(map(held, carry, after)) if isinstance(carry, tuple) else held(carry, after)
        return (carry, np.stack(ys)) if outputs else carry

    looped = mb.compile(mb.gradient(function), 3)(X)
    monkeypatch.setattr(mb, "loop", plainly)
    near(mb.compile(mb.gradient(function), 3)(X), looped, 1e-12)


@pytest.mark.parametrize("mode", [mb.gradient, mb.jacobian, mb.vjp], ids=["gradient", "jacobian", "vjp"])
def test_the_code_does_not_grow(mode):
    def function(rounds):
        return lambda x: mb.loop(rounds, lambda y: np.sin(y) * x[0], x[1])

    shapes = [2, ()] if mode is mb.vjp else [2]
    kernels = [mb.compile(mode(function(rounds)), *shapes) for rounds in (50, 50_000)]
    assert kernels[0].ops == kernels[1].ops


def test_the_value_is_shared():
    """The function and its gradient together run the loop once, and keep what they carry."""
    kernel = mb.compile(mb.vjp(lambda x: mb.loop(50, lambda y: np.sin(y) * x, x)), (), ())
    assert kernel.ops["sin"] == 2, "one in the loop, one in the loop that goes back"
    traced = trace(mb.jvp(lambda x: mb.loop(50, lambda y: np.sin(y) * x, x)), [(), ()])
    ops = [traced.graph.op[k] for k in traced.graph.live(traced.roots)]
    assert ops.count("sin") == 1


def test_only_what_is_asked_for_is_carried():
    """Of a loop, changes of what depends on the input alone; of what it keeps, what the gradient needs."""

    def function(x):
        a, _, c = mb.loop(9, lambda c: (c[0] * x, c[1] + 1.0, np.cos(c[2])), (x, 0.0, 0.5))
        return a + c

    traced = trace(mb.jvp(function), [(), ()])
    graph = traced.graph
    carried = [k for k in graph.live(traced.roots) if graph.op[k] == "carry"]
    assert len(carried) == 3, "a, its change, and c"


def test_checkpoints_store_the_square_root(monkeypatch):
    """A loop of 10,000 rounds keeps 100 states, and 100 of the inner rounds at a time."""
    function = lambda x: mb.loop(10_000, lambda y: y + 1e-4 * np.sin(y) * x, x)
    monkeypatch.setattr(limits, "tape", 2**14)
    traced = trace(mb.gradient(function), [()])
    graph = traced.graph
    order = graph.live(traced.roots)
    loops = {graph.value[k][0] for k in order if graph.op[k] in AFTER}
    assert sum(graph.loop_at(n).iterations for n in loops if graph.loop_at(n).outputs) <= 2 * 100
    assert max(graph.loop_at(n).iterations for n in loops) == 100
    x = np.array(0.7)
    near(mb.compile(mb.gradient(function), ())(x), difference(lambda t: function(x + t)), 1e-8)


@each_case("rounds", [*range(4, 60), 997, 1000, 10_000])
def test_lengths_of_checkpoints(rounds):
    outer, inner = checkpoints.lengths(rounds)
    assert (outer - 1) * inner < rounds <= outer * inner
    assert outer + inner <= 2 * np.sqrt(rounds) + 1


@pytest.mark.parametrize("rounds", [5, 7, 11, 25, 30])
def test_checkpoints_of_all_lengths(rounds, monkeypatch):
    function = lambda x: mb.loop(
        None, lambda y, u: np.sin(y) * x[0] + u, x[1], xs=np.stack([x * k for k in range(rounds)])[:, 2]
    )
    expected = mb.gradient(function)(X)
    monkeypatch.setattr(limits, "tape", 8)
    near(mb.compile(mb.gradient(function), 3)(X), expected, 1e-13)


def test_the_limit_is_a_setting(monkeypatch):
    monkeypatch.setattr(limits, "tape", limits.tape)
    mb.config.tape = 1234
    assert limits.tape == mb.config.tape == 1234
    with pytest.raises(mb.InputError, match=r"config\.tape: expected a number of bytes, got -1"):
        mb.config.tape = -1


def test_samples_with_other_numbers_of_rounds():
    """Each through its own rounds, as if it were alone."""
    function = lambda x: mb.loop(60, lambda y: 0.9 * y + 0.0005 * x[1], x[0], until=lambda y: y < 0.5)
    x = np.random.default_rng(0).uniform(0.1, 60.0, (101, 3))
    kernel = mb.compile(mb.gradient(function), 3)
    gradients = kernel(x)
    for k in range(0, 101, 7):
        near(gradients[k], mb.gradient(function)(x[k]), 1e-13)
    assert len(np.unique(gradients[:, 0])) > 10


def test_nan_stays_in_its_lane():
    function = lambda x: mb.loop(60, lambda y: 0.9 * y + 0.01 * x[1], x[0], until=lambda y: y < 0.5)
    kernel = mb.compile(mb.gradient(function), 3)
    x = np.random.default_rng(0).uniform(0.1, 60.0, (9, 3))
    expected = kernel(x)
    x[4, 0] = np.nan
    others = np.arange(9) != 4
    assert kernel(x)[others].tobytes() == expected[others].tobytes()


def test_float32():
    function = lambda x: mb.loop(30, lambda y: np.sin(y) * x[0] + x[1] * 0.5, x[2], until=lambda y: y < 0.31)
    kernel = mb.compile(mb.gradient(function), 3, dtype=np.float32)
    near(kernel(X.astype(np.float32)), mb.gradient(function)(X), 1e-5)
