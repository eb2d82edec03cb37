"""Strict priorities with inequalities at any level, as they are in a kernel.  [RD 3.102-3.108, Alg. 2]

Level i asks for A_i x = b_i and lower_i <= C_i x <= upper_i. Of all x that are best for the levels before, those are
best at which the sum of squares of A_i x - b_i and of what C_i x is beyond its bounds is least: one quadratic program a
level, in which its own rows give way and those of the levels before do not.

All x that are best for a level have the same A_i x, the same violations, and the same value of every row that presses
against them: what is left to the next level is the null space of these, N = 1 - Q^T Q, within the bounds of the other
rows. The step x + N y has the constant dimension of x: what N takes away is put on the diagonal. Where the step of
least norm violates nothing it is taken, and the program has no rounds.
"""

from collections.abc import Sequence
from functools import reduce
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from multibody.geometry._arrays import matvec, transpose
from multibody.solvers import interior_point
from multibody.solvers.least_squares import left_solution, row_factors, row_space
from multibody.solvers.qp_phases import CONVERGED, Rows, Status

Array = NDArray[Any]
ROUNDING = {np.dtype(np.float64): 1e-12, np.dtype(np.float32): 1e-5}
"""By how much a step may be past a bound of a row of the length 1, beside an x of 1."""


class Outcome(NamedTuple):
    """What strict priorities make of their levels."""

    x: Array
    """(..., n)"""
    slacks: list[Array]
    """(..., k + m) for each level."""
    status: Array
    """(...), numbers of `Status`: INFEASIBLE where a lower bound is above its upper one, as no x meets them."""


def strict(levels: Sequence[Rows], least_norm: bool = True) -> Outcome:
    """The x that is best for all levels, the most important first: of arrays, or of traced ones, of one batch shape.

    Args:
        levels: what they ask for.
        least_norm: whether x is the least in norm of what is best for all of them; else any of these.
    """
    n = levels[0].A.shape[-1]
    state = _start(levels[0])
    for k, level in enumerate(levels, start=1):
        state = _after(_sized(level), state, last=k == len(levels) and not least_norm)
    if least_norm:
        zero = np.zeros_like(state.x)
        identity = np.broadcast_to(np.eye(n, dtype=zero.dtype), (*zero.shape, n))
        state = _after(Rows(identity, zero, identity[..., :0, :], zero[..., :0], zero[..., :0]), state, last=True)
    crossed = np.zeros_like(state.residual) > 0
    for level in levels:
        crossed = crossed | np.any(level.lower > level.upper, axis=-1)
    slacks = [level.slacks(state.x) for level in levels]
    whole = sum(np.sum(np.abs(part), axis=-1) for part in (state.x, *slacks))
    failed = ~((state.residual <= CONVERGED[np.dtype(state.x.dtype)]) & (whole < np.inf))  # NaN has failed
    status = np.where(crossed, float(Status.INFEASIBLE), float(Status.SOLVED))
    return Outcome(state.x, slacks, np.where(failed, float(Status.FAILED), status))


class _State(NamedTuple):
    """What the levels so far decide."""

    x: Array
    taken: Array | None
    """(..., k, n), orthonormal rows and zeros: directions in which x is decided; None before the first level."""
    C: Array
    """(..., m, n), rows of all levels so far, of the length 1."""
    lower: Array
    """(..., m), -inf for rows that are decided; as all others, they hold for x."""
    upper: Array
    residual: Array
    """(...): the largest of all programs."""


def _start(level: Rows) -> _State:
    x, none = np.zeros((*level.A.shape[:-2], level.A.shape[-1]), level.A.dtype), np.zeros_like(level.upper[..., :0])
    return _State(x, None, np.zeros_like(level.C[..., :0, :]), none, none, np.zeros_like(x[..., 0]))


def _sized(level: Rows) -> Rows:
    """The same wishes in units of the largest number of A and C: squares of numbers such as 1e160 are infinite."""
    parts = [np.max(np.abs(M), axis=(-2, -1)) for M in (level.A, level.C) if M.shape[-2]]
    if not parts:
        return level
    size = reduce(np.maximum, parts)
    size = np.where(size > 0, size, np.ones_like(size))
    b, lower, upper = (x / size[..., None] for x in (level.b, level.lower, level.upper))
    return Rows(level.A / size[..., None, None], b, level.C / size[..., None, None], lower, upper)


