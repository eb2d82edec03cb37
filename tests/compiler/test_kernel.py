"""A kernel computes what its NumPy source computes, and the same bits however a sample reaches it."""

import itertools
import re
from functools import cache

import numpy as np
import pytest
from hypothesis import given

import multibody as mb
from multibody.compiler.cache import code_cache
from multibody.compiler.codegen import target, variants
from multibody.compiler.runtime.code import Code
from multibody.compiler.runtime.signature import Signature
from multibody.tracing.graph.ops import OPS
from multibody.tracing.interpret import evaluate

from ..every_law import each_case
from ..laws.tools import near
from ..surface import KINDS, TABLE
from .cases import INSTRUCTIONS, OPERATIONS, SUITE, arrays, cut_into, program, samples, single, traces

SIZES = (1, 3, 4, 5, 63, 64, 65, 4096)
DTYPES = (np.float64, np.float32)


def everything(x, A):
    """Every operation of a graph, and systems of equations."""
    a, b, c, d = x
    S = A @ A.T + np.eye(3)
    inside = ((a < b) & (c <= d)) | ~(a == c) & (b != d)
    numbers = [
        np.sin(a) * np.cos(a) + np.cos(b), np.tan(c), np.arcsin(np.tanh(a)), np.arccos(np.tanh(b)), np.exp(a),
        np.log(np.abs(b) + 0.1), np.arctan2(a, b), np.power(np.abs(c) + 0.1, d), (c * c) ** 1.5, np.hypot(c, d),
        np.where(inside, a, -b), np.minimum(a, b), np.maximum(c, d), np.sign(d), a / (b * b + 0.3), np.sqrt(a * a + 1),
        a * b + c, a * b - c, c - a * b, -a, np.clip(a, -0.5, 0.5), np.abs(d), a**5, a**-3, 1.0 * inside,
        np.floor(3 * a), np.rint(3 * b), a % 0.3, np.fmod(a, b), np.expm1(a), np.log1p(np.abs(b)), np.sinh(c),
        np.cosh(d), a * d - b,
    ]  # fmt: skip
    return np.stack(numbers), np.linalg.solve(S, x[:3]), np.linalg.solve(A, x[1:]), np.linalg.inv(S), b


def small(x, A):
    """Few operations on short rows, which are moved in another way."""
    return A @ x[:3] * x[3], np.sin(x), A[1, 2] - x[0], A


def draw(count, dtype=np.float64, seed=0):
    rng = np.random.default_rng(seed)
    return [rng.uniform(-2, 2, (count, *shape)).astype(dtype) for shape in ((4,), (3, 3))]


@pytest.fixture(
    scope="module",
    params=itertools.product((everything, small), DTYPES),
    ids=lambda p: f"{p[0].__name__}-{np.dtype(p[1]).name}",
)
def kernel(request):
    function, dtype = request.param
    return mb.compile(function, 4, (3, 3), dtype=dtype)


def bits(result):
    return [np.ascontiguousarray(part).tobytes() for part in result]


# ---- the same bits ---------------------------------------------------------------------------------------------------


def test_every_operation_is_in_the_kernel():
    assert mb.compile(everything, 4, (3, 3)).ops.keys() == set(OPERATIONS)


