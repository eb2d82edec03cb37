"""Operations on whole matrices in a graph: which become one, and what their derivatives are."""

import numpy as np
import pytest

import multibody as mb
from multibody.tracing.matrices import dense, linalg
from multibody.tracing.record.trace import trace

from ..sampling import sampled

N = 14
WEIGHTS = np.arange(N * N).reshape(N, N) / (N * N)


def kinds_of(function, *shapes):
    recorded = trace(function, shapes)
    graph = recorded.graph
    return [graph.value[k][0] for k in graph.live(recorded.roots) if graph.op[k] == "dense"]


# ---- which become one ------------------------------------------------------------------------------------------------


def test_small_ones_are_written_out():
    assert not kinds_of(lambda A: A @ A, (12, 12))
    assert not kinds_of(np.linalg.inv, (12, 12))
    assert not kinds_of(np.linalg.cholesky, (12, 12))
    assert kinds_of(lambda A: A @ A, (13, 13)) == ["product"]
    assert kinds_of(np.linalg.cholesky, (13, 13)) == ["cholesky"]


def test_structural_zeros_are_used_where_they_pay():
    blocks = np.kron(np.eye(5), np.ones((4, 4)))
    assert not kinds_of(lambda A: (A * blocks) @ (A * blocks), (20, 20))
    assert not kinds_of(lambda A, b: np.linalg.solve(A * blocks, b), (20, 20), 20)
    assert mb.compile(lambda A, B: (A * blocks) @ B, (20, 20), (20, 20)).ops == {"mul": 20 * 20, "fma": 20 * 20 * 3}
    large = np.kron(np.eye(2), np.ones((40, 40)))
    assert kinds_of(lambda A: (A * large) @ A, (80, 80)) == ["product"]


def test_blocks_that_zeros_leave_become_loops():
    """Two legs that share nothing, and rows of their own: two loops without a product by zero."""
    legs = np.kron(np.eye(3), np.ones((15, 15)))
    rows = np.concatenate([legs, np.eye(45)[:7]])

    def function(A, B):
        return (np.concatenate([A, A[:7]]) * rows) @ B

    assert kinds_of(function, (45, 45), (45, 12)) == ["product"] * 3
    rng = np.random.default_rng(0)
    A, B = rng.normal(size=(45, 45)), rng.normal(size=(45, 12))
    kernel = mb.compile(function, (45, 45), (45, 12))
    np.testing.assert_allclose(kernel(A, B), function(A, B), atol=1e-12)
    assert kernel.ops["fma"] <= 45 * 15 * 12


def test_a_matrix_and_a_vector_are_a_loop_from_fewer_products_on():
    for times in (lambda A, x: A @ x, lambda A, x: x @ A.T, lambda A, x: np.einsum("...ij,...j->...i", A, x)):
        assert kinds_of(times, (20, 16), 16) == ["product"]
        assert not kinds_of(times, (20, 15), 15)
        A, x = np.random.default_rng(0).normal(size=(20, 16)), np.arange(16.0)
        np.testing.assert_allclose(mb.compile(times, (20, 16), 16)(A, x), A @ x, atol=1e-12)


def test_a_product_with_the_own_transpose_is_symmetric_for_all_values():
    for function in (lambda A: A.T @ A, lambda A: (A.T * A[:, 0]) @ A, lambda A: A.T @ (A * A[:, :1])):
        recorded = trace(function, [(16, 16)])
        (C,) = recorded.outputs
        np.testing.assert_array_equal(C, C.T)
    assert kinds_of(lambda A: A.T @ (A * A[:, :1]), (16, 16)) == ["weighted_gram"]
    assert kinds_of(lambda A: (A.T * A[0]) @ A.T, (16, 16)) == ["product"]
    assert kinds_of(lambda A: (A.T * A) @ A, (16, 16)) == ["product"]


def test_a_matrix_is_factored_once_for_several_solutions():
    def function(A, b):
        H = A.T @ A
        twice = [linalg.solve(H, right, definite=True) for right in (b, 2 * b)]
        return *twice, np.linalg.solve(A, b), np.linalg.inv(A)

    kinds = kinds_of(function, (16, 16), 16)
    assert [kinds.count(kind) for kind in ("gram", "ldlt", "ldlt_solve", "lu", "lu_solve")] == [1, 1, 2, 1, 2]


