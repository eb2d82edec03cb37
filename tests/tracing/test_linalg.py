"""`mb.linalg` beside NumPy, in plain NumPy and in kernels, for full and for lower ranks."""

import numpy as np
import pytest

import multibody as mb
from multibody import InputError, linalg

from ..every_law import each_case


def low_rank(rng, batch, m, n, r):
    return rng.normal(size=(batch, m, r)) @ rng.normal(size=(batch, r, n))


SHAPES = [(3, 5, 3), (5, 3, 2), (4, 4, 2), (14, 18, 9), (18, 14, 14)]


@pytest.mark.parametrize(
    ("m", "n", "r"), [*SHAPES[:-2], *(pytest.param(*shape, marks=pytest.mark.slow) for shape in SHAPES[-2:])]
)
def test_least_norm_and_pseudo_inverse(m, n, r):
    rng = np.random.default_rng(m)
    A, b = low_rank(rng, 6, m, n, r), rng.normal(size=(6, m))
    inverse = np.linalg.pinv(A, rcond=1e-10)
    expected = (inverse @ b[..., None])[..., 0]
    kernel = mb.compile(linalg.least_norm, (m, n), m)
    np.testing.assert_allclose(kernel(A, b), expected, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(linalg.least_norm(A[0], b[0]), expected[0], rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(linalg.least_norm(A, b[..., None])[..., 0], expected, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(mb.compile(linalg.pinv, (m, n))(A), inverse, rtol=1e-7, atol=1e-9)
    np.testing.assert_array_equal(mb.compile(linalg.rank, (m, n))(A), np.full(6, float(r)))
    np.testing.assert_array_equal(linalg.rank(A), np.full(6, float(r)))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize(("m", "n", "r"), [(4, 6, 3), pytest.param(20, 25, 13, marks=pytest.mark.slow)])
def test_orthonormal_rows(m, n, r, dtype):
    """Each lane has dependent rows of its own; projectors keep the rows, and are symmetric to rounding."""
    rng = np.random.default_rng(r)
    A = low_rank(rng, 9, m, n, r).astype(dtype)
    A[3, 1] = 0.0
    Q, independent = mb.compile(linalg.orthonormal_rows, (m, n), dtype=dtype)(A)
    eps = np.finfo(dtype).eps
    Q_Q_T = Q @ Q.swapaxes(1, 2)
    np.testing.assert_allclose(Q_Q_T, independent[..., None] * np.eye(m), atol=100 * eps)
    np.testing.assert_allclose(A @ Q.swapaxes(1, 2) @ Q, A, atol=1000 * eps * np.abs(A).max())
    np.testing.assert_array_equal(independent.sum(axis=1), np.full(9, r))
    assert independent[3, 1] == 0.0
    alone, _ = mb.compile(linalg.orthonormal_rows, (m, n), dtype=dtype)(A[5])
    np.testing.assert_array_equal(alone, Q[5])


def test_nearly_dependent_rows_stay_orthogonal():
    """Once through would leave 1e-6 of the first row in the second."""
    A = np.array([[1.0, 1.0, 1.0], [1.0, 1.0, 1.0 + 1e-9], [1.0, 2.0, 3.0]])
    Q, independent = mb.compile(linalg.orthonormal_rows, (3, 3))(A)
    np.testing.assert_array_equal(independent, [1.0, 1.0, 1.0])
    np.testing.assert_allclose(Q @ Q.T, np.eye(3), atol=1e-14)
    np.testing.assert_array_equal(linalg.orthonormal_rows(A, tolerance=1e-8).independent, [1.0, 0.0, 1.0])


@pytest.mark.parametrize("n", [5, 16])
def test_solve_of_what_is_said_to_be_definite(n):
    rng = np.random.default_rng(n)
    A, b = rng.normal(size=(7, n, n)), rng.normal(size=(7, n))
    A = A @ A.swapaxes(1, 2)
    lower = np.tri(n, dtype=bool)
    kernel = mb.compile(lambda A, b: linalg.solve(A, b, definite=True), (n, n), n)
    expected = np.linalg.solve(A, b[..., None])[..., 0]
    np.testing.assert_allclose(kernel(A, b), expected, rtol=1e-6)
    np.testing.assert_array_equal(kernel(np.where(lower, A, np.nan), b), kernel(A, b))
    np.testing.assert_allclose(linalg.solve(A[0], b[0], definite=True), expected[0], rtol=1e-6)
    assert sum(kernel.ops.values()) < 0.5 * sum(mb.compile(np.linalg.solve, (n, n), n).ops.values())


def symmetric(A):
    """Symmetric for all values, from the lower half."""
    return np.where(np.tri(A.shape[-1], dtype=bool), A, np.swapaxes(A, -1, -2))


def scaled(A):
    d = 10.0 ** np.linspace(-4, 4, A.shape[-1])
    return A * d * d[:, None]


def saddle(A):
    n, m = A.shape[-1], A.shape[-1] // 3
    H = A @ A.swapaxes(1, 2) + 0.1 * np.eye(n)
    H[:, n - m :, n - m :] = 0.0
    return H


def pairs(A):
    """Every unknown but an odd one is in one equation alone, whose number is another."""
    places = np.random.default_rng(2).permutation(A.shape[-1])
    P = np.zeros_like(A)
    for i, j in zip(places[0::2], places[1::2], strict=False):
        P[:, i, j] = P[:, j, i] = A[:, i, j]
    P[:, places[-1], places[-1]] += A.shape[-1] % 2
    return P


MATRICES = {
    "any": lambda A: A,
    "indefinite": lambda A: A,
    "zeros on the diagonal": lambda A: A * (1 - np.eye(A.shape[-1])),
    "saddle": saddle,
    "scaled": scaled,
    "scaled rows": lambda A: A * 10.0 ** np.linspace(-4, 4, A.shape[-1])[:, None],
    "pairs": pairs,
    "tiny first pivot": lambda A: A * np.where(np.arange(A.size // len(A)).reshape(A.shape[1:]) == 0, 1e-18, 1.0),
    "definite": lambda A: A @ A.swapaxes(1, 2),
}


@pytest.fixture(scope="module", params=[(2, np.float64), (5, np.float64), (5, np.float32), (14, np.float64)])
def solvers(request):
    """Kernels for any matrix, and for one that is symmetric for all values."""
    n, dtype = request.param
    any_ = mb.compile(np.linalg.solve, (n, n), n, dtype=dtype)
    return n, dtype, any_, mb.compile(lambda A, b: np.linalg.solve(symmetric(A), b), (n, n), n, dtype=dtype)


@each_case("name", MATRICES)
def test_solutions_are_as_good_as_those_of_numpy(solvers, name):
    """In the backward error |A x - b| / (|A| |x| + |b|), which no condition of A excuses."""
    n, dtype, any_, of_symmetric = solvers
    rng = np.random.default_rng(n)
    A, b = rng.normal(size=(200, n, n)), rng.normal(size=(200, n)).astype(dtype)
    A = MATRICES[name](A if name in ("any", "scaled rows") else A + A.swapaxes(1, 2)).astype(dtype)
    kernels = [any_] if name in ("any", "scaled rows") else [any_, of_symmetric]
    for kernel in kernels:
        x = kernel(A, b)
        residual = np.abs((A.astype(float) @ x[..., None].astype(float))[..., 0] - b).max(axis=-1)
        size = np.abs(A).sum(axis=-1).max(axis=-1) * np.abs(x).max(axis=-1) + np.abs(b).max(axis=-1)
        assert (residual <= 4 * np.finfo(dtype).eps * size).all()
        np.testing.assert_array_equal(kernel(A[3], b[3]), x[3])


def test_inverses_and_derivatives_of_indefinite_systems():
    swap, b = np.array([[0.0, 1.0], [1.0, 0.0]]), np.array([2.0, 3.0])
    np.testing.assert_array_equal(mb.compile(lambda A: np.linalg.inv(symmetric(A)), (2, 2))(swap), swap)
    rng = np.random.default_rng(1)
    for n in (4, 15):
        A, b, dA = rng.normal(size=(n, n)) * (1 - np.eye(n)), rng.normal(size=n), rng.normal(size=(n, n))

        def cost(A, b=b):
            return np.sum(np.sin(np.linalg.solve(symmetric(A), b)))

        h = 1e-6
        change = (cost(A + h * dA) - cost(A - h * dA)) / (2 * h)
        gradient = mb.gradient(cost)(A)
        np.testing.assert_allclose(np.sum(gradient * dA), change, rtol=1e-5)
        np.testing.assert_allclose(mb.compile(mb.gradient(cost), (n, n))(A), gradient, rtol=1e-10)


def test_a_singular_sample_harms_itself_alone():
    A = np.stack([np.eye(3), np.ones((3, 3)), np.diag([1.0, 2.0, 4.0])])
    x = mb.compile(np.linalg.solve, (3, 3), 3)(A, np.array([1.0, 2.0, 4.0]))
    np.testing.assert_array_equal(x[[0, 2]], [[1.0, 2.0, 4.0], [1.0, 1.0, 1.0]])
    assert not np.isfinite(x[1]).all()


def test_zeros_for_all_values_cost_nothing():
    """A saddle of 2 + 1 rows whose lower right entry is zero, and a permutation."""

    def turned(x):
        return np.linalg.solve(np.stack([np.stack([0.0 * x[0], x[0]]), np.stack([x[1], 0.0 * x[0]])]), x)

    np.testing.assert_array_equal(mb.compile(turned, 2)([2.0, 4.0]), [1.0, 1.0])
    assert "select" not in mb.compile(turned, 2).ops


@pytest.mark.parametrize("lower", [True, False])
@pytest.mark.parametrize("n", [4, 17])
def test_solve_triangular(n, lower):
    rng = np.random.default_rng(n)
    T, b = rng.normal(size=(n, n)) + 4 * np.eye(n), rng.normal(size=(n, 2))
    expected = np.linalg.solve(np.tril(T) if lower else np.triu(T), b)
    for columns, right in ((expected, b), (expected[:, 0], b[:, 0])):
        np.testing.assert_allclose(linalg.solve_triangular(T, right, lower=lower), columns, rtol=1e-10)
        kernel = mb.compile(lambda T, b: linalg.solve_triangular(T, b, lower=lower), (n, n), right.shape)
        np.testing.assert_allclose(kernel(T, right), columns, rtol=1e-10)


def test_derivatives_of_least_norm():
    rng = np.random.default_rng(0)
    A, b, dA = rng.normal(size=(4, 6)), rng.normal(size=4), rng.normal(size=(4, 6))

    def cost(A):
        return np.sum(linalg.least_norm(A, b) ** 2)

    h = 1e-6
    change = (cost(A + h * dA) - cost(A - h * dA)) / (2 * h)
    np.testing.assert_allclose(np.sum(mb.gradient(cost)(A) * dA), change, rtol=1e-6)


@each_case(
    "call, told",
    [
        (lambda: linalg.solve(np.ones((2, 3)), np.ones(2)), r"solve: expected a square matrix .*\(2, 3\)"),
        (lambda: linalg.solve_triangular(np.ones((2, 2)), np.ones(3)), "expected b of 2 rows"),
        (lambda: linalg.orthonormal_rows(np.ones(3)), "expected a matrix"),
        (lambda: linalg.least_norm(np.ones((2, 3)), np.ones(3)), "least_norm: expected"),
    ],
)
def test_wrong_shapes_are_refused(call, told):
    with pytest.raises(InputError, match=told):
        call()
