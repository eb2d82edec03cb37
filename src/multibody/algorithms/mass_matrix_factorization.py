"""The factorization M = L^T D L (an LDL^T with reversed order) of a mass matrix, with the sparsity of the tree.

Eliminating velocities from the last to the first causes no fill-in: L has an entry only if one velocity's joint carries
the other's. The unit diagonal of L is not stored. Dense matrices are factored in `tracing.matrices`.
"""

from collections.abc import Callable
from copy import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multibody.algorithms.velocity_blocks import Entries, stack


class Factors:
    """The factors of a symmetric matrix given by its upper entries (r, c), r ≤ c; absent ones are zero."""

    def __init__(self, upper: Entries, n: int) -> None:
        H = dict(upper)
        self.n = n
        self.above: list[list[int]] = [[] for _ in range(n)]  # of each velocity, those of the joints that carry it
        self.L: Entries = {}
        self.D: list[NDArray[Any]] = [np.ones(())] * n
        self.inverse = list(self.D)
        for c in reversed(range(n)):
            rows = [r for r in range(c) if (r, c) in H]
            self.above[c] = rows
            self.D[c], self.inverse[c] = H[c, c], 1 / H[c, c]
            for r in rows:
                self.L[c, r] = H[r, c] * self.inverse[c]
            for k, r in enumerate(rows):
                for s in rows[: k + 1]:
                    change = self.L[c, r] * H[s, c]
                    H[s, r] = H[s, r] - change if (s, r) in H else -change

    def per(self, unit: float) -> "Factors":
        """The factors of M / unit."""
        factors = copy(self)
        factors.D, factors.inverse = [d / unit for d in self.D], [unit * d for d in self.inverse]
        return factors

    def solve(self, x: list[Any]) -> list[Any]:
        """M^-1 x for entries x over the batch; None stands for zero."""
        return self.solve_DL(self.solve_LT(x))

    def solve_LT(self, x: list[Any]) -> list[Any]:
        """The y with L^T y = x, None where x and the branches beyond are zero."""
        y = list(x)
        for c in reversed(range(self.n)):
            for r in self.above[c]:
                y[r] = _less(y[r], self.L[c, r], y[c])
        return y

    def solve_DL(self, y: list[Any]) -> list[Any]:
        """The z with D L z = y."""
        z = [None if value is None else value * d for value, d in zip(y, self.inverse, strict=True)]
        for c in range(self.n):
            for r in self.above[c]:
                z[c] = _less(z[c], self.L[c, r], z[r])
        return z

    def quadratic(self, x: NDArray[Any]) -> Any:
        """x^T M x, (...), for vectors (..., n)."""
        Lx = [x[..., c] + sum(self.L[c, r] * x[..., r] for r in self.above[c]) for c in range(self.n)]
        return sum(d * y * y for d, y in zip(self.D, Lx, strict=True))

    def solve_vector(self, x: NDArray[Any], batch: tuple[int, ...]) -> NDArray[Any]:
        """M^-1 x, (..., n), for vectors (..., n) that broadcast to a batch."""
        return self.vector(self.solve, x, batch)

    def vector(self, solve: Callable[[list[Any]], list[Any]], x: NDArray[Any], batch: tuple[int, ...]) -> NDArray[Any]:
        """Apply `solve`, `solve_LT` or `solve_DL` to vectors (..., n) that broadcast to a batch."""
        parts = solve([np.broadcast_to(x[..., k], batch) for k in range(self.n)])
        return stack([np.broadcast_to(part, batch) for part in parts], -1, (*batch, 0), x)


class HalfSolve:
    """Z = L^-T R^T of rows R, (..., r, n): R M^-1 R^T = Z^T D^-1 Z, and Z has the sparsity of the branches."""

    def __init__(self, factors: Factors, R: NDArray[Any], batch: tuple[int, ...]) -> None:
        self.factors, self.batch = factors, batch
        self.Z = np.stack([self.solve_LT(R[..., k, :]) for k in range(R.shape[-2])], axis=-1)
        self.D_inv = stack([np.broadcast_to(d, batch) for d in factors.inverse], -1, (*batch, 0), R)
        """(..., n): the diagonal of D^-1."""

    @property
    def M_inv_R_T(self) -> NDArray[Any]:
        """M^-1 R^T, (..., n, r)."""
        return self.solve_DL_columns(self.Z)

    def solve_LT(self, x: NDArray[Any]) -> NDArray[Any]:
        """L^-T x, (..., n)."""
        return self.factors.vector(self.factors.solve_LT, x, self.batch)

    def solve_DL(self, y: NDArray[Any]) -> NDArray[Any]:
        """L^-1 D^-1 y, (..., n): M^-1 R^T x for y = Z x."""
        return self.factors.vector(self.factors.solve_DL, y, self.batch)

    def solve_DL_columns(self, Y: NDArray[Any]) -> NDArray[Any]:
        """L^-1 D^-1 Y, (..., n, k): M^-1 R^T X for Y = Z X."""
        return np.stack([self.solve_DL(Y[..., :, k]) for k in range(Y.shape[-1])], axis=-1)


def _less(x: Any, factor: NDArray[Any], y: Any) -> Any:
    """x - factor y."""
    if y is None:
        return x
    return -(factor * y) if x is None else x - factor * y
