"""Strict levels within hard bounds, beside a cascade of PIQP's programs in bases of null spaces."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import multibody as mb
from multibody.solvers.program import Bounds
from multibody.solvers.strict_levels.projection import solve_within

from ..control.cascades import cascade

N = 6


def levels_of(rng, size, ranks=(3, 2)):
    """Levels of four rows each, of some rank, whose targets have a size."""
    return [
        (rng.standard_normal((4, rank)) @ rng.standard_normal((rank, N)), size * rng.standard_normal(4))
        for rank in ranks
    ]


def bounds_of(rng, rows):
    """The box of all entries, then other rows, all of which zero meets."""
    C = np.concatenate([np.eye(N), rng.standard_normal((rows, N)) * 10 ** rng.uniform(-2, 2, (rows, 1))])
    reach = np.linalg.norm(C, axis=1)
    return C, -reach * rng.uniform(0.2, 1, N + rows), reach * rng.uniform(0.2, 1, N + rows)


def misses(levels, x):
    return np.array([np.linalg.norm(A @ x - b) for A, b in levels])


def batched(levels, bounds):
    return [(A[None], b[None]) for A, b in levels], Bounds(*(part[None] for part in bounds))


@pytest.mark.parametrize("rows", [0, 3])
@pytest.mark.parametrize("supported", [False, True])
def test_levels_are_met_as_well_as_by_a_cascade(rows, supported):
    """Level by level, for levels of any rank, with bounds that are reached and such that are not."""
    rng, reached = np.random.default_rng(rows), 0
    for size in (0.1, 1.0, 5.0, 30.0):
        for _ in range(6):
            levels, bounds = levels_of(rng, size), bounds_of(rng, rows)
            support = rng.standard_normal((1, N)) if supported else None
            given = batched(levels, bounds)
            x = solve_within(*given, tuple(range(N)), None if support is None else support[None])[0]
            other, best = cascade([*levels, (np.eye(N), np.zeros(N))], *bounds, support)
            C, lower, upper = bounds
            assert (lower - 1e-9 * np.maximum(1, -lower) <= C @ x).all()
            assert (C @ x <= upper + 1e-9 * np.maximum(1, upper)).all()
            assert (np.abs(x) <= np.where(x > 0, upper[:N], -lower[:N])).all()  # the box to the last digit
            if supported:
                assert_allclose(support @ x, 0, atol=1e-10)
            assert_allclose([*misses(levels, x), np.linalg.norm(x)], best, rtol=1e-6, atol=1e-6)
            assert_allclose(x, other, atol=1e-4)
            reached += (
                misses(levels[:1], x)[0] > misses(levels[:1], np.linalg.pinv(levels[0][0]) @ levels[0][1])[0] + 1e-6
            )
    assert 6 <= reached <= 18


def test_bounds_that_zero_does_not_meet():
    """The first point is taken to them, within the box."""
    rng = np.random.default_rng(3)
    C = np.concatenate([np.eye(N), np.ones((1, N))])
    lower, upper = np.array([-1.0] * N + [2.0]), np.array([1.0] * N + [3.0])
    levels = levels_of(rng, 2.0)
    x = solve_within(*batched(levels, (C, lower, upper)), tuple(range(N)))[0]
    _, best = cascade([*levels, (np.eye(N), np.zeros(N))], C, lower, upper)
    assert 2.0 - 1e-9 <= x.sum() <= 3.0 + 1e-9
    assert_allclose([*misses(levels, x), np.linalg.norm(x)], best, rtol=1e-6, atol=1e-6)


def test_bounds_beyond_reach_are_widened():
    """x = 0 in the only direction that a row bounds: the row stays at zero, and the level is met in the others."""
    C = np.eye(N)[:1]
    support, level = np.eye(N)[None, :1], (np.eye(N)[None, 1:3], np.array([[0.5, -0.25]]))
    x = solve_within([level], Bounds(C[None], np.array([[1.0]]), np.array([[2.0]])), (), support)[0]
    assert_allclose(x, [0, 0.5, -0.25, 0, 0, 0], atol=1e-12)


def test_damping_keeps_steps_small_near_singularities_and_bounds_hold():
    """A level whose rows are almost parallel: the damped step is short, and the box holds with damping, too."""
    A = np.array([[1.0, 0, 0, 0, 0, 0], [1.0, 1e-4, 0, 0, 0, 0]])
    level = [(A[None], np.array([[0.0, 1.0]]))]
    wide, tight = (Bounds(np.eye(N)[None], np.full((1, N), -s), np.full((1, N), s)) for s in (1e6, 0.1))
    box = tuple(range(N))
    assert np.abs(solve_within(level, wide, box)).max() > 5e3
    assert np.abs(solve_within(level, wide, box, damping=0.1)).max() < 6
    assert np.abs(solve_within(level, tight, box, damping=0.1)).max() <= 0.1


def test_a_kernel_is_the_numpy_alone_and_in_batches():
    rng = np.random.default_rng(5)
    levels, (C, lower, upper) = levels_of(rng, 1.0, (4,)), bounds_of(rng, 0)
    (A, _), b = levels[0], rng.standard_normal((5, 4)) * np.array([0.1, 1, 3, 10, 30])[:, None]

    def law(b):
        rows = (*b.shape[:-1], 4, N)
        bounds = Bounds(*(np.broadcast_to(part, (*b.shape[:-1], *part.shape)) for part in (C, lower, upper)))
        return solve_within([(np.broadcast_to(A, rows), b)], bounds, tuple(range(N)))

    kernel = mb.compile(law, 4)
    x = kernel(b)
    assert_allclose(x, law(b), atol=1e-9)
    assert_array_equal(kernel(b[2]), x[2])
