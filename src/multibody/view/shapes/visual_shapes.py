"""Visual shapes of a robot: the surfaces of its links, with stand-ins for missing meshes."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multibody.errors import InputError
from multibody.model.link import Geometry
from multibody.model.shapes import Mesh, Plane
from multibody.robot import Robot
from multibody.view.colors import MAX_PALENESS, PLAIN, STICK, Color
from multibody.view.shapes import mesh_files
from multibody.view.shapes.surfaces import Surface, joined, rod, surface_of


@dataclass(frozen=True, eq=False)
class VisualShapes:
    """The surfaces of a robot's links."""

    links: dict[str, tuple[Surface, ...]]
    """By the name of the link, in its frame; links without any are left out."""
    notes: tuple[str, ...]
    """Shapes that could not be drawn as the file has them, and their stand-ins."""

    def placed(self, robot: Robot, q: NDArray[Any]) -> list[Surface]:
        """Return the surfaces in the world at configurations (nq,) or (n, nq); all but those of the last are paler."""
        states = np.atleast_2d(q)
        poses = robot.poses(states)
        paleness = np.linspace(MAX_PALENESS, 0.0, len(states)) if len(states) > 1 else [0.0]
        return [
            surface.at(poses[link][k]).paler(float(pale))
            for k, pale in enumerate(paleness)
            for link, own in self.links.items()
            for surface in own
        ]

    def points(self, robot: Robot, q: NDArray[Any]) -> NDArray[Any]:
        """Return all vertices (v, 3) in the world, at one or several configurations, (nq,) or (n, nq)."""
        return np.concatenate([surface.vertices for surface in self.placed(robot, q)])


def visual_shapes(robot: Robot, collisions: bool = False) -> VisualShapes:
    """Return the visual shapes of a robot, or its collision shapes.

    A mesh that is missing or cannot be read gives way to the link's collision shapes, and these to lines from joint to
    joint; a robot without any shapes is lines alone.
    """
    model = robot.model
    links: dict[str, tuple[Surface, ...]] = {}
    notes: list[str] = []
    bare: list[str] = []
    for link in model.links:
        first, second = (link.collisions, link.visuals) if collisions else (link.visuals, link.collisions)
        surfaces = _surfaces(first, link.name, notes)
        if first and not surfaces:
            surfaces = _surfaces(second, link.name, [])
            if not surfaces and any(isinstance(geometry.shape, Mesh) for geometry in first):
                bare.append(link.name)
        if surfaces:
            links[link.name] = tuple(_by_color(surfaces))
    if bare or not links:
        names = bare if links else [link.name for link in model.links]
        notes.append(f"lines from joint to joint stand for {_listed(names)}" if links else "no shapes: lines are drawn")
        for link, surface in _sticks(robot, set(names)):
            links[link] = (*links.get(link, ()), surface)
    return VisualShapes(links, tuple(dict.fromkeys(notes)))


def _surfaces(geometries: tuple[Geometry, ...], link: str, notes: list[str]) -> list[Surface]:
    surfaces: list[Surface] = []
    for geometry in geometries:
        color = geometry.color
        if (color is not None and color[3] == 0.0) or isinstance(geometry.shape, Plane):
            continue
        solid = surface_of(geometry.shape, color or PLAIN)
        if solid is not None:
            surfaces.append(solid.at(geometry.pose))
        elif isinstance(geometry.shape, Mesh):
            surfaces += [each.at(geometry.pose) for each in _mesh(geometry.shape, color, link, notes)]
    return surfaces


def _mesh(mesh: Mesh, color: Color | None, link: str, notes: list[str]) -> list[Surface]:
    if mesh.path is None:
        notes.append(f"link {link!r}: the mesh {mesh.uri!r} was not found")
        return []
    try:
        return mesh_files.read(mesh.path, mesh.scale, color, PLAIN)
    except InputError as error:
        notes.append(f"link {link!r}: {error}")
        return []


def _by_color(surfaces: list[Surface]) -> list[Surface]:
    colors = dict.fromkeys(surface.color for surface in surfaces)
    return [joined([each for each in surfaces if each.color == color]) for color in colors]


def _sticks(robot: Robot, among: set[str]) -> list[tuple[str, Surface]]:
    """Lines on links: from the link's origin to the joints on it, or to its frames at the end of a chain."""
    model = robot.model
    ends: dict[str, list[Any]] = {}
    for joint in model.all_joints:
        if joint.parent in among:
            ends.setdefault(joint.parent, []).append(joint.placement.position)
    for frame in model.extra_frames:
        if frame.link in among and frame.link not in ends:
            ends[frame.link] = [frame.pose.position]
    radius = 0.012 * _size(robot)
    for name in among - set(ends):
        ends[name] = [np.zeros(3)]
    return [
        (link, rod(np.zeros(3), np.asarray(end, float), radius, STICK)) for link, all_ in ends.items() for end in all_
    ]


def _size(robot: Robot) -> float:
    """The size of the robot, in m."""
    positions = np.array([pose.position for pose in robot.poses(robot.neutral()).values()])
    return max(float(np.linalg.norm(positions.max(axis=0) - positions.min(axis=0))), 0.1)


def _listed(names: list[str], most: int = 5) -> str:
    more = f" and {len(names) - most} more links" if len(names) > most else ""
    return ", ".join(names[:most]) + more
