"""Helpers of the embedded robots: rods between points, checks of options, colours."""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from multibody.errors import InputError
from multibody.geometry import Pose, SpatialInertia
from multibody.model.builder import Builder
from multibody.model.joints._axes import shortest_turn_of_z
from multibody.model.shapes import Capsule, Cylinder

Color = tuple[float, float, float, float]
GREY: Color = (0.55, 0.57, 0.60, 1.0)
WHITE: Color = (0.92, 0.93, 0.95, 1.0)
DARK: Color = (0.20, 0.21, 0.24, 1.0)
BLUE: Color = (0.16, 0.42, 0.73, 1.0)
ORANGE: Color = (0.93, 0.55, 0.15, 1.0)
GREEN: Color = (0.27, 0.62, 0.36, 1.0)
GLASS: Color = (0.20, 0.21, 0.24, 0.3)


def positive(what: str, numbers: Sequence[float] | float, count: int = 1) -> tuple[float, ...]:
    """Return `count` finite positive numbers; raise an InputError otherwise."""
    try:
        values = tuple(float(x) for x in np.atleast_1d(np.asarray(numbers, dtype=float)).tolist())
    except (TypeError, ValueError):
        values = ()
    if len(values) != count or not all(math.isfinite(x) and x > 0 for x in values):
        raise InputError(f"{what}: expected {count} positive finite number{'s' * (count > 1)}, got {numbers!r}")
    return values


def segment(start: ArrayLike, end: ArrayLike) -> tuple[Pose, float]:
    """The frame in the middle between two points, z along the line, and the distance in m."""
    a, b = np.asarray(start, dtype=float), np.asarray(end, dtype=float)
    length = float(np.linalg.norm(b - a))
    return Pose(shortest_turn_of_z((b - a) / length), (a + b) / 2), length


def draw_capsule(b: Builder, link: str, start: ArrayLike, end: ArrayLike, radius: float, color: Color) -> None:
    """A capsule on a link, with the centres of its round ends at two points; without mass."""
    pose, length = segment(start, end)
    b.shape(link, Capsule(radius, length), pose=pose, color=color)


def draw_cylinder(b: Builder, link: str, start: ArrayLike, end: ArrayLike, radius: float, color: Color) -> None:
    """A cylinder on a link between two points; without mass."""
    pose, length = segment(start, end)
    b.shape(link, Cylinder(radius, length), pose=pose, color=color)


def rod(b: Builder, name: str, end: ArrayLike, radius: float, mass: float, color: Color) -> None:
    """A link that is a homogeneous cylinder from its origin to a point."""
    pose, length = segment(np.zeros(3), end)
    b.body(name, shape=Cylinder(radius, length), pose=pose, mass=mass, color=color)


def solid(mass: float, com: ArrayLike, moments: ArrayLike) -> SpatialInertia:
    """An inertia from the moments about the centre of mass: three along the axes, or xx, yy, zz, xy, xz, yz."""
    m = np.asarray(moments, dtype=float)
    xx, yy, zz, xy, xz, yz = m if m.shape == (6,) else (*m, 0.0, 0.0, 0.0)
    return SpatialInertia(mass=mass, com=com, inertia=np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]))
