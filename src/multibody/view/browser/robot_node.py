"""A robot in the scene of a viewer: its links, moved by configurations."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from multibody.errors import InputError
from multibody.geometry import Pose, Rotation
from multibody.model import check_configuration
from multibody.robot import Robot
from multibody.view.colors import GHOST_OPACITY, to_bytes
from multibody.view.scene import LinkView, RobotView
from multibody.view.shapes.visual_shapes import VisualShapes, visual_shapes


class RobotNode:
    """The surfaces of a robot below a node of the scene."""

    def __init__(self, server: Any, robot: Robot, q: NDArray[Any], name: str, place: Pose) -> None:
        self.robot, self.name, self.q, self._place, self._server = robot, name, q, place, server
        self.shapes = visual_shapes(robot)
        self._poses = robot.kernel("poses")
        self._rows = np.array([robot.frames.index(link) for link in self.shapes.links], int)
        self._links = {link: self._add(link) for link in self.shapes.links}
        self._ghosts = Ghosts(server, name, self.shapes)
        self.move(q)

    @property
    def state(self) -> NDArray[Any]:
        """The configuration (nq,) of the robot itself, without ghosts."""
        return np.atleast_2d(self.q)[-1]

    def move(self, q: Any) -> None:
        """Move to one configuration (nq,); of several, (n, nq), the last is solid and the others are ghosts."""
        q = np.asarray(check_configuration.coordinates(self.robot.tree, q), float)
        states = q.reshape(int(np.prod(q.shape[:-1])), self.robot.nq)
        if not len(states) or not np.isfinite(states).all():
            raise InputError(f"q: expected finite coordinates (..., {self.robot.nq}), got shape {np.shape(q)}, {q}")
        R, p = (np.asarray(values)[:, self._rows] for values in self._poses(states))
        R, p = self._place.rotation.matrix @ R, p @ self._place.rotation.matrix.T + self._place.position
        turns = Rotation.from_matrix(R).quaternion if len(self._rows) else np.zeros((len(states), 0, 4))
        self.q = states[0] if len(states) == 1 else states
        with self._server.atomic():
            for k, (frame, _) in enumerate(self._links.values()):
                frame.wxyz, frame.position = turns[-1, k], p[-1, k]
            self._ghosts.move(turns[:-1], p[:-1])

    def fade(self, opacity: float) -> None:
        """Set the opacity of all links, relative to their own: 1 for solid ones."""
        for link, (_, meshes) in self._links.items():
            for mesh, surface in zip(meshes, self.shapes.links[link], strict=True):
                mesh.opacity = _opacity(surface.color[3] * opacity)

    def view(self) -> RobotView:
        """Return a snapshot."""
        links = {}
        for k, (link, (frame, meshes)) in enumerate(self._links.items()):
            pose = Pose(Rotation.from_quaternion(np.array(frame.wxyz, float)), np.array(frame.position, float))
            opacity = min(1.0 if mesh.opacity is None else float(mesh.opacity) for mesh in meshes)
            colors = tuple(tuple(mesh.color) for mesh in meshes)
            links[link] = LinkView(pose, self._ghosts.positions[:, k], colors, opacity, bool(frame.visible))
        return RobotView(self.q, links)

    def _add(self, link: str) -> tuple[Any, list[Any]]:
        """The node of a link, and its meshes."""
        scene, path = self._server.scene, f"/{self.name}/{link}"
        frame = scene.add_frame(path, show_axes=False)
        meshes = []
        for j, surface in enumerate(self.shapes.links[link]):
            look = {"color": to_bytes(surface.color), "opacity": _opacity(surface.color[3]), "side": "double"}
            meshes.append(scene.add_mesh_simple(f"{path}/{j}", *surface.indexed(), **look))
        return frame, meshes


class Ghosts:
    """Batched meshes, one for each surface of a robot."""

    def __init__(self, server: Any, name: str, shapes: VisualShapes) -> None:
        self._scene, self._name, self._shapes = server.scene, name, shapes
        self._nodes: list[tuple[int, Any]] = []
        self.positions = np.zeros((0, len(shapes.links), 3), np.float32)
        """(n, links, 3): those that are drawn, in m."""

    def move(self, quaternions: NDArray[Any], positions: NDArray[Any]) -> None:
        """Move to poses of all links, (n, links, 4) and (n, links, 3)."""
        wxyz, positions = quaternions.astype(np.float32), positions.astype(np.float32)
        if len(positions) != len(self.positions):
            for _, node in self._nodes:
                node.remove()
            self._nodes = []
        self.positions = positions
        for k, node in self._nodes:
            node.batched_positions, node.batched_wxyzs = positions[:, k], wxyz[:, k]
        if self._nodes or not len(positions):
            return
        for k, (link, surfaces) in enumerate(self._shapes.links.items()):
            for j, surface in enumerate(surfaces):
                path, color = f"/{self._name}-ghosts/{link}/{j}", to_bytes(surface.color)
                node = self._scene.add_batched_meshes_simple(
                    path, *surface.indexed(), wxyz[:, k], positions[:, k], batched_colors=color, opacity=GHOST_OPACITY
                )
                self._nodes.append((k, node))


def _opacity(alpha: float) -> float | None:
    """An opacity as viser has it: None for solid surfaces."""
    return None if alpha >= 1 else alpha
