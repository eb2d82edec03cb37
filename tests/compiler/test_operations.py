"""Operations on whole matrices as loops of a kernel, beside NumPy's own."""

import time
from typing import Any, NamedTuple

import numpy as np
import pytest

import multibody as mb
from multibody.compiler.config import config
from multibody.compiler.export import to_c
from multibody.tracing.array.traced import TraceError
from multibody.tracing.interpret import evaluate
from multibody.tracing.matrices import linalg
from multibody.tracing.record.trace import trace

from ..cpu_time import cpu_limit
from .test_to_c import build, call, needs_compiler


def column(b):
    return b[..., :, None]


def matrix(rng, *shape):
    return rng.normal(size=shape)


def definite(rng, batch, n, _):
    A = rng.normal(size=(batch, n, n))
    return A @ np.swapaxes(A, -1, -2) + np.eye(n)


class Case(NamedTuple):
    """A function of matrices, what is equal to it in NumPy, and the kinds of its operations."""

    function: Any
    shapes: list[tuple[int, ...]]
    kinds: list[str]
    reference: Any = None
    draw: Any = matrix


CASES = {
    "product": Case(lambda A, B: A @ B, [(17, 19), (19, 14)], ["product"]),
    "product-vector": Case(lambda A, b: A @ b, [(53, 47), (47,)], ["product"], lambda A, b: (A @ column(b))[..., 0]),
    "product-two-columns": Case(lambda A, B: A @ B, [(53, 47), (47, 2)], ["product"]),
    "product-two-rows": Case(lambda A, B: A @ B, [(2, 47), (47, 53)], ["product"]),
    "product-of-transposes": Case(
        lambda A, B: A.T @ B.T, [(19, 17), (14, 19)], ["product"], lambda A, B: A.swapaxes(1, 2) @ B.swapaxes(1, 2)
    ),
    "product-of-values": Case(
        lambda A, B: np.sin(A) @ (2 * B), [(16, 16), (16, 16)], ["product"], lambda A, B: np.sin(A) @ (2 * B)
    ),
    "product-of-constants": Case(lambda A: A @ np.arange(256.0).reshape(16, 16), [(16, 16)], ["product"]),
    "gram": Case(lambda A: A.T @ A, [(23, 18)], ["gram"], lambda A: A.swapaxes(1, 2) @ A),
    "gram-of-rows": Case(lambda A: A @ A.T, [(18, 23)], ["gram"], lambda A: A @ A.swapaxes(1, 2)),
    "weighted-gram": Case(
        lambda A, w: (A.T * w) @ A, [(23, 18), (23,)], ["weighted_gram"],
        lambda A, w: A.swapaxes(1, 2) @ (column(w) * A),
    ),
    "symmetric-solve": Case(
        lambda A, b: linalg.solve(A, b, definite=True), [(30, 30), (30,)], ["ldlt", "ldlt_solve"],
        lambda A, b: np.linalg.solve(A, column(b))[..., 0], definite,
    ),
    "symmetric-solve-columns": Case(
        lambda A, B: linalg.solve(A, B, definite=True), [(13, 13), (13, 13)], ["ldlt", "ldlt_solve"],
        np.linalg.solve, definite,
    ),
    "solve": Case(
        np.linalg.solve, [(30, 30), (30,)], ["lu", "lu_solve"], lambda A, b: np.linalg.solve(A, column(b))[..., 0]
    ),
    "solve-columns": Case(np.linalg.solve, [(14, 14), (14, 5)], ["lu", "lu_solve"]),
    "inverse": Case(np.linalg.inv, [(15, 15)], ["lu", "lu_solve"]),
    "cholesky": Case(np.linalg.cholesky, [(19, 19)], ["cholesky"], None, definite),
    "normal-equations": Case(
        lambda A, b: linalg.solve(A.T @ A + np.eye(18), b, definite=True), [(23, 18), (18,)],
        ["gram", "ldlt", "ldlt_solve"],
        lambda A, b: np.linalg.solve(A.swapaxes(1, 2) @ A + np.eye(18), column(b))[..., 0],
    ),
}  # fmt: skip


