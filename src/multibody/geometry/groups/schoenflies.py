"""The Schönflies group: all translations, and rotation about one fixed axis, as homogeneous 4 × 4 matrices."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from multibody.geometry import exponential_coefficients as k
from multibody.geometry import operators
from multibody.geometry._arrays import choice, matvec, vector
from multibody.geometry.groups.group import Group
from multibody.geometry.pose import Pose
from multibody.geometry.public_api import public_methods
from multibody.geometry.rotation import Rotation

AXES = ("x", "y", "z")


@public_methods
@dataclass(frozen=True)
class Schoenflies(Group):
    """Pick-and-place motion: velocities (u, v, w) and the rate about the axis.
    [From §4.4; From 88-96; From Table 1]

    >>> Schoenflies("x").H[:, 3]
    array([0., 0., 0., 1., 0., 0.])
    """

    axis: str = "z"

    dim = 4
    size = 4

    def __post_init__(self) -> None:
        choice(self.axis, "axis of the Schoenflies group", AXES)

    def selection(self) -> NDArray[Any]:
        """[From 88]"""
        return np.eye(6)[:, [0, 1, 2, 3 + AXES.index(self.axis)]]

    def hat(self, x: ArrayLike) -> NDArray[Any]:
        x = self._vector(x)
        return operators.hat6(matvec(self.H.astype(x.dtype), x))

    def vee(self, X: ArrayLike) -> NDArray[Any]:
        v = operators.vee6(self._element(X))
        return matvec(self.H.T.astype(v.dtype), v)

    def exp(self, x: ArrayLike) -> NDArray[Any]:
        x = self._vector(x)
        theta, rho = x[..., 3], x[..., :3]
        a, b = k.a_b(theta)
        position = self._along_and_across(a, theta * b, rho)
        return Pose._trusted(Rotation.elementary(self.axis, theta), position).matrix

    def log(self, g: ArrayLike) -> NDArray[Any]:
        g = self._element(g)
        i = AXES.index(self.axis)
        j, l = (i + 1) % 3, (i + 2) % 3
        theta = np.arctan2(g[..., l, j], g[..., j, j])
        along = 1 - theta * theta * k.d(theta * theta, *k.a_b(theta))
        rho = self._along_and_across(along, -theta / 2, g[..., :3, 3])
        return vector(rho[..., 0], rho[..., 1], rho[..., 2], theta)

    def _along_and_across(self, along: NDArray[Any], across: NDArray[Any], r: NDArray[Any]) -> NDArray[Any]:
        """Along r + across (axis × r) in the plane across the axis; the part of r along the axis stays."""
        i = AXES.index(self.axis)
        j, l = (i + 1) % 3, (i + 2) % 3
        parts: list[Any] = [None] * 3
        parts[i] = r[..., i]
        parts[j] = along * r[..., j] - across * r[..., l]
        parts[l] = along * r[..., l] + across * r[..., j]
        return vector(*parts)
