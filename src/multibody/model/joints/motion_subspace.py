"""The motion subspace of a joint as a value."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from multibody.geometry import Twist, Wrench
from multibody.geometry._arrays import matvec, transpose


class Subspace:
    """i_S, (..., 6, n): its columns are twists, in the child's frame i, that a joint allows.  [From 58; From Def. 4.2]

    `S @ v` is the twist of a velocity (..., n), `S.project(f)` the generalized force S^T f of a wrench.
    """

    __array_ufunc__ = None
    __slots__ = ("matrix",)
    matrix: NDArray[Any]

    def __init__(self, matrix: NDArray[Any]) -> None:
        self.matrix = matrix

    def __matmul__(self, v: NDArray[Any]) -> Twist:
        """S v."""
        return Twist._trusted(matvec(self.matrix[..., :3, :], v), matvec(self.matrix[..., 3:, :], v))

    def project(self, f: Wrench) -> NDArray[Any]:
        """S^T f, (..., n)."""
        S_T = transpose(self.matrix)
        return matvec(S_T[..., :, :3], f.force) + matvec(S_T[..., :, 3:], f.torque)

    def scaled(self, ratio: float) -> "Subspace":
        """The subspace of a joint that moves `ratio` times as fast as its coordinate."""
        return Subspace(self.matrix * ratio)

    def column(self, k: int) -> Twist:
        """The k-th twist."""
        return Twist._trusted(self.matrix[..., :3, k], self.matrix[..., 3:, k])

    @staticmethod
    def constant(columns: NDArray[Any], like: NDArray[Any]) -> "Subspace":
        """A subspace (6, n) that does not depend on the coordinates, in their precision."""
        return Subspace(np.asarray(columns, dtype=like.dtype))
