"""Quadratic programs that always have an answer: the phases of a solution, as they are in a kernel.

A program whose rows contradict each other has two priorities: that its rows are violated least, by the sum of the
squares of A x - b and of what C x is beyond its bounds, and then its objective. The first is a program as well, whose
rows give way. The violations that it leaves are the same for all of its solutions, so that in the second the violated
rows are equations.

A program without a least value has a direction in which its objective falls for ever and along which its rows allow
any distance. The projection of -g on the directions that rows and H allow is a program, too, and zero for all others.
Every phase is the same piece of code with other numbers; samples that need only the first do not take the others.
"""

from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from multibody.geometry._arrays import dot, is_traced, matvec, transpose
from multibody.solvers import interior_point
from multibody.tracing.record.loop import loop

Array = NDArray[Any]
CONVERGED = {np.dtype(np.float64): 1e-9, np.dtype(np.float32): 2e-4}
"""The residual up to which a phase counts as solved."""
VIOLATED = {np.dtype(np.float64): 1e-8, np.dtype(np.float32): 1e-4}
"""The violation of a row of the length 1 that is one, beside an x of 1."""
SLIGHT = {np.dtype(np.float64): 1e-5, np.dtype(np.float32): 1e-3}
"""The violation beside which that of the phase of least violation is judged: where bounds leave hardly any room, slacks
are roots of its products, and so far below what counts as violated."""
CURVED = {np.dtype(np.float64): 1e-9, np.dtype(np.float32): 1e-5}
"""The share of the largest entry of H by which its smallest eigenvalue may be negative."""
STIFF = 1e8
"""How much more a direction costs along which H is curved than one along which it is not."""
FALLING = 1e-3
"""The share of -g that is left of it by projection where the objective falls for ever."""
MAIN, ELASTIC, YIELDED, RAY, AGAIN, DONE = range(6)
"""Phases: the program; that of least violation; the program with the violated rows fixed; that of directions; the
program once more, with all patience."""


class Status(IntEnum):
    """How a program ended."""

    SOLVED = 0
    """The conditions of optimality hold, to 1e-8, in single precision to 1e-4; rows by their lengths, where above 1."""
    INFEASIBLE = 1
    """Rows contradict each other: x violates them least, and the rest is optimal."""
    UNBOUNDED = 2
    """The objective falls for ever; x only meets the rows."""
    FAILED = 3
    """H is not convex, numbers are not finite, or too ill-conditioned for residuals to become small."""


class Rows(NamedTuple):
    """What is asked for: A x = b and lower <= C x <= upper, of one batch shape. Any number of rows may be zero."""

    A: Array
    """(..., k, n)"""
    b: Array
    """(..., k)"""
    C: Array
    """(..., m, n)"""
    lower: Array
    """(..., m), -inf where there is no bound."""
    upper: Array
    """(..., m)"""

    def slacks(self, x: Array) -> Array:
        """(..., k + m): A x - b, and what C x is beyond its bounds, positive above the upper ones."""
        y = matvec(self.C, x)
        above, below = np.maximum(y - self.upper, 0.0), np.maximum(self.lower - y, 0.0)
        return np.concatenate([matvec(self.A, x) - self.b, np.where(above >= below, above, -below)], axis=-1)


class Program(NamedTuple):
    """x^T H x / 2 + g^T x, to be least where rows hold."""

    H: Array
    """(..., n, n), symmetric; its upper triangle is read."""
    g: Array
    """(..., n)"""
    rows: Rows


class Outcome(NamedTuple):
    """What became of a program."""

    x: Array
    """(..., n)"""
    multipliers: Array
    """(..., k + m): H x + g + A^T y + C^T z = 0, z positive at upper bounds."""
    residuals: Array
    """(..., 3), as `residuals` has them."""
    status: Array
    """(...), numbers of `Status`."""
    rounds: Array
    """(...), of all phases."""


