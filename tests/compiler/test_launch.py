"""What a kernel takes and gives: batches that broadcast, memory of all layouts, out=, names, nested results, errors."""

import re
import tracemalloc

import numpy as np
import pytest

import multibody as mb
from multibody import InputError, Pose
from multibody.compiler.runtime import fastcall
from multibody.compiler.runtime.launch import rows_of

from ..every_law import each_case

RNG = np.random.default_rng(0)


def mix(x, A, t):
    return np.cos(A) @ x * t + x, np.sin(t) + x[0]


@pytest.fixture(scope="module", params=["door", "ctypes"])
def kernel(request):
    """Through the door where it can, and as it is where there is none."""
    with pytest.MonkeyPatch.context() as patch:
        if request.param == "ctypes":
            patch.setattr(fastcall, "available", lambda: False)
        return mb.compile(mix, 3, (3, 3), ())


def reference(x, A, t):
    """The same function over any batches."""
    batch = np.broadcast_shapes(x.shape[:-1], A.shape[:-2], t.shape)
    x, A, t = np.broadcast_to(x, (*batch, 3)), np.broadcast_to(A, (*batch, 3, 3)), np.broadcast_to(t, batch)
    results = np.empty((*batch, 3)), np.empty(batch)
    for k in np.ndindex(*batch):
        results[0][k], results[1][k] = mix(x[k], A[k], t[k])
    return results


def draw(*batches):
    return [RNG.uniform(-1, 1, (*b, *core)) for b, core in zip(batches, ((3,), (3, 3), ()), strict=True)]


def check(kernel, x, A, t, *given):
    found, expected = kernel(*(given or (x, A, t))), reference(x, A, t)
    for one, other in zip(found, expected, strict=True):
        assert np.shape(one) == other.shape
        np.testing.assert_allclose(one, other, rtol=1e-12, atol=1e-14)


# ---- batches ---------------------------------------------------------------------------------------------------------


@each_case("batches", [
        ((), (), ()), ((1,), (), ()), ((5,), (), ()), ((), (5,), ()), ((), (), (5,)), ((5,), (5,), (5,)),
        ((5,), (1,), (5,)), ((2, 3), (3,), ()), ((2, 1), (3,), ()), ((2, 1), (1, 3), (2, 3)),
        ((4, 1, 3), (5, 1), (4, 5, 3)), ((1, 1, 1), (), (1, 1)), ((2, 1, 2, 1), (3, 1, 3), (2, 1, 2, 3)),
        ((70, 1), (1, 3), ()), ((0,), (), ()),
        ((0,), (1,), (0,)), ((3, 0), (), ()), ((3, 1), (0,), ()), ((2, 0, 3), (3,), (1, 1)),
    ])  # fmt: skip
def test_batches_broadcast(kernel, batches):
    check(kernel, *draw(*batches))


def test_broadcast_arguments_are_not_copied():
    x, table = np.zeros(3), np.zeros((5, 1, 3))
    for array, batch in [(x, (7,)), (x, (4, 7)), (table, (5, 7)), (table, (2, 5, 7)), (np.zeros((7, 3))[::-2], (6, 4))]:
        assert rows_of(array, batch, 1).array is array
    assert rows_of(x, (4, 7), 1).offsets is None
    assert rows_of(np.zeros((4, 7, 3)), (4, 7), 1).offsets is None
    assert rows_of(table, (5, 7), 1).offsets is not None
    assert rows_of(np.zeros((7, 3))[::-2], (4,), 1).stride == -48


def test_a_broadcast_argument_costs_no_memory():
    kernel = mb.compile(lambda x, M: x[0] + M[0, 0], 1, (200, 200))
    x, M = np.zeros((2000, 1)), np.ones((200, 200))
    kernel(x, M)
    tracemalloc.start()
    kernel(x, np.broadcast_to(M, (2000, 200, 200)))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1e6


