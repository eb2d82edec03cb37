"""Strict levels within bounds, in the full dimension of x, by projection.  [RD 3.102-3.108, Alg. 2]

Of all x that are best for the levels before, the best for a level minimise the sum of squares of A x - b and of the
violations of its own soft rows: one quadratic program a level, in which bounds and rows of earlier levels are hard.

All x that are best for a level have the same A x. If it has soft rows, they also have the same violations, and the same
values of active rows. The next level moves in the null space of these, N = 1 - Q^T Q, within the bounds of the other
rows. Its step x + N y has the constant dimension of x: the program has Q^T Q on its diagonal, so that no y is lost. If
the step of least norm is within all bounds, it is taken, and the program takes no iterations.
"""

from collections.abc import Callable, Sequence
from functools import reduce
from operator import or_
from typing import Any, NamedTuple

import numpy as np

from multibody.geometry._arrays import Array, is_traced, matvec, positive_or_one, transpose
from multibody.solvers import interior_point_starts
from multibody.solvers.equilibration import MAX_OWN_RESIDUAL, gradient_terms, has_small_terms, own_residual
from multibody.solvers.hierarchical_least_squares import Equations
from multibody.solvers.infeasibility_phases import CONVERGED
from multibody.solvers.least_squares import left_solution, row_factors, row_space
from multibody.solvers.program import Bounds, Rows, Status
from multibody.solvers.pseudo_inverse import damped_solution
from multibody.tracing.record.loop import loop

ROUNDING = {np.dtype(np.float64): 1e-12, np.dtype(np.float32): 1e-5}
"""The tolerated violation of a row of the length 1, relative to max(1, |x|)."""


class ProjectedState(NamedTuple):
    """The decision of the levels so far."""

    x: Array
    decided: Array | None
    """(..., k, n), orthonormal rows and zeros: directions in which x is decided; None before the first level."""
    bounds: Bounds
    """Hard bounds and the rows of all levels so far, of the length 1; -inf and inf for rows that are decided."""
    residual: Array
    """(...): the largest residual of all programs."""
    small: Array
    """(...): ones if terms of some unknown were small in a program of soft rows, otherwise zeros."""
    box: tuple[int, ...] = ()
    """The entries of x that the first rows of the bounds are."""
    soft: bool = False
    """Whether levels have soft rows, so that active rows are decided, and bounds widened to violated rows."""
    refined: bool = False
    """Whether residuals are then relative to the terms of each unknown."""


def solve_hierarchy(
    levels: Sequence[Rows], least_norm: bool = True, *, refined: bool = False
) -> tuple[Array, list[Array], Array, Array]:
    """The x that is best for all levels, their slacks, numbers of `Status`, and ones if it can be refined.

    The status is INFEASIBLE where a lower bound is above its upper one, as no x meets them.

    Args:
        levels: equations and inequalities, both soft, of one batch shape, the most important first.
        least_norm: whether x is the one of least norm of all that are best for all levels; otherwise any of these.
        refined: whether residuals are relative to the terms of each unknown if some are small.
    """
    first = levels[0]
    x, none = np.zeros((*first.A.shape[:-2], first.A.shape[-1]), first.A.dtype), np.zeros_like(first.upper[..., :0])
    bounds, zero = Bounds(np.zeros_like(first.C[..., :0, :]), none, none), np.zeros_like(x[..., 0])
    state = ProjectedState(x, None, bounds, zero, zero, soft=True, refined=refined)
    for k, level in enumerate(levels, start=1):
        state = solve_level(_scaled(level), state, last=k == len(levels) and not least_norm)
    if least_norm:
        state = solve_last_level(np.zeros_like(state.x), state)
    crossed = reduce(or_, (np.any(level.lower > level.upper, axis=-1) for level in levels))
    slacks = [level.slacks(state.x) for level in levels]
    total = sum(np.sum(np.abs(part), axis=-1) for part in (state.x, *slacks))
    failed = ~((state.residual <= CONVERGED[np.dtype(state.x.dtype)]) & (total < np.inf))  # NaN has failed
    status = np.where(crossed, float(Status.INFEASIBLE), float(Status.SOLVED))
    return state.x, slacks, np.where(failed, float(Status.FAILED), status), state.small


def solve_within(
    levels: Sequence[Equations],
    bounds: Bounds,
    box: tuple[int, ...] = (),
    support: Array | None = None,
    damping: float = 0.0,
) -> Array:
    """x, (..., n), that meets A x = b level by level within hard bounds, of least norm in the directions left.

    Args:
        levels: A, (..., m, n), and b, (..., m), the most important first.
        bounds: two-sided, before all levels.
        box: the entries of x that the first rows of the bounds are; they are met to the last digit.
        support: (..., m, n), rows with J x = 0, before the bounds.
        damping: as `damped_solution` has it.
    """
    state = _feasible(bounds.normalized(), box, None if support is None else row_space(support))
    none, target = np.zeros_like(state.x[..., :0]), np.zeros_like(state.x)
    if _is_identity(levels[-1][0]):
        *levels, (_, target) = levels
    for A, b in levels:
        state = solve_level(Rows(A, b, A[..., :0, :], none, none), state, damping=damping)
    return solve_last_level(target, state).x


