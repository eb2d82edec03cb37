"""Scaling of quadratic programs: units of unknowns, lengths of rows, the size of the objective.

By default, the columns of H and of rows get one size (`column_units`), rows the length 1 (`row_lengths`), and the
objective the size 1 (`inverse_size`). Residuals are then relative to the largest terms. If the terms of some unknowns
are far smaller (`has_small_terms`), the solution is refined with residuals relative to the terms of each unknown
(`equilibrate`), and judged so (`own_residual`).
"""

from typing import Any, NamedTuple

import numpy as np

from multibody.geometry._arrays import Array, matvec, positive_or_one, transpose
from multibody.solvers.program import Bounds

ZERO_ROW = {np.dtype(np.float64): 1e-14, np.dtype(np.float32): 1e-8}
"""The length, relative to the longest row, up to which a row is the rounding error of zero."""
MIN_COLUMN_SIZE = 1e-6
"""The size of a column, relative to the largest, below which its unknown gets no unit of its own."""
MAX_UNIT = 1e8
"""The largest unit of an unknown whose terms are small, relative to that of others."""
INFINITE_BOUND = 1e20
"""The size from which a bound counts as none."""
MIN_TERM_RATIO = 1e-2
"""The ratio of terms of gradients from which residuals are relative to those of each unknown."""
MAX_OWN_RESIDUAL = 1e-9
"""The residual relative to the terms of an unknown from which a solution is refined."""
MIN_TERM = 0.1
"""The error of an unknown that counts as its own, relative to the largest unknown or 1."""


class Weights(NamedTuple):
    """The factors on residuals of unknowns and sides whose terms are far below the largest ones; the others have 1."""

    gradient: Array
    """(..., n)"""
    unit: Array
    """(..., n): of x."""
    gap: Array
    """(..., sides): of primal residuals and slacks."""
    product: Array
    """(..., sides): of s z."""
    per_gap: Array
    per_product: Array

    @staticmethod
    def equal(n: int, sides: int, dtype: Any) -> "Weights":
        """Ones."""
        x, s = np.ones(n, dtype), np.ones(sides, dtype)
        return Weights(x, x, s, s, s, s)


def gradient_size(H: Array, g: Array) -> Array:
    """(...): the size of an objective, the largest entry of g or of the diagonal of H."""
    return np.maximum(np.max(np.abs(g), axis=-1), np.max(np.diagonal(H, axis1=-2, axis2=-1), axis=-1))


def inverse_size(H: Array, g: Array, flat: Array | None = None) -> Array:
    """(...): the factor that gives an objective the size 1; `flat` is the smallest size."""
    size = gradient_size(H, g)
    size = size if flat is None else np.maximum(size, flat)
    return 1.0 / positive_or_one(size)


def column_units(H: Array, C: Array) -> Array:
    """(..., n): units of x, in which no column of H and of rows of the length 1 is much smaller than others."""
    diagonal = np.diagonal(H, axis1=-2, axis2=-1)
    largest = np.max(diagonal, axis=-1, keepdims=True)
    size = np.sqrt(np.maximum(diagonal, 0.0) / positive_or_one(largest))
    return 1.0 / np.maximum(np.maximum(size, np.max(np.abs(C), axis=-2)), MIN_COLUMN_SIZE)


def equilibrate(
    H: Array, g: Array, C: Array, terms: Array, units: Array, lengths: Array, equalities: int
) -> tuple[Array, Array, Weights]:
    """Units, lengths and weights with which residuals of unknowns and rows are relative to their own terms.

    Units balance x and the gradient: t = (terms)^-1/2 takes as much from the one as it adds to the other.
    """
    own, columns, one = terms * units, np.abs(C) * (units[..., None, :] / lengths[..., None]), np.ones_like(terms)
    some, largest = own > 0, np.max(own, axis=-1, keepdims=True)
    own = np.where(some, own, one)
    t = np.where(some, np.minimum(np.sqrt(largest / own), MAX_UNIT), one)
    size = 1.0 / inverse_size(H * (units * t * t * units)[..., None, :], g * units * t)[..., None]
    gradient = np.where(some, np.maximum(size / (own * t), 1.0), one)
    longer = np.maximum(np.max(columns * t[..., None, :], axis=-1), 1.0)
    product = np.maximum(np.max(columns * (t * gradient)[..., None, :], axis=-1), 1.0)
    gap, product, per_gap, per_product = (
        np.concatenate([x, x[..., equalities:]], axis=-1) for x in (longer, product, 1.0 / longer, 1.0 / product)
    )
    return units * t, lengths * longer, Weights(gradient, t, gap, product, per_gap, per_product)


