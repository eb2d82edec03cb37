"""The inertia of one or several bodies in additive form: mass, first moment, rotational inertia about the origin."""

from typing import Any, NamedTuple

from numpy.typing import NDArray

from multibody.geometry import Pose, SpatialInertia, Twist, Wrench
from multibody.geometry._arrays import block_matrix, congruence, dot, eye_like, matvec, mirror_upper, read_only
from multibody.geometry.inertia import inertial_parameters, moments_about_origin
from multibody.geometry.operators import cross3, hat3

INERTIAL = 10
"""Inertial parameters of a body: m, m c, and Ixx, Ixy, Iyy, Ixz, Iyz, Izz about its origin."""


class CompositeInertia(NamedTuple):
    """m, m c and I about the frame's origin: the form in which inertias add and dynamics is linear.  [MDN 68-69]

    It has no division by masses, unlike a `SpatialInertia`. Algorithms sum it over subtrees; `Tree.with_values` builds
    it from inertial parameters, which may be batches or traced.

    >>> import numpy as np
    >>> ball = CompositeInertia.from_parameters(np.array([2.0, 0, 0, 0, 0.1, 0, 0.1, 0, 0, 0.1]))
    >>> np.diag(ball.matrix)
    array([2. , 2. , 2. , 0.1, 0.1, 0.1])
    >>> ball.parameters()
    array([2. , 0. , 0. , 0. , 0.1, 0. , 0.1, 0. , 0. , 0.1])
    """

    mass: NDArray[Any]
    """(...) in kg."""
    first_moment: NDArray[Any]
    """(..., 3): the mass times the centre of mass, in kg m."""
    about_origin: NDArray[Any]
    """(..., 3, 3): the rotational inertia about the frame's origin, in kg m²."""

    @staticmethod
    def of(inertia: "SpatialInertia | CompositeInertia") -> "CompositeInertia":
        """The inertia of a body."""
        return CompositeInertia(inertia.mass, inertia.first_moment, inertia.about_origin)

    @staticmethod
    def from_parameters(parameters: NDArray[Any]) -> "CompositeInertia":
        """From (..., 10) inertial parameters."""
        return CompositeInertia(parameters[..., 0], parameters[..., 1:4], read_only(moments_about_origin(parameters)))

    def parameters(self) -> NDArray[Any]:
        """(..., 10) inertial parameters."""
        return inertial_parameters(*self)

    @property
    def com(self) -> NDArray[Any]:
        """(..., 3): the centre of mass in the frame, in m."""
        return SpatialInertia.from_parameters(self.parameters()).com

    @property
    def inertia(self) -> NDArray[Any]:
        """(..., 3, 3): the rotational inertia about the centre of mass."""
        return SpatialInertia.from_parameters(self.parameters()).inertia

    @property
    def matrix(self) -> NDArray[Any]:
        """(..., 6, 6): twist to momentum.  [MDN 67-69]"""
        m, offset = self.mass[..., None, None], hat3(self.first_moment)
        return block_matrix([[m * eye_like(self.first_moment, 3), -offset], [offset, self.about_origin]])

    def __add__(self, other: Any) -> "CompositeInertia":
        """The inertia of both together."""
        return CompositeInertia(*(a + b for a, b in zip(self, other, strict=True)))

    def __matmul__(self, twist: Twist) -> Wrench:
        """The momentum at a twist, about the frame's origin.  [RD 3.19-3.20; QT 21]"""
        linear = self.mass[..., None] * twist.linear + cross3(twist.angular, self.first_moment)
        angular = matvec(self.about_origin, twist.angular) + cross3(self.first_moment, twist.linear)
        return Wrench._trusted(linear, angular)

    def in_frame(self, A_H_B: Pose) -> "CompositeInertia":
        """The inertia, given in frame B, in frame A.  [MDN 68-69]"""
        R, p, m = A_H_B.rotation.matrix, A_H_B.position, self.mass
        turned = A_H_B.rotation @ self.first_moment
        first = turned + m[..., None] * p
        # I about A's origin: R I R^T + [(p·h + h'·p) 1 - p h^T - h' p^T], h before and h' after the shift
        shift = dot(p, turned) + dot(first, p)
        moved = congruence(R, self.about_origin) + shift[..., None, None] * eye_like(R, 3)
        outer = mirror_upper(p[..., :, None] * turned[..., None, :] + first[..., :, None] * p[..., None, :])
        return CompositeInertia(m, first, moved - outer)