def solve_level(level: Rows, state: ProjectedState, *, last: bool = False, damping: float = 0.0) -> ProjectedState:
    """The state after a level; if it is the last one, without the directions that it decides."""
    A, x, own = level.A, state.x, level.C.shape[-2]
    if not A.shape[-2] + own:
        return state
    free, decided, missing, AN, squared = x, state.decided, level.b, A, None
    if A.shape[-2]:
        missing, (L, Q) = level.b - matvec(A, x), row_factors(A, state.decided)
        step, squared = damped_solution(L, missing, damping)
        free = x + matvec(transpose(Q), step)
        decided, AN = _union(state.decided, Q), np.matmul(L, Q)
    bounds, compliance = _with_rows(level, state.bounds)
    if not bounds.upper.shape[-1]:
        return state._replace(x=free, decided=decided)
    arrays = (AN, missing) if A.shape[-2] else (x,)
    x, active, residual, small = _optimum(_level_objective, arrays, free, state, bounds, compliance, squared)
    state = state._replace(x=x, decided=decided, residual=residual, small=small)
    if not state.soft:
        return state
    bounds = bounds.widened(x)
    if last:
        return state._replace(bounds=bounds)
    rows = row_space(active[..., None] * bounds.C, decided)
    infinite = np.full_like(bounds.upper, np.inf)
    lower, upper = np.where(active > 0, -infinite, bounds.lower), np.where(active > 0, infinite, bounds.upper)
    return state._replace(decided=_union(decided, rows), bounds=Bounds(bounds.C, lower, upper))


def solve_last_level(target: Array, state: ProjectedState) -> ProjectedState:
    """The state after a last level that minimises |x - target|; its step is N (target - x)."""
    x, bounds = state.x, state.bounds
    N, _ = _projectors(x, state.decided)
    step = matvec(N, target - x)
    free = x + step
    if not bounds.upper.shape[-1]:
        return state._replace(x=free)
    x, _, residual, small = _optimum(_last_objective, (step,), free, state, bounds)
    return state._replace(x=x, residual=residual, small=small)


def hold(bounds: Bounds, x: Array) -> Any:
    """(...), truth values: whether x is within all bounds, except for rounding errors."""
    size = np.maximum(1.0, np.max(np.abs(x), axis=-1))
    return np.max(bounds.excess(x), axis=-1) <= ROUNDING[np.dtype(x.dtype)] * size


def _level_objective(AN: Array, missing: Array | None = None) -> tuple[Array, Array]:
    """H and g of |A N y - missing|², in the directions left; zeros of the size of x without equations."""
    if missing is None:
        return np.zeros((*AN.shape, AN.shape[-1]), AN.dtype), np.zeros_like(AN)
    return np.matmul(transpose(AN), AN), -matvec(transpose(AN), missing)


def _last_objective(step: Array) -> tuple[Array, Array]:
    """H and g of |y - step|²."""
    return np.broadcast_to(np.eye(step.shape[-1], dtype=step.dtype), (*step.shape, step.shape[-1])), -step


def _optimum(
    objective: Callable[..., tuple[Array, Array]],
    arrays: tuple[Array, ...],
    free: Array,
    state: ProjectedState,
    bounds: Bounds,
    compliance: Array | None = None,
    squared: Array | None = None,
) -> tuple[Array, Array, Array, Array]:
    """`free` if it is within bounds, otherwise the solution of a level's program; active rows, residual, and small.

    All of the program is in a loop of at most one iteration, which carries what the program needs: no program is
    prepared if all samples are within bounds.

    Args:
        objective: of arrays, H and g in the directions left.
        arrays: its arguments.
        free: (..., n), the step of least norm from the state.
        state: the state before.
        bounds: the hard bounds, after the rows of the level.
        compliance: of these; None if there are no soft rows.
        squared: (...), the square of the damping.
    """
    met, zero, none = hold(bounds, free), np.zeros_like(free[..., 0]), np.zeros_like(bounds.upper)
    decided = () if state.decided is None else (state.decided,)

    def once(carry: tuple[Array, ...]) -> tuple[Array, ...]:
        _, _, _, _, x, *rest = carry
        H, g = objective(*rest[: len(arrays)])
        N, T = _projectors(x, *rest[len(arrays) :])
        H = H + positive_or_one(np.max(np.diagonal(H, axis1=-2, axis2=-1), axis=-1))[..., None, None] * T
        H = H if squared is None else H + squared[..., None, None] * N
        y, lengths = matvec(bounds.C, x), np.ones_like(bounds.upper)
        lower, upper, C = bounds.lower - y, bounds.upper - y, np.matmul(bounds.C, N)

        def solve(terms: Array | None = None) -> tuple[Array, Array, Array, Array]:
            end = interior_point_starts.solve(
                H, g, C, lower, upper, compliance=compliance, lengths=lengths, terms=terms
            )
            return end.x, end.active, end.residual, end.multipliers

        y, active, residual, forces = solve()
        small = zero
        if state.soft and H.dtype == np.float64:  # single precision has no digits for less
            own = own_residual(H, g, Bounds(C, lower, upper), y, forces)
            small = np.where(has_small_terms(H, g, y) & (own > MAX_OWN_RESIDUAL), 1.0 + zero, zero)
        if state.refined:

            def again(at: Any) -> Any:
                return solve(gradient_terms(H, g, C, at[0], at[1] * at[3]))

            y, active, residual, _ = loop(1, again, (y, active, residual, forces), until=lambda _: ~(small > 0))
        return x + matvec(N, y), active, residual, small, x, *rest

    start = free, none, zero, zero, state.x, *arrays, *decided
    x, active, residual, small, *_ = loop(1, once, start, until=lambda _: met)
    x, residual = _clipped(x, bounds, state.box), np.maximum(state.residual, residual)
    return x, active, residual, np.maximum(state.small, small)


