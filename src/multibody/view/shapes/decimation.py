"""Meshes decimated to what the pixels of a picture need: vertices are clustered in a grid."""

from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from multibody.robot import Robot
from multibody.view.shapes.surfaces import Surface
from multibody.view.shapes.visual_shapes import VisualShapes, visual_shapes

MIN_TRIANGLES = 2000
"""Surfaces with fewer triangles, as those of solids, are left as they are."""
_CACHE: WeakKeyDictionary[Robot, tuple[tuple[bool, int], VisualShapes]] = WeakKeyDictionary()


def shapes_for_picture(robot: Robot, size: tuple[int, int], collisions: bool = False) -> VisualShapes:
    """Return the shapes of a robot with meshes decimated to the pixels of a picture that it fills.

    Those for the last size are cached as long as the robot: mesh files are read for the first picture only.
    """
    key = collisions, min(size)
    before = _CACHE.get(robot)
    if before is None or before[0] != key:
        shapes = visual_shapes(robot, collisions)
        points = shapes.points(robot, robot.home())
        cell = float(np.linalg.norm(np.ptp(points, axis=0))) / min(size)
        links = {link: tuple(decimate(each, cell) for each in own) for link, own in shapes.links.items()}
        before = _CACHE[robot] = key, VisualShapes(links, shapes.notes)
    return before[1]


def decimate(surface: Surface, cell: float) -> Surface:
    """Return a surface whose vertices are merged within each cell of a grid.

    Vertices move to the mean of their cell, by less than its diagonal. Triangles with two corners in one cell vanish,
    and so do copies, so that no hole opens. Normals are averaged among those that point alike, so that edges
    stay sharp.

    Args:
        surface: its triangles; fewer than `MIN_TRIANGLES` are left as they are.
        cell: the side of a cell, in m.
    """
    if len(surface.faces) < MIN_TRIANGLES or not cell > 0:
        return surface
    place = np.floor((surface.vertices - surface.vertices.min(axis=0)) / cell).astype(np.int64)
    a, b, c = surface.vertices[surface.faces].swapaxes(0, 1)
    areas = np.linalg.norm(np.cross(b - a, c - a), axis=1)
    weights = np.bincount(surface.faces.reshape(-1), np.repeat(areas, 3), len(surface.vertices)) + 1e-12
    where, points = _means((place[:, 0] << 42) | (place[:, 1] << 21) | place[:, 2], surface.vertices, weights)
    side = (surface.normals.round() + 1) @ [9, 3, 1]
    group, normals = _means(27 * where + side.astype(np.int64), surface.normals, weights)
    a, b, c = np.sort(where[surface.faces], axis=1).T
    _, first = np.unique((a * len(points) + b) * len(points) + c, return_index=True)
    first = first[(a[first] < b[first]) & (b[first] < c[first])]
    used, faces = np.unique(group[surface.faces[first]], return_inverse=True)
    cell_of_group = np.empty(len(normals), int)
    cell_of_group[group] = where
    normals = normals[used] / np.maximum(np.linalg.norm(normals[used], axis=1, keepdims=True), 1e-12)
    return Surface(points[cell_of_group[used]], faces.reshape(-1, 3), normals, surface.color)


def _means(keys: NDArray[Any], values: NDArray[Any], weights: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """The group of each key, and the weighted mean of the values (n, 3) in each group."""
    _, group = np.unique(keys, return_inverse=True)
    sums = [np.bincount(group, weights * each) for each in values.T]
    return group, np.stack(sums, axis=1) / np.bincount(group, weights)[:, None]
