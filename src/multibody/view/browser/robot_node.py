"""A robot in the scene of a viewer: its links, moved by configurations; several at once are ghosts."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from multibody.errors import InputError
from multibody.geometry import Pose, Rotation
from multibody.model import check_configuration
from multibody.robot import Robot
from multibody.view.shapes.surfaces import Surface
from multibody.view.shapes.visual_shapes import VisualShapes, visual_shapes

GHOST = 0.35
"""The opacity of one of several."""


class Puppet:
    """The surfaces of a robot below a node of the scene."""

    def __init__(self, server: Any, robot: Robot, q: NDArray[Any], name: str, place: Pose) -> None:
        self.robot, self.name, self._place = robot, name, place
        self.parts: VisualShapes = visual_shapes(robot)
        self._server = server
        self._poses = robot.kernel("poses")
        self._rows = np.array([robot.frames.index(link) for link in self.parts.links], int)
        self._meshes: list[tuple[Any, float]] = []
        self._solid = self._make_solid()
        self._ghosts: list[tuple[int, Any]] = []
        self.q = q
        self.move(q)

    def move(self, q: Any) -> None:
        """To one configuration (nq,); of several, (n, nq), the last is solid and the others are ghosts."""
        q = check_configuration.coordinates(self.robot.tree, q)
        states: NDArray[Any] = np.asarray(q, float).reshape(-1, self.robot.nq)
        if not len(states) or not np.isfinite(states).all():
            raise InputError(f"q: expected finite coordinates (..., {self.robot.nq}), got shape {np.shape(q)}, {q}")
        R, p = self._frames(states)
        R, p = self._place.rotation.matrix @ R, p @ self._place.rotation.matrix.T + self._place.position
        turns = Rotation.from_matrix(R).quaternion if len(self._rows) else np.zeros((len(states), 0, 4))
        self.q = np.asarray(q, float)
        with self._server.atomic():
            for k, node in enumerate(self._solid):
                node.wxyz, node.position = turns[-1, k], p[-1, k]
            self._move_ghosts(turns[:-1], p[:-1])

    def _frames(self, states: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        R, p = self._poses(states)
        return np.asarray(R)[:, self._rows], np.asarray(p)[:, self._rows]

    def _make_solid(self) -> list[Any]:
        scene, nodes = self._server.scene, []
        for link, surfaces in self.parts.links.items():
            nodes.append(scene.add_frame(f"/{self.name}/{link}", show_axes=False))
            for j, surface in enumerate(surfaces):
                vertices, faces = surface.indexed()
                alpha = surface.color[3]
                mesh = scene.add_mesh_simple(
                    f"/{self.name}/{link}/{j}",
                    vertices.astype(np.float32),
                    faces.astype(np.uint32),
                    color=bytes_of(surface),
                    opacity=None if alpha >= 1 else alpha,
                    side="double",
                )
                self._meshes.append((mesh, alpha))
        return nodes

    def fade(self, opacity: float) -> None:
        """Let what is inside be seen, 1 for not at all."""
        for mesh, own in self._meshes:
            alpha = own * opacity
            mesh.opacity = None if alpha >= 1 else alpha

    def _move_ghosts(self, turns: NDArray[Any], p: NDArray[Any]) -> None:
        count = len(turns)
        if self._ghosts and (not count or len(self._ghosts[0][1].batched_positions) != count):
            for _, node in self._ghosts:
                node.remove()
            self._ghosts = []
        if not count:
            return
        if self._ghosts:
            for k, node in self._ghosts:
                node.batched_positions, node.batched_wxyzs = p[:, k].astype(np.float32), turns[:, k].astype(np.float32)
            return
        for k, (link, surfaces) in enumerate(self.parts.links.items()):
            for j, surface in enumerate(surfaces):
                vertices, faces = surface.indexed()
                node = self._server.scene.add_batched_meshes_simple(
                    f"/{self.name}-ghosts/{link}/{j}",
                    vertices.astype(np.float32),
                    faces.astype(np.uint32),
                    turns[:, k].astype(np.float32),
                    p[:, k].astype(np.float32),
                    batched_colors=bytes_of(surface),
                    opacity=GHOST,
                )
                self._ghosts.append((k, node))


def bytes_of(surface: Surface) -> tuple[int, int, int]:
    """The colour from 0 to 255."""
    r, g, b = (round(255 * min(max(x, 0.0), 1.0)) for x in surface.color[:3])
    return r, g, b
