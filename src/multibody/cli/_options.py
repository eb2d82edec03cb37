"""Options that commands share: the robot and its state."""

import os
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray

from multibody.cli._completion import frame_names, robot_names
from multibody.cli._diagnostics import count
from multibody.cli._messages import print_note
from multibody.cli._progress import working
from multibody.errors import InputError

if TYPE_CHECKING:
    from multibody.robot import Robot


class Mimic(StrEnum):
    """How joints that follow others are read."""

    coupled = "coupled"
    independent = "independent"


class Representation(StrEnum):
    """How the twist of a frame is written."""

    mixed = "mixed"
    left = "left"
    right = "right"


File = Annotated[
    str,
    typer.Argument(
        help="A URDF, MJCF or SDF file, or an embedded robot, as panda: multibody info lists them.",
        autocompletion=robot_names,
    ),
]


def frame_option(text: str) -> Any:
    """An option that names frames of the robot, with completion."""
    return typer.Option(help=text, autocompletion=frame_names)


Floating = Annotated[
    bool,
    typer.Option("--floating", help="Add a floating base: x, y, z, then a quaternion w, x, y, z, come first in q."),
]
MimicOption = Annotated[Mimic, typer.Option(help="Joints that follow others: tied to them, or free.")]
Strict = Annotated[bool, typer.Option("--strict", help="Make an error of the first warning about the file.")]
Roots = Annotated[
    list[Path] | None,
    typer.Option("--root", help="A directory in which meshes are looked for, beside the file's own; repeatable."),
]
Snap = Annotated[
    float, typer.Option(min=0.0, max=1e-3, help="Rotations this close to right angles are made exact; 0 keeps them.")
]
TrustPaths = Annotated[bool, typer.Option("--trust-paths", help="Take meshes from anywhere on the disk.")]
Seed = Annotated[int, typer.Option(min=0, help="Of random numbers: the same seed draws the same ones.")]


def read(file: str, floating: bool, mimic: Mimic, *, dtype: str | None = None, **options: Any) -> "Robot":
    """The robot that a command is about, with a sign of life while it is read; warnings about its file are counted."""
    robot = quietly(file, floating, mimic, dtype=dtype, **options)
    if any(d.level == "warning" for d in robot.diagnostics):
        counted = count(robot.diagnostics, "warning")
        print_note(f"{counted}: see multibody info")
    return robot


def quietly(file: str, floating: bool, mimic: Mimic, *, dtype: str | None = None, **options: Any) -> "Robot":
    """The robot, without a note on warnings, for a command that shows them."""
    from multibody.model.load import load
    from multibody.robot import Robot

    with working("reading the robot"):
        roots = options.pop("roots", None) or ()
        return Robot(load(file, floating=floating or None, mimic=mimic.value, roots=roots, **options), dtype=dtype)


def configuration_of(robot: "Robot", text: str, rng: np.random.Generator, degrees: bool = False) -> NDArray[Any]:
    """q from a text: numbers, "neutral", "home" or "random"."""
    named = {"neutral": robot.neutral, "home": robot.home, "random": lambda: robot.random(rng)}
    if text in named:
        return robot.check(named[text](), limits=False)
    q = robot.check(_numbers("--q", text, ", ".join(named)), limits=False)
    return q * _radians(robot, "q") if degrees else q


def rates_of(robot: "Robot", what: str, text: str, rng: np.random.Generator, degrees: bool = False) -> NDArray[Any]:
    """v or a from a text: numbers, "zero" or "random"."""
    from multibody.model import check_configuration

    if text == "zero":
        return np.zeros(robot.nv)
    if text == "random":
        return rng.standard_normal(robot.nv)
    rates = check_configuration.velocities(robot.tree, _numbers(f"--{what}", text, "zero, random"), what)
    return rates * _radians(robot, "v") if degrees else rates


def _radians(robot: "Robot", state: str) -> NDArray[Any]:
    """The factors from degrees to radians of coordinates or velocities that turn; one for all others."""
    factors = np.ones(robot.nq if state == "q" else robot.nv)
    for joint in robot.joints:
        units = joint.kind.units if state == "q" else joint.kind.rates
        factors[joint.q if state == "q" else joint.v] = [np.pi / 180 if unit == "rad" else 1.0 for unit in units]
    return factors


def _numbers(option: str, text: str, names: str) -> NDArray[Any]:
    try:
        numbers = np.array([float(part) for part in text.replace(",", " ").split()])
    except ValueError:
        numbers = np.array([np.nan])
    if not np.isfinite(numbers).all():
        message = f"expected finite numbers with commas between them, or one of: {names}; got {text!r}"
        raise typer.BadParameter(message, param_hint=option)
    return numbers


def writable(option: str, path: Path | None) -> None:
    """Check before the work that a picture can be saved to a path, if there is one."""
    if path is None:
        return
    directory = path.resolve().parent
    if not (directory.is_dir() and os.access(directory, os.W_OK)):
        raise InputError(f"{option}: expected a place in a directory that can be written to, got {str(path)!r}")
    if path.suffix.lower() not in (".png", ".svg", ".pdf"):
        raise InputError(f"{option}: expected a name that ends in .png, .svg or .pdf, got {str(path)!r}")
