"""A small renderer: triangles with hidden parts hidden, light and shadow, in NumPy alone.

Triangles become rows of pixels, many at once; of those at one pixel the nearest stays. Colours are computed once for
each pixel, at the end.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from multibody.view.camera import Camera, Orthographic
from multibody.view.surfaces import Surface

ROWS = 300_000
"""Of all triangles together, that are filled in one go."""
LIGHT = np.array([0.35, -0.45, 0.82])
"""Towards the light, along the world's axes."""
SHADOW = 1024
"""Pixels of the light's own picture, in each direction."""
AMBIENT, SKY, SUN, GLOSS = 0.38, 0.18, 0.46, 0.14
BACKGROUND = np.array([1.0, 1.0, 1.0])
FLOOR = np.array([[0.90, 0.91, 0.93], [0.84, 0.86, 0.89]])
"""The two colours of its tiles."""


class Fragments(NamedTuple):
    """What each pixel shows."""

    depth: NDArray[Any]
    """(h, w): along the view, infinite where there is nothing."""
    triangle: NDArray[Any]
    """(h, w): its index, or -1."""
    weights: NDArray[Any]
    """(h, w, 3): of its corners."""


def render(surfaces: list[Surface], camera: Camera, floor: float | None, samples: int = 2) -> NDArray[Any]:
    """The picture, (height, width, 3) from 0 to 1.

    Args:
        surfaces: in the world.
        camera: from where.
        floor: the height of the floor in m, or None.
        samples: pixels that are computed in each direction for one of the picture.
    """
    corners, normals, colors = _triangles(surfaces)
    large = camera.enlarged(samples)
    seen = rasterize(large.project(corners), large.size)
    light = LIGHT / np.linalg.norm(LIGHT)
    sun = Orthographic.around(corners, floor, light, SHADOW)
    shade = rasterize(sun.project(corners), sun.size, perspective=False).depth
    image = np.repeat(np.repeat(_floor_image(camera, floor, sun, shade), samples, axis=0), samples, axis=1)
    hit = seen.triangle >= 0
    which, weights = seen.triangle[hit], seen.weights[hit][..., None]
    point = np.sum(corners[which] * weights, axis=1)
    normal = np.sum(normals[which] * weights, axis=1)
    normal = normal / np.maximum(np.linalg.norm(normal, axis=-1, keepdims=True), 1e-12)
    toward = large.position - point
    toward = toward / np.linalg.norm(toward, axis=-1, keepdims=True)
    normal = np.where(
        np.sum(normal * toward, axis=-1, keepdims=True) < 0, -normal, normal
    )  # open meshes have two sides
    image[hit] = _lit(colors[which], normal, toward, light, sun.lit(point + 1e-3 * sun.scale * normal, shade))
    h, w = camera.size[1], camera.size[0]
    return np.clip(image.reshape(h, samples, w, samples, 3).mean(axis=(1, 3)), 0.0, 1.0)


def rasterize(screen: NDArray[Any], size: tuple[int, int], perspective: bool = True) -> Fragments:
    """Fill triangles, row by row of pixels.

    Args:
        screen: (n, 3, 3): of each corner x and y in pixels, and its depth; one that is not positive is not drawn.
        size: width and height.
        perspective: whether 1/depth is linear on the screen, in place of the depth.
    """
    w, h = size
    buffer = Fragments(np.full(w * h, np.inf), np.full(w * h, -1), np.zeros((w * h, 3)))
    first, last = (_pixel(edge, h) for edge in (screen[..., 1].min(axis=1), screen[..., 1].max(axis=1)))
    rows = np.where((screen[..., 2] > 0).all(axis=1), last - first, 0)
    total = np.cumsum(rows)
    pieces = np.searchsorted(total, np.arange(ROWS, total[-1] + 1, ROWS)) if len(total) else []
    for part in np.split(np.arange(len(screen)), pieces):
        _fill(screen, part, first[part], rows[part], size, perspective, buffer)
    return Fragments(buffer.depth.reshape(h, w), buffer.triangle.reshape(h, w), buffer.weights.reshape(h, w, 3))


