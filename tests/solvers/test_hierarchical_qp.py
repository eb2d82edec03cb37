"""Strict priorities with inequalities at any level, beside a cascade of programs; dependent rows; one as in a batch.

[RD 3.108, §3.10.3]
"""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import multibody as mb
from multibody import control
from multibody.control import Level, Status

from .programs import interior

SHAPES = ((6, ((2, 3), (3, 2), (2, 2))), (5, ((0, 4), (2, 2), (0, 3))))
LARGE = ((12, ((4, 6), (4, 4), (6, 2))), (8, ((0, 6), (9, 3), (3, 3))))


def levels_of(rng, n, shapes, count, *, dependent=False):
    """Levels of random rows, some of them multiples of rows of the levels before."""
    levels = []
    for equations, rows in shapes:
        A, C = 2 * rng.standard_normal((count, equations, n)), rng.standard_normal((count, rows, n))
        if dependent and levels:
            before = np.concatenate([levels[-1].A, levels[-1].C], axis=1)
            A[:, : equations // 2] = 2 * before[:, : equations // 2]
            C[:, : rows // 2] = -before[:, -1:]
        lower = rng.standard_normal((count, rows)) - 1
        levels.append(
            Level(A, 3 * rng.standard_normal((count, equations)), C, lower, lower + rng.exponential(1, (count, rows)))
        )
    return levels


def one(level, k):
    return Level(level.A[k], level.b[k], level.C[k], level.lower[k], level.upper[k])


def norm(level, x):
    """Of the slacks of a level."""
    y = level.C @ x
    return np.sqrt(
        np.sum((level.A @ x - level.b) ** 2) + np.sum(np.maximum(0, np.maximum(y - level.upper, level.lower - y)) ** 2)
    )


def cascade(levels, n, wide=1e-11):
    """The norms of the slacks, by a program of PIQP a level: slacks are unknowns, earlier levels are rows."""
    held, low, high, norms = np.zeros((0, n)), np.zeros(0), np.zeros(0), []
    for level in levels:
        k, m = len(level.A), len(level.C)
        H = np.diag([0.0] * n + [1.0] * (k + m))
        rows = np.block([
            [held, np.zeros((len(held), k + m))],
            [level.A, -np.eye(k), np.zeros((k, m))],
            [level.C, np.zeros((m, k)), -np.eye(m)],
        ])  # fmt: skip
        bounds = np.concatenate([low, level.b, level.lower]), np.concatenate([high, level.b, level.upper])
        x = interior(H, np.zeros(n + k + m), np.zeros((0, n + k + m)), np.zeros(0), rows, *bounds)[:n]
        y = level.C @ x
        norms.append(norm(level, x))
        held = np.vstack([held, level.A, level.C])
        low = np.concatenate([low, level.A @ x - wide, np.minimum(level.lower, y) - wide])
        high = np.concatenate([high, level.A @ x + wide, np.maximum(level.upper, y) + wide])
    return np.array(norms)


def check(n, shapes, count, *, dependent, within=1e-6):
    levels = levels_of(np.random.default_rng(n), n, shapes, count, dependent=dependent)
    x, slacks, status = control.hierarchical_qp(levels)
    assert_array_equal(status, Status.SOLVED)
    for k in range(count):
        single = [one(level, k) for level in levels]
        mine, best = np.array([norm(level, x[k]) for level in single]), cascade(single, n)
        assert_allclose(mine, best, rtol=within, atol=within)
        assert_allclose([np.linalg.norm(slack[k]) for slack in slacks], mine, atol=1e-12)


@pytest.mark.parametrize("dependent", [False, True])
@pytest.mark.parametrize(("n", "shapes"), SHAPES)
def test_slacks_are_those_of_a_cascade(n, shapes, dependent):
    check(n, shapes, 25, dependent=dependent)


@pytest.mark.slow
@pytest.mark.parametrize("dependent", [False, True])
@pytest.mark.parametrize(("n", "shapes"), [*SHAPES, *LARGE])
def test_many_slacks_are_those_of_a_cascade(n, shapes, dependent):
    check(n, shapes, 500, dependent=dependent)


def test_a_sample_does_not_depend_on_its_batch():
    levels = levels_of(np.random.default_rng(2), *SHAPES[0], 9)
    levels[1].b[4] = np.nan
    x, slacks, status = control.hierarchical_qp(levels)
    assert_array_equal(status == Status.FAILED, np.arange(9) == 4)
    for k in (0, 3, 5, 8):
        alone = control.hierarchical_qp([one(level, k) for level in levels])
        assert_array_equal(alone[0], x[k])
        assert alone[2] is Status.SOLVED
        for mine, other in zip(alone[1], slacks, strict=True):
            assert_array_equal(mine, other[k])


def test_without_inequalities_it_is_least_squares_by_priority():
    rng = np.random.default_rng(3)
    levels = [(rng.standard_normal((7, 2, 5)), rng.standard_normal((7, 2))) for _ in range(2)]
    x, slacks, _ = control.hierarchical_qp([Level(*level) for level in levels])
    best, expected = control.hierarchical_least_squares(levels)
    assert_allclose(x, best, atol=1e-12)
    assert_allclose(slacks, expected, atol=1e-12)


def test_of_what_remains_x_has_the_least_norm():
    box = Level(C=np.eye(3), lower=[1.0, -1, -1], upper=[2.0, 1, 1])
    sum_of_two = Level([[0.0, 1.0, 1.0]], [1.0])
    x, slacks, status = control.hierarchical_qp([box, sum_of_two])
    assert_allclose(x, [1, 0.5, 0.5], atol=1e-8)
    assert_allclose(np.concatenate(slacks), 0, atol=1e-9)
    assert status is Status.SOLVED


def test_levels_without_rows():
    some = Level([[1.0, 0.0]], [2.0])
    x, slacks, _ = control.hierarchical_qp([Level(), some, Level(np.zeros((0, 2)), np.zeros(0))])
    assert_allclose(x, [2, 0], atol=1e-12)
    assert [slack.shape for slack in slacks] == [(0,), (1,), (0,)]


def test_a_hierarchy_is_a_part_of_what_is_traced():
    """Bounds that cross are told by the status there."""

    def step(wish, top):
        x, slacks, status = control.hierarchical_qp(
            [Level(C=np.eye(2), lower=np.zeros(2), upper=np.stack([top, 1.0 + 0 * top])), Level(np.eye(2), wish)]
        )
        return x, slacks[0], status

    x, slack, status = mb.compile(step, 2, ())([[3.0, 0.5], [3.0, 0.5]], [2.0, -2.0])
    assert_allclose(x, [[2, 0.5], [-1, 0.5]], atol=1e-8)
    assert_allclose(np.abs(slack), [[0, 0], [1, 0]], atol=1e-8)
    assert_array_equal(status, [Status.SOLVED, Status.INFEASIBLE])


@pytest.mark.parametrize(
    ("levels", "told"),
    [
        ([], "at least one level"),
        ([([[1.0]], [1.0])], "level 1: expected a Level, got tuple"),
        ([Level()], "at least one matrix"),
        ([Level(np.zeros((0, 2)), np.zeros(0))], "at least one row"),
        ([Level(np.eye(2), np.zeros(2)), Level(np.eye(3), np.zeros(3))], r"A of level 2: expected \(..., k, 2\)"),
        ([Level(np.eye(2), np.zeros(3))], "b of level 1"),
        ([Level(C=np.eye(2), lower=[0.0, 2.0], upper=[1.0, 1.0])], r"lower of level 1: .*lower\[1\] = 2.0"),
    ],
)
def test_bad_input(levels, told):
    with pytest.raises(mb.InputError, match=told):
        control.hierarchical_qp(levels)
