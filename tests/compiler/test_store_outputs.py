"""Results with constants in them: zeros side by side have no slots, and every element is written all the same."""

import numpy as np
import pytest

import multibody as mb
from multibody.compiler.codegen import target
from multibody.compiler.ir.liveness import MIN_ZERO_RUN
from multibody.compiler.ir.passes import prepare
from multibody.compiler.ir.segments import cut

from ..every_law import each_case

COUNTS = (0, 1, 3, 4, 5, 8, 9, 17, 4097)
DTYPES = ("float64", "float32")


def row(*parts):
    """A function of x, (5,): a row of numbers, and of elements of x where a part is a text of indices."""

    def function(x):
        pieces = [x[[int(k) for k in p]] * 2.0 if isinstance(p, str) else p for p in parts]
        return np.concatenate(pieces)

    return function


def zeros(n):
    return np.zeros(n)


CASES = {
    "no constants": row("01234" * 8),
    "zeros alone": lambda x: np.zeros(40),  # noqa: ARG005
    "few zeros": row("012", zeros(MIN_ZERO_RUN - 1), "34", zeros(1), "0"),
    "just enough zeros": row("012", zeros(MIN_ZERO_RUN), "3"),
    "zeros first": row(zeros(23), "01234"),
    "zeros last": row("0", zeros(100)),
    "lines of zeros": row("01", zeros(1200), "234", zeros(17), "1", zeros(33), "01234"),
    "other constants": row("01", np.full(12, 3.5), zeros(9), np.full(9, -0.0), "2"),
    "nan and inf": row(np.full(10, np.nan), "01", zeros(15), np.full(9, -np.inf), "3", np.array([np.inf])),
    "several results": lambda x: (np.zeros(30), x * 2.0, np.concatenate([x, np.zeros(20), x]), np.zeros(3), x[0]),
    "zeros across results": lambda x: (np.concatenate([x, np.zeros(5)]), np.zeros(5), np.concatenate([np.zeros(9), x])),
    "a short row": row(zeros(9), "0123"),
}


def arrays(result):
    return result if isinstance(result, tuple) else (result,)


def same(found, expected):
    """Bit for bit, the sign of zeros and NaN included."""
    for one, other in zip(arrays(found), arrays(expected), strict=True):
        np.testing.assert_array_equal(one, other)
        np.testing.assert_array_equal(np.signbit(one), np.signbit(other))


def expected_of(function, X, dtype):
    rows = [arrays(function(x)) for x in X] or [arrays(function(np.ones(5, dtype)))]
    stacked = [np.stack([np.asarray(r[m], dtype) for r in rows]) for m in range(len(rows[0]))]
    return tuple(s[: len(X)] for s in stacked)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", CASES)
def test_every_batch_and_every_single_call(name, dtype):
    function = CASES[name]
    kernel = mb.compile(function, 5, dtype=dtype)
    for count in COUNTS:
        X = np.random.default_rng(count).standard_normal((count, 5)).astype(dtype)
        expected = expected_of(function, X[:50], dtype)
        found = arrays(kernel(X))
        same(tuple(f[:50] for f in found), expected)
        if count:
            same(tuple(f[-1] for f in found), arrays(kernel(X[-1])))


@each_case("dtype", DTYPES)
@each_case("name", CASES)
def test_what_was_in_out_does_not_matter_nor_what_is_beside_it(name, dtype):
    kernel = mb.compile(CASES[name], 5, dtype=dtype)
    X = np.random.default_rng(0).standard_normal((13, 5)).astype(dtype)
    fresh = arrays(kernel(X))
    guarded = [np.full((15, *f.shape[1:]), 7.0, dtype) for f in fresh]
    out = tuple(g[1:14] for g in guarded)
    kernel(X, out=out if len(out) > 1 else out[0])
    same(out, fresh)
    for g in guarded:
        assert (g[0] == 7.0).all()
        assert (g[14] == 7.0).all()


