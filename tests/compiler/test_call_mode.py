"""How a call runs: NumPy for plain arguments in eager blocks and open traces, native otherwise."""

import contextlib
import threading

import numpy as np
import pytest

import multibody as mb
from multibody.compiler.cache.key import fingerprint
from multibody.compiler.compiled_scan import Scan
from multibody.errors import InputError
from multibody.tracing.record.trace import trace

Q = np.array([0.3, -0.4, 0.5])


def recorded(robot) -> str:
    """The fingerprint of a trace in which a robot is called with plain arguments."""
    return fingerprint(trace(lambda q: robot.mass_matrix(Q) @ q, [3]))


def test_a_trace_does_not_depend_on_the_kernels_that_exist():
    robot = mb.load("planar-arm")
    before = recorded(robot)
    robot.mass_matrix(Q)
    robot.mass_matrix(Q)
    assert recorded(robot) == before


def test_plain_arguments_in_a_trace_run_the_source():
    seen = []
    kernel = mb.compile(lambda x: seen.append(type(x)) or 2 * x, 3)
    kernel(Q)
    seen.clear()
    trace(lambda x: x + kernel(Q), [3])
    assert seen == [np.ndarray]


def test_plain_arguments_of_a_scan_in_a_trace_run_the_source(monkeypatch):
    seen = []
    scan = mb.compile_scan(lambda x: (2 * x, None), (3,))
    monkeypatch.setattr(Scan, "_plain", lambda *_: seen.append(1))
    scan(Q, steps=1)
    assert not seen
    trace(lambda x: x + scan(Q, steps=1)[0], [3])
    assert seen


def test_other_threads_run_native_while_a_trace_is_open():
    seen, results = [], []
    kernel = mb.compile(lambda x: seen.append(1) or 2 * x, 3)
    kernel(Q)
    seen.clear()

    def function(x):
        thread = threading.Thread(target=lambda: results.append(kernel(Q)))
        thread.start()
        thread.join()
        return x

    trace(function, [3])
    assert not seen
    np.testing.assert_array_equal(results[0], 2 * Q)


@pytest.mark.parametrize("threads", [-5, 0, 1.5, "two"])
def test_threads_are_checked_in_every_mode(threads):
    robot = mb.load("planar-arm")
    scan = mb.compile_scan(lambda x: (2 * x, None), (3,))
    calls = [lambda q: robot.gravity(q, threads=threads), lambda q: scan(q, steps=1, threads=threads)]
    for call in calls:
        with mb.eager(), pytest.raises(mb.InputError, match="threads: expected a positive integer"):
            call(Q)
        with pytest.raises(mb.InputError, match="threads: expected a positive integer"):
            trace(call, [3])
        with pytest.raises(mb.InputError, match="threads: expected a positive integer"):
            call(Q)


def test_traced_batches_of_a_function_of_one_sample():
    inner = mb.compile(lambda x, t: {"s": np.sum(x) * t}, 3, ())
    outer = mb.compile(lambda x: inner(x, np.arange(2.0))["s"], (2, 3))
    x = np.arange(6.0).reshape(2, 3)
    np.testing.assert_allclose(outer(x), x.sum(axis=-1) * np.arange(2.0))


def test_constant_results_of_a_batched_function_are_spread_over_the_batch():
    kernel = mb.compile(lambda x: (x, np.arange(5.0)), 3, batched=True)
    with mb.eager():
        assert [y.shape for y in kernel(np.ones((5, 3)))] == [(5, 3), (5, 5)]


def test_variants_of_a_batched_kernel_are_batched_and_have_its_key(monkeypatch):
    monkeypatch.setattr(mb.config, "verify", False)  # which would trace again
    traced = []

    def function(x, u=None):
        traced.append(1)
        return 2.0 * x if u is None else 2.0 * x + u

    def make():
        return mb.compile(function, 3, optional={"u": 3}, batched=True, key="test of optional inputs 1")

    kernel = make()
    outer = mb.compile(lambda x, u: kernel(x, u=u), (5, 3), (5, 3))
    x, u = np.ones((5, 3)), np.full((5, 3), 0.5)
    np.testing.assert_array_equal(outer(x, u), 2.0 * x + u)
    assert kernel(x, u=u).shape == (5, 3)
    count = len(traced)
    again = make()
    np.testing.assert_array_equal(again(x, u=u), 2.0 * x + u)
    assert len(traced) == count
    assert repr(again._launcher.variants.kernel(("u",))).startswith("<Kernel function(")


def test_arrays_of_out_go_by_name():
    """A dict is filled by its keys, not by their order; other names and nestings are refused."""
    kernel = mb.compile(lambda x: {"a": 2 * x, "b": (x + 10, x)}, ())
    for mode in (contextlib.nullcontext, mb.eager):
        out = {"b": (np.zeros(()), np.zeros(())), "a": np.zeros(())}
        with mode():
            assert kernel(1.0, out=out) is out
            assert (out["a"], *out["b"]) == (2.0, 11.0, 1.0)
            flat = (np.zeros(()), np.zeros(()), np.zeros(()))
            kernel(1.0, out=flat)
            assert flat == (2.0, 11.0, 1.0)
            with pytest.raises(InputError, match="out: expected a dict with keys a, b, got keys a, c"):
                kernel(1.0, out={"a": np.zeros(()), "c": (np.zeros(()), np.zeros(()))})
            with pytest.raises(InputError, match="out: expected a tuple of 2 arrays"):
                kernel(1.0, out={"a": np.zeros(()), "b": np.zeros(())})
    scan = mb.compile_scan(lambda s: ({"a": s["a"] * 2, "b": s["b"] + 1}, s), {"a": (), "b": ()})
    out = ({"b": np.zeros(()), "a": np.zeros(())}, {"b": np.zeros(3), "a": np.zeros(3)})
    scan({"a": 1.0, "b": 0.0}, steps=3, out=out)
    assert (out[0]["a"], out[0]["b"], out[1]["a"].tolist(), out[1]["b"].tolist()) == (8.0, 3.0, [1, 2, 4], [0, 1, 2])


def test_an_empty_parameter_of_a_scan_with_an_optional_input():
    scan = mb.compile_scan(
        lambda s, u, _, p, w=None: (s + u * p + (0 if w is None else w), None), (), [()], [{}, ()], optional={"w": ()}
    )
    assert scan(0.0, np.ones(4), {}, 2.0)[0] == 8.0
    assert scan(0.0, np.ones(4), {}, 2.0, w=np.ones(4))[0] == 12.0
