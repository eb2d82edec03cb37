"""What is recorded is asked of the open graph: a function may have traced data from anywhere; plain stays plain."""

import threading
from types import SimpleNamespace

import numpy as np
import pytest

import multibody as mb
from multibody.tracing.ad.api import gradient, hessian_vector, jacobian, jvp, vjp
from multibody.tracing.array.traced import TracedArray
from multibody.tracing.interpret import evaluate
from multibody.tracing.record.trace import open_graph, trace

from ..every_law import each_case
from ..laws.tools import near

X = np.array([0.3, -0.7, 1.1])


class Controller:
    def __init__(self, gain):
        self.gain = gain

    def step(self, y):
        return 0.5 * np.sin(y) * self.gain + self.gain

    def cost(self, y):
        return np.sum((np.sin(y) - self.gain) ** 2)

    __call__ = step


def attribute(x):
    holder = SimpleNamespace(gain=x)
    return lambda y: 0.5 * np.sin(y) * holder.gain + holder.gain


def table(x):
    gains = {"all": [x]}
    return lambda y: 0.5 * np.sin(y) * gains["all"][0] + gains["all"][0]


HOLDERS = {
    "attribute": attribute,
    "dict": table,
    "method": lambda x: Controller(x).step,
    "callable": Controller,
    "default": lambda x: lambda y, x=x: 0.5 * np.sin(y) * x + x,
    "closure": lambda x: lambda y: 0.5 * np.sin(y) * x + x,
}


def operations(function, *shapes):
    traced = trace(function, shapes)
    return traced.graph.count(traced.graph.live(traced.roots)).total()


@pytest.mark.parametrize("start", [0.0, np.zeros(3), np.full(3, 0.2, np.float32)], ids=["float", "array", "float32"])
@pytest.mark.parametrize("holder", HOLDERS)
def test_a_loop_over_traced_data_stays_a_loop(holder, start):
    start = np.zeros(3) + start
    function = lambda x: mb.loop(1000, HOLDERS[holder](x), start)
    assert operations(function, 3) == 12
    near(mb.compile(function, 3)(X), function(X), 1e-12)


def test_what_is_carried_may_become_traced_later():
    """Three plain rounds, which see numbers, and then seven with the traced one."""

    def function(x):
        return mb.loop(10, lambda y: 2 * y + (1.0 if isinstance(y, float) and y < 7.0 else x), 0.0)

    y = 0.0
    for k in range(10):
        y = 2 * y + (0.5 if k >= 3 else 1.0)
    assert mb.compile(function, ())(0.5) == y
    assert operations(function, ()) == 2  # the factor is in the loop once


def test_what_the_body_does_to_its_containers_in_the_plain_round_is_not_done_twice():
    def function(x):
        def body(state):
            state["y"] = state["y"] * 0.5
            return {"y": state["y"] + x}

        return mb.loop(3, body, {"y": np.ones(3)})["y"]

    near(mb.compile(function, 3)(X), function(X))


def test_plain_loops_run_at_once():
    seen, table = [], [3, 0, 1, 2]

    def function(x):
        place = mb.loop(5, lambda k: table[k], 0)  # an index and a branch: nothing that could be recorded
        root = mb.loop(30, lambda y: y - (y * y - 2) / (2 * y) if y > 0 else y, 1.0)
        pair = mb.loop(3, lambda c: {"a": c["b"], "b": c["a"] + 1}, {"a": 0, "b": 1})
        seen.append((place, root, pair))
        return x * place + root

    traced = trace(function, [3])
    ((place, root, pair),) = seen
    assert not traced.graph.loops
    assert isinstance(root, np.float64)
    assert (place, pair) == (table[table[table[table[table[0]]]]], {"a": 2, "b": 2})
    near(root, np.sqrt(2), 1e-15)
    assert not any(isinstance(y, TracedArray) for y in (place, root, *pair.values()))
    near(evaluate(traced, X), X * place + np.sqrt(2))


DERIVATIVES = {
    "gradient": lambda f: lambda y: gradient(f)(y),
    "jacobian": lambda f: lambda y: jacobian(lambda z: f(z) * z)(y),
    "jvp": lambda f: lambda y: jvp(f)(y, y)[1],
    "vjp": lambda f: lambda y: vjp(f)(y, 2.0)[1],
    "hessian_vector": lambda f: lambda y: hessian_vector(f)(y, y),
    "batch": lambda f: lambda y: gradient(f, shapes=[3])(np.stack([y, 2 * y, y * y])),
}


