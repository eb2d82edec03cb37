"""Programs with unknowns of very different scales, beside an exact enumeration of active sets: right, or not SOLVED."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import multibody as mb
from multibody import control
from multibody.control import Level, Status

from .programs import enumerated

SCALES = (1e2, 1e4, 1e6, 1e8)
BOX, WITHIN = np.eye(2), (-np.ones(2), np.ones(2))


def scaled(s):
    """Programs of two unknowns with H = diag(s, 1/s): inside of a box, at a side of it, and on a row."""
    H, low, high = np.diag([s, 1 / s]), *WITHIN
    row = np.array([[1.0, 1.0]]), -np.ones(1), np.array([0.5])
    return {
        "a bound of the stiff unknown": (H, np.array([-2 * s, -0.3 / s]), BOX, low, high),
        "a bound of the soft unknown": (H, np.array([-0.4 * s, -3 / s]), BOX, low, high),
        "no bound": (H, np.array([-0.4 * s, -0.3 / s]), BOX, low, high),
        "a row of both": (H, np.array([-0.4 * s, -0.3 / s]), *row),
    }


@pytest.mark.parametrize("solver", ["interior-point", "daqp"])
@pytest.mark.parametrize("s", SCALES)
def test_each_unknown_has_digits_of_its_own(s, solver):
    for name, (H, g, C, lower, upper) in scaled(s).items():
        answer = control.qp(H, g, C=C, lower=lower, upper=upper, solver=solver)
        assert answer.status is Status.SOLVED, name
        assert_allclose(answer.x, enumerated(H, g, C, lower, upper), rtol=1e-8, err_msg=name)


@pytest.mark.parametrize("s", SCALES)
def test_levels_have_digits_for_each_unknown(s):
    """The rows of the second level are A with A^T A = H."""
    for name, (H, g, C, lower, upper) in scaled(s).items():
        root = np.sqrt(np.diag(H))
        levels = [Level(C=C, lower=lower, upper=upper), Level(np.diag(root), -g / root)]
        x, _, status = control.hierarchical_qp(levels)
        assert status is Status.SOLVED, name
        assert_allclose(x, enumerated(H, g, C, lower, upper), rtol=1e-8, err_msg=name)


@pytest.mark.parametrize("rows", ["box", "in the units of unknowns"])
@pytest.mark.parametrize("decades", [4, 8])
def test_random_programs_in_random_units(decades, rows):
    """Dense H in units that span decades; x is that of the enumeration, relative to each unknown's own size."""
    rng, problems = np.random.default_rng(decades), []
    for _ in range(40):
        F, units = rng.standard_normal((3, 3)), 10 ** rng.uniform(-decades / 2, decades / 2, 3)
        H = (F.T @ F + 0.01 * np.eye(3)) * units * units[:, None]
        C, y = rng.standard_normal((4, 3)), rng.standard_normal(3)
        C = np.vstack([np.eye(3), C[:1]]) if rows == "box" else C * units
        y, size = (C @ y, np.ones(4)) if rows == "box" else (C @ (y / units), np.linalg.norm(C, axis=1))
        room = size * rng.exponential(1, (2, 4))
        problems.append((H, 3 * rng.standard_normal(3) * units, C, y - room[0], y + room[1]))
    H, g, C, lower, upper = (np.stack(parts) for parts in zip(*problems, strict=True))
    answer = control.qp(H, g, C=C, lower=lower, upper=upper)
    assert_array_equal(answer.status, Status.SOLVED)
    for x, problem in zip(answer.x, problems, strict=True):
        exact = enumerated(*problem)
        assert_allclose(x, exact, rtol=1e-6, atol=1e-8 * np.abs(exact).max())


def test_refined_samples_do_not_depend_on_their_batch():
    """In a batch with programs that need no refinement, and in a kernel."""
    mixed = [scaled(s)["a row of both"] for s in (1.0, 1e6, 1e3)]
    H, g, C, lower, upper = (np.stack(parts) for parts in zip(*mixed, strict=True))
    answer = control.qp(H, g, C=C, lower=lower, upper=upper)
    kernel = mb.compile(
        lambda H, g: (lambda answer: (answer.x, answer.status))(
            control.qp(H, g, C=C[0], lower=lower[0], upper=upper[0])
        ),
        (2, 2),
        2,
        names=["H", "g"],
    )
    x, status = kernel(H, g)
    assert_array_equal(status, Status.SOLVED)
    assert_allclose(x, answer.x, rtol=1e-8)
    for k, program in enumerate(mixed):
        alone = control.qp(program[0], program[1], C=program[2], lower=program[3], upper=program[4])
        assert_array_equal(alone.x, answer.x[k])


def test_what_digits_do_not_allow_is_not_solved():
    """Rows that all but cancel in the stiff unknown, with a soft one 1e16 times softer."""
    s = 1e8
    C = np.array([[1.0, 1 / s], [1.0, -1 / s]])
    program = np.diag([s, 1 / s]), np.array([-2.0, -0.3]), C, -np.ones(2), np.array([0.5, 0.1])
    answer = control.qp(program[0], program[1], C=C, lower=program[3], upper=program[4])
    right = np.allclose(answer.x, enumerated(*program), rtol=1e-8)
    assert right == (answer.status is Status.SOLVED)


@pytest.mark.parametrize("curvature", [1e-3, 1e-5, 1e-7])
def test_a_saddle_of_small_curvature_is_not_solved(curvature):
    """Its stationary point meets the conditions of the first order."""
    for g in ([0.3, 0.0], [0.0, 0.0]):
        answer = control.qp(np.diag([1.0, -curvature]), g, C=np.eye(2), lower=-np.ones(2), upper=np.ones(2))
        assert answer.status is Status.FAILED
