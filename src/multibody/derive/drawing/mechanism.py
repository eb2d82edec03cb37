"""The mechanism behind a system, found from its formulas: pivots, slides, the meaning of each coordinate.

Whatever turns with an angle φ goes on a circle: its pivot is in the middle between the places at φ and φ + π. What
slides goes along a line. What turns with a unit quaternion goes on a sphere, whose middle is the mean over the
quaternions 1, i, j, k. So a drawing needs no more than where the bodies are, as numbers.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import sympy as sp
from numpy.typing import NDArray

from multibody.derive.system.symbols import TIME
from multibody.derive.system.system import System
from multibody.derive.system.values import numbers
from multibody.errors import InputError

ANGLE, SHIFT = 0.6, 0.8
"""In rad and m: where coordinates are in a drawing, unless it is said."""
MIN_ANGLES_TO_HALVE = 4
"""Angles from which on they are half as large, so that a long chain does not fold upon itself."""
TILT = (0.93, 0.12, -0.33, 0.10)
"""Where unit quaternions are."""
CENTRE_OF_MASS = 0.5
"""In m: the distances c_1, c_2, ... of centres of mass, where lengths are 1."""
AZIMUTHS = (25.0, -25.0, 55.0, -55.0)
"""In degrees: from where systems in space are drawn; the first of the best."""
LENGTH_TOLERANCE = 1e-9


class Turn(NamedTuple):
    """A coordinate that is an angle."""

    symbol: sp.Symbol
    value: float
    body: str
    pivot: NDArray[Any]
    start: NDArray[Any]
    """The pivot where the coordinate is zero: elsewhere on the axis of a screw."""
    arm: NDArray[Any]
    """From the pivot to the body; where it turns about its own centre, along one of its axes."""
    zero: NDArray[Any]
    """The same where the coordinate is zero."""
    axis: NDArray[Any]
    fixed: bool
    """Whether no coordinate moves the pivot."""
    centred: bool
    """Whether the body turns about its own centre."""


class Slide(NamedTuple):
    """A coordinate that is a length."""

    symbol: sp.Symbol
    value: float
    body: str
    start: NDArray[Any]
    """Where the body, or the pivot that it carries, is when the coordinate, and slides after it, are zero."""
    end: NDArray[Any]
    """The same with the coordinate, but without the slides after it."""
    fixed: bool
    """Whether no other coordinate moves the start."""


class Ball(NamedTuple):
    """Coordinates that are a unit quaternion."""

    symbols: tuple[sp.Symbol, ...]
    body: str
    pivot: NDArray[Any]
    fixed: bool


class Place(NamedTuple):
    """The position and rotation of a body."""

    position: NDArray[Any]
    rotation: NDArray[Any]
    joint: NDArray[Any]
    """A point of the body where a joint holds it; its centre where there is none."""


@dataclass(frozen=True, eq=False)
class Mechanism:
    """A system at one configuration, as numbers."""

    system: System
    places: dict[str, Place]
    turns: tuple[Turn, ...]
    slides: tuple[Slide, ...]
    balls: tuple[Ball, ...]
    numbers: dict[sp.Symbol, float]

    @property
    def positions(self) -> dict[str, NDArray[Any]]:
        """The centres of mass."""
        return {name: place.position for name, place in self.places.items()}

    @property
    def points(self) -> NDArray[Any]:
        """(n, 3): all that has to be in the drawing."""
        pivots = [point for turn in self.turns for point in (turn.pivot, turn.start)]
        pivots += [slide.start for slide in self.slides]
        return np.array([*self.positions.values(), *pivots, *(ball.pivot for ball in self.balls)])


class Anatomy:
    """A system whose formulas have become functions of numbers, once for many drawings."""

    def __init__(self, system: System, values: Mapping[Any, float] | None = None) -> None:
        self.system = system
        symbols = (*system.parameters, *system.inputs)
        self.numbers = {x: CENTRE_OF_MASS if x.name.startswith("c_") else 1.0 for x in symbols}
        self.numbers |= numbers(system, values, "parameters", "inputs")
        known = [*system.q, TIME]
        self._bodies = {
            body.name: sp.lambdify([known], _flat(body).subs(self.numbers), "numpy", cse=True) for body in system.bodies
        }
        in_units = {x for unit in system.units for x in unit}
        self._moving = [k for k, x in enumerate(system.q) if x not in in_units]
        self._units = [[system.q.index(x) for x in unit] for unit in system.units]
        rng = np.random.default_rng(1)
        self._samples = rng.uniform(0.3, 1.1, (3, len(system.q)))
        for unit in self._units:
            self._samples[:, unit] /= np.linalg.norm(self._samples[:, unit], axis=1, keepdims=True)
        self._held = {body.name for body in system.bodies if self._carries_its_joint(body.name)}
        self._angular = {k for k in self._moving if any(self._turned(body.name, k) for body in system.bodies)}

    def at(self, q: Any = None, t: float = 0.0) -> Mechanism:
        """The system at a configuration: a number for each coordinate; by default such that all can be told apart."""
        state = self._start() if q is None else self._checked(q)
        places = {body.name: self._place(body.name, state, t) for body in self.system.bodies}
        turns = tuple(filter(None, (self._turn(k, state, t) for k in sorted(self._angular))))
        balls = tuple(filter(None, (self._ball(unit, state, t) for unit in self._units)))
        known = self.numbers | dict(zip(self.system.q, state.tolist(), strict=True)) | {TIME: float(t)}
        return Mechanism(self.system, places, turns, self._slides(state, t, turns), balls, known)

    def _place(self, name: str, q: NDArray[Any], t: float) -> Place:
        x = np.array(self._bodies[name]([*q, t]), float).reshape(-1)
        return Place(x[:3], x[3:12].reshape(3, 3), x[12:] if name in self._held else x[:3])

    def _start(self) -> NDArray[Any]:
        angle = ANGLE / 2 if len(self._angular) >= MIN_ANGLES_TO_HALVE else ANGLE
        q = np.array([angle if k in self._angular else SHIFT for k in range(len(self.system.q))])
        for unit in self._units:
            q[unit] = np.array(TILT) / np.linalg.norm(TILT)
        return q

    def _checked(self, q: Any) -> NDArray[Any]:
        count, state = len(self.system.q), np.asarray(q, float)
        if state.shape != (count,) or not np.isfinite(state).all():
            raise InputError(f"q: expected {count} finite numbers, for {', '.join(map(str, self.system.q))}, got {q!r}")
        return state

    def _carries_its_joint(self, name: str) -> bool:
        """Whether the joint of a body is a point of it: not where it slides."""
        places = [np.array(self._bodies[name]([*q, 0.0]), float).reshape(-1) for q in self._samples]
        ways = [x[3:12].reshape(3, 3).T @ (x[12:] - x[:3]) for x in places]
        return bool(np.ptp(ways, axis=0).max() < LENGTH_TOLERANCE)

    def _turned(self, name: str, k: int) -> bool:
        """Whether a coordinate turns a body, or moves it on a circle."""
        before, at, after = (self._place(name, _with(self._samples[0], k, x), 0.0) for x in (0.2, 0.9, 1.6))
        bent = before.position - 2 * at.position + after.position
        return bool(
            np.abs(after.rotation - before.rotation).max() > LENGTH_TOLERANCE or np.abs(bent).max() > LENGTH_TOLERANCE
        )

    def _first(self, k: int) -> str | None:
        """The first body that a coordinate moves."""
        for body in self.system.bodies:
            places = [self._place(body.name, _with(self._samples[0], k, x), 0.0) for x in (0.2, 0.9)]
            if any(np.abs(a - b).max() > LENGTH_TOLERANCE for a, b in zip(places[0][:2], places[1][:2], strict=True)):
                return body.name
        return None

    def _moved(self, point: Callable[[NDArray[Any]], NDArray[Any]], besides: int | None = None) -> bool:
        """Whether a point depends on any coordinate, besides one."""
        samples = self._samples.copy()
        if besides is not None:
            samples[:, besides] = 0.0
        return bool(np.ptp([point(q) for q in samples], axis=0).max() > LENGTH_TOLERANCE)

    def _turn(self, k: int, state: NDArray[Any], t: float) -> Turn | None:
        name = self._first(k)
        if name is None:
            return None

        def position(q: NDArray[Any], x: float) -> NDArray[Any]:
            return self._place(name, _with(q, k, x), t).position

        def pivot(q: NDArray[Any]) -> NDArray[Any]:
            rise = (position(q, q[k] + 2 * np.pi) - position(q, q[k])) / 2  # of a screw, in half a turn
            return (position(q, q[k]) + position(q, q[k] + np.pi) - rise) / 2

        at, still = state, _with(state, k, 0.0)
        axis = self._axis(name, k, state, t)
        arm, zero = position(at, at[k]) - pivot(at), position(still, 0.0) - pivot(still)
        centred = bool(np.linalg.norm(arm) < LENGTH_TOLERANCE)
        if centred:  # one of its own axes tells, the most across of them
            turned, rest = (self._place(name, q, t).rotation for q in (at, still))
            across = int(np.argmin(np.abs(axis @ rest) + np.array([0.0, 0.01, 0.005])))
            arm, zero = 0.5 * turned[:, across], 0.5 * rest[:, across]
        fixed = not self._moved(pivot)
        start = pivot(still) if centred else pivot(at)
        return Turn(self.system.q[k], float(state[k]), name, pivot(at), start, arm, zero, axis, fixed, centred)

    def _axis(self, name: str, k: int, state: NDArray[Any], t: float) -> NDArray[Any]:
        """The unit vector about which a coordinate turns a body."""
        first, second, third = (self._place(name, _with(state, k, state[k] + x), t) for x in (0.0, 0.5, 1.0))
        R = second.rotation @ first.rotation.T
        axis = np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]])
        if np.linalg.norm(axis) < LENGTH_TOLERANCE:  # a particle
            axis = np.cross(second.position - first.position, third.position - second.position)
        return axis / max(float(np.linalg.norm(axis)), LENGTH_TOLERANCE)

    def _ball(self, unit: list[int], state: NDArray[Any], t: float) -> Ball | None:
        name = self._first(unit[1])
        if name is None:
            return None

        def pivot(q: NDArray[Any]) -> NDArray[Any]:
            return np.mean([self._place(name, _with(q, unit, one), t).position for one in np.eye(4)], axis=0)

        symbols = tuple(self.system.q[k] for k in unit)
        return Ball(symbols, name, pivot(state), not self._moved(pivot))

    def _slides(self, state: NDArray[Any], t: float, turns: tuple[Turn, ...]) -> tuple[Slide, ...]:
        linear = [k for k in self._moving if k not in self._angular]
        slides = []
        for i, k in enumerate(linear):
            name = self._first(k)
            if name is None:
                continue
            shift = self._carried(name, state, t, turns)
            later = state.copy()
            later[linear[i + 1 :]] = 0.0
            start, end = (self._place(name, q, t).position + shift for q in (_with(later, k, 0.0), later))
            fixed = not self._moved(lambda q, name=name: self._place(name, q, t).position, besides=k)
            slides.append(Slide(self.system.q[k], float(state[k]), name, start, end, fixed))
        return tuple(slides)

    def _carried(self, name: str, state: NDArray[Any], t: float, turns: tuple[Turn, ...]) -> NDArray[Any]:
        """From the centre of a body to the pivot that it carries, farthest from it: what its slides really move."""
        center = self._place(name, state, t).position
        own = [turn.pivot - center for turn in turns if turn.body == name]
        return max(own, key=lambda way: float(np.linalg.norm(way)), default=np.zeros(3))


def mechanism(system: System, q: Any = None, values: Mapping[Any, float] | None = None, t: float = 0.0) -> Mechanism:
    """A system at a configuration.

    Args:
        system: what is drawn.
        q: a number for each coordinate; by default such that all can be told apart.
        values: numbers of parameters by symbol or name; 1 by default, 0.5 for c_1, c_2, ...
        t: the time.
    """
    return Anatomy(system, values).at(q, t)


def plane_of(mechanism: Mechanism) -> NDArray[Any]:
    """(2, 3): right and up of the drawing: the plane in which the system moves, or a view from aside."""
    ways = [mechanism.points - mechanism.points[0], *(slide.end - slide.start for slide in mechanism.slides)]
    still = np.concatenate([np.atleast_2d(way) for way in ways])
    planes = {1: [[1, 0, 0], [0, 0, 1]], 2: [[1, 0, 0], [0, 1, 0]], 0: [[0, 1, 0], [0, 0, 1]]}
    for out, axes in planes.items():
        flat = np.abs(still[:, out]).max() < LENGTH_TOLERANCE and not mechanism.balls
        if flat and all(abs(abs(turn.axis[out]) - 1) < 1e-6 for turn in mechanism.turns):
            return np.array(axes, float)
    return max((_aside(azimuth) for azimuth in AZIMUTHS), key=lambda plane: _openness(mechanism, plane))


def _aside(azimuth: float) -> NDArray[Any]:
    """A view of space from aside and above."""
    c, s = np.cos(np.radians(azimuth)), np.sin(np.radians(azimuth))
    return np.array([[c, -s, 0.0], [s * 0.5, c * 0.5, 0.87]])


def _openness(mechanism: Mechanism, plane: NDArray[Any]) -> float:
    """How far the circles of all angles, of the worst above all, are turned to the reader."""
    seen = [abs(float(turn.axis @ np.cross(plane[0], plane[1]))) for turn in mechanism.turns] or [0.0]
    return round(min(seen) + 0.1 * sum(seen), 3)


def is_flat(plane: NDArray[Any]) -> bool:
    """Whether a drawing shows a plane, and not space from aside."""
    return bool((np.abs(plane).sum(axis=1) == 1.0).all())


def _flat(body: Any) -> sp.Matrix:
    rotation = body.rotation if body.turns else sp.eye(3)
    return sp.Matrix([*body.position, *rotation, *body.joint])


def _with(q: NDArray[Any], k: int | list[int], value: Any) -> NDArray[Any]:
    changed = np.array(q, float)
    changed[k] = value
    return changed
