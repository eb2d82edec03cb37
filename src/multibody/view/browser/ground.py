"""Around a robot in a viewer: the ground, the light, and where a browser looks from first."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from multibody.robot import Robot
from multibody.view.rendering.camera import OPENING, Camera
from multibody.view.shapes.visual_shapes import VisualShapes

MARGIN = 1.25
"""Room around the robot: panels can come beside it."""
FREE = 0.42
"""The upper part of an upright page that the sliders leave free."""


class Scenery:
    """The ground and the camera, fit to a robot at its first configuration."""

    def __init__(self, server: Any, robot: Robot, parts: VisualShapes, q: NDArray[Any]) -> None:
        self._points = parts.points(robot, q)
        low, high = self._points.min(axis=0), self._points.max(axis=0)
        self.size = max(float(np.linalg.norm(high - low)), 0.05)
        """In m: of the robot, across."""
        self.floor = min(0.0, float(low[2]))
        """In m: the height of the ground."""
        cell = float(10 ** np.round(np.log10(self.size / 4)))
        server.scene.add_grid(
            "/ground", infinite_grid=True, cell_size=cell, section_size=10 * cell, fade_distance=20 * self.size,
            position=(0.0, 0.0, self.floor), plane_opacity=0.0,
        )  # fmt: skip
        server.scene.configure_default_lights(cast_shadow=True)
        first = server.initial_camera
        first.fov = float(np.radians(OPENING))
        first.near = 0.01 * self.size
        first.up = (0.0, 0.0, 1.0)
        first.position, first.look_at = self._places(4 / 3)
        server.on_client_connect(self._greet)

    def _places(self, aspect: float) -> tuple[tuple[float, ...], tuple[float, ...]]:
        """Where the camera is, and what it looks at, for a page of some width over height.

        Upright pages, as of telephones, have the sliders over their lower part: the robot is in what is left.
        """
        part = FREE if aspect < 0.8 else 1.0
        camera = Camera.around(self._points, "three-quarter", (round(600 * aspect / part), 600))
        middle = (self._points.min(axis=0) + self._points.max(axis=0)) / 2
        away = MARGIN / part * (camera.position - middle)
        down = (1 - part) * np.linalg.norm(away) * np.tan(np.radians(OPENING) / 2) * camera.axes[1]
        return tuple((middle + away + down).tolist()), tuple((middle + down).tolist())

    def _greet(self, client: Any) -> None:
        """Give a page that is narrower than most a camera of its own."""
        aspect = float(client.camera.aspect)
        if np.isfinite(aspect) and 0.1 < aspect < 1.2:
            position, look_at = self._places(aspect)
            client.camera.position = position
            client.camera.look_at = look_at  # after the position, which takes it along
