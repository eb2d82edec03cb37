"""How a kernel lives: nothing leaks, many threads share it, large graphs are cut, it shows what it is made of."""

import copy
import gc
import re
import sys
import threading
import time
import weakref

import numpy as np
import pytest

import multibody as mb
from multibody import InputError, Pose
from multibody.compiler import compile as compiling
from multibody.compiler.codegen import entry, module, target, variants
from multibody.compiler.ir.segments import MAX_UNCUT_NODES, SEGMENT_NODES
from multibody.compiler.runtime import fastcall, native

from ..laws.tools import near
from .cases import in_threads

# ---- references and memory -------------------------------------------------------------------------------------------


def calls(kernel, x, batch):
    """All the ways to call a kernel, right and wrong ones."""
    out, single = np.empty_like(batch), np.empty_like(x)
    wrong = np.empty(4)

    def refused(*args, **named):
        with pytest.raises(InputError):
            kernel(*args, **named)

    return [
        lambda: kernel(x), lambda: kernel(batch), lambda: kernel(x, out=single), lambda: kernel(batch, out=out),
        lambda: kernel(x=batch), lambda: kernel(batch[::2], threads=2), lambda: kernel([1.0, 2.0, 3.0]),
        lambda: refused(wrong), lambda: refused(x, out=wrong), lambda: refused(x, x), lambda: refused(x, y=x),
    ]  # fmt: skip


def test_references_of_arguments_and_results():
    kernel = mb.compile(lambda x: 2 * x, 3)
    x, batch, out = np.ones(3), np.ones((9, 3)), np.empty(3)
    watched = [x, batch, out, kernel, np.ndarray, x.dtype, np.empty, None, tuple, "out"]
    ways = calls(kernel, x, batch)
    for way in ways:
        way()
    gc.collect()
    before = [sys.getrefcount(thing) for thing in watched]
    for _ in range(2500):
        kernel(x)
        kernel(x, out=out)
        for way in ways[:4]:
            way()
    for _ in range(100):
        for way in ways:
            way()
    gc.collect()
    after = [sys.getrefcount(thing) for thing in watched]
    assert all(abs(b - a) < 50 for a, b in zip(before, after, strict=True)), (before, after)
    result, plain = kernel(x), np.multiply(x, 2)
    assert sys.getrefcount(result) == sys.getrefcount(plain)


def test_references_of_several_results():
    kernel = mb.compile(lambda x: (x, 2 * x, x[0]), 3)
    x = np.ones(3)
    result, plain = kernel(x), (np.ones(3), np.ones(3), np.float64(x[0]))
    out = np.empty(3), np.empty(3), np.empty(())
    for _ in range(1000):
        kernel(x, out=out)
    counts = [[sys.getrefcount(given), *map(sys.getrefcount, given)] for given in (result, out, plain)]
    assert counts[0] == counts[1] == counts[2]


def test_memory_does_not_grow():
    resource = pytest.importorskip("resource")
    small, large = mb.compile(lambda x: 2 * x, 3), mb.compile(lambda x: 2 * x, 4000)
    x, X = np.ones(3), np.ones(4000)
    ways = calls(small, x, np.ones((9, 3)))

    def run(count):
        for _ in range(count):
            for way in ways:
                way()
            large(X)

    run(100)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    run(400)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 4000  # kB; one leaked result a round is 13 MB


def test_kernels_are_collected():
    def born():
        def function(x):
            return x + payload

        payload = np.zeros(3)
        kernel = mb.compile(function, 3, optional={"unused": ()})
        kernel(np.ones(3))
        return weakref.ref(kernel), weakref.ref(kernel._launcher), weakref.ref(payload)

    gc.collect()
    before = len(native._owners)
    references = [reference for _ in range(3) for reference in born()]
    gc.collect()
    assert [reference() for reference in references] == [None] * 9
    assert len(native._owners) == before  # their code is freed


def test_a_call_outlives_its_kernel():
    call = mb.compile(lambda x: 3 * x, 2).__call__
    gc.collect()
    np.testing.assert_array_equal(call(np.ones(2)), [3.0, 3.0])


def test_many_kernels_stay_apart():
    kernels = [mb.compile(lambda x, k=k: x + k, 2) for k in range(40)]
    del kernels[::2]
    gc.collect()
    assert [kernel(np.zeros(2))[0] for kernel in kernels] == [float(k) for k in range(1, 40, 2)]


# ---- threads ---------------------------------------------------------------------------------------------------------