def test_a_symmetric_matrix_that_begins_with_zero_is_solved_with_pivots():
    rng = np.random.default_rng(0)
    b = rng.normal(size=16)
    M = rng.normal(size=(8, 8))

    def saddle(M):
        return np.block([[np.zeros((8, 8)), M.T], [M, np.eye(8)]])

    def function(M, b):
        A = saddle(M)
        return np.linalg.solve(A, b)

    x = mb.compile(function, (8, 8), 16)(M, b)
    np.testing.assert_allclose(saddle(M) @ x, b, atol=1e-11)


# ---- derivatives -----------------------------------------------------------------------------------------------------


def normal(A):
    return A.T @ A + np.eye(N)


FUNCTIONS = {
    "product": lambda A: np.sum(np.sin(A @ (A + 1.0))),
    "gram": lambda A: np.sum(np.sin(A.T @ A) * WEIGHTS),
    "weighted_gram": lambda A: np.sum(np.sin((A.T * np.cos(A[0])) @ A) * WEIGHTS),
    "symmetric-solve": lambda A: np.sum(np.sin(linalg.solve(normal(A), A[:, :2], definite=True))),
    "solve": lambda A: np.sum(np.sin(np.linalg.solve(A, np.cos(A[:, 0])))),
    "solve-transposed": lambda A: np.sum(mb.gradient(lambda b: np.sum(np.linalg.solve(A, b) * A[0]))(A[1]) ** 2),
    "cholesky": lambda A: np.sum(np.sin(np.linalg.cholesky(normal(A))) * WEIGHTS),
    "inverse": lambda A: np.sum(np.linalg.inv(A) * np.sin(A)),
    "in-a-loop": lambda A: np.sum(mb.loop(3, lambda x: np.sin(np.linalg.solve(normal(A), x)) + A @ x, A[0])),
}


@pytest.mark.parametrize("name", sampled(FUNCTIONS))
def test_derivatives_beside_finite_differences(name):
    function = FUNCTIONS[name]
    rng = np.random.default_rng(7)
    A, dA = rng.normal(size=(N, N)) / 2 + 2 * np.eye(N), rng.normal(size=(N, N))
    h = 1e-5
    change = (function(A + h * dA) - function(A - h * dA)) / (2 * h)
    gradient = mb.compile(mb.gradient(function), (N, N))
    np.testing.assert_allclose(np.sum(gradient(A) * dA), change, rtol=1e-6)
    value, push = mb.compile(mb.jvp(function), (N, N), (N, N))(A, dA)
    np.testing.assert_allclose(value, function(A), rtol=1e-12)
    np.testing.assert_allclose(push, np.sum(gradient(A) * dA), rtol=1e-9)
    second = (gradient(A + h * dA) - gradient(A - h * dA)) / (2 * h)
    curvature = mb.compile(mb.hessian_vector(function), (N, N), (N, N))(A, dA)
    np.testing.assert_allclose(curvature, second, rtol=1e-5, atol=1e-6 * np.abs(second).max())


def test_derivatives_of_operations_on_matrices_are_such_operations():
    kinds = kinds_of(mb.gradient(FUNCTIONS["symmetric-solve"]), (N, N))
    assert kinds.count("ldlt") == 1
    assert set(kinds) <= {"gram", "ldlt", "ldlt_solve", "product"}


def test_the_jacobian_of_a_solution_is_one_more_solution_of_many_columns():
    jacobian = mb.jacobian(np.linalg.solve, 1)
    rng = np.random.default_rng(3)
    A, b = rng.normal(size=(N, N)), rng.normal(size=N)
    assert kinds_of(jacobian, (N, N), N).count("lu_solve") <= 2
    np.testing.assert_allclose(mb.compile(jacobian, (N, N), N)(A, b), np.linalg.inv(A), rtol=1e-9, atol=1e-10)


def test_triangular_solutions_read_one_half():
    rng = np.random.default_rng(4)
    T, b = rng.normal(size=(N, N)) + 4 * np.eye(N), rng.normal(size=(N, 3))
    for lower in (True, False):

        def function(T, b, lower=lower):
            return T._with(dense.triangular_solution(T.graph, T.ids, b.ids, lower=lower))

        half = np.tril(T) if lower else np.triu(T)
        np.testing.assert_allclose(mb.compile(function, (N, N), (N, 3))(T, b), np.linalg.solve(half, b), rtol=1e-11)
