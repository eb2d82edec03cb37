"""Elements of long arguments that segments read from rows themselves, past the slots."""

import ctypes
import mmap
import sys
import threading

import numpy as np
import pytest

import multibody as mb
from multibody.compiler.codegen import load_inputs, target
from multibody.compiler.ir import program, segments
from multibody.compiler.ir.liveness import runs_of
from multibody.compiler.ir.passes import prepare

from ..sampling import sampled

DTYPES = ("float64", "float32")
COUNTS = (0, 1, 2, 3, 7, 8, 9, 15, 16, 17, 100, 1030)
WIDTHS = (1, 2, 4, 8, 16)
X_SIZE, Y_SIZE = 120, 3


def function(x, y):
    """Uses elements of x beside each other, alone, early and late, and some never; and all of y."""
    head, tail = x[:60], np.stack([x[k] for k in (61, 63, 70, 71, 72, 80, 82, 85, 90, 119)])
    values = [head[k] * y[k % 3] + np.sin(head[59 - k]) for k in range(60)]
    for k in range(250):
        a, b = values[k % 60], values[(7 * k + 3) % 60]
        values[k % 60] = a * b / (1.5 + a * a) + tail[k % 10]
    return np.stack(values), x[3:8]


def made(monkeypatch, dtype="float64", many=None, segment=None):
    """The kernel, compiled afresh, and its program."""
    with monkeypatch.context() as patch:
        patch.setattr(mb.config, "cache", False)
        if many is not None:
            patch.setattr(segments, "MIN_STREAMED_INPUTS", many)
        if segment is not None:
            patch.setattr(segments, "MAX_UNCUT_NODES", segment)
            patch.setattr(segments, "SEGMENT_NODES", segment)
        kernel = mb.compile(function, X_SIZE, Y_SIZE, dtype=dtype)
        traced = kernel.trace()
        cut = segments.cut(prepare(traced.graph, traced.roots), [ids.size for ids in traced.outputs])
    return kernel, cut


def inputs(count, dtype="float64"):
    rng = np.random.default_rng(count)
    return [rng.standard_normal((count, n)).astype(dtype) for n in (X_SIZE, Y_SIZE)]


def bits(arrays):
    return [np.ascontiguousarray(a).tobytes() for a in arrays]


def rows_read(cut):
    return [place for segment in cut.segments for place in segment.rows.values()]


def test_only_elements_of_one_segment_are_read_from_rows(monkeypatch):
    _, whole = made(monkeypatch)
    elsewhere = {(0, k) for k in range(3, 8)} | {(1, k) for k in range(3)}  # which are results, too; and a short one
    places = rows_read(whole)
    assert len(places) == len(set(places))
    assert set(places) == {(k, e) for k, e, slot in whole.inputs if slot < 0}
    assert {(k, e) for k, e, slot in whole.inputs if slot >= 0} == elsewhere
    _, several = made(monkeypatch, segment=150)
    assert len(several.segments) > 3
    assert 0 < len(rows_read(several)) < len(places)
    users = {k: 0 for segment in several.segments for k in segment.rows}
    for segment in several.segments:
        for k in {a for node in segment.nodes for a in several.block.graph.args[node]} & users.keys():
            users[k] += 1
    assert set(users.values()) == {1}
    _, none = made(monkeypatch, many=1000)
    assert not rows_read(none)


@pytest.mark.parametrize("dtype", sampled(DTYPES, 2))
@pytest.mark.parametrize("segment", [None, 150])
def test_bits_are_those_of_slots(monkeypatch, dtype, segment):
    kernel, cut = made(monkeypatch, dtype, segment=segment)
    assert rows_read(cut)
    plain, _ = made(monkeypatch, dtype, many=1000)
    for count in COUNTS:
        x, y = inputs(count, dtype)
        expected = bits(plain(x, y))
        assert bits(kernel(x, y)) == expected
        assert bits(kernel(x, y, threads=2)) == expected
        if count:
            assert bits(kernel(x[-1], y[-1])) == bits(part[-1] for part in plain(x, y))


@pytest.mark.parametrize("width", sampled(WIDTHS, 2))
def test_vectors_of_every_width(monkeypatch, width):
    expected, _ = made(monkeypatch)
    host = target.host()
    monkeypatch.setattr(target, "host", lambda: host._replace(lanes=width))
    kernel, _ = made(monkeypatch)
    for count in (1, 5, 37):
        x, y = inputs(count)
        assert bits(kernel(x, y)) == bits(expected(x, y))


