"""The interior-point core: optimality conditions, DAQP and PIQP beside it, always an end, compiled and eager."""

import daqp
import numpy as np
import piqp
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from multibody.compiler.compile import compile as compile_kernel
from multibody.solvers import interior_point_starts

SHAPES = ((3, 4), (7, 7), (8, 12), (12, 20))


def programs(rng, n, m, count, rank=None):
    """Feasible, bounded programs (H, g, C, lower, upper), stacked; many bounds meet in one point."""
    columns = []
    for _ in range(count):
        F = rng.standard_normal((rank or n, n)) * 10 ** rng.uniform(-1, 1, (rank or n, 1))
        C, x = rng.standard_normal((m, n)), rng.standard_normal(n)
        # within the range of H, so that the objective has a least value
        g = F.T @ rng.standard_normal(len(F)) * 3 if rank else rng.standard_normal(n) * 3
        lower = C @ x - rng.exponential(1, m) * (rng.random(m) > 0.3)
        lower[rng.random(m) < 0.3] = -np.inf
        columns.append((F.T @ F + (0 if rank else 1e-2) * np.eye(n), g, C, lower, C @ x + rng.exponential(1, m)))
    return [np.stack(column) for column in zip(*columns, strict=True)]


def conditions(program, x, z):
    """Stationarity, feasibility and complementarity, relative to the program."""
    H, g, C, lower, upper = program
    y, size = C @ x, max(1.0, np.abs(g).max())
    slack = np.where(z > 0, upper - y, np.where(z < 0, lower - y, 0.0))
    over = np.maximum(np.maximum(y - upper, lower - y), 0).max()
    return np.abs(H @ x + g + C.T @ z).max() / size, over, np.abs(z * np.where(z == 0, 0, slack)).max() / size


def active_set(H, g, C, lower, upper):
    arrays = [np.ascontiguousarray(x) for x in (H, g, C, np.minimum(upper, 1e30), np.maximum(lower, -1e30))]
    settings = {"primal_tol": 1e-11, "dual_tol": 1e-12, "iter_limit": 10000}
    return daqp.solve(*arrays, np.zeros(len(lower), np.int32), **settings)[0]


def interior(H, g, C, lower, upper):
    solver = piqp.DenseSolver()
    settings = solver.settings
    settings.eps_abs = settings.eps_rel = settings.eps_duality_gap_abs = settings.eps_duality_gap_rel = 1e-11
    solver.setup(H, g, None, None, C, np.maximum(lower, -1e30), np.minimum(upper, 1e30), None, None)
    solver.solve()
    return np.array(solver.result.x)


@pytest.fixture(scope="module")
def kernel():
    """The core as a kernel, for 7 unknowns and 7 rows."""

    def solve(H, g, C, lower, upper):
        return tuple(interior_point_starts.solve(H, g, C, lower, upper))

    shapes = ((7, 7), (7,), (7, 7), (7,), (7,))
    return compile_kernel(solve, *shapes, names=("H", "g", "C", "lower", "upper"), batched=True)


@pytest.mark.parametrize(("n", "m"), SHAPES)
def test_meets_the_conditions_of_optimality(n, m):
    problem = programs(np.random.default_rng(n), n, m, 60)
    answer = interior_point_starts.solve(*problem)
    assert answer.residual.max() <= 1e-10
    assert answer.iterations.mean() < 12
    for k, program in enumerate(zip(*problem, strict=True)):
        assert_allclose(conditions(program, answer.x[k], answer.multipliers[k]), 0, atol=1e-8)
        assert_allclose(answer.x[k], active_set(*program), rtol=1e-6, atol=1e-6)


def test_objective_of_low_rank_is_that_of_piqp():
    problem = programs(np.random.default_rng(4), 8, 12, 30, rank=4)
    answer = interior_point_starts.solve(*problem)
    assert answer.residual.max() <= 1e-10
    for k, program in enumerate(zip(*problem, strict=True)):
        values = [x @ program[0] @ x / 2 + program[1] @ x for x in (answer.x[k], interior(*program))]
        assert_allclose(values[0], values[1], rtol=1e-7, atol=1e-7)


@pytest.mark.slow
@pytest.mark.parametrize(("n", "m"), SHAPES)
def test_always_ends(n, m):
    answer = interior_point_starts.solve(*programs(np.random.default_rng(100 + n), n, m, 5000))
    assert answer.residual.max() <= 2e-9
    assert answer.iterations.mean() < 12


