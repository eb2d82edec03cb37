"""Cameras: from where a picture is taken, and from where the light sees it."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multibody.errors import InputError

VIEWS = {
    "three-quarter": (-40.0, 18.0),
    "front": (0.0, 8.0),
    "side": (-90.0, 8.0),
    "back": (180.0, 8.0),
    "top": (-90.0, 89.9),
}
"""Azimuth from the x axis and elevation of the camera, in degrees: robots look along x."""
OPENING = 32.0
"""Of the picture's height, in degrees."""
MARGIN = 1.08


@dataclass(frozen=True, eq=False)
class Camera:
    """A camera with perspective."""

    position: NDArray[Any]
    axes: NDArray[Any]
    """(3, 3): right, down and forward, as rows."""
    focal: float
    """In pixels."""
    size: tuple[int, int]
    """Width and height, in pixels."""

    def project(self, points: NDArray[Any]) -> NDArray[Any]:
        """(..., 3): x and y in pixels, from the upper left, and the depth in m."""
        seen = (points - self.position) @ self.axes.T
        depth = seen[..., 2]
        scale = self.focal / np.where(depth > 1e-6, depth, 1.0)
        x, y = (seen[..., k] * scale + self.size[k] / 2 for k in (0, 1))
        return np.stack([x, y, np.where(depth > 1e-6, depth, -1.0)], axis=-1)

    def rays(self) -> NDArray[Any]:
        """(h, w, 3): the direction in which each pixel looks, in the world."""
        w, h = self.size
        x, y = np.meshgrid(np.arange(w) + 0.5 - w / 2, np.arange(h) + 0.5 - h / 2)
        return np.stack([x, y, np.full_like(x, self.focal)], axis=-1) @ self.axes / self.focal

    def enlarged(self, times: int) -> "Camera":
        """The same view with more pixels."""
        return replace(self, focal=self.focal * times, size=(self.size[0] * times, self.size[1] * times))

    @staticmethod
    def around(points: NDArray[Any], view: str | tuple[float, float], size: tuple[int, int]) -> "Camera":
        """The nearest camera in a direction that has all points in its picture.

        Args:
            points: (n, 3).
            view: a name out of `VIEWS`, or azimuth and elevation in degrees.
            size: width and height in pixels.
        """
        azimuth, elevation = np.radians(_angles(view))
        back = np.array([np.cos(elevation) * np.cos(azimuth), np.cos(elevation) * np.sin(azimuth), np.sin(elevation)])
        right = np.array([-np.sin(azimuth), np.cos(azimuth), 0.0])
        axes = np.stack([right, np.cross(right, back), -back])
        middle = (points.min(axis=0) + points.max(axis=0)) / 2
        focal = size[1] / 2 / np.tan(np.radians(OPENING) / 2)
        seen = (points - middle) @ axes.T
        needed = [np.abs(seen[:, k]) * 2 * focal / size[k] * MARGIN - seen[:, 2] for k in (0, 1)]
        distance = max(float(np.max(needed)), 1e-3)
        return Camera(middle + distance * back, axes, focal, size)


@dataclass(frozen=True, eq=False)
class Orthographic:
    """The view of a light that is far away."""

    center: NDArray[Any]
    axes: NDArray[Any]
    scale: float
    """In m: half of what it sees."""
    size: tuple[int, int]

    @staticmethod
    def around(corners: NDArray[Any], floor: float | None, light: NDArray[Any], pixels: int) -> "Orthographic":
        """A light that sees all triangles."""
        points = corners.reshape(-1, 3)
        low, high = points.min(axis=0), points.max(axis=0)
        center = (low + high) / 2
        if floor is not None:
            center[2] = max(floor, center[2])
        x = np.cross([0.0, 1.0, 0.0], light)
        x = x / np.linalg.norm(x)
        axes = np.stack([x, np.cross(light, x), -light])
        return Orthographic(center, axes, max(float(np.linalg.norm(high - low)), 1e-3) / 2 * 1.1, (pixels, pixels))

    @property
    def tile(self) -> float:
        """In m: the side of a tile of the floor, a round number."""
        return float(10 ** np.round(np.log10(self.scale / 2)))

    def project(self, points: NDArray[Any]) -> NDArray[Any]:
        """(..., 3): x and y in pixels, and a depth that is positive."""
        seen = (points - self.center) @ self.axes.T / self.scale
        x, y = ((seen[..., k] + 1) / 2 * self.size[k] for k in (0, 1))
        return np.stack([x, y, (seen[..., 2] + 4) * self.scale], axis=-1)

    def lit(self, points: NDArray[Any], depth: NDArray[Any]) -> NDArray[Any]:
        """(n,): from 0 in the shadow to 1 in the light, softly at its edge."""
        x, y, own = np.moveaxis(self.project(points), -1, 0)
        w, h = self.size
        total = np.zeros(len(own))
        steps = (-1, 0, 1)
        for i in steps:
            for j in steps:
                column, row = np.floor(x).astype(int) + i, np.floor(y).astype(int) + j
                outside = (column < 0) | (row < 0) | (column >= w) | (row >= h)
                blocked = depth[np.clip(row, 0, h - 1), np.clip(column, 0, w - 1)] < own - 4e-3 * self.scale
                total += np.where(outside, 1.0, ~blocked)
        return total / len(steps) ** 2


def _angles(view: Any) -> tuple[float, float]:
    if isinstance(view, str):
        if view not in VIEWS:
            raise InputError(f"view: expected one of {', '.join(map(repr, VIEWS))}, or two angles, got {view!r}")
        return VIEWS[view]
    angles = np.asarray(view, float)
    if angles.shape != (2,) or not np.isfinite(angles).all() or abs(angles[1]) >= 90:
        raise InputError(f"view: expected azimuth and elevation in degrees, the latter within ±90, got {view!r}")
    return float(angles[0]), float(angles[1])
