"""Quadratic programs, one and batches.  [RD §3.10.1, §3.10.3]"""

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from multibody.errors import InputError
from multibody.geometry._arrays import Array, at, batch_shape, choice, first, floats, is_traced, split_last
from multibody.solvers import daqp, infeasibility_phases
from multibody.solvers.compiled_functions import evaluate, kernel_for
from multibody.solvers.equilibration import own_residual
from multibody.solvers.program import OPTIMALITY_TOLERANCE, Program, Rows, Status, residuals
from multibody.solvers.qp_answer import Multipliers, QPAnswer, Residuals
from multibody.tracing.record.loop import loop

SYMMETRY_TOLERANCE = {np.dtype(np.float64): 1e-9, np.dtype(np.float32): 1e-4}
"""The largest asymmetry of H, relative to its largest entry."""
CORE_AXES = {"H": 2, "g": 1, "A": 2, "b": 1, "C": 2, "lower": 1, "upper": 1}
"""The arrays of a program, and their numbers of axes without those of a batch."""
INTERIOR_POINT, DAQP = "interior-point", "daqp"


def qp(
    H: ArrayLike,
    g: ArrayLike,
    A: ArrayLike | None = None,
    b: ArrayLike | None = None,
    C: ArrayLike | None = None,
    lower: ArrayLike | None = None,
    upper: ArrayLike | None = None,
    *,
    solver: str = INTERIOR_POINT,
    start: QPAnswer | None = None,
) -> QPAnswer:
    """Minimise x^T H x / 2 + g^T x subject to A x = b and lower <= C x <= upper.

    It runs an interior-point method in a kernel, compiled once per process for the shapes: a
    sample has the same bits alone and in every batch, and stops when it is solved. Traced
    arrays become a part of the trace.

    There is always an answer. If rows contradict each other, x minimises the sum of squares of
    A x - b and of the violations of C x's bounds; of all such x, it is the best. `violated` of
    the answer names these rows; their multipliers, with which the rest is optimal, have any
    sign. If the objective is unbounded below, x only meets the rows.

    Unknowns may be of very different scales. If terms of some unknown are far below the largest
    ones, the program is solved again in units that balance them. It is then SOLVED only if
    residuals are small relative to the terms of each unknown, in double precision: for the
    diagonal (s, 1/s) within bounds, both unknowns have 8 digits up to s = 1e8.

    Args:
        H: (..., n, n), symmetric and positive semi-definite, of any rank.
        g: (..., n).
        A: (..., k, n), of any rank, or None.
        b: (..., k).
        C: (..., m, n), or None.
        lower: (..., m), -inf where there is no bound, or None for none at all.
        upper: (..., m), likewise.
        solver: "interior-point", or "daqp" for one program with a definite H, outside of
            kernels: DAQP is then tried first (it comes with the extra [control]). Its answer is
            accepted if its `residuals` are at most 1e-8; otherwise the interior-point method
            solves the program. Calls are stateless.
        start: for DAQP, the answer to a similar program, as a warm start: its active rows are
            tried first.

    Raises:
        InputError: when shapes do not fit, H is not symmetric, or a lower bound is above its
            upper one; within a traced function, where values are not known, such bounds are
            INFEASIBLE. When DAQP is asked for within a traced function, for a batch, or is not
            installed.

    >>> answer = qp([[2.0, 0.0], [0.0, 2.0]], [-2.0, -5.0], C=[[1.0, 2.0]], upper=[3.0])
    >>> answer.x.round(9), answer.multipliers.inequality.round(9), answer.status.name
    (array([0.4, 1.3]), array([1.2]), 'SOLVED')
    """
    if choice(solver, "solver", (INTERIOR_POINT, DAQP)) == DAQP:
        answer = _by_daqp((H, g, A, b, C, lower, upper), start)
        if answer is not None:
            return answer
    program = check_program(H, g, A, b, C, lower, upper)
    arrays, equations = (program.H, program.g, *program.rows), program.rows.b.shape[-1]
    if solver == DAQP:
        _check_for_daqp(program, start)
        answer = _by_daqp(arrays, start)
        if answer is not None:
            return answer
    elif start is not None:
        raise InputError(f"start: expected None unless solver is {DAQP!r}, which alone starts from an answer")
    named = _named(arrays)
    values, conditions, status, small = evaluate(_outcome, named)
    if is_traced(small) or np.count_nonzero(small):
        named |= {"values": (values, 1), "conditions": (conditions, 1), "status": (status, 0), "small": (small, 0)}
        values, conditions, status = evaluate(_refined, named)
    n, rows = program.g.shape[-1], equations + program.rows.upper.shape[-1]
    x, multipliers, slacks, violated = split_last(values, (n, n + rows, n + 2 * rows))
    return _answer(x, multipliers, slacks, violated, [conditions[..., j] for j in range(3)], status, equations)


