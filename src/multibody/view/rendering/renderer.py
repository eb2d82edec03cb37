"""Pictures of triangles: hidden parts hidden, light, shadows, and a floor."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multibody.view.colors import BACKGROUND, FLOOR
from multibody.view.rendering.camera import Camera
from multibody.view.rendering.lighting import ShadowMap, shade
from multibody.view.rendering.rasterizer import barycentric, rasterize
from multibody.view.shapes.surfaces import Surface, joined

SHADOW_PIXELS = 1024
"""Pixels of the shadow map in each direction."""


def render(surfaces: list[Surface], camera: Camera, floor: float | None, samples: int = 2) -> NDArray[Any]:
    """Return the picture, (height, width, 3) from 0 to 1.

    Visibility is decided at `samples`² points of each pixel; a triangle is shaded once for each pixel that shows it.

    Args:
        surfaces: in the world.
        camera: the view.
        floor: the height of the floor in m, or None.
        samples: points of a pixel in each direction.
    """
    every = joined(surfaces)
    colors = np.repeat([each.color[:3] for each in surfaces], [len(each.faces) for each in surfaces], axis=0)
    large = camera.enlarged(samples)
    screen = large.project(every.vertices)
    (w, h), n = camera.size, samples
    seen = rasterize(screen, every.faces, large.size).triangle
    seen = seen.reshape(h, n, w, n).transpose(1, 3, 0, 2).reshape(n * n, h * w)
    shadows = ShadowMap.cast(every.vertices, every.faces, floor, SHADOW_PIXELS)

    bare = (seen < 0).mean(axis=0)
    image = np.tile(BACKGROUND, (h * w, 1))
    _draw_floor(image, np.flatnonzero(bare), camera, floor, shadows)
    image *= bare[:, None]
    for pixel, which, share, x, y in _covered(seen, (w, h), n):
        corners = every.faces[which]
        weights = barycentric(screen[corners], x, y)
        point, normal = (_interpolated(values[corners], weights) for values in (every.vertices, every.normals))
        normal = _unit(np.where(_is_backward(screen[corners])[:, None], -normal, normal))  # open meshes have two sides
        sunny = shadows.sunny(point, normal)
        image[pixel] += share[:, None] * shade(colors[which], normal, _unit(camera.position - point), sunny)
    return np.clip(image.reshape(h, w, 3), 0.0, 1.0)


def _is_backward(corners: NDArray[Any]) -> NDArray[Any]:
    """Whether the back of triangles (n, 3, 3) on the screen is seen."""
    (ax, ay), (bx, by) = ((corners[:, k] - corners[:, 0])[:, :2].T for k in (1, 2))
    return ax * by - ay * bx > 0


def _interpolated(corners: NDArray[Any], weights: NDArray[Any]) -> NDArray[Any]:
    """Values (n, 3) between those at the corners, (n, 3, 3); a sum over a middle axis takes longer."""
    a, b, c = (corners[:, k] * weights[:, k, None] for k in range(3))
    return a + b + c


def _unit(vectors: NDArray[Any]) -> NDArray[Any]:
    return vectors / np.maximum(np.linalg.norm(vectors, axis=-1, keepdims=True), 1e-12)


def _covered(seen: NDArray[Any], size: tuple[int, int], n: int) -> Iterator[tuple[NDArray[Any], ...]]:
    """Pixels with each of their triangles once: pixel, triangle, its share of the samples, and their mean x and y.

    No part has a pixel twice. `seen` has the triangle of each sample, (n², pixels).
    """
    offsets = np.divmod(np.arange(n * n)[:, None], n)
    for k in range(n * n):
        pixel = np.flatnonzero((seen[k] >= 0) & (seen[:k] != seen[k]).all(axis=0))
        same = seen[:, pixel] == seen[k, pixel]
        count = same.sum(axis=0)
        row, column = (np.sum(same * offset, axis=0) / count + 0.5 for offset in offsets)
        x, y = n * (pixel % size[0]) + column, n * (pixel // size[0]) + row
        yield pixel, seen[k, pixel], count / n**2, x, y


def _draw_floor(
    image: NDArray[Any], pixels: NDArray[Any], camera: Camera, floor: float | None, shadows: ShadowMap
) -> None:
    """Draw tiles that fade into the background, with shadows, at some pixels of (h w, 3)."""
    if floor is None:
        return
    rays = camera.rays(pixels)
    down = rays[:, 2] < -1e-6
    pixels, rays = pixels[down], rays[down]
    far = (floor - camera.position[2]) / rays[:, 2]
    point = camera.position + far[:, None] * rays
    away = np.linalg.norm(point[:, :2] - shadows.center[:2], axis=-1) / shadows.scale
    fade = np.clip(2.4 - away, 0.0, 1.0)
    near = (fade > 0) & (far > 0)
    pixels, point, fade = pixels[near], point[near], fade[near, None]
    tile = float(10 ** np.round(np.log10(shadows.scale / 2)))  # in m
    odd = (np.floor(point[:, 0] / tile) + np.floor(point[:, 1] / tile)).astype(int) & 1
    sunny = shadows.sunny(point, np.array([0.0, 0.0, 1.0]))
    image[pixels] += fade * (np.array(FLOOR)[odd] * (0.62 + 0.38 * sunny)[:, None] - BACKGROUND)
