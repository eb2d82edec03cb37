"""Infeasible and unbounded quadratic programs: phases that always end with an answer, for arrays and traced arrays.

If rows contradict each other, two objectives follow one another: the least violation, by the sum of the squares of
A x - b and of the violations of C x's bounds, and then the objective of the program. The first is a program whose rows
are soft (the elastic phase). Its solutions all have the same violations, so that the violated rows are equations in the
second (the fixed phase).

An objective that is unbounded below has a direction along which it falls, and which the rows allow for any distance.
The projection of -g on the directions that rows and H allow is a program, too (the ray phase); it is zero otherwise.
All phases are the same code with other numbers, and samples that need only the first take no others.

If the terms of some unknown are far below those of others, `refine` follows, with residuals relative to its own terms.
"""

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from multibody.geometry._arrays import Array, dot, is_traced, matvec, positive_or_one
from multibody.solvers import interior_point, interior_point_starts
from multibody.solvers.equilibration import (
    INFINITE_BOUND,
    MAX_OWN_RESIDUAL,
    gradient_size,
    gradient_terms,
    has_small_terms,
    own_residual,
)
from multibody.solvers.program import OPTIMALITY_TOLERANCE, Bounds, Program, Status, residuals
from multibody.tracing.record.loop import loop

CONVERGED = {np.dtype(np.float64): 1e-9, np.dtype(np.float32): 2e-4}
"""The residual up to which a phase counts as solved."""
MIN_ELASTIC_SIZE = {np.dtype(np.float64): 1e-5, np.dtype(np.float32): 1e-3}
"""The smallest gradient of the elastic phase. If bounds leave hardly any room, slacks are roots of its products, and
violations are accurate only to the root of the tolerance."""
CURVED = {np.dtype(np.float64): 1e-9, np.dtype(np.float32): 1e-5}
"""The negative eigenvalue of H, relative to its largest entry, from which it is not convex."""
CURVATURE_PENALTY = 1e8
"""The penalty of directions along which H is curved, in the ray phase."""
FALLING = 1e-3
"""The fraction of -g that the projection leaves, from which the objective is unbounded below."""
MAX_PHASES = 4
MAIN, ELASTIC, FIXED, RAY, AGAIN, DONE = range(6)
"""MAIN: the program. ELASTIC: the least violation. FIXED: the program with violated rows as equations. RAY: the
direction of an unbounded objective. AGAIN: the main phase without early termination."""


class PhaseState(NamedTuple):
    """The carry from phase to phase."""

    phase: Array
    x: Array
    z: Array
    """The solution so far, and its multipliers."""
    least_violating: Array
    """(..., n): the solution of the elastic phase."""
    lower: Array
    upper: Array
    """(..., rows): bounds; those of violated rows are moved to their values."""
    status: Array


