"""The link from formulas to the library's algorithms: a robot whose numbers are replaced by expressions."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import sympy as sp

from multibody.derive.system.symbols import expression, matrix, vector
from multibody.derive.system.traced_formulas import exact
from multibody.errors import InputError
from multibody.model.tree import Body
from multibody.robot import Robot

GROUPS = ("masses", "centers", "inertias", "lengths", "gravity")
"""What can be symbols."""
LARGE_SYSTEM = 7
"""With so many velocities, formulas of a robot are too large to be read, and sorting their terms takes minutes."""
Symbols = str | Collection[str] | Mapping[str, Any]
_AXES = "xyz"
_KEYS = ("mass", "center", "inertia", "position")


@dataclass(frozen=True)
class Numbers:
    """Expressions in place of the numbers of one body. Frames: i the body, p its parent.

    Args:
        mass: an expression.
        center: i_c, where its centre of mass is, three expressions.
        inertia: i_Θ, 3 × 3 expressions about the centre of mass, along the axes of the body.
        position: p_o, where its joint is in its parent, three expressions.
    """

    mass: Any
    center: sp.ImmutableMatrix
    inertia: sp.ImmutableMatrix
    position: sp.ImmutableMatrix

    @property
    def parameters(self) -> list[Any]:
        """The ten of `robot.parameters()`: m, m c, Ixx, Ixy, Iyy, Ixz, Iyz, Izz about the origin.  [MDN 69; RD 3.17]"""
        c = self.center
        about_origin = self.inertia + self.mass * (c.dot(c) * sp.eye(3) - c * c.T)
        moments = (about_origin[i, j] for i, j in ((0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2)))
        return [self.mass, *(self.mass * c), *moments]


@dataclass(frozen=True, eq=False)
class Tree:
    """A robot and the expressions that stand for its numbers.

    Args:
        robot: its tree, its kinds of joints and its rotations.
        bodies: the expressions of each body, in the robot's order.
        gravity: three expressions.
        values: the number that each symbol has in the robot, where it has one.
    """

    robot: Robot
    bodies: Sequence[Numbers]
    gravity: sp.ImmutableMatrix
    values: Mapping[sp.Symbol, float] = field(default_factory=dict)

    @cached_property
    def inertias(self) -> sp.ImmutableMatrix:
        """(bodies × 10), in the order of `robot.parameters()`."""
        return sp.ImmutableMatrix([numbers.parameters for numbers in self.bodies])

    @cached_property
    def positions(self) -> sp.ImmutableMatrix:
        """(bodies × 3): where each joint is in its parent body."""
        return sp.ImmutableMatrix([numbers.position.flat() for numbers in self.bodies])


def tree(robot: Robot, symbols: Symbols = (), *, gravity: Any = None) -> Tree:
    """A robot with symbols for some of its numbers; the others are exact, and zeros stay zeros.

    A symbol stands for the magnitude of a number, so that its sign is to be seen: m_1, c_x1, I_xx1 of the first body,
    l_1 for the distance of its joint in its parent (l_x1, l_y1, l_z1 when that is along no axis), g for gravity. One
    body alone needs no numbers in them.

    Args:
        robot: the robot.
        symbols: "all", or some of "masses", "centers", "inertias", "lengths" and "gravity"; or your own expressions,
            for the bodies and their numbers that you name: {"rod": {"mass": m, "center": (0, 0, -l), "inertia":
            (I, I, 0), "position": (0, 0, 0)}}, where an inertia is three moments or a 3 × 3 matrix about the centre of
            mass.
        gravity: three expressions, instead of the robot's.

    Raises:
        InputError: for a group, a body or a number that does not exist.
    """
    values: dict[sp.Symbol, float] = {}
    own: Mapping[str, Any] = symbols if isinstance(symbols, Mapping) else {}
    groups = _groups(() if own else symbols)
    _check(robot, own)
    bodies = []
    for k, body in enumerate(robot.bodies, start=1):
        suffix = str(k) if len(robot.bodies) > 1 else ""
        bodies.append(_numbers(body, own.get(body.name, {}), suffix, groups, values))
    if gravity is None:
        gravity = _gravity(robot, "gravity" in groups, values)
    return Tree(robot, tuple(bodies), vector(gravity, "gravity"), values)


def _numbers(
    body: Body, own: Mapping[str, Any], suffix: str, groups: Collection[str], values: dict[sp.Symbol, float]
) -> Numbers:
    """The expressions of one body; `values` takes what its symbols, which end with the suffix, stand for."""

    def named(group: str, name: str, x: float) -> sp.Expr:
        """A symbol for a number that is not zero, with its sign; the number itself when its group has no symbols."""
        number = exact(x)
        if number == 0 or group not in groups:
            return number
        symbol = sp.Symbol(name + (suffix if "_" in name or not suffix else f"_{suffix}"), real=True)
        values[symbol] = abs(float(x))
        return symbol if x > 0 else -symbol

    center, inertia = body.inertia.com, _without_noise(body.inertia.inertia)
    position = body.joint.placement.position
    along = [k for k in range(3) if exact(position[k]) != 0]
    moments = {
        (i, j): named("inertias", f"I_{_AXES[i]}{_AXES[j]}", inertia[i, j]) for i in range(3) for j in range(i, 3)
    }
    expressions = {
        "mass": named("masses", "m", float(body.inertia.mass)),
        "center": [named("centers", f"c_{_AXES[k]}", center[k]) for k in range(3)],
        "inertia": [[moments[min(i, j), max(i, j)] for j in range(3)] for i in range(3)],
        "position": [named("lengths", "l" if len(along) == 1 else f"l_{_AXES[k]}", position[k]) for k in range(3)],
    } | dict(own)
    theta = expressions["inertia"]
    if isinstance(theta, list | tuple) and len(theta) == 3 and not isinstance(theta[0], list | tuple):
        theta = sp.diag(*theta)
    return Numbers(
        expression(expressions["mass"], f"mass of {body.name}"),
        vector(expressions["center"], f"center of {body.name}"),
        matrix(theta, f"inertia of {body.name}", (3, 3)),
        vector(expressions["position"], f"position of {body.name}"),
    )


def _without_noise(inertia: Any) -> Any:
    """Moments without what rounding left of zeros."""
    return np.where(np.abs(inertia) < 1e-14 * np.abs(inertia).max(), 0.0, inertia)


def _gravity(robot: Robot, symbol: bool, values: dict[sp.Symbol, float]) -> list[Any]:
    numbers = robot.model.gravity
    size = float(np.linalg.norm(numbers))
    if not symbol or size == 0:
        return [exact(x) for x in numbers]
    g = sp.Symbol("g", real=True)
    values[g] = size
    return [g * exact(x / size) for x in numbers]


def _groups(symbols: Any) -> Collection[str]:
    if not isinstance(symbols, Collection):
        raise InputError(
            f"symbols: expected 'all', some of {', '.join(GROUPS)}, or expressions by body, got {symbols!r}"
        )
    if isinstance(symbols, str) and symbols == "all":
        return GROUPS
    groups = (symbols,) if isinstance(symbols, str) else tuple(symbols)
    for group in groups:
        if not isinstance(group, str) or group not in GROUPS:
            raise InputError(f"symbols: expected 'all' or some of {', '.join(GROUPS)}, got {group!r}")
    return groups


def _check(robot: Robot, own: Mapping[str, Any]) -> None:
    names = [body.name for body in robot.bodies]
    for body, numbers in own.items():
        if body not in names:
            raise InputError(f"symbols: {robot.name} has no body {body!r}; it has {', '.join(names)}")
        if not isinstance(numbers, Mapping):
            raise InputError(f"symbols of {body!r}: expected values of {', '.join(_KEYS)} by name, got {numbers!r}")
        for key in numbers:
            if key not in _KEYS:
                raise InputError(f"symbols of {body!r}: expected some of {', '.join(_KEYS)}, got {key!r}")
