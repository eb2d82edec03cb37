"""SO(3): rotation about a point, as 3 × 3 matrices."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from multibody.geometry import operators, so3
from multibody.geometry._arrays import transpose
from multibody.geometry._public import public_methods
from multibody.geometry._value import own
from multibody.geometry.groups._group import Group
from multibody.geometry.pose import Pose
from multibody.geometry.rotation import Rotation


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
