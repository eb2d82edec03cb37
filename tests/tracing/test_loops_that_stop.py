"""mb.loop with until, xs, rounds and outputs: the kernel computes what the Python loop computes, for every sample."""

import re

import numpy as np
import pytest

import multibody as mb
from multibody import InputError, Pose, Rotation
from multibody.geometry._arrays import is_traced
from multibody.tracing.graph.unroll import unrolled
from multibody.tracing.interpret import evaluate
from multibody.tracing.record.trace import trace

from ..compiler.cases import arrays
from ..every_law import each_case
from ..laws.tools import near

RNG = np.random.default_rng(0)


def newton(x):
    """Square roots, some of which take longer."""
    a = np.exp(9 * x[0])
    return mb.loop(60, lambda y: (y + a / y) / 2, a, until=lambda y: np.abs(y * y - a) <= 1e-13 * a, rounds=True)


def never(x):
    return mb.loop(7, lambda y: 0.5 * y + 1.0, x[0], until=lambda y: y > 100.0, rounds=True)


def at_once(x):
    return mb.loop(7, lambda y: 0.5 * y + 1.0, x[0], until=lambda y: y < 100.0, rounds=True)


def nested(x):
    """Inner loops that stop in samples that the outer one has stopped or not."""

    def outer(c):
        a, b = c
        t, taken = mb.loop(9, lambda t: 0.7 * t + x[1] * a, b, until=lambda t: np.abs(t) < 0.1, rounds=True)
        return 0.8 * a + 0.05 * t, b + 0.1 * taken

    return mb.loop(20, outer, (x[0], x[1]), until=lambda c: np.abs(c[0]) < 0.2, rounds=True)


def asking_a_loop(x):
    """The question has a loop of its own."""
    return mb.loop(20, lambda y: 0.9 * y, x[0], until=lambda y: mb.loop(3, lambda z: z * z, y) < 0.1, rounds=True)


def rows(x):
    """A traced row, a constant one and a computed one in every round."""
    xs = {"u": np.reshape(x, (3, 1)), "k": np.arange(3.0), "v": (np.stack([np.sin(x[0]), x[1] * x[2], x[0]]),)}
    return mb.loop(None, lambda c, r: 0.5 * c + r["u"][0] * r["k"] - r["v"][0], 1.0, xs=xs)


def backward_rows(x):
    return mb.loop(3, lambda c, u: 0.5 * c + u, 1.0, xs=x[::-1])


def outputs(x):
    """Stacked outputs of several shapes, NaN where a sample is done."""
    return mb.loop(
        8,
        lambda c: (0.6 * c, {"both": np.stack([c, c * x[1]]), "sum": c + x[2]}),
        x[0],
        until=lambda c: np.abs(c) < 0.1,
        outputs=True,
        rounds=True,
    )


def mapped(x):
    """Nothing is carried."""
    return mb.loop(None, lambda _, u: ((), np.sin(u) * x[0]), (), xs=x, outputs=True)[1]


def of_rows_in_loops(x):
    """An inner loop reads what an outer one does, and keeps what another reads."""

    def outer(c, u):
        y, ys = mb.loop(None, lambda y, w: (np.cos(y) * w, y + u), c, xs=x * u, outputs=True)
        return y + mb.loop(None, lambda t, w: 0.5 * t + w, 0.0, xs=ys)

    return mb.loop(None, outer, x[0], xs=x)


def poses(x):
    """A pose is carried, and held."""
    step = Pose.exp(np.concatenate([x, x]) * 0.2)
    return mb.loop(9, lambda c: c @ step, Pose(Rotation.exp(x), x), until=lambda c: np.sum(c.position**2) > 1.5)


FUNCTIONS = [
    newton, never, at_once, nested, asking_a_loop, rows, backward_rows, outputs, mapped, of_rows_in_loops, poses,
]  # fmt: skip