def _fill(
    screen: NDArray[Any],
    part: NDArray[Any],
    first: NDArray[Any],
    rows: NDArray[Any],
    size: tuple[int, int],
    perspective: bool,
    buffer: Fragments,
) -> None:
    """Fill some of the triangles."""
    which = np.repeat(part, rows)
    row = _counted(first, rows)
    x, y = screen[which, :, 0], screen[which, :, 1]
    middle = row[:, None] + 0.5
    x_next, y_next = np.roll(x, -1, axis=1), np.roll(y, -1, axis=1)
    crossed = (y <= middle) != (y_next <= middle)  # each row crosses two edges
    slope = (x_next - x) / np.where(crossed, y_next - y, 1.0)
    at = x + (middle - y) * slope
    left = _pixel(np.where(crossed, at, np.inf).min(axis=1), size[0])
    right = _pixel(np.where(crossed, at, -np.inf).max(axis=1), size[0])
    lengths = np.maximum(right - left, 0)
    column, row, which = _counted(left, lengths), np.repeat(row, lengths), np.repeat(which, lengths)
    corners = screen[which]
    weights = _shares(corners, column + 0.5, row + 0.5)
    if perspective:
        weights = weights / corners[..., 2]
        weights = weights / weights.sum(axis=-1, keepdims=True)
    near = np.sum(weights * corners[..., 2], axis=-1).astype(np.float32)  # equal, where rounding alone differs
    pixel = row * size[0] + column
    visible = np.flatnonzero(near <= buffer.depth[pixel])
    visible = visible[np.argsort(-near[visible], kind="stable")]  # of several at one pixel the nearest is written last
    pixel = pixel[visible]
    buffer.depth[pixel], buffer.triangle[pixel] = near[visible], which[visible]
    buffer.weights[pixel] = weights[visible]


def _pixel(x: NDArray[Any], most: int) -> NDArray[Any]:
    """The first pixel whose middle is not before x, within the picture."""
    return np.clip(np.ceil(x - 0.5), 0, most).astype(int)


def _counted(first: NDArray[Any], counts: NDArray[Any]) -> NDArray[Any]:
    """The integers from each first on, as many as each count."""
    ends = np.cumsum(counts)
    return np.arange(ends[-1] if len(ends) else 0) + np.repeat(first - (ends - counts), counts)


def _shares(corners: NDArray[Any], x: NDArray[Any], y: NDArray[Any]) -> NDArray[Any]:
    """(n, 3): the barycentric coordinates of points in triangles on the screen."""
    (ax, ay), (bx, by), (cx, cy) = ((corners[:, k, 0], corners[:, k, 1]) for k in range(3))
    area = (bx - ax) * (cy - ay) - (by - ay) * (cx - ax)
    area = np.where(np.abs(area) > 1e-12, area, 1e-12)
    a = ((bx - x) * (cy - y) - (by - y) * (cx - x)) / area
    b = ((cx - x) * (ay - y) - (cy - y) * (ax - x)) / area
    weights = np.maximum(np.stack([a, b, 1.0 - a - b], axis=-1), 0.0)  # a middle can lie past an edge by rounding
    return weights / weights.sum(axis=-1, keepdims=True)


def _triangles(surfaces: list[Surface]) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Corners (n, 3, 3), normals (n, 3, 3), colours (n, 3)."""
    corners = np.concatenate([each.vertices[each.faces] for each in surfaces])
    normals = np.concatenate([each.normals[each.faces] for each in surfaces])
    colors = np.concatenate([np.tile(each.color[:3], (len(each.faces), 1)) for each in surfaces])
    return corners, normals, colors


def _lit(
    color: NDArray[Any], normal: NDArray[Any], toward: NDArray[Any], light: NDArray[Any], sunny: NDArray[Any]
) -> NDArray[Any]:
    """Colours under a bright sky and a sun, with a highlight."""
    sun = np.maximum(normal @ light, 0.0) * sunny
    half = light + toward
    half = half / np.linalg.norm(half, axis=-1, keepdims=True)
    gloss = np.maximum(np.sum(normal * half, axis=-1), 0.0) ** 40 * (sun > 0)
    brightness = AMBIENT + SKY * (0.5 + 0.5 * normal[:, 2]) + SUN * sun
    return color * brightness[:, None] + GLOSS * (gloss * sunny)[:, None]


def _floor_image(camera: Camera, floor: float | None, sun: Orthographic, shade: NDArray[Any]) -> NDArray[Any]:
    """What is behind the robot: tiles that fade into the background, with shadows."""
    w, h = camera.size
    image = np.tile(BACKGROUND, (h, w, 1))
    if floor is None:
        return image
    rays = camera.rays().reshape(-1, 3)
    below = np.flatnonzero(rays[:, 2] < -1e-6)
    far = (floor - camera.position[2]) / rays[below, 2]
    point = camera.position + far[:, None] * rays[below]
    away = np.linalg.norm(point[:, :2] - sun.center[:2], axis=-1) / sun.scale
    fade = np.clip(2.4 - away, 0.0, 1.0)
    near = (fade > 0) & (far > 0)
    below, point, fade = below[near], point[near], fade[near, None]
    odd = (np.floor(point[:, 0] / sun.tile) + np.floor(point[:, 1] / sun.tile)).astype(int) & 1
    sunny = sun.lit(point + np.array([0, 0, 1e-3 * sun.scale]), shade)
    color = FLOOR[odd] * (0.62 + 0.38 * sunny)[:, None]
    image.reshape(-1, 3)[below] = BACKGROUND + fade * (color - BACKGROUND)
    return image