def row_lengths(C: Array, lower: Array, upper: Array) -> Array:
    """(..., m): the lengths of rows; for rows of rounding errors, the sizes of their bounds."""
    lengths = np.sqrt(np.sum(C * C, axis=-1))
    low, high = (np.where(np.abs(side) < INFINITE_BOUND, np.abs(side), np.zeros_like(side)) for side in (lower, upper))
    size = positive_or_one(np.where(low * high > 0, np.minimum(low, high), np.maximum(low, high)))
    zero = ZERO_ROW[np.dtype(C.dtype)] * np.max(lengths, axis=-1, keepdims=True)
    return np.where(lengths > zero, lengths, size)


def gradient_terms(H: Array, g: Array, R: Array, x: Array, forces: Array) -> Array:
    """(..., n): the largest of the terms that each entry of the gradient H x + g + R^T forces is the sum of.

    Unknowns that are not in the objective have terms of the size of its largest.
    """
    length = np.maximum(1.0, np.max(np.abs(x), axis=-1, keepdims=True))
    own = np.maximum(np.abs(g), MIN_TERM * length * np.abs(np.diagonal(H, axis1=-2, axis2=-1)))
    own = np.maximum(own, np.max(np.abs(H) * np.abs(x)[..., None, :], axis=-1))
    terms = np.maximum(own, np.max(np.abs(R * forces[..., None]), axis=-2)) if R.shape[-2] else own
    return np.where(own > 0, terms, np.max(own, axis=-1, keepdims=True))


def own_residual(H: Array, g: Array, bounds: Bounds, x: Array, forces: Array) -> Array:
    """(...): the largest residual of stationarity and complementarity, relative to the terms of each unknown.

    It does not depend on the units of unknowns, apart from the accuracy of x, which is relative to the largest or 1.

    Args:
        H: (..., n, n).
        g: (..., n).
        bounds: two-sided, of m > 0 rows.
        x: (..., n).
        forces: (..., m), multipliers of the rows.
    """
    R, lower, upper, _ = bounds
    terms, y = gradient_terms(H, g, R, x, forces), matvec(R, x)
    per = np.where(terms > 0, 1.0 / np.where(terms > 0, terms, 1.0), 0.0)
    gradient = matvec(H, x) + g + matvec(transpose(R), forces)
    side = np.where(forces > 0, upper - y, np.where(forces < 0, y - lower, np.zeros_like(y)))
    products = np.abs(np.maximum(side, 0.0) * forces) / np.maximum(1.0, np.sqrt(np.sum(R * R, axis=-1)))
    largest = np.max(products[..., None] * np.abs(R) * per[..., None, :], axis=(-1, -2))
    return np.maximum(np.max(np.abs(gradient * per), axis=-1), largest / np.maximum(1.0, np.max(np.abs(x), axis=-1)))


def has_small_terms(H: Array, g: Array, x: Array) -> Any:
    """(...), truth values: whether terms of some unknown of the objective are far below the largest."""
    length = np.maximum(1.0, np.max(np.abs(x), axis=-1, keepdims=True))
    own = np.maximum(np.abs(g), MIN_TERM * length * np.abs(np.diagonal(H, axis1=-2, axis2=-1)))
    largest = np.max(own, axis=-1)
    return np.min(np.where(own > 0, own, largest[..., None]), axis=-1) < MIN_TERM_RATIO * largest
