"""Quadratic programs: conditions of optimality, DAQP and PIQP beside them, always an answer, one as in a batch.

[RD §3.10.1]
"""

import sys

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import multibody as mb
from multibody import control
from multibody.control import Status

from .programs import active_set, conditions, interior, objective, programs

SHAPES = ((3, 0, 4), (5, 2, 8))
LARGE = ((8, 2, 12), (12, 0, 32), (12, 4, 12), (18, 6, 20))
INF = np.inf


def answered(problem):
    """Arguments without equations where there are none."""
    H, g, A, b, *rest = problem
    return control.qp(H, g, *((A, b) if A.shape[-2] else (None, None)), *rest)


def check(problem, degenerate, compared=None):
    """Every answer is optimal, and those that are compared have the objective of another solver."""
    answer = answered(problem)
    assert_array_equal(answer.status, Status.SOLVED)
    for k, program in enumerate(zip(*problem, strict=True)):
        met = conditions(program, answer.x[k], answer.multipliers.equality[k], answer.multipliers.inequality[k])
        assert_allclose(met, 0, atol=1e-8)
        if compared is None or k < compared:
            mine, best = (
                objective(program, x) for x in (answer.x[k], (interior if degenerate else active_set)(*program))
            )
            assert mine - best <= 1e-8 * max(1.0, abs(best))


@pytest.mark.parametrize("degenerate", [False, True])
@pytest.mark.parametrize("shape", SHAPES)
def test_answers_are_optimal(shape, degenerate):
    check(programs(np.random.default_rng(shape[0]), *shape, 150, degenerate=degenerate), degenerate)


@pytest.mark.parametrize("degenerate", [False, True])
@pytest.mark.parametrize("factor", [1e-3, 1e3])
def test_units_of_rows_make_no_difference(factor, degenerate):
    """Short rows, whose bounds are far away, and others of which all is scaled."""
    H, g, A, b, C, lower, upper = programs(np.random.default_rng(6), 3, 0, 4, 250, degenerate=degenerate)
    short = answered([H, g, A, b, min(factor, 1 / factor) * C, lower, upper])
    assert_array_equal(short.status, Status.SOLVED)
    scaled = answered([H, g, A, b, factor * C, factor * lower, factor * upper])
    assert_array_equal(scaled.status, Status.SOLVED)
    plain = answered([H, g, A, b, C, lower, upper])
    values = [np.einsum("ki,kij,kj->k", x, H, x) / 2 + np.sum(g * x, axis=1) for x in (scaled.x, plain.x)]
    assert_allclose(*values, rtol=1e-8, atol=1e-8)


@pytest.mark.slow
@pytest.mark.parametrize("degenerate", [False, True])
@pytest.mark.parametrize("shape", [*SHAPES, *LARGE])
def test_ten_thousand_answers_are_optimal(shape, degenerate):
    check(programs(np.random.default_rng(10 + shape[0]), *shape, 840, degenerate=degenerate), degenerate)


# ---- programs of two unknowns, all of one shape, so that one kernel answers them all --------------------------------