# ---- memory ----------------------------------------------------------------------------------------------------------


def unaligned(a):
    view = np.zeros(a.nbytes + 1, dtype=np.uint8)[1:].view(a.dtype).reshape(a.shape)
    view[...] = a
    return view


def read_only(a):
    a = a.copy()
    a.flags.writeable = False
    return a


def pickled(a):
    """With a dtype that is equal to float64, and another object."""
    return np.frombuffer(a.tobytes(), dtype=np.dtype("f8", copy=True)).reshape(a.shape)


LAYOUTS = {
    "list": lambda a: a.tolist(),
    "tuple": lambda a: tuple(a.tolist()),
    "read-only": read_only,
    "sliced": lambda a: np.repeat(a, 2, axis=0)[::2],
    "inner slice": lambda a: np.repeat(a, 2, axis=-1)[..., ::2],
    "Fortran": np.asfortranarray,
    "negative": lambda a: a[::-1].copy()[::-1],
    "inner negative": lambda a: a[..., ::-1].copy()[..., ::-1],
    "unaligned": unaligned,
    "byte-swapped": lambda a: a.astype(">f8"),
    "little": lambda a: a.astype("<f8"),
    "another dtype object": pickled,
    "float32": lambda a: a.astype(np.float32),
    "float16": lambda a: a.astype(np.float16),
    "longdouble": lambda a: a.astype(np.longdouble),
    "int": lambda a: (10 * a).astype(int),
    "uint8": lambda a: (100 * np.abs(a)).astype(np.uint8),
    "bool": lambda a: a > 0,
    "matrix": lambda a: a.view(type("Own", (np.ndarray,), {})),
    "memory": lambda a: memoryview(np.ascontiguousarray(a)),
}


@each_case("layout", LAYOUTS)
@each_case("batch", [(), (6,), (2, 3)])
def test_layouts_and_dtypes(kernel, layout, batch):
    plain = draw(batch, batch, batch)
    given = [LAYOUTS[layout](a) if a.ndim else a for a in plain]
    before = [np.array(a) for a in given]
    check(kernel, *(np.asarray(a, dtype=float) for a in given), *given)
    for array, copy in zip(given, before, strict=True):
        np.testing.assert_array_equal(array, copy)


def test_numbers():
    kernel = mb.compile(lambda s, t: s * t, (), ())
    for one in (2, 2.0, np.float64(2), np.float32(2), np.int8(2), True + 1, np.array(2)):
        result = kernel(one, 3.0)
        assert type(result) is np.float64
        assert result == 6.0
    assert type(kernel(np.array(2.0), np.array(3.0))) is np.float64
    assert all(type(part) is np.float64 for part in mb.compile(lambda s: (s, -s), ())(np.array(2.0)))


def test_strides_that_overlap():
    """A window that slides over one signal."""
    kernel = mb.compile(lambda x: x @ x, 3)
    windows = np.lib.stride_tricks.sliding_window_view(np.arange(10.0), 3)
    np.testing.assert_array_equal(kernel(windows), (windows * windows).sum(-1))


# ---- out -------------------------------------------------------------------------------------------------------------


@each_case("batch", [(), (1,), (5,), (300,), (2, 3), (0,)])
def test_out(kernel, batch):
    inputs = draw(batch, batch, batch)
    expected = kernel(*inputs)
    out = np.full((*batch, 3), np.nan), np.full(batch, np.nan)
    assert kernel(*inputs, out=out) is out
    listed = [np.full((*batch, 3), np.nan), np.full(batch, np.nan)]
    assert kernel(*inputs, out=listed) is listed
    for one, other, third in zip(out, expected, listed, strict=True):
        np.testing.assert_array_equal(one, other)
        np.testing.assert_array_equal(third, other)


