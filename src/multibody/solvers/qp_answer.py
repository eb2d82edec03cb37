"""The answer of a quadratic program: the solution, multipliers, residuals, and the names of violated rows."""

import math
from itertools import compress
from typing import Any, NamedTuple

from multibody.geometry._arrays import Array


class Multipliers(NamedTuple):
    """With H x + g + A^T equality + C^T inequality = 0."""

    equality: Array
    """(..., k)"""
    inequality: Array
    """(..., m): positive at upper bounds, negative at lower ones."""


class Residuals(NamedTuple):
    """The residuals of the conditions of optimality, and of each row."""

    stationarity: Array
    """(...): the largest entry of H x + g + A^T y + C^T z, relative to 1, g and H x."""
    feasibility: Array
    """(...): the largest violation of a row, relative to 1 and x."""
    complementarity: Array
    """(...): the largest product of a multiplier and the distance to its bound, relative to 1, g and H x."""
    equality: Array
    """(..., k): A x - b."""
    inequality: Array
    """(..., m): the violations of C x's bounds, positive above the upper ones."""
    violated: Array
    """(..., k + m): ones for violated rows of A and C, otherwise zeros.

    If rows contradict each other, these are the rows whose violations exceed 1e-8 max(1, |x|) of their lengths where
    the sum of squares is minimal; in single precision, 1e-4.
    """


class QPAnswer(NamedTuple):
    """The answer of `qp`."""

    x: Array
    """(..., n)"""
    multipliers: Multipliers
    residuals: Residuals
    status: Any
    """A `Status`, or an array of their numbers for a batch."""

    @property
    def violated(self) -> list[Any]:
        """The names of the rows that x does not meet, such as "A[0]" and "C[2]"; for
        a batch, a list a sample.
        """
        violated, k = self.residuals.violated, self.residuals.equality.shape[-1]
        rows = [f"A[{row}]" for row in range(k)] + [f"C[{row}]" for row in range(violated.shape[-1] - k)]
        names: list[Any] = [
            list(compress(rows, sample)) for sample in violated.reshape(math.prod(self.x.shape[:-1]), len(rows))
        ]
        for axis in reversed(self.x.shape[1:-1]):
            names = [names[k : k + axis] for k in range(0, len(names), axis)]
        return names if self.x.ndim > 1 else names[0]
