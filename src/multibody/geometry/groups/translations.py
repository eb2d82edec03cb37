"""R^1, R^2 and R^3: translations, as homogeneous matrices."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from multibody.geometry._arrays import eye_like, matrix, vector
from multibody.geometry.groups.group import Group
from multibody.geometry.pose import Pose
from multibody.geometry.public_api import public_methods
from multibody.geometry.rotation import Rotation


@public_methods
class Translations(Group):
    """The abstract base of the translation groups: g = [[1, x], [0, 1]].  [From §4.5; From Table 1; From Table 2]"""

    axes: ClassVar[tuple[int, ...]]
    """The axes along which the group moves: 0, 1, 2 for x, y, z."""

    def selection(self) -> NDArray[Any]:
        return np.eye(6)[:, list(self.axes)]

    def hat(self, x: ArrayLike) -> NDArray[Any]:
        return self._homogeneous(x, 0)

    def vee(self, X: ArrayLike) -> NDArray[Any]:
        return self._element(X)[..., : self.dim, self.dim] + 0.0

    def exp(self, x: ArrayLike) -> NDArray[Any]:
        return self._homogeneous(x, 1)

    def log(self, g: ArrayLike) -> NDArray[Any]:
        return self.vee(g)

    def pose(self, g: ArrayLike) -> Pose:
        x = self.log(g)
        position = [x[..., self.axes.index(axis)] if axis in self.axes else 0 for axis in range(3)]
        matrix = np.broadcast_to(eye_like(x, 3), (*x.shape[:-1], 3, 3))
        return Pose._trusted(Rotation._trusted(matrix), vector(*position))

    def _homogeneous(self, x: ArrayLike, diagonal: int) -> NDArray[Any]:
        x = self._vector(x)
        n = self.dim
        rows: list[list[Any]] = [[diagonal if i == j else 0 for j in range(n)] + [x[..., i]] for i in range(n)]
        return matrix([*rows, [0] * n + [diagonal]])


@public_methods
@dataclass(frozen=True)
class R1(Translations):
    """Translation along z."""

    dim = 1
    size = 2
    axes = (2,)


@public_methods
@dataclass(frozen=True)
class R2(Translations):
    """Translation along x and y."""

    dim = 2
    size = 3
    axes = (0, 1)


@public_methods
@dataclass(frozen=True)
class R3(Translations):
    """Translation along x, y and z."""

    dim = 3
    size = 4
    axes = (0, 1, 2)
