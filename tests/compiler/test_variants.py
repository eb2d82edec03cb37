"""The two forms of a kernel, for batches and for one sample, and the rows that are asked for early."""

import re

import numpy as np
import pytest

import multibody as mb
from multibody.compiler.cache import code_cache
from multibody.compiler.codegen import prefetch, target, variants
from multibody.compiler.ir.passes import prepare
from multibody.compiler.ir.segments import cut
from multibody.compiler.ir.tiling import Tiling, choose_tiling
from multibody.compiler.runtime import native
from multibody.compiler.runtime.code import Entry, unpickle
from multibody.errors import InputError

DTYPES = ("float64", "float32")
COUNTS = (0, 1, 2, 3, 7, 8, 9, 31, 100, 1030)


def grown(width, rounds):
    """A function of x, (6,), with a long symmetric result, zeros in it, and a short one."""

    def function(x):
        values = [x[k % 6] * (1.0 + 0.03 * k) for k in range(width)]
        for k in range(rounds):
            a, b = values[k % width], values[(5 * k + 2) % width]
            values[k % width] = np.sin(a) * b + a / (1.5 + b * b)
        square = np.zeros((width, width), dtype=object)
        for i in range(width):
            for j in range(i + 1):
                square[i, j] = square[j, i] = values[i] * values[j] if (i * j) % 3 else 0.0
        rows = [np.stack([1.0 * x[0] * 0.0 + e if isinstance(e, float) else e for e in row]) for row in square]
        return np.stack(rows), np.stack(values[:3])

    return function


def program_of(kernel):
    traced = kernel.trace()
    sizes = [ids.size for ids in traced.outputs]
    return cut(prepare(traced.graph, traced.roots), sizes), sizes


def nodes_of(program):
    return sum(len(segment.nodes) for segment in program.segments)


def bits(arrays):
    return [np.asarray(a).tobytes() for a in arrays]


def entries(kernel):
    return set(re.findall(r"^define void @(kernel|one)\(", kernel.ir, flags=re.M))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("width", "rounds"), [(4, 10), (12, 300), (20, 1500)])
def test_one_sample_and_a_batch_have_the_same_bits(width, rounds, dtype):
    kernel = mb.compile(grown(width, rounds), 6, dtype=dtype)
    assert entries(kernel) == ({"kernel", "one"} if rounds > 10 else {"kernel"})
    X = np.random.default_rng(0).uniform(-1, 1, (1030, 6)).astype(dtype)
    whole = kernel(X)
    for count in COUNTS:
        assert bits(kernel(X[:count])) == bits(part[:count] for part in whole)
    for k in (0, 5, 1029):
        assert bits(kernel(X[k])) == bits(part[k] for part in whole)
        out = tuple(np.full(part.shape[1:], np.nan, dtype) for part in whole)
        assert kernel(X[k], out=out) is out
        assert bits(out) == bits(part[k] for part in whole)


@pytest.mark.parametrize("name", ["inverse_dynamics", "mass_matrix", "inverse_dynamics_derivatives", "regressor"])
def test_both_forms_of_a_robot(name):
    robot = mb.load("panda")
    rng = np.random.default_rng(1)
    state = robot.random(rng, (70,)), *rng.standard_normal((2, 70, robot.nv))
    kernel = robot.kernel(name)
    given = state[: len(kernel.signature.inputs)]
    results = kernel(*given)
    parts = results if isinstance(results, tuple) else (results,)
    for k in range(0, 70, 23):
        one = kernel(*(array[k] for array in given))
        assert bits(one if isinstance(one, tuple) else (one,)) == bits(part[k] for part in parts)


def test_only_programs_of_some_size_have_two_forms():
    kernel = mb.compile(grown(12, 300), 6)
    assert nodes_of(program_of(kernel)[0]) > variants.MIN_SCALAR_NODES
    assert entries(kernel) == {"kernel", "one"}
    assert entries(mb.compile(lambda x: x + 1.0, 6)) == {"kernel"}


def test_a_form_is_compiled_when_it_is_first_called(monkeypatch):
    """Either one first, by the door or past it; a scan, a kernel of the same code and one from the disk alike."""
    counted, compile_objects = [], native.compile_objects
    monkeypatch.setattr(native, "compile_objects", lambda *args: counted.append(1) or compile_objects(*args))
    monkeypatch.setattr(mb.config, "verify", False)

    def function(x):
        return grown(6, 120)(x)[1] * 1.0625

    def step(x):
        return np.concatenate([function(x), x[:3]]), None

    x = np.random.default_rng(2).uniform(-1, 1, (9, 6))
    kernel = mb.compile(function, 6)
    assert not counted
    assert kernel(np.ones((0, 6))).shape == (0, 3)
    assert not counted, "nothing is computed"
    single = [kernel(x[0]), kernel(x[0]), kernel(x[0].tolist()), kernel(x[:1], threads=2)[0]]
    assert len(counted) == 1
    batch = [kernel(x)[0], kernel(x[::2])[0], kernel(x, threads=2)[0], mb.compile(function, 6)(x)[0]]
    assert len(counted) == 2
    assert len({row.tobytes() for row in single + batch}) == 1
    scan = mb.compile_scan(step, 6)
    many = scan(x, steps=3)[0]
    assert len(counted) == 3
    assert scan(x[4], steps=3)[0].tobytes() == many[4].tobytes()
    assert len(counted) == 4
    monkeypatch.setattr(code_cache, "_alive", {})
    assert mb.compile(function, 6)(x)[0].tobytes() == mb.compile(function, 6)(x[0]).tobytes() == single[0].tobytes()
    assert len(counted) == 4, "both forms lie on the disk"


