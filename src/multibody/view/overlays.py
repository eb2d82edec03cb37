"""Overlays that a viewer moves along with a robot: frames, centre of mass, inertia ellipsoids, traces."""

from abc import ABC, abstractmethod
from collections import deque
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from multibody.geometry import Rotation
from multibody.robot import Robot
from multibody.view.colors import INERTIA, MASS, TRACE
from multibody.view.scene import OverlayView

MAX_TRACE = 2000
"""Points of a trace."""


class Place(NamedTuple):
    """The place of an overlay."""

    scene: Any
    """Of viser."""
    robot: Robot
    path: str
    """The name of its root in the scene."""
    size: float
    """The size of the robot, in m."""


class Overlay(ABC):
    """Nodes of a scene that follow a robot; all of them are below the node at a path."""

    def __init__(self, place: Place) -> None:
        self.scene, self.robot, self.path, self.size = place
        self.nodes: list[Any] = []
        self._root = self.scene.add_frame(self.path, show_axes=False)

    @abstractmethod
    def follow(self, q: NDArray[Any]) -> None:
        """Move to a configuration."""

    def remove(self) -> None:
        """Remove all nodes from the scene."""
        self._root.remove()

    def view(self) -> OverlayView:
        """Return a snapshot."""
        return OverlayView(np.array([node.position for node in self.nodes]))


class FrameAxes(Overlay):
    """The axes of a frame, with its name."""

    def __init__(self, place: Place, frame: str) -> None:
        place.robot.tree.frame(frame)
        super().__init__(place)
        self._frame, length = frame, 0.12 * self.size
        sizes = {"axes_length": length, "axes_radius": 0.04 * length, "origin_radius": 0.08 * length}
        self.nodes = [self.scene.add_frame(f"{self.path}/axes", **sizes)]
        self.scene.add_label(f"{self.path}/axes/label", frame)

    def follow(self, q: NDArray[Any]) -> None:
        pose = self.robot.pose(self._frame, q)
        self.nodes[0].wxyz, self.nodes[0].position = pose.rotation.quaternion, pose.position


class CenterOfMass(Overlay):
    """A ball at the centre of mass, and its shadow straight below."""

    def __init__(self, place: Place, floor: float) -> None:
        super().__init__(place)
        self._floor = floor
        flat = {"cast_shadow": False, "opacity": 0.4, "scale": (1.0, 1.0, 0.05)}
        self.nodes = [
            self.scene.add_icosphere(f"{self.path}/{name}", 0.02 * self.size, MASS, **more)
            for name, more in (("ball", {}), ("below", flat))
        ]

    def follow(self, q: NDArray[Any]) -> None:
        x, y, z = self.robot.center_of_mass(q)
        for node, height in zip(self.nodes, (z, self._floor), strict=True):
            node.position = np.array([x, y, height])


class InertiaEllipsoids(Overlay):
    """The ellipsoid of uniform density with the mass and moments of inertia of each body."""

    def __init__(self, place: Place) -> None:
        super().__init__(place)
        self._bodies = [body for body in self.robot.bodies if body.inertia.mass > 0]
        self._axes = []
        for body in self._bodies:
            moments, axes = np.linalg.eigh(np.asarray(body.inertia.inertia, float))
            self._axes.append(axes * np.sign(np.linalg.det(axes)))
            radii = np.sqrt(np.maximum(moments.sum() / 2 - moments, 1e-12) * 5 / body.inertia.mass)
            look = {"color": INERTIA, "opacity": 0.45, "cast_shadow": False, "scale": tuple(radii.tolist())}
            self.nodes.append(self.scene.add_icosphere(f"{self.path}/{body.name}", 1.0, **look))

    def follow(self, q: NDArray[Any]) -> None:
        poses = self.robot.poses(q)
        for node, body, axes in zip(self.nodes, self._bodies, self._axes, strict=True):
            pose = poses[body.name]
            node.position = pose @ np.asarray(body.inertia.com, float)
            node.wxyz = Rotation.from_matrix(pose.rotation.matrix @ axes).quaternion


class Trace(Overlay):
    """The path of a frame's origin."""

    def __init__(self, place: Place, frame: str) -> None:
        place.robot.tree.frame(frame)
        super().__init__(place)
        self._frame, self._thickness = frame, 0.006 * self.size
        self._points: deque[Any] = deque(maxlen=MAX_TRACE)

    def follow(self, q: NDArray[Any]) -> None:
        point = np.asarray(self.robot.pose(self._frame, q).position, np.float32)
        if self._points and np.abs(point - self._points[-1]).max() < 0.2 * self._thickness:
            return
        self._points.append(point)
        points = np.array(self._points)
        segments = np.stack([points[:-1], points[1:]], axis=1)
        if self.nodes:
            self.nodes[0].points = segments
        elif len(segments):
            self.nodes = [self.scene.add_line_segments(f"{self.path}/line", segments, TRACE, thickness=self._thickness)]

    def clear(self) -> None:
        """Start the path anew."""
        self._points.clear()
        for node in self.nodes:
            node.remove()
        self.nodes = []

    def view(self) -> OverlayView:
        return OverlayView(np.reshape(self._points, (-1, 3)))