class Phases(NamedTuple):
    """A program as all phases need it, with its equations as the first rows."""

    H: Array
    g: Array
    R: Array
    """(..., rows, n)"""
    equations: int
    lengths: Array
    """(..., rows)"""
    longest: Array
    """(...)"""
    convex: Any
    ray_H: Array
    ray_g: Array

    def next(self, state: PhaseState) -> PhaseState:
        """The state after the current phase."""
        phase, zero, dtype = state.phase, np.zeros_like(self.g[..., 0]), np.dtype(self.g.dtype)
        main, elastic, ray = (phase == MAIN) | (phase == AGAIN), phase == ELASTIC, phase == RAY
        end = self._solve(state, elastic, ray)
        good, broken = end.residual <= CONVERGED[dtype], ~(end.residual >= 0)
        y, size = matvec(self.R, end.x), np.maximum(1.0, np.max(np.abs(end.x), axis=-1))
        beyond = np.maximum(y - state.upper, state.lower - y)
        violated = beyond > OPTIMALITY_TOLERANCE[dtype] * size[..., None] * self.lengths
        infeasible = elastic & good & np.any(violated, axis=-1)
        falls = ray & good & (dot(end.x, self.ray_g) < -FALLING * dot(self.ray_g, self.ray_g))
        # the answer: of the program, of the one with rows fixed, otherwise the point of least violation
        point = np.where(elastic[..., None], end.x, state.least_violating)
        best = (main | ((phase == FIXED) & good))[..., None]
        feasible = (infeasible | falls | (elastic & ~self.convex))[..., None]
        x = np.where(best, end.x, np.where(feasible, point, state.x))
        z = np.where(best, end.multipliers, np.where(feasible, np.zeros_like(state.z), state.z))
        fixed = infeasible[..., None] & violated
        lower, upper = np.where(fixed, y, state.lower), np.where(fixed, y, state.upper)
        status = state.status
        for case, value in ((infeasible, Status.INFEASIBLE), (falls, Status.UNBOUNDED), (main & good, Status.SOLVED)):
            status = np.where(case, float(value), status)
        following = zero + float(DONE)
        for case, other in (
            ((phase == MAIN) & ~good & ~broken, ELASTIC),
            (infeasible & self.convex, FIXED),
            (elastic & ~infeasible & self.convex, RAY),
            (ray & ~falls, AGAIN),
        ):
            following = np.where(case, float(other), following)
        return PhaseState(following, x, z, point, lower, upper, status)

    def _solve(self, state: PhaseState, elastic: Any, ray: Any) -> interior_point_starts.Solution:
        """The solution of a phase: the same program with an objective, bounds and compliances of its own."""
        H, g, lower, upper, zero = self.H, self.g, state.lower, state.upper, np.zeros_like(self.g[..., 0])
        H = np.where(elastic[..., None, None], np.zeros_like(H), np.where(ray[..., None, None], self.ray_H, H))
        g = np.where(elastic[..., None], np.zeros_like(g), np.where(ray[..., None], self.ray_g, g))
        sides = (np.where(ray[..., None] & (np.abs(side) < INFINITE_BOUND), 0.0, side) for side in (lower, upper))
        compliance = np.where(elastic, self.longest * self.longest, zero)[..., None] * np.ones_like(lower)
        solve = partial(interior_point_starts.solve, equalities=self.equations, give_up=state.phase == MAIN)
        size = np.where(elastic, zero + MIN_ELASTIC_SIZE[np.dtype(g.dtype)], zero)
        return solve(H, g, self.R, *sides, compliance=compliance, min_size=size)


def solve(program: Program) -> tuple[Array, Array, Array, Array, Array]:
    """x, the multipliers and the violated rows, residuals as `residuals` has them, and numbers of `Status`.

    Violated rows are ones, others zeros: if rows contradict each other, those of the elastic phase.
    """
    (H, g, rows), zero = program, np.zeros_like(program.g[..., 0])
    some = rows.b.shape[-1] + rows.upper.shape[-1]
    if not some:  # the method needs a row
        rows = rows._replace(A=np.zeros_like(H[..., :1, :]), b=np.zeros_like(g[..., :1]))
    R, lower, upper, _ = bounds = rows.stacked()
    lengths = np.sqrt(np.sum(R * R, axis=-1))
    longest = positive_or_one(np.max(lengths, axis=-1))
    phases = Phases(H, g, R, rows.b.shape[-1], lengths, longest, is_convex(H), *_ray_objective(H, g))
    first = np.where(phases.convex, float(MAIN), float(ELASTIC)) + zero
    none = np.zeros_like(g)
    start = PhaseState(first, none, np.zeros_like(upper), none, lower, upper, zero + float(Status.FAILED))
    end = loop(MAX_PHASES, lambda at: phases.next(PhaseState(*at)), start, until=lambda at: at[0] == DONE)
    x, status = end[1], end[-1]
    own = upper.shape[-1] - some
    multipliers, moved = end[2][..., own:], (end[4] != lower) | (end[5] != upper)
    conditions, worst = _conditions(program, bounds, x, multipliers)
    failed = (status == Status.SOLVED) & ~(worst <= OPTIMALITY_TOLERANCE[np.dtype(x.dtype)])
    status = np.where(failed, float(Status.FAILED), status)
    missed = missed_rows(program, x, status)
    infeasible = (status == Status.INFEASIBLE)[..., None]
    return x, multipliers, np.where(infeasible, np.where(moved[..., own:], 1.0, 0.0), missed), conditions, status


def missed_rows(program: Program, x: Array, status: Array) -> Array:
    """(..., rows): ones for rows that x violates if the program FAILED, otherwise zeros."""
    bounds, size = program.rows.stacked(), np.maximum(1.0, np.max(np.abs(x), axis=-1))[..., None]
    within = OPTIMALITY_TOLERANCE[np.dtype(x.dtype)] * size * np.sqrt(np.sum(bounds.C * bounds.C, axis=-1))
    missed = (status == Status.FAILED)[..., None] & (bounds.excess(x) > within)
    return np.where(missed, 1.0, np.zeros_like(within))