def solved(program: Program) -> Outcome:
    """The outcome of a program: of arrays, or of traced arrays as a part of what is traced."""
    H, g, rows = program
    A, b, C, lower, upper = rows
    if not A.shape[-2] + C.shape[-2]:  # the solver works on a row at least
        A, b = np.zeros_like(H[..., :1, :]), np.zeros_like(g[..., :1])
    R, dtype, equations = np.concatenate([A, C], axis=-2), np.dtype(g.dtype), A.shape[-2]
    zero, lengths = np.zeros_like(g[..., 0]), np.sqrt(np.sum(R * R, axis=-1))
    longest = np.max(lengths, axis=-1)
    longest = np.where(longest > 0, longest, zero + 1.0)
    convex, (stiff, downhill) = is_convex(H), _directions(H, g)

    def phase(carry: tuple[Any, ...]) -> tuple[Any, ...]:
        phase, x, z, point, low, high, status, rounds = carry
        main, elastic, ray = (phase == MAIN) | (phase == AGAIN), phase == ELASTIC, phase == RAY
        end = interior_point.solve(
            np.where(elastic[..., None, None], np.zeros_like(H), np.where(ray[..., None, None], stiff, H)),
            np.where(elastic[..., None], np.zeros_like(g), np.where(ray[..., None], downhill, g)),
            R,
            *(np.where(ray[..., None] & (np.abs(side) < interior_point.NONE), 0.0, side) for side in (low, high)),
            equalities=equations,
            compliance=np.where(elastic, longest * longest, zero)[..., None] * np.ones_like(low),
            give_up=phase == MAIN,
            least=np.where(elastic, zero + SLIGHT[dtype], zero),
        )
        good, broken = end.residual <= CONVERGED[dtype], ~(end.residual >= 0)
        y, size = matvec(R, end.x), np.maximum(1.0, np.max(np.abs(end.x), axis=-1))
        violated = np.maximum(y - high, low - y) > VIOLATED[dtype] * size[..., None] * lengths
        infeasible = elastic & good & np.any(violated, axis=-1)
        falls = ray & good & (dot(end.x, downhill) < -FALLING * dot(downhill, downhill))
        # the answer: of the program, of the one with rows fixed, else the point of least violation
        point = np.where(elastic[..., None], end.x, point)
        best, feasible = (
            (main | ((phase == YIELDED) & good))[..., None],
            (infeasible | falls | (elastic & ~convex))[..., None],
        )
        x = np.where(best, end.x, np.where(feasible, point, x))
        z = np.where(best, end.multipliers, np.where(feasible, np.zeros_like(z), z))
        fixed = infeasible[..., None] & violated
        low, high = np.where(fixed, y, low), np.where(fixed, y, high)
        for case, told in ((infeasible, Status.INFEASIBLE), (falls, Status.UNBOUNDED), (main & good, Status.SOLVED)):
            status = np.where(case, float(told), status)
        then = zero + float(DONE)
        for case, other in (
            ((phase == MAIN) & ~good & ~broken, ELASTIC),
            (infeasible & convex, YIELDED),
            (elastic & ~infeasible & convex, RAY),
            (ray & ~falls, AGAIN),
        ):
            then = np.where(case, float(other), then)
        return then, x, z, point, low, high, status, rounds + end.rounds

    bounds = np.concatenate([b, lower], axis=-1), np.concatenate([b, upper], axis=-1)
    first = np.where(convex, float(MAIN), float(ELASTIC)) + zero
    start = (
        first,
        np.zeros_like(g),
        np.zeros_like(bounds[1]),
        np.zeros_like(g),
        *bounds,
        zero + float(Status.FAILED),
        zero,
    )
    _, x, z, _, _, _, status, rounds = loop(4, phase, start, until=lambda carry: carry[0] == DONE)
    multipliers = z[..., z.shape[-1] - rows.b.shape[-1] - rows.upper.shape[-1] :]
    conditions = residuals(program, x, multipliers)
    stationarity, _, complementarity = (conditions[..., k] for k in range(3))
    y, size = matvec(R, x), np.maximum(1.0, np.max(np.abs(x), axis=-1))
    beyond = np.maximum(y - bounds[1], bounds[0] - y) / np.maximum(1.0, lengths)
    worst = np.maximum(np.maximum(stationarity, complementarity), np.max(beyond, axis=-1) / size)
    failed = (status == Status.SOLVED) & ~(worst <= VIOLATED[dtype])
    return Outcome(x, multipliers, conditions, np.where(failed, float(Status.FAILED), status), rounds)


def residuals(program: Program, x: Array, multipliers: Array) -> Array:
    """(..., 3): how far x and its multipliers are from the conditions of optimality, by the largest of each.

    Stationarity is H x + g + A^T y + C^T z, complementarity the products of z and distances to their bounds, both
    relative to 1, g and H x; feasibility is what rows are violated by, relative to 1 and x.
    """
    H, g, rows = program
    equations = rows.b.shape[-1]
    z, Hx, y = multipliers[..., equations:], matvec(H, x), matvec(rows.C, x)
    size = np.maximum(1.0, np.max(np.maximum(np.abs(Hx), np.abs(g)), axis=-1))
    gradient = Hx + g + matvec(transpose(rows.A), multipliers[..., :equations]) + matvec(transpose(rows.C), z)
    distance = np.where(z > 0, rows.upper - y, np.where(z < 0, rows.lower - y, np.zeros_like(y)))
    none = np.zeros_like(x[..., :1])
    beyond, products = (
        np.max(np.abs(np.concatenate([parts, none], axis=-1)), axis=-1) for parts in (rows.slacks(x), z * distance)
    )
    stationarity, length = np.max(np.abs(gradient), axis=-1), np.maximum(1.0, np.max(np.abs(x), axis=-1))
    return np.stack([stationarity / size, beyond / length, products / size], axis=-1)


def is_convex(H: Array) -> Any:
    """(...), truth values: whether no eigenvalue is negative, but for rounding; NaN is convex."""
    size = np.max(np.max(np.abs(H), axis=-1), axis=-1) * CURVED[np.dtype(H.dtype)]
    if not is_traced(H):
        return ~(np.linalg.eigvalsh(np.nan_to_num(H))[..., 0] < -size)
    shift = np.where(size > 0, size, np.ones_like(size))
    factor = np.linalg.cholesky(H + shift[..., None, None] * np.eye(H.shape[-1], dtype=H.dtype))
    return ~np.isnan(factor[..., -1, -1]) | np.isnan(size)


def _directions(H: Array, g: Array) -> tuple[Array, Array]:
    """The objective of the phase that looks for a direction to fall along: where H is curved, it is steep."""
    largest = np.max(np.abs(np.stack([H[..., k, k] for k in range(H.shape[-1])], axis=-1)), axis=-1)
    factor = STIFF / np.where(largest > 0, largest, np.ones_like(largest))
    steepest = np.max(np.abs(g), axis=-1)
    downhill = g / np.where(steepest > 0, steepest, np.ones_like(steepest))[..., None]
    return H * factor[..., None, None] + np.eye(H.shape[-1], dtype=H.dtype), downhill