def test_threads_compile_and_call_the_same(monkeypatch):
    def function(x):
        return np.sin(x) @ np.cos(x) + Pose.exp(x).position

    x = np.random.default_rng(0).uniform(-1, 1, (500, 6))
    expected = mb.compile(function, 6)(x)
    for cached in (True, False):
        monkeypatch.setattr(mb.config, "cache", cached)
        fastcall._definition.cache_clear()

        def work(k):
            kernel = mb.compile(function, 6)
            for _ in range(20):
                assert kernel(x, threads=1 + k % 3).tobytes() == expected.tobytes()
                assert kernel(x[k]).tobytes() == expected[k].tobytes()

        in_threads(8, work)


def test_threads_call_one_kernel():
    kernel = mb.compile(lambda x: (np.sin(x), x @ x), 5)
    x = np.random.default_rng(0).uniform(-1, 1, (3000, 5))
    expected = kernel(x)

    def work(k):
        out = tuple(np.empty_like(part) for part in expected)
        for _ in range(30):
            assert kernel(x, out=out) is out
            assert all(one.tobytes() == other.tobytes() for one, other in zip(out, expected, strict=True))
            kernel(x[k:], threads=2)

    in_threads(8, work)


def test_others_run_while_a_kernel_does():
    """The GIL is released, also for a single sample that takes long."""
    kernel = mb.compile(lambda x: mb.loop(300_000_000, lambda y: y + x, x), ())
    begun, done = threading.Event(), threading.Event()
    thread = threading.Thread(target=lambda: (begun.set(), kernel(np.array(1e-9)), done.set()))
    thread.start()
    begun.wait()
    count = 0
    while not done.is_set():
        time.sleep(0.001)
        count += 1
    thread.join()
    assert count > 5  # two at most, if it were held: before the kernel, and after it


# ---- kernels in kernels ----------------------------------------------------------------------------------------------


def test_a_kernel_in_a_traced_function_is_its_source():
    inner = mb.compile(lambda x, t: {"s": np.sin(x) * t}, 3, (), names=["x", "time"], optional={})
    pushed = mb.compile(lambda x, push=None: x if push is None else x + push, 3, optional={"push": 3})
    kernel = mb.compile(lambda x, t: inner(x, time=t)["s"] + inner(2 * x, 1.0)["s"] + pushed(x, push=-x), 3, ())
    x = np.random.default_rng(0).uniform(-1, 1, (5, 3))
    near(kernel(x, 2.0), 2 * np.sin(x) + np.sin(2 * x), 1e-14)
    with mb.eager():
        near(kernel(x, 2.0), 2 * np.sin(x) + np.sin(2 * x), 1e-14)
    with pytest.raises(InputError, match=r"x: expected shape \(\.\.\., 3\), got \(2,\)"):
        mb.compile(lambda x: inner(x, 1.0)["s"], 2)
    with pytest.raises(InputError, match="missing: time"):
        mb.compile(lambda x: inner(x)["s"], 3)
    twin = copy.copy(inner)
    with pytest.raises(InputError, match="came without its function"):
        mb.compile(lambda x: twin(x, 1.0)["s"], 3)


# ---- large graphs ----------------------------------------------------------------------------------------------------


def large(count, width=40):
    """Values and truth values that live for long, over many segments."""

    def function(x):
        values = [x[k % 5] * (1 + 0.01 * k) for k in range(width)]
        truths = [value > 0.1 for value in values]
        early = np.sin(values[3]), np.exp(values[4]), values[5] < values[6]
        for k in range(count):
            a, b, c = values[k % width], values[(7 * k + 1) % width], values[(3 * k + 2) % width]
            p = truths[(5 * k) % width]
            new = np.where(p, a * b + 0.5 * c, np.cos(a) - b * c)
            values[k % width] = new / (1.0 + np.abs(new))
            truths[(2 * k) % width] = (new < b) | (p & early[2])
        last = np.stack(values)
        return last, np.stack([1.0 * p for p in truths]), early[0] + early[1], last.sum() * early[2]

    return function


