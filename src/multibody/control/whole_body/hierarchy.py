"""Levels within bounds, one after the other, in bases of what those before leave.  [RD 3.103-3.108, §3.10.1, §3.10.3]

x = x_0 + Z u: the columns of Z are orthonormal and span the directions that no level so far feels. Where the u of least
norm that meets a level is within the bounds, it is taken; else a quadratic program decides. The sizes of the bases are
those of a robot in general position, known when a kernel is made (`plan`): at a singularity, a direction that a level
loses stays with it, and is not given to the levels after it.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from multibody.control.orthogonal import complement, left_solution, row_space, scale
from multibody.control.whole_body import cone_program, program
from multibody.control.whole_body.cone_program import Cones, Held
from multibody.control.whole_body.program import Box
from multibody.geometry._arrays import matvec, transpose
from multibody.tracing.loop import loop

Array = NDArray[Any]
WITHIN = {np.dtype(np.float64): 1e-10, np.dtype(np.float32): 1e-5}
"""By how much a row may be past its bound, as a share of its value, or of 1."""


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

    def under(self, others: "Bounds") -> "Bounds":
        """Others, all of whose rows have two sides, and these."""
        return Bounds(
            np.concatenate([others.C, self.C], axis=-2),
            np.concatenate([others.lower, self.lower], axis=-1),
            np.concatenate([others.upper, self.upper], axis=-1),
            self.cones,
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

    @staticmethod
    def free(x: Array, idle: int = 0) -> "Point":
        """A point from which all directions are open."""
        n = x.shape[-1]
        return Point(x, np.broadcast_to(np.eye(n, dtype=x.dtype), (*x.shape, n)), idle)


def level(A: Array, b: Array, natural: Array, point: Point, bounds: Bounds, size: Size) -> Point:
    """The x within bounds at which |A x - b| is least, and what is left.

    `natural`, (...), is the size that the entries of A have where contacts do not make them zero: what is 1e-10 of it
    is zero.
    """
    if not size.rank:
        return point
    x, k = point.x, point.Z.shape[-1] - point.idle
    Z, rest = point.Z[..., :k], point.Z[..., k:]
    per = 1.0 / natural
    A, missing = A * per[..., None, None], (b - matvec(A, x)) * per[..., None]
    B = np.matmul(A, Z)
    Q = row_space(B, rank=size.rank, part_of=np.ones_like(A[..., :1, :1]))
    L = np.matmul(B, transpose(Q))
    free = x + matvec(Z, matvec(transpose(Q), left_solution(L, missing)))
    left = _complement(Z, Q, size.left - point.idle) if size.least is None else complement(Q, size.least)
    left = np.matmul(Z, left)
    left = np.concatenate([left, rest], axis=-1) if point.idle else left
    if not bounds.upper.shape[-1]:
        return Point(free, left, point.idle)
    met, felt = bounds.hold(free), np.matmul(L, Q)
    if point.idle:
        felt = np.concatenate([felt, np.zeros((*felt.shape[:-1], point.idle), felt.dtype)], axis=-1)
    best, held = _best(felt, missing, point, bounds, met)
    return Point(np.where(met[..., None], free, best), left, point.idle, held)


def closest(A: Array, b: Array, point: Point, bounds: Bounds, skip: Any) -> Array:
    """The x within bounds at which |A x - b| is least, where it is not skipped."""
    per = 1.0 / scale(A)
    A, missing = A * per[..., None, None], (b - matvec(A, point.x)) * per[..., None]
    return _best(np.matmul(A, point.Z), missing, point, bounds, skip)[0]


def least(point: Point, bounds: Bounds) -> Array:
    """The x of least norm within bounds."""
    x, Z = point.x, point.Z
    if not Z.shape[-1]:
        return x
    g = matvec(transpose(Z), x)
    free = x - matvec(Z, g)
    if not bounds.upper.shape[-1]:
        return free
    met = bounds.hold(free)
    H = np.broadcast_to(np.eye(Z.shape[-1], dtype=x.dtype), (*g.shape, Z.shape[-1]))
    u, _ = _minimiser(H, g, np.matmul(bounds.C, Z), bounds.around(x), bounds.cones, point, met)
    return np.where(met[..., None], free, x + matvec(Z, u))


def nearest(limits: Bounds, point: Point, bounds: Bounds) -> Point:
    """The x within bounds that is beyond limits, whose rows have two sides, by the least squares.

    Slacks w of the limits are unknowns beside u: L (x + Z u) + w is within them, and |w| is least.
    """
    x, Z = point.x, point.Z
    met = limits.hold(x)
    k, m = Z.shape[-1], limits.C.shape[-2]
    G = _block(
        [
            [np.matmul(limits.C, Z), np.broadcast_to(np.eye(m, dtype=x.dtype), (*x.shape[:-1], m, m))],
            [np.matmul(bounds.C, Z), np.zeros((*bounds.C.shape[:-1], m), x.dtype)],
        ]
    )
    H = np.broadcast_to(np.diag([0.0] * k + [1.0] * m).astype(x.dtype), (*x.shape[:-1], k + m, k + m))
    y, own = matvec(limits.C, x), bounds.around(x)
    box = Box(
        np.concatenate([limits.lower - y, own.lower], axis=-1), np.concatenate([limits.upper - y, own.upper], axis=-1)
    )
    u, held = _minimiser(H, np.zeros_like(G[..., 0, :]), G, box, bounds.cones, point, met)
    return Point(np.where(met[..., None], x, x + matvec(Z, u[..., :k])), Z, point.idle, held)


def _block(lines: list[list[Array]]) -> Array:
    return np.concatenate([np.concatenate(line, axis=-1) for line in lines], axis=-2)


def _best(B: Array, missing: Array, point: Point, bounds: Bounds, skip: Any) -> tuple[Array, Held | None]:
    """The x within bounds at which |B u - missing| is least, and what it holds.

    Without circular cones all of it is in a loop of one round or none: what a round needs is carried, so that it is not
    prepared where all samples skip it.
    """

    def better(carry: tuple[Array, ...]) -> tuple[Array, ...]:
        x, B, missing = carry
        H, g = np.matmul(transpose(B), B), -matvec(transpose(B), missing)
        u = program.minimiser(H, g, np.matmul(bounds.C, point.Z), bounds.around(x), skip)
        return x + matvec(point.Z, u), B, missing

    if bounds.cones is None:
        return loop(1, better, (point.x, B, missing), until=lambda _: skip)[0], None
    H, g = np.matmul(transpose(B), B), -matvec(transpose(B), missing)
    box = bounds.around(point.x)
    u, held = _minimiser(H, g, np.matmul(bounds.C, point.Z), box, bounds.cones, point, skip)
    return point.x + matvec(point.Z, u), held


def _minimiser(
    H: Array, g: Array, G: Array, box: Box, cones: Cones | None, point: Point, skip: Any
) -> tuple[Array, Held | None]:
    """The u of a program, of which the first are along the directions of a point, and cones do not feel the others."""
    if cones is None:
        return program.minimiser(H, g, G, box, skip), None
    others = np.zeros((*point.Z.shape[:-1], g.shape[-1] - point.Z.shape[-1]), point.Z.dtype)
    around = cones.around(point.x, point.held, np.concatenate([point.Z, others], axis=-1))
    G = np.concatenate([around.G, G], axis=-2)
    both = zip(around.box, box, strict=True)
    box = Box(*(np.concatenate([held, own], axis=-1) for held, own in both))
    u, edge, tip = cone_program.minimiser(H, g, G, box, around.cones, skip)
    x = point.x + matvec(point.Z, u[..., : point.Z.shape[-1]])
    held = Held(cones.directions(x), edge, tip)
    return u, held if point.held is None else point.held.with_(held)


def _complement(Z: Array, Q: Array, left: int) -> Array:
    """(..., k, left): orthonormal columns, or zeros, of directions of Z that rows of Q, (..., r, k), do not feel."""
    k = Q.shape[-1]
    there = np.sum(Z * Z, axis=-2)  # ones, and zeros for directions that are none
    one = np.broadcast_to(np.eye(k, dtype=Q.dtype), (*Q.shape[:-2], k, k))
    N = there[..., None] * one - np.matmul(transpose(Q), Q)
    return transpose(row_space(N, rank=left, part_of=one)) if left else N[..., :0]