@pytest.mark.parametrize("dtype", [np.float64, np.float32], ids=["float64", "float32"])
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_equals_the_python_loop(function, dtype):
    if function is newton and dtype == np.float32:
        pytest.skip("the tolerance is that of float64")
    kernel = mb.compile(function, 3, dtype=dtype)
    x = RNG.uniform(-1, 1, (37, 3)).astype(dtype)
    computed = arrays(kernel(x))
    for k in range(37):
        for single, batch, expected in zip(arrays(kernel(x[k])), computed, arrays(function(x[k])), strict=True):
            np.testing.assert_allclose(single, expected, rtol=1e-12 if dtype == np.float64 else 2e-5, atol=1e-5)
            assert single.tobytes() == batch[k].tobytes(), "the same bits alone and in a batch"


@each_case("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_equals_the_interpreter_and_the_loop_written_out(function):
    x = RNG.uniform(-1, 1, (9, 3))
    kernel = arrays(mb.compile(function, 3)(x))
    for other in (evaluate(trace(function, [3]), x), evaluate(unrolled(trace(function, [3])), x)):
        for native, interpreted in zip(kernel, arrays(other), strict=True):
            np.testing.assert_allclose(native, interpreted, rtol=1e-12, atol=1e-12)


def test_samples_do_not_know_of_each_other():
    """1,001 different lanes: the same bits in any batch, order and number of threads, and as if they did not stop."""
    x = RNG.uniform(-1, 1, (1001, 3))
    kernel = mb.compile(newton, 3)
    root, taken = kernel(x)
    assert len(set(taken.tolist())) > 5
    order = RNG.permutation(1001)
    for batch in (x[order], x[order][:500], x[order][::3]):
        index = order[:500] if len(batch) == 500 else order[::3] if len(batch) < 500 else order
        for threads in (1, 2, 5):
            again = kernel(np.ascontiguousarray(batch), threads=threads)
            assert again[0].tobytes() == root[index].tobytes()
            assert again[1].tobytes() == taken[index].tobytes()
    for most in range(0, 60, 7):  # a fixed number of rounds ends with the same bits in samples that take as many
        fixed = mb.compile(lambda x, n=most: mb.loop(n, lambda y: (y + np.exp(9 * x[0]) / y) / 2, np.exp(9 * x[0])), 3)
        same = taken == most
        assert fixed(x)[same].tobytes() == root[same].tobytes()


def test_nan_in_one_lane():
    """It is never done, and ends at its count; the others are as they are without it."""
    x = np.linspace(0.1, 0.9, 11)[:, None] * np.ones(3)
    kernel = mb.compile(newton, 3)
    expected = kernel(x)
    x[4, 0] = np.nan
    root, taken = kernel(x)
    assert np.isnan(root[4])
    assert taken[4] == 60
    others = np.arange(11) != 4
    for now, before in zip((root, taken), expected, strict=True):
        assert now[others].tobytes() == before[others].tobytes()
    single = kernel(x[4])
    assert np.isnan(single[0])
    assert single[1] == 60


def test_what_is_done_keeps_its_bits():
    """Also where rounds that are not taken would give NaN."""
    kernel = mb.compile(lambda x: mb.loop(9, lambda y: np.sqrt(y - 1.0), x, until=lambda y: y < 1.0), ())
    x = np.array([0.3, -0.0, 7.0, 2.0, np.inf])
    y = kernel(x)
    assert y[:2].tobytes() == x[:2].tobytes()
    assert np.isfinite(y[:4]).all()
    assert y[4] == np.inf


def test_a_batch_in_plain_numpy():
    """An array of truth values: samples that are done wait for the others."""
    x = RNG.uniform(0.1, 1, (4, 5))
    until = lambda c: c[0] < 0.05
    body = lambda c: (0.5 * c[0], c[1] + c[0][..., None])
    (y, z), taken = mb.loop(30, body, (x, np.zeros((4, 5, 2))), until=until, rounds=True)
    for index in np.ndindex(4, 5):
        single = mb.loop(30, lambda c: (0.5 * c[0], c[1] + c[0]), (x[index], np.zeros(2)), until=until, rounds=True)
        for batch, alone in zip((y, z, taken), (*single[0], single[1]), strict=True):
            np.testing.assert_array_equal(batch[index], alone)
    _, kept = mb.loop(30, lambda c: (0.5 * c, c), x, until=lambda c: c < 0.05, outputs=True)
    assert kept.shape == (30, 4, 5)
    np.testing.assert_array_equal(np.isfinite(kept).sum(axis=0), taken)


def test_eager_kernels():
    kernel = mb.compile(outputs, 3)
    x = RNG.uniform(-1, 1, (6, 3))
    native = arrays(kernel(x))
    with mb.eager():
        for one, other in zip(native, arrays(kernel(x)), strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-12)


def test_rows_that_the_graph_need_not_hold():
    """Rows of an argument are read as time goes on: none of them has a place in the kernel's memory."""
    sizes = []
    for rounds in (10, 1000):
        kernel = mb.compile(lambda u: mb.loop(None, lambda s, r: 0.9 * s + r[0] * r[1], 0.0, xs=u), (rounds, 2))
        sizes.append(int(re.findall(r"%buffer = alloca \[(\d+) x i8\]", kernel.ir)[0]))
        u = RNG.uniform(-1, 1, (3, rounds, 2))
        near(kernel(u), [mb.loop(None, lambda s, r: 0.9 * s + r[0] * r[1], 0.0, xs=row) for row in u], 1e-13)
    assert sizes[0] == sizes[1]


def test_loops_that_stop_in_a_scan():
    def step(state, u):
        y = mb.loop(40, lambda y: 0.5 * np.cos(y) + u[0], state, until=lambda y: np.abs(y - 0.5) < u[1])
        return y, mb.loop(None, lambda s, r: s * r, y, xs=u)

    scan = mb.compile_scan(step, (), [2])
    x, u = RNG.uniform(-1, 1, 9), RNG.uniform(0.1, 0.6, (9, 5, 2))
    last, kept = scan(x, u)
    for n in range(9):
        state = x[n]
        for k in range(5):
            state, output = step(state, u[n, k])
            near(kept[n, k], output, 1e-13)
        near(last[n], state, 1e-13)


def test_plain_numbers_before_something_traced():
    """What is carried is plain until the body meets the argument; rows and outputs go on where they were."""

    def function(x):
        def body(c, u):
            return (c + u * x if is_traced(c) or c >= 1 else c + u), c

        return mb.loop(None, body, 0.0, xs=np.arange(6.0), outputs=True)

    last, kept = mb.compile(function, ())(2.0)
    assert kept.shape == (6,)
    assert last == 0 + 1 + 2 * (2 + 3 + 4 + 5)


# ---- errors ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (
            lambda x: mb.loop(3, lambda y: y, x, until=lambda y: y < 1),
            r"expected one boolean a sample, got shape \(3,\)",
        ),
        (
            lambda x: mb.loop(3, lambda y: y, x, until=lambda y: y[0]),
            "expected a boolean such as x < 1, got a number",
        ),
        (lambda x: mb.loop(3, lambda y: y, x, outputs=True), r"the body must return \(carry, output\)"),
    ],
)
def test_wrong_loops(call, told):
    with pytest.raises(mb.TraceError, match=told) as error:
        mb.compile(call, 3)
    assert "test_loops_that_stop.py" in str(error.value)


@each_case(
    "call, told",
    [
        (
            lambda: mb.loop(3, lambda y, u: y + u, 0.0, xs=np.zeros(4)),
            "xs: expected arrays of 3 rows, one for each iteration, got 4",
        ),
        (lambda: mb.loop(None, lambda y, u: y + u, 0.0, xs=(np.zeros(4), np.zeros(3))), "expected arrays of 4 rows"),
        (
            lambda: mb.loop(None, lambda y, u: y + u, 0.0, xs=1.0),
            r"xs: expected arrays of shape \(iterations, ...\), got a number",
        ),
        (lambda: mb.loop(None, lambda y: y, 0.0), "expected a number of iterations that is not negative, got None"),
        (
            lambda: mb.loop(3, lambda y: y, 0.0, until=lambda y: y),
            "until: expected booleans such as x < 1, got float64",
        ),
    ],
)
def test_wrong_calls(call, told):
    with pytest.raises(InputError, match=told):
        call()
