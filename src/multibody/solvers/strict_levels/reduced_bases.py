"""Strict levels within bounds, in reduced bases.  [RD 3.103-3.108, §3.10.1, §3.10.3]

x = x_0 + Z u, where the columns of Z are orthonormal and span the directions that no level so far feels. The sizes of
the bases are those of a robot in general position, known when a kernel is made (`LevelSize`): at a singularity, a
direction that a level loses stays with it, and is not given to later levels.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from multibody.geometry._arrays import Array, block_matrix, diagonal, eye_like, matvec, transpose
from multibody.solvers import cone_program, interior_point_starts
from multibody.solvers.cones import ActiveCones, Cones
from multibody.solvers.equilibration import gradient_size
from multibody.solvers.least_squares import complement, left_solution, project_out, row_factors, row_space, scale
from multibody.solvers.program import Bounds
from multibody.tracing.record.loop import loop

ROUNDING = {np.dtype(np.float64): 1e-10, np.dtype(np.float32): 1e-5}
"""The tolerated violation of a row, relative to its value, or to 1."""
FLAT_OBJECTIVE = {np.dtype(np.float64): 1e-6, np.dtype(np.float32): 1e-2}
"""The part of an objective below which its restriction to active rows is a rounding error."""


class LevelSize(NamedTuple):
    """The numbers of directions of a level, for a robot in general position."""

    rank: int
    """The largest number of directions that it decides."""
    left: int
    """The largest number of directions that are left after it."""
    least: int | None = None
    """The smallest number of directions that it decides, whatever contacts are active; None if some of the directions
    that earlier levels leave may be zeros."""


class ReducedState(NamedTuple):
    """The decision of the levels so far, and the directions that they leave."""

    x: Array
    """(..., n)"""
    Z: Array
    """(..., n, k): orthonormal columns, or zeros."""
    idle: int = 0
    """The number of columns, the last ones, that no level feels."""
    active_cones: ActiveCones | None = None
    """Forces that levels so far have pressed against circular cones."""
    active: Array | None = None
    """(..., m): ones for bounds that are active at levels so far, otherwise zeros; None before the first level."""
    residuals: tuple[Array, ...] = ()
    """(...) for each program so far: its residual of the conditions of optimality."""

    @staticmethod
    def free(x: Array, idle: int = 0) -> "ReducedState":
        """A state with all directions left."""
        n = x.shape[-1]
        return ReducedState(x, np.broadcast_to(np.eye(n, dtype=x.dtype), (*x.shape, n)), idle)

    def without_program(self, x: Array) -> "ReducedState":
        """The state at x after a level that needs no program."""
        return self._replace(x=x, residuals=(*self.residuals, np.zeros_like(x[..., 0])))

    def after_program(self, x: Array, active: Array, residual: Array, skip: Any) -> "ReducedState":
        """The state at the solution of a program, with the same directions left; skipped samples have no residual."""
        residual = np.where(skip, np.zeros_like(residual), residual)
        return self._replace(x=x, active=active, residuals=(*self.residuals, residual))


class LocalProgram(NamedTuple):
    """A program in u from the state's x. Its first unknowns are along the directions of the state."""

    matrix: Array
    """(..., r, n): the matrix from which the objective is made."""
    objective: Callable[[Array], tuple[Array, Array]]
    """H and g from this matrix."""
    bounds: Bounds
    """Of u."""


def solve_level(
    A: Array, b: Array, natural: Array, state: ReducedState, bounds: Bounds, size: LevelSize
) -> ReducedState:
    """The x within bounds that minimises |A x - b|, and the directions that are left.

    `natural`, (...), is the size of the entries of A if contacts do not make them zero: 1e-10 of it counts as zero.
    """
    x, k = state.x, state.Z.shape[-1] - state.idle
    if not size.rank:
        return state.without_program(x)
    Z, rest = state.Z[..., :k], state.Z[..., k:]
    per = 1.0 / natural
    A, missing = A * per[..., None, None], (b - matvec(A, x)) * per[..., None]
    B = np.matmul(A, Z)
    L, Q = row_factors(B, rank=size.rank, part_of=np.ones_like(A[..., :1, :1]))
    free = x + matvec(Z, matvec(transpose(Q), left_solution(L, missing)))
    left = _complement(Z, Q, size.left - state.idle) if size.least is None else complement(Q, size.least)
    left = np.concatenate([np.matmul(Z, left), rest], axis=-1)
    felt = np.concatenate([np.matmul(L, Q), np.zeros((*L.shape[:-1], state.idle), L.dtype)], axis=-1)
    return _free_or(lambda met: _least_squares(felt, missing, state, bounds, met), free, state, bounds)._replace(Z=left)