def test_kernel_is_the_source(kernel):
    problem = programs(np.random.default_rng(1), 7, 7, 40)
    x, z, iterations, residual, _ = kernel(*problem)
    eager = interior_point_starts.solve(*problem)
    assert_allclose(x, eager.x, atol=1e-7)
    assert_allclose(z, eager.multipliers, atol=1e-6)
    assert np.abs(iterations - eager.iterations).max() <= 2
    assert residual.max() <= 1e-10


def test_a_sample_does_not_depend_on_its_batch(kernel):
    problem = programs(np.random.default_rng(2), 7, 7, 21)
    problem[1][5, 2] = np.nan
    x = kernel(*problem)[0]
    assert np.isnan(x[5]).any()
    assert np.isfinite(np.delete(x, 5, axis=0)).all()
    for k in (0, 4, 6, 20):
        assert_array_equal(kernel(*(part[k] for part in problem))[0], x[k])


def test_nan_takes_no_iterations(kernel):
    problem = programs(np.random.default_rng(2), 7, 7, 1)
    problem[0][0, 0, 0] = np.nan
    assert kernel(*problem)[2][0] == 0


def test_without_bounds_it_is_a_linear_equation():
    rng = np.random.default_rng(5)
    H, g, C, lower, upper = programs(rng, 5, 3, 10)
    answer = interior_point_starts.solve(H, g, C, np.full_like(lower, -np.inf), np.full_like(upper, np.inf))
    assert_allclose(answer.x, -np.linalg.solve(H, g[..., None])[..., 0], rtol=1e-6)
    assert_array_equal(answer.multipliers, 0)


def test_what_nothing_decides_stays_finite():
    H, C = np.diag([1.0, 0.0]), np.array([[1.0, 0.0]])
    answer = interior_point_starts.solve(H, np.array([-2.0, 0.0]), C, np.array([-1.0]), np.array([1.0]))
    assert_allclose(answer.x[0], 1.0, atol=1e-9)
    assert_allclose(answer.multipliers, 1.0, atol=1e-8)
    assert np.isfinite(answer.x).all()


def test_skipped_samples_take_no_iterations():
    problem = programs(np.random.default_rng(6), 4, 5, 8)
    skip = np.arange(8) % 2 == 0
    answer = interior_point_starts.solve(*problem, skip)
    assert_array_equal(answer.iterations == 0, skip)
    assert_allclose(answer.x[~skip], interior_point_starts.solve(*problem).x[~skip], rtol=0, atol=0)


def test_thin_sets_have_an_answer():
    """Bounds that leave one point, and equal bounds: there is no interior."""
    C = np.array([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0]])
    answer = interior_point_starts.solve(
        np.eye(2), np.array([3.0, -3.0]), C, np.array([0.5, -0.5, 1.0]), np.array([9.0, 9.0, 1.0])
    )
    assert_allclose(answer.x, [0.5, 1.0], atol=1e-7)


def test_contradictions_are_told():
    C = np.array([[1.0], [1.0]])
    answer = interior_point_starts.solve(np.eye(1), np.zeros(1), C, np.array([1.0, -9.0]), np.array([9.0, -1.0]))
    assert answer.residual > 1e-3


def test_float32():
    problem = [part.astype(np.float32) for part in programs(np.random.default_rng(8), 5, 6, 30)]
    answer = interior_point_starts.solve(*problem)
    assert answer.x.dtype == np.float32
    exact = interior_point_starts.solve(*(part.astype(np.float64) for part in problem))
    assert answer.residual.max() <= 4e-5  # the tolerance, and rounding errors of what is carried
    assert_allclose(answer.x, exact.x, atol=2e-2)


def test_a_box_folds_to_a_diagonal():
    def operations(C):
        def solve(H, g, lower, upper):
            return interior_point_starts.solve(H, g, C, lower, upper).x

        kernel = compile_kernel(solve, (6, 6), (6,), (6,), (6,), names=("H", "g", "lower", "upper"))
        return sum(kernel.ops.values())

    assert operations(np.eye(6)) < 0.8 * operations(np.random.default_rng(0).uniform(1, 2, (6, 6)))