def inputs_of(case, batch, seed=0, dtype=np.float64):
    rng = np.random.default_rng(seed)
    arrays = [case.draw(rng, batch, *case.shapes[0])]
    return [x.astype(dtype) for x in [*arrays, *(rng.normal(size=(batch, *shape)) for shape in case.shapes[1:])]]


def kinds_of(function, *shapes):
    graph, roots = (recorded := trace(function, shapes)).graph, recorded.roots
    return [graph.value[k][0] for k in graph.live(roots) if graph.op[k] == "dense"]


SAMPLE = ("product-of-values", "solve", "cholesky", "normal-equations")
"""What runs by default where all cases are a sweep."""
SWEEP = [pytest.param(name, marks=[] if name in SAMPLE else pytest.mark.slow) for name in CASES]


@pytest.mark.parametrize(
    ("name", "dtype"),
    [pytest.param(name, np.float64, marks=pytest.mark.slow if k % 2 else ()) for k, name in enumerate(CASES)]
    + [pytest.param(name, np.float32, marks=[] if name in SAMPLE else pytest.mark.slow) for name in CASES],
)
def test_beside_numpy_alone_in_batches_and_on_threads(name, dtype):
    case = CASES[name]
    assert kinds_of(case.function, *case.shapes) == case.kinds
    kernel = mb.compile(case.function, *case.shapes, dtype=dtype)
    arrays = inputs_of(case, 37, dtype=dtype)
    results = kernel(*arrays)
    expected = (case.reference or case.function)(*(x.astype(float) for x in arrays))
    error = np.abs(results - expected).max(axis=tuple(range(1, expected.ndim)))
    scale = np.abs(expected).max(axis=tuple(range(1, expected.ndim)))
    assert np.all(error <= (1e-10 if dtype == np.float64 else 0.05) * scale)
    assert np.median(error / scale) < (1e-13 if dtype == np.float64 else 1e-4)
    for k in (0, 8, 36):
        np.testing.assert_array_equal(kernel(*(x[k] for x in arrays)), results[k])
    np.testing.assert_array_equal(kernel(*(x[3:10] for x in arrays)), results[3:10])
    np.testing.assert_array_equal(kernel(*arrays, threads=2), results)


