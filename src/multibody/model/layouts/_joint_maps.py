"""One joint in two layouts: ours, and that of another library.

x and v are the coordinates and left-trivialised velocities of the joint in our model, y those of the peer. Where a peer
turns linear velocities, u (in the child's frame i) becomes w = R u, with R the rotation of the child; then
w' = R (u' + i_w × u), and forces turn as velocities do.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multibody.geometry import Pose, Rotation, quaternions
from multibody.geometry._arrays import matvec
from multibody.geometry.operators import cross3
from multibody.model.joint import Joint

_WXYZ, _XYZW = [3, 0, 1, 2], [1, 2, 3, 0]


@dataclass(frozen=True)
class Part:
    """A joint whose numbers are the same in both layouts."""

    joint: Joint
    q: tuple[int, ...]
    """The indices of its coordinates in the peer's q."""
    v: tuple[int, ...]
    """The indices of its velocities in the peer's v."""

    def q_to(self, x: NDArray[Any]) -> NDArray[Any]:
        """The peer's coordinates."""
        return x

    def q_from(self, y: NDArray[Any]) -> NDArray[Any]:
        """Ours."""
        return y

    def rotation(self, x: NDArray[Any]) -> Rotation | None:
        """R, if the peer turns linear velocities; None if its velocities are ours."""
        del x

    def v_to(self, x: NDArray[Any], v: NDArray[Any]) -> NDArray[Any]:
        """The peer's velocities, or forces."""
        R = self.rotation(x)
        return v if R is None else self._joined(R @ self._split(x, v)[0], v)

    def v_from(self, x: NDArray[Any], w: NDArray[Any]) -> NDArray[Any]:
        """Ours."""
        R = self.rotation(x)
        return w if R is None else self._joined(R.inverse() @ self._split(x, w)[0], w)

    def a_to(self, x: NDArray[Any], v: NDArray[Any], a: NDArray[Any]) -> NDArray[Any]:
        """The peer's accelerations."""
        if self.rotation(x) is None:
            return a
        return self.v_to(x, self._joined(self._split(x, a)[0] + cross3(*reversed(self._split(x, v))), a))

    def a_from(self, x: NDArray[Any], v: NDArray[Any], b: NDArray[Any]) -> NDArray[Any]:
        """Ours."""
        if self.rotation(x) is None:
            return b
        a = self.v_from(x, b)
        return self._joined(self._split(x, a)[0] - cross3(*reversed(self._split(x, v))), a)

    def _split(self, x: NDArray[Any], v: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        """u and i_w, (..., 3) each."""
        twist = matvec(self.joint.kind.subspace(x).matrix, v)
        return twist[..., :3], twist[..., 3:]

    def _joined(self, linear: NDArray[Any], v: NDArray[Any]) -> NDArray[Any]:
        n = self.joint.kind.rates.count("m")
        shape = np.broadcast_shapes(linear.shape[:-1], v.shape[:-1])
        return np.concatenate(
            [np.broadcast_to(linear[..., :n], (*shape, n)), np.broadcast_to(v[..., n:], (*shape, v.shape[-1] - n))], -1
        )


@dataclass(frozen=True)
class Circle(Part):
    """The last coordinate is an angle, of which the peer has cosine and sine."""

    def q_to(self, x: NDArray[Any]) -> NDArray[Any]:
        angle = x[..., -1:]
        return np.concatenate([x[..., :-1], np.cos(angle), np.sin(angle)], axis=-1)

    def q_from(self, y: NDArray[Any]) -> NDArray[Any]:
        """An angle in (-π, π]."""
        return np.concatenate([y[..., :-2], np.arctan2(y[..., -1:], y[..., -2:-1])], axis=-1)


@dataclass(frozen=True)
class Xyzw(Part):
    """The last four coordinates are a quaternion, of which the peer has the real part last."""

    def q_to(self, x: NDArray[Any]) -> NDArray[Any]:
        return np.concatenate([x[..., :-4], x[..., -4:][..., _XYZW]], axis=-1)

    def q_from(self, y: NDArray[Any]) -> NDArray[Any]:
        return np.concatenate([y[..., :-4], y[..., -4:][..., _WXYZ]], axis=-1)


@dataclass(frozen=True)
class Turned(Part):
    """The peer's linear velocities are rates of the position."""

    def rotation(self, x: NDArray[Any]) -> Rotation:
        return self.joint.kind.pose(x).rotation


@dataclass(frozen=True)
class Free(Turned):
    """MuJoCo's free joint: the pose in the world, the velocity of the origin in the world, i_w."""

    def q_to(self, x: NDArray[Any]) -> NDArray[Any]:
        return _coordinates(self.joint.placement, x)

    def q_from(self, y: NDArray[Any]) -> NDArray[Any]:
        return _coordinates(self.joint.placement.inverse(), y)

    def rotation(self, x: NDArray[Any]) -> Rotation:
        return self.joint.placement.rotation @ self.joint.kind.pose(x).rotation


def _coordinates(A_H_B: Pose, x: NDArray[Any]) -> NDArray[Any]:
    """The coordinates of a pose in B, in A."""
    quaternion = quaternions.multiply(A_H_B.rotation.quaternion, x[..., 3:])
    return np.concatenate([A_H_B @ x[..., :3], quaternion], axis=-1)


def index_range(first: int, count: int) -> tuple[int, ...]:
    """`count` indices from `first` on."""
    return tuple(range(first, first + count))