def test_vectors_are_not_halved_where_nothing_can_be_fetched_early():
    """In loops and scans the rows are written once for many rounds."""
    lanes = target.host().lanes
    for kernel, halved in (
        (mb.compile(lambda x: mb.loop(5, lambda y: np.sin(y) + x, x), 100), False),
        (mb.compile(lambda x: np.concatenate([np.sin(x), x, x]), 100), lanes > 4),
    ):
        program, _ = program_of(kernel)
        assert choose_tiling(program, lanes, "float64", fma=True).lanes == (lanes // 2 if halved else lanes)
        assert choose_tiling(program, lanes, "float64", fma=True, once=False).lanes == lanes


def test_one_sample_may_be_written_over_its_argument():
    kernel = mb.compile(
        lambda x: np.concatenate([np.sin(x[3:]) + x[:3], np.cos(x[:3]) * x[3:]]) + grown(4, 40)(x)[1].sum(), 6
    )
    assert "@direct" in kernel.ir
    assert "@direct" not in kernel.ir[kernel.ir.index("define void @one(") :]
    x = np.random.default_rng(7).standard_normal(6)
    expected = kernel(x.copy())
    assert kernel(x, out=x) is x
    assert bits([x]) == bits([expected])


def test_code_of_another_version_is_refused():
    kernel = mb.compile(grown(4, 10), 6)
    old = Entry({}, {"kernel": [native.compile_object("define void @other() {\n  ret void\n}")]}, {})
    with pytest.raises(InputError, match="code of this version of the library: compile it here"):
        unpickle(target.host(), mb.Kernel, "grown", kernel.signature, old, kernel.ops, 1)


def test_a_scan_of_one_sample_has_the_bits_of_a_batch():
    def step(x, u):
        y = grown(6, 60)(x)[1]
        new = np.tanh(np.concatenate([y, x[:3]]) + u)
        return new, np.outer(new, new)

    scan = mb.compile_scan(step, (6,), [(6,)])
    rng = np.random.default_rng(2)
    X, U = rng.standard_normal((9, 6)), rng.standard_normal((9, 12, 6))
    last, seen = scan(X, U)
    for k in range(9):
        assert bits(scan(X[k], U[k])) == bits((last[k], seen[k]))


def test_equal_elements_of_long_results_share_a_slot():
    program, (size, _) = program_of(mb.compile(grown(12, 300), 6))
    square = np.reshape(program.outputs[:size], (12, 12))
    both = (square >= 0) & (square.T >= 0)
    np.testing.assert_array_equal(square[both], square.T[both])
    distinct = {s for s in program.outputs[:size] if s >= 0}
    assert len(distinct) < size / 2
    assert len(set(program.outputs[size:])) == 3
    stored = [slot for segment in program.segments for _, slot in segment.stores]
    assert len(stored) == len(set(stored))


# ---- rows that are asked for -----------------------------------------------------------------------------------------


def asked(ir):
    """How often lines are asked for to write and to read."""
    return ir.count("i32 1, i32 3, i32 1)"), ir.count("i32 0, i32 2, i32 1)")


def test_lines_of_results_are_asked_for_once_each():
    kernel = mb.compile(grown(12, 300), 6)
    program, sizes = program_of(kernel)
    shape = choose_tiling(program, target.host().lanes, "float64", fma=True)
    plan = prefetch.plan(program, shape, sizes)
    lines = [line for segment in plan.lines for line in segment]
    assert len(lines) == len(set(lines)) == sum(-(-size * shape.bytes // 64) for size in sizes)
    assert asked(kernel.ir) == (len(lines), 0)
    assert not any(prefetch.plan(program, Tiling(1, "float64", program.slots, 1, True), sizes).lines)


@pytest.mark.slow
def test_results_that_would_not_stay_near_are_asked_for_as_they_are_written():
    kernel = mb.compile(lambda x: np.outer(np.sin(x), np.cos(x)) * np.exp(x), 80)
    program, sizes = program_of(kernel)
    shape = choose_tiling(program, target.host().lanes, "float64", fma=True)
    assert not prefetch.plan(program, shape, sizes).results
    to_write, to_read = asked(kernel.ir)
    fours = shape.lanes % 4 == 0  # else rows are written element by element, and nothing is asked for
    assert to_write == (shape.lanes if fours else 0)  # in the loop that writes rows, and not in the form for one sample
    assert to_read > 0  # 80 elements of the argument


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", [31, 32, 200])
def test_long_arguments_in_every_layout(n, dtype):
    def function(x, y):
        return (np.sin(x) * y + np.roll(x, 1)) * (1.0 + x[0]), x * y

    kernel = mb.compile(function, n, n, dtype=dtype)
    assert (asked(kernel.ir)[1] > 0) == (2 * n >= prefetch.MIN_STREAMED_INPUTS)
    rng = np.random.default_rng(3)
    X, Y = rng.standard_normal((2, 301, n)).astype(dtype)
    whole = kernel(X, Y)
    assert bits(kernel(X[:1], Y)) == bits(kernel(np.repeat(X[:1], 301, axis=0), Y))  # one row for all
    wide = np.zeros((301, n + 5), dtype)
    wide[:, 2:-3] = X
    assert bits(kernel(wide[:, 2:-3], Y)) == bits(whole)  # rows with gaps
    grid = np.broadcast_to(X[:7, None], (7, 5, n))
    assert bits(kernel(grid, Y[:5])) == bits(kernel(grid.reshape(35, n), np.tile(Y[:5], (7, 1))))  # a table of rows
    assert bits(kernel(X[::-1], Y[::-1])) == bits(part[::-1] for part in whole)