@each_case("count", SIZES)
def test_batches_are_single_calls(kernel, count):
    x, A = draw(count, kernel.signature.dtype)
    whole = kernel(x, A)
    for k in {0, 1, count // 2, count - 2, count - 1} & set(range(count)):
        assert bits(kernel(x[k], A[k])) == bits(part[k] for part in whole)
        assert bits(kernel(x[k : k + 1], A[k : k + 1])) == bits(part[k : k + 1] for part in whole)


@each_case("count", SIZES)
def test_permuted_batches(kernel, count):
    x, A = draw(count, kernel.signature.dtype)
    order = np.random.default_rng(1).permutation(count)
    assert bits(kernel(x[order], A[order])) == bits(part[order] for part in kernel(x, A))


@each_case("count", SIZES)
def test_parts_of_batches(kernel, count):
    x, A = draw(count, kernel.signature.dtype)
    whole = kernel(x, A)
    for cut in {1, count // 3, count - 1}:
        assert bits(kernel(x[cut:], A[cut:])) == bits(part[cut:] for part in whole)


@each_case("threads", [1, 2, 3, 8, 100])
def test_threads(kernel, threads):
    for count in (1, 5, 4096):
        x, A = draw(count, kernel.signature.dtype)
        assert bits(kernel(x, A, threads=threads)) == bits(kernel(x, A))


def test_out_and_the_way_through_ctypes(kernel):
    for count in SIZES:
        x, A = draw(count, kernel.signature.dtype)
        whole = kernel(x, A)
        out = tuple(np.full_like(part, np.nan) for part in whole)
        assert kernel(x, A, out=out) is out
        assert bits(out) == bits(whole)
        assert bits(kernel(x.tolist(), A.tolist())) == bits(whole)


def test_pieces(kernel, monkeypatch):
    x, A = draw(4096, kernel.signature.dtype)
    whole = kernel(x, A)
    monkeypatch.setattr("multibody.compiler.runtime.launch.PIECE_TIME", 0.0)
    assert bits(kernel(x, A)) == bits(whole)


@each_case("bad", [np.nan, np.inf, -np.inf, 1e300, 0.0])
def test_one_bad_sample_touches_itself_alone(kernel, bad):
    x, A = draw(4096, kernel.signature.dtype)
    whole = kernel(x, A)
    with np.errstate(over="ignore"):
        x[1234], A[1234] = bad, bad
    others = np.arange(4096) != 1234
    assert bits(part[others] for part in kernel(x, A)) == bits(part[others] for part in whole)


@pytest.mark.parametrize("lanes", [2, 4, 8])
def test_lanes(kernel, monkeypatch, lanes):
    """Machines with other vectors of the same class give the same bits."""
    here, dtype = target.host(), kernel.signature.dtype
    expected = [kernel(*draw(n, dtype)) for n in (1, 7, 67)]
    monkeypatch.setattr(target, "host", lambda: here._replace(lanes=lanes))
    monkeypatch.setattr(mb.config, "cache", False)
    other = mb.compile(globals()[kernel.name], 4, (3, 3), dtype=dtype)
    assert f"<{lanes * (2 if dtype == np.float32 else 1)} x " in other.ir
    for n, results in zip((1, 7, 67), expected, strict=True):
        assert bits(other(*draw(n, dtype))) == bits(results)


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize(
    "function",
    [
        lambda a, b: np.sqrt(a * a - b * b),
        lambda a, b: np.sqrt(a**2 - 0.0 * b - b**2),
        lambda a, b: np.sqrt(2 * b * (2 * b) - 4 * a * b),
        lambda a, b: np.sqrt((2 * b) ** 2 - 4 * a * a),
    ],
)
def test_a_difference_of_equal_squares_is_zero(function, dtype):
    """It was a little below zero half of the time, when one of the two was not rounded."""
    a = np.random.default_rng(0).normal(size=200).astype(dtype)
    kernel = mb.compile(function, (), (), dtype=dtype)
    assert (function(a, a) == 0.0).all()
    assert (kernel(a, a) == 0.0).all()
    assert kernel(a[3], a[3]) == 0.0


def test_without_fused_operations(monkeypatch):
    here = target.host()
    monkeypatch.setattr(target, "host", lambda: here._replace(fma=False))
    monkeypatch.setattr(mb.config, "cache", False)
    kernel = mb.compile(everything, 4, (3, 3))
    assert "@llvm.fma" not in re.sub("declare.*", "", kernel.ir)
    x, A = draw(65)
    for one, other in zip(kernel(x, A), eagerly(kernel, x, A), strict=True):
        near(one, other, 1e-12)


# ---- the same numbers ------------------------------------------------------------------------------------------------


def eagerly(kernel, *arguments):
    with mb.eager(), np.errstate(all="ignore"):
        return kernel(*arguments)


def built(traced):
    """The kernel of a trace."""
    code = Code(code_cache._entry(traced, variants.modules_of))
    header = code.header
    return mb.Kernel("kernel", Signature.of_header(header), code, header["ops"], header["work"])


def test_equals_the_eager_run(kernel):
    x, A = draw(200, kernel.signature.dtype)
    exact = mb.compile(globals()[kernel.name], 4, (3, 3))
    for one, other in zip(kernel(x, A), eagerly(exact, x, A), strict=True):
        assert one.dtype == kernel.signature.dtype
        near(one, other, 1e-13 if one.dtype == np.float64 else 1e-5)


@each_case("op", OPERATIONS)
@pytest.mark.parametrize("dtype", DTYPES, ids=lambda dtype: np.dtype(dtype).name)
def test_single_operations(op, dtype):
    x = samples(op).astype(dtype)
    near(of_all_operations(np.dtype(dtype))[op], evaluate(single(op), x), 1e-14 if dtype == np.float64 else 1e-5)


@cache
def of_all_operations(dtype):
    """The results of a kernel with all operations, each on its samples."""
    results = built(traces(OPERATIONS)._replace(dtype=dtype))(*(samples(op).astype(dtype) for op in OPERATIONS))
    return dict(zip(OPERATIONS, results, strict=True))


def special_values(arity):
    values = [np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 3.0, 1e-310, 1e300, -1e300]
    return np.stack(np.meshgrid(*[values] * arity, indexing="ij"), axis=-1).reshape(-1, arity)


@pytest.mark.parametrize("arity", [1, 2])
def test_special_values(arity):
    """NaN, infinities and both zeros, as NumPy has them."""
    ops = [op for op in OPERATIONS if OPS[op].arity == arity]
    x = special_values(arity)
    results = built(traces(ops))(*[x] * len(ops))
    for op, found in zip(ops, results, strict=True):
        np.testing.assert_allclose(found, evaluate(single(op), x), rtol=1e-14, err_msg=op)


@pytest.mark.parametrize("length", [3, 1000])
@given(INSTRUCTIONS)
def test_random_programs(length, instructions):
    function = program(instructions)
    kernel = cut_into(length, function, 3)
    x = np.random.default_rng(5).uniform(-2, 2, (9, 3))
    found = kernel(x)
    np.testing.assert_allclose(found, function(x), rtol=1e-9, atol=1e-9)
    assert all(kernel(x[k]).tobytes() == found[k].tobytes() for k in range(9))


@pytest.mark.parametrize("dtype", DTYPES, ids=lambda dtype: np.dtype(dtype).name)
@pytest.mark.parametrize("name", SUITE)
def test_functions_of_many_operations(name, dtype):
    if name == "elimination" and dtype == np.float32:
        pytest.skip("one of its matrices is too near a singular one")
    case = SUITE[name]
    kernel = mb.compile(case.function, *case.shapes, dtype=dtype)
    inputs = case.draw(37)
    found = arrays(kernel(*(x.astype(dtype) for x in inputs)))
    for one, other in zip(found, arrays(case.function(*inputs)), strict=True):
        near(one, other, 1e-12 if dtype == np.float64 else 2e-5)


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if k % 13 == 0 else pytest.mark.slow) for k, name in enumerate(TABLE)]
)
def test_functions_of_geometry(name):
    function = TABLE[name]
    inputs = function.draw(np.random.default_rng(2), (5,))
    kernel = mb.compile(
        lambda *x: function.call(*(KINDS[k].value(a) for k, a in zip(function.kinds, x, strict=True))),
        *(array.shape[1:] for array in inputs),
    )
    found = arrays(kernel(*inputs))
    for one, other in zip(found, function(*inputs), strict=True):
        near(one, np.broadcast_to(other, one.shape), 1e-12)
    for k in range(5):
        alone = arrays(kernel(*(array[k] for array in inputs)))
        assert bits(alone) == bits(part[k] for part in found)
