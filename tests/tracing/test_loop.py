"""mb.loop: a loop in the kernel, whose code does not grow with its rounds, computes what the for loop computes."""

import functools
import re
import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import multibody as mb
from multibody import InputError, Pose, Rotation
from multibody.tracing import interpret
from multibody.tracing.record.trace import trace

from ..compiler.cases import arrays, cut_into
from ..every_law import each_case
from ..laws.tools import near

RNG = np.random.default_rng(0)


def newton(x):
    """A root of y^3 + y = x."""
    return mb.loop(30, lambda y: y - (y**3 + y - x) / (3 * y * y + 1), x)


def fibonacci(x):
    return mb.loop(10, lambda c: (c[1], c[0] + c[1]), (x, 2 * x))


def rotated(x):
    """Three values that change places."""
    return mb.loop(7, lambda c: {"a": c["b"], "b": c["c"], "c": c["a"]}, {"a": x, "b": 2 * x, "c": -x})


def nested(x):
    """A loop in a loop, which reads both carried values and one from outside of both."""
    s = np.sin(x)

    def outer(c):
        a, b = c
        total = mb.loop(4, lambda t: 0.5 * t + s * a, b)
        return 0.9 * a + 0.1 * total, total - b

    return mb.loop(5, outer, (x, x * x))


def deep(x):
    def level(k, y):
        return y if k == 0 else mb.loop(2, lambda z: level(k - 1, 0.5 * np.cos(z) + x * k), y)

    return level(4, x)


def siblings(x):
    """Loops one after the other; the second begins where the first ends, the third forgets both."""
    first = mb.loop(3, lambda y: np.sin(y) + x, x)
    second = mb.loop(4, lambda y: y * first + 0.1, first)
    third = mb.loop(5, lambda y: 0.3 * y + second, np.zeros_like(x))
    return first + third, second, third * x


def two_inside(x):
    def body(c):
        left = mb.loop(3, lambda y: 0.5 * y + c, c)
        right = mb.loop(2, lambda y: y * left - c, left)
        return np.tanh(left - right)

    return mb.loop(4, body, x)


def branching(x):
    """Truth values inside, carried, and from outside."""
    sign = x > 0.2

    def body(c):
        y, ever, count = c
        y = np.where(sign, 0.9 * y + 0.1, -0.8 * y)
        hit = (y > 0.5) | (y < -0.5)
        return y, ever | hit, count + np.where(hit & ~ever, 1.0, 0.0)

    y, ever, count = mb.loop(6, body, (x, x > 100, np.zeros_like(x)))
    return y, np.where(ever, y, 7.0), count, ever


def constants(x):
    """Carried values that begin as plain numbers, and one that never changes."""
    return mb.loop(4, lambda c: (c[0] + 1, c[1] + x, c[2], 3.0), (0, np.zeros(3), np.arange(3.0), x[0]))


def values(x):
    """A pose is carried as a pose."""
    step = Pose.exp(np.concatenate([x, x]) * 0.1)
    return mb.loop(8, lambda c: (c[0] @ step, [c[1][0] + c[0].position]), (Pose(Rotation.exp(x), x), [x]))


def hoisted(x):
    """Most of the body does not change from round to round."""
    return mb.loop(6, lambda y: y * 0.5 + np.exp(np.sin(x) * np.cos(x)) @ np.ones(3), x)


def partly_used(x):
    a, _, c = mb.loop(3, lambda c: (c[0] + c[1], c[1] * 0.5, c[2] + 1), (x, x, x))
    return a - c


FUNCTIONS = [
    newton, fibonacci, rotated, nested, deep, siblings, two_inside, branching, constants, values, hoisted, partly_used,
]  # fmt: skip


@pytest.mark.parametrize("dtype", [np.float64, np.float32], ids=["float64", "float32"])
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_equals_the_for_loop(function, dtype):
    kernel = mb.compile(function, 3, dtype=dtype)
    x = np.random.default_rng(0).uniform(-1, 1, (37, 3)).astype(dtype)
    computed = arrays(kernel(x))
    for k in range(37):
        alone = arrays(kernel(x[k]))
        for single, batch, expected in zip(alone, computed, arrays(function(x[k])), strict=True):
            near(single, expected, 1e-13 if dtype == np.float64 else 1e-5)
            assert single.tobytes() == batch[k].tobytes()


