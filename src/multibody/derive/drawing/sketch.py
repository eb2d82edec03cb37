"""Derived systems as textbooks draw them: pivots, springs, masses, and what each coordinate means."""

from collections.abc import Mapping
from os import PathLike
from typing import Any

import numpy as np
import sympy as sp
from numpy.typing import NDArray

from multibody._saving import check_place
from multibody._signatures import readable
from multibody.derive.drawing import primitives2d
from multibody.derive.drawing.mechanism import (
    LENGTH_TOLERANCE,
    Ball,
    Mechanism,
    Slide,
    Turn,
    is_flat,
    mechanism,
    plane_of,
)
from multibody.derive.drawing.primitives2d import ARROW, BODY, INK
from multibody.derive.printing.latex_expressions import Writer
from multibody.derive.system.loads import Damper, Force, Spring
from multibody.derive.system.system import System
from multibody.errors import InputError

LABEL_SPACE = 16.0
"""In points: the distance between names of masses and angles, where there is room."""
POINTS_PER_SCALE = 250.0
"""Points on the paper for the size of a drawing, about."""


@readable
def draw(
    system: System, path: str | PathLike[str] | None = None, q: Any = None, values: Mapping[Any, float] | None = None
) -> Any:
    """A derived system as a textbook draws it: which angle is φ, from where x is
    measured, what pulls where.

    Args:
        system: of `derive`; or equations of motion, whose system it is.
        path: a file to save it in, .svg, .png or .pdf.
        q: where it is; by default such that all coordinates can be told apart.
        values: numbers of parameters, by symbol or name; 1 by default, 0.5 for c_1, c_2, ...

    >>> from multibody import derive
    >>> figure = draw(derive.systems.system("cart-pendulum"))
    >>> sorted({text.get_text() for text in figure.axes[0].texts})[1:3]
    ['$F$', '$M$']
    """
    from multibody._figure import Figure

    place = None if path is None else check_place(path, "path")
    system = getattr(system, "system", system)
    if not isinstance(system, System):
        raise InputError(f"draw: expected a system of derive, or its equations, got {type(system).__name__}")
    figure = Figure(figsize=(5.2, 4.2), layout="constrained")
    axes = figure.add_subplot()
    made = mechanism(system, q, values)
    sketch(axes, made, plane_of(made))
    axes.margins(0.12)
    if place is not None:
        figure.savefig(place, dpi=120)
    return figure


def sketch(axes: Any, made: Mechanism, plane: NDArray[Any], scale: float | None = None) -> None:
    """Put a mechanism on axes; moving pictures give the scale of all of them, and have no annotations."""
    Sketch(axes, made, plane, scale or scale_of(made, plane), annotated=scale is None).draw()
    axes.set_aspect("equal")
    axes.set_axis_off()


def scale_of(made: Mechanism, plane: NDArray[Any]) -> float:
    """In m: how large a drawing is, for the sizes of what has none of its own."""
    return max(float(np.ptp(made.points @ plane.T, axis=0).max()), 0.5)


