"""The special Euclidean groups: SE(2), motion in the x-y plane, and SE(3), free motion, as homogeneous matrices."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from multibody.geometry import exponential_coefficients as k
from multibody.geometry import operators, so3
from multibody.geometry._arrays import block_matrix, matrix, vector
from multibody.geometry.groups.group import Group
from multibody.geometry.pose import Pose
from multibody.geometry.public_api import public_methods
from multibody.geometry.rotation import Rotation


@public_methods
@dataclass(frozen=True)
class SE2(Group):
    """Translation along x and y, rotation about z: velocities (u, v, r).
    [From §4.3; From 77-87; From Table 1]
    """

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


@public_methods
@dataclass(frozen=True)
class SE3(Group):
    """Free motion: velocities are twists, linear first.
    [MDN 3-4; From §4.2; From 72-76; From Table 1]

    The algebra of SE(3) is that of SO(3) over dual numbers φ + ε ρ, ε² = 0: the off-diagonal
    block of S is the derivative of the Jacobian on SO(3) at φ along ρ.
    """

    dim = 6
    size = 4

    def selection(self) -> NDArray[Any]:
        return np.eye(6)

    def hat(self, x: ArrayLike) -> NDArray[Any]:
        """[MDN 7]"""
        return operators.hat6(x)

    def vee(self, X: ArrayLike) -> NDArray[Any]:
        """[MDN 8]"""
        return operators.vee6(X)

    def exp(self, x: ArrayLike) -> NDArray[Any]:
        return Pose.exp(x).matrix

    def log(self, g: ArrayLike) -> NDArray[Any]:
        return self.pose(g).log()

    def Ad(self, g: ArrayLike) -> NDArray[Any]:
        """[MDN 27, 29]"""
        return self.pose(g).adjoint

    def S(self, phi: ArrayLike) -> NDArray[Any]:
        phi = self._vector(phi)
        rho, angular = -phi[..., :3], -phi[..., 3:]
        J = so3.left_jacobian(angular)
        return block_matrix([[J, so3.left_jacobian_dot(angular, rho)], [0, J]])

    def S_inverse(self, phi: ArrayLike) -> NDArray[Any]:
        phi = self._vector(phi)
        rho, angular = -phi[..., :3], -phi[..., 3:]
        J_inverse = so3.left_jacobian_inverse(angular)
        middle = np.matmul(np.matmul(J_inverse, so3.left_jacobian_dot(angular, rho)), J_inverse)
        return block_matrix([[J_inverse, -middle], [0, J_inverse]])
