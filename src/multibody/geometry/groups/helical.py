"""The helical group: rotation about z with a translation along it, as homogeneous 4 × 4 matrices."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from multibody.errors import InputError
from multibody.geometry import operators
from multibody.geometry._arrays import matrix, vector
from multibody.geometry.groups.group import Group
from multibody.geometry.public_api import public_methods


@public_methods
@dataclass(frozen=True)
class Helical(Group):
    """A screw about z: the coordinate is the angle, the pitch in metres per radian.
    [From Table 1; From §4.6]

    Unlike an angle, a screw has its turns in its height: `log` returns any number of them.

    >>> Helical(pitch=0.1).log(Helical(pitch=0.1).exp([20.0])).round(12)
    array([20.])
    """

    pitch: float

    dim = 1
    size = 4

    def __post_init__(self) -> None:
        number = isinstance(self.pitch, int | float | np.integer | np.floating)
        if number:
            object.__setattr__(self, "pitch", float(self.pitch))  # so that it does not change the precision of arrays
        if not number or not math.isfinite(self.pitch) or self.pitch == 0:
            raise InputError(f"pitch: expected a finite number of m/rad other than 0, got {self.pitch!r}")

    def selection(self) -> NDArray[Any]:
        return np.array([[0.0], [0.0], [self.pitch], [0.0], [0.0], [1.0]])

    def hat(self, x: ArrayLike) -> NDArray[Any]:
        x = self._vector(x)
        return operators.hat6(x * self.H[:, 0].astype(x.dtype))

    def vee(self, X: ArrayLike) -> NDArray[Any]:
        return vector(self._element(X)[..., 1, 0])

    def exp(self, x: ArrayLike) -> NDArray[Any]:
        r = self._vector(x)[..., 0]
        c, s = np.cos(r), np.sin(r)
        return matrix([[c, -s, 0, 0], [s, c, 0, 0], [0, 0, 1, self.pitch * r], [0, 0, 0, 1]])

    def log(self, g: ArrayLike) -> NDArray[Any]:
        return vector(self._element(g)[..., 2, 3] / self.pitch)
