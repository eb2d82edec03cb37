"""compile_scan: steps repeated in the kernel are the steps repeated from Python, bit for bit."""

import pickle
import re
import threading

import numpy as np
import pytest

import multibody as mb
from multibody import InputError, Pose
from multibody.compiler.runtime import scan_pieces

from ..every_law import each_case
from .cases import arrays

RNG = np.random.default_rng(0)


def pendulum(state, u, p):
    """A driven pendulum with two arrays as its state."""
    q, v = state
    v = v + 0.01 * (u - p[0] * np.sin(q) - p[1] * v)
    q = q + 0.01 * v
    return (q, v), {"energy": 0.5 * v @ v - np.cos(q).sum(), "both": [q, v]}


@pytest.fixture(scope="module", params=[np.float64, np.float32], ids=["float64", "float32"])
def scan(request):
    return mb.compile_scan(pendulum, [(2,), (2,)], [(2,)], [(2,)], dtype=request.param)


@pytest.fixture(scope="module")
def step():
    """The same step as a kernel, in both precisions."""
    return {
        np.dtype(dtype): mb.compile(lambda q, v, u, p: pendulum((q, v), u, p), 2, 2, 2, 2, dtype=dtype)
        for dtype in (np.float64, np.float32)
    }


def repeat(step, state, u, p, every=1):
    """The reference: one kernel call for each step."""
    kept = []
    for k in range(u.shape[-2]):
        state, output = step[u.dtype](*state, u[..., k, :], p)
        if (k + 1) % every == 0:
            kept.append(arrays(output))
    times = zip(*kept, strict=True)
    return state, [np.stack(parts, axis=parts[0].ndim - core) for parts, core in zip(times, (0, 1, 1), strict=True)]


def draw(dtype, batch, steps):
    x, v, p = (RNG.uniform(-1, 1, (*batch, 2)).astype(dtype) for _ in range(3))
    return (x, v), RNG.uniform(-1, 1, (*batch, steps, 2)).astype(dtype), p


def same(found, expected):
    last, kept = found
    for one, other in zip([*last, *arrays(kept)], [*expected[0], *expected[1]], strict=True):
        assert one.shape == other.shape
        assert one.dtype == other.dtype
        assert one.tobytes() == other.tobytes()


# ---- the same bits ---------------------------------------------------------------------------------------------------


@each_case("batch", [(), (1,), (3,), (4,), (5,), (65,), (2, 3)])
@each_case("every", [1, 2, 3, 7, 20])
def test_equals_repeated_calls(scan, step, batch, every):
    state, u, p = draw(scan.dtype, batch, 20)
    same(scan(state, u, p, every=every), repeat(step, state, u, p, every))


def test_many_samples_and_threads(scan, step):
    state, u, p = draw(scan.dtype, (5000,), 4)
    expected = repeat(step, state, u, p, 2)
    for threads in (1, 2, 3, 16):
        same(scan(state, u, p, every=2, threads=threads), expected)


@pytest.mark.parametrize("every", [1, 3, 50, 1000])
def test_pieces_are_one(scan, monkeypatch, every):
    """A long scan is run in pieces, to hear signals: of one step each, when time is short."""
    state, u, p = draw(scan.dtype, (7,), 200)
    whole = scan(state, u, p, every=every)
    monkeypatch.setattr(scan_pieces, "PIECE_TIME", 0.0)
    found = scan(state, u, p, every=every)
    same(found, (whole[0], arrays(whole[1])))


def test_a_scan_goes_on_where_another_ended(scan):
    state, u, p = draw(scan.dtype, (7,), 60)
    last, kept = scan(state, u, p)
    middle, first = scan(state, u[:, :23], p)
    end, second = scan(middle, u[:, 23:], p)
    assert all(one.tobytes() == other.tobytes() for one, other in zip(last, end, strict=True))
    for one, a, b in zip(arrays(kept), arrays(first), arrays(second), strict=True):
        assert one.tobytes() == np.concatenate([a, b], axis=1).tobytes()


def test_one_bad_sample(scan):
    state, u, p = draw(scan.dtype, (300,), 10)
    (q, v), kept = scan(state, u, p)
    state[0][123], u[200, 5] = np.nan, np.inf
    (q2, v2), kept2 = scan(state, u, p)
    others = ~np.isin(np.arange(300), (123, 200))
    for one, other in zip([q, v, *arrays(kept)], [q2, v2, *arrays(kept2)], strict=True):
        assert one[others].tobytes() == other[others].tobytes()
    assert np.isnan(q2[123]).any()


