"""Loops in emitted source: they stay loops in C and NumPy, and compute what the kernel computes."""

import numpy as np
import pytest

import multibody as mb
from multibody import InputError
from multibody.compiler.export.to_c import to_c
from multibody.compiler.export.to_numpy import to_numpy
from multibody.compiler.export.to_sympy import to_sympy
from multibody.tracing.record.trace import trace

from ..tracing import test_loop_derivatives, test_loops_that_stop
from .cases import arrays
from .test_to_c import build, call, needs_compiler

FUNCTIONS = [
    *(f for f in test_loops_that_stop.FUNCTIONS if f is not test_loops_that_stop.poses),
    *map(mb.gradient, test_loop_derivatives.FUNCTIONS),
]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_numpy_source(function):
    traced = trace(function, [3], ["x"])
    x = np.random.default_rng(0).uniform(0.1, 1.0, (7, 3))
    scope = {}
    exec(to_numpy(traced), scope)
    for emitted, native in zip(arrays(scope["f"](x)), arrays(mb.compile(function, 3)(x)), strict=True):
        np.testing.assert_allclose(emitted, native, rtol=1e-11, atol=1e-12)


@needs_compiler
def test_c_source(tmp_path):
    x = np.random.default_rng(0).uniform(0.1, 1.0, (7, 3))
    traces = [trace(function, [3], ["x"]) for function in FUNCTIONS]
    library = build(tmp_path, "".join(to_c(traced, f"f{n}").source for n, traced in enumerate(traces)))
    for n, (traced, function) in enumerate(zip(traces, FUNCTIONS, strict=True)):
        computed = call(library, f"f{n}", traced, [x])
        for emitted, native in zip(computed, arrays(mb.compile(function, 3)(x)), strict=True):
            np.testing.assert_allclose(emitted, native, rtol=1e-11, atol=1e-12)


@needs_compiler
def test_large_loop_outputs_are_on_the_heap(tmp_path):
    """20,000 iterations of one entry are 160 kB, which many stacks do not have."""

    def final_and_mean(x):
        last, seen = mb.loop(20_000, lambda y: (y * 0.999 + x, y[0]), x, outputs=True)
        return last, mb.loop(20_000, lambda s, y: s + y, 0.0, xs=seen)

    traced = trace(final_and_mean, [3], ["x"])
    source = to_c(traced, "f").source
    assert "double loop_y" not in source
    assert "malloc(20000 * sizeof *loop_y0);" in source
    assert source.count("free(loop_y0);") == 2
    assert "loop_x1" not in source  # 20,000 copies on the stack, which take a C compiler a minute
    x = np.ones((2, 3))
    computed = call(build(tmp_path, source), "f", traced, [x])
    for emitted, native in zip(computed, mb.compile(final_and_mean, 3)(x), strict=True):
        np.testing.assert_allclose(emitted, native, rtol=1e-11)


@needs_compiler
def test_loop_outputs_are_read_where_they_are(tmp_path):
    """At any distance, of several outputs, and of a loop that stops."""

    def parts(x):
        _, (a, b) = mb.loop(12, lambda y: (y * 0.9 + x, (y[0], y[2] * y[1])), x, outputs=True)
        _, c = mb.loop(12, lambda y: (y * 0.9 + x, y[1]), x, outputs=True, until=lambda y: y[0] > 2.0)
        sums = [mb.loop(len(xs), lambda s, y: 0.5 * s + y, 0.0, xs=xs) for xs in (a, b[::-1], b[3::2], c[:1], a[4:5])]
        return np.stack([*sums, mb.loop(12, lambda s, y: s + y, 0.0, xs=c)])

    traced = trace(parts, [3], ["x"])
    source = to_c(traced, "f").source
    assert "loop_x" not in source
    x = np.random.default_rng(0).uniform(0.1, 1.0, (5, 3))
    (computed,) = call(build(tmp_path, source), "f", traced, [x])
    np.testing.assert_allclose(computed, mb.compile(parts, 3)(x), rtol=1e-12)


def test_the_text_does_not_grow():
    def text(rounds, emit):
        return emit(trace(mb.gradient(lambda x: mb.loop(rounds, lambda y: np.sin(y) * x, x)), [()], ["x"]))

    assert abs(len(text(5000, to_numpy)) - len(text(50, to_numpy))) < 20
    assert abs(len(text(50_000, to_c).source) - len(text(5000, to_c).source)) < 40


def test_names_of_arguments_that_loops_would_have():
    traced = trace(lambda a, b: mb.loop(9, lambda y: a * y + b, 0.0), [(), ()], ["loop_c0_0", "loop_n0"])
    scope = {}
    exec(to_numpy(traced), scope)
    np.testing.assert_allclose(scope["f"](0.5, 1.0), mb.loop(9, lambda y: 0.5 * y + 1.0, 0.0))


def test_sympy_refuses_long_loops():
    with pytest.raises(InputError, match="a loop of 500000 iterations is too long to be unrolled"):
        to_sympy(trace(lambda x: mb.loop(500_000, lambda y: 0.5 * y + x, x), [()]))
    assert str(to_sympy(trace(lambda x: mb.loop(2, lambda y: 0.5 * y + x, x), [()]))) == "1.75*x"
