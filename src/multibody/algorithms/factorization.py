"""M = L^T D L of a mass matrix, without touching what the branches of the tree keep zero.

Eliminating velocities from the last to the first fills in nothing: L has an entry only where one velocity is of a
joint that carries the other's. L has ones on its diagonal, which are not kept.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from multibody.algorithms._parts import Entries, stacked


class Factors:
    """The factors of a symmetric matrix given by its upper entries (r, c), r ≤ c; absent ones are zero."""

    def __init__(self, upper: Entries, n: int) -> None:
        H = dict(upper)
        self.n = n
        self.above: list[list[int]] = [[] for _ in range(n)]  # of each velocity, those of the joints that carry it
        self.L: Entries = {}
        self.inverse: list[NDArray[Any]] = [np.ones(())] * n
        for c in reversed(range(n)):
            rows = [r for r in range(c) if (r, c) in H]
            self.above[c] = rows
            self.inverse[c] = 1 / H[c, c]
            for r in rows:
                self.L[c, r] = H[r, c] * self.inverse[c]
            for k, r in enumerate(rows):
                for s in rows[: k + 1]:
                    change = self.L[c, r] * H[s, c]
                    H[s, r] = H[s, r] - change if (s, r) in H else -change

    def solve(self, x: list[Any]) -> list[Any]:
        """M^-1 x for the numbers x over the batch; None stands for zero."""
        x = list(x)
        for c in reversed(range(self.n)):  # L^T y = x
            for r in self.above[c]:
                x[r] = _less(x[r], self.L[c, r], x[c])
        x = [None if value is None else value * d for value, d in zip(x, self.inverse, strict=True)]
        for c in range(self.n):  # L z = D^-1 y
            for r in self.above[c]:
                x[c] = _less(x[c], self.L[c, r], x[r])
        return x

    def solve_vector(self, x: NDArray[Any], batch: tuple[int, ...]) -> NDArray[Any]:
        """M^-1 x, (..., n), for vectors (..., n) that broadcast to a batch."""
        solved = self.solve([np.broadcast_to(x[..., k], batch) for k in range(self.n)])
        return stacked([np.broadcast_to(part, batch) for part in solved], -1, (*batch, 0), x)


def _less(x: Any, factor: NDArray[Any], y: Any) -> Any:
    """x - factor y."""
    if y is None:
        return x
    return -(factor * y) if x is None else x - factor * y