def minimise_residual(A: Array, b: Array, state: ReducedState, bounds: Bounds, skip: Any) -> ReducedState:
    """The state at the x within bounds that minimises |A x - b|, for samples that are not skipped."""
    per = 1.0 / scale(A)
    A, missing = A * per[..., None, None], (b - matvec(A, state.x)) * per[..., None]
    return _least_squares(np.matmul(A, state.Z), missing, state, bounds, skip)


def minimise_norm(state: ReducedState, bounds: Bounds) -> ReducedState:
    """The x of least norm within bounds, the last level."""
    x, Z = state.x, state.Z
    if not Z.shape[-1]:
        return state.without_program(x)
    g = matvec(transpose(Z), x)
    one = np.broadcast_to(np.eye(Z.shape[-1], dtype=x.dtype), (*g.shape, Z.shape[-1]))

    def program(x: Array, g: Array) -> LocalProgram:
        return LocalProgram(g[..., None, :], lambda g: (one, g[..., 0, :]), bounds.along(x, Z))

    def solve(met: Any) -> ReducedState:
        return _optimum(program, (g,), bounds, state, met, identify_active=False)

    return _free_or(solve, x - matvec(Z, g), state, bounds)


def minimise_violation(limits: Bounds, state: ReducedState, bounds: Bounds) -> ReducedState:
    """The x within bounds that minimises the sum of squares of the violations of limits, which are two-sided.

    Slacks w of the limits are unknowns beside u: L (x + Z u) + S w is within the limits in rows of the length 1, and
    |w| is minimal. The scales S give w the limits' own units, apart from one common factor: no row has a weight of its
    own. At the start, S w is the violation at x. The state's active rows are then those of the limits, followed by
    those of the bounds.
    """
    x, Z = state.x, state.Z
    lengths = limits.lengths()
    limits, S = limits.normalized(), np.min(lengths, axis=-1, keepdims=True) / lengths
    met = hold(limits, x)
    k, m = Z.shape[-1], limits.C.shape[-2]
    H = np.broadcast_to(np.diag([0.0] * k + [1.0] * m).astype(x.dtype), (*x.shape[:-1], k + m, k + m))
    if state.active is not None:
        state = state._replace(active=np.concatenate([np.zeros_like(limits.lower), state.active], axis=-1))

    def program(x: Array) -> LocalProgram:
        own, y = bounds.along(x, Z), matvec(limits.C, x)
        w = np.minimum(limits.upper - y, 0.0) + np.maximum(limits.lower - y, 0.0)
        G = block_matrix([[np.matmul(limits.C, Z), diagonal(S)], [own.C, 0]])
        lower = np.concatenate([np.minimum(limits.lower - y - w, 0.0), own.lower], axis=-1)
        upper = np.concatenate([np.maximum(limits.upper - y - w, 0.0), own.upper], axis=-1)
        g = np.concatenate([np.zeros_like(Z[..., 0, :]), w / S], axis=-1)
        return LocalProgram(np.zeros_like(G[..., :0, :]), lambda _: (H, g), Bounds(G, lower, upper))

    end = _optimum(program, (), limits.above(bounds), state, met)
    return end._replace(x=np.where(met[..., None], x, end.x))


def hold(bounds: Bounds, x: Array) -> Any:
    """(...), truth values: whether x is within bounds, except for rounding errors."""
    excess, y = bounds.excess(x), matvec(bounds.C, x)
    if bounds.cones is not None:
        side, height = bounds.cones.norms_and_heights(x)
        excess, y = np.concatenate([excess, side - height], axis=-1), np.concatenate([y, height], axis=-1)
    return np.max(excess - ROUNDING[np.dtype(x.dtype)] * np.maximum(1.0, np.abs(y)), axis=-1) <= 0


# ---- the program of a level ------------------------------------------------------------------------------------------


def _free_or(solve: Callable[[Any], ReducedState], free: Array, state: ReducedState, bounds: Bounds) -> ReducedState:
    """The state at `free` if that is within bounds, otherwise at the solution of the program of a level."""
    if not bounds.upper.shape[-1]:
        return state.without_program(free)
    met = hold(bounds, free)
    end = solve(met)
    return end._replace(x=np.where(met[..., None], free, end.x))


def _least_squares(B: Array, missing: Array, state: ReducedState, bounds: Bounds, skip: Any) -> ReducedState:
    """The state at the x within bounds that minimises |B u - missing|."""

    def program(x: Array, B: Array, missing: Array) -> LocalProgram:
        def objective(B: Array) -> tuple[Array, Array]:
            return np.matmul(transpose(B), B), -matvec(transpose(B), missing)

        return LocalProgram(B, objective, bounds.along(x, state.Z))

    return _optimum(program, (B, missing), bounds, state, skip)


