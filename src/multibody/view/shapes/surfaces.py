"""Triangles of shapes, for pictures and the viewer."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from multibody.geometry import Pose
from multibody.model.shapes import Box, Capsule, Cylinder, Ellipsoid, Shape, Sphere
from multibody.view.colors import Color

SIDES = 32
"""The sides of round shapes."""


def rotate(R: NDArray[Any], points: NDArray[Any]) -> NDArray[Any]:
    """Return R (3, 3) times each of the points (..., 3).

    It avoids BLAS, whose threads spin longer than such a product takes.
    """
    x, y, z = points[..., 0], points[..., 1], points[..., 2]
    return np.stack([x * a + y * b + z * c for a, b, c in R.tolist()], axis=-1)


class Surface(NamedTuple):
    """Triangles of one colour."""

    vertices: NDArray[Any]
    """(v, 3), in m."""
    faces: NDArray[Any]
    """(f, 3): indices of vertices, counter-clockwise from outside."""
    normals: NDArray[Any]
    """(v, 3): unit vectors, outward."""
    color: Color

    def at(self, pose: Pose) -> "Surface":
        """Return this surface, moved."""
        R = np.asarray(pose.rotation.matrix, float)
        return self._replace(vertices=rotate(R, self.vertices) + pose.position, normals=rotate(R, self.normals))

    def indexed(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return vertices and faces for a browser: triangles share vertices that have one place and one normal."""
        both = np.concatenate([self.vertices.round(6), self.normals.round(3)], axis=1)
        _, first, where = np.unique(both, axis=0, return_index=True, return_inverse=True)
        return self.vertices[first].astype(np.float32), where.reshape(-1)[self.faces].astype(np.uint32)

    def paler(self, share: float) -> "Surface":
        """Return this surface in a colour mixed with a share of white."""
        r, g, b, alpha = self.color
        return self._replace(color=(r + share * (1 - r), g + share * (1 - g), b + share * (1 - b), alpha))


def surface_of(shape: Shape, color: Color) -> Surface | None:
    """The surface of a solid, about the origin of its frame; None of meshes and planes, which have no solid form."""
    if isinstance(shape, Box):
        return _faceted(_CORNERS * np.array(shape.size), _SQUARES, color)
    if isinstance(shape, Sphere):
        return _globe(np.full(3, shape.radius), 0.0, color)
    if isinstance(shape, Ellipsoid):
        return _globe(np.array(shape.radii), 0.0, color)
    if isinstance(shape, Capsule):
        return _globe(np.full(3, shape.radius), shape.length, color)
    if isinstance(shape, Cylinder):
        return _cylinder(shape.radius, shape.length, color)
    return None


def rod(start: NDArray[Any], end: NDArray[Any], radius: float, color: Color) -> Surface:
    """A capsule from one point to another."""
    way = np.asarray(end, float) - start
    length = float(np.linalg.norm(way))
    z = way / length if length > 0 else np.array([0.0, 0.0, 1.0])
    aside = np.eye(3)[np.argmin(np.abs(z))]
    x = np.cross(aside, z) / np.linalg.norm(np.cross(aside, z))
    R = np.stack([x, np.cross(z, x), z], axis=1)
    capsule = _globe(np.full(3, radius), length, color)
    middle = (np.asarray(start, float) + end) / 2
    return capsule._replace(vertices=capsule.vertices @ R.T + middle, normals=capsule.normals @ R.T)


def smooth(vertices: NDArray[Any], faces: NDArray[Any], color: Color, crease: float = 35.0) -> Surface:
    """A surface of triangles as a file has them: shaded smoothly, but for edges sharper than `crease`, in degrees."""
    corners = vertices[faces]
    cross = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    area = np.linalg.norm(cross, axis=-1)
    keep = area > 0
    corners, cross, area = corners[keep], cross[keep], area[keep]
    flat = cross / area[:, None]
    _, where = np.unique(corners.reshape(-1, 3).round(7), axis=0, return_inverse=True)
    total = np.zeros((where.max(initial=-1) + 1, 3))
    np.add.at(total, where, np.repeat(cross, 3, axis=0))
    size = np.linalg.norm(total, axis=-1, keepdims=True)
    mean = (total / np.maximum(size, 1e-300))[where].reshape(-1, 3, 3)
    alike = np.sum(mean * flat[:, None], axis=-1, keepdims=True) > np.cos(np.radians(crease))
    normals = np.where(alike, mean, flat[:, None])
    n = 3 * len(corners)
    return Surface(corners.reshape(-1, 3), np.arange(n).reshape(-1, 3), normals.reshape(-1, 3), color)


