"""Volumes and inertias of shapes, against integrals: of densities by SymPy, and over points of a grid."""

import math

import numpy as np
import pytest
import sympy as sp

from multibody.errors import InputError
from multibody.model.shapes import Box, Capsule, Cylinder, Ellipsoid, Mesh, Plane, Solid, Sphere

from ..every_law import each_case
from ..laws.tools import near

R, L, X, Y, Z = sp.symbols("R L X Y Z", positive=True)
r, s, t, x, y, z = sp.symbols("r s t x y z", real=True)

SHAPES: dict[str, Solid] = {
    "box": Box([0.3, 0.7, 1.1]),
    "cylinder": Cylinder(0.4, 1.3),
    "sphere": Sphere(0.6),
    "capsule": Capsule(0.3, 0.9),
    "short capsule": Capsule(0.9, 0.1),
    "ellipsoid": Ellipsoid([0.3, 0.8, 1.2]),
}


def inside(shape, points):
    """Which points (..., 3) the shape covers."""
    across = np.hypot(points[..., 0], points[..., 1])
    height = np.abs(points[..., 2])
    match shape:
        case Box():
            return (np.abs(points) <= np.array(shape.size) / 2).all(axis=-1)
        case Cylinder():
            return (across <= shape.radius) & (height <= shape.length / 2)
        case Sphere():
            return np.linalg.norm(points, axis=-1) <= shape.radius
        case Capsule():
            past = np.maximum(height - shape.length / 2, 0.0)
            return np.hypot(across, past) <= shape.radius
        case Ellipsoid():
            return np.linalg.norm(points / np.array(shape.radii), axis=-1) <= 1
    raise AssertionError(shape)


@pytest.mark.parametrize("name", SHAPES)
def test_volume_and_moments_by_points(name):
    shape = SHAPES[name]
    reach, n = 1.3, 120
    side = (np.arange(n) + 0.5) / n * 2 * reach - reach
    points = np.stack(np.meshgrid(side, side, side, indexing="ij"), axis=-1)
    covered = points[inside(shape, points)]
    near(shape.volume, len(covered) * (2 * reach / n) ** 3, 0.02)
    squares = (covered**2).mean(axis=0)
    moments = np.array(shape.moments())
    assert np.abs(moments / (squares.sum() - squares) - 1).max() < 0.04


def cylindrical(radius, low, high):
    """Volume, mean of x² and mean of z² of a body of revolution with that radius (of z)."""
    volume = sp.integrate(sp.pi * radius**2, (z, low, high))
    xx = sp.integrate(sp.pi * radius**4 / 4, (z, low, high)) / volume
    zz = sp.integrate(sp.pi * radius**2 * z**2, (z, low, high)) / volume
    return volume, xx, zz


def exact(name):
    """Volume and moments by integration, as functions of the lengths."""
    match name:
        case "box":
            mean = [sp.integrate(u**2, (u, -side / 2, side / 2)) / side for u, side in ((x, X), (y, Y), (z, Z))]
            return X * Y * Z, mean, (X, Y, Z)
        case "cylinder":
            volume, xx, zz = cylindrical(R, -L / 2, L / 2)
            return volume, [xx, xx, zz], (R, L)
        case "sphere":
            volume, xx, zz = cylindrical(sp.sqrt(R**2 - z**2), -R, R)
            return volume, [xx, xx, zz], (R,)
        case "ellipsoid":
            volume, xx, zz = cylindrical(sp.sqrt(1 - z**2), -1, 1)
            return volume * X * Y * Z, [xx * X**2, xx * Y**2, zz * Z**2], (X, Y, Z)
    end = cylindrical(sp.sqrt(R**2 - (z - L / 2) ** 2), L / 2, L / 2 + R)  # the half sphere at the top
    tube = cylindrical(R, -L / 2, L / 2)
    volume = tube[0] + 2 * end[0]
    xx, zz = ((tube[0] * tube[k] + 2 * end[0] * end[k]) / volume for k in (1, 2))
    return volume, [xx, xx, zz], (R, L)


@pytest.mark.parametrize("name", SHAPES)
def test_volume_and_moments_exactly(name):
    shape = SHAPES[name]
    volume, (xx, yy, zz), symbols = exact(name)
    match shape:
        case Box():
            lengths = shape.size
        case Ellipsoid():
            lengths = shape.radii
        case Cylinder() | Capsule():
            lengths = (shape.radius, shape.length)
        case _:
            lengths = (SHAPES["sphere"].radius,)  # type: ignore[attr-defined]
    values = dict(zip(symbols, lengths, strict=True))
    number = lambda expression: float(expression.subs(values))
    near(shape.volume, number(volume), 1e-14)
    near(shape.moments(), [number(yy + zz), number(xx + zz), number(xx + yy)], 1e-14)


@each_case("name", SHAPES)
def test_inertia_from_mass_or_density(name):
    shape = SHAPES[name]
    by_mass, by_density = shape.inertia(mass=700.0 * shape.volume), shape.inertia(density=700.0)
    near(by_mass.mass, 700.0 * shape.volume, 0.0)
    near(by_mass.matrix, by_density.matrix, 1e-15)
    near(by_mass.com, np.zeros(3), 0.0)
    near(np.diag(by_mass.inertia), by_mass.mass * np.array(shape.moments()), 0.0)
    by_mass.check()


def test_a_capsule_without_length_would_be_a_sphere_and_without_ends_a_cylinder():
    near(Capsule(0.5, 1e-12).moments(), Sphere(0.5).moments(), 1e-11)
    near(Ellipsoid([0.5, 0.5, 0.5]).moments(), Sphere(0.5).moments(), 1e-15)
    near(Capsule(1e-9, 2.0).moments(), Cylinder(1e-9, 2.0).moments(), 1e-8)


@each_case(
    "make, says",
    [
        (lambda: Box([1.0, 2.0]), "Box.size: expected 3 positive numbers of metres, got [1.0, 2.0]"),
        (lambda: Box([1.0, 2.0, 0.0]), "Box.size: expected 3 positive numbers of metres"),
        (lambda: Sphere(-1.0), "Sphere.radius: expected 1 positive number of metres"),
        (lambda: Cylinder(1.0, math.nan), "Cylinder.length: expected 1 positive number of metres"),
        (lambda: Capsule(math.inf, 1.0), "Capsule.radius: expected 1 positive number of metres"),
        (lambda: Ellipsoid([1.0, -2.0, 3.0]), "Ellipsoid.radii: expected 3 positive numbers of metres"),
        (lambda: Sphere(1.0).inertia(), "inertia of a Sphere: expected a mass or a density, got None and None"),
        (lambda: Sphere(1.0).inertia(mass=1, density=1), "inertia of a Sphere: expected a mass or a density"),
        (lambda: Sphere(1.0).inertia(mass=0.0), "inertia of a Sphere: expected a positive mass, got 0.0 kg"),
        (lambda: Sphere(1.0).inertia(density=math.nan), "inertia of a Sphere: expected a positive mass, got nan kg"),
    ],
)
def test_wrong_arguments_are_told(make, says):
    with pytest.raises(InputError) as error:
        make()
    assert says in str(error.value)


def test_shapes_compare_and_hash():
    assert Box([1, 2, 3]) == Box(np.array([1.0, 2.0, 3.0]))
    assert hash(Sphere(1)) == hash(Sphere(1.0))
    assert Cylinder(1, 2) != Capsule(1, 2)
    assert len({Plane(), Plane(), Mesh("a.stl"), Mesh("a.stl", scale=(2.0, 2.0, 2.0))}) == 3
