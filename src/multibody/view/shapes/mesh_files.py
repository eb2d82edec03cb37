"""Triangles of mesh files, with their colours: STL and OBJ by trimesh, Collada by pycollada."""

import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multibody.errors import InputError, missing_package
from multibody.view.colors import Color
from multibody.view.shapes.surfaces import Surface, smooth

TYPES = ("stl", "obj", "dae", "ply", "glb", "gltf")
Part = tuple[NDArray[Any], NDArray[Any], Color | None]
"""Vertices (v, 3), faces (f, 3), and the colour where the file has one."""


def read(path: Path, scale: tuple[float, float, float], color: Color | None, other: Color) -> list[Surface]:
    """The surfaces of a file, one for each of its materials.

    Args:
        path: the file.
        scale: along x, y and z.
        color: what the robot file says, for all of it; None for the mesh's own.
        other: where neither says one.

    Raises:
        InputError: when the file cannot be read as a mesh.
    """
    kind = path.suffix.lower().removeprefix(".")
    if kind not in TYPES:
        raise InputError(f"the mesh {path.name!r}: expected one of {', '.join(TYPES)}, got {kind!r}")
    reader = _collada if kind == "dae" else _others
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what libraries tell each other about their ages
            parts = [part for part in reader(path) if len(part[1])]
    except ImportError as error:
        raise missing_package("meshes need trimesh and pycollada", "view", str(error.name)) from None
    except Exception as error:  # readers of foreign files fail in their own ways
        raise InputError(f"the mesh {path.name!r} cannot be read: {type(error).__name__}: {error}") from None
    if not parts:
        raise InputError(f"the mesh {path.name!r} has no triangles")
    turned = np.prod(scale) < 0
    return [
        smooth(vertices * scale, faces[:, ::-1] if turned else faces, color or own or other)
        for vertices, faces, own in parts
    ]


def _collada(path: Path) -> Iterator[Part]:
    """The parts of a Collada file, in metres. Robot files take its axes as they are, whichever it says is up."""
    import collada
    from collada.common import DaeBrokenRefError, DaeUnsupportedError
    from collada.polylist import BoundPolylist
    from collada.triangleset import BoundTriangleSet

    ignored = [DaeUnsupportedError, DaeBrokenRefError]  # as of textures that are not there
    with path.open("rb") as stream:
        file: Any = collada.Collada(stream, ignore=ignored)
    metre = file.assetInfo.unitmeter or 1.0
    for geometry in file.scene.objects("geometry"):
        for primitive in geometry.primitives():
            triangles = primitive.triangleset() if isinstance(primitive, BoundPolylist) else primitive  # polygons, too
            if isinstance(triangles, BoundTriangleSet) and triangles.vertex is not None:
                diffuse = getattr(getattr(triangles.material, "effect", None), "diffuse", None)
                color: Any = (*map(float, diffuse[:3]), 1.0) if isinstance(diffuse, tuple) else None
                yield np.asarray(triangles.vertex, float) * metre, np.asarray(triangles.vertex_index), color


def _others(path: Path) -> Iterator[Part]:
    import trimesh

    scene: Any = trimesh.load_scene(str(path), file_type=path.suffix.lower().removeprefix("."))
    for part in scene.dump(concatenate=False):
        if isinstance(part, trimesh.Trimesh):
            yield np.asarray(part.vertices, float), np.asarray(part.faces), _color(part)


def _color(part: Any) -> Color | None:
    """The colour of a part: of its material, or the mean over its faces or its texture."""
    visual = part.visual
    if visual.kind == "texture":
        main = np.asarray(visual.material.main_color, float) / 255
        texture = getattr(visual.material, "image", None)
        if texture is not None:
            main[:3] = np.asarray(texture.convert("RGB"), float).reshape(-1, 3).mean(axis=0) / 255
        return tuple(main.tolist())
    if visual.kind in ("face", "vertex"):
        colors = visual.face_colors if visual.kind == "face" else visual.vertex_colors
        return tuple((np.asarray(colors, float).mean(axis=0) / 255).tolist())
    return None
