"""Ghosts: translucent copies of a robot at further configurations."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from multibody.view.colors import GHOST_OPACITY, to_bytes
from multibody.view.shapes.visual_shapes import VisualShapes


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
