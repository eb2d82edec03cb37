"""The ground: a half-space or a landscape, its friction and its restitution."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multibody.algorithms.soft_contact import finite_number, number
from multibody.errors import InputError
from multibody.geometry._arrays import dot, floats, unit, vector
from multibody.geometry.operators import cross3
from multibody.simulate.contact.spheres import share
from multibody.simulate.signatures import check_signature
from multibody.tracing.ad.api import gradient
from multibody.tracing.record.loop import loop

NEAREST = 8
"""Iterations to the place that a sphere touches; each leaves its radius over that of the landscape's curvature."""
MAX_RADII = 2.0
"""The distance of a sphere, in radii, up to which the place that it touches is searched."""


@dataclass(frozen=True)
class Ground:
    """All points x with normal · x ≤ offset, or all below a height.

    >>> ground = Ground(friction=0.5, normal=(0, 0, 2), offset=1.0)
    >>> ground.normal, ground.offset
    ((0.0, 0.0, 1.0), 0.5)
    """

    friction: float = 0.8
    """Coulomb's μ: the cone is circular."""
    restitution: float = 0.0
    """From 0, plastic, to 1, elastic; Newton's, of the velocities along the normal."""
    normal: tuple[float, float, float] = (0.0, 0.0, 1.0)
    """Out of the ground, along the world's axes; it is divided by its length, and so is the offset."""
    offset: float = 0.0
    """In m."""
    height: Callable[[Any, Any], Any] | None = None
    """z = height(x, y) of the surface in m, in NumPy, in place of normal and offset; it is called once at (0, 0)."""
    stiffness: float | None = None
    """In N/m, of a contact in "soft", into the ground and along it; by default 2e4.  [RD 3.58]"""
    damping: float | None = None
    """In N s/m, of a contact in "soft"; by default 200."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "friction", number(self.friction, "ground, friction"))
        object.__setattr__(self, "restitution", share(self.restitution, "ground, restitution"))
        normal = floats(self.normal, "ground, normal", 3)
        length = float(np.linalg.norm(normal)) if normal.shape == (3,) else 0.0
        if not (0 < length < np.inf):
            raise InputError(f"ground, normal: expected a direction of three finite numbers, got {self.normal!r}")
        offset = finite_number(self.offset, "ground, offset, in m")
        object.__setattr__(self, "normal", tuple((normal / length).tolist()))
        object.__setattr__(self, "offset", offset / length)
        if self.height is not None and not callable(self.height):
            raise InputError(f"ground, height: expected a function of x and y, got {self.height!r}")
        if self.height is not None:
            self._check_height(self.height)
        for name, positive in (("stiffness", True), ("damping", False)):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, number(getattr(self, name), f"ground, {name}", positive=positive))

    def _check_height(self, height: Callable[[Any, Any], Any]) -> None:
        """Refuse a height beside a plane, of other arguments than x and y, or that is no number at a place."""
        if self.normal != (0.0, 0.0, 1.0) or self.offset:
            raise InputError(
                f"ground, normal and offset: expected none with a height, got {self.normal} and {self.offset:g}; add a "
                "slope and an offset to the height, or give a list of grounds"
            )
        check_signature(height, "ground, height: expected a function of x and y", "x", "y")
        with np.errstate(all="ignore"):
            z = height(np.zeros(()), np.zeros(()))
        if z is None or np.shape(z):
            actual = "None" if z is None else f"the shape {np.shape(z)}"
            raise InputError(f"ground, height: expected a function that returns z of x and y, a number, got {actual}")

    def surface(self, point: NDArray[Any], radius: float = 0.0) -> tuple[NDArray[Any], NDArray[Any]]:
        """The distance of points (..., 3) from the surface, and the normals (..., 3) there.

        That of a height z = f(x, y) is to the tangent plane at a place: the one below a point;
        for spheres of a radius, the one that they touch, where the normal is the gradient of
        the distance: without it slides would gain energy.
        """
        if self.height is None:
            n = np.array(self.normal, point.dtype)
            return dot(np.broadcast_to(n, point.shape), point) - self.offset, n
        below = point[..., :2]
        if radius:

            def nearer(place: NDArray[Any]) -> NDArray[Any]:
                distance, n = self._tangent(place, point)
                return below - np.clip(distance, -MAX_RADII * radius, MAX_RADII * radius)[..., None] * n[..., :2]

            return self._tangent(loop(NEAREST, nearer, below), point)
        return self._tangent(below, point)

    def _tangent(self, place: NDArray[Any], point: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        """The distance of points (..., 3) from the tangent planes at places (..., 2), and their normals (..., 3)."""
        slope = gradient(lambda place: np.sum(self.point_at(place)[..., 2]))(place)
        n = unit(vector(-slope[..., 0], -slope[..., 1], 1.0))
        return dot(n, point - self.point_at(place)), n

    def point_at(self, place: NDArray[Any]) -> NDArray[Any]:
        """The points (..., 3) of a landscape at places (..., 2)."""
        assert self.height is not None
        x, y = place[..., 0], place[..., 1]
        return vector(x, y, self.height(x, y))

    def axes(self, n: NDArray[Any]) -> NDArray[Any]:
        """(3, 3): two directions along the surface and the normal, as rows."""
        if self.height is None and self.normal == (0.0, 0.0, 1.0):
            return np.eye(3, dtype=n.dtype)
        aside = int(np.argmin(np.abs(self.normal))) if self.height is None else 1  # never the normal of a height
        first = unit(cross3(np.eye(3, dtype=n.dtype)[aside], n))
        return np.stack([first, cross3(n, first), n])


def grounds_of(ground: Any) -> tuple[Ground, ...]:
    """A ground, or several, or none, as a tuple."""
    several = () if ground is None else (ground,) if isinstance(ground, Ground) else ground
    if not isinstance(several, list | tuple) or not all(isinstance(each, Ground) for each in several):
        raise InputError(f"ground: expected a simulate.Ground or a list of them, got {ground!r}")
    return tuple(several)


def check_grounds(grounds: tuple[Ground, ...], method: str, soft: bool) -> None:
    """Refuse numbers of grounds that a method would ignore."""
    for each in grounds:
        if soft and each.restitution:
            raise InputError(
                'ground, restitution: expected 0 in method "soft", where damping tells how high it bounces'
            )
        if not soft and (each.stiffness is not None or each.damping is not None):
            raise InputError(f'ground, stiffness and damping: expected none in method {method!r}, which is not "soft"')
