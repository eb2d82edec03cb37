"""The files that an MJCF model names besides its XML: which MuJoCo may open, and which it need not."""

import os
from pathlib import Path
from typing import Any

import numpy as np

from multibody.errors import InputError
from multibody.geometry import Pose
from multibody.model.loaders.meshes import Meshes
from multibody.model.loaders.mjcf_diagnostics import Notes
from multibody.model.loaders.mjcf_poses import Poses
from multibody.model.loaders.mjcf_shapes import Files, MeshFile


def prepare(spec: Any, meshes: Meshes, notes: Notes) -> Files:
    """Point MuJoCo to the meshes that it may open; take out those that are missing, and what nothing here uses."""
    for material in spec.materials:
        material.textures = [""] * len(material.textures)
    for asset in [*spec.textures, *spec.skins]:
        spec.delete(asset)
    for field in spec.hfields:
        if field.file:
            notes.note("ignored", f"the height field {_named(field)!r} is ignored")
            _remove(spec, field, [geom for geom in spec.geoms if geom.hfieldname == _named(field)])
    files: Files = {}
    for mesh in spec.meshes:
        if not mesh.file:
            continue
        written = os.path.basename(mesh.file) if spec.strippath else mesh.file
        uri = os.path.join(mesh.compiler.meshdir, written)
        place = notes.place("meshes", mesh.id)
        reason = f"the mesh {uri!r} is not found"
        try:
            path = meshes.find(uri)
        except InputError as error:
            reason, path = str(error), None
        if path is None:
            shapes = [geom for geom in spec.geoms if geom.meshname == _named(mesh)]
            notes.warn(
                "mesh",
                f"{reason}: {len(shapes)} shapes are left out, and with them the mass that they would have given to "
                "bodies without <inertial>",
                place,
            )
            _remove(spec, mesh, shapes)
            continue
        mesh.name, mesh.file = _named(mesh), os.path.abspath(path)
        files[mesh.name] = MeshFile(uri, path, _reference(mesh))
        if files[mesh.name].pose.rotation != Pose.identity().rotation and len(set(mesh.scale.tolist())) > 1:
            notes.warn(
                "mesh", f"the mesh {uri!r} has a refquat and scales that differ: its shape here is sheared", place
            )
    spec.strippath = False
    return files


def _reference(mesh: Any) -> Pose:
    """mesh_H_file: MuJoCo turns and moves vertices from a reference pose, then scales them."""
    file_H_reference = Poses(snap=0.0).pose(mesh.refpos, mesh.refquat)
    back = file_H_reference.inverse()
    return Pose(back.rotation, back.position * np.array(mesh.scale))


def _named(asset: Any) -> str:
    return asset.name or Path(asset.file).stem


def _remove(spec: Any, asset: Any, users: list[Any]) -> None:
    for item in [*users, asset]:
        spec.delete(item)
