"""Wrenches as values: a force and a torque in one frame, dual to twists."""

from __future__ import annotations

from typing import Any, Self

from numpy.typing import ArrayLike, NDArray

from multibody.errors import InputError
from multibody.geometry._arrays import dot
from multibody.geometry.operators import cross3
from multibody.geometry.pose import Pose
from multibody.geometry.public_api import public_methods
from multibody.geometry.spatial_vector import SpatialVector


@public_methods
class Wrench(SpatialVector):
    """The wrench B_f, or a batch: a force and the torque about the frame's origin.  [MDN 57, §6]

    >>> Wrench([0.0, 0.0, 1.0], [0.0, 0.0, 0.0]) + Wrench([1.0, 0.0, 0.0], [0.0, 2.0, 0.0])
    Wrench(force=[1.0, 0.0, 1.0], torque=[0.0, 2.0, 0.0])
    """

    __slots__ = ("force", "torque")
    force: NDArray[Any]
    """(..., 3) in N."""
    torque: NDArray[Any]
    """(..., 3) in N m, about the origin of the frame."""

    def __init__(self, force: ArrayLike, torque: ArrayLike) -> None:
        self._set(force, torque)

    def power(self, twist: SpatialVector) -> NDArray[Any]:
        """(...): the power in W at a twist in the same frame, as `Twist.power`.  [MDN 60]"""
        if isinstance(twist, Wrench) or not isinstance(twist, SpatialVector):
            raise InputError(f"Wrench.power: expected a Twist, got {type(twist).__name__}")
        return dot(self.vector, twist.vector)

    def _moved_by(self, A_H_B: Pose) -> Self:
        """A_Xf_B B_f.  [MDN 58-59]"""
        force = A_H_B.rotation @ self.force
        return self._trusted(force, A_H_B.rotation @ self.torque + cross3(A_H_B.position, force))

    def _pulled_by(self, A_H_B: Pose) -> Self:
        """B_Xf_A A_f.  [MDN 59, 64]"""
        B_R_A = A_H_B.rotation.inverse()
        return self._trusted(B_R_A @ self.force, B_R_A @ (self.torque + cross3(self.force, A_H_B.position)))
