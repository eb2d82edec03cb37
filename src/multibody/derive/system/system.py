"""A mechanical system as formulas: coordinates, bodies, what pushes them, what restricts them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import sympy as sp

from multibody.derive.system import validation
from multibody.derive.system.bodies import Body
from multibody.derive.system.constraints import Restriction
from multibody.derive.system.loads import Load
from multibody.derive.system.symbolic_tree import Tree
from multibody.derive.system.symbols import TIME, matrix, rate, vector
from multibody.errors import InputError


@dataclass(frozen=True, eq=False, repr=False)
class System:
    """Bodies placed by coordinates q and the time t, where q' = F(q, t) v.

    Whatever a body is carried by, as a pivot that is driven or a hoop that is turned, is
    written with the symbol `t` of `derive.symbols("t")`: in positions, rotations, constraints,
    rates, loads and gravity. Masses and inertias are constant.

    Args:
        name: the name of the system.
        q: the coordinates, symbols.
        bodies: rigid bodies and particles.
        v: the velocities, symbols; the rates of the coordinates by default.
        rates: F(q, t), as many rows as coordinates and columns as velocities; the identity by
            default.
        gravity: three expressions along the axes of the world; none by default.
        loads: springs, dampers, forces, actuators; rates of coordinates in them become F v.
        restrictions: configuration and motion constraints.
        units: quadruples of coordinates that are unit quaternions, w, x, y, z.
        tree: the same system as a robot with these symbols, when there is one: for its
            recursive algorithms.

    >>> x, m = sp.symbols("x m", real=True)
    >>> System("oscillator", (x,), (Body("mass", m, (x, 0, 0)),)).v
    (x_dot,)
    """

    name: str
    q: Sequence[sp.Symbol]
    bodies: Sequence[Body]
    v: Sequence[sp.Symbol] = ()
    rates: Any = None
    gravity: Any = (0, 0, 0)
    loads: Sequence[Load] = ()
    restrictions: Sequence[Restriction] = ()
    units: Sequence[Sequence[sp.Symbol]] = ()
    tree: Tree | None = None

    def __post_init__(self) -> None:
        def put(name: str, value: Any) -> None:
            object.__setattr__(self, name, value)

        validation.kinds(self)
        for name in ("q", "v", "bodies", "loads", "restrictions"):
            put(name, tuple(getattr(self, name)))
        validation.states(self.name, (*self.q, *self.v))
        put("units", tuple(tuple(unit) for unit in self.units))
        put("gravity", vector(self.gravity, "gravity"))
        if not self.q or not self.bodies:
            raise InputError(f"{self.name}: expected at least one coordinate and one body")
        if self.rates is None:
            if self.v and len(self.v) != len(self.q):
                raise InputError(
                    f"{self.name}: {len(self.v)} velocities of {len(self.q)} coordinates need their rates F"
                )
            put("v", self.v or tuple(rate(x) for x in self.q))
            put("rates", sp.ImmutableMatrix(sp.eye(len(self.q))))
        put("rates", matrix(self.rates, f"rates of {self.name}", (len(self.q), len(self.v))))
        implied = {rate(x): self.q_dot[k] for k, x in enumerate(self.q) if rate(x) not in self.v}
        put(
            "loads",
            tuple(load.substitute(implied) if _symbols(load.inputs) & {*implied} else load for load in self.loads),
        )
        validation.check(self)

    @property
    def holonomic_velocities(self) -> bool:
        """Whether the velocities are the rates of the coordinates."""
        return self.rates == sp.eye(len(self.q))

    @cached_property
    def moved_bodies(self) -> tuple[str, ...]:
        """The names of the bodies that move with time while the coordinates rest."""
        return tuple(body.name for body in self.bodies if body.moves_with_time)

    @property
    def a(self) -> tuple[sp.Symbol, ...]:
        """The accelerations, v'."""
        return tuple(rate(x) for x in self.v)

    @cached_property
    def q_dot(self) -> sp.ImmutableMatrix:
        """q' = F(q, t) v."""
        return sp.ImmutableMatrix(self.rates * sp.Matrix(self.v))

    @cached_property
    def inputs(self) -> tuple[sp.Symbol, ...]:
        """The symbols of forces that are no parameters of anything else, by their names."""
        return self._sorted(_symbols(x for load in self.loads for x in load.inputs) - self._constants)

    @cached_property
    def parameters(self) -> tuple[sp.Symbol, ...]:
        """All other symbols: masses, lengths, inertias, stiffnesses, gravity, by their names."""
        return self._sorted(self._constants)

    @cached_property
    def _constants(self) -> set[Any]:
        bodies = (x for b in self.bodies for x in (b.mass, b.position, b.rotation, b.inertia, b.joint))
        loads = (x for load in self.loads for x in load.constants)
        return _symbols((self.gravity, self.rates, *bodies, *loads, *(r.expression for r in self.restrictions)))

    def _sorted(self, symbols: set[Any]) -> tuple[sp.Symbol, ...]:
        states = {*self.q, *self.v, *(rate(x) for x in self.q), TIME}
        return tuple(sorted(symbols - states, key=lambda x: x.name))

    def body(self, name: str) -> Body:
        """The body of a name."""
        for body in self.bodies:
            if body.name == name:
                return body
        raise InputError(f"{self.name}: no body {name!r}; there are {[body.name for body in self.bodies]}")

    def __repr__(self) -> str:
        bodies = ", ".join(body.name for body in self.bodies)
        return f"<System {self.name}: coordinates {', '.join(map(str, self.q))}; bodies {bodies}>"


def expect_system(x: Any) -> None:
    """That it is a system.

    Raises:
        InputError: when it is something else, and how to make one.
    """
    if not isinstance(x, System):
        raise InputError(
            f"expected a derive.System, got {x!r}: derive.systems.system makes one from a name, derive.from_robot "
            "from a robot"
        )


def _symbols(expressions: Iterable[Any]) -> set[Any]:
    return set().union(*(sp.sympify(x).free_symbols for x in expressions if x is not None))
