"""Derived systems as textbooks draw them: pivots, springs, masses, and what each coordinate means."""

from collections.abc import Mapping
from os import PathLike
from typing import Any

import numpy as np
import sympy as sp
from numpy.typing import NDArray

from multibody._saving import check_place
from multibody.derive.loads import Damper, Force, Spring
from multibody.derive.system import System
from multibody.errors import InputError
from multibody.view.textbook import Mechanism, Slide, Turn, mechanism, plane_of

INK, BODY, ARROW = "#222222", "#4878a8", "#c44e52"


def draw(
    system: System, path: str | PathLike[str] | None = None, q: Any = None, values: Mapping[Any, float] | None = None
) -> Any:
    """A derived system as a textbook draws it: which angle is φ, from where x is measured, what pulls where.

    Args:
        system: of `derive`; or equations of motion, whose system it is.
        path: a file to save it in, .svg, .png or .pdf.
        q: where it is; by default such that all coordinates can be told apart.
        values: numbers of parameters, by symbol or name; 1 by default.

    >>> from multibody import derive
    >>> figure = draw(derive.systems.system("cart-pendulum"))
    >>> sorted({text.get_text() for text in figure.axes[0].texts})[1:3]
    ['$F$', '$M$']
    """
    from matplotlib.figure import Figure

    place = None if path is None else check_place(path, "path")
    system = getattr(system, "system", system)
    if not isinstance(system, System):
        raise InputError(f"draw: expected a system of derive, or its equations, got {type(system).__name__}")
    figure = Figure(figsize=(5.2, 4.2), layout="constrained")
    axes = figure.add_subplot()
    made = mechanism(system, q, values)
    sketch(axes, made, plane_of(made))
    axes.margins(0.15)
    if place is not None:
        figure.savefig(place, dpi=120)
    return figure


def sketch(axes: Any, made: Mechanism, plane: NDArray[Any], annotated: bool = True) -> None:
    """Put a mechanism on axes; without annotations for moving pictures."""
    system = made.system
    scale = max(float(np.ptp(made.points @ plane.T, axis=0).max()), 0.5)
    flat = {name: plane @ p for name, p in made.positions.items()}
    for slide in made.slides:
        _draw_slide(axes, slide, plane, scale, annotated)
    for turn in made.turns:
        _draw_turn(axes, turn, plane, scale, annotated)
    hung = {turn.body: plane @ turn.pivot for turn in made.turns}
    carried = {system.body(turn.body).parent: plane @ turn.pivot for turn in made.turns}
    for body in system.bodies:
        at = flat[body.name]
        if body.name in hung and np.linalg.norm(at - hung[body.name]) > 1e-9:
            _draw_rod(axes, hung[body.name], at, carried.get(body.name), body.turns)
        if body.name in hung:
            axes.plot(*at, "o", ms=13, mfc=BODY, mec=INK, zorder=4)
        else:
            _draw_block(axes, at, scale)
        if annotated:
            _write(axes, at, body.mass, (0, 14))
    for load in system.loads:
        _draw_load(axes, load, made, plane, scale, annotated)
    if annotated:
        _draw_gravity(axes, made, plane, scale)
    axes.set_aspect("equal")
    axes.set_axis_off()


def _draw_rod(axes: Any, pivot: NDArray[Any], at: NDArray[Any], next_pivot: Any, rigid: bool) -> None:
    """A light rod to a mass, or a rigid one, which goes on to the next pivot or as far behind its centre as before."""
    end = at if not rigid else pivot + 2 * (at - pivot) if next_pivot is None else next_pivot
    axes.plot(*np.stack([pivot, end]).T, color=BODY if rigid else INK, lw=7 if rigid else 2, solid_capstyle="round")
    axes.plot(*pivot, "o", ms=7, mfc="white", mec=INK, zorder=5)


def _draw_block(axes: Any, at: NDArray[Any], scale: float) -> None:
    from matplotlib.patches import FancyBboxPatch

    w, h = 0.26 * scale, 0.15 * scale
    box = FancyBboxPatch(at - [w / 2, h / 2], w, h, boxstyle=f"round,pad={0.01 * scale}", fc=BODY, ec=INK, zorder=3)
    axes.add_patch(box)


