"""Friction cones: the forces that a contact can exert, and pyramids within them, for solvers and for checks."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from multibody.algorithms.soft_contact import number
from multibody.errors import InputError
from multibody.geometry._arrays import dot, floats, unit
from multibody.geometry.operators import cross3


@dataclass(frozen=True)
class FrictionCone:
    """Which forces a contact can exert: along the normal not negative, across it at most μ times as much.

    >>> cone = FrictionCone(0.5)
    >>> cone.distance([[0.3, 0.0, 1.0], [0.0, 0.8, 1.0], [0.0, 0.0, -1.0]]).round(3)  # inside, slips, pulls
    array([ 0.2, -0.3, -1. ])
    """

    friction: float
    """μ."""
    normal: tuple[float, float, float] = (0.0, 0.0, 1.0)
    """Out of the ground, along the world's axes, of length one."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "friction", number(self.friction, "friction cone, friction"))
        normal = floats(self.normal, "friction cone, normal", 3)
        if normal.shape != (3,) or not abs(float(np.linalg.norm(normal)) - 1) <= 1e-9:
            raise InputError(f"friction cone: expected a normal of length one, three numbers, got {self.normal!r}")
        object.__setattr__(self, "normal", tuple(normal.tolist()))

    def distance(self, force: ArrayLike) -> NDArray[Any]:
        """(...): how far a force (..., 3) is inside the cone, the smaller of μ f_n - |f_t| and f_n, in N.

        Negative outside, also where μ is zero and the ground would have to pull.

        >>> FrictionCone(0.0).distance([0.0, 0.0, -5.0])
        np.float64(-5.0)
        """
        force = floats(force, "force", 3)
        n = np.array(self.normal, force.dtype)
        along = dot(force, np.broadcast_to(n, force.shape))
        across = force - along[..., None] * n
        return np.minimum(self.friction * along - np.sqrt(dot(across, across)), along)

    def pyramid(self, sides: int = 4) -> NDArray[Any]:
        """A, (sides + 1, 3), with A f ≥ 0 inside a pyramid within the cone: its sides, and the normal.

        >>> A = FrictionCone(0.5).pyramid(8)
        >>> A.shape, bool((A @ [0.1, 0.2, 1.0] >= 0).all()), bool((A @ [0.1, 0.6, 1.0] >= 0).all())
        ((9, 3), True, False)
        """
        if not isinstance(sides, int | np.integer) or sides < 3:
            raise InputError(f"pyramid: expected at least three sides, got {sides!r}")
        n = np.array(self.normal)
        return -np.concatenate([pyramid_faces(self.friction, n, int(sides)), -n[None]])


def pyramid_faces(friction: float, normal: NDArray[Any], sides: int) -> NDArray[Any]:
    """(..., sides, 3): the rows R of R f ≤ 0, a pyramid with its edges on the cone, for a unit normal (..., 3)."""
    first, second = tangents(normal)
    steep = friction * np.cos(np.pi / sides)
    angles = 2 * np.pi * np.arange(sides) / sides
    around = zip(np.cos(angles).round(15), np.sin(angles).round(15), strict=True)
    return np.stack([c * first + s * second - steep * normal for c, s in around], axis=-2)


def tangents(normal: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Two unit vectors across a unit normal and each other; x and y of the world for z."""
    x, y = np.eye(3, dtype=normal.dtype)[:2]
    along = np.where((np.abs(normal[..., 0]) < 0.9)[..., None], x, y)
    first = unit(along - dot(along, normal)[..., None] * normal)
    return first, cross3(normal, first)