def _named(arrays: tuple[Any, ...]) -> dict[str, tuple[Array, int]]:
    """The arrays of a program with their numbers of core axes, without those that are None."""
    return {
        name: (array, core) for (name, core), array in zip(CORE_AXES.items(), arrays, strict=True) if array is not None
    }


def _outcome(H: Array, g: Array, *rows: Array) -> tuple[Array, Array, Array, Array]:
    """x with the multipliers and the slacks of all rows, the residuals, the status, and 1 if it can be refined."""
    program = Program(H, g, Rows(*rows))
    x, multipliers, violated, conditions, status = infeasibility_phases.solve(program)
    small = np.where(infeasibility_phases.can_be_refined(program, x, status), 1.0, 0.0)
    values = np.concatenate([x, multipliers, program.rows.slacks(x), violated], axis=-1)
    return values, conditions, status, small


def _refined(H: Array, g: Array, *arrays: Array) -> tuple[Array, ...]:
    """The results of `_outcome`, refined where that is possible."""
    *rows, values, conditions, status, small = arrays
    program, n = Program(H, g, Rows(*rows)), g.shape[-1]
    end = n + program.rows.b.shape[-1] + program.rows.upper.shape[-1]

    def once(carry: tuple[Array, ...]) -> tuple[Array, ...]:
        x, multipliers = carry[0][..., :n], carry[0][..., n:end]
        x, multipliers, conditions, status = infeasibility_phases.refine(program, x, multipliers, carry[-1])
        violated = infeasibility_phases.missed_rows(program, x, status)
        return np.concatenate([x, multipliers, program.rows.slacks(x), violated], axis=-1), conditions, status

    return loop(1, once, (values, conditions, status), until=lambda _: ~(small > 0))


def _answer(
    x: Array, multipliers: Array, slacks: Array, violated: Array, conditions: Any, status: Any, k: int
) -> QPAnswer:
    """The answer for k equations, the first rows, with the residuals of the three conditions of optimality."""
    stationarity, feasibility, complementarity = conditions
    misses = Residuals(stationarity, feasibility, complementarity, slacks[..., :k], slacks[..., k:], violated)
    return QPAnswer(x, Multipliers(multipliers[..., :k], multipliers[..., k:]), misses, Status.of(status))


def _check_for_daqp(program: Program, start: Any) -> None:
    if any(is_traced(array) for array in (program.H, program.g, *program.rows)):
        raise InputError(f"solver: {DAQP!r} cannot be a part of a kernel; expected {INTERIOR_POINT!r} there")
    if program.H.ndim > 2 or any(array.ndim > 1 for array in (program.g, program.rows.b, program.rows.upper)):
        raise InputError(f"solver: {DAQP!r} takes one program, got a batch; expected {INTERIOR_POINT!r} for batches")
    if start is not None and not isinstance(start, QPAnswer):
        raise InputError(f"start: expected an answer of qp, got {type(start).__name__}")
    count = 0 if start is None else sum(map(len, start.multipliers))
    if start is not None and count != len(program.rows.b) + len(program.rows.upper):
        raise InputError(f"start: expected an answer to a program of as many rows, got {count} multipliers")