@pytest.mark.parametrize("name", SWEEP)
def test_the_interpreter_and_emitted_numpy_agree(name):
    case = CASES[name]
    traced, arrays = trace(case.function, case.shapes), inputs_of(case, 3)
    expected = (case.reference or case.function)(*arrays)
    np.testing.assert_allclose(evaluate(traced, *arrays), expected, rtol=1e-8, atol=1e-8)
    space: dict[str, Any] = {}
    exec(mb.compile(case.function, *case.shapes).to_numpy(), space)
    emitted = next(value for key, value in space.items() if key in ("kernel", case.function.__name__))
    np.testing.assert_allclose(emitted(*arrays), expected, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(emitted(*(x[0] for x in arrays)), expected[0], rtol=1e-8, atol=1e-8)


@needs_compiler
@pytest.mark.parametrize(
    ("dtype", "every"),
    [(np.float64, 5), *(pytest.param(dtype, 1, marks=pytest.mark.slow) for dtype in (np.float64, np.float32))],
)
def test_emitted_c_agrees(tmp_path, dtype, every):
    sources = []
    for number, case in enumerate(list(CASES.values())[::every]):
        traced = trace(case.function, case.shapes, dtype=dtype)
        sources.append((number, case, traced, to_c.to_c(traced, f"f{number}").source))
    for number, case, traced, source in sources:
        place = tmp_path / str(number)
        place.mkdir()
        arrays = [x[:2] for x in inputs_of(case, 3)]
        (results,) = call(build(place, source), f"f{number}", traced, arrays)
        expected = (case.reference or case.function)(*arrays)
        np.testing.assert_allclose(results, expected, rtol=0, atol=(1e-9 if dtype == np.float64 else 0.02) * 100)


def test_sympy_refuses_them_by_name():
    with pytest.raises(TraceError, match="SymPy cannot translate the operation 'product' on matrices"):
        mb.compile(lambda A: A @ A, (16, 16)).to_sympy()


# ---- numbers ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["symmetric-solve", "solve", "cholesky"])
def test_a_singular_matrix_spoils_no_other_lane(name):
    case = CASES[name]
    kernel, arrays = mb.compile(case.function, *case.shapes), inputs_of(case, 21)
    healthy = kernel(*arrays)
    arrays[0][5] = 0.0
    arrays[0][14] = np.nan
    results = kernel(*arrays)
    bad = np.isin(np.arange(21), [5, 14])
    np.testing.assert_array_equal(results[~bad], healthy[~bad])
    assert not np.isfinite(results[bad]).all(axis=tuple(range(1, results.ndim))).any()


@pytest.mark.parametrize("n", [13, 30])
def test_pivots_are_needed_and_taken(n):
    """A matrix with zeros on its diagonal, one that is nearly singular, and permutations, each lane another."""
    rng = np.random.default_rng(n)
    A = rng.normal(size=(40, n, n)) * (1 - np.eye(n))
    A[10:20] = [np.eye(n)[rng.permutation(n)] for _ in range(10)]
    u, _, v = np.linalg.svd(A[20:])
    A[20:] = u * np.logspace(0, -12, n) @ v
    b = rng.normal(size=(40, n))
    x = mb.compile(np.linalg.solve, (n, n), n)(A, b)
    residual = np.abs((A @ column(x))[..., 0] - b).max(axis=-1)
    assert np.all(residual < 1e-13 * n * np.linalg.norm(A, axis=(1, 2)) * np.linalg.norm(x, axis=1))
    np.testing.assert_array_equal(x[10:20], np.swapaxes(A[10:20], 1, 2) @ column(b[10:20]) @ np.ones((1, 1)) @ [1.0])


def test_transposed_solutions():
    """Of what derivatives use alone."""
    rng = np.random.default_rng(1)
    A, b = rng.normal(size=(20, 14, 14)), rng.normal(size=(20, 14))
    kernel = mb.compile(lambda A, b, c: mb.vjp(np.linalg.solve)(A, b, c)[1][1], (14, 14), 14, 14)
    expected = np.linalg.solve(A.swapaxes(1, 2), column(b))[..., 0]
    np.testing.assert_allclose(kernel(A, np.zeros_like(b), b), expected, rtol=1e-8, atol=1e-10)


# ---- among other code ------------------------------------------------------------------------------------------------


def test_in_loops_and_in_scans():
    rng = np.random.default_rng(2)
    A = rng.normal(size=(9, 16, 16)) / 4 + 2 * np.eye(16)
    x = rng.normal(size=(9, 16))

    def step(A, x):
        return np.sin(np.linalg.solve(A.T @ A + np.eye(16), x)) + 0.1 * np.linalg.solve(A, x)

    def rounds(A, x):
        return mb.loop(6, lambda x: step(A, x), x)

    expected = x.copy()
    for k in range(9):
        for _ in range(6):
            expected[k] = step(A[k], expected[k])
    np.testing.assert_allclose(mb.compile(rounds, (16, 16), 16)(A, x), expected, rtol=1e-12, atol=1e-14)
    scan = mb.compile_scan(lambda x, A: (step(A, x), x[0]), 16, parameters=[(16, 16)])
    last, seen = scan(x, A, steps=6)
    np.testing.assert_allclose(last, expected, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(seen[:, 0], x[:, 0])


def test_matrices_that_a_loop_carries_and_changes():
    """Newton's iteration for the inverse: products of what is carried."""
    rng = np.random.default_rng(3)
    A = rng.normal(size=(5, 16, 16)) / 4 + 2 * np.eye(16)

    def inverse(A):
        return mb.loop(40, lambda X: X @ (2 * np.eye(16) - A @ X), A.T / np.sum(A * A))

    np.testing.assert_allclose(mb.compile(inverse, (16, 16))(A), np.linalg.inv(A), rtol=1e-9, atol=1e-11)


def test_rounds_of_an_interior_point():
    """One L D L^T and two solutions a round, A^T D A with a D that changes: as quadratic programs need it."""
    rng = np.random.default_rng(4)
    A, b = rng.normal(size=(6, 30, 14)), rng.normal(size=(6, 14))

    def solver(A, b):
        def body(carry):
            x, d = carry
            H = (A.T * d) @ A + np.eye(14)
            p, q = linalg.solve(H, b, definite=True), linalg.solve(H, x, definite=True)
            return p + 0.5 * q, 1.0 / (1.0 + (A @ x) ** 2)

        return mb.loop(5, body, (b, np.ones(30)))

    assert kinds_of(solver, (30, 14), 14).count("ldlt") == 1
    x, d = mb.compile(solver, (30, 14), 14)(A, b)
    for k in range(6):
        plain = solver(A[k], b[k])
        np.testing.assert_allclose(x[k], plain[0], rtol=1e-11)
        np.testing.assert_allclose(d[k], plain[1], rtol=1e-11)


def test_structure_of_operands():
    """Parts, stacks and constants among entries; entries of results used one by one."""
    rng = np.random.default_rng(5)
    A, B = rng.normal(size=(11, 20, 20)), rng.normal(size=(11, 20, 20))

    def function(A, B):
        left = np.concatenate([A[:7], 2.0 * B[7:15], np.ones((5, 20))])
        C = left[:, ::-1] @ np.concatenate([B[:, :9], np.eye(20)[:, :5]], axis=1)
        return C[3] * 2.0, C[::2].T, np.sum(C)

    for result, expected in zip(
        mb.compile(function, (20, 20), (20, 20))(A, B), zip(*map(function, A, B), strict=True), strict=True
    ):
        np.testing.assert_allclose(result, np.array(expected), rtol=1e-12, atol=1e-12)


def test_code_that_was_kept_is_verified(monkeypatch):
    monkeypatch.setattr(config, "verify", True)
    A = np.random.default_rng(0).normal(size=(16, 16))
    for _ in range(2):
        product = mb.compile(lambda A: A.T @ A, (16, 16))(A)
        np.testing.assert_allclose(product, A.T @ A, rtol=0, atol=1e-13)  # sums that cancel among them


def test_code_does_not_grow_with_the_matrices():
    short = mb.compile(lambda A: np.linalg.cholesky(A), (16, 16)).ir
    long = mb.compile(lambda A: np.linalg.cholesky(A), (48, 48)).ir

    def instructions(text):
        return sum(" = internal constant" not in line for line in text.splitlines())

    assert instructions(long) < 1.5 * instructions(short)  # there are 27 times as many operations


def test_compilation_takes_a_fraction_of_a_second_of_cpu_time(monkeypatch):
    monkeypatch.setattr(config, "cache", False)
    begun = time.process_time()
    kernel = mb.compile(lambda A, b: np.linalg.solve(A.T @ A + np.eye(30), b), (60, 30), 30)
    assert time.process_time() - begun < cpu_limit(2.0)
    A, b = np.random.default_rng(0).normal(size=(60, 30)), np.ones(30)
    np.testing.assert_allclose(kernel(A, b), np.linalg.solve(A.T @ A + np.eye(30), b), rtol=1e-10)


def test_operations_are_counted():
    kernel = mb.compile(lambda A, B: A @ B, (16, 16), (16, 16))
    assert kernel.ops == {"fma": 16**3}
