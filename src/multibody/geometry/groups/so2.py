"""SO(2): rotation about z, as 2 × 2 matrices."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from multibody.geometry._arrays import eye_like, matrix, transpose, vector
from multibody.geometry._public import public_methods
from multibody.geometry._value import own
from multibody.geometry.groups._group import Group
from multibody.geometry.pose import Pose
from multibody.geometry.rotation import Rotation


@public_methods
@dataclass(frozen=True)
class SO2(Group):
    """Rotation about z by an angle.  [From Table 1; From Table 2; From §4.6]

    >>> SO2().log(SO2().exp([0.5]))
    array([0.5])
    """

    dim = 1
    size = 2

    def selection(self) -> NDArray[Any]:
        return np.eye(6)[:, 5:]

    def hat(self, x: ArrayLike) -> NDArray[Any]:
        r = self._vector(x)[..., 0]
        return matrix([[0, -r], [r, 0]])

    def vee(self, X: ArrayLike) -> NDArray[Any]:
        return vector(self._element(X)[..., 1, 0])

    def exp(self, x: ArrayLike) -> NDArray[Any]:
        r = self._vector(x)[..., 0]
        return matrix([[np.cos(r), -np.sin(r)], [np.sin(r), np.cos(r)]])

    def log(self, g: ArrayLike) -> NDArray[Any]:
        g = self._element(g)
        return vector(np.arctan2(g[..., 1, 0], g[..., 0, 0]))

    def inverse(self, g: ArrayLike) -> NDArray[Any]:
        return own(transpose(self._element(g)))

    def Ad(self, g: ArrayLike) -> NDArray[Any]:
        g = self._element(g)
        return np.broadcast_to(eye_like(g, 1), (*g.shape[:-2], 1, 1))

    def pose(self, g: ArrayLike) -> Pose:
        g = self._element(g)
        c, s = g[..., 0, 0], g[..., 1, 0]
        rotation = Rotation._trusted(matrix([[c, -s, 0], [s, c, 0], [0, 0, 1]]))
        return Pose._trusted(rotation, np.zeros_like(rotation.matrix[..., 0]))