@each_case("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_equals_the_interpreter(function):
    x = RNG.uniform(-1, 1, (5, 3))
    for native, interpreted in zip(
        arrays(mb.compile(function, 3)(x)), arrays(interpret.evaluate(trace(function, [3]), x)), strict=True
    ):
        near(native, interpreted, 1e-13)


@pytest.mark.parametrize("rounds", [0, 1, 2, 3, 17, np.int64(5)])
def test_rounds(rounds):
    x = RNG.uniform(-1, 1, 3)
    for function in (
        lambda x: mb.loop(rounds, lambda y: y + 1.0, x),
        lambda x: mb.loop(rounds, lambda c: (c[1], c[0]), (x, 2 * x)),
        lambda x: mb.loop(rounds, lambda y: y * 0.5 + mb.loop(rounds, lambda z: z + x, y), x),
        lambda x: x + mb.loop(rounds, lambda y: np.sin(y), x),
    ):
        for native, plain in zip(arrays(mb.compile(function, 3)(x)), arrays(function(x)), strict=True):
            near(native, plain, 1e-12)


def test_the_code_does_not_grow():
    kernels = [mb.compile(lambda x, n=n: mb.loop(n, lambda y: np.sin(y) * x, x), 3) for n in (2, 200_000)]
    assert kernels[0].ops == kernels[1].ops
    assert kernels[1].ops["sin"] == 3
    assert len(kernels[0].ir) - len(kernels[1].ir) in range(-20, 20)


def test_bodies_of_all_kinds():
    class Body:
        def __call__(self, y):
            return y + 1.0

    x = np.zeros(2)
    for body in (Body(), functools.partial(np.add, 1.0), np.sin, Body().__call__):
        near(mb.compile(lambda x, body=body: mb.loop(3, body, x), 2)(x), mb.loop(3, body, x))


def test_a_body_that_closes_over_a_traced_value():
    def function(x):
        return mb.loop(4, lambda y: 0.5 * y + x, 0.0)

    kernel = mb.compile(function, ())
    assert sum(kernel.ops.values()) == 1, "one fused operation, in a loop"
    near(kernel(np.arange(5.0)), function(np.arange(5.0)))


def test_a_variable_without_a_value_yet():
    def function(x):
        result = mb.loop(3, lambda y: y + (later if y is None else 1.0), 1.0)
        later = x
        return result + later

    near(mb.compile(function, ())(2.0), 6.0)


# ---- in large graphs -------------------------------------------------------------------------------------------------


def spread(x, count=600):
    """A body, and code before and after it, of many segments; values cross into, over and out of the loop."""
    before = [x[k % 3] * (1 + 0.01 * k) for k in range(count)]
    early = np.sin(before[0]) > 0.1

    def body(c):
        a, b, flag = c
        for k in range(count):
            a, b = np.tanh(0.9 * b + 0.01 * before[k]), 0.5 * np.cos(a) + 0.1 * before[-k]
            flag = flag | (a > b)
        inner = mb.loop(2, lambda z: z * 0.5 + before[7] * a, b)
        return a + inner, np.where(early, b, inner), flag

    a, b, flag = mb.loop(3, body, (x[0], x[1], x[2] > 0))
    after = a
    for k in range(count):
        after = np.sin(0.1 * after * before[k]) + b
    return after, np.where(flag & early, a, b), np.stack(before[:5])


def test_loops_in_large_graphs():
    kernel = mb.compile(spread, 3)
    assert sum(kernel.ops.values()) > 5000
    assert len(re.findall(r"^define void @kernel\.", kernel.ir, flags=re.M)) > 5
    x = RNG.uniform(-1, 1, (70, 3))
    computed = kernel(x)
    for k in range(0, 70, 9):
        for batch, expected, single in zip(computed, spread(x[k]), kernel(x[k]), strict=True):
            near(batch[k], expected, 1e-9)
            assert batch[k].tobytes() == single.tobytes()


@pytest.mark.parametrize("length", [3, 1000])
@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 20), st.integers(0, 20), st.integers(0, 4)), max_size=12))
def test_random_nests(length, plan):
    """Loops opened and closed anywhere, reading anything that is in reach, cut into few or many segments."""

    def run(values, plan):
        values = list(values)
        while plan:
            (kind, i, j, rounds), *plan = plan
            a, b = values[i % len(values)], values[j % len(values)]
            if kind < 3:
                values.append([np.sin(a) + b, 0.5 * a * b, np.where(a < b, a, 0.3 * b)][kind])
            elif kind < 5:
                inner = plan[: i % 4]
                plan = plan[i % 4 :]
                values += mb.loop(rounds, lambda c, v=tuple(values), p=inner: body(c, v, p), (a, b))
            else:
                values = values[:1] + values[::-1]
        return values

    def body(carry, outside, plan):
        last = run([*outside, *carry], plan)
        return 0.5 * last[-1], np.tanh(last[-2] + carry[0])

    def function(x):
        return np.stack(run([x[0], x[1], x[0] * x[1]], plan)[-4:])

    kernel = cut_into(length, function, 2)
    for x in RNG.uniform(-1, 1, (3, 2)):
        near(kernel(x), function(x), 1e-9)


