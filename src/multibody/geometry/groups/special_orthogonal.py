"""The special orthogonal groups: SO(2), rotation about z, and SO(3), rotation about a point, as matrices."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from multibody.geometry import operators, so3
from multibody.geometry._arrays import matrix, transpose, vector
from multibody.geometry.groups.group import Group
from multibody.geometry.pose import Pose
from multibody.geometry.public_api import public_methods
from multibody.geometry.rotation import Rotation
from multibody.geometry.value import own


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

    def pose(self, g: ArrayLike) -> Pose:
        g = self._element(g)
        c, s = g[..., 0, 0], g[..., 1, 0]
        rotation = Rotation._trusted(matrix([[c, -s, 0], [s, c, 0], [0, 0, 1]]))
        return Pose._trusted(rotation, np.zeros_like(rotation.matrix[..., 0]))


@public_methods
@dataclass(frozen=True)
class SO3(Group):
    """Rotation about a point.  [MDN 1-2; From §4.1; From 64-65; From Table 1]"""

    dim = 3
    size = 3

    def selection(self) -> NDArray[Any]:
        """[From 62]"""
        return np.eye(6)[:, 3:]

    def hat(self, x: ArrayLike) -> NDArray[Any]:
        """[From 6; MDN 5]"""
        return operators.hat3(x)

    def vee(self, X: ArrayLike) -> NDArray[Any]:
        return operators.vee3(X)

    def exp(self, x: ArrayLike) -> NDArray[Any]:
        return so3.exp(x)

    def log(self, g: ArrayLike) -> NDArray[Any]:
        return so3.log(g)

    def inverse(self, g: ArrayLike) -> NDArray[Any]:
        return own(transpose(self._element(g)))

    def Ad(self, g: ArrayLike) -> NDArray[Any]:
        return self._element(g) + 0.0

    def S(self, phi: ArrayLike) -> NDArray[Any]:
        return so3.right_jacobian(phi)

    def S_inverse(self, phi: ArrayLike) -> NDArray[Any]:
        return so3.right_jacobian_inverse(phi)

    def pose(self, g: ArrayLike) -> Pose:
        g = self._element(g)
        return Pose._trusted(Rotation._trusted(g + 0.0), np.zeros_like(g[..., 0]))