def _draw_turn(axes: Any, turn: Turn, plane: NDArray[Any], scale: float, annotated: bool) -> None:
    pivot, arm, zero = plane @ turn.pivot, plane @ turn.arm, plane @ turn.zero
    if turn.fixed:
        _hatch(axes, pivot, zero, 0.14 * scale)
    if not annotated or np.linalg.norm(zero) < 1e-9:
        return
    radius = 0.75 * np.linalg.norm(zero)
    first, last = np.arctan2(zero[1], zero[0]), np.arctan2(arm[1], arm[0])
    sweep = (last - first + np.pi) % (2 * np.pi) - np.pi
    axes.plot(*np.stack([pivot, pivot + 1.15 * zero]).T, "--", color=INK, lw=0.9)
    angles = np.linspace(first, first + sweep, 40)
    arc = pivot + radius * np.stack([np.cos(angles), np.sin(angles)], axis=-1)
    axes.plot(*arc.T, color=ARROW, lw=1.4)
    _arrow(axes, arc[-4], arc[-1])
    middle = arc[len(arc) // 2]
    _write(axes, middle, turn.symbol, tuple(9 * (middle - pivot) / radius), ARROW)


def _draw_slide(axes: Any, slide: Slide, plane: NDArray[Any], scale: float, annotated: bool) -> None:
    start, end = plane @ slide.start, plane @ slide.end
    way = end - start
    length = np.linalg.norm(way)
    along = way / length if length > 1e-9 else np.array([1.0, 0.0])
    aside = np.array([along[1], -along[0]])
    if slide.fixed:
        rail = 0.09 * scale * aside
        ends = np.stack([start - 0.25 * scale * along, end + 0.35 * scale * along]) + rail
        axes.plot(*ends.T, color=INK, lw=1.5)
        for share in np.linspace(0.02, 0.98, 16):
            foot = ends[0] + share * (ends[1] - ends[0])
            axes.plot(*np.stack([foot, foot + 0.04 * scale * (aside - along)]).T, color=INK, lw=0.7)
    if not annotated or length < 1e-9:
        return
    below = 0.24 * scale * aside
    for point in (start, end):
        axes.plot(*np.stack([point, point + 1.2 * below]).T, color=INK, lw=0.7)
    _arrow(axes, start + below, end + below)
    _write(axes, (start + end) / 2 + below, slide.symbol, tuple(10 * aside), ARROW)


def _draw_load(axes: Any, load: Any, made: Mechanism, plane: NDArray[Any], scale: float, annotated: bool) -> None:
    if isinstance(load, Spring | Damper):
        for slide in made.slides:
            if load.deflection.has(slide.symbol):
                wall = plane @ slide.start - np.array([0.75 * scale, 0.0])
                at = plane @ slide.end - np.array([0.13 * scale, 0.0])
                _coil(axes, wall, at, 0.045 * scale, zigzag=isinstance(load, Spring))
                _hatch(axes, wall, np.array([1.0, 0.0]), 0.2 * scale)
                if annotated:
                    _write(axes, (wall + at) / 2, load.stiffness if isinstance(load, Spring) else load.damping, (0, 12))
    elif isinstance(load, Force) and annotated:
        force = plane @ np.array([float(x.subs(made.numbers)) for x in load.force])
        size = np.linalg.norm(force)
        if size > 1e-9:
            at = plane @ made.positions[load.body]
            end = at + 0.45 * scale * force / size
            _arrow(axes, at, end, width=2.2)
            names = sorted(set().union(*(x.free_symbols for x in load.force)) & set(made.system.inputs), key=str)
            _write(axes, end, names[0] if names else sp.Symbol("F"), (8, 4), ARROW)


def _draw_gravity(axes: Any, made: Mechanism, plane: NDArray[Any], scale: float) -> None:
    fall = plane @ np.array([float(x.subs(made.numbers)) for x in made.system.gravity])
    size = np.linalg.norm(fall)
    if size > 1e-9:
        points = made.points @ plane.T
        corner = np.array([points[:, 0].max() + 0.45 * scale, points[:, 1].max()])
        end = corner + 0.3 * scale * fall / size
        _arrow(axes, corner, end)
        _write(axes, end, sp.Symbol("g"), (8, 0))


def _coil(axes: Any, start: NDArray[Any], end: NDArray[Any], width: float, zigzag: bool) -> None:
    way = end - start
    aside = width * np.array([-way[1], way[0]]) / np.linalg.norm(way)
    if zigzag:
        shares, signs = np.linspace(0.15, 0.85, 12), np.resize([1, -1], 12)
        middle = [start + share * way + sign * aside for share, sign in zip(shares, signs, strict=True)]
        line = np.stack([start, start + 0.12 * way, *middle, start + 0.88 * way, end])
        axes.plot(*line.T, color=INK, lw=1.3)
        return
    a, b = start + 0.4 * way, start + 0.6 * way
    for line in ([start, a], [a + aside, a - aside], [b, end], [a + aside, b + aside], [a - aside, b - aside]):
        axes.plot(*np.stack(line).T, color=INK, lw=1.3)


def _hatch(axes: Any, at: NDArray[Any], normal: NDArray[Any], length: float) -> None:
    """A wall through a point, on the side from which a normal comes."""
    n = normal / np.linalg.norm(normal) if np.linalg.norm(normal) > 1e-9 else np.array([0.0, -1.0])
    along = length * np.array([-n[1], n[0]])
    axes.plot(*np.stack([at - along, at + along]).T, color=INK, lw=1.5, zorder=2)
    for share in np.linspace(-0.9, 0.9, 7):
        foot = at + share * along
        axes.plot(*np.stack([foot, foot - 0.35 * length * n + 0.2 * along]).T, color=INK, lw=0.7)


def _arrow(axes: Any, start: NDArray[Any], end: NDArray[Any], width: float = 1.4) -> None:
    style = {"arrowstyle": "-|>", "color": ARROW, "lw": width, "shrinkA": 0, "shrinkB": 0}
    axes.annotate("", end, start, arrowprops=style, zorder=6)
    axes.update_datalim([start, end])


def _write(axes: Any, at: NDArray[Any], symbol: Any, shift: tuple[float, ...], color: str = INK) -> None:
    axes.annotate(
        f"${sp.latex(symbol)}$",
        at,
        shift,
        textcoords="offset points",
        ha="center",
        va="center",
        color=color,
        fontsize=13,
        zorder=7,
    )