def _by_daqp(arrays: tuple[Any, ...], start: Any) -> QPAnswer | None:
    """DAQP's answer to a program; None if arrays need checks, or if it misses the conditions of optimality."""
    dtype = getattr(arrays[1], "dtype", None)
    for array in arrays:
        if array is not None and (type(array) is not np.ndarray or array.dtype != dtype):
            return None
    ready = _daqp_and_judge(tuple([None if array is None else array.shape for array in arrays]), dtype)
    if ready is None or (start is not None and not isinstance(start, QPAnswer)):
        return None
    solve, judge, equations = ready
    multipliers = None if start is None else np.concatenate(start.multipliers)
    if multipliers is not None and len(multipliers) != equations + len(arrays[-1]):
        return None
    solution = solve(*arrays, multipliers)
    if solution is None:
        return None
    x, multipliers = solution
    if dtype == np.float32:
        x, multipliers = x.astype(dtype), multipliers.astype(dtype)
    filled = [array for array in (x, multipliers, *arrays) if array is not None and array.size]
    conditions, slacks, fits = judge(*filled)
    if not (fits and max(*conditions) <= OPTIMALITY_TOLERANCE[dtype]):
        return None
    if fits > 1:
        named = {"x": (x, 1), "multipliers": (multipliers, 1)} | _named(arrays)
        if evaluate(_own_residual, named) > OPTIMALITY_TOLERANCE[dtype]:
            return None
    return _answer(x, multipliers, slacks, np.zeros_like(slacks), conditions, Status.SOLVED, equations)


@cache
def _daqp_and_judge(shapes: tuple[tuple[int, ...] | None, ...], dtype: Any) -> tuple[Any, Any, int] | None:
    """DAQP, the kernel that checks its answer, and the number of equations; None if shapes need checks."""
    H, g, A, b, C, lower, upper = shapes
    n, k, m = (shape[0] if shape else 0 for shape in (g, b, C))
    fit = (H, g, C, lower, upper) == ((n, n), (n,), (m, n), (m,), (m,)) and (A, b) in ((None, None), ((k, n), (k,)))
    if not fit or not n or dtype not in OPTIMALITY_TOLERANCE:
        return None
    solve = daqp.solver_for(k, m)
    if not k + m:  # nothing for an active set
        return None
    given = ((n,), (k + m,), (n, n), (n,), (k, n), (k,), (m, n), (m,), (m,))
    return solve, kernel_for(_judge, ("x", "multipliers", *CORE_AXES), given, dtype), k


def _judge(x: Array, multipliers: Array, H: Array, g: Array, *rows: Array) -> tuple[Array, Array, Array]:
    """The residuals, the slacks, and 1 if all numbers are finite, H is symmetric, and no bounds are crossed.

    2 instead of 1 is for programs whose residuals `_own_residual` has to judge.
    """
    program = Program(H, g, Rows(*rows))
    slacks, lower, upper = program.rows.slacks(x), program.rows.lower, program.rows.upper
    size, turned = np.max(np.max(np.abs(H), axis=-1), axis=-1), np.swapaxes(H, -1, -2)
    symmetric = np.max(np.max(np.abs(H - turned), axis=-1), axis=-1) <= SYMMETRY_TOLERANCE[np.dtype(H.dtype)] * size
    crossed = np.any(~(lower <= upper) | (lower == np.inf) | (upper == -np.inf), axis=-1)
    total = sum(np.sum(np.abs(part), axis=-1) for part in (np.sum(np.abs(H), axis=-1), g, slacks, x))
    conditions, fits = residuals(program, x, multipliers), symmetric & ~crossed & (total < np.inf)
    small = infeasibility_phases.can_be_refined(program, x, np.zeros_like(total))
    return conditions, slacks, np.where(fits, np.where(small, 2.0, 1.0), 0.0)


