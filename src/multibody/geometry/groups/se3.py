"""SE(3): free motion, as homogeneous 4 × 4 matrices."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from multibody.geometry import operators, so3
from multibody.geometry._arrays import block_matrix
from multibody.geometry._public import public_methods
from multibody.geometry.groups._group import Group
from multibody.geometry.pose import Pose
from multibody.geometry.rotation import Rotation


@public_methods
@dataclass(frozen=True)
class SE3(Group):
    """Free motion: velocities are twists, linear first.  [MDN 3-4; From §4.2; From 72-76; From Table 1]

    The algebra of SE(3) is that of SO(3) over dual numbers φ + ε ρ, ε² = 0: the off-diagonal block of S is the
    derivative of the Jacobian on SO(3) at φ along ρ.
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

    def pose(self, g: ArrayLike) -> Pose:
        g = self._element(g)
        return Pose._trusted(Rotation._trusted(g[..., :3, :3] + 0.0), g[..., :3, 3] + 0.0)
