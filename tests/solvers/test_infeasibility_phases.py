"""Quadratic programs of numbers of very different sizes, and without a feasible point: no wrong answer says SOLVED."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

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


@pytest.mark.parametrize("length", [1e-12, 1e-7, 1.0, 1e6])
def test_rows_of_all_lengths_are_named_if_and_only_if_they_contradict_each_other(length):
    """1 <= x_0 <= 0, or x_0 = x_1 = 1 with equations as long."""
    C = length * np.array([[1.0, 0.0], [1.0, 0.0]])
    bounds = {"lower": length * np.array([1.0, -np.inf]), "upper": length * np.array([np.inf, 0.0])}
    answer = control.qp(np.eye(2), np.zeros(2), C=C, **bounds)
    assert (answer.status, answer.violated) == (Status.INFEASIBLE, ["C[0]", "C[1]"])
    met = control.qp(np.eye(2), np.zeros(2), length * np.eye(2), length * np.ones(2), C=C[:1], upper=[length])
    assert (met.status, met.violated) == (Status.SOLVED, [])


@pytest.mark.parametrize("gap", [1e-3, 1e-6, 3e-8])
def test_small_contradictions_are_named_beside_large_unknowns(gap):
    """The objective moves x_1 to 1e6 where x_0 has the least violation; a row of zeros is violated, too."""
    R, b = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 0.0]]), np.array([gap, 0.0, gap])
    answer = control.qp(np.eye(2), np.array([0.0, -1e6]), R, b)
    assert (answer.status, answer.violated) == (Status.INFEASIBLE, ["A[0]", "A[1]", "A[2]"])
    assert_allclose(answer.x, [gap / 2, 1e6], rtol=1e-3)


def test_long_rows_within_rounding_errors_are_not_named():
    """The equations differ by 1e-9 of their length, which is within the tolerance of solved programs."""
    A, b = 1e6 * np.array([[1.0, 0.0], [1.0, 0.0]]), np.array([1e-3, 0.0])
    answer = control.qp(np.eye(2), np.zeros(2), A, b)
    assert (answer.status, answer.violated) == (Status.SOLVED, [])


def test_programs_without_rows_have_no_names():
    assert control.qp(np.eye(2), np.zeros(2)).violated == []
    assert control.qp(np.eye(2), np.zeros((2, 3, 2))).violated == [[[]] * 3] * 2