def test_equals_plain_numpy():
    scan = mb.compile_scan(pendulum, [2, 2], [2], [2])
    state, u, p = draw(np.float64, (), 50)
    (q, v), kept = scan(state, u, p)
    for k in range(50):
        state, output = pendulum(state, u[k], p)
        np.testing.assert_allclose(kept["energy"][k], output["energy"], rtol=1e-12)
    np.testing.assert_allclose([q, v], state, rtol=1e-12)


# ---- shapes ----------------------------------------------------------------------------------------------------------


@each_case("batches, batch", [
        (((), (), (), ()), ()), (((5,), (5,), (), ()), (5,)), (((), (), (5,), ()), (5,)), (((), (), (), (5,)), (5,)),
        (((2, 1), (3,), (1, 3), ()), (2, 3)), (((3,), (), (2, 3), (2, 1)), (2, 3)),
        (((4, 1, 1), (2, 1), (3,), ()), (4, 2, 3)), (((0,), (), (), ()), (0,)), (((), (), (2, 0), (1, 1)), (2, 0)),
    ])  # fmt: skip
def test_batches_broadcast(step, batches, batch):
    scan = mb.compile_scan(pendulum, [2, 2], [2], [2])
    cores = ((2,), (2,), (6, 2), (2,))
    given = [RNG.uniform(-1, 1, (*b, *core)) for b, core in zip(batches, cores, strict=True)]
    full = [np.ascontiguousarray(np.broadcast_to(a, (*batch, *core))) for a, core in zip(given, cores, strict=True)]
    same(scan(tuple(given[:2]), *given[2:]), repeat(step, tuple(full[:2]), *full[2:]))


def test_layouts_and_dtypes(step):
    scan = mb.compile_scan(pendulum, [2, 2], [2], [2])
    state, u, p = draw(np.float64, (3,), 6)
    expected = repeat(step, state, u, p)
    time_first = np.ascontiguousarray(np.moveaxis(u, 1, 0))
    for inputs in (np.asfortranarray(u), np.moveaxis(time_first, 0, 1), u[::-1].copy()[::-1], u.tolist(),
                   u.astype(">f8"), np.repeat(u, 2, axis=1)[:, ::2], np.repeat(u, 2, axis=2)[..., ::2]):  # fmt: skip
        same(scan(state, inputs, p), expected)
    same(scan([state[0].tolist(), state[1].tolist()], u, p.tolist()), expected)
    before = state[0].copy(), u.copy()
    scan(state, u, p)
    np.testing.assert_array_equal(state[0], before[0])
    np.testing.assert_array_equal(u, before[1])


def test_states_alone():
    scan = mb.compile_scan(lambda x: (x * 1.5, None), ())
    last, kept = scan(1.0, steps=4)
    assert type(last) is np.float64
    assert last == 1.5**4
    assert kept is None
    assert scan(2.0, steps=0) == (2.0, None)
    np.testing.assert_array_equal(scan([1.0, 2.0], steps=np.int64(2))[0], [2.25, 4.5])


def test_no_steps_and_none_kept():
    scan = mb.compile_scan(lambda x, u: (x + u, (x, u[0])), 2, [2])
    x = np.ones((3, 2))
    last, (a, b) = scan(x, np.zeros((3, 0, 2)))
    np.testing.assert_array_equal(last, x)
    assert (a.shape, b.shape) == ((3, 0, 2), (3, 0))
    last, (a, b) = scan(x, np.ones((5, 2)), every=6)
    np.testing.assert_array_equal(last, x + 5)
    assert (a.shape, b.shape) == ((3, 0, 2), (3, 0))


def test_the_output_sees_the_state_before_and_after():
    scan = mb.compile_scan(lambda x, u: (x + u, (x, x + u, u)), (), [()])
    last, (before, after, inputs) = scan(10.0, [1.0, 2.0, 3.0])
    assert last == 16.0
    np.testing.assert_array_equal(before, [10.0, 11.0, 13.0])
    np.testing.assert_array_equal(after, [11.0, 13.0, 16.0])
    np.testing.assert_array_equal(inputs, [1.0, 2.0, 3.0])