@pytest.mark.parametrize("dtype", DTYPES)
def test_rows_in_every_layout(monkeypatch, dtype):
    kernel, _ = made(monkeypatch, dtype)
    x, y = inputs(35, dtype)
    expected = kernel(x, y)
    wide = np.zeros((35, X_SIZE + 9), dtype)
    wide[:, 4:-5] = x
    assert bits(kernel(wide[:, 4:-5], y)) == bits(expected)
    assert bits(kernel(x[::-1], y[::-1])) == bits(part[::-1] for part in expected)
    assert bits(kernel(np.asfortranarray(x), y)) == bits(expected)
    assert bits(kernel(x[:1], y)) == bits(kernel(np.repeat(x[:1], 35, axis=0), y))
    assert bits(kernel(x, y[0])) == bits(kernel(x, np.repeat(y[:1], 35, axis=0)))
    grid = kernel(x[:7, None], y[:5])
    assert bits(grid) == bits(kernel(np.repeat(x[:7], 5, axis=0), np.tile(y[:5], (7, 1))))


def test_results_may_lie_over_arguments(monkeypatch):
    kernel, _ = made(monkeypatch)
    x, y = inputs(40)
    expected = kernel(x, y)
    memory = np.zeros(40 * X_SIZE)
    shared = memory.reshape(40, X_SIZE)
    shared[...] = x
    out = memory[17 : 17 + 40 * 60].reshape(40, 60), np.empty((40, 5))
    assert bits(kernel(shared, y, out=out)) == bits(expected)


@pytest.mark.skipif(sys.platform != "linux", reason="mprotect by its name in libc")
@pytest.mark.parametrize("count", [1, 8, 9])
def test_nothing_past_a_row_is_read(monkeypatch, count):
    """The last row ends where memory begins that may not be touched."""
    kernel, _ = made(monkeypatch)
    x, y = inputs(count)
    page = mmap.PAGESIZE
    allowed = -(-x.nbytes // page) * page
    memory = mmap.mmap(-1, allowed + page)
    whole = np.frombuffer(memory, dtype=np.uint8)
    guard = ctypes.c_void_p(whole.ctypes.data + allowed)
    assert ctypes.CDLL(None).mprotect(guard, ctypes.c_size_t(page), 0) == 0
    placed = whole[allowed - x.nbytes : allowed].view(float).reshape(x.shape)
    placed[...] = x
    assert bits(kernel(placed, y)) == bits(kernel(x, y))
    assert bits(kernel(placed[-1], y[-1])) == bits(kernel(x[-1], y[-1]))


def test_groups_cover_what_is_used():
    places = [(0, 0), (0, 1), (0, 2), (0, 5), (0, 7), (0, 12), (1, 3), (2, 0), (2, 1), (2, 2), (2, 3), (2, 9)]
    assert runs_of(places) == [(0, 0, 7), (0, 12, 12), (1, 3, 3), (2, 0, 3), (2, 9, 9)]
    segment = program.Segment([], {}, {10 + n: place for n, place in enumerate(places)}, [])
    for lanes in (1, 2, 4, 8, 16):
        shape = load_inputs.Tiling(lanes, "float64")
        groups = load_inputs.groups(segment, shape)
        assert set(groups) == set(segment.rows)
        for k, group in groups.items():
            argument, element = segment.rows[k]
            assert group.argument == argument
            assert group.nodes[element - group.first] == k
            assert len(group.nodes) == (4 if lanes % 4 == 0 and argument != 1 and element not in (9, 12) else 1)


def test_scans_and_loops_keep_their_slots():
    scan = mb.compile_scan(lambda x, u: (np.tanh(x + u[:40]), u[:2]), 40, [X_SIZE])
    rng = np.random.default_rng(0)
    x, u = rng.standard_normal((3, 40)), rng.standard_normal((3, 6, X_SIZE))
    last, _ = scan(x, u)
    for k in range(6):
        x = np.tanh(x + u[:, k, :40])
    np.testing.assert_allclose(last, x, atol=1e-15)
    kernel = mb.compile(lambda x: mb.loop(3, lambda y: np.sin(y) * x, x), 300)
    assert "@point_rows" not in kernel.ir


@pytest.mark.parametrize("size", [1, pytest.param(20, marks=pytest.mark.slow)])
def test_many_arguments_need_no_large_stack(size):
    """The table of rows lies where the slots do, on the heap when it is large."""

    def function(*args):
        total = args[0]
        for x in args:
            total = 0.5 * total + np.sin(x)
        return total

    count = 300
    kernel = mb.compile(function, *[(size,)] * count, names=[f"x{k}" for k in range(count)], dtype="float32")
    args = list(np.random.default_rng(0).uniform(-1, 1, (count, 40, size)).astype(np.float32))
    found = []
    before = threading.stack_size(256 * 1024)
    try:
        thread = threading.Thread(target=lambda: found.append(kernel(*args)))
        thread.start()
        thread.join()
    finally:
        threading.stack_size(before)
    np.testing.assert_allclose(found[0], function(*args), atol=1e-5)