_CORNERS = np.array([[x, y, z] for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])
_SQUARES = np.array([[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]])


def _faceted(corners: NDArray[Any], squares: NDArray[Any], color: Color) -> Surface:
    """Squares with corners of their own."""
    vertices = corners[squares]
    normals = np.cross(vertices[:, 1] - vertices[:, 0], vertices[:, 2] - vertices[:, 0])
    normals = normals / np.linalg.norm(normals, axis=-1, keepdims=True)
    first = 4 * np.arange(len(squares))[:, None]
    faces = np.concatenate([first + np.array(half) for half in ((0, 1, 2), (0, 2, 3))])
    return Surface(vertices.reshape(-1, 3), faces, np.repeat(normals, 4, axis=0), color)


def _globe(radii: NDArray[Any], length: float, color: Color) -> Surface:
    """An ellipsoid along z, its halves apart by a length."""
    angle = np.linspace(0, np.pi / 2, SIDES // 4 + 1)
    polar = np.concatenate([angle, np.pi / 2 + angle])  # the equator twice, one for each half
    sphere = _revolved(np.sin(polar), np.cos(polar), np.sin(polar), np.cos(polar), color)
    normals = sphere.normals / radii
    vertices = sphere.vertices * radii
    vertices[:, 2] += np.repeat([length / 2, -length / 2], len(vertices) // 2)
    normals = normals / np.linalg.norm(normals, axis=-1, keepdims=True)
    return _cleaned(sphere._replace(vertices=vertices, normals=normals))


def _cylinder(radius: float, length: float, color: Color) -> Surface:
    """A cylinder along z: the top, the side and the bottom, which share no normals."""
    r, z = np.array([0, 1, 1, 1, 1, 0]) * radius, np.array([1, 1, 1, -1, -1, -1]) * length / 2
    return _cleaned(_revolved(r, z, np.array([0, 0, 1, 1, 0, 0]), np.array([1, 1, 0, 0, -1, -1]), color))


def _revolved(
    r: NDArray[Any], z: NDArray[Any], r_normal: NDArray[Any], z_normal: NDArray[Any], color: Color
) -> Surface:
    """The surface of a profile that turns about z, from the top down."""
    around = np.linspace(0, 2 * np.pi, SIDES, endpoint=False)
    x, y = np.cos(around), np.sin(around)

    def ring(radius: NDArray[Any], height: NDArray[Any]) -> NDArray[Any]:
        rings = np.outer(radius, x), np.outer(radius, y), np.outer(height, np.ones(SIDES))
        return np.stack(rings, axis=-1).reshape(-1, 3)

    k, j = np.meshgrid(np.arange(len(r) - 1), np.arange(SIDES), indexing="ij")
    right = (j + 1) % SIDES
    a, b, c, d = k * SIDES + j, k * SIDES + right, (k + 1) * SIDES + j, (k + 1) * SIDES + right
    faces = np.concatenate([np.stack([a, c, d], -1).reshape(-1, 3), np.stack([a, d, b], -1).reshape(-1, 3)])
    return Surface(ring(r, z), faces, ring(r_normal, z_normal), color)


def _cleaned(surface: Surface) -> Surface:
    """A surface without its triangles of no area, as at poles and between rings at one place."""
    a, b, c = surface.vertices[surface.faces].swapaxes(0, 1)
    area = np.linalg.norm(np.cross(b - a, c - a), axis=1)
    return surface._replace(faces=surface.faces[area > 1e-9 * area.max()])


def joined(surfaces: list[Surface]) -> Surface:
    """Surfaces of one colour as one."""
    first = np.cumsum([0, *(len(each.vertices) for each in surfaces)])
    faces = [each.faces + start for each, start in zip(surfaces, first[:-1], strict=True)]
    vertices, normals = (np.concatenate([each[k] for each in surfaces]) for k in (0, 2))
    return Surface(vertices, np.concatenate(faces), normals, surfaces[0].color)