@pytest.mark.parametrize(
    ("count", "dtype"),
    [(150, np.float64), pytest.param(900, np.float64, marks=pytest.mark.slow), (540, np.float32)],
)
def test_values_cross_segments(count, dtype):
    function = large(count)
    kernel = mb.compile(function, 5, dtype=dtype)
    nodes = sum(kernel.ops.values())
    assert (nodes < MAX_UNCUT_NODES) == (count == 150)
    for form in (variants.VECTOR, variants.SCALAR):
        assert kernel.ir.count(f"define void @{form}.") == (0 if count == 150 else -(-(nodes - 1) // SEGMENT_NODES))
    x = np.random.default_rng(0).uniform(-1, 1, (131, 5)).astype(dtype)
    found = kernel(x)
    with mb.eager():
        expected = kernel(x)
    same = (found[1] == expected[1]).all(axis=-1)  # rounding may turn a comparison in a sample or two
    assert same.mean() > (0.95 if dtype == np.float64 else 0.6)
    for one, other in zip(found, expected, strict=True):
        near(one[same], other[same], 1e-11 if dtype == np.float64 else 1e-2)
    for k in (0, 64, 130):
        assert all(a.tobytes() == b[k].tobytes() for a, b in zip(kernel(x[k]), found, strict=True))
    order = np.random.default_rng(1).permutation(131)
    assert all(a.tobytes() == b[order].tobytes() for a, b in zip(kernel(x[order], threads=2), found, strict=True))


@pytest.mark.parametrize("shift", [0, 1, *(pytest.param(shift, marks=pytest.mark.slow) for shift in (2, 3))])
def test_sines_meet_their_cosines_at_every_cut(shift):
    def function(x):
        angles = [x[0] + k for k in range(shift)] + [x[k % 3] * (1 + 0.01 * k) for k in range(800)]
        pairs = [(np.sin(a), np.cos(a)) for a in angles]
        return np.stack([s * c for s, c in pairs])

    x = np.array([0.1, 0.2, 0.3])
    near(mb.compile(function, 3)(x), function(x), 1e-14)


def test_buffers_from_the_heap(monkeypatch):
    monkeypatch.setattr(entry, "MAX_STACK_BYTES", 32 * 1024)  # an eighth of what it is: a shorter kernel
    monkeypatch.setattr(mb.config, "cache", False)
    n = entry.MAX_STACK_BYTES // (8 * target.host().lanes) + 1  # results of a vector: more than fits on the stack
    kernel = mb.compile(lambda x: np.flip(x) + 1.0, n)
    assert "@malloc(i64 " in re.sub("declare.*", "", kernel.ir)
    x = np.random.default_rng(0).uniform(-1, 1, (9, n))
    found = kernel(x, threads=2)
    np.testing.assert_array_equal(found, x[:, ::-1] + 1)
    np.testing.assert_array_equal(kernel(x[3]), found[3])
    monkeypatch.setattr(entry, "MAX_STACK_BYTES", 0)
    small = mb.compile(lambda x: 2 * x, 3)
    for count in (0, 1, 5, 1000):
        np.testing.assert_array_equal(small(np.ones((count, 3))), np.full((count, 3), 2.0))


def test_compile_time_of_many_results_is_linear():
    """Results that are arguments or constants are cut into segments too."""
    sizes = []
    for n in (1000, 8000):
        forms, _ = variants.modules_of(compiling.trace(lambda x, n=n: np.concatenate([x, np.ones(n)]), [n]))
        sizes.append(sum(map(len, forms.values())))
    assert sizes[0] <= 2
    assert sizes[1] > 5
    assert module.MODULE_NODES <= 4000


# ---- what it shows ---------------------------------------------------------------------------------------------------


def test_repr_and_parts():
    def pendulum(q, torque):
        return torque - 9.81 * np.sin(q), q[0] > 0

    kernel = mb.compile(pendulum, 2, (), dtype=np.float32)
    assert repr(kernel) == "<Kernel pendulum(q (2,), torque ()) -> (2,), (), 6 operations, float32>"
    assert isinstance(kernel, mb.Kernel)
    assert kernel.name == "pendulum"
    assert dict(kernel.ops) == {"sin": 2, "fnma": 2, "lt": 1, "select": 1}
    assert "define void @kernel(" in kernel.ir
    assert "kernel:" in kernel.asm
    assert kernel.trace().inputs[1].name == "torque"


def test_copies():
    kernel = mb.compile(lambda x: 2 * x, 2)
    for twin in (copy.copy(kernel), copy.deepcopy(kernel)):
        np.testing.assert_array_equal(twin(np.ones(2)), [2.0, 2.0])
        assert twin is not kernel


def test_objects_that_are_no_functions():
    class Adder:
        def __call__(self, x):
            return x + 1.0

    for function in (Adder(), np.sin, Adder().__call__):
        near(mb.compile(function, 2)(np.zeros(2)), function(np.zeros(2)))
