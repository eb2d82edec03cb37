"""The base class of joints that translate and turn about one normal (SE(2), Schoenflies)."""

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multibody.geometry import Pose
from multibody.geometry._arrays import block_matrix, eye_like, matvec, transpose
from multibody.geometry.groups import SE2, Group, Schoenflies
from multibody.model.joints._kind import Kind
from multibody.model.joints.motion_subspace import Subspace


class TurningPlane(Kind):
    """The abstract base: coordinates are a position and an angle, velocities those of the group."""

    @property
    @abstractmethod
    def group(self) -> SE2 | Schoenflies:
        """The group of the motion."""

    @property
    def groups(self) -> tuple[Group, ...]:
        return (self.group,)

    @abstractmethod
    def pose(self, q: NDArray[Any]) -> Pose: ...

    @abstractmethod
    def _translation_rate(self, q: NDArray[Any]) -> NDArray[Any]:
        """(..., n, n): the rotation that takes the linear velocity of the child to the rate of the position."""

    def subspace(self, q: NDArray[Any]) -> Subspace:
        return Subspace.constant(self.group.H, q)

    def rate_matrix(self, q: NDArray[Any]) -> NDArray[Any]:
        R = self._translation_rate(q)
        return block_matrix([[R, 0], [0, np.broadcast_to(eye_like(q, 1), (*q.shape[:-1], 1, 1))]])

    def integrate(self, q: NDArray[Any], dv: NDArray[Any]) -> NDArray[Any]:
        """The configuration after a step on the group: along a circle where the child turns.  [From 59]"""
        n = self.nq - 1
        step = self.group.exp(dv)[..., :n, -1]
        position = q[..., :n] + matvec(self._translation_rate(q), step)
        angle = np.broadcast_to(q[..., n:] + dv[..., n:], (*position.shape[:-1], 1))
        return np.concatenate([position, angle], axis=-1)

    def difference(self, q0: NDArray[Any], q1: NDArray[Any]) -> NDArray[Any]:
        """The shortest way on the group, with an angle in (-π, π]."""
        n = self.nq - 1
        moved = matvec(transpose(self._translation_rate(q0)), q1[..., :n] - q0[..., :n])
        angle = np.broadcast_to(q1[..., n:] - q0[..., n:], (*moved.shape[:-1], 1))
        g = self._element(np.concatenate([moved, angle], axis=-1))
        return self.group.log(g)

    @abstractmethod
    def _element(self, q: NDArray[Any]) -> NDArray[Any]:
        """The element of the group at the coordinates."""