CURVED, FLAT = np.eye(2), np.zeros((2, 2))
CASES = {
    "rows that contradict each other": (
        (CURVED, [0, 0], {}, [((1, 0), 1, 9), ((1, 0), -9, -1), ((0, 1), 2, 3)]), Status.INFEASIBLE, (0, 2)),
    "equations that contradict each other": (
        (CURVED, [0, 0], {(1, 1): 1, (2, 2): 4}, []), Status.INFEASIBLE, (0.9, 0.9)),
    "equations that are there twice": ((CURVED, [0, 0], {(1, 1): 1, (2, 2): 2}, []), Status.SOLVED, (0.5, 0.5)),
    "an equation of zeros": ((CURVED, [3, -3], {(0, 0): 1}, []), Status.INFEASIBLE, (-3, 3)),
    "a row of zeros": ((CURVED, [3, -3], {}, [((0, 0), -1, 1), ((0, 1), 1, 2)]), Status.SOLVED, (-3, 2)),
    "a row of zeros that cannot be met": (
        (CURVED, [3, -3], {}, [((0, 0), 1, 2), ((0, 1), 1, 2)]), Status.INFEASIBLE, (-3, 2)),
    "nothing but the objective": ((CURVED, [1, 2], {}, []), Status.SOLVED, (-1, -2)),
    "a valley that falls for ever": ((np.diag([1.0, 0.0]), [0, -1], {}, []), Status.UNBOUNDED, None),
    "a linear program that falls for ever": (
        (FLAT, [-1, -1], {}, [((1, 0), 0, INF), ((0, 1), 0, 1)]), Status.UNBOUNDED, None),
    "a linear program": (
        (FLAT, [-1, -1], {}, [((1, 0), 0, 2), ((0, 1), 0, 1), ((1, 1), -INF, 3)]), Status.SOLVED, (2, 1)),
    "no objective": ((FLAT, [0, 0], {}, [((1, 0), 1, 2)]), Status.SOLVED, None),
    "a saddle": ((np.diag([1.0, -1.0]), [0, 0], {}, [((1, 0), -1, 1), ((0, 1), -1, 1)]), Status.FAILED, None),
    "a saddle on an equation": ((np.diag([1.0, -1.0]), [0, 0], {(0, 1): 1}, []), Status.FAILED, (0, 1)),
    "equal bounds": (
        (CURVED, [3, -3], {}, [((1, 0), 0.5, 9), ((-1, 0), -0.5, 9), ((0, 1), 1, 1)]), Status.SOLVED, (0.5, 1)),
    "bounds that leave a line": ((CURVED, [1, -1], {}, [((1, 1), 0, 1), ((1, 1), -1, 0)]), Status.SOLVED, (-1, 1)),
    "a large bound": ((CURVED, [1, -1], {}, [((1, 0), -1e9, 1e9), ((0, 1), -1e6, 0.5)]), Status.SOLVED, (-1, 0.5)),
    "a small objective": ((1e-9 * CURVED, [1e-9, -1e-9], {}, [((1, 0), -0.5, 0.5)]), Status.SOLVED, (-0.5, 1)),
    "an answer that is far": ((1e-6 * CURVED, [1, 0], {}, [((1, 0), -1e7, 1e7)]), Status.SOLVED, (-1e6, 0)),
    "neither feasible nor bounded": ((FLAT, [0, -1], {}, [((1, 0), 1, 5), ((1, 0), -5, -1)]), Status.INFEASIBLE, None),
    "not a number": ((CURVED, [np.nan, 1], {}, [((1, 0), -1, 1)]), Status.FAILED, None),
    "a bound that is not a number": ((CURVED, [1, 1], {}, [((1, 0), np.nan, 1)]), Status.FAILED, None),
}  # fmt: skip


def padded(H, g, equations, rows):
    """(H, g, A, b, C, lower, upper) of two equations and three rows, the missing ones without effect."""
    A, b = [*equations] + [(0, 0)] * (2 - len(equations)), [*equations.values()] + [0] * (2 - len(equations))
    C, lower, upper = zip(*rows, *[((0, 0), -INF, INF)] * (3 - len(rows)), strict=True)
    return [np.array(part, dtype=float) for part in (H, g, A, b, C, lower, upper)]


@pytest.fixture(scope="module")
def small():
    """All cases in one batch, and their answers."""
    batch = [np.stack(parts) for parts in zip(*(padded(*case[0]) for case in CASES.values()), strict=True)]
    return batch, control.qp(*batch)


@pytest.mark.parametrize(("k", "name"), list(enumerate(CASES)))
def test_there_is_always_an_answer(small, k, name):
    (batch, answer), (_, status, x) = small, CASES[name]
    assert Status(answer.status[k]) is status
    program = [part[k] for part in batch]
    if x is not None:
        assert_allclose(answer.x[k], x, rtol=1e-7, atol=1e-7)
    if status is Status.SOLVED:
        met = conditions(program, answer.x[k], answer.multipliers.equality[k], answer.multipliers.inequality[k])
        assert_allclose(met, 0, atol=1e-8)
        assert_allclose([part[k] for part in answer.residuals[:3]], met, atol=1e-12)
    if status is Status.UNBOUNDED:
        assert answer.residuals.feasibility[k] <= 1e-8
    assert np.isfinite(answer.x[k]).all() == ("not a number" not in name)