@pytest.mark.parametrize("batch", [(), (5,), (2, 3)], ids=str)
def test_out_of_other_layouts(batch):
    kernel = mb.compile(lambda x: 2 * x, 3)
    x = draw(batch, (), ())[0]
    for make in (np.asfortranarray, unaligned, lambda a: a.astype(">f8"), lambda a: a.astype(np.longdouble),
                 lambda a: np.repeat(a, 2, axis=-1)[..., ::2], lambda a: a[..., ::-1]):  # fmt: skip
        out = make(np.zeros_like(x))
        assert kernel(x, out=out) is out
        np.testing.assert_array_equal(out, 2 * x)
    single = np.zeros(x.shape, dtype=np.float32)
    np.testing.assert_allclose(kernel(x, out=single), 2 * x, rtol=1e-6)


@each_case("count", [1, 3, 64, 65, 5000])
def test_out_over_an_input(count):
    kernel = mb.compile(lambda x, y: x[::-1] + 10 * y, 3, 3)
    x, y = RNG.uniform(-1, 1, (2, count, 3))
    expected = kernel(x, y)
    for start in (0, 1, 2):
        memory = np.zeros((count + 2, 3))
        memory[1:-1] = x
        found = kernel(memory[1:-1], y, out=memory[start : start + count])
        np.testing.assert_array_equal(found, expected)
    memory = x.copy()
    np.testing.assert_array_equal(kernel(memory, y, out=memory[::-1]), expected)
    one = x[0].copy()
    np.testing.assert_array_equal(kernel(one, y[0], out=one), expected[0])


@each_case(
    "out, told",
    [
        (np.zeros(4), "expected an array of shape (3,), got (4,)"),
        (np.zeros((1, 3)), "expected an array of shape (3,), got (1, 3)"),
        (np.zeros(3, dtype=int), "expected dtype float64, got int64"),
        (np.zeros(3, dtype=bool), "expected dtype float64, got bool"),
        (np.zeros(3, dtype=object), "expected dtype float64, got object"),
        (read_only(np.zeros(3)), "expected an array that can be written"),
        ([0.0, 0.0, 0.0], "expected an array of shape (3,), got list"),
        ((np.zeros(3),), "expected an array of shape (3,), got tuple"),
        (3.0, "expected an array of shape (3,), got float"),
    ],
)
def test_wrong_out(out, told):
    kernel = mb.compile(lambda x: 2 * x, 3)
    for x in (np.ones(3), [1.0, 1.0, 1.0]):
        with pytest.raises(InputError, match="out: " + re.escape(told)):
            kernel(x, out=out)


@each_case("out", [np.zeros(3), (np.zeros(3),), (np.zeros(3), np.zeros(()), np.zeros(())), {}, "ab"])
def test_wrong_number_of_outs(kernel, out):
    with pytest.raises(InputError, match="out: expected 2 arrays in a tuple"):
        kernel(*draw((), (), ()), out=out)


def test_out_of_the_wrong_batch(kernel):
    x, A, t = draw((5,), (), ())
    for batch in ((), (4,), (6,), (1, 5)):
        with pytest.raises(InputError, match=re.escape(f"expected an array of shape (5, 3), got {(*batch, 3)}")):
            kernel(x, A, t, out=(np.zeros((*batch, 3)), np.zeros(batch)))


def test_one_out_too_few_leaves_the_others_alone(kernel):
    x, A, t = draw((5,), (), ())
    out = np.full((5, 3), 7.0), np.zeros(4)
    with pytest.raises(InputError):
        kernel(x, A, t, out=out)
    assert (out[0] == 7.0).all()


# ---- names -----------------------------------------------------------------------------------------------------------


def test_named_arguments(kernel):
    x, A, t = draw((5,), (), ())
    expected = kernel(x, A, t)
    for found in (kernel(x, A, t=t), kernel(x, t=t, A=A), kernel(t=t, A=A, x=x), kernel(**{"".join("t"): t}, A=A, x=x)):
        assert all((one == other).all() for one, other in zip(found, expected, strict=True))
    out = tuple(np.zeros_like(part) for part in expected)
    assert kernel(x, t=t, A=A, **{"".join(["o", "ut"]): out}, threads=2) is out