class Sketch:
    """One drawing, as it is made."""

    def __init__(self, axes: Any, made: Mechanism, plane: NDArray[Any], scale: float, annotated: bool) -> None:
        self.axes, self.made, self.plane, self.scale, self.annotated = axes, made, plane, scale, annotated
        self.flat = is_flat(plane)
        self.bodies = {body.name: body for body in made.system.bodies}
        self.labels: list[NDArray[Any]] = []
        """Where names of masses and angles are, on the paper."""

    def draw(self) -> None:
        """All of it."""
        for slide in self.made.slides:
            self._slide(slide)
        self._walls()
        for name in self.bodies:
            self._body(name)
        if self.annotated:
            for k, turn in enumerate(self.made.turns):
                self._turn(turn, sum(np.allclose(turn.pivot, other.pivot) for other in self.made.turns[:k]))
            for ball in self.made.balls:
                self._quaternion(ball)
        for load in self.made.system.loads:
            self._load(load)
        if self.annotated:
            self._gravity()
            self._world()

    # ---- bodies ------------------------------------------------------------------------------------------------------

    def anchor(self, name: str) -> NDArray[Any]:
        """The point at which a body is drawn to be held: its joint, the pivot about which it turns, or its centre."""
        place = self.made.places[name]
        if np.linalg.norm(place.joint - place.position) > LENGTH_TOLERANCE:
            return place.joint
        held = [turn.pivot for turn in self.made.turns if turn.body == name and not turn.centred]
        held += [ball.pivot for ball in self.made.balls if ball.body == name]
        return max(held, key=lambda p: float(np.linalg.norm(p - place.position)), default=place.position)

    def _body(self, name: str) -> None:
        body, place = self.bodies[name], self.made.places[name]
        at, anchor = self.plane @ place.position, self.anchor(name)
        heavy = body.mass != 0
        ends = [self.anchor(child) for child, other in self.bodies.items() if other.parent == name and heavy]
        ends = [end for end in ends if np.linalg.norm(end - anchor) > LENGTH_TOLERANCE]
        axle = self._axle(name)
        label = np.array([0.0, 14.0])
        if axle is not None:
            radius = float(np.linalg.norm(anchor - place.position))
            primitives2d.disc(self.axes, self.plane, place.position, place.rotation, axle, radius)
            primitives2d.dot(self.axes, at, 5, BODY)
        elif np.linalg.norm(place.position - anchor) > LENGTH_TOLERANCE or ends:
            self._rods(body, place.position, anchor, ends)
            if heavy:
                primitives2d.dot(self.axes, at, 12, BODY, 4)
            label = self._beside(name, at - self.plane @ anchor)
        elif heavy and self._at_an_end(name):
            primitives2d.dot(self.axes, at, 12, BODY, 4)
            label = np.array([-13.0, -11.0])
        elif heavy:
            label = self._block(name)
        if self.annotated and heavy:
            primitives2d.write(self.axes, at, body.mass, label)
            self.labels.append(at + self._length(label))

    def _rods(self, body: Any, center: NDArray[Any], anchor: NDArray[Any], ends: list[NDArray[Any]]) -> None:
        """Light rods to a mass; rigid ones go on to the next joints, or as far behind their centre as before it."""
        rigid = body.turns and not body.inertia.is_zero_matrix
        if not ends:
            ends = [anchor + 2 * (center - anchor)] if rigid else [center]
        elif not any(_between(center, anchor, end) for end in ends):
            ends = [*ends, center]
        start = self.plane @ anchor
        for end in ends:
            primitives2d.line(self.axes, [start, self.plane @ end], 7 if rigid else 2, BODY if rigid else INK)
        held_by_ball = any(ball.body == body.name for ball in self.made.balls)
        primitives2d.dot(self.axes, start, 11 if held_by_ball else 7)

    def _beside(self, name: str, way: NDArray[Any]) -> NDArray[Any]:
        """In points: from a mass to its name, on the side of the rod where its angle is not."""
        length = np.linalg.norm(way)
        if length < LENGTH_TOLERANCE:
            return np.array([0.0, 15.0])
        aside = np.array([-way[1], way[0]]) / length
        for turn in self.made.turns:
            if turn.body == name:
                zero = self.plane @ turn.zero
                return 17 * (aside if zero @ aside < -LENGTH_TOLERANCE else -aside)
        return 17 * aside

    def _block(self, name: str) -> NDArray[Any]:
        """A box; where it turns, with its axes. In points: where its name goes."""
        place = self.made.places[name]
        free = any(turn.body == name for turn in self.made.turns) or any(ball.body == name for ball in self.made.balls)
        size = self.scale * (np.array([0.36, 0.24, 0.16]) if free or not self.flat else np.array([0.26, 0.2, 0.15]))
        primitives2d.box(self.axes, self.plane, place.position, place.rotation, size)
        at = self.plane @ place.position
        if free and self.annotated:
            primitives2d.triad(self.axes, self.plane, at, place.rotation, 0.34 * self.scale, ("", "", ""))
            return np.array([-14.0, -12.0])
        top = self.plane @ (place.position + place.rotation @ [0, 0, size[2] / 2])
        ratio = (top - at)[1] / self.scale
        return np.array([0.0, 14.0 + 170.0 * ratio])

    def _axle(self, name: str) -> int | None:
        """The axis of a body that is a wheel: it spins about that one of its moments which is not like the others."""
        body = self.bodies[name]
        if not body.turns or 0 in body.inertia.diagonal():
            return None
        moments = list(body.inertia.diagonal())
        odd = [k for k in range(3) if moments.count(moments[k]) == 1]
        own = [turn for turn in self.made.turns if turn.body == name]
        if len(odd) != 1 or all(turn.centred for turn in own):
            return None
        axle = self.made.places[name].rotation[:, odd[0]]
        return odd[0] if any(turn.centred and abs(turn.axis @ axle) > 0.99 for turn in own) else None

    def _at_an_end(self, name: str) -> bool:
        """Whether a body is where its parent ends, and does no more than turn there."""
        parent = self.bodies[name].parent
        slides = any(slide.body == name for slide in self.made.slides)
        return parent is not None and not slides and any(turn.body == name for turn in self.made.turns)

    def _walls(self) -> None:
        """Walls at pivots that no coordinate moves."""
        done: list[NDArray[Any]] = []
        for turn in self.made.turns:
            if turn.fixed and not turn.centred and not any(np.allclose(turn.pivot, other) for other in done):
                done.append(turn.pivot)
                upright = not self.flat and abs(turn.axis[2]) > 0.9
                normal = np.array([0.0, 1.0]) if upright else self.plane @ turn.zero
                primitives2d.wall(self.axes, self.plane @ turn.pivot, normal, 0.14 * self.scale)
        for ball in self.made.balls:
            if ball.fixed and np.linalg.norm(self.made.positions[ball.body] - ball.pivot) > LENGTH_TOLERANCE:
                above = self.plane @ ball.pivot + np.array([0, 0.03 * self.scale])
                primitives2d.wall(self.axes, above, np.array([0.0, -1.0]), 0.14 * self.scale)

    # ---- coordinates -------------------------------------------------------------------------------------------------

    def _turn(self, turn: Turn, before: int) -> None:
        """An arc from where the coordinate is zero; `before` counts those about the same point."""
        across = turn.zero - turn.axis * (turn.axis @ turn.zero)
        if np.linalg.norm(across) < LENGTH_TOLERANCE:
            return
        length = max(float(np.linalg.norm(turn.zero)), 0.42 * self.scale)
        if turn.centred:
            length = 0.55 * self.scale
        zero = turn.zero * length / np.linalg.norm(turn.zero)
        share = (0.75, 0.55, 0.95)[before % 3]
        pivot = self.plane @ turn.pivot
        primitives2d.line(self.axes, [pivot, self.plane @ (turn.pivot + 1.15 * zero)], 0.9, INK, "--")
        if np.linalg.norm(turn.pivot - turn.start) > LENGTH_TOLERANCE:
            primitives2d.line(self.axes, [self.plane @ turn.start, pivot], 0.9, INK, ":")
        if turn.centred:
            arm = turn.arm * length / np.linalg.norm(turn.arm)
            primitives2d.line(self.axes, [pivot, self.plane @ (turn.pivot + arm)], 0.9, INK)
        points = primitives2d.arc(self.axes, self.plane, turn.pivot, share * zero, turn.axis, turn.value)
        at, shift = self._free_place(points, pivot)
        primitives2d.write(self.axes, at, turn.symbol, shift, ARROW)
        self.labels.append(at + self._length(shift))

    def _free_place(self, points: NDArray[Any], pivot: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
        """A point of an arc and a shift in points for its name: outside of the middle, unless other names are there."""
        places = list[tuple[float, NDArray[Any], NDArray[Any]]]()
        for side in (11.0, -11.0, 22.0):
            for k in (30, 42, 18, 54, 6):
                out = points[k] - pivot
                shift = side * out / max(float(np.linalg.norm(out)), LENGTH_TOLERANCE)
                name = points[k] + self._length(shift)
                space = min((float(np.linalg.norm(name - other)) for other in self.labels), default=np.inf)
                if space > self._length(LABEL_SPACE):
                    return points[k], shift
                places.append((space, points[k], shift))
        return max(places, key=lambda place: place[0])[1:]

    def _length(self, points: Any) -> Any:
        """In m: about so many points on the paper."""
        return points * self.scale / POINTS_PER_SCALE

    def _quaternion(self, ball: Ball) -> None:
        """Its four names: beside a rod, below a body, or to the right where an arrow comes from below."""
        center = self.made.positions[ball.body]
        at, shift = self.plane @ center, (-58, -12)
        if np.linalg.norm(center - ball.pivot) < LENGTH_TOLERANCE:
            below = not any(slide.body == ball.body for slide in self.made.slides)
            at = at + self.scale * np.array([0.0, -0.4] if below else [0.22, 0.0])
            shift = (0, 0) if below else (42, 0)
            self.axes.update_datalim([at])
        primitives2d.write(self.axes, at, f"$({', '.join(map(Writer(), ball.symbols))})$", shift, ARROW, 11)

    def _slide(self, slide: Slide) -> None:
        start, end = self.plane @ slide.start, self.plane @ slide.end
        way = end - start
        length = np.linalg.norm(way)
        along = way / length if length > LENGTH_TOLERANCE else np.array([1.0, 0.0])
        aside = np.array([along[1], -along[0]])
        path = len(self.made.slides) > 1
        if slide.fixed and not path:
            beside = 0.09 * self.scale * aside
            first, last = start - 0.25 * self.scale * along, end + 0.35 * self.scale * along
            primitives2d.rail(self.axes, first + beside, last + beside, aside, 0.04 * self.scale)
        if not self.annotated or length < LENGTH_TOLERANCE:
            return
        if path:  # from the origin, one after the other
            if slide is self.made.slides[0]:
                primitives2d.dot(self.axes, start, 4, INK)
                primitives2d.write(self.axes, start, "$O$", (-9, -8), INK, 11)
            primitives2d.arrow(self.axes, start, end)
            primitives2d.write(self.axes, (start + end) / 2, slide.symbol, 10 * aside, ARROW)
            return
        below = (0.24 if self.flat else 0.3) * self.scale * aside
        for point in (start, end):
            primitives2d.line(self.axes, [point, point + 1.2 * below], 0.7)
        primitives2d.arrow(self.axes, start + below, end + below)
        primitives2d.write(self.axes, (start + end) / 2 + below, slide.symbol, 10 * aside, ARROW)

    # ---- loads -------------------------------------------------------------------------------------------------------

    def _load(self, load: Any) -> None:
        if isinstance(load, Spring | Damper):
            for slide in self.made.slides:
                if load.deflection.has(slide.symbol):
                    self._held(load, slide)
        elif isinstance(load, Force) and self.annotated:
            self._force(load)

    def _held(self, load: Any, slide: Slide) -> None:
        """A spring or a damper from a wall to what slides."""
        dampers = [each for each in self.made.system.loads if isinstance(each, Damper)]
        low = isinstance(load, Damper) and len(dampers) < len(self.made.system.loads)
        shift = np.array([0.0, -0.06 * self.scale if low else 0.0])
        stop = self.plane @ slide.start - np.array([0.75 * self.scale, 0.0]) + shift
        at = self.plane @ slide.end - np.array([0.13 * self.scale, 0.0]) + shift
        element = primitives2d.coil if isinstance(load, Spring) else primitives2d.dashpot
        element(self.axes, stop, at, 0.045 * self.scale)
        primitives2d.wall(self.axes, stop, np.array([1.0, 0.0]), 0.2 * self.scale)
        if self.annotated:
            number = load.stiffness if isinstance(load, Spring) else load.damping
            primitives2d.write(self.axes, (stop + at) / 2, number, (0, 13))

    def _force(self, load: Force) -> None:
        force = self.plane @ np.array([float(x.subs(self.made.numbers)) for x in load.force])
        size = np.linalg.norm(force)
        if size > LENGTH_TOLERANCE:
            at = self.plane @ self.made.positions[load.body]
            end = at + 0.45 * self.scale * force / size
            primitives2d.arrow(self.axes, at, end, width=2.2)
            names = sorted(set().union(*(x.free_symbols for x in load.force)) & set(self.made.system.inputs), key=str)
            primitives2d.write(self.axes, end, names[0] if names else sp.Symbol("F"), (8, 6), ARROW)

    def _gravity(self) -> None:
        gravity = self.made.system.gravity
        fall = self.plane @ np.array([float(x.subs(self.made.numbers)) for x in gravity])
        size = np.linalg.norm(fall)
        if size < LENGTH_TOLERANCE:
            return
        box = self.axes.dataLim
        corner = np.array([box.x1 + 0.22 * self.scale, box.y1 - 0.05 * self.scale])
        end = corner + 0.28 * self.scale * fall / size
        primitives2d.arrow(self.axes, corner, end, color=INK)
        seen = [x for x, out in zip(gravity, _hidden(self.plane), strict=True) if x != 0 and not out]
        name = seen[0] if len(seen) == 1 and seen[0].free_symbols else sp.Symbol("g")
        name = -name if name.could_extract_minus_sign() else name
        primitives2d.write(self.axes, end, name, (13, -2) if abs(fall[1]) > abs(fall[0]) else (0, -12))

    def _world(self) -> None:
        """The world's axes, where they are not those of a page: x to the right and z up."""
        if self.flat and self.plane[0, 0] == 1 and self.plane[1, 2] == 1:
            return
        box = self.axes.dataLim
        corner = np.array([box.x0 - 0.12 * self.scale, box.y0 - 0.1 * self.scale])
        primitives2d.triad(self.axes, self.plane, corner, np.eye(3), 0.22 * self.scale)


def _between(point: NDArray[Any], start: NDArray[Any], end: NDArray[Any]) -> bool:
    """Whether a point lies on the way from one to another."""
    way = end - start
    share = float((point - start) @ way) / max(float(way @ way), LENGTH_TOLERANCE)
    return 0 <= share <= 1 and bool(np.linalg.norm(start + share * way - point) < 1e-6)


def _hidden(plane: NDArray[Any]) -> list[bool]:
    """Which of the world's axes stand on the paper."""
    return [bool(np.linalg.norm(plane[:, k]) < LENGTH_TOLERANCE) for k in range(3)]
