"""Pictures of robots without a browser."""

from collections.abc import Sequence
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from multibody._saving import check_place
from multibody.errors import InputError
from multibody.geometry import Pose
from multibody.geometry._arrays import truth
from multibody.model import check_configuration
from multibody.robot import Robot
from multibody.view.colors import AXES
from multibody.view.rendering.camera import Camera
from multibody.view.rendering.renderer import render
from multibody.view.shapes.decimation import shapes_for_picture

DOTS = 100
"""Pixels in an inch of the figure."""
ARROW = {"arrowstyle": "-|>", "lw": 1.8, "shrinkA": 0, "shrinkB": 0}


def picture(
    robot: Robot,
    q: ArrayLike | None = None,
    path: str | PathLike[str] | None = None,
    size: tuple[int, int] = (800, 600),
    frames: Sequence[str] = (),
    view: str | tuple[float, float] = "three-quarter",
    *,
    collisions: bool = False,
    center_of_mass: bool = False,
    ground: bool | float = True,
) -> Any:
    """Draw a picture of a robot: shaded bodies, hidden parts hidden; without a browser.

    Meshes are decimated to the pixels of the picture. The first picture of a robot reads its
    mesh files; further ones of the same size take the decimated meshes from memory.

    Args:
        robot: what is drawn.
        q: (nq,), or (n, nq) for several in one picture, the first ones paler; by default the
            robot's home.
        path: a file to save it in, as PNG, PDF or what else matplotlib writes.
        size: width and height in pixels.
        frames: names of frames whose axes are drawn, x red, y green, z blue, with their names.
        view: "three-quarter", "front", "side", "back", "top", or azimuth and elevation in
            degrees.
        collisions: whether collision shapes are drawn in place of visual ones.
        center_of_mass: whether the centre of mass is marked.
        ground: whether there is a floor, at z = 0 or below the robot where that is deeper; or
            its height in m.

    Returns:
        The matplotlib Figure; `figure.notes` has what could not be drawn as the file has it.

    >>> import multibody as mb
    >>> figure = picture(mb.load("panda"), size=(160, 120), frames=["tool"])
    >>> figure.get_size_inches().tolist()
    [1.6, 1.2]
    """
    from multibody._figure import Figure

    place = None if path is None else check_place(path, "path")
    q = robot.home() if q is None else check_configuration.coordinates(robot.tree, q)
    states = np.atleast_2d(np.asarray(q, float))
    _check(robot, states, size, frames)
    shapes = shapes_for_picture(robot, size, truth(collisions, "collisions"))
    surfaces = shapes.placed(robot, states)
    points = np.concatenate([surface.vertices for surface in surfaces])
    floor = _floor(ground, points)
    w, h = size
    camera = Camera.around(points, view, (w, h))
    figure = Figure(figsize=(w / DOTS, h / DOTS), dpi=DOTS)
    axes = figure.add_axes((0, 0, 1, 1))
    axes.imshow(render(surfaces, camera, floor), extent=(0, w, h, 0), interpolation="antialiased")
    axes.set(xlim=(0, w), ylim=(h, 0))
    axes.set_axis_off()
    length = 0.08 * float(np.linalg.norm(points.max(axis=0) - points.min(axis=0)))
    for name in frames:
        for pose in robot.pose(name, states):
            _draw_frame(axes, camera, pose, length, name)
    if center_of_mass:
        at = camera.project(robot.center_of_mass(states))
        axes.plot(at[:, 0], at[:, 1], "o", ms=9, mfc="white", mec="black", mew=1.5)
        axes.plot(at[:, 0], at[:, 1], "+", ms=9, mec="black", mew=1.5)
    figure.notes = shapes.notes  # type: ignore[attr-defined]
    if place is not None:
        figure.savefig(place, dpi=DOTS)
    return figure


def check_size(size: Any) -> None:
    """Raise an error if a size is not a width and a height in pixels."""
    whole = isinstance(size, tuple | list) and len(size) == 2 and all(isinstance(x, int) for x in size)
    if not whole or not all(16 <= x <= 8192 for x in size):
        raise InputError(f"size: expected width and height in pixels, from 16 to 8192, got {size!r}")


def _check(robot: Robot, states: NDArray[Any], size: Any, frames: Any) -> None:
    if states.ndim != 2 or not len(states) or not np.isfinite(states).all():
        raise InputError(f"q: expected finite coordinates ({robot.nq},) or (n, {robot.nq}), got shape {states.shape}")
    check_size(size)
    if isinstance(frames, str):
        raise InputError(f"frames: expected a list of names, got {frames!r}")
    for name in frames:
        robot.tree.frame(name)


def _floor(ground: Any, points: NDArray[Any]) -> float | None:
    if isinstance(ground, bool | np.bool_):
        return min(0.0, float(points[:, 2].min())) if ground else None
    if not isinstance(ground, int | float | np.number) or not np.isfinite(ground):
        raise InputError(f"ground: expected True, False or a height in m, got {ground!r}")
    return float(ground)


def _draw_frame(axes: Any, camera: Camera, pose: Pose, length: float, name: str) -> None:
    start = camera.project(pose.position)
    ends = camera.project(pose.position + length * pose.rotation.matrix.T)
    for end, color in zip(ends, AXES, strict=True):
        axes.annotate("", end[:2], start[:2], arrowprops=ARROW | {"color": color})
    axes.annotate(
        name, start[:2], (6, -6), textcoords="offset points", fontsize=9, va="top",
        bbox={"boxstyle": "round,pad=0.15", "fc": "white", "ec": "none", "alpha": 0.7},
    )  # fmt: skip