def _optimum(
    program: Callable[..., LocalProgram],
    arrays: tuple[Array, ...],
    bounds: Bounds,
    state: ReducedState,
    skip: Any,
    *,
    identify_active: bool = True,
) -> ReducedState:
    """The state at the solution of a program.

    Without circular cones all of it is in a loop of at most one iteration, which carries what the program needs: no
    program is prepared if all samples skip it.

    Args:
        program: from x and arrays.
        arrays: its other arguments.
        bounds: with as many rows as the program has.
        state: the state before.
        skip: (...), truth values: samples whose solution is not needed.
        identify_active: whether later levels need the active set.
    """
    if bounds.cones is not None:
        return _solve(program(state.x, *arrays), bounds.cones, state, skip, identify_active=identify_active)
    active = np.zeros_like(bounds.upper) if state.active is None else state.active

    def once(carry: tuple[Any, ...]) -> tuple[Any, ...]:
        x, active, _, *arrays = carry
        at = state._replace(x=x, active=None if state.active is None else active)
        end = _solve(program(x, *arrays), None, at, skip, identify_active=identify_active)
        return end.x, end.active, end.residuals[-1], *arrays

    x, active, residual, *_ = loop(1, once, (state.x, active, active[..., 0], *arrays), until=lambda _: skip)
    return state.after_program(x, active, residual, skip)


def _solve(
    program: LocalProgram, cones: Cones | None, state: ReducedState, skip: Any, *, identify_active: bool
) -> ReducedState:
    """The state at the solution of a program, with the rows that are active at earlier levels fixed.

    All x that are as good for these levels have such rows at their bounds. As bounds they would leave the feasible set
    without an interior.
    """
    x, rows, none = state.x, program.bounds.C.shape[-2], np.zeros_like(program.bounds.upper)
    others = np.zeros((*x.shape, program.bounds.C.shape[-1] - state.Z.shape[-1]), x.dtype)
    Z = np.concatenate([state.Z, others], axis=-1)
    active, inner, flat = state.active, None, None
    if cones is not None:
        inner, fixed = cones.restricted(x, state.active_cones, Z)
        if fixed.shape[-2]:
            one = np.ones_like(fixed[..., 0])
            active = np.concatenate([one, none if active is None else active], axis=-1)
            program = program._replace(bounds=Bounds(fixed, -one, one).above(program.bounds))
    if active is not None:
        flat = FLAT_OBJECTIVE[np.dtype(x.dtype)] * gradient_size(*program.objective(program.matrix))
        program, Z, inner = _without_active_rows(program, active, Z, inner)
    H, g = program.objective(program.matrix)
    own = program.bounds._replace(cones=inner)
    if cones is None:
        u, now, residual = interior_point_starts.solve_feasible(H, g, own, skip, flat, identify_active=identify_active)
    else:
        u, now, residual, edge, tip = cone_program.solve_feasible(H, g, own, skip, flat)
        active_cones = ActiveCones(cones.directions(x + matvec(Z, u)), edge, tip)
        active_cones = active_cones if state.active_cones is None else state.active_cones.union(active_cones)
        state = state._replace(active_cones=active_cones)
    held = none if active is None else active[..., -rows:]
    if identify_active:
        held = np.where(skip[..., None], held, np.maximum(now[..., -rows:], held))
    return state.after_program(x + matvec(Z, u), held, residual, skip)


def _without_active_rows(
    program: LocalProgram, active: Array, Z: Array, cones: Cones | None
) -> tuple[LocalProgram, Array, Cones | None]:
    """The program, Z and cones in the directions that leave active rows at their values."""
    G, lower, upper, _ = program.bounds
    parts = [Z, program.matrix] if cones is None else [Z, program.matrix, cones.K]
    G, every = project_out(active, G, np.concatenate(parts, axis=-2), Z.shape[-2])
    first, last = Z.shape[-2], Z.shape[-2] + program.matrix.shape[-2]
    cones = None if cones is None else Cones(every[..., last:, :], cones.k)
    fixed, one, k = active > 0, np.ones_like(active), lower.shape[-1]
    bounds = Bounds(G, np.where(fixed[..., :k], -one[..., :k], lower), np.where(fixed, one, upper))
    return program._replace(matrix=every[..., first:last, :], bounds=bounds), every[..., :first, :], cones


def _complement(Z: Array, Q: Array, left: int) -> Array:
    """(..., k, left): orthonormal columns, or zeros, along directions of Z that rows of Q, (..., r, k), do not feel."""
    there = np.sum(Z * Z, axis=-2)  # ones, and zeros for columns of zeros
    one = eye_like(Q, Q.shape[-1])
    N = there[..., None] * one - np.matmul(transpose(Q), Q)
    return transpose(row_space(N, rank=left, part_of=one)) if left else N[..., :0]