def test_states_that_change_places_are_kept_or_forgotten():
    """Every element of the state has its place, also one that is only read, only written, or neither."""

    def function(state, u):
        a, b, c, d = state
        return (b, a, np.stack([c[1], c[0], u]), d), ()

    scan = mb.compile_scan(function, [(), (), (3,), (2,)], [()])
    (a, b, c, d), kept = scan((1.0, 2.0, [3.0, 4.0, 5.0], [6.0, 7.0]), [8.0, 9.0, 10.0])
    assert kept == ()
    assert (a, b) == (2.0, 1.0)
    np.testing.assert_array_equal(c, [4.0, 3.0, 10.0])
    np.testing.assert_array_equal(d, [6.0, 7.0])


def test_unused_inputs_and_parameters():
    scan = mb.compile_scan(lambda x, u, w, p, r: (x + w[1], p[0]), 1, [2, 3], [2, 2])  # noqa: ARG005
    last, kept = scan([0.0], np.zeros((4, 2)), np.arange(12.0).reshape(4, 3), [5.0, 6.0], [7.0, 8.0])
    np.testing.assert_array_equal(last, [1.0 + 4 + 7 + 10])
    np.testing.assert_array_equal(kept, [5.0] * 4)


def test_loops_values_and_constants_in_a_step():
    def function(x, u):
        pose = Pose.exp(0.1 * x)
        y = mb.loop(3, lambda y: 0.5 * np.sin(y) + u, x)
        return y, {"pose": pose, "last": y, "fixed": np.arange(2.0)}

    scan = mb.compile_scan(function, 6, [6])
    x, u = RNG.uniform(-1, 1, (4, 6)), RNG.uniform(-1, 1, (4, 5, 6))
    last, kept = scan(x, u)
    assert isinstance(kept["pose"], Pose)
    assert kept["pose"].shape == (4, 5)
    np.testing.assert_array_equal(kept["fixed"], np.tile([0.0, 1.0], (4, 5, 1)))
    for n in range(4):
        state = x[n]
        for k in range(5):
            state, output = function(state, u[n, k])
            np.testing.assert_allclose(kept["pose"][n, k].matrix, output["pose"].matrix, atol=1e-13)
        np.testing.assert_allclose(last[n], state, atol=1e-13)
        np.testing.assert_array_equal(kept["last"][n, -1], last[n])


def test_large_steps():
    """A step of many segments, whose state crosses them all."""

    def function(x, u):
        y = x
        for k in range(700):
            y = np.tanh(y[::-1] + 0.01 * k * u) * 0.9 + 0.1 * x
        return y, y.sum()

    scan = mb.compile_scan(function, 3, [()])
    assert sum(scan.ops.values()) > 5000
    x, u = RNG.uniform(-1, 1, (70, 3)), RNG.uniform(-1, 1, (70, 4))
    kernel = mb.compile(function, 3, ())
    last, kept = scan(x, u, threads=2)
    for k in range(4):
        x, output = kernel(x, u[:, k])
        assert kept[:, k].tobytes() == output.tobytes()
    assert last.tobytes() == x.tobytes()


# ---- eager, cache, pickles -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("batch", [(), (2, 3), (0,)], ids=str)
def test_eager(batch):
    hidden = threading.local()  # of which attributes are not compared

    def function(state, u, p):
        hidden.seen.append(u)
        return pendulum(state, u, p)

    hidden.seen = seen = []

    scan = mb.compile_scan(function, [2, 2], [2], [2])
    state, u, p = draw(np.float64, batch, 7)
    seen.clear()
    native = scan(state, u, p, every=3)
    assert not seen
    with mb.eager():
        plain = scan(state, u, p, every=3)
        with pytest.raises(InputError, match="expected 3 arguments"):
            scan(state, u)
    assert len(seen) == 7 * int(np.prod(batch))
    assert all(u.shape == (2,) for u in seen)
    for one, other in zip(arrays(native), arrays(plain), strict=True):
        assert one.shape == other.shape
        np.testing.assert_allclose(one, other, rtol=1e-12)