def test_names_of_ones_own():
    kernel = mb.compile(lambda x, y: x - y, 2, 2, names=["left", "right"])
    np.testing.assert_array_equal(kernel(right=[1.0, 2.0], left=[3.0, 3.0]), [2.0, 1.0])
    with pytest.raises(InputError, match="no argument is called 'x'; expected left, right, out, threads"):
        kernel(x=np.zeros(2), right=np.zeros(2))


@each_case(
    "args, named, told",
    [
        ((), {}, "missing: x, A, t (expected x, A, t)"),
        ((np.zeros(3),), {"t": 1.0}, "missing: A (expected x, A, t)"),
        ((np.zeros(3), np.eye(3), 0.0, 0.0), {}, "expected 3 arguments (x, A, t), got 4"),
        ((np.zeros(3), np.eye(3), 0.0), {"x": 0.0}, "the argument 'x' is given twice"),
        ((np.zeros(3), np.eye(3), 0.0), {"z": 0.0}, "no argument is called 'z'; expected x, A, t, out, threads"),
        ((np.zeros(4), np.eye(3), 0.0), {}, "x: expected shape (..., 3), got (4,)"),
        ((np.zeros(()), np.eye(3), 0.0), {}, "x: expected shape (..., 3), got ()"),
        ((np.zeros(3), np.zeros(3), 0.0), {}, "A: expected shape (..., 3, 3), got (3,)"),
        ((np.zeros(3), np.zeros((3, 4)), 0.0), {}, "A: expected shape (..., 3, 3), got (3, 4)"),
        ((np.zeros((2, 3)), np.zeros((3, 3, 3)), 0.0), {}, "the batch shapes do not broadcast: x (2,), A (3,), t ()"),
        ((np.zeros(3, dtype=complex), np.eye(3), 0.0), {}, "x: expected real numbers, got dtype complex128"),
        ((["a", "b", "c"], np.eye(3), 0.0), {}, "x: expected real numbers, got dtype <U1"),
        ((np.zeros(3), np.eye(3), None), {}, "t: expected real numbers, got dtype object"),
        (([[1.0], [2.0, 3.0]], np.eye(3), 0.0), {}, "x: expected numbers of shape (..., 3), got"),
        ((np.zeros(3), np.eye(3), 0.0), {"threads": 0}, "threads: expected a positive integer, got 0"),
        ((np.zeros(3), np.eye(3), 0.0), {"threads": 1.5}, "threads: expected a positive integer, got 1.5"),
    ],
)
def test_wrong_arguments(kernel, args, named, told):
    with pytest.raises(InputError, match=re.escape(told)):
        kernel(*args, **named)


def test_names_that_a_call_needs_for_itself():
    for names in (["x", "out"], ["threads", "x"]):
        with pytest.raises(InputError, match=r"is an option of every kernel"):
            mb.compile(lambda x, y: x + y, 2, 2, names=names)
    with pytest.raises(InputError, match="names: expected 2 different names"):
        mb.compile(lambda x, y: x + y, 2, 2, names=["x", "x"])


# ---- optional arguments ----------------------------------------------------------------------------------------------


def pushed(q, wrench=None, gravity=None):
    total = 2.0 * q
    if wrench is not None:
        total = total + wrench.sum()
    return total if gravity is None else total * gravity