@each_case("name", DERIVATIVES)
def test_derivatives_at_plain_points(name):
    """Floats where the function has nothing traced, wherever it has it from; recorded where it has."""
    plain, seen = np.array([0.2, 0.4, -0.1]), []

    def function(x):
        seen.append(DERIVATIVES[name](Controller(np.ones(3)).cost)(plain))
        return DERIVATIVES[name](Controller(x).cost)(plain), DERIVATIVES[name](lambda y: np.sum(y * y) + 0.0 * x[0])(
            plain
        )

    recorded = evaluate(trace(function, [3]), X)
    (floats,) = seen
    assert isinstance(floats, np.ndarray | np.float64)
    near(floats, DERIVATIVES[name](Controller(np.ones(3)).cost)(plain), 0)
    expected = function(X)
    near(recorded[0], expected[0])
    near(recorded[1], expected[1])


def test_derivatives_at_plain_points_in_loops_and_derivatives():
    """Where what the function has from outside are values of a loop, or of another derivative."""
    plain = np.array([0.2, 0.4, -0.1])
    inside = lambda x: mb.loop(4, lambda y: y + 0.1 * gradient(Controller(y).cost)(plain), x)
    near(mb.compile(inside, 3)(X), inside(X))
    outer = lambda x: gradient(lambda y: np.sum(gradient(Controller(y * x).cost)(plain) ** 2))(plain)
    near(mb.compile(outer, 3)(X), outer(X))
    looped = lambda x: gradient(lambda y: np.sum(mb.loop(3, Controller(y).step, np.zeros(3)) * x))(plain)
    near(mb.compile(looped, 3)(X), looped(X))
    alone = lambda x: mb.loop(2, lambda y: y + gradient(lambda z: np.sum(mb.loop(3, np.sin, z)))(plain), x)
    near(mb.compile(alone, 3)(X), alone(X))


# ---- which graph is open ---------------------------------------------------------------------------------------------


