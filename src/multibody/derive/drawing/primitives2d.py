"""Primitives of drawings: arrows, arcs, words, walls, springs, boxes, discs."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from multibody.derive.printing.latex_expressions import Writer

INK, BODY, ARROW, AXIS = "#222222", "#4878a8", "#c44e52", "#888888"
LIGHT = "#9dbbd6"


def arrow(axes: Any, start: NDArray[Any], end: NDArray[Any], width: float = 1.4, color: str = ARROW) -> None:
    """A straight arrow."""
    style = {"arrowstyle": "-|>", "color": color, "lw": width, "shrinkA": 0, "shrinkB": 0}
    axes.annotate("", end, start, arrowprops=style, zorder=6)
    axes.update_datalim([start, end])


def write(axes: Any, at: NDArray[Any], symbol: Any, shift: Any, color: str = INK, size: float = 13) -> None:
    """A formula beside a point, shifted in points."""
    from matplotlib.patheffects import withStroke

    text = symbol if isinstance(symbol, str) else f"${Writer()(symbol)}$"
    axes.annotate(
        text, at, tuple(shift), textcoords="offset points", ha="center", va="center", color=color, fontsize=size,
        zorder=8, path_effects=[withStroke(linewidth=2.5, foreground="white")],
    )  # fmt: skip


def line(axes: Any, points: Any, width: float = 1.0, color: str = INK, style: str = "-", zorder: float = 2) -> None:
    """A line through points (n, 2)."""
    axes.plot(*np.stack(points).T, style, color=color, lw=width, zorder=zorder, solid_capstyle="round")


def dot(axes: Any, at: NDArray[Any], size: float = 7, color: str = "white", zorder: float = 5) -> None:
    """A hinge, or a mass."""
    axes.plot(*at, "o", ms=size, mfc=color, mec=INK, zorder=zorder)


def arc(
    axes: Any, plane: NDArray[Any], pivot: NDArray[Any], zero: NDArray[Any], axis: NDArray[Any], angle: float
) -> NDArray[Any]:
    """An arc in space with an arrow, from a direction on, about an axis; its points (60, 2) on the paper."""
    along = axis * (axis @ zero)
    across = zero - along
    side = np.cross(axis, across)
    turn = np.linspace(0.0, angle, 60)[:, None]
    points = (pivot + along + np.cos(turn) * across + np.sin(turn) * side) @ plane.T
    line(axes, points, 1.4, ARROW, zorder=6)
    length = np.linalg.norm(np.diff(points, axis=0), axis=1).sum()
    if length > MIN_FORESHORTENING * np.linalg.norm(zero):
        arrow(axes, points[-5], points[-1])
    return points


MIN_FORESHORTENING = 1e-3
"""Of an arc: seen along its plane, it has no arrow."""


def wall(axes: Any, at: NDArray[Any], normal: NDArray[Any], length: float) -> None:
    """A wall through a point, on the side from which a normal comes."""
    n = normal / np.linalg.norm(normal) if np.linalg.norm(normal) > 1e-9 else np.array([0.0, -1.0])
    along = length * np.array([-n[1], n[0]])
    line(axes, [at - along, at + along], 1.5)
    for share in np.linspace(-0.9, 0.9, 7):
        foot = at + share * along
        line(axes, [foot, foot - 0.35 * length * n + 0.2 * along], 0.7)


def rail(axes: Any, start: NDArray[Any], end: NDArray[Any], aside: NDArray[Any], size: float) -> None:
    """A hatched line beside a way."""
    line(axes, [start, end], 1.5)
    along = (end - start) / np.linalg.norm(end - start)
    for share in np.linspace(0.02, 0.98, 16):
        foot = start + share * (end - start)
        line(axes, [foot, foot + size * (aside - along)], 0.7)


def coil(axes: Any, start: NDArray[Any], end: NDArray[Any], width: float) -> None:
    """A spring."""
    way = end - start
    aside = width * np.array([-way[1], way[0]]) / np.linalg.norm(way)
    shares, signs = np.linspace(0.15, 0.85, 12), np.resize([1, -1], 12)
    middle = [start + share * way + sign * aside for share, sign in zip(shares, signs, strict=True)]
    line(axes, [start, start + 0.12 * way, *middle, start + 0.88 * way, end], 1.3)


def dashpot(axes: Any, start: NDArray[Any], end: NDArray[Any], width: float) -> None:
    """A damper: a piston in a cylinder."""
    way = end - start
    aside = width * np.array([-way[1], way[0]]) / np.linalg.norm(way)
    a, b = start + 0.4 * way, start + 0.6 * way
    for points in ([start, a], [a + aside, a - aside], [b, end], [a + aside, b + aside], [a - aside, b - aside]):
        line(axes, points, 1.3)
    line(axes, [b - 0.08 * way + 0.8 * aside, b - 0.08 * way - 0.8 * aside], 1.3)
    line(axes, [b - 0.08 * way, b], 1.3)


_FACES = (
    ((0, 1, 3, 2), (-1, 0, 0)), ((4, 6, 7, 5), (1, 0, 0)), ((0, 4, 5, 1), (0, -1, 0)), ((2, 3, 7, 6), (0, 1, 0)),
    ((0, 2, 6, 4), (0, 0, -1)), ((1, 5, 7, 3), (0, 0, 1)),
)  # fmt: skip


def box(axes: Any, plane: NDArray[Any], center: NDArray[Any], R: NDArray[Any], size: Any) -> None:
    """A box in space: the faces that are turned to the reader."""
    from matplotlib.patches import Polygon

    toward = np.cross(plane[0], plane[1])
    signs = np.array([[x, y, z] for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])
    corners = center + (signs * size) @ R.T
    for face, normal in _FACES:
        facing = float(R @ normal @ toward) / np.linalg.norm(toward)
        if facing > 1e-6:
            color = LIGHT if (R @ normal)[2] > 0.7 and abs(plane[1, 2]) < 1 else BODY
            axes.add_patch(
                Polygon(corners[list(face)] @ plane.T, fc=color, ec=INK, lw=1.0, zorder=3, joinstyle="round")
            )
    axes.update_datalim(corners @ plane.T)


def disc(axes: Any, plane: NDArray[Any], center: NDArray[Any], R: NDArray[Any], axle: int, radius: float) -> None:
    """A disc in space, with a spoke by which one sees it roll."""
    from matplotlib.patches import Polygon

    first, second = (R[:, k] for k in range(3) if k != axle)
    angle = np.linspace(0, 2 * np.pi, 80)[:, None]
    rim = center + radius * (np.cos(angle) * first + np.sin(angle) * second)
    axes.add_patch(Polygon(rim @ plane.T, fc=BODY, ec=INK, lw=1.5, alpha=0.85, zorder=3))
    axes.update_datalim(rim @ plane.T)
    line(axes, [plane @ center, plane @ (center + radius * second)], 1.0, zorder=4)


def triad(axes: Any, plane: NDArray[Any], at: NDArray[Any], R: NDArray[Any], length: float, names: Any = "xyz") -> None:
    """The axes of a frame on the paper, but for those that stand on it."""
    for k, name in enumerate(names):
        way = length * (plane @ R[:, k])
        if np.linalg.norm(way) > 0.15 * length:
            arrow(axes, at, at + way, 0.9, AXIS)
            if name:
                write(axes, at + 1.25 * way, f"${name}$", (0, 0), AXIS, 10)
