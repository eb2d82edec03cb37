"""The inertia of a body whose numbers differ between samples, or are traced."""

from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from multibody.geometry import SpatialInertia, Twist, Wrench
from multibody.geometry._arrays import block_matrix, eye_like, matrix, matvec
from multibody.geometry.operators import cross3, hat3

INERTIAL = 10
"""Numbers of the inertia of a body: m, m c, and Ixx, Ixy, Iyy, Ixz, Iyz, Izz about its origin."""


@dataclass(frozen=True, eq=False)
class ParametricInertia:
    """The inertia of a body, (..., 10) numbers in which dynamics is linear, with what algorithms ask for.

    Dividing by masses costs operations, so these are not a `SpatialInertia`: its `from_parameters` makes one of them.

    >>> import numpy as np
    >>> ball = ParametricInertia(np.array([2.0, 0, 0, 0, 0.1, 0, 0.1, 0, 0, 0.1]))
    >>> np.diag(ball.matrix)
    array([2. , 2. , 2. , 0.1, 0.1, 0.1])
    >>> ball.parameters()
    array([2. , 0. , 0. , 0. , 0.1, 0. , 0.1, 0. , 0. , 0.1])
    """

    numbers: NDArray[Any]
    """m, m c, Ixx, Ixy, Iyy, Ixz, Iyz, Izz about the body's origin."""

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
    def com(self) -> NDArray[Any]:
        """(..., 3): the centre of mass in the body's frame, in m."""
        return SpatialInertia.from_parameters(self.numbers).com

    @property
    def inertia(self) -> NDArray[Any]:
        """(..., 3, 3): the rotational inertia about the centre of mass."""
        return SpatialInertia.from_parameters(self.numbers).inertia

    @property
    def matrix(self) -> NDArray[Any]:
        """(..., 6, 6): twist to momentum.  [MDN 67-69]"""
        m, offset = self.mass[..., None, None], hat3(self.first_moment)
        return block_matrix([[m * eye_like(self.first_moment, 3), -offset], [offset, self.about_origin]])

    def __matmul__(self, twist: Twist) -> Wrench:
        """The momentum at a twist."""
        linear = self.mass[..., None] * twist.linear + cross3(twist.angular, self.first_moment)
        angular = matvec(self.about_origin, twist.angular) + cross3(self.first_moment, twist.linear)
        return Wrench._trusted(linear, angular)

    def parameters(self) -> NDArray[Any]:
        """(..., 10)."""
        return self.numbers