def test_graphs_open_and_close():
    inside = []

    def inner(y):
        inside.append(open_graph())
        return 2 * y

    def outer(x):
        assert open_graph() is x.graph
        kernel = mb.compile(inner, 3)
        assert inside[-1] not in (None, x.graph)
        assert open_graph() is x.graph
        assert isinstance(kernel(np.ones(3)), np.ndarray)
        with mb.eager():
            assert isinstance(kernel(np.ones(3)), np.ndarray)
        with pytest.raises(ZeroDivisionError):
            trace(lambda y: y / (1 // 0), [3])
        assert open_graph() is x.graph
        return kernel(x)

    assert open_graph() is None
    near(mb.compile(outer, 3)(X), 2 * X)
    assert open_graph() is None
    assert len(inside) == 4  # compiled, run by NumPy twice, and as part of the outer function


def test_another_thread_has_no_open_graph():
    """A kernel, a loop and a derivative elsewhere, while a function is traced here."""
    kernel = mb.compile(lambda y: mb.loop(3, np.sin, y), 3)
    results = {}

    def work():
        results["graph"] = open_graph()
        results["kernel"] = kernel(X)
        results["loop"] = mb.loop(3, np.sin, X)
        results["slope"] = gradient(lambda y: np.sum(np.sin(y)))(X)
        results["compiled"] = mb.compile(gradient(lambda y: np.sum(np.cos(y))), 3)(X)

    def function(x):
        size = len(x.graph)
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        assert len(x.graph) == size
        return x * results["loop"]

    near(mb.compile(function, 3)(X), X * np.sin(np.sin(np.sin(X))))
    assert results["graph"] is None
    near(results["kernel"], results["loop"])
    near(results["slope"], np.cos(X))
    near(results["compiled"], -np.sin(X))


def test_two_traces_do_not_meet():
    kept = []
    trace(lambda x: kept.append(x) or x, [3])
    for function in (
        lambda x: x + kept[0],
        lambda x: mb.loop(3, lambda y: y + kept[0], x),
        lambda x: x + mb.loop(3, lambda y: y + kept[0], np.zeros(3)),
        lambda x: gradient(lambda y: np.sum(y * kept[0]))(x),
        lambda x: x + gradient(lambda y: np.sum(y * kept[0]))(np.ones(3)),
        lambda x: x * gradient(lambda y: np.sum(y * y))(kept[0]),
        lambda x: mb.compile(lambda y: x * y, 3)(np.ones(3)),
    ):
        with pytest.raises(mb.TraceError, match="arrays of two different traces cannot meet"):
            trace(function, [3])


@pytest.mark.parametrize("start", [lambda x: x, lambda _: np.ones(3)], ids=["traced", "plain"])
def test_values_that_escape_from_a_loop_into_a_derivative(start):
    hidden = threading.local()  # of which attributes are not compared

    def leaking(x):
        mb.loop(3, lambda y: setattr(hidden, "kept", 2 * y) or y + 1, x)
        return np.sum(hidden.kept)

    for function in (
        lambda x: gradient(leaking)(start(x)) * x,
        lambda x: mb.loop(2, lambda y: y + gradient(leaking)(start(y)), x),
    ):
        with pytest.raises(mb.TraceError, match="a value from inside a loop is used after it"):
            mb.compile(function, 3)


def test_a_body_that_fails_leaves_no_open_loop():
    def function(x):
        with pytest.raises(ZeroDivisionError):
            mb.loop(3, lambda y: y / (1 // 0), x)
        return mb.loop(3, lambda y: 0.5 * y + x, x)

    near(mb.compile(function, 3)(X), function(X))


# ---- precision -------------------------------------------------------------------------------------------------------


def threshold(x):
    """A function that is different for single and double precision, as code with thresholds is."""
    return np.sum(x * x) * (1.0 if x.dtype == np.float32 else 100.0)


def masked(x):
    """The same, where the array is made of truth values, or stacked with one in front."""
    mask = x > -10.0
    parts = [mask * 1.0, np.where(mask, 1.0, 0.0), np.stack([mask[0], x[0]]), np.zeros_like(mask, dtype=float)]
    return np.sum(x * x) * (1.0 if {y.dtype for y in parts} == {x.dtype} else 100.0)


@pytest.mark.parametrize("name", DERIVATIVES)
def test_derivatives_in_single_precision_see_it(name):
    derivative, single = DERIVATIVES[name](threshold), np.float32
    double, expected = derivative(X), DERIVATIVES[name](lambda x: np.sum(x * x))(X)
    near(double, 100 * expected, 1e-12)
    eager = derivative(X.astype(single))
    assert eager.dtype == single
    near(eager, expected, 1e-6)
    compiled = mb.compile(derivative, 3, dtype="float32")
    near(compiled(X), expected, 1e-6)
    with mb.eager():
        near(compiled(X), expected, 1e-6)
    inner = lambda x: gradient(lambda y: np.sum(derivative(y)))(x)
    near(mb.compile(inner, 3, dtype="float32")(X), inner(X.astype(single)), 1e-6)
    near(inner(X), 100 * inner(X.astype(single)), 1e-4)
    near(mb.compile(derivative, 3)(X), 100 * expected, 1e-12)


def test_truth_values_have_the_precision_of_their_trace():
    near(mb.compile(masked, 3, dtype="float32")(X), X @ X, 1e-6)
    near(mb.compile(gradient(masked), 3, dtype="float32")(X), 2 * X, 1e-6)
    near(mb.compile(gradient(masked), 3)(X), 2 * X, 1e-12)


def test_numbers_of_python_take_the_precision_of_arrays():
    scaled = lambda x, s: threshold(x) * s
    near(gradient(scaled)(X.astype(np.float32), 2.0), 4 * X, 1e-6)
    near(gradient(scaled)(X, 2.0), 400 * X, 1e-12)
    near(gradient(scaled)(X.astype(np.float32), np.float64(2.0)), 400 * X, 1e-5)


def test_plain_points_in_a_trace_of_another_precision():
    """Their own precision where nothing is traced, that of the trace where something is."""
    plain = np.array([0.2, 0.4, -0.1])

    def function(x):
        alone = gradient(threshold)(plain)
        assert alone.dtype == np.float64
        single = gradient(threshold)(plain.astype(np.float32))
        assert single.dtype == np.float32
        return alone + 0 * x, single + 0 * x, gradient(lambda y: threshold(y) * x[0])(plain)

    for dtype, factor in (("float32", 1), ("float64", 100)):
        alone, single, within = mb.compile(function, 3, dtype=dtype)(X)
        near(alone, 200 * plain, 1e-5)
        near(single, 2 * plain, 1e-6)
        near(within, factor * 2 * plain * X[0], 1e-6)


def test_loops_in_single_precision_see_it():
    def function(x):
        return mb.loop(3, lambda y: y + x * (1.0 if y.dtype == np.float32 else 100.0), np.zeros(3, np.float32))

    near(mb.compile(function, 3, dtype="float32")(X), 3 * X, 1e-6)
