"""The surroundings of a robot in a viewer: the ground, the light, and the first camera."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from multibody.robot import Robot
from multibody.view.rendering.camera import FIELD_OF_VIEW, Camera
from multibody.view.shapes.visual_shapes import VisualShapes

MARGIN = 1.25
"""The room around the robot, for panels beside it."""
FREE = 0.42
"""The upper part of an upright page that the sliders leave free."""


class Surroundings:
    """The ground and the camera, fit to a robot at its first configuration."""

    def __init__(self, server: Any, robot: Robot, shapes: VisualShapes, q: NDArray[Any]) -> None:
        self._points = shapes.points(robot, q)
        low, high = self._points.min(axis=0), self._points.max(axis=0)
        self.size = max(float(np.linalg.norm(high - low)), 0.05)
        """The size of the robot, in m."""
        self.floor = min(0.0, float(low[2]))
        """The height of the ground, in m."""
        cell = float(10 ** np.round(np.log10(self.size / 4)))
        server.scene.add_grid(
            "/ground", infinite_grid=True, cell_size=cell, section_size=10 * cell, fade_distance=20 * self.size,
            position=(0.0, 0.0, self.floor), plane_opacity=0.0,
        )  # fmt: skip
        server.scene.configure_default_lights(cast_shadow=True)
        first = server.initial_camera
        first.fov = float(np.radians(FIELD_OF_VIEW))
        first.near = 0.01 * self.size
        first.up = (0.0, 0.0, 1.0)
        first.position, first.look_at = first_camera(self._points, 4 / 3)
        server.on_client_connect(self._greet)

    def _greet(self, client: Any) -> None:
        """Give a page that is narrower than most a camera of its own."""
        aspect = float(client.camera.aspect)
        if np.isfinite(aspect) and 0.1 < aspect < 1.2:
            position, look_at = first_camera(self._points, aspect)
            client.camera.position = position
            client.camera.look_at = look_at  # after the position, which takes it along


def first_camera(points: NDArray[Any], aspect: float) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Return the camera's position and the point that it looks at, for points in a page of some width over height.

    Upright pages, as of telephones, have the sliders over their lower part: the robot is in what is left.
    """
    part = FREE if aspect < 0.8 else 1.0
    camera = Camera.around(points, "three-quarter", (round(600 * aspect / part), 600))
    middle = (points.min(axis=0) + points.max(axis=0)) / 2
    away = MARGIN / part * (camera.position - middle)
    down = (1 - part) * np.linalg.norm(away) * np.tan(np.radians(FIELD_OF_VIEW) / 2) * camera.axes[1]
    return tuple((middle + away + down).tolist()), tuple((middle + down).tolist())