def test_optional_arguments():
    kernel = mb.compile(pushed, 3, optional={"wrench": 6, "gravity": ()})
    q, w = np.ones((4, 3)), RNG.uniform(-1, 1, (4, 6))
    np.testing.assert_array_equal(kernel(q), 2 * q)
    np.testing.assert_array_equal(kernel(q, wrench=None), 2 * q)
    np.testing.assert_allclose(kernel(q, wrench=w), 2 * q + w.sum(-1)[:, None])
    np.testing.assert_allclose(kernel(q, gravity=3.0), 6 * q)
    np.testing.assert_allclose(kernel(q, gravity=3.0, wrench=w), 3 * (2 * q + w.sum(-1)[:, None]))
    np.testing.assert_allclose(kernel(wrench=w, gravity=3.0, q=q), 3 * (2 * q + w.sum(-1)[:, None]))
    out = np.empty((4, 3))
    assert kernel(q, wrench=w, out=out, threads=2) is out
    with mb.eager():
        np.testing.assert_allclose(kernel(q, wrench=w), out)
    with pytest.raises(InputError, match="wrench: expected shape"):
        kernel(q, wrench=np.zeros(5))
    with pytest.raises(InputError, match="no argument is called 'force'"):
        kernel(q, force=w)


# ---- results ---------------------------------------------------------------------------------------------------------


def test_nested_results():
    def function(x):
        pose = Pose.exp(x)
        return {"pose": pose, "parts": [x[:2], (x[0], {"two": 2.0 * x})], "none": (), "fixed": np.arange(2.0)}

    kernel = mb.compile(function, 6)
    for batch in ((), (5,), (2, 3), (0,)):
        x = RNG.uniform(-1, 1, (*batch, 6))
        found = kernel(x)
        assert list(found) == ["pose", "parts", "none", "fixed"]
        assert isinstance(found["pose"], Pose)
        assert found["pose"].shape == batch
        np.testing.assert_allclose(found["pose"].matrix, Pose.exp(x).matrix, atol=1e-14)
        assert isinstance(found["parts"], list)
        np.testing.assert_array_equal(found["parts"][0], x[..., :2])
        np.testing.assert_array_equal(found["parts"][1][0], x[..., 0])
        np.testing.assert_array_equal(found["parts"][1][1]["two"], 2 * x)
        assert found["none"] == ()
        np.testing.assert_array_equal(found["fixed"], np.broadcast_to([0.0, 1.0], (*batch, 2)))


@pytest.mark.parametrize("batch", [(), (5,)], ids=str)
def test_odd_signatures(batch):
    x = np.ones((*batch, 3))
    assert mb.compile(lambda x: (), 3)(x) == ()  # noqa: ARG005
    assert mb.compile(lambda x: {}, 3)(x) == {}  # noqa: ARG005
    constant = mb.compile(lambda x: np.arange(4.0).reshape(2, 2), 3)(x)  # noqa: ARG005
    np.testing.assert_array_equal(constant, np.broadcast_to(np.arange(4.0).reshape(2, 2), (*batch, 2, 2)))
    np.testing.assert_array_equal(mb.compile(lambda x, y: x, 3, 5)(x, np.zeros(5)), x)  # noqa: ARG005
    np.testing.assert_array_equal(mb.compile(lambda x, y: (y, x), 3, 0)(x, np.zeros((*batch, 0)))[1], x)
    assert mb.compile(lambda: np.float64(3.0))() == 3.0
    np.testing.assert_array_equal(mb.compile(lambda x: x > 0.5, 3)(x), x)


def test_more_arguments_and_results_than_the_door_takes():
    for count in (32, 33, 40):
        kernel = mb.compile(lambda *x: tuple(2.0 * a for a in x), *[2] * count)
        args = [np.full(2, float(k)) for k in range(count)]
        for k, part in enumerate(kernel(*args)):
            np.testing.assert_array_equal(part, [2 * k, 2 * k])
        batch = kernel(np.zeros((7, 2)), *args[1:])
        assert [part.shape for part in batch] == [(7, 2)] * count
        out = tuple(np.zeros((7, 2)) for _ in range(count))
        assert kernel(np.zeros((7, 2)), *args[1:], out=out) is out
        assert out[-1][3, 0] == 2 * (count - 1)
