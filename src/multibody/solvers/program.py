"""Quadratic programs as data: the program, its rows, its bounds, and the conditions of optimality."""

from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np

from multibody.geometry._arrays import Array, is_traced, matvec, positive_or_one, transpose
from multibody.solvers.cones import Cones

OPTIMALITY_TOLERANCE = {np.dtype(np.float64): 1e-8, np.dtype(np.float32): 1e-4}
"""The residual up to which a condition of optimality holds; violations are those of rows of the length 1, relative to
max(1, |x|)."""


class Status(IntEnum):
    """How a program ended."""

    SOLVED = 0
    """The conditions of optimality hold, to 1e-8, in single precision to 1e-4; rows by their lengths, where above 1.

    In double precision, stationarity and complementarity also hold relative to the terms of each unknown.
    """
    INFEASIBLE = 1
    """Rows contradict each other: x violates them least, and the rest is optimal."""
    UNBOUNDED = 2
    """The objective is unbounded below; x only meets the rows."""
    FAILED = 3
    """H is not convex, numbers are not finite, or too ill-conditioned for residuals to become small."""

    @staticmethod
    def of(numbers: Any) -> Any:
        """The status of one program, an array of numbers for a batch, or traced numbers."""
        if is_traced(numbers):
            return numbers
        return numbers.astype(np.int64) if np.ndim(numbers) else Status(int(numbers))


class Bounds(NamedTuple):
    """lower <= C x <= upper, and points of x within circular cones."""

    C: Array
    """(..., m, n)"""
    lower: Array
    """(..., k), k <= m: bounds of the first rows, -inf for none; the other rows have no lower bound."""
    upper: Array
    """(..., m)"""
    cones: Cones | None = None
    """In x. With cones, there are rows with the least normal forces, too."""

    @staticmethod
    def none(x: Array) -> "Bounds":
        """No bounds of x."""
        return Bounds(np.zeros((*x.shape[:-1], 0, x.shape[-1]), x.dtype), x[..., :0], x[..., :0])

    def lengths(self) -> Array:
        """(..., m): the lengths of the rows, 1 for a row of zeros."""
        return positive_or_one(np.sqrt(np.sum(self.C * self.C, axis=-1)))

    def normalized(self) -> "Bounds":
        """These bounds with rows of the length 1."""
        per = 1.0 / self.lengths()
        lower, cones = self.lower * per[..., : self.lower.shape[-1]], self.cones
        return Bounds(self.C * per[..., None], lower, self.upper * per, None if cones is None else cones.normalized())

    def along(self, x: Array, Z: Array) -> "Bounds":
        """The bounds of u in x + Z u, without cones; u = 0 meets them, even if x is outside."""
        C, y = np.matmul(self.C, Z), matvec(self.C, x)
        lower = np.minimum(self.lower - y[..., : self.lower.shape[-1]], np.zeros_like(self.lower))
        return Bounds(C, lower, np.maximum(self.upper - y, np.zeros_like(self.upper)))

    def excess(self, x: Array) -> Array:
        """(..., m): the signed distance of C x to the nearer bound, positive outside."""
        y, k = matvec(self.C, x), self.lower.shape[-1]
        above = y - self.upper
        return np.concatenate([np.maximum(above[..., :k], self.lower - y[..., :k]), above[..., k:]], axis=-1)

    def widened(self, x: Array) -> "Bounds":
        """These bounds, moved to x if x is outside, without cones."""
        y = matvec(self.C, x)
        return Bounds(self.C, np.minimum(self.lower, y[..., : self.lower.shape[-1]]), np.maximum(self.upper, y))

    def above(self, others: "Bounds") -> "Bounds":
        """These bounds, all two-sided, followed by others."""
        pairs = (self.lower, others.lower), (self.upper, others.upper)
        lower, upper = (np.concatenate(pair, axis=-1) for pair in pairs)
        return Bounds(np.concatenate([self.C, others.C], axis=-2), lower, upper, others.cones)


class Rows(NamedTuple):
    """Equations A x = b and inequalities lower <= C x <= upper, of one batch shape. Each may have no rows."""

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

    def stacked(self) -> Bounds:
        """All rows, equations first, as bounds."""
        return Bounds(self.A, self.b, self.b).above(Bounds(self.C, self.lower, self.upper))

    def slacks(self, x: Array) -> Array:
        """(..., k + m): A x - b, and the violation of C x's bounds, positive above the upper ones."""
        y = matvec(self.C, x)
        above, below = np.maximum(y - self.upper, 0.0), np.maximum(self.lower - y, 0.0)
        return np.concatenate([matvec(self.A, x) - self.b, np.where(above >= below, above, -below)], axis=-1)


class Program(NamedTuple):
    """Minimise x^T H x / 2 + g^T x subject to rows."""

    H: Array
    """(..., n, n), symmetric; its upper triangle is read."""
    g: Array
    """(..., n)"""
    rows: Rows


def residuals(program: Program, x: Array, multipliers: Array) -> Array:
    """(..., 3): the largest residuals of stationarity, feasibility and complementarity.

    Stationarity is H x + g + A^T y + C^T z, complementarity the products of z and distances to their bounds, both
    relative to 1, g and H x; feasibility is the violation of rows, relative to 1 and x.
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
