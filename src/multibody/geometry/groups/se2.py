"""SE(2): motion in the x-y plane, as homogeneous 3 × 3 matrices."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from multibody.geometry import _coefficients as k
from multibody.geometry._arrays import matrix, vector
from multibody.geometry._public import public_methods
from multibody.geometry.groups._group import Group
from multibody.geometry.pose import Pose
from multibody.geometry.rotation import Rotation


@public_methods
@dataclass(frozen=True)
class SE2(Group):
    """Translation along x and y, rotation about z: velocities (u, v, r).  [From §4.3; From 77-87; From Table 1]"""

    dim = 3
    size = 3

    def selection(self) -> NDArray[Any]:
        """[From 77]"""
        return np.eye(6)[:, [0, 1, 5]]

    def hat(self, x: ArrayLike) -> NDArray[Any]:
        """[From 78]"""
        x = self._vector(x)
        u, v, r = x[..., 0], x[..., 1], x[..., 2]
        return matrix([[0, -r, u], [r, 0, v], [0, 0, 0]])

    def vee(self, X: ArrayLike) -> NDArray[Any]:
        X = self._element(X)
        return vector(X[..., 0, 2], X[..., 1, 2], X[..., 1, 0])

    def exp(self, x: ArrayLike) -> NDArray[Any]:
        x = self._vector(x)
        u, v, r = x[..., 0], x[..., 1], x[..., 2]
        a, b = k.a_b(r)
        across = r * b
        c, s = np.cos(r), np.sin(r)
        return matrix([[c, -s, a * u - across * v], [s, c, across * u + a * v], [0, 0, 1]])

    def log(self, g: ArrayLike) -> NDArray[Any]:
        g = self._element(g)
        x, y, r = g[..., 0, 2], g[..., 1, 2], np.arctan2(g[..., 1, 0], g[..., 0, 0])
        along, across = 1 - r * r * k.d(r * r, *k.a_b(r)), r / 2
        return vector(along * x + across * y, along * y - across * x, r)

    def Ad(self, g: ArrayLike) -> NDArray[Any]:
        g = self._element(g)
        c, s, x, y = g[..., 0, 0], g[..., 1, 0], g[..., 0, 2], g[..., 1, 2]
        return matrix([[c, -s, y], [s, c, -x], [0, 0, 1]])

    def pose(self, g: ArrayLike) -> Pose:
        g = self._element(g)
        c, s, x, y = g[..., 0, 0], g[..., 1, 0], g[..., 0, 2], g[..., 1, 2]
        return Pose._trusted(Rotation._trusted(matrix([[c, -s, 0], [s, c, 0], [0, 0, 1]])), vector(x, y, 0))
