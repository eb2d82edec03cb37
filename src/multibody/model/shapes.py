"""Shapes of links: boxes, cylinders, spheres, capsules and meshes, with the inertia of the solid ones."""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from multibody.errors import InputError
from multibody.geometry import SpatialInertia


class Shape:
    """The base of all shapes: about the origin of its frame, lengths in metres."""


class Solid(Shape, ABC):
    """A shape that a homogeneous body can have."""

    @property
    @abstractmethod
    def volume(self) -> float:
        """The volume, in m³."""

    @abstractmethod
    def moments(self) -> tuple[float, float, float]:
        """The principal moments of inertia about the centre, along x, y and z, for a mass of 1 kg, in m²."""

    def inertia(self, *, mass: float | None = None, density: float | None = None) -> SpatialInertia:
        """The inertia of a homogeneous body of this shape, from its mass in kg or its density in kg/m³.

        >>> Sphere(0.5).inertia(mass=10.0).inertia[0, 0].item()
        1.0
        """
        if (mass is None) == (density is None):
            raise InputError(
                f"inertia of a {type(self).__name__}: expected a mass or a density, got {mass} and {density}"
            )
        kilograms = mass if mass is not None else density * self.volume  # type: ignore[operator]
        if not (kilograms > 0 and math.isfinite(kilograms)):
            raise InputError(f"inertia of a {type(self).__name__}: expected a positive mass, got {kilograms} kg")
        return SpatialInertia(mass=kilograms, com=np.zeros(3), inertia=kilograms * np.diag(self.moments()))


@dataclass(frozen=True)
class Box(Solid):
    """A box with these side lengths."""

    size: tuple[float, float, float]

    def __init__(self, size: ArrayLike) -> None:
        x, y, z = _lengths("Box.size", size, 3)
        object.__setattr__(self, "size", (x, y, z))

    @property
    def volume(self) -> float:
        return math.prod(self.size)

    def moments(self) -> tuple[float, float, float]:
        x, y, z = (side * side / 12 for side in self.size)
        return y + z, x + z, x + y


@dataclass(frozen=True)
class Cylinder(Solid):
    """A cylinder along z."""

    radius: float
    length: float

    def __post_init__(self) -> None:
        _set_lengths(self, "radius", "length")

    @property
    def volume(self) -> float:
        return math.pi * self.radius**2 * self.length

    def moments(self) -> tuple[float, float, float]:
        across = self.radius**2 / 4 + self.length**2 / 12
        return across, across, self.radius**2 / 2


@dataclass(frozen=True)
class Sphere(Solid):
    """A sphere."""

    radius: float

    def __post_init__(self) -> None:
        _set_lengths(self, "radius")

    @property
    def volume(self) -> float:
        return 4 / 3 * math.pi * self.radius**3

    def moments(self) -> tuple[float, float, float]:
        moment = 0.4 * self.radius**2
        return moment, moment, moment


@dataclass(frozen=True)
class Capsule(Solid):
    """A cylinder along z of the given length, with half a sphere on each end."""

    radius: float
    length: float

    def __post_init__(self) -> None:
        _set_lengths(self, "radius", "length")

    @property
    def volume(self) -> float:
        return math.pi * self.radius**2 * (self.length + 4 / 3 * self.radius)

    def moments(self) -> tuple[float, float, float]:
        r, l = self.radius, self.length
        tube = l / (l + 4 / 3 * r)  # the share of the mass in the cylinder
        ends = 1 - tube
        axial = tube * r**2 / 2 + ends * 0.4 * r**2
        # each half sphere has its centre of mass 3/8 r past its flat face
        across = tube * (r**2 / 4 + l**2 / 12) + ends * (0.4 * r**2 + l**2 / 4 + 3 / 8 * l * r)
        return across, across, axial


@dataclass(frozen=True)
class Ellipsoid(Solid):
    """An ellipsoid with these half axes."""

    radii: tuple[float, float, float]

    def __init__(self, radii: ArrayLike) -> None:
        x, y, z = _lengths("Ellipsoid.radii", radii, 3)
        object.__setattr__(self, "radii", (x, y, z))

    @property
    def volume(self) -> float:
        return 4 / 3 * math.pi * math.prod(self.radii)

    def moments(self) -> tuple[float, float, float]:
        x, y, z = (r * r / 5 for r in self.radii)
        return y + z, x + z, x + y


@dataclass(frozen=True)
class Mesh(Shape):
    """A file of triangles."""

    uri: str
    """As the robot file writes it."""
    path: Path | None = field(default=None, compare=False)
    """The path of the file; None if it was not found. It does not count in comparisons."""
    scale: tuple[float, float, float] = (1.0, 1.0, 1.0)


@dataclass(frozen=True)
class Plane(Shape):
    """The half space below z = 0."""


def _lengths(what: str, x: ArrayLike, n: int) -> tuple[float, ...]:
    numbers = np.asarray(x, dtype=float)
    if numbers.shape != (n,) or not np.isfinite(numbers).all() or not (numbers > 0).all():
        raise InputError(f"{what}: expected {n} positive {'number' if n == 1 else 'numbers'} of metres, got {x!r}")
    return tuple(numbers.tolist())


def _set_lengths(shape: Shape, *names: str) -> None:
    for name in names:
        (length,) = _lengths(f"{type(shape).__name__}.{name}", [getattr(shape, name)], 1)
        object.__setattr__(shape, name, length)
