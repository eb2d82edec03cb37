"""Levels within bounds, one after the other, in bases of what those before leave.  [RD 3.103-3.108, §3.10.1, §3.10.3]

x = x_0 + Z u: the columns of Z are orthonormal and span the directions that no level so far feels. Where the u of least
norm that meets a level is within the bounds, it is taken; else a quadratic program decides. The sizes of the bases are
those of a robot in general position, known when a kernel is made (`plan`): at a singularity, a direction that a level
loses stays with it, and is not given to the levels after it.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from multibody.geometry._arrays import matvec, transpose
from multibody.solvers import box_program as program
from multibody.solvers import cone_program
from multibody.solvers.box_program import Box
from multibody.solvers.cone_program import Cones, Held
from multibody.solvers.least_squares import across, complement, left_solution, row_factors, row_space, scale
from multibody.tracing.record.loop import loop

Array = NDArray[Any]
WITHIN = {np.dtype(np.float64): 1e-10, np.dtype(np.float32): 1e-5}
"""By how much a row may be past its bound, as a share of its value, or of 1."""
FLAT = {np.dtype(np.float64): 1e-6, np.dtype(np.float32): 1e-2}
"""The share of an objective below which what pressed rows leave of it is small: rounding errors are, beside it."""


class Bounds(NamedTuple):
    """C x <= upper, and the first rows >= lower; and what is in cones."""

    C: Array
    """(..., m, n)"""
    lower: Array
    """(..., k), k <= m"""
    upper: Array
    """(..., m)"""
    cones: Cones | None = None
    """Of x; where there are some, there are rows of the least normal forces, too."""

    @staticmethod
    def none(x: Array) -> "Bounds":
        """No bounds of x."""
        return Bounds(np.zeros((*x.shape[:-1], 0, x.shape[-1]), x.dtype), x[..., :0], x[..., :0])

    def scaled(self) -> "Bounds":
        """The same, with rows of the length 1."""
        length = np.sqrt(np.sum(self.C * self.C, axis=-1))
        per = 1.0 / np.where(length > 0, length, np.ones_like(length))
        lower, cones = self.lower * per[..., : self.lower.shape[-1]], self.cones
        return Bounds(self.C * per[..., None], lower, self.upper * per, None if cones is None else cones.scaled())

    def around(self, x: Array) -> Box:
        """The bounds of C (x' - x), none of which x itself is beyond."""
        y = matvec(self.C, x)
        return Box(
            np.minimum(self.lower - y[..., : self.lower.shape[-1]], np.zeros_like(self.lower)),
            np.maximum(self.upper - y, np.zeros_like(self.upper)),
        )

    def hold(self, x: Array) -> Any:
        """(...), truth values: whether x is within, but for rounding."""
        y = matvec(self.C, x)
        past = np.maximum(y - self.upper, np.zeros_like(y))
        k = self.lower.shape[-1]
        past = np.concatenate([np.maximum(past[..., :k], self.lower - y[..., :k]), past[..., k:]], axis=-1)
        if self.cones is not None:
            side, height = self.cones.at(x)
            past, y = np.concatenate([past, side - height], axis=-1), np.concatenate([y, height], axis=-1)
        return np.max(past - WITHIN[np.dtype(x.dtype)] * np.maximum(1.0, np.abs(y)), axis=-1) <= 0

    def moved(self, x: Array) -> "Bounds":
        """The bounds, moved to x where it is past them."""
        y = matvec(self.C, x)
        return Bounds(self.C, np.minimum(self.lower, y[..., : self.lower.shape[-1]]), np.maximum(self.upper, y))

    def above(self, others: "Bounds") -> "Bounds":
        """These, all of whose rows have two sides, and others below them."""
        return Bounds(
            np.concatenate([self.C, others.C], axis=-2),
            np.concatenate([self.lower, others.lower], axis=-1),
            np.concatenate([self.upper, others.upper], axis=-1),
            others.cones,
        )


class Size(NamedTuple):
    """What a level takes and leaves, of a robot in general position."""

    rank: int
    """The largest number of directions that it decides."""
    left: int
    """The largest number of directions that are left after it."""
    least: int | None = None
    """The smallest number of directions that it decides, whatever contacts are active; None where some of those that
    levels before it leave may be zeros."""


class Point(NamedTuple):
    """Where the levels so far have led, and the directions in which the next may go."""

    x: Array
    """(..., n)"""
    Z: Array
    """(..., n, k): orthonormal columns, or zeros."""
    idle: int = 0
    """How many of them, the last, no level feels."""
    held: Held | None = None
    """What levels so far hold of forces in circular cones."""
    pressed: Array | None = None
    """(..., m): ones for rows of the bounds that levels so far press against, else zeros; None before the first."""
    residuals: tuple[Array, ...] = ()
    """(...) for each program so far: by how much it misses the conditions of optimality."""

    @staticmethod
    def free(x: Array, idle: int = 0) -> "Point":
        """A point from which all directions are open."""
        n = x.shape[-1]
        return Point(x, np.broadcast_to(np.eye(n, dtype=x.dtype), (*x.shape, n)), idle)

    def after(self, end: "End", x: Array | None = None) -> "Point":
        """The point to which a program leads, in the same directions."""
        return self._replace(
            x=end.x if x is None else x,
            held=end.held,
            pressed=end.pressed,
            residuals=(*self.residuals, end.residual),
        )


class End(NamedTuple):
    """What a program leads to."""

    x: Array
    pressed: Array
    """(..., m), of the bounds."""
    residual: Array
    held: Held | None


def level(A: Array, b: Array, natural: Array, point: Point, bounds: Bounds, size: Size) -> Point:
    """The x within bounds at which |A x - b| is least, and what is left.

    `natural`, (...), is the size that the entries of A have where contacts do not make them zero: what is 1e-10 of it
    is zero.
    """
    x, k = point.x, point.Z.shape[-1] - point.idle
    if not size.rank:
        return point._replace(residuals=(*point.residuals, np.zeros_like(x[..., 0])))
    Z, rest = point.Z[..., :k], point.Z[..., k:]
    per = 1.0 / natural
    A, missing = A * per[..., None, None], (b - matvec(A, x)) * per[..., None]
    B = np.matmul(A, Z)
    L, Q = row_factors(B, rank=size.rank, part_of=np.ones_like(A[..., :1, :1]))
    free = x + matvec(Z, matvec(transpose(Q), left_solution(L, missing)))
    left = _complement(Z, Q, size.left - point.idle) if size.least is None else complement(Q, size.least)
    left = np.matmul(Z, left)
    left = np.concatenate([left, rest], axis=-1) if point.idle else left
    if not bounds.upper.shape[-1]:
        return point._replace(x=free, Z=left, residuals=(*point.residuals, np.zeros_like(x[..., 0])))
    met, felt = bounds.hold(free), np.matmul(L, Q)
    if point.idle:
        felt = np.concatenate([felt, np.zeros((*felt.shape[:-1], point.idle), felt.dtype)], axis=-1)
    end = _best(felt, missing, point, bounds, met)
    return point.after(end, np.where(met[..., None], free, end.x))._replace(Z=left)


def closest(A: Array, b: Array, point: Point, bounds: Bounds, skip: Any) -> End:
    """The x within bounds at which |A x - b| is least, where it is not skipped."""
    per = 1.0 / scale(A)
    A, missing = A * per[..., None, None], (b - matvec(A, point.x)) * per[..., None]
    return _best(np.matmul(A, point.Z), missing, point, bounds, skip)


def least(point: Point, bounds: Bounds) -> Point:
    """The x of least norm within bounds."""
    x, Z = point.x, point.Z
    zero = np.zeros_like(x[..., 0])
    if not Z.shape[-1]:
        return point._replace(residuals=(*point.residuals, zero))
    g = matvec(transpose(Z), x)
    free = x - matvec(Z, g)
    if not bounds.upper.shape[-1]:
        return point._replace(x=free, residuals=(*point.residuals, zero))
    met = bounds.hold(free)
    one = np.broadcast_to(np.eye(Z.shape[-1], dtype=x.dtype), (*g.shape, Z.shape[-1]))

    def task(x: Array, g: Array) -> Task:
        return Task(g[..., None, :], lambda g: (one, g[..., 0, :]), np.matmul(bounds.C, Z), bounds.around(x))

    end = _end(task, (g,), bounds, point, met, sharp=False)
    return point.after(end, np.where(met[..., None], free, end.x))


def nearest(limits: Bounds, point: Point, bounds: Bounds) -> Point:
    """The x within bounds that is beyond limits, whose rows have two sides, by the least squares.

    Slacks w of the limits are unknowns beside u: L (x + Z u) + w is within them, and |w| is least. The start is the w
    by which x itself is beyond them. Of the point, rows that are pressed are then those of the limits and the bounds.
    """
    x, Z = point.x, point.Z
    met = limits.hold(x)
    k, m = Z.shape[-1], limits.C.shape[-2]
    H = np.broadcast_to(np.diag([0.0] * k + [1.0] * m).astype(x.dtype), (*x.shape[:-1], k + m, k + m))
    if point.pressed is not None:
        point = point._replace(pressed=np.concatenate([np.zeros_like(limits.lower), point.pressed], axis=-1))

    def task(x: Array) -> Task:
        G = _block(
            [
                [np.matmul(limits.C, Z), np.broadcast_to(np.eye(m, dtype=x.dtype), (*x.shape[:-1], m, m))],
                [np.matmul(bounds.C, Z), np.zeros((*bounds.C.shape[:-1], m), x.dtype)],
            ]
        )
        y, own = matvec(limits.C, x), bounds.around(x)
        w = np.minimum(limits.upper - y, 0.0) + np.maximum(limits.lower - y, 0.0)
        box = Box(
            np.concatenate([np.minimum(limits.lower - y - w, 0.0), own.lower], axis=-1),
            np.concatenate([np.maximum(limits.upper - y - w, 0.0), own.upper], axis=-1),
        )
        g = np.concatenate([np.zeros_like(Z[..., 0, :]), w], axis=-1)
        return Task(np.zeros_like(G[..., :0, :]), lambda _: (H, g), G, box)

    end = _end(task, (), limits.above(bounds), point, met)
    return point.after(end, np.where(met[..., None], x, end.x))


def _block(lines: list[list[Array]]) -> Array:
    return np.concatenate([np.concatenate(line, axis=-1) for line in lines], axis=-2)


def _best(B: Array, missing: Array, point: Point, bounds: Bounds, skip: Any) -> End:
    """The x within bounds at which |B u - missing| is least."""

    def task(x: Array, B: Array, missing: Array) -> Task:
        def objective(B: Array) -> tuple[Array, Array]:
            return np.matmul(transpose(B), B), -matvec(transpose(B), missing)

        return Task(B, objective, np.matmul(bounds.C, point.Z), bounds.around(x))

    return _end(task, (B, missing), bounds, point, skip)


class Task(NamedTuple):
    """A program from a point, of whose unknowns the first are along the directions of the point."""

    own: Array
    """(..., r, n): the matrix that makes the objective."""
    objective: Callable[[Array], tuple[Array, Array]]
    """H and g, of this matrix."""
    G: Array
    """(..., m, n), the rows of the box."""
    box: Box
    """Their bounds."""


def _end(
    task: Callable[..., Task], given: tuple[Array, ...], bounds: Bounds, point: Point, skip: Any, *, sharp: bool = True
) -> End:
    """Where a program leads from a point.

    Without circular cones all of it is in a loop of one round or none: what a round needs is carried, so that it is not
    prepared where all samples skip it.

    Args:
        task: of x, and of what else is given.
        given: arrays.
        bounds: as many rows as the task has.
        point: from where.
        skip: (...), truth values: samples whose solution is not wanted.
        sharp: whether others follow, for which it matters what is pressed.
    """
    if bounds.cones is not None:
        return _solved(task(point.x, *given), bounds.cones, point, skip, sharp=sharp)
    pressed = np.zeros_like(bounds.upper) if point.pressed is None else point.pressed

    def once(carry: tuple[Array, ...]) -> tuple[Array, ...]:
        x, pressed, _, *given = carry
        at = point._replace(x=x, pressed=None if point.pressed is None else pressed)
        end = _solved(task(x, *given), None, at, skip, sharp=sharp)
        return end.x, end.pressed, end.residual, *given

    x, pressed, residual, *_ = loop(1, once, (point.x, pressed, pressed[..., 0], *given), until=lambda _: skip)
    return End(x, pressed, np.where(skip, np.zeros_like(residual), residual), None)


def _solved(task: Task, cones: Cones | None, point: Point, skip: Any, *, sharp: bool) -> End:
    """The end of a program.

    Rows that levels before press against stay where they are: all x that are as good for these levels have them there.
    Taken for bounds, they would leave the set without an inside.
    """
    own, objective, G, box = task
    x, rows, none = point.x, G.shape[-2], np.zeros_like(box.upper)
    Z = np.concatenate([point.Z, np.zeros((*x.shape, G.shape[-1] - point.Z.shape[-1]), x.dtype)], axis=-1)
    pressed, inner, flat = point.pressed, None, None
    if cones is not None:
        around = cones.around(x, point.held, Z)
        inner, ones = around.cones, np.ones_like(around.G[..., 0])
        if ones.shape[-1]:
            G = np.concatenate([around.G, G], axis=-2)
            pressed = np.concatenate([ones, none if pressed is None else pressed], axis=-1)
            box = Box(np.concatenate([-ones, box.lower], axis=-1), np.concatenate([ones, box.upper], axis=-1))
    if pressed is not None:
        flat = FLAT[np.dtype(x.dtype)] * program.steepness(*objective(own))
        parts = [Z, own] if inner is None else [Z, own, inner.K]
        G, every = across(pressed, G, np.concatenate(parts, axis=-2), Z.shape[-2])
        first, last = Z.shape[-2], Z.shape[-2] + own.shape[-2]
        Z, own = every[..., :first, :], every[..., first:last, :]
        inner = None if inner is None else Cones(every[..., last:, :], inner.k)
        fixed, one, two = pressed > 0, np.ones_like(pressed), box.lower.shape[-1]
        box = Box(np.where(fixed[..., :two], -one[..., :two], box.lower), np.where(fixed, one, box.upper))
    H, g = objective(own)
    if inner is None or cones is None:
        minimum, held = program.minimiser(H, g, G, box, skip, flat, sharp=sharp), None
    else:
        minimum, edge, tip = cone_program.minimiser(H, g, G, box, inner, skip, flat)
        held = Held(cones.directions(x + matvec(Z, minimum.u)), edge, tip)
        held = held if point.held is None else point.held.with_(held)
    before = none if pressed is None else pressed[..., -rows:]
    pressed = np.where(skip[..., None], before, np.maximum(minimum.pressed[..., -rows:], before)) if sharp else before
    residual = np.where(skip, np.zeros_like(minimum.residual), minimum.residual)
    return End(x + matvec(Z, minimum.u), pressed, residual, held)


def _complement(Z: Array, Q: Array, left: int) -> Array:
    """(..., k, left): orthonormal columns, or zeros, of directions of Z that rows of Q, (..., r, k), do not feel."""
    k = Q.shape[-1]
    there = np.sum(Z * Z, axis=-2)  # ones, and zeros for directions that are none
    one = np.broadcast_to(np.eye(k, dtype=Q.dtype), (*Q.shape[:-2], k, k))
    N = there[..., None] * one - np.matmul(transpose(Q), Q)
    return transpose(row_space(N, rank=left, part_of=one)) if left else N[..., :0]
