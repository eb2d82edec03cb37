"""What a viewer draws besides the robot: frames, centre of mass, inertias, contacts with forces, traces."""

from collections import deque
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multibody.geometry import Rotation
from multibody.robot import Robot

LONGEST = 2000
"""Points of a trace."""


class FrameMark:
    """The axes of a frame, with its name."""

    def __init__(self, server: Any, robot: Robot, frame: str, name: str, length: float) -> None:
        robot.tree.frame(frame)
        self._robot, self._frame = robot, frame
        self.node = server.scene.add_frame(
            f"/{name}-frames/{frame}", axes_length=length, axes_radius=0.04 * length, origin_radius=0.08 * length
        )
        server.scene.add_label(f"/{name}-frames/{frame}/label", frame)

    def follow(self, q: NDArray[Any]) -> None:
        pose = self._robot.pose(self._frame, q)
        self.node.wxyz, self.node.position = pose.rotation.quaternion, pose.position


class CenterOfMassMark:
    """A ball at the centre of mass, and its shadow straight below."""

    def __init__(self, server: Any, robot: Robot, name: str, radius: float) -> None:
        self._robot = robot
        self.node = server.scene.add_icosphere(f"/{name}-com/ball", radius, (214, 39, 40))
        self._shadow = server.scene.add_icosphere(
            f"/{name}-com/below", radius, (214, 39, 40), opacity=0.4, scale=(1.0, 1.0, 0.05)
        )

    def follow(self, q: NDArray[Any]) -> None:
        com = self._robot.center_of_mass(q)
        self.node.position, self._shadow.position = com, np.array([com[0], com[1], 0.0])


class InertiaMarks:
    """For each body the ellipsoid of uniform density that has its mass and moments of inertia."""

    DENSITY = 1000.0

    def __init__(self, server: Any, robot: Robot, name: str) -> None:
        self._robot, self.nodes, self._places = robot, [], []
        for body in robot.bodies:
            inertia = body.inertia
            if not inertia.mass > 0:
                continue
            moments, axes = np.linalg.eigh(np.asarray(inertia.inertia, float))
            axes = axes * np.sign(np.linalg.det(axes))
            squares = np.maximum(moments.sum() / 2 - moments, 1e-12) * 5 / inertia.mass
            node = server.scene.add_icosphere(
                f"/{name}-inertias/{body.name}",
                1.0,
                (255, 127, 14),
                opacity=0.45,
                scale=tuple(np.sqrt(squares).tolist()),
            )
            self.nodes.append(node)
            self._places.append((body.name, np.asarray(inertia.com, float), axes))

    def follow(self, q: NDArray[Any]) -> None:
        poses = self._robot.poses(q)
        for node, (body, com, axes) in zip(self.nodes, self._places, strict=True):
            pose = poses[body]
            node.position = pose @ com
            node.wxyz = Rotation.from_matrix(pose.rotation.matrix @ axes).quaternion


class ContactMarks:
    """Points of contact, and arrows for the forces on the robot."""

    def __init__(
        self, server: Any, robot: Robot, points: list[tuple[str, NDArray[Any]]], name: str, scale: float
    ) -> None:
        self._server, self._robot, self._points, self._name, self._scale = server, robot, points, name, scale
        self._balls = [
            server.scene.add_icosphere(f"/{name}-contacts/{k}", 0.04 * scale, (44, 160, 44)) for k in range(len(points))
        ]
        self._arrows: Any = None
        self._forces: NDArray[Any] | None = None
        self._weight = max(float(sum(body.inertia.mass for body in robot.bodies)) * 9.81, 1e-6)

    @property
    def count(self) -> int:
        """How many there are."""
        return len(self._points)

    def push(self, forces: NDArray[Any] | None) -> None:
        """The forces (contacts, 3) in N that the next move shows; a robot's weight is as long as the scale."""
        self._forces = forces

    def follow(self, q: NDArray[Any]) -> None:
        places = np.array([self._robot.pose(frame, q) @ point for frame, point in self._points])
        for ball, place in zip(self._balls, places, strict=True):
            ball.position = place
        if self._forces is None:
            return
        ends = places + self._scale / self._weight * self._forces
        arrows = np.stack([places, ends], axis=1).astype(np.float32)
        if self._arrows is None:
            thick = 0.02 * self._scale
            self._arrows = self._server.scene.add_arrows(
                f"/{self._name}-contacts/forces", arrows, (44, 160, 44),
                shaft_radius=thick, head_radius=2 * thick, head_length=4 * thick,
            )  # fmt: skip
        else:
            self._arrows.points = arrows


class TraceMark:
    """The way that a frame's origin has gone."""

    def __init__(self, server: Any, robot: Robot, frame: str, name: str, thickness: float) -> None:
        robot.tree.frame(frame)
        self._server, self._robot, self._frame = server, robot, frame
        self._path, self._thickness = f"/{name}-traces/{frame}", thickness
        self._points: deque[Any] = deque(maxlen=LONGEST)
        self._line: Any = None

    def follow(self, q: NDArray[Any]) -> None:
        self._points.append(np.asarray(self._robot.pose(self._frame, q).position, np.float32))
        if len(self._points) < 2:
            return
        points = np.array(self._points)
        segments = np.stack([points[:-1], points[1:]], axis=1)
        self._line = self._server.scene.add_line_segments(
            self._path, segments, (31, 119, 180), thickness=self._thickness
        )

    def clear(self) -> None:
        """Begin anew."""
        self._points.clear()
        if self._line is not None:
            self._line.remove()
            self._line = None
