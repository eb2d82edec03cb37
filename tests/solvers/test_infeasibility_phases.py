"""Quadratic programs of numbers of very different sizes, and without a feasible point: no wrong answer says SOLVED."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from multibody import control
from multibody.control import Status

from .programs import (
    SCALES,
    active_set,
    conditions,
    contradicting,
    interior,
    least_violation,
    objective,
    scaled,
    violation,
)

SHAPE = 5, 2, 8
ILL_CONDITIONED = {"tight": 0.1, "all": 0.2}
"""The share of programs that may be FAILED: bounds 1e-7 apart need multipliers that doubles do not have."""


def beyond(program, x):
    """The largest violation of a row of the length 1, relative to x."""
    _, _, A, b, C, lower, upper = program
    lengths = [np.maximum(np.linalg.norm(rows, axis=1), 1e-300) for rows in (A, C)]
    over = np.concatenate([np.abs(A @ x - b) / lengths[0], (C @ x - upper) / lengths[1], (lower - C @ x) / lengths[1]])
    return max(0.0, over.max()) / max(1.0, np.abs(x).max())


def best(program):
    """The least objective that two other solvers find within the rows, or None."""
    answers = [solver(*program) for solver in (interior, active_set)]
    values = [objective(program, x) for x in answers if np.isfinite(x).all() and beyond(program, x) < 1e-9]
    return min(values, default=None)


def check(shape, count, seed, kind):
    rng = np.random.default_rng([seed, SCALES.index(kind)])
    problems = [scaled(rng, *shape, kind) for _ in range(count)]
    answer = control.qp(*(np.stack(parts) for parts in zip(*problems, strict=True)))
    assert Status.UNBOUNDED not in answer.status
    assert np.mean(answer.status != Status.SOLVED) <= ILL_CONDITIONED.get(kind, 0.0)
    assert np.mean(answer.status == Status.INFEASIBLE) <= 0.2 * ILL_CONDITIONED.get(kind, 0.0)
    for k in np.flatnonzero(answer.status == Status.SOLVED):
        x, (y, z) = answer.x[k], (part[k] for part in answer.multipliers)
        stationarity, _, complementarity = conditions(problems[k], x, y, z)
        assert max(stationarity, beyond(problems[k], x), complementarity) <= 1e-8
        least = best(problems[k])
        if least is None:
            continue
        # conditions are relative to g and H x, which may be far above the objective; others are up to 1e-9 beyond rows
        H, g, A, _, C, *_ = problems[k]
        size, pulls = np.abs(np.concatenate([g, H @ x])).max(), [*(y[:, None] * A), *(z[:, None] * C)]
        room = 1e-10 * size + 1e-9 * sum(np.linalg.norm(pull) for pull in pulls)
        assert objective(problems[k], x) <= least + 1e-8 * max(1.0, abs(least)) + room * max(1.0, np.abs(x).max())


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", SCALES)
def test_sizes_make_no_difference_or_are_told(kind):
    check(SHAPE, 80, 0, kind)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", SCALES)
@pytest.mark.parametrize("shape", [SHAPE, (8, 2, 14), (4, 1, 6)])
def test_ten_thousand_of_all_sizes(kind, shape):
    check(shape, 420, 1, kind)


@pytest.mark.parametrize("count", [80, pytest.param(2000, marks=pytest.mark.slow)])
def test_contradictions_are_told_with_least_violation(count):
    """None of them is FAILED, and culprits are named."""
    rng = np.random.default_rng(count)
    problems = [contradicting(rng, *SHAPE) for _ in range(count)]
    answer = control.qp(*(np.stack(parts) for parts in zip(*problems, strict=True)))
    assert_array_equal(answer.status, Status.INFEASIBLE)
    for (_, _, *rows), x, names in zip(problems[:80], answer.x[:80], answer.violated[:80], strict=True):
        least = least_violation(*rows)
        assert violation(*rows, x) <= least * (1 + 1e-4) + 1e-12
        assert names
