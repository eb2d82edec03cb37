"""Light on surfaces: a bright sky, and a sun with shadows."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multibody.view.rendering.rasterizer import rasterize
from multibody.view.shapes.surfaces import rotate

SUN = np.array([0.35, -0.45, 0.82]) / np.linalg.norm([0.35, -0.45, 0.82])
"""The direction towards the sun, along the world's axes."""
AMBIENT, SKY, DIFFUSE, GLOSS = 0.38, 0.18, 0.46, 0.14
"""The parts of brightness: everywhere, from above, from the sun, and its highlights."""


def shade(color: NDArray[Any], normal: NDArray[Any], toward: NDArray[Any], sunny: NDArray[Any]) -> NDArray[Any]:
    """Return the colours (n, 3) of points in the light.

    Args:
        color: (n, 3) of the surface.
        normal: (n, 3), unit vectors.
        toward: (n, 3), unit vectors to the camera.
        sunny: (n,), from 0 in the shadow to 1 in the light.
    """
    sun = np.maximum(np.sum(normal * SUN, axis=-1), 0.0) * sunny
    half = SUN + toward
    half = half / np.linalg.norm(half, axis=-1, keepdims=True)
    gloss = np.maximum(np.sum(normal * half, axis=-1), 0.0) ** 40 * (sun > 0)
    brightness = AMBIENT + SKY * (0.5 + 0.5 * normal[:, 2]) + DIFFUSE * sun
    return color * brightness[:, None] + GLOSS * (gloss * sunny)[:, None]


@dataclass(frozen=True, eq=False)
class ShadowMap:
    """The distances to the nearest surfaces, as the sun sees them; points behind these are in the shadow."""

    center: NDArray[Any]
    axes: NDArray[Any]
    """(3, 3): right, down and away from the sun, as rows."""
    scale: float
    """In m: half of the map's side."""
    depth: NDArray[Any]
    """(n, n), with a border of two pixels at infinity."""

    @staticmethod
    def cast(points: NDArray[Any], faces: NDArray[Any], floor: float | None, pixels: int) -> "ShadowMap":
        """Draw the map of all triangles, with a number of pixels in each direction."""
        low, high = points.min(axis=0), points.max(axis=0)
        center = (low + high) / 2
        if floor is not None:
            center[2] = max(floor, center[2])
        x = np.cross([0.0, 1.0, 0.0], SUN)
        x = x / np.linalg.norm(x)
        scale = max(float(np.linalg.norm(high - low)), 1e-3) / 2 * 1.1
        empty = ShadowMap(center, np.stack([x, np.cross(SUN, x), -SUN]), scale, np.empty((pixels + 4, pixels + 4)))
        depth = rasterize(empty.project(points), faces, (pixels, pixels), perspective=False).depth
        return ShadowMap(center, empty.axes, scale, np.pad(depth, 2, constant_values=np.inf))

    @property
    def pixel(self) -> float:
        """In m: the side of a pixel."""
        return 2 * self.scale / (len(self.depth) - 4)

    def project(self, points: NDArray[Any]) -> NDArray[Any]:
        """Return (..., 3): x and y in pixels, and a depth that is positive, in m."""
        seen = rotate(self.axes, points - self.center)
        return np.concatenate([(seen[..., :2] + self.scale) / self.pixel, seen[..., 2:] + 4 * self.scale], axis=-1)

    def sunny(self, points: NDArray[Any], normals: NDArray[Any]) -> NDArray[Any]:
        """Return (n,): from 0 in the shadow to 1 in the light, softly at the edge of shadows."""
        n = len(self.depth)
        x, y, own = self.project(points + 0.5 * self.pixel * normals).T
        column, row = (np.clip(np.floor(values).astype(int) + 2, 1, n - 2) for values in (x, y))
        own = (own - 2 * self.pixel).astype(self.depth.dtype)
        depth, middle = self.depth.reshape(-1), row * n + column
        total = np.zeros(len(own))
        for step in (i * n + j for i in (-1, 0, 1) for j in (-1, 0, 1)):
            total += depth[middle + step] >= own
        return total / 9
