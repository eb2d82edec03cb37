"""The inertia of a body whose numbers differ between samples, or are traced."""

from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from multibody.geometry._arrays import block_matrix, eye_like, is_traced, matrix
from multibody.geometry.operators import hat3

INERTIAL = 10
"""Numbers of the inertia of a body: m, m c, and Ixx, Ixy, Iyy, Ixz, Iyz, Izz about its origin."""


@dataclass(frozen=True, eq=False)
class ParametricInertia:
    """The inertia of a body, (..., 10) numbers in which dynamics is linear, with what algorithms ask for.

    >>> import numpy as np
    >>> ball = ParametricInertia(np.array([2.0, 0, 0, 0, 0.1, 0, 0.1, 0, 0, 0.1]))
    >>> np.diag(ball.matrix)
    array([2. , 2. , 2. , 0.1, 0.1, 0.1])
    >>> ball.parameters()
    array([2. , 0. , 0. , 0. , 0.1, 0. , 0.1, 0. , 0. , 0.1])
    """

    numbers: NDArray[Any]

    def __post_init__(self) -> None:
        if not is_traced(self.numbers):
            self.numbers.flags.writeable = False

    @property
    def mass(self) -> NDArray[Any]:
        """(...) in kg."""
        return self.numbers[..., 0]

    @property
    def first_moment(self) -> NDArray[Any]:
        """(..., 3): the mass times the centre of mass, in kg m."""
        return self.numbers[..., 1:4]

    @property
    def about_origin(self) -> NDArray[Any]:
        """(..., 3, 3): the rotational inertia about the body's origin."""
        xx, xy, yy, xz, yz, zz = (self.numbers[..., k] for k in range(4, INERTIAL))
        return matrix([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])

    @property
    def matrix(self) -> NDArray[Any]:
        """(..., 6, 6): twist to momentum.  [MDN 67-69]"""
        m, offset = self.mass[..., None, None], hat3(self.first_moment)
        return block_matrix([[m * eye_like(self.first_moment, 3), -offset], [offset, self.about_origin]])

    def parameters(self) -> NDArray[Any]:
        """(..., 10)."""
        return self.numbers
