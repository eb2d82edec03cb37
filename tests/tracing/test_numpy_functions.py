"""Every NumPy function that can be traced: what it computes with arrays is what the recorded graph computes."""

import numpy as np
import pytest

import multibody as mb
from multibody.tracing.array.numpy_functions import FUNCTIONS, REDUCTIONS, UFUNCS
from multibody.tracing.interpret import evaluate
from multibody.tracing.record.trace import trace

from ..compiler.cases import arrays
from ..every_law import each_case
from ..laws.tools import near


def draw(shapes, batch=(5,)):
    rng = np.random.default_rng(11)
    return [rng.uniform(0.1, 0.9, (*batch, *((shape,) if isinstance(shape, int) else shape))) for shape in shapes]


def agrees(function, *shapes):
    """The recorded function on a batch is the plain one on each sample."""
    inputs = draw(shapes)
    computed = arrays(evaluate(trace(function, shapes), *inputs))
    with np.errstate(all="ignore"):
        rows = [arrays(function(*(array[k] for array in inputs))) for k in range(5)]
    for batch, *each in zip(computed, *rows, strict=True):
        near(batch, np.array(each, dtype=float), 1e-13)


# ---- ufuncs ----------------------------------------------------------------------------------------------------------

BINARY = [
    np.add, np.subtract, np.multiply, np.divide, np.arctan2, np.hypot, np.power, np.float_power, np.minimum, np.maximum,
    np.less, np.less_equal, np.greater, np.greater_equal, np.equal, np.not_equal,
    np.remainder, np.fmod, np.floor_divide, np.copysign, np.heaviside, np.fmin, np.fmax,
]  # fmt: skip
UNARY = [
    np.negative, np.positive, np.absolute, np.fabs, np.sign, np.sqrt, np.square, np.reciprocal, np.sin, np.cos, np.tan,
    np.arcsin, np.arccos, np.arctan, np.exp, np.log, np.tanh, np.sinh, np.cosh, np.expm1, np.log1p, np.exp2, np.log2,
    np.log10, np.arcsinh, np.arctanh, np.floor, np.rint, np.ceil, np.trunc, np.signbit, np.isnan, np.isinf, np.isfinite,
    np.deg2rad, np.radians, np.rad2deg, np.degrees,
]  # fmt: skip
LOGICAL = [np.logical_and, np.logical_or, np.bitwise_and, np.bitwise_or, np.logical_xor, np.bitwise_xor]
NEGATIONS = [np.logical_not, np.invert]


def test_every_ufunc_is_tested():
    assert set(UFUNCS) == {*BINARY, *UNARY, *LOGICAL, *NEGATIONS, np.matmul, np.divmod, np.arccosh}


@each_case("ufunc", UNARY)
def test_functions_of_one_array(ufunc):
    agrees(ufunc, (2, 3))
    agrees(ufunc, ())


@each_case("ufunc", BINARY)
def test_functions_of_two_arrays_broadcast(ufunc):
    agrees(ufunc, 3, 3)
    agrees(ufunc, (2, 1), 3)
    agrees(ufunc, (), (2, 2))
    agrees(lambda x: ufunc(x, 0.5), 3)
    agrees(lambda x: ufunc(0.5, x), 3)
    agrees(lambda x: ufunc(x, np.array([[0.2], [1.0]])), 3)
    agrees(lambda x: ufunc(x, x), 3)


def test_functions_with_a_domain_or_two_results():
    agrees(lambda x: np.arccosh(1.0 + x), 3)
    agrees(lambda x, y: divmod(x, y), 3, 3)
    agrees(lambda x: np.divmod(7.0 * x, -0.3), 3)


@each_case("ufunc", LOGICAL)
def test_functions_of_truth_values(ufunc):
    agrees(lambda x, y: ufunc(x > 0.5, y > 0.5), 3, 3)
    agrees(lambda x: ufunc(x > 0.5, np.array([True, False, True])), 3)
    agrees(lambda x: np.where(ufunc(x > 0.5, True), x, 0.0), 3)


@pytest.mark.parametrize("ufunc", NEGATIONS)
def test_negations(ufunc):
    agrees(lambda x: ufunc(x > 0.5), 3)


