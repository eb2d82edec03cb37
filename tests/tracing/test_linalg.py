"""`mb.linalg` beside NumPy, in plain NumPy and in kernels, for full and for lower ranks."""

import numpy as np
import pytest

import multibody as mb
from multibody import InputError, linalg


def low_rank(rng, batch, m, n, r):
    return rng.normal(size=(batch, m, r)) @ rng.normal(size=(batch, r, n))


SHAPES = [(3, 5, 3), (5, 3, 2), (4, 4, 2), (14, 18, 9), (18, 14, 14)]


@pytest.mark.parametrize(("m", "n", "r"), [*SHAPES[:-1], pytest.param(*SHAPES[-1], marks=pytest.mark.slow)])
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
@pytest.mark.parametrize(("m", "n", "r"), [(4, 6, 3), (20, 25, 13)])
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
def test_solve_takes_pivots_of_symmetric_matrices_too(n):
    rng = np.random.default_rng(n)
    A = rng.normal(size=(7, n, n))
    A = (A + A.swapaxes(1, 2)) * (1 - np.eye(n))  # indefinite, zeros on the diagonal
    b = rng.normal(size=(7, n))
    lower = np.tri(n, dtype=bool)
    kernel = mb.compile(lambda A, b: linalg.solve(np.where(lower, A, A.T), b), (n, n), n)
    expected = np.linalg.solve(A, b[..., None])[..., 0]
    np.testing.assert_allclose(kernel(A, b), expected, rtol=1e-8)
    definite = A @ A
    kernel = mb.compile(lambda A, b: linalg.solve(A, b, symmetric=True), (n, n), n)
    expected = np.linalg.solve(definite, b[..., None])[..., 0]
    np.testing.assert_allclose(kernel(definite, b), expected, rtol=1e-6)
    np.testing.assert_array_equal(kernel(np.where(lower, definite, np.nan), b), kernel(definite, b))
    np.testing.assert_allclose(linalg.solve(definite[0], b[0], symmetric=True), expected[0], rtol=1e-8)


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


@pytest.mark.parametrize(
    ("call", "told"),
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
