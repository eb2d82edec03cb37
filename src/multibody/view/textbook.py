"""What a drawing of a derived system shows, found from its formulas: pivots, slides, the meaning of each coordinate.

Whatever turns with an angle φ goes on a circle about its pivot: the pivot of a point p is p + ∂²p/∂φ². What slides goes
along a line: ∂p/∂x is constant. So a drawing needs no more than the positions of the bodies.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy as sp
from numpy.typing import NDArray

from multibody.derive.symbols import TIME
from multibody.derive.system import System
from multibody.errors import InputError

ANGLE, SHIFT = 0.6, 0.8
"""In rad and m: where coordinates are in a drawing, unless it is said."""


@dataclass(frozen=True, eq=False)
class Turn:
    """A coordinate that is an angle."""

    symbol: sp.Symbol
    value: float
    body: str
    pivot: NDArray[Any]
    arm: NDArray[Any]
    """From the pivot to the body."""
    zero: NDArray[Any]
    """The same where the coordinate is zero."""
    fixed: bool
    """Whether no coordinate moves the pivot."""


@dataclass(frozen=True, eq=False)
class Slide:
    """A coordinate that is a length."""

    symbol: sp.Symbol
    value: float
    body: str
    start: NDArray[Any]
    """Where the body is when the coordinate is zero."""
    end: NDArray[Any]
    fixed: bool
    """Whether no other coordinate moves the start."""


@dataclass(frozen=True, eq=False)
class Mechanism:
    """A system at one configuration, as numbers."""

    system: System
    positions: dict[str, NDArray[Any]]
    turns: tuple[Turn, ...]
    slides: tuple[Slide, ...]
    numbers: dict[sp.Symbol, float]

    @property
    def points(self) -> NDArray[Any]:
        """(n, 3): all that has to be in the drawing."""
        pivots = [turn.pivot for turn in self.turns] + [slide.start for slide in self.slides]
        return np.array([*self.positions.values(), *pivots])


def mechanism(system: System, q: Any = None, values: Mapping[Any, float] | None = None, t: float = 0.0) -> Mechanism:
    """A system at a configuration.

    Args:
        system: what is drawn.
        q: a number for each coordinate; by default such that all can be told apart.
        values: numbers of parameters by symbol or name; 1 by default.
        t: the time.
    """
    numbers = _numbers(system, values) | {TIME: float(t)}
    moving = [x for x in system.q if x not in {part for unit in system.units for part in unit}]
    kinds = {x: _kind(system, x) for x in moving}
    start = dict.fromkeys(system.q, 0.0) | {unit[0]: 1.0 for unit in system.units}
    for x in moving:
        start[x] = ANGLE if kinds[x] == "turn" else SHIFT
    if q is not None:
        given = np.asarray(q, float)
        if given.shape != (len(system.q),) or not np.isfinite(given).all():
            raise InputError(
                f"q: expected {len(system.q)} finite numbers, for {', '.join(map(str, system.q))}, got {q!r}"
            )
        start = dict(zip(system.q, given.tolist(), strict=True))
    at = numbers | start
    turns, slides = [], []
    for x in moving:
        body = next((each for each in system.bodies if _depends(each, x)), None)
        if body is None:
            continue
        position = _point(body.position, at)
        if kinds[x] == "turn":
            pivot_of = body.position + sp.diff(body.position, x, 2)
            pivot, still = _point(pivot_of, at), at | {x: 0.0}
            arm, zero = position - pivot, _point(body.position, still) - _point(pivot_of, still)
            if np.linalg.norm(arm) < 1e-9 and body.turns:  # it turns about its own centre: one of its axes tells
                arm, zero = (0.5 * _point(body.rotation[:, 0], where) for where in (at, still))
            fixed = not any(sp.simplify(pivot_of.diff(y)).norm() != 0 for y in system.q)
            turns.append(Turn(x, start[x], body.name, pivot, arm, zero, fixed))
        else:
            begin = _point(body.position, at | {x: 0.0})
            fixed = not any(body.position.subs(x, 0).has(y) for y in system.q if y != x)
            slides.append(Slide(x, start[x], body.name, begin, position, fixed))
    places = {body.name: _point(body.position, at) for body in system.bodies}
    return Mechanism(system, places, tuple(turns), tuple(slides), at)


def plane_of(mechanism: Mechanism) -> NDArray[Any]:
    """(2, 3): right and up of the drawing: the plane in which the system moves, or a view from aside."""
    still = np.concatenate(
        [mechanism.points - mechanism.points[0], [turn.zero for turn in mechanism.turns] or [[0, 0, 0]]]
    )
    planes = {"xz": (1, [[1, 0, 0], [0, 0, 1]]), "xy": (2, [[1, 0, 0], [0, 1, 0]]), "yz": (0, [[0, 1, 0], [0, 0, 1]])}
    for out, axes in planes.values():
        if np.abs(still[:, out]).max() < 1e-9:
            return np.array(axes, float)
    c, s = np.cos(np.radians(25)), np.sin(np.radians(25))
    return np.array([[c, -s, 0.0], [s * 0.4, c * 0.4, 0.9]])


def _kind(system: System, x: sp.Symbol) -> str:
    """Whether a coordinate turns bodies or moves them along."""
    for body in system.bodies:
        if body.turns and body.rotation.has(x):
            return "turn"
        if sp.diff(body.position, x, 2) != sp.zeros(3, 1):
            return "turn"
    return "slide"


def _depends(body: Any, x: sp.Symbol) -> bool:
    return body.position.has(x) or (body.turns and body.rotation.has(x))


def _point(expressions: Any, at: Mapping[sp.Symbol, float]) -> NDArray[Any]:
    return np.array([float(x.subs(at)) for x in expressions])


def _numbers(system: System, values: Mapping[Any, float] | None) -> dict[sp.Symbol, float]:
    known = {x.name: x for x in (*system.parameters, *system.inputs)}
    given = {x.name if isinstance(x, sp.Symbol) else x: float(value) for x, value in (values or {}).items()}
    strange = [name for name in given if name not in known]
    if strange:
        raise InputError(f"values: {system.name} has no parameter {strange[0]!r}; there are {', '.join(known)}")
    return {symbol: given.get(name, 1.0) for name, symbol in known.items()}
