"""The answer of a quadratic program: the solution, multipliers, residuals, and the names of violated rows."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
VIOLATED = {np.dtype(np.float64): 1e-6, np.dtype(np.float32): 1e-3}
"""The violation, relative to max(1, |x|), from which a row is named."""


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
        """The names of the rows that x does not meet, such as "A[0]" and "C[2]"; for a batch, a list a sample."""
        x = self.x.reshape(-1, self.x.shape[-1])
        limits = VIOLATED[x.dtype] * np.maximum(1.0, np.abs(x).max(axis=-1, initial=0.0))
        names: list[list[str]] = [[] for _ in x]
        for name, rows in (("A", self.residuals.equality), ("C", self.residuals.inequality)):
            for k, row in np.argwhere(np.abs(rows.reshape(len(x), -1)) > limits[:, None]):
                names[k].append(f"{name}[{row}]")
        for axis in reversed(self.x.shape[1:-1]):
            names = [names[k : k + axis] for k in range(0, len(names), axis)]  # type: ignore[misc]
        return names if self.x.ndim > 1 else names[0]