def test_kept_on_disk(place, monkeypatch):
    state, u, p = draw(np.float64, (5,), 6)
    first = mb.compile_scan(pendulum, [2, 2], [2], [2])
    expected = first(state, u, p)
    mb.compile_scan(lambda state, u: pendulum(state, u, np.ones(2)), [2, 2], [2])(state, u)
    mb.compile_scan(lambda state, p: pendulum(state, np.ones(2), p), [2, 2], [], [2])(state, p, steps=2)
    mb.compile_scan(pendulum, [2, 2], [2], [2], dtype=np.float32)(state, u, p)
    mb.compile(lambda q, v, u, p: pendulum((q, v), u, p), 2, 2, 2, 2)(*state, p, p)
    assert len(list(place.iterdir())) == 5
    monkeypatch.setattr("multibody.compiler.runtime.native.compile_objects", None)
    second = mb.compile_scan(pendulum, [2, 2], [2], [2])
    same(second(state, u, p), (expected[0], arrays(expected[1])))
    assert first.ops == second.ops


def test_pickle(scan):
    state, u, p = draw(scan.dtype, (5,), 6)
    expected = scan(state, u, p, every=2)
    twin = pickle.loads(pickle.dumps(scan))
    assert repr(twin) == repr(scan)
    same(twin(state, u, p, every=2, threads=2), (expected[0], arrays(expected[1])))


def test_repr_and_counts(scan):
    assert re.fullmatch(rf"<Scan pendulum, \d+ operations a step, {scan.dtype}>", repr(scan))
    assert scan.ops["sin"] == scan.ops["cos"] == 2


# ---- errors ----------------------------------------------------------------------------------------------------------

U = np.zeros((5, 2))
GOOD = (np.zeros(2), np.zeros(2))


@each_case(
    "args, options, told",
    [
        ((np.zeros(2), U, np.zeros(2)), {}, "state: expected a tuple of 2 arrays"),
        (((np.zeros(2),), U, np.zeros(2)), {}, "state: expected a tuple of 2 arrays"),
        ((GOOD, U), {}, "expected 3 arguments, got 2"),
        ((GOOD, U, U, U), {}, "expected 3 arguments, got 4"),
        (((np.zeros(3), np.zeros(2)), U, np.zeros(2)), {}, "state0: expected shape (..., 2), got (3,)"),
        ((GOOD, np.zeros(2), np.zeros(2)), {}, "expected one number of steps, got none (pass steps=)"),
        ((GOOD, np.zeros((5, 3)), np.zeros(2)), {}, "input0: expected shape (..., steps, 2), got (5, 3)"),
        ((GOOD, U, np.zeros(())), {}, "parameter0: expected shape (..., 2), got ()"),
        ((GOOD, U.astype(complex), np.zeros(2)), {}, "input0: expected real numbers, got dtype complex128"),
        ((GOOD, [[1.0], [1.0, 2.0]], np.zeros(2)), {}, "input0: expected numbers of shape"),
        ((GOOD, U, np.zeros(2)), {"steps": 4}, "expected one number of steps, got [4, 5]"),
        ((GOOD, U, np.zeros(2)), {"every": 0}, "every: expected a positive integer or None, got 0"),
        ((GOOD, U, np.zeros(2)), {"every": 1.5}, "every: expected a positive integer or None, got 1.5"),
        ((GOOD, U, np.zeros(2)), {"threads": 0}, "threads: expected a positive integer, got 0"),
        (
            ((np.zeros((3, 2)), np.zeros((4, 2))), U, np.zeros(2)),
            {},
            "batch shapes (3,), (4,), (), () do",
        ),
    ],
)
def test_wrong_arguments(scan, args, options, told):
    with pytest.raises(InputError, match=re.escape(told)):
        scan(*args, **options)


@pytest.mark.parametrize("steps", [None, -1, 1.5])
def test_wrong_steps(steps):
    scan = mb.compile_scan(lambda x: (x, None), 1)
    with pytest.raises(InputError, match=r"steps: expected|expected one number of steps, got none \(pass steps=\)"):
        scan([1.0], steps=steps)


@each_case(
    "function, told",
    [
        (lambda x: x, "must return the next state and an output"),
        (lambda x: (x, x, x), "must return the next state and an output"),
        (lambda x: (x[:1], None), "must keep the shape of the state: (2,) became (1,)"),
        (lambda x: ((x, x), None), "must return a state that is nested as the one it takes"),
        (lambda x: ({"x": x}, None), "must return a state that is nested as the one it takes"),
        (lambda x: (x, "text"), "returned str; expected arrays"),
    ],
)
def test_wrong_steps_of_time(function, told):
    with pytest.raises(InputError, match=re.escape(told)):
        mb.compile_scan(function, 2)