def can_be_refined(program: Program, x: Array, status: Array) -> Any:
    """(...), truth values: whether terms of some unknown are so small that `refine` has to judge its residuals."""
    if program.g.dtype != np.float64 or not program.rows.b.shape[-1] + program.rows.upper.shape[-1]:
        return status < 0  # single precision has no digits for less
    ended = (status == Status.SOLVED) | ((status == Status.FAILED) & is_convex(program.H))
    return ended & has_small_terms(program.H, program.g, x)


def refine(program: Program, x: Array, multipliers: Array, status: Array) -> tuple[Array, Array, Array, Array]:
    """The results of `solve` with residuals relative to the terms of each unknown, from those of `solve`.

    SOLVED only if the conditions of optimality hold relative to these terms.
    """
    (H, g, rows), tolerance = program, OPTIMALITY_TOLERANCE[np.dtype(program.g.dtype)]
    R, lower, upper, _ = bounds = rows.stacked()

    def judge(x: Array, multipliers: Array) -> tuple[Array, Array, Array]:
        conditions, worst = _conditions(program, bounds, x, multipliers)
        own = own_residual(H, g, bounds, x, multipliers)
        return conditions, np.maximum(worst, own), own

    before, worst, own = judge(x, multipliers)
    accurate = (status == Status.SOLVED) & (own <= MAX_OWN_RESIDUAL)
    forces = np.where(np.abs(multipliers) > _noise(program, bounds, x), multipliers, 0.0)
    terms = gradient_terms(H, g, R, x, forces)
    end = interior_point_starts.solve(H, g, R, lower, upper, accurate, equalities=rows.b.shape[-1], terms=terms)
    after, best, _ = judge(end.x, end.multipliers)
    better = (~accurate & ((best <= tolerance) | ~(worst <= best)))[..., None]
    x, multipliers = np.where(better, end.x, x), np.where(better, end.multipliers, multipliers)
    solved = (best <= tolerance) | (worst <= tolerance)
    status = np.where(solved, float(Status.SOLVED), float(Status.FAILED))
    return x, multipliers, np.where(better, after, before), status


def _noise(program: Program, bounds: Bounds, x: Array) -> Array:
    """(..., rows): the size of multipliers that rows as far from their bounds may have, zero for equations."""
    y, size = matvec(bounds.C, x), gradient_size(program.H, program.g)[..., None]
    distance = np.maximum(np.minimum(bounds.upper - y, y - bounds.lower), 0.0)
    return interior_point.ACTIVE_RATIO * size * distance / bounds.lengths() ** 2


def _conditions(program: Program, bounds: Bounds, x: Array, multipliers: Array) -> tuple[Array, Array]:
    """`residuals`, and the largest of them, with rows by their lengths where above 1."""
    conditions, size = residuals(program, x, multipliers), np.maximum(1.0, np.max(np.abs(x), axis=-1))
    beyond = bounds.excess(x) / np.maximum(1.0, np.sqrt(np.sum(bounds.C * bounds.C, axis=-1)))
    worst = np.maximum(conditions[..., 0], conditions[..., 2])
    return conditions, np.maximum(worst, np.max(beyond, axis=-1) / size)


def is_convex(H: Array) -> Any:
    """(...), truth values: whether no eigenvalue is negative, except for rounding errors; NaN is convex."""
    size = np.max(np.max(np.abs(H), axis=-1), axis=-1) * CURVED[np.dtype(H.dtype)]
    if not is_traced(H):
        return ~(np.linalg.eigvalsh(np.nan_to_num(H))[..., 0] < -size)
    factor = np.linalg.cholesky(interior_point.add_to_diagonal(H, positive_or_one(size)))
    return ~np.isnan(factor[..., -1, -1]) | np.isnan(size)


def _ray_objective(H: Array, g: Array) -> tuple[Array, Array]:
    """The objective of the ray phase, which is steep along directions in which H is curved."""
    factor = CURVATURE_PENALTY / positive_or_one(np.max(np.abs(np.diagonal(H, axis1=-2, axis2=-1)), axis=-1))
    downhill = g / positive_or_one(np.max(np.abs(g), axis=-1))[..., None]
    return H * factor[..., None, None] + np.eye(H.shape[-1], dtype=H.dtype), downhill