def test_a_sample_does_not_depend_on_its_batch(small):
    batch, answer = small
    for k in range(0, len(CASES), 4):
        alone = control.qp(*(part[k] for part in batch))
        assert alone.status is Status(answer.status[k])
        assert_array_equal(alone.x, answer.x[k])
        assert_array_equal(alone.multipliers.inequality, answer.multipliers.inequality[k])


def test_culprits_are_named(small):
    _, answer = small
    names = dict(zip(CASES, answer.violated, strict=True))
    assert names["rows that contradict each other"] == ["C[0]", "C[1]"]
    assert names["equations that contradict each other"] == ["A[0]", "A[1]"]
    assert names["a row of zeros that cannot be met"] == ["C[0]"]
    assert names["a linear program"] == []
    assert_allclose(answer.residuals.inequality[0], [-1, 1, 0], atol=1e-7)


def test_least_violation_is_by_squares():
    """Three wishes for one number: the mean of those that contradict each other, and a fourth that all agree with."""
    C = np.array([[1.0, 0], [1, 0], [2, 0], [0, 1]])
    answer = control.qp(np.eye(2), np.zeros(2), C=C, lower=[3.0, -INF, -INF, 1], upper=[INF, 0, 0, INF])
    assert answer.status is Status.INFEASIBLE
    assert_allclose(answer.x, [0.5, 1], atol=1e-7)  # (x - 3)^2 + x^2 + (2 x)^2 is least


def test_float32():
    problem = [part.astype(np.float32) for part in programs(np.random.default_rng(1), 3, 0, 4, 60)]
    answer = answered(problem)
    assert answer.x.dtype == np.float32
    assert_array_equal(answer.status, Status.SOLVED)
    exact = answered([part.astype(np.float64) for part in problem])
    assert_allclose(answer.x, exact.x, atol=3e-2)


def test_a_program_is_a_part_of_what_is_traced():
    """Bounds that cross are told by the status there, and no kernel is made within a kernel."""
    H, C = np.diag([2.0, 2.0]), np.array([[1.0, 2.0]])

    def nearest(point, top):
        answer = control.qp(H, -2 * point, C=C, lower=np.ones(1), upper=top[None])
        return answer.x, answer.status

    kernel = mb.compile(nearest, 2, ())
    x, status = kernel([[1.0, 2.5], [1.0, 2.5]], [3.0, -3.0])
    assert_allclose(x[0], [0.4, 1.3], atol=1e-9)
    assert_array_equal(status, [Status.SOLVED, Status.INFEASIBLE])
    assert_allclose(C @ x[1], -1, atol=1e-7)


def test_daqp_answers_one_program():
    """Within 1e-8 of the kernel's, with and without a start, and nothing is remembered."""
    problem = programs(np.random.default_rng(4), 5, 2, 8, 20)
    ours, before = control.qp(*problem), None
    for k, program in enumerate(zip(*problem, strict=True)):
        answer = control.qp(*program, solver="daqp", start=before)
        assert answer.status is Status.SOLVED
        y, z = answer.multipliers
        assert_allclose(conditions(program, answer.x, y, z), 0, atol=1e-8)
        assert_allclose(answer.x, ours.x[k], atol=1e-7)
        before = answer
    again = control.qp(*program, solver="daqp")
    assert_array_equal(control.qp(*program, solver="daqp").x, again.x)
    assert_array_equal(control.qp(*program, solver="daqp", start=answer).multipliers.inequality != 0, z != 0)


