"""Robots from files: the one door to all formats."""

from __future__ import annotations

import difflib
import os
from collections.abc import Sequence
from typing import IO, Any

from multibody.errors import InputError, RobotFileError
from multibody.geometry._arrays import choice
from multibody.model.build_tree import StructureError
from multibody.model.builder import Builder
from multibody.model.fixed_base_warning import fixed_base
from multibody.model.loaders import urdf
from multibody.model.loaders.meshes import Meshes
from multibody.model.loaders.snap import SNAP
from multibody.model.loaders.source import Source, from_path, from_stream, from_text, is_text
from multibody.model.loaders.xml import Document, parse, tag
from multibody.model.model import Model

ROOTS = {"urdf": "robot", "mjcf": "mujoco", "sdf": "sdf"}
"""The root element of each format."""

SUFFIXES = {".urdf": "urdf", ".mjcf": "mjcf", ".sdf": "sdf"}
"""The extensions that name a format; in any other file the root element does."""


def load(
    source: str | os.PathLike[str] | bytes | IO[Any],
    *,
    floating: bool | None = None,
    velocity: str = "kindr",
    mimic: str = "coupled",
    snap: float = SNAP,
    strict: bool = False,
    roots: Sequence[str | os.PathLike[str]] = (),
    trust_paths: bool = False,
    gravity: Sequence[float] | None = None,
    format: str | None = None,  # noqa: A002
) -> Model:
    """The model of a robot in a file.

    >>> text = '<robot name="rod"><link name="base"/><link name="tip"/><joint name="weld" type="fixed">'
    >>> text += '<parent link="base"/><child link="tip"/><origin xyz="0 0 1"/></joint></robot>'
    >>> model = load(text)
    >>> model.frames
    ('base', 'tip')
    >>> print(model.diagnostics[0])
    note: <string>:1 <link name="tip">: the link is fixed to 'base' by the joint 'weld': ... [merged]

    Args:
        source: the name of an embedded robot, the path of a file, an open file, or XML.
        floating: True adds a floating base: a free joint between the world and the root link. Without it a URDF file
            has its root link fixed to the world, which is a warning where the robot seems to walk or fly; False says
            that this is meant, and is refused where the base floats by itself. An SDF file has a free base unless it is
            static or held to the world; False holds it.
        velocity: how the velocity of that base is written: "kindr", "left", "right" or "mixed".
        mimic: "coupled" joints have no coordinate of their own; "independent" ones move as if nothing tied them.
        snap: entries of rotations within this of 0 and ±1 are made exact; 0 keeps what the file says.
        strict: make an error of the first warning.
        roots: directories in which meshes are looked for, and may be; that of the file is one.
        trust_paths: take meshes from anywhere.
        gravity: (3,) in m/s² along the world's axes, instead of the file's, or of (0, 0, -9.81).
        format: "urdf", "mjcf" or "sdf", where the file does not tell.

    Raises:
        RobotFileError: when there is no such file, or it does not describe a robot: with file, line and element.
    """
    choice(mimic, "mimic", ("coupled", "independent"))
    if format is not None:
        choice(format, "format", tuple(ROOTS))
    if not (isinstance(snap, int | float) and 0 <= snap <= 1e-3):
        raise InputError(f"snap: expected a number from 0 to 1e-3, got {snap!r}")
    embedded = _embedded(source)
    if embedded is not None:
        return _finished(embedded, floating=floating, velocity=velocity, gravity=gravity, strict=strict)
    text = _source(source)
    document = parse(text)
    kind = _format(document, text, format)
    if kind == "mjcf":
        from multibody.model.loaders import mjcf

        builder = mjcf.read(
            text.text.decode() if text.decoded else text.text,
            file=text.file,
            directory=text.directory,
            roots=roots,
            trust_paths=trust_paths,
            snap=snap,
        )
    else:
        meshes = Meshes(text.directory, roots, trust_paths=trust_paths)
        coupled = mimic == "coupled"
        if kind == "sdf":
            from multibody.model.loaders import sdf

            builder = sdf.read(document, meshes=meshes, floating=floating, coupled=coupled, snap=snap)
        else:
            builder = urdf.read(document, meshes=meshes, coupled=coupled, snap=snap)
    try:
        meant = True if kind == "sdf" else None  # that format says itself what is fixed
        return _finished(
            builder, document, floating=floating, velocity=velocity, gravity=gravity, strict=strict, meant=meant
        )
    except StructureError as error:
        element = document.places.get(error.element)
        if element is None:
            raise RobotFileError(str(error), file=text.file) from None
        raise document.error(element, str(error)) from None


def _finished(
    builder: Builder,
    document: Document | None = None,
    *,
    floating: bool | None,
    velocity: str,
    gravity: Sequence[float] | None,
    strict: bool,
    meant: bool | None = None,
) -> Model:
    if gravity is not None:
        builder.gravity = gravity
    model = builder.model(floating=bool(floating), velocity=velocity)
    if floating is False and model.tree.floating:
        base = model.tree.bases[0].name
        raise InputError(
            f"floating=False: expected a robot on a fixed base, but {model.name!r} floats by itself, on the joint "
            f"{base!r}: robot.lock({{{base!r}: (x, y, z, 1, 0, 0, 0)}}) fixes it to the world"
        )
    fixed = fixed_base(
        model, None if document is None else document.file, meant=floating is False if meant is None else meant
    )
    if fixed is not None:
        model = model.with_diagnostics(fixed)
    warning = next((d for d in model.diagnostics if d.level == "warning"), None)
    if strict and warning is not None:
        raise warning.error()
    return model


def _embedded(source: object) -> Builder | None:
    """The robot of a name, if it is one of those that come with the library."""
    if not isinstance(source, str) or is_text(source):
        return None
    from multibody.model import robots

    return robots.build(source) if source in robots.names() else None


def _source(source: Any) -> Source:
    if isinstance(source, bytes) or (isinstance(source, str) and is_text(source)):
        return from_text(source)
    if isinstance(source, str) and not os.path.exists(source):
        raise RobotFileError(_unknown(source))
    if isinstance(source, str | os.PathLike):
        return from_path(source)
    if callable(getattr(source, "read", None)):
        return from_stream(source)
    raise InputError(f"load: expected a path, the name of a robot, an open file or XML, got {type(source).__name__}")


def _unknown(name: str) -> str:
    from multibody.model import robots

    names = robots.names()
    near = difflib.get_close_matches(name, names, n=3, cutoff=0.5)
    directory, base = os.path.split(name)
    if os.path.isdir(directory or "."):
        near += difflib.get_close_matches(base, sorted(os.listdir(directory or ".")), n=3, cutoff=0.7)
    hint = f"did you mean {' or '.join(map(repr, near))}?" if near else f"embedded robots are {', '.join(names)}"
    return f"{name!r} is neither a file nor an embedded robot; {hint}"


def _format(document: Document, source: Source, stated: str | None) -> str:
    """The format of a text, which its root element has to agree with."""
    root = tag(document.root)
    wanted = stated or SUFFIXES.get(source.suffix) or next((f for f, r in ROOTS.items() if r == root), None)
    if wanted is None or ROOTS[wanted] != root:
        expected = "<robot> (URDF), <mujoco> (MJCF) or <sdf>" if wanted is None else f"<{ROOTS[wanted]}>"
        raise document.error(document.root, f"expected the root element {expected}, got <{root}>")
    return wanted