def _with_rows(level: Rows, bounds: Bounds) -> tuple[Bounds, Array | None]:
    """The rows of a level with the length 1, followed by bounds, and their compliances; None without such rows."""
    if not level.C.shape[-2]:
        return bounds, None
    own = Bounds(level.C, level.lower, level.upper)
    lengths = own.lengths()
    compliance = np.concatenate([1.0 / (lengths * lengths), np.zeros_like(bounds.upper)], axis=-1)
    return own.normalized().above(bounds), compliance


def _scaled(level: Rows) -> Rows:
    """The level in units of the largest number of A and C: squares of numbers such as 1e160 are infinite."""
    parts = [np.max(np.abs(M), axis=(-2, -1)) for M in (level.A, level.C) if M.shape[-2]]
    if not parts:
        return level
    size = positive_or_one(reduce(np.maximum, parts))
    b, lower, upper = (x / size[..., None] for x in (level.b, level.lower, level.upper))
    return Rows(level.A / size[..., None, None], b, level.C / size[..., None, None], lower, upper)


def _feasible(bounds: Bounds, box: tuple[int, ...], decided: Array | None) -> ProjectedState:
    """An x within bounds that the support allows, and the bounds, widened to it if it does not reach them.

    The box alone has one: zero, clipped. With other rows, x is the least that takes those which zero violates to their
    bounds, shortened to be within the box.
    """
    zero = np.zeros_like(bounds.C[..., 0, :])
    if decided is None and len(box) == bounds.C.shape[-2]:
        return ProjectedState(_clipped(zero, bounds, box), None, bounds, zero[..., 0], zero[..., 0], box)
    above = () if decided is None else (decided,)

    def once(carry: tuple[Array, ...]) -> tuple[Array, ...]:
        _, C, lower, upper, *above = carry
        bound = np.minimum(np.maximum(np.zeros_like(lower), lower), upper)
        L, Q = row_factors(np.where((bound != 0)[..., None], C, np.zeros_like(C)), *above)
        return matvec(transpose(Q), left_solution(L, bound)), *carry[1:]

    met = np.max(bounds.excess(zero), axis=-1) <= 0
    x = loop(1, once, (zero, bounds.C, bounds.lower, bounds.upper, *above), until=lambda _: met)[0]
    fraction = np.ones_like(x[..., 0])
    for row, k in enumerate(box):
        room = np.where(x[..., k] > 0, bounds.upper[..., row], -bounds.lower[..., row])
        size = np.abs(x[..., k])
        tight = (room > 0) & (size > room)
        fraction = np.where(tight, np.minimum(fraction, room / np.where(tight, size, np.ones_like(size))), fraction)
    x = x * fraction[..., None]
    return ProjectedState(x, decided, bounds.widened(x), zero[..., 0], zero[..., 0], box)


def _clipped(x: Array, bounds: Bounds, box: tuple[int, ...]) -> Array:
    """x, within the box to the last digit."""
    columns = [x[..., k] for k in range(x.shape[-1])]
    for row, k in enumerate(box):
        columns[k] = np.minimum(np.maximum(columns[k], bounds.lower[..., row]), bounds.upper[..., row])
    return np.stack(columns, axis=-1) if box else x


def _projectors(x: Array, decided: Array | None = None) -> tuple[Array, Array]:
    """N = 1 - Q^T Q, and Q^T Q."""
    identity = np.eye(x.shape[-1], dtype=x.dtype)
    if decided is None:
        return identity, np.zeros_like(identity)
    T = np.matmul(transpose(decided), decided)
    return identity - T, T


def _union(decided: Array | None, Q: Array) -> Array:
    """Orthonormal rows of both; if they are more than n, the projector on their directions."""
    rows = Q if decided is None else np.concatenate([decided, Q], axis=-2)
    n = rows.shape[-1]
    return rows if rows.shape[-2] <= n else np.matmul(transpose(rows), rows)


def _is_identity(A: Array) -> bool:
    """Whether A is the identity for all values."""
    n = A.shape[-1]
    return not is_traced(A) and A.shape[-2] == n and np.array_equal(A, np.broadcast_to(np.eye(n), A.shape))
