"""MJCF models, through MuJoCo's own compiler.

A free joint has MuJoCo's coordinates: the pose in the world. With the velocity "kindr" q and v are MuJoCo's qpos and
qvel, number by number. The world is the link "world".
"""

import contextlib
import importlib
import os
import re
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from multibody._fork import ForkSafeLock
from multibody.errors import RobotFileError, missing_package
from multibody.model.builder import Builder
from multibody.model.loaders import mjcf_actuators, mjcf_assets
from multibody.model.loaders.meshes import Meshes
from multibody.model.loaders.mjcf_bodies import Bodies
from multibody.model.loaders.mjcf_diagnostics import Notes
from multibody.model.loaders.mjcf_includes import Text, merged
from multibody.model.loaders.mjcf_poses import Poses
from multibody.model.loaders.mjcf_shapes import Files, add_shapes
from multibody.model.loaders.source import STRING, from_text

_UNNAMED = "MuJoCo Model"
_NO_GRAVITY = 1 << 7
"""MuJoCo's flag for a simulation without gravity."""

_WARNINGS_LOCK = ForkSafeLock()
"""MuJoCo has one warning handler per process."""

_LINE = re.compile(r"[Ll]ine(?: number=| )(\d+)")
_FINITE = {
    "bodies": ("body_pos", "body_quat", "body_mass", "body_ipos", "body_iquat", "body_inertia"),
    "joints": ("jnt_pos", "jnt_axis", "jnt_stiffness"),
    "dofs": ("dof_damping", "dof_armature", "dof_frictionloss"),
    "sites": ("site_pos", "site_quat"),
    "geoms": ("geom_pos", "geom_quat", "geom_size"),
    "actuators": ("actuator_gear", "actuator_armature", "actuator_damping"),
    "keys": ("key_qpos",),
    "": ("qpos0", "qpos_spring"),
}
"""The arrays that are read, by their owners."""

_NOT_NEGATIVE = {
    "joints": ("jnt_stiffness",),
    "dofs": ("dof_damping", "dof_armature", "dof_frictionloss"),
    "actuators": ("actuator_armature", "actuator_damping"),
}

_RANGES = {"joints": ("jnt_range", "jnt_actfrcrange"), "actuators": ("actuator_forcerange", "actuator_ctrlrange")}
"""MuJoCo ignores a reversed range, unless a flag says that there is one."""


def read(
    source: bytes | str,
    *,
    file: str | None = None,
    directory: Path | None = None,
    roots: Sequence[str | os.PathLike[str]] = (),
    trust_paths: bool = False,
    snap: float = 1e-10,
    strict: bool = False,
) -> Builder:
    """The parts of a robot from the text of an MJCF file.

    Args:
        source: the text.
        file: its name, for messages.
        directory: where it lies: included files and meshes are looked for there, then in the roots.
        roots: other directories that may be used.
        trust_paths: open files outside of these directories too.
        snap: entries of rotations and axes this near to 0 and ±1 are made exact.
        strict: raise at the first warning.

    Raises:
        RobotFileError: when MuJoCo cannot compile the model, or a file is refused, with file, line and element.
        MissingPackageError: when MuJoCo is not installed.
    """
    mujoco = _mujoco()
    meshes = Meshes(directory, roots, trust_paths=trust_paths)
    text = merged(from_text(source, file or STRING, directory), meshes)
    with _listening(mujoco) as said:
        try:
            spec = mujoco.MjSpec.from_string(text.xml, include=text.models)
            notes = Notes(text, spec)
            files = mjcf_assets.prepare(spec, meshes, notes)
            spec.compiler.fusestatic = spec.compiler.discardvisual = False  # every body and shape is kept
            m = spec.compile()
        except RobotFileError:
            raise
        except (ValueError, mujoco.FatalError, mujoco.UnexpectedError) as error:
            raise _located_error(error, text) from None
    for message in said:
        notes.warn("mujoco", f"MuJoCo says: {' '.join(message.split())}")
    builder = _built(m, spec, text, notes, files, Poses(snap))
    for diagnostic in notes.diagnostics:
        if strict and diagnostic.level == "warning":
            raise diagnostic.error()
        builder.note(diagnostic)
    return builder


def _mujoco() -> Any:
    try:
        return importlib.import_module("mujoco")
    except ImportError as error:
        raise missing_package(f"MJCF files need MuJoCo's compiler ({error})", "mjcf", "mujoco") from None


@contextlib.contextmanager
def _listening(mujoco: Any) -> Iterator[list[str]]:
    """Collects MuJoCo's warnings, which it would otherwise print and write to a file in the working directory."""
    said: list[str] = []
    with _WARNINGS_LOCK.hold(), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        before = mujoco.get_mju_user_warning()
        mujoco.set_mju_user_warning(said.append)
        try:
            yield said
        finally:
            mujoco.set_mju_user_warning(before)
            said += [str(warning.message) for warning in caught]


def _built(m: Any, spec: Any, text: Text, notes: Notes, files: Files, poses: Poses) -> Builder:
    _check(m, notes)
    file = text.place(0).file
    default = Path(file or "").stem if file != STRING else "mujoco"
    name = spec.modelname if spec.modelname not in ("", _UNNAMED) else default
    gravity = (0.0, 0.0, 0.0) if m.opt.disableflags & _NO_GRAVITY else tuple(m.opt.gravity.tolist())
    builder, bodies = Builder(name, gravity=gravity), Bodies(m, poses)
    bodies.add_to(builder)
    for g in add_shapes(builder, m, bodies.names, files, poses):
        notes.note("ignored", "a height field or signed distance field is ignored", notes.place("geoms", g))
    mjcf_actuators.add_actuators(builder, m, bodies, notes)
    mjcf_actuators.add_equalities(builder, m, bodies, notes)
    builder.home = mjcf_actuators.home(m, notes)
    notes.elements()
    notes.compiled(m, bodies)
    if poses.snapped:
        notes.note(
            "snapped",
            f"{poses.snapped} rotations or axes within {poses.snap:g} of a right angle were made exact "
            "(snap=0 keeps them as they are)",
        )
    return builder


def _check(m: Any, notes: Notes) -> None:
    """Raise an error for numbers that MuJoCo accepts silently."""
    rules = (
        ("finite numbers", _FINITE, np.isfinite),
        ("numbers that are not negative", _NOT_NEGATIVE, lambda x: x >= 0),
        ("the lower number first", _RANGES, lambda x: x[:, :1] <= x[:, 1:]),
    )
    for expected, table, fits in rules:
        for kind, name in ((kind, name) for kind, names in table.items() for name in names):
            numbers = getattr(m, name)
            bad = np.argwhere(~fits(numbers))
            if len(bad):
                k = int(bad[0, 0])
                values = " ".join(f"{x:g}" for x in np.atleast_1d(numbers[k]))
                place = ("joints", int(m.dof_jntid[k])) if kind == "dofs" else (kind, k)
                raise notes.error(f"{name}: expected {expected}, got {values}", *place)


def _located_error(error: Exception, text: Text) -> RobotFileError:
    """MuJoCo's error, with its location in the files."""
    words = " ".join(str(error).split())
    line = _LINE.search(words)
    place = text.place(0 if line is None or text.models else int(line[1]))
    message = re.sub(r",? ?(id \d+, )?line \d+$", "", words.removeprefix("XML ").removeprefix("Error: "))
    return RobotFileError(f"MuJoCo says: {message}", file=place.file, line=place.line, element=place.element)
