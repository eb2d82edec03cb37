"""Validation of a `System`, with messages in terms of its symbols."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import sympy as sp

from multibody.derive.system.bodies import Body
from multibody.derive.system.constraints import Holonomic, Restriction
from multibody.derive.system.loads import Actuator, Force, Generalized, Load, Torque
from multibody.derive.system.symbolic_tree import Tree
from multibody.derive.system.symbols import TIME, rate
from multibody.errors import InputError

if TYPE_CHECKING:
    from multibody.derive.system.system import System

_KINDS: dict[str, Any] = {"q": object, "v": object, "bodies": Body, "loads": Load, "restrictions": Restriction}


def check(system: "System") -> None:
    """That names are there, once, and that what depends on coordinates depends on nothing that moves faster.

    Raises:
        InputError: that says which symbol, body or load is wrong, and why.
    """
    _units(system)
    _same_names(system)
    _bodies(system)
    _loads(system)
    _dependence(system)


def kinds(system: "System") -> None:
    """That coordinates, bodies, loads and restrictions come in lists, and are what they should be."""
    if not isinstance(system.name, str):
        raise InputError(f"expected the name of a system as its first argument, got {system.name!r}")
    if system.tree is not None and not isinstance(system.tree, Tree):
        raise InputError(f"{system.name}: expected a tree, as derive.from_robot makes them, got {system.tree!r}")
    if not isinstance(system.units, Iterable) or not all(isinstance(unit, Iterable) for unit in system.units):
        raise InputError(f"{system.name}: expected units in a list, four coordinates each, got {system.units!r}")
    for field, kind in _KINDS.items():
        members = getattr(system, field)
        if isinstance(members, str) or not isinstance(members, Iterable):
            raise InputError(f"{system.name}: expected {field} in a list, got {members!r}")
        for x in members:
            if not isinstance(x, kind):
                raise InputError(f"{system.name}: expected {field} as derive makes them, got {x!r}")


def states(name: str, symbols: Iterable[Any]) -> None:
    """That coordinates and velocities are plain symbols, each there once."""
    if not isinstance(symbols, Iterable):
        raise InputError(f"{name}: expected symbols in a list, got {symbols!r}")
    taken = []
    for x in symbols:
        if not isinstance(x, sp.Symbol):
            raise InputError(
                f"{name}: expected a plain symbol for a coordinate or velocity, got {x!r}: make it with "
                "derive.coordinates; its rate is derive.rate of it, not a derivative of a function"
            )
        taken.append(x.name)
    if TIME.name in taken:
        raise InputError(f"{name}: the symbol {TIME} is the time, and no coordinate or velocity: give it another name")
    twice = {x for x in taken if taken.count(x) > 1}
    if twice:
        raise InputError(f"{name}: the symbols {sorted(twice)} are there twice")


def _units(system: "System") -> None:
    for unit in system.units:
        if len(unit) != 4 or not set(unit) <= set(system.q):
            raise InputError(f"{system.name}: expected four coordinates w, x, y, z for a unit quaternion, got {unit}")


def _same_names(system: "System") -> None:
    """That symbols with the same name are the same symbol: SymPy tells them apart by their assumptions."""
    known: dict[str, sp.Symbol] = {x.name: x for x in (*system.q, *system.v, *map(rate, system.q), TIME)}
    for where, expression in _expressions(system):
        for x in sorted(sp.sympify(expression).free_symbols, key=str):
            first = known.setdefault(x.name, x)
            if first != x:
                raise InputError(
                    f"{system.name}: two symbols are called {x.name}, one of them in the {where}: "
                    f"{sp.srepr(first)} and {sp.srepr(x)} differ. Make it once, with derive.symbols"
                )


def _expressions(system: "System") -> Iterable[tuple[str, Any]]:
    for body in system.bodies:
        for field in ("mass", "position", "rotation", "inertia", "joint"):
            if getattr(body, field) is not None:
                yield f"{field} of {body.name}", getattr(body, field)
    yield "gravity", system.gravity
    yield "rates of the coordinates", system.rates
    for restriction in system.restrictions:
        yield f"constraint {restriction.name}", restriction.expression
    for load in system.loads:
        for expression in (*load.constants, *load.inputs):
            if expression is not None:
                yield type(load).__name__.lower(), expression


def _bodies(system: "System") -> None:
    names = [body.name for body in system.bodies]
    for k, body in enumerate(system.bodies):
        if body.name in names[:k]:
            raise InputError(f"{system.name}: two bodies are called {body.name!r}")
        if body.parent is not None and body.parent not in names[:k]:
            raise InputError(f"{system.name}: {body.name!r} has the parent {body.parent!r}, which must come before it")


def _loads(system: "System") -> None:
    names = [body.name for body in system.bodies]
    for load in system.loads:
        if isinstance(load, Force | Torque | Actuator):
            for body in (load.body, load.against if isinstance(load, Actuator) else None):
                if body is not None and not (isinstance(body, str) and body in names):
                    raise InputError(f"{system.name}: no body {body!r} for {load}; there are {names}")
        if isinstance(load, Generalized) and not (isinstance(load.velocity, sp.Symbol) and load.velocity in system.v):
            raise InputError(f"{system.name}: {load.velocity!r} is not a velocity; there are {system.v}")


def _dependence(system: "System") -> None:
    """That places depend on coordinates and time alone, masses on neither, and constraints on no accelerations."""
    rates = {*system.v, *map(rate, system.q)}
    accelerations = {*map(rate, rates)} - rates
    holonomic = {f"constraint {r.name}" for r in system.restrictions if isinstance(r, Holonomic)}
    loads = {type(load).__name__.lower() for load in system.loads}
    constant = {f"{field} of {body.name}" for body in system.bodies for field in ("mass", "inertia")}
    for where, expression in _expressions(system):
        if where in constant and TIME in sp.sympify(expression).free_symbols:
            raise InputError(
                f"{system.name}: the {where} depends on the time {TIME}: what a body loses takes momentum with it, so "
                "that masses and inertias must be constant"
            )
        symbols, place = sp.sympify(expression).free_symbols, not where.startswith("constraint") and where not in loads
        moving = symbols & (rates | accelerations if place or where in holonomic else accelerations)
        if moving:
            what = "velocities" if moving & rates else "accelerations"
            raise InputError(
                f"{system.name}: the {where} depends on the {what} {', '.join(sorted(x.name for x in moving))}"
                + (": a constraint on velocities is a derive.Motion" if where in holonomic else "")
            )
