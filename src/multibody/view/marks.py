"""What a viewer draws besides the robot: frames, centre of mass, inertias, contacts with forces, traces."""

from collections import deque
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from multibody.errors import InputError
from multibody.geometry import Rotation
from multibody.geometry._arrays import floats
from multibody.robot import Robot

LONGEST = 2000
"""Points of a trace."""
FORCE, CONE = (44, 160, 44), (255, 187, 60)
ContactPoint = tuple[str, NDArray[Any], float]
"""A frame, a point in it in m, and the radius in m of the sphere about it."""


class Mark(Protocol):
    """What a viewer moves along with the robot."""

    def follow(self, q: NDArray[Any]) -> None:
        """To where it is at a configuration."""
        ...

    def remove(self) -> None:
        """Out of the scene."""
        ...


class FrameMark:
    """The axes of a frame, with its name."""

    def __init__(self, server: Any, robot: Robot, frame: str, name: str, length: float) -> None:
        robot.tree.frame(frame)
        self._robot, self._frame = robot, frame
        self.node = server.scene.add_frame(
            f"/{name}-frames/{frame}", axes_length=length, axes_radius=0.04 * length, origin_radius=0.08 * length
        )
        self._label = server.scene.add_label(f"/{name}-frames/{frame}/label", frame)

    def follow(self, q: NDArray[Any]) -> None:
        pose = self._robot.pose(self._frame, q)
        self.node.wxyz, self.node.position = pose.rotation.quaternion, pose.position

    def remove(self) -> None:
        self._label.remove()
        self.node.remove()


class CenterOfMassMark:
    """A ball at the centre of mass, and its shadow straight below."""

    def __init__(self, server: Any, robot: Robot, name: str, radius: float, floor: float) -> None:
        self._robot, self._floor = robot, floor
        self.node = server.scene.add_icosphere(f"/{name}-com/ball", radius, (214, 39, 40))
        self._shadow = server.scene.add_icosphere(
            f"/{name}-com/below", radius, (214, 39, 40), opacity=0.4, scale=(1.0, 1.0, 0.05)
        )

    def follow(self, q: NDArray[Any]) -> None:
        com = self._robot.center_of_mass(q)
        self.node.position, self._shadow.position = com, np.array([com[0], com[1], self._floor])

    def remove(self) -> None:
        self.node.remove()
        self._shadow.remove()


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

    def remove(self) -> None:
        for node in self.nodes:
            node.remove()


class ContactMarks:
    """Points of contact, arrows for the forces on the robot, and the cones that friction keeps these within."""

    def __init__(
        self,
        server: Any,
        robot: Robot,
        points: list[ContactPoint],
        name: str,
        scale: float,
        friction: NDArray[Any] | None,
        normal: NDArray[Any],
    ) -> None:
        """`scale` is the length in m of an arrow for the robot's weight; `friction` (contacts,) is Coulomb's μ."""
        self._server, self._robot, self._points, self._name, self._scale = server, robot, points, name, scale
        self._normal = normal
        self._balls = [
            server.scene.add_icosphere(f"/{name}-contacts/{k}", 0.03 * scale, FORCE) for k in range(len(points))
        ]
        self._cones = [] if friction is None else [self._cone(k, mu) for k, mu in enumerate(friction)]
        self._arrows: Any = None
        self._forces: NDArray[Any] | None = None
        self._weight = max(float(sum(body.inertia.mass for body in robot.bodies)) * 9.81, 1e-6)

    @property
    def count(self) -> int:
        """How many there are."""
        return len(self._points)

    def push(self, forces: NDArray[Any] | None) -> None:
        """The forces (contacts, 3) in N that the next move shows."""
        self._forces = forces

    def follow(self, q: NDArray[Any]) -> None:
        places = np.array([self._robot.pose(frame, q) @ point - radius * self._normal
                           for frame, point, radius in self._points])  # fmt: skip
        pressed = np.ones(len(places), bool) if self._forces is None else np.abs(self._forces).max(axis=1) > 1e-9
        for ball, place in zip(self._balls, places, strict=True):
            ball.position = place
        for cone, place, shown in zip(self._cones, places, pressed.tolist(), strict=True):
            cone.position, cone.visible = place, shown
        if self._forces is None:
            return
        ends = places + self._scale / self._weight * self._forces
        arrows = np.stack([places, ends], axis=1).astype(np.float32)
        if self._arrows is None:
            thick = 0.02 * self._scale
            self._arrows = self._server.scene.add_arrows(
                f"/{self._name}-contacts/forces", arrows, FORCE,
                shaft_radius=thick, head_radius=2 * thick, head_length=4 * thick,
            )  # fmt: skip
        else:
            self._arrows.points = arrows

    def remove(self) -> None:
        arrows = [] if self._arrows is None else [self._arrows]
        for node in [*self._balls, *self._cones, *arrows]:
            node.remove()

    def _cone(self, k: int, mu: float) -> Any:
        vertices, faces = cone(mu, self._normal, 0.3 * self._scale)
        return self._server.scene.add_mesh_simple(
            f"/{self._name}-contacts/cone-{k}", vertices.astype(np.float32), faces.astype(np.uint32),
            color=CONE, opacity=0.3, side="double", cast_shadow=False,
        )  # fmt: skip


