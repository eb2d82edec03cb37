"""Twists as values: a linear and an angular velocity in one frame."""

from __future__ import annotations

from typing import Any, Self, overload

from numpy.typing import ArrayLike, NDArray

from multibody.errors import InputError
from multibody.geometry.operators import ad, cross3, cross6, cross6_dual, hat6
from multibody.geometry.pose import Pose
from multibody.geometry.public_api import public_methods
from multibody.geometry.spatial_vector import SpatialVector
from multibody.geometry.wrench import Wrench


@public_methods
class Twist(SpatialVector):
    """The twist C_v_AB of B relative to A, written in C, or a batch.  [MDN 20, 25, 32, §5, 5.2]

    The variable's name contains the frames. `A_H_B @ B_v` writes it in another frame
    [MDN 28, 33]. In one frame, C_v_AB + C_v_BD is C_v_AD, and -C_v_AB is C_v_BA
    [RD 2.71, 2.76; Kindr §Angular Velocity].

    >>> B_v_AB = Twist([1.0, 0.0, 0.0], [0.0, 0.0, 2.0])
    >>> Pose.identity() @ B_v_AB == B_v_AB
    True
    """

    __slots__ = ("linear", "angular")
    linear: NDArray[Any]
    """(..., 3) in m/s: the velocity of the point of B that is at the origin of the frame of expression."""
    angular: NDArray[Any]
    """(..., 3) in rad/s."""

    def __init__(self, linear: ArrayLike, angular: ArrayLike) -> None:
        self._set(linear, angular)

    def hat(self) -> NDArray[Any]:
        """(..., 4, 4): the matrix in se(3).  [MDN 7]"""
        return hat6(self.vector)

    def ad(self) -> NDArray[Any]:
        """(..., 6, 6): the matrix of `cross` with a twist.  [MDN 38]"""
        return ad(self.vector)

    @overload
    def cross(self, other: Twist) -> Twist: ...
    @overload
    def cross(self, other: Wrench) -> Wrench: ...
    def cross(self, other: Any) -> Any:
        """The cross product with a twist [MDN 38], the dual cross product with a
        wrench or a momentum [MDN 62].
        """
        if isinstance(other, Twist):
            return Twist.from_vector(cross6(self.vector, other.vector))
        if isinstance(other, Wrench):
            return Wrench.from_vector(cross6_dual(self.vector, other.vector))
        raise InputError(f"Twist.cross: expected a Twist or a Wrench, got {type(other).__name__}")

    def power(self, wrench: Wrench) -> NDArray[Any]:
        """(...): the power in W that a wrench in the same frame transmits at this twist.  [MDN 60]"""
        if not isinstance(wrench, Wrench):
            raise InputError(f"Twist.power: expected a Wrench, got {type(wrench).__name__}")
        return wrench.power(self)

    def _moved_by(self, A_H_B: Pose) -> Self:
        """A_X_B B_v.  [MDN 28, 33]"""
        angular = A_H_B.rotation @ self.angular
        return self._trusted(A_H_B.rotation @ self.linear + cross3(A_H_B.position, angular), angular)

    def _pulled_by(self, A_H_B: Pose) -> Self:
        """B_X_A A_v.  [MDN 30]"""
        B_R_A = A_H_B.rotation.inverse()
        return self._trusted(B_R_A @ (self.linear + cross3(self.angular, A_H_B.position)), B_R_A @ self.angular)