@pytest.mark.parametrize("name", ["lines of zeros", "several results", "zeros alone"])
def test_strided_out_and_threads(name):
    kernel = mb.compile(CASES[name], 5)
    X = np.random.default_rng(1).standard_normal((4097, 5))
    fresh = arrays(kernel(X))
    wide = tuple(np.full((2 * len(f), *f.shape[1:]), 7.0) for f in fresh)
    out = tuple(w[::2] for w in wide)
    kernel(X, out=out if len(out) > 1 else out[0])
    same(out, fresh)
    assert all((w[1::2] == 7.0).all() for w in wide)
    same(arrays(kernel(X, threads=2)), fresh)


def test_zeros_have_no_slots_and_other_constants_do():
    def program(function):
        traced = mb.compile(function, 5).trace()
        return cut(prepare(traced.graph, traced.roots), [ids.size for ids in traced.outputs])

    assert program(CASES["zeros alone"]).outputs == [-1] * 40
    assert -1 not in program(CASES["few zeros"]).outputs
    assert program(CASES["just enough zeros"]).outputs.count(-1) == MIN_ZERO_RUN
    assert program(CASES["other constants"]).outputs.count(-1) == 9  # -0.0 is another number
    assert program(CASES["zeros across results"]).outputs.count(-1) == 9


def test_a_scan_keeps_zeros_of_its_outputs_and_of_its_state():
    scan = mb.compile_scan(lambda x, u: (x * 0.0 + u, np.concatenate([x, np.zeros(20), u])), (3,), [(3,)])
    U = np.random.default_rng(2).standard_normal((11, 6, 3))
    last, seen = scan(np.ones(3), U)
    np.testing.assert_array_equal(last, U[:, -1])
    np.testing.assert_array_equal(seen[..., 23:], U)
    assert not seen[..., 3:23].any()


@pytest.mark.parametrize("unused", [1, 3, 4, 30])
def test_elements_that_are_not_used_may_lie_between_those_that_are(unused):
    n = 2 * unused + 22
    used = [0, 1, *range(2 + unused, 20 + unused), n - 1]
    kernel = mb.compile(lambda x: x[used] * 3.0, n)
    X = np.random.default_rng(3).standard_normal((21, n))
    np.testing.assert_array_equal(kernel(X), X[:, used] * 3.0)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("lanes", [1, 2, 4])
def test_machines_with_other_vectors_write_the_same(monkeypatch, lanes, dtype):
    here = target.host()
    monkeypatch.setattr(target, "host", lambda: here._replace(lanes=lanes))
    monkeypatch.setattr(mb.config, "cache", False)
    for name in ("lines of zeros", "nan and inf", "several results", "zeros alone", "a short row"):
        kernel = mb.compile(CASES[name], 5, dtype=dtype)
        for count in (1, 5, 17):
            X = np.random.default_rng(count).standard_normal((count, 5)).astype(dtype)
            same(kernel(X), expected_of(CASES[name], X, dtype))


@pytest.mark.parametrize("batch", [(), (1,), (5,), (2, 3)])
def test_results_that_lie_over_each_other_are_refused(batch):
    """Of two results in one memory, one would be lost."""
    kernel = mb.compile(lambda x: (2 * x, 3 * x, np.sum(x)), 3)
    x, sums = np.random.default_rng(0).normal(size=(*batch, 3)), np.zeros(batch)
    same, long = np.zeros((*batch, 3)), np.zeros(2 * x.size)
    kernel(x)  # the next call goes through the door
    for first, second in ((same, same), (long[: x.size].reshape(x.shape), long[1 : 1 + x.size].reshape(x.shape))):
        with pytest.raises(mb.InputError, match=r"out: expected an array of its own for each result, .* for 0 and 1"):
            kernel(x, out=(first, second, sums))
    beside = np.zeros((*batch, 3, 2))
    kernel(x, out=(beside[..., 0], beside[..., 1], sums))
    np.testing.assert_array_equal(beside, np.stack([2 * x, 3 * x], axis=-1))
    first, second, _ = kernel(x, out=(long[: x.size].reshape(x.shape), long[x.size :].reshape(x.shape), sums))
    np.testing.assert_array_equal(first, 2 * x)
    np.testing.assert_array_equal(second, 3 * x)
