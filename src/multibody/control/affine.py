"""Affine maps of unknowns: torques, forces and accelerations, and the rows of limits on them."""

from typing import NamedTuple

import numpy as np

from multibody.geometry._arrays import Array, matvec


class Affine(NamedTuple):
    """The map matrix x + offset of unknowns x."""

    matrix: Array
    """(..., m, n)"""
    offset: Array
    """(..., m)"""

    def at(self, x: Array) -> Array:
        """(..., m): the value at x."""
        return matvec(self.matrix, x) + self.offset

    def transform(self, R: Array) -> "Affine":
        """R times the map, for rows (..., k, m)."""
        return Affine(np.matmul(R, self.matrix), matvec(R, self.offset))

    def compose(self, inner: "Affine") -> "Affine":
        """The composition: this map of the value of another one."""
        return Affine(np.matmul(self.matrix, inner.matrix), matvec(self.matrix, inner.offset) + self.offset)