# ---- errors ----------------------------------------------------------------------------------------------------------


@each_case(
    "body, carry, told",
    [
        (lambda y: y[:2], lambda x: x, r"a carried value changes its shape from \(3,\) to \(2,\)"),
        (lambda y: y[None], lambda x: x, r"changes its shape from \(3,\) to \(1, 3\)"),
        (lambda y: (y, y), lambda x: x, "must return values nested as those it takes"),
        (lambda c: c[0], lambda x: (x, x), "must return values nested as those it takes"),
        (lambda c: [c[0], c[1]], lambda x: (x, x), "must return values nested as those it takes"),
        (lambda c: {"b": c["a"]}, lambda x: {"a": x}, "must return values nested as those it takes"),
        (lambda c: (c[0], 1.0 * c[1]), lambda x: (x, x > 0), "a carried boolean becomes a number"),
        (lambda y: y if y[0] > 0 else -y, lambda x: x, "a Python branch cannot depend on traced values"),
    ],
)
def test_wrong_bodies(body, carry, told):
    with pytest.raises(mb.TraceError, match=told) as error:
        mb.compile(lambda x: mb.loop(3, body, carry(x)), 3)
    assert "test_loop.py" in str(error.value), "the user's line is named"


@pytest.mark.parametrize(
    ("body", "told"),
    [(lambda c: (c, c), "must return values nested as those it takes"), (lambda _: None, "and returns None")],
)
def test_wrong_bodies_of_plain_numpy_and_of_kernels_are_told_the_same(body, told):
    with pytest.raises(mb.TraceError, match=told):
        mb.loop(3, body, np.ones(3))
    with pytest.raises(mb.TraceError, match=told):
        mb.compile(lambda x: mb.loop(3, body, x), 3)


def after(x, stash):
    return mb.loop(3, lambda y: stash(2 * y) or y + 1, x) + stash.kept


def returned(x, stash):
    mb.loop(3, lambda y: stash(2 * y) or y + 1, x)
    return stash.kept


def carried(x, stash):
    return mb.loop(3, lambda y: stash(y) or y + 1, x) + mb.loop(3, lambda y: y + 1, stash.kept)


def outer(x, stash):
    return mb.loop(2, lambda z: mb.loop(3, lambda y: stash(y) or y + z, z) * stash.kept, x)


def last(x, stash):
    return mb.loop(2, lambda z: (mb.loop(3, lambda y: stash(y) or y + z, z), stash.kept)[1], x)


@each_case("function", [after, returned, carried, outer, last], ids=lambda f: f.__name__)
def test_values_that_escape_from_a_body(function):
    class Stash:
        hidden = threading.local()  # of which attributes are not compared

        def __call__(self, value):
            self.hidden.kept = value

        @property
        def kept(self):
            return self.hidden.kept

    with pytest.raises(mb.TraceError, match="a value from inside a loop is used after it: let the loop carry it"):
        mb.compile(lambda x: function(x, Stash()), ())


@pytest.mark.parametrize("count", [-1, 1.5, "3", None])
def test_wrong_counts(count):
    with pytest.raises(InputError, match="loop: expected a number of iterations"):
        mb.loop(count, lambda x: x, 1.0)
    with pytest.raises(InputError, match="loop: expected a number of iterations"):
        mb.compile(lambda x: mb.loop(count, lambda y: y, x), 3)