def _after(level: Rows, state: _State, *, last: bool) -> _State:
    """What is decided after a level."""
    A, x, own = level.A, state.x, level.C.shape[-2]
    if not A.shape[-2] + own:
        return state
    missing, free, taken, AN = level.b, x, state.taken, A
    if A.shape[-2]:
        missing, (L, Q) = level.b - matvec(A, x), row_factors(A, state.taken)
        free = x + matvec(transpose(Q), left_solution(L, missing))
        taken, AN = _joined(state.taken, Q), np.matmul(L, Q)
    if not own + state.C.shape[-2]:
        return state._replace(x=free, taken=taken)
    lengths = np.sqrt(np.sum(level.C * level.C, axis=-1))
    lengths = np.where(lengths > 0, lengths, np.ones_like(lengths))
    C = np.concatenate([level.C / lengths[..., None], state.C], axis=-2)
    lower = np.concatenate([level.lower / lengths, state.lower], axis=-1)
    upper = np.concatenate([level.upper / lengths, state.upper], axis=-1)
    met = _hold(C, lower, upper, free)
    softness = np.concatenate([1.0 / (lengths * lengths), np.zeros_like(state.lower)], axis=-1)
    y, N = _program(AN, missing, state, C, lower, upper, softness, met)
    x = np.where(met[..., None], free, x + matvec(N, y.x))
    residual = np.maximum(state.residual, np.where(met, np.zeros_like(y.residual), y.residual))
    value = matvec(C, x)
    lower, upper = np.minimum(lower, value), np.maximum(upper, value)
    if last:
        return _State(x, taken, C, lower, upper, residual)
    pressed = y.pressed & ~met[..., None]
    decided = row_space(np.where(pressed[..., None], C, np.zeros_like(C)), taken)
    infinite = np.full_like(value, np.inf)
    lower, upper = np.where(pressed, -infinite, lower), np.where(pressed, infinite, upper)
    return _State(x, _joined(taken, decided), C, lower, upper, residual)


def _program(
    AN: Array, missing: Array, state: _State, C: Array, lower: Array, upper: Array, softness: Array, met: Any
) -> tuple[interior_point.Solution, Array]:
    """The step y that is best for a level, of whose A the state leaves A N, and N."""
    x, n = state.x, state.x.shape[-1]
    identity = np.broadcast_to(np.eye(n, dtype=x.dtype), (*x.shape, n))
    N, held = identity, np.zeros_like(identity)
    if state.taken is not None:
        held = np.matmul(transpose(state.taken), state.taken)
        N = identity - held
    H, g = np.zeros_like(held), np.zeros_like(x)
    if AN.shape[-2]:
        H, g = np.matmul(transpose(AN), AN), -matvec(transpose(AN), missing)
    largest = np.max(np.stack([H[..., k, k] for k in range(n)], axis=-1), axis=-1)
    H = H + np.where(largest > 0, largest, np.ones_like(largest))[..., None, None] * held
    y, lengths = matvec(C, x), np.ones_like(lower)
    solution = interior_point.solve(
        H, g, np.matmul(C, N), lower - y, upper - y, met, compliance=softness, lengths=lengths
    )
    return solution, N


def _hold(C: Array, lower: Array, upper: Array, x: Array) -> Any:
    """(...), truth values: whether x is within all bounds, but for rounding."""
    y = matvec(C, x)
    size = np.maximum(1.0, np.max(np.abs(x), axis=-1))
    return np.max(np.maximum(y - upper, lower - y), axis=-1) <= ROUNDING[np.dtype(x.dtype)] * size


def _joined(taken: Array | None, Q: Array) -> Array:
    """Orthonormal rows of both; where they are more than there are directions, the projector on these."""
    joined = Q if taken is None else np.concatenate([taken, Q], axis=-2)
    n = joined.shape[-1]
    return joined if joined.shape[-2] <= n else np.matmul(transpose(joined), joined)