def _own_residual(x: Array, multipliers: Array, H: Array, g: Array, *rows: Array) -> Array:
    """`own_residual` of a program, with or without the arrays of equations."""
    *equations, C, lower, upper = rows
    A, b = equations or (C[..., :0, :], lower[..., :0])
    return own_residual(H, g, Rows(A, b, C, lower, upper).stacked(), x, multipliers)


# ---- checks ----------------------------------------------------------------------------------------------------------


def check_program(H: Any, g: Any, A: Any, b: Any, C: Any, lower: Any, upper: Any) -> Program:
    """The program, with rows of their own batch shapes; an InputError if arrays do not fit."""
    g = floats(g, "g")
    if not g.ndim or not g.shape[-1]:
        raise InputError(f"g: expected (..., n) with n > 0, got shape {g.shape}")
    n = g.shape[-1]
    H = floats(H, "H", n, n)
    if not is_traced(H):
        size = np.abs(H).max(axis=(-1, -2), initial=0.0)
        bad = np.abs(H - np.swapaxes(H, -1, -2)).max(axis=(-1, -2)) > SYMMETRY_TOLERANCE[H.dtype] * size
        if bad.any():
            raise InputError(f"H{at(first(bad))}: expected a symmetric matrix, got one that is not")
    A, b = check_equations(A, b, n, g.dtype)
    return Program(H, g, Rows(A, b, *check_inequalities(C, lower, upper, n, g.dtype)))


def check_equations(A: Any, b: Any, n: int, dtype: Any, where: str = "") -> tuple[Array, Array]:
    """Checked A, (..., k, n), and b, (..., k), without rows for None."""
    if A is None:
        if b is not None and np.shape(b)[-1:] != (0,):
            raise InputError(f"b{where}: expected None, as A{where} is, got shape {np.shape(b)}")
        return np.zeros((0, n), dtype), np.zeros(0, dtype)
    A = floats(A, f"A{where}")
    if A.ndim < 2 or A.shape[-1] != n:
        raise InputError(f"A{where}: expected (..., k, {n}), got shape {A.shape}")
    if b is None:
        raise InputError(f"b{where}: expected (..., {A.shape[-2]}), as A{where} has so many rows, got None")
    return A, floats(b, f"b{where}", A.shape[-2])


def check_inequalities(
    C: Any, lower: Any, upper: Any, n: int, dtype: Any, where: str = ""
) -> tuple[Array, Array, Array]:
    """Checked C, (..., m, n), lower and upper, (..., m), without rows for None."""
    if C is None:
        for side, name in ((lower, "lower"), (upper, "upper")):
            if side is not None and np.shape(side)[-1:] != (0,):
                raise InputError(f"{name}{where}: expected None, as C is, got shape {np.shape(side)}")
        return np.zeros((0, n), dtype), np.zeros(0, dtype), np.zeros(0, dtype)
    C = floats(C, f"C{where}")
    if C.ndim < 2 or C.shape[-1] != n:
        raise InputError(f"C{where}: expected (..., m, {n}), got shape {C.shape}")
    if lower is None and upper is None:
        raise InputError(f"C{where}: expected bounds of C x, as lower{where}=... or upper{where}=..., got none")
    infinite = np.full(C.shape[-2], np.inf, C.dtype)
    lower = -infinite if lower is None else floats(lower, f"lower{where}", C.shape[-2])
    upper = infinite if upper is None else floats(upper, f"upper{where}", C.shape[-2])
    batch_shape(f"lower, upper{where}", (lower, 1), (upper, 1))
    if not is_traced(lower) and not is_traced(upper):
        crossed = (lower > upper) | (lower == np.inf) | (upper == -np.inf)
        if crossed.any():
            *sample, row = first(crossed)
            low, high = (np.broadcast_to(side, crossed.shape)[*sample, row] for side in (lower, upper))
            raise InputError(
                f"lower{where}{at(tuple(sample))}: expected no bound above its upper one, and something between them, "
                f"got lower[{row}] = {low} and upper[{row}] = {high}"
            )
    return C, lower, upper
