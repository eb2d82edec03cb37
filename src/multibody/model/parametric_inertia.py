"""The inertia of a body whose numbers differ between samples, or are traced."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from multibody.geometry._arrays import block_matrix, eye_like, matrix
from multibody.geometry.operators import hat3

INERTIAL = 10
"""Numbers of the inertia of a body: m, m c, and Ixx, Ixy, Iyy, Ixz, Iyz, Izz about its origin."""


class ParametricInertia:
    """The inertia of a body, (..., 10) numbers in which dynamics is linear, with what algorithms ask for.

    >>> ball = ParametricInertia(np.array([2.0, 0, 0, 0, 0.1, 0, 0.1, 0, 0, 0.1]))
    >>> np.diag(ball.matrix)
    array([2. , 2. , 2. , 0.1, 0.1, 0.1])
    >>> ball.parameters()
    array([2. , 0. , 0. , 0. , 0.1, 0. , 0.1, 0. , 0. , 0.1])
    """

    __slots__ = ("about_origin", "first_moment", "mass")

    def __init__(self, parameters: NDArray[Any]) -> None:
        p = parameters
        xx, xy, yy, xz, yz, zz = (p[..., k] for k in range(4, 10))
        self.mass = p[..., 0]
        self.first_moment = p[..., 1:4]
        self.about_origin = matrix([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])

    @property
    def matrix(self) -> NDArray[Any]:
        """(..., 6, 6): twist to momentum.  [MDN 67-69]"""
        m, offset = self.mass[..., None, None], hat3(self.first_moment)
        return block_matrix([[m * eye_like(self.first_moment, 3), -offset], [offset, self.about_origin]])

    def parameters(self) -> NDArray[Any]:
        """(..., 10)."""
        I = self.about_origin
        entries = [I[..., i, j] for i, j in ((0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2))]
        return np.stack([self.mass, *(self.first_moment[..., k] for k in range(3)), *entries], axis=-1)