def contact_marks(
    contacts: Sequence[Any], forces: ArrayLike | None, friction: ArrayLike | None, normal: ArrayLike
) -> Callable[[Any, Robot, str, float], ContactMarks]:
    """What makes the marks, given the server, the robot, its name and the scale; the arguments are checked at once."""
    points = [_contact_point(contact) for contact in contacts]
    count = len(points)
    up = floats(normal, "normal", 3)
    if up.shape != (3,) or not np.isfinite(up).all() or not np.linalg.norm(up) > 0:
        raise InputError(f"normal: expected three numbers that are not all zero, got {normal!r}")
    pushes = None if forces is None else floats(forces, "forces", 3)
    if pushes is not None and pushes.shape != (count, 3):
        raise InputError(f"forces: expected ({count}, 3), a row for each contact, got shape {pushes.shape}")
    mu = None if friction is None else floats(friction, "friction")
    if mu is not None and (mu.shape not in ((), (count,)) or not (mu >= 0).all() or not np.isfinite(mu).all()):
        raise InputError(f"friction: expected one number from 0 on, or {count}, got {friction!r}")

    def make(server: Any, robot: Robot, name: str, scale: float) -> ContactMarks:
        cones = None if mu is None else np.broadcast_to(mu, (count,))
        marks = ContactMarks(server, robot, points, name, scale, cones, up / np.linalg.norm(up))
        marks.push(pushes)
        return marks

    return make


def _contact_point(contact: Any) -> ContactPoint:
    """Where a contact of a simulator, or a constraint, is on the robot."""
    frame, point = getattr(contact, "frame", None), getattr(contact, "point", None)
    if not isinstance(frame, str) or point is None:
        raise InputError(f"contacts: expected contacts or constraints with a frame and a point, got {contact!r}")
    return frame, floats(point, f"contact at {frame!r}, point", 3), float(getattr(contact, "radius", 0.0))


def cone(mu: float, normal: NDArray[Any], length: float, sides: int = 32) -> tuple[NDArray[Any], NDArray[Any]]:
    """A cone of friction: its tip at the origin, open along the normal, its sides of a length; vertices and faces."""
    first = np.cross(normal, [1.0, 0.0, 0.0] if abs(normal[0]) < 0.9 else [0.0, 1.0, 0.0])
    first = first / np.linalg.norm(first)
    second = np.cross(normal, first)
    angle = np.linspace(0, 2 * np.pi, sides, endpoint=False)[:, None]
    rim = length / np.hypot(1.0, mu) * (normal + mu * (np.cos(angle) * first + np.sin(angle) * second))
    k = np.arange(sides)
    faces = np.stack([np.zeros(sides, int), 1 + (k + 1) % sides, 1 + k], axis=-1)
    return np.concatenate([np.zeros((1, 3)), rim]), faces


class TraceMark:
    """The way that a frame's origin has gone."""

    def __init__(self, server: Any, robot: Robot, frame: str, name: str, thickness: float) -> None:
        robot.tree.frame(frame)
        self._server, self._robot, self._frame = server, robot, frame
        self._path, self._thickness = f"/{name}-traces/{frame}", thickness
        self._points: deque[Any] = deque(maxlen=LONGEST)
        self._line: Any = None

    def follow(self, q: NDArray[Any]) -> None:
        point = np.asarray(self._robot.pose(self._frame, q).position, np.float32)
        if self._points and np.abs(point - self._points[-1]).max() < 0.2 * self._thickness:
            return
        self._points.append(point)
        if len(self._points) < 2:
            return
        points = np.array(self._points)
        segments = np.stack([points[:-1], points[1:]], axis=1)
        if self._line is None:
            self._line = self._server.scene.add_line_segments(
                self._path, segments, (31, 119, 180), thickness=self._thickness
            )
        else:
            self._line.points = segments

    def clear(self) -> None:
        """Begin anew."""
        self._points.clear()
        if self._line is not None:
            self._line.remove()
            self._line = None

    def remove(self) -> None:
        self.clear()
