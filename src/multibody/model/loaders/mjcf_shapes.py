"""The geoms of a compiled MuJoCo model as shapes of links."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multibody.geometry import Pose
from multibody.model.builder import Builder
from multibody.model.loaders.mjcf_poses import Poses
from multibody.model.shapes import Box, Capsule, Cylinder, Ellipsoid, Mesh, Plane, Shape, Sphere

_TYPES = ("plane", "hfield", "sphere", "capsule", "ellipsoid", "cylinder", "box", "mesh", "sdf")
"""MuJoCo's types of geoms, by number."""

_PLAIN = (0.5, 0.5, 0.5, 1.0)
"""The colour of a geom that states none: that of its material holds."""

_SEEN = 2
"""The last group of geoms that MuJoCo shows by default; models put collision shapes into later groups."""


@dataclass(frozen=True)
class MeshFile:
    """The file of a mesh."""

    uri: str
    """As the model writes it."""
    path: Path
    pose: Pose
    """mesh_H_file: the frame of the file in that of MuJoCo's mesh, before MuJoCo moves it to its centre."""


Files = dict[str, MeshFile]
"""Files by the names of their meshes."""


def add_shapes(builder: Builder, m: Any, bodies: tuple[str, ...], files: Files, poses: Poses) -> list[int]:
    """Add all geoms to their links; the numbers of those that have no shape here are returned."""
    left: list[int] = []
    for g in range(m.ngeom):
        shape = _shape(m, g, files)
        if shape is None:
            left.append(g)
            continue
        collides = bool(m.geom_contype[g] or m.geom_conaffinity[g])
        rgba = tuple(float(f"{x:.7g}") for x in _color(m, g))
        builder.shape(
            bodies[m.geom_bodyid[g]],
            shape,
            pose=_pose(m, g, files, poses),
            color=(rgba[0], rgba[1], rgba[2], rgba[3]),
            visual=bool(m.geom_group[g] <= _SEEN or not collides),
            collision=collides,
            name=m.geom(g).name,
        )
    return left


def _shape(m: Any, g: int, files: Files) -> Shape | None:
    kind = _TYPES[m.geom_type[g]]
    a, b, c = m.geom_size[g].tolist()
    if kind == "mesh":
        name = m.mesh(m.geom_dataid[g]).name
        x, y, z = m.mesh_scale[m.geom_dataid[g]].tolist()
        return Mesh(files[name].uri, files[name].path, (x, y, z)) if name in files else Mesh(name)
    made = {
        "plane": lambda: Plane(),
        "sphere": lambda: Sphere(a),
        "capsule": lambda: Capsule(a, 2 * b),
        "ellipsoid": lambda: Ellipsoid((a, b, c)),
        "cylinder": lambda: Cylinder(a, 2 * b),
        "box": lambda: Box((2 * a, 2 * b, 2 * c)),
    }
    return made[kind]() if kind in made else None


def _pose(m: Any, g: int, files: Files, poses: Poses) -> Pose:
    """link_H_shape. MuJoCo moves the triangles of a mesh to their centre and principal axes: this moves them back."""
    if _TYPES[m.geom_type[g]] != "mesh":
        return poses.pose(m.geom_pos[g], m.geom_quat[g])
    exact, k = Poses(snap=0.0), m.geom_dataid[g]
    link_H_geom = exact.pose(m.geom_pos[g], m.geom_quat[g])
    link_H_shape = link_H_geom @ exact.pose(m.mesh_pos[k], m.mesh_quat[k]).inverse()
    if m.mesh(k).name in files:
        link_H_shape = link_H_shape @ files[m.mesh(k).name].pose
    return poses.pose(link_H_shape.position, link_H_shape.rotation.quaternion)


def _color(m: Any, g: int) -> NDArray[Any]:
    plain = np.allclose(m.geom_rgba[g], _PLAIN)
    return m.mat_rgba[m.geom_matid[g]] if plain and m.geom_matid[g] >= 0 else m.geom_rgba[g]