def test_daqp_is_refused_what_the_default_is():
    """Arrays of doubles, whose numbers are looked at when the answer is there."""
    C, side = np.eye(2), np.ones(2)
    for lower, upper in ((2 * side, side), (np.full(2, np.inf), np.full(2, np.inf))):
        with pytest.raises(mb.InputError, match=r"lower: expected"):
            control.qp(np.eye(2), side, C=C, lower=lower, upper=upper, solver="daqp")
    with pytest.raises(mb.InputError, match="H: expected a symmetric"):
        control.qp(np.array([[1.0, 0.5], [0.0, 1.0]]), side, C=C, lower=-side, upper=side, solver="daqp")
    with pytest.raises(mb.InputError, match="C: expected"):
        control.qp(np.eye(2), side, C=np.eye(3), lower=-np.ones(3), upper=np.ones(3), solver="daqp")
    other = control.qp(np.eye(3), np.ones(3), C=np.eye(3), lower=-np.ones(3), upper=np.ones(3), solver="daqp")
    with pytest.raises(mb.InputError, match="start: expected an answer to a program of as many rows"):
        control.qp(np.eye(2), side, C=C, lower=-side, upper=side, solver="daqp", start=other)
    for place in range(5):
        given = [np.eye(2), side, C, -side, side]
        given[place] = given[place].copy()
        given[place][0] = np.nan
        H, g, rows, lower, upper = given
        assert control.qp(H, g, C=rows, lower=lower, upper=upper, solver="daqp").status is Status.FAILED


def test_what_daqp_cannot_solve_is_answered_all_the_same(small):
    batch, answer = small
    for name in ("rows that contradict each other", "a linear program", "a valley that falls for ever"):
        k = list(CASES).index(name)
        alone = control.qp(*(part[k] for part in batch), solver="daqp")
        assert alone.status is CASES[name][1]
        assert_allclose(alone.x, answer.x[k], atol=1e-7)


def test_daqp_has_its_limits(monkeypatch):
    one = np.eye(2), np.ones(2)
    with pytest.raises(mb.InputError, match="takes one program, got a batch"):
        control.qp(np.stack([np.eye(2)] * 3), np.ones(2), solver="daqp")
    with pytest.raises(mb.InputError, match="cannot be a part of a kernel"):
        mb.compile(lambda g: control.qp(np.eye(2), g, solver="daqp").x, 2)
    with pytest.raises(mb.InputError, match="solver: expected one of"):
        control.qp(*one, solver="osqp")
    with pytest.raises(mb.InputError, match="start: expected None unless"):
        control.qp(*one, start=control.qp(*one))
    with pytest.raises(mb.InputError, match="start: expected an answer of qp"):
        control.qp(*one, solver="daqp", start=np.zeros(2))
    monkeypatch.setitem(sys.modules, "daqp", None)
    with pytest.raises(mb.InputError, match=r"multibody\[control\]"):
        control.qp(*one, solver="daqp")


I, O = np.eye(3), np.zeros(3)


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ((np.zeros((3, 2)), O), "H: expected"),
        ((np.triu(np.ones((3, 3))), O), "H: expected a symmetric"),
        ((np.stack([I, np.triu(np.ones((3, 3)))]), O), r"H \(sample 1\): expected a symmetric"),
        ((I, np.zeros(0)), "g: expected"),
        ((I, O, np.ones((2, 3)), O), "b: expected"),
        ((I, O, np.ones((2, 3)), None), "b: expected"),
        ((I, O, None, O), "b: expected None"),
        ((I, O, np.ones((2, 2)), O), r"A: expected \(..., k, 3\)"),
        ((I, O, None, None, np.ones((2, 2)), O, O), r"C: expected \(..., m, 3\)"),
        ((I, O, None, None, None, O, None), "lower: expected None"),
        ((I, O, None, None, I, O, np.zeros(2)), "upper: expected"),
        ((I, O, None, None, I, [0, 2, 0], [1, 1, 1]), r"lower: .* lower\[1\] = 2.0 and upper\[1\] = 1"),
        ((I, O, None, None, I, np.tile([0.0, 2, 0], (2, 1)), np.ones(3)), r"lower \(sample 0\)"),
    ],
)
def test_bad_input(arguments, told):
    with pytest.raises(mb.InputError, match=told):
        control.qp(*arguments)