OPERATORS = {
    "+": lambda x, y: x + y,
    "-": lambda x, y: x - y,
    "*": lambda x, y: x * y,
    "/": lambda x, y: x / y,
    "**": lambda x, y: x**y,
    "%": lambda x, y: (x % y, 7.0 % x, -x % 0.3),
    "//": lambda x, y: (x // y, 7.0 // x, -x // 0.3),
    "@": lambda x, y: x @ y,
    "unary": lambda x, y: -x + +y - abs(x - y),
    "comparisons": lambda x, y: ((x < y) & (x <= y) | (x > y), ~(x >= y), x == y, x != y),
    "left": lambda x, y: (2 + x, 2 - x, 2 * x, 2 / x, 2**x, np.float64(2) * y, np.ones(3) @ y),
    "right": lambda x, y: (x + 2, x - 2, x * 2, x / 2, x**2, x**-3, x**0.5, y @ np.ones(3)),
    "python": lambda x, y: sum(x) + sum(a * b for a, b in zip(x, y, strict=True)) + len(x),
}


@each_case("name", OPERATORS)
def test_operators(name):
    agrees(OPERATORS[name], 3, 3)


@each_case("ufunc", REDUCTIONS)
def test_reductions_of_ufuncs(ufunc):
    boolean = ufunc in (np.logical_and, np.logical_or)
    take = (lambda x: x > 0.5) if boolean else (lambda x: x)
    agrees(lambda x: ufunc.reduce(take(x)), (3, 2))
    agrees(lambda x: ufunc.reduce(take(x), axis=1, keepdims=True), (3, 2))
    agrees(lambda x: ufunc.reduce(take(x), axis=None), (3, 2))


MATMULS = [((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 2)), ((2, 3), (3, 4)), ((5, 2, 3), (3, 4)), ((2, 3), (5, 3, 1)),
           ((4, 1, 2, 3), (5, 3, 2)), ((1, 2, 3), (3,)), ((3,), (2, 3, 2)), ((2, 0), (0, 3))]  # fmt: skip


@each_case("shapes", MATMULS)
def test_matmul_of_all_shapes(shapes):
    agrees(np.matmul, *shapes)
    constant = np.random.default_rng(1).uniform(-1, 1, shapes[1])
    agrees(lambda x: x @ constant, shapes[0])
    constant = np.random.default_rng(1).uniform(-1, 1, shapes[0])
    agrees(lambda x: constant @ x, shapes[1])


# ---- other functions -------------------------------------------------------------------------------------------------

M = np.array([[1.0, 2.0], [3.0, 5.0]])
CASES = {
    np.stack: [
        (lambda x, y: np.stack([x, y]), 3, 3),
        (lambda x: np.stack([x, x, np.ones(3)], axis=-1), 3),
        (lambda x: np.stack((x[0], 2.0, np.int64(3), np.float32(0.5), True)), 2),
        (lambda x: np.stack([x > 0.5, x < 0.3]), 3),
        (lambda x: np.stack([x > 0.5, x]), 3),
    ],
    np.concatenate: [
        (lambda x, y: np.concatenate([x, y, np.zeros(2, dtype=int), [1.0, 2.0]]), 3, 2),
        (lambda x: np.concatenate([x, x.T], axis=-1), (2, 2)),
        (lambda x: np.concatenate([[0.5], x]), 3),
    ],
    np.block: [(lambda x: np.block([[x, np.zeros((2, 1))], [np.ones((1, 2)), 5]]), (2, 2))],
    np.reshape: [
        (lambda x: np.reshape(x, (3, 2)), 6),
        (lambda x: x.reshape(2, -1), 6),
        (lambda x: x.reshape((6, 1)), 6),
    ],
    np.transpose: [
        (np.transpose, (2, 3, 4)),
        (lambda x: np.transpose(x, (1, 0, 2)), (2, 3, 4)),
        (lambda x: x.transpose(2, 0, 1) + x.T.transpose(0, 2, 1), (2, 2, 2)),
        (lambda x: x.T, (2, 3)),
    ],
    np.swapaxes: [(lambda x: np.swapaxes(x, 0, 2), (2, 3, 4)), (lambda x: x.swapaxes(-1, -2), (2, 3))],
    np.moveaxis: [(lambda x: np.moveaxis(x, 0, -1), (2, 3, 4))],
    np.broadcast_to: [(lambda x: np.broadcast_to(x, (4, 3)), 3), (lambda x: np.broadcast_to(x[0], (2, 2)), 3)],
    np.expand_dims: [(lambda x: np.expand_dims(x, (0, 2)), 3)],
    np.squeeze: [(np.squeeze, (1, 3, 1)), (lambda x: x.squeeze(0), (1, 3))],
    np.ravel: [(np.ravel, (2, 3)), (lambda x: x.ravel() + x.flatten(), (2, 3))],
    np.hstack: [(lambda x: np.hstack([x, 1.0, x]), 2), (lambda x: np.hstack((x, [1.0])), 2)],
    np.vstack: [(lambda x: np.vstack([x, M]), 2)],
    np.column_stack: [(lambda x, y: np.column_stack([x, y]), 3, 3)],
    np.flip: [(np.flip, (2, 3)), (lambda x: np.flip(x, axis=1), (2, 3))],
    np.roll: [(lambda x: np.roll(x, 1), 4), (lambda x: np.roll(x, 1, axis=0), (3, 2))],
    np.repeat: [(lambda x: np.repeat(x, 2), 3), (lambda x: np.repeat(x, 2, axis=0), (2, 2))],
    np.tile: [(lambda x: np.tile(x, (2, 2)), 3)],
    np.diagonal: [(np.diagonal, (3, 3)), (lambda x: np.diagonal(x, axis1=-2, axis2=-1), (2, 3, 3))],
    np.atleast_1d: [(np.atleast_1d, ())],
    np.atleast_2d: [(np.atleast_2d, 3)],
    np.atleast_3d: [(np.atleast_3d, 3)],
    np.array_split: [(lambda x: np.array_split(x, 3), 5)],
    np.dstack: [(lambda x, y: np.dstack([x, y]), 3, 3)],
    np.fliplr: [(np.fliplr, (2, 3))],
    np.flipud: [(np.flipud, (2, 3))],
    np.rot90: [(np.rot90, (2, 3)), (lambda x: np.rot90(x, 3), (2, 3))],
    np.copy: [(np.copy, 3)],
    np.delete: [(lambda x: np.delete(x, 1), 3)],
    np.select: [
        (lambda x: np.select([x > 0.7, x > 0.4], [x, -x], 5.0), 4),
        (lambda x: np.select([x > 0.7, [True, False, True, False]], [1.0, 2.0 * x]), 4),
    ],
    np.diag: [(np.diag, 3), (np.diag, (3, 4)), (lambda x: np.diag(x, 1), 3), (lambda x: np.diag(x, -1), (3, 3))],
    np.tril: [(np.tril, (3, 3)), (lambda x: np.tril(x, -1), (2, 3, 4))],
    np.triu: [(np.triu, (3, 3)), (lambda x: np.triu(x, k=1), (2, 3, 4))],
    np.broadcast_arrays: [(lambda x, y: np.broadcast_arrays(x, y[:, None], 1.0), 3, 2)],
    np.split: [(lambda x: np.split(x, [1, 3]), 5), (lambda x: np.split(x, 2, axis=1), (2, 4))],
    np.where: [
        (lambda x: np.where(x > 0.5, x, -1), 3),
        (lambda x: np.where([True, False, True], x, 2 * x), 3),
        (lambda x: np.where(x > 0.5, x > 0.7, x < 0.2), 3),
        (lambda x, y: np.where(x > 0.5, x, y[:, None]), 3, 2),
    ],
    np.clip: [
        (lambda x: np.clip(x, 0.3, 0.6), 3),
        (lambda x: np.clip(x, None, 0.6), 3),
        (lambda x: np.clip(x, 0.3, None), 3),
        (lambda x: np.clip(x, a_min=0.3, a_max=0.6), 3),
        (lambda x: np.clip(x, min=0.3, max=0.6), 3),
        (lambda x: np.clip(0.5, x[0], x[0] + x[1]), 2),
    ],
    np.zeros_like: [(np.zeros_like, (2, 3)), (lambda x: np.zeros_like(x, shape=(4,)), 3)],
    np.ones_like: [(np.ones_like, (2, 3)), (lambda x: np.ones_like(x, dtype=x.dtype), 2)],
    np.full_like: [(lambda x: np.full_like(x, 7.0), 3), (lambda x: np.full_like(x, x[0]), 3)],
    np.cross: [
        (np.cross, 3, 3),
        (lambda x: np.cross(x, [1.0, 2.0, 3.0]), (2, 3)),
        (lambda x, y: np.cross(x, y, axis=0), (3, 2), (3, 2)),
    ],
    np.dot: [
        (np.dot, 3, 3),
        (np.dot, (2, 3), 3),
        (np.dot, (2, 3), (3, 2)),
        (np.dot, (), 3),
        (lambda x, y: x.dot(y), 3, 3),
    ],
    np.einsum: [(lambda x: np.einsum("ii->i", x), (3, 3))],
    np.trace: [
        (np.trace, (3, 3)),
        (lambda x: np.trace(x, 1), (3, 3)),
        (lambda x: np.trace(x, axis1=1, axis2=2), (2, 3, 3)),
    ],
    np.inner: [(np.inner, 3, 3), (np.inner, (2, 3), (4, 3)), (lambda x: np.inner(x, 2.0), 3)],
    np.tensordot: [
        (lambda x, y: np.tensordot(x, y, axes=1), (2, 3), (3, 2)),
        (np.tensordot, (2, 3), (2, 3)),
        (lambda x, y: np.tensordot(x, y, axes=([0, 2], [1, 0])), (2, 3, 4), (4, 2)),
        (lambda x: np.tensordot(x, np.ones((3, 2)), axes=(-1, 0)), (2, 3)),
    ],
    np.kron: [(np.kron, (2, 2), (2, 3)), (np.kron, 2, 3), (lambda x: np.kron(np.eye(2), x), 2)],
    np.linalg.det: [(np.linalg.det, (n, n)) for n in range(1, 7)] + [(np.linalg.det, (2, 3, 3))],
    np.var: [(np.var, (2, 3)), (lambda x: x.var(axis=0, ddof=1), (3, 2))],
    np.std: [(np.std, (2, 3)), (lambda x: x.std(axis=1, keepdims=True), (3, 2))],
    np.ptp: [(np.ptp, (2, 3)), (lambda x: np.ptp(x, axis=0), (3, 2))],
    np.diff: [(np.diff, 4), (lambda x: np.diff(x, 2, axis=0), (4, 2))],
    np.cumsum: [(np.cumsum, (2, 3)), (lambda x: x.cumsum(axis=0), (3, 2)), (lambda x: np.cumsum(x, axis=-1), (3, 2))],
    np.cumprod: [(np.cumprod, 4), (lambda x: np.cumprod(x, axis=1), (3, 2))],
    np.argmin: [(np.argmin, (2, 3)), (lambda x: np.argmin(x, axis=0), (3, 2)), (lambda x: x.argmin(-1), (3, 2))],
    np.argmax: [
        (np.argmax, 5),
        (lambda x: np.argmax(x, axis=1, keepdims=True), (3, 4)),
        (lambda x: np.argmax(np.round(x)), 5),
    ],
    np.sort: [(np.sort, n) for n in range(1, 12)]
    + [(lambda x: np.sort(x, axis=0), (4, 2)), (lambda x: np.sort(x, axis=None), (2, 3))],
    np.argsort: [(np.argsort, n) for n in range(1, 9)]
    + [(lambda x: np.argsort(x, axis=0), (4, 2)), (lambda x: np.argsort(np.round(x), kind="stable"), 7)],
    np.take: [
        (lambda x: np.take(x, [2, 0]), 3),
        (lambda x: np.take(x, [[2, 0], [1, 1]], axis=1), (2, 3)),
        (lambda x: mb.lookup(M, np.floor(3 * x).astype(int)), (2, 2)),
        (lambda x: np.take(x, (4 * x[0]).astype(int), axis=1, mode="clip"), (2, 3)),
    ],
    np.searchsorted: [
        (lambda x: np.searchsorted([0.2, 0.4, 0.8], x), 4),
        (lambda x: np.searchsorted([0.2, 0.4, 0.8], np.round(5 * x) * 0.2, side="right"), 4),
        (lambda x: np.searchsorted(np.linspace(0, 1, 37), x), 4),
        (lambda x: np.searchsorted(np.sort(x), 0.5), 4),
    ],
    np.interp: [
        (lambda x: np.interp(x, [0.2, 0.4, 0.7], [1.0, -2.0, 5.0]), 4),
        (lambda x: np.interp(2 * x, np.linspace(0, 1, 50), np.linspace(0, 1, 50) ** 2, left=-1.0, right=7.0), 4),
        (lambda x: np.interp(x[0], [0.0, 0.5, 1.0], x), 3),
        (lambda x: np.interp(0.5, np.sort(x), [1.0, 2.0, 4.0]), 3),
        (lambda x: np.interp(x, [0.5], [3.0], right=4.0), 3),
    ],
    np.round: [
        (np.round, 4),
        (lambda x: x.round(2), 4),
        (lambda x: np.round(100 * x, -1), 4),
        (lambda x: round(x[0]), 2),
    ],
    np.around: [(lambda x: np.around(x, decimals=1), 4)],
    np.nan_to_num: [(lambda x: np.nan_to_num(np.sqrt(x - 0.5), nan=2.0), 4), (lambda x: np.nan_to_num(x / 0.0), 2)],
    np.isclose: [(lambda x: np.isclose(x, x + 1e-9), 3), (lambda x: np.isclose(x, 0.5, atol=0.2), 4)],
    np.outer: [(np.outer, 3, 2), (np.outer, (2, 2), 3)],
    np.sum: [
        (np.sum, (2, 3)),
        (lambda x: np.sum(x, axis=-1), (2, 3)),
        (lambda x: x.sum((0, 2), keepdims=True), (2, 3, 2)),
        (lambda x: np.sum(x > 0.5, axis=0), (3, 2)),
        (lambda x: np.sum(x, axis=1), (0, 2)),
        (lambda x: np.sum(x, axis=0), (0, 2)),
    ],
    np.prod: [(np.prod, (2, 3)), (lambda x: x.prod(axis=0), (2, 3)), (lambda x: np.prod(x[:0]), 3)],
    np.amin: [(np.amin, (2, 3))],
    np.amax: [(np.amax, (2, 3))],
    np.min: [(lambda x: np.min(x, axis=0), (2, 3)), (lambda x: x.min(), 3)],
    np.max: [(lambda x: np.max(x, axis=1, keepdims=True), (2, 3)), (lambda x: x.max(0), (2, 3))],
    np.all: [
        (lambda x: np.all(x > 0.3), 3),
        (lambda x: (x > 0.3).all(axis=0), (2, 3)),
        (lambda x: np.all(x[:0] > 1), 3),
    ],
    np.any: [(lambda x: np.any(x > 0.8), 3), (lambda x: (x > 0.8).any(1, keepdims=True), (2, 3))],
    np.mean: [(np.mean, (2, 3)), (lambda x: np.mean(x, axis=0, keepdims=True), (2, 3)), (lambda x: x.mean(-1), (2, 3))],
    np.linalg.norm: [
        (np.linalg.norm, 3),
        (np.linalg.norm, (2, 3)),
        (lambda x: np.linalg.norm(x, axis=-1, keepdims=True), (2, 3)),
        (lambda x: np.linalg.norm(x, 2), 3),
        (lambda x: np.linalg.norm(x, "fro", axis=(0, 1)), (2, 3)),
        (lambda x: np.linalg.norm(x - 0.5, 1), 3),
        (lambda x: np.linalg.norm(x - 0.5, np.inf, axis=0), (3, 2)),
        (lambda x: np.linalg.norm(x - 0.5, -np.inf), 3),
        (lambda x: np.linalg.norm(x - 0.5, 1), (2, 3)),
        (lambda x: np.linalg.norm(x - 0.5, np.inf, axis=(2, 0), keepdims=True), (2, 3, 2)),
    ],
    np.linalg.solve: [
        (lambda A, b: np.linalg.solve(A + np.eye(4), b), (4, 4), 4),
        (np.linalg.solve, (2, 3, 3), (3, 2)),
        (lambda b: np.linalg.solve(M, b), 2),
        (lambda A: np.linalg.solve(A @ A.T + np.eye(3), A), (3, 3)),
    ],
    np.linalg.inv: [
        (lambda A: np.linalg.inv(A + 2 * np.eye(4)), (4, 4)),
        (lambda A: np.linalg.inv(A @ A.T + np.eye(3)), (3, 3)),
    ],
    np.linalg.cholesky: [(lambda A: np.linalg.cholesky(A @ np.swapaxes(A, -1, -2) + np.eye(3)), (2, 3, 3))],
    np.shape: [(lambda x: x * np.shape(x)[0] * x.shape[1] * x.size, (2, 3))],
    np.size: [(lambda x: x * np.size(x), (2, 3))],
    np.ndim: [(lambda x: x * np.ndim(x) * x.ndim, (2, 3))],
}


def test_every_function_is_tested():
    assert set(FUNCTIONS) == set(CASES)


@each_case("function", CASES, ids=lambda function: function.__name__)
def test_functions_of_arrays(function):
    for case, *shapes in CASES[function]:
        agrees(case, *shapes)


EINSUMS = [
    ("ij,j->i", (2, 3), 3), ("ij,jk->ik", (2, 3), (3, 4)), ("ij->ji", (2, 3)), ("ii", (3, 3)), ("ii->i", (3, 3)),
    ("i,i", 3, 3), ("i,j->ij", 2, 3), ("i,j", 2, 3), ("ij,ij->", (2, 3), (2, 3)), ("ji", (2, 3)), ("ij->", (2, 3)),
    ("...ij,...j->...i", (4, 2, 3), (4, 3)), ("...ij,...j->...i", (2, 3), (4, 3)), ("...i,...i", (2, 3), (2, 3)),
    ("...ij,...jk,...lk->...il", (2, 2), (2, 2), (2, 2)), ("a...,...b->b...a", (2, 3), (3, 4)), ("i...->...", (2, 3)),
    ("ij,jk,kl->il", (2, 2), (2, 3), (3, 1)), ("n,ni,nj->ij", 2, (2, 3), (2, 3)), (" i j , j -> i ", (2, 3), 3),
    ("ij,ij->ij", (1, 3), (2, 3)), ("bij,bj->bi", (4, 2, 3), (4, 3)), ("bii->b", (4, 3, 3)),
    ("bij,bjk->bik", (2, 2, 3), (2, 3, 2)),
]  # fmt: skip


@each_case("case", EINSUMS, ids=[case[0] for case in EINSUMS])
def test_einsum(case):
    subscripts, *shapes = case
    agrees(lambda *x: np.einsum(subscripts, *x), *shapes)


INDICES = {
    "[0]": lambda x: x[0],
    "[-1]": lambda x: x[-1],
    "[..., 0]": lambda x: x[..., 0],
    "[1:, ::-1]": lambda x: x[1:, ::-1],
    "[None]": lambda x: x[None, :, None],
    "[[2, 0]]": lambda x: x[[2, 0]],
    "[mask]": lambda x: x[np.array([True, False, True])],
    "[i, j]": lambda x: x[np.array([0, 1]), np.array([2, 0])],
    "[:0]": lambda x: x[:0],
    "iteration": lambda x: [row * 2 for row in x],
    "unpacking": lambda x: (lambda a, b, c: a * b - c)(*x),
}


@each_case("name", INDICES)
def test_indexing(name):
    agrees(INDICES[name], (3, 4))


def test_truth_values_count_as_one_and_zero_in_arithmetic():
    agrees(lambda x: (x > 0.5) * x + 2.0 * (x > 0.3), 3)
    agrees(lambda x: (x > 0.5).astype(float) - x, 3)
    agrees(lambda x: (x > 0.5) == (x > 0.3), 3)
    agrees(lambda x: -(x > 0.5).sum(), 3)
    agrees(lambda x: np.mean(x > 0.5), 3)


def test_symmetric_systems_without_a_pivot_are_eliminated_with_exchange():
    swap = np.array([[0.0, 1.0], [1.0, 0.0]])
    agrees(lambda x: np.linalg.solve(swap * x[0], x), 2)
    agrees(lambda x: np.linalg.solve(np.block([[np.zeros((1, 1)), x[None]], [x[:, None], np.eye(2)]]), np.ones(3)), 2)


def test_elimination_takes_the_largest_pivot():
    function = trace(lambda e: np.linalg.solve(np.stack([np.stack([e, 1.0]), np.stack([1.0, 1.0])]), np.ones(2)), [()])
    near(evaluate(function, 1e-20), [0.0, 1.0], 1e-15)
