"""The camera of a picture."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multibody.errors import InputError
from multibody.view.shapes.surfaces import rotate

VIEWS = {
    "three-quarter": (-40.0, 18.0),
    "front": (0.0, 8.0),
    "side": (-90.0, 8.0),
    "back": (180.0, 8.0),
    "top": (-90.0, 89.9),
}
"""Azimuth from the x axis and elevation of the camera, in degrees: robots look along x."""
FIELD_OF_VIEW = 32.0
"""The field of view over the height of a picture, in degrees."""
MARGIN = 1.08
"""The part of the picture that stays free around the robot, plus 1."""


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
        """Return (..., 3): x and y in pixels, from the upper left, and the depth in m."""
        seen = rotate(self.axes, points - self.position)
        depth = seen[..., 2]
        scale = self.focal / np.where(depth > 1e-6, depth, 1.0)
        x, y = (seen[..., k] * scale + self.size[k] / 2 for k in (0, 1))
        return np.stack([x, y, np.where(depth > 1e-6, depth, -1.0)], axis=-1)

    def rays(self, pixels: NDArray[Any]) -> NDArray[Any]:
        """Return (n, 3): the direction in which pixels look, in the world; pixels are counted row by row."""
        w, h = self.size
        x, y = pixels % w + 0.5 - w / 2, pixels // w + 0.5 - h / 2
        return rotate(self.axes.T, np.stack([x / self.focal, y / self.focal, np.ones(len(x))], axis=-1))

    def enlarged(self, times: int) -> "Camera":
        """Return this view with more pixels."""
        return replace(self, focal=self.focal * times, size=(self.size[0] * times, self.size[1] * times))

    @staticmethod
    def around(points: NDArray[Any], view: str | tuple[float, float], size: tuple[int, int]) -> "Camera":
        """Return the nearest camera in a direction that has all points in its picture.

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
        focal = size[1] / 2 / np.tan(np.radians(FIELD_OF_VIEW) / 2)
        seen = rotate(axes, points - middle)
        needed = [np.abs(seen[:, k]) * 2 * focal / size[k] * MARGIN - seen[:, 2] for k in (0, 1)]
        distance = max(float(np.max(needed)), 1e-3)
        return Camera(middle + distance * back, axes, focal, size)


def _angles(view: Any) -> tuple[float, float]:
    if isinstance(view, str):
        if view not in VIEWS:
            raise InputError(f"view: expected one of {', '.join(map(repr, VIEWS))}, or two angles, got {view!r}")
        return VIEWS[view]
    angles = np.asarray(view, float)
    if angles.shape != (2,) or not np.isfinite(angles).all() or abs(angles[1]) >= 90:
        raise InputError(f"view: expected azimuth and elevation in degrees, the latter within ±90, got {view!r}")
    return float(angles[0]), float(angles[1])
