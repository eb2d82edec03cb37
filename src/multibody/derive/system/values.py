"""Arguments of users: values for symbols, by symbol or by name, whole numbers, and names in a list."""

from collections.abc import Callable, Iterable, Mapping
from math import pi
from typing import Any

import numpy as np
import sympy as sp

from multibody.derive.system.symbols import expression
from multibody.derive.system.system import System
from multibody.errors import InputError


def numbers(system: System, values: Mapping[Any, Any] | None, *kinds: str) -> dict[sp.Symbol, float]:
    """Values by symbol as floats, of symbols of these kinds; see `named`.

    Raises:
        InputError: for other symbols, and values that are no numbers.
    """
    floats = {}
    for x, value in named(system, values, "values", *kinds, convert=lambda value, _: value).items():
        try:
            floats[x] = float("no number" if isinstance(value, str) else value)
        except (TypeError, ValueError):
            raise InputError(f"values, {x}: expected a number, got {value!r}") from None
    return floats


def named(
    system: System,
    values: Mapping[Any, Any] | None,
    what: str,
    *kinds: str,
    convert: Callable[[Any, str], Any] | None = None,
) -> dict[sp.Symbol, Any]:
    """Values by symbol.

    Args:
        system: whose symbols they are.
        values: by symbol or name.
        what: the argument, for the message.
        kinds: "q", "v", "inputs", "parameters": which symbols are allowed.
        convert: of a value and its name; exact expressions by default.

    Raises:
        InputError: that names a symbol that is none of these, and those that there are.
    """
    if values is not None and not isinstance(values, Mapping):
        raise InputError(f"{what}: expected values by name, such as {{'m': 1}}, got {values!r}")
    known = {x.name: x for kind in kinds for x in getattr(system, kind)}
    by_symbol = {}
    for key, value in (values or {}).items():
        name = key.name if isinstance(key, sp.Symbol) else str(key)
        if name not in known or (isinstance(key, sp.Symbol) and key != known[name]):
            raise InputError(f"{what}: {system.name} has no symbol {key!r}; there are {', '.join(known) or 'none'}")
        by_symbol[known[name]] = (convert or _exact_expression)(value, f"{what}, {name}")
    return by_symbol


def _exact_expression(x: Any, name: str) -> sp.Expr:
    return exact(expression(x, name))


def expect_equations(x: Any) -> None:
    """That it is what a method derives.

    Raises:
        InputError: when it is something else.
    """
    from multibody.derive.results.equations import Equations  # which imports what needs this

    if not isinstance(x, Equations):
        raise InputError(f"expected equations, as derive.equations makes them of a system, got {x!r}")


def exact(x: sp.Expr) -> sp.Expr:
    """Floats as fractions, and multiples of 15 degrees as multiples of π.

    >>> exact(sp.Float(3.141592653589793)), exact(sp.Float(0.25))
    (pi, 1/4)
    """
    if not isinstance(x, sp.Float):
        return sp.nsimplify(x, rational=True) if x.has(sp.Float) else x
    steps = float(x) / (pi / 12)
    whole = round(steps)
    if whole and abs(steps - whole) < 1e-12 * abs(steps):
        return sp.Rational(whole, 12) * sp.pi
    return sp.Rational(str(x))


def whole_number(x: Any, what: str, least: int = 0) -> int:
    """A whole number, not below the least.

    Raises:
        InputError: when it is something else.

    >>> whole_number(3, "seed")
    3
    """
    if isinstance(x, bool) or not isinstance(x, int | np.integer) or x < least:
        raise InputError(f"{what}: expected a whole number from {least} on, got {x!r}")
    return int(x)


def several(x: Any, what: str) -> tuple[Any, ...]:
    """Return the entries of a list; a text is none.

    Raises:
        InputError: when it is no list.

    >>> several(["x", "y"], "coordinates")
    ('x', 'y')
    """
    if isinstance(x, str | bytes) or not isinstance(x, Iterable):
        raise InputError(f"{what}: expected a list, got {x!r}")
    return tuple(x)


def names(x: Any, what: str) -> tuple[str, ...]:
    """Names in a list.

    Raises:
        InputError: when it is no list, or one of them is no text.

    >>> names(["x", "y"], "coordinates")
    ('x', 'y')
    """
    texts = several(x, what)
    for name in texts:
        if not isinstance(name, str):
            raise InputError(f"{what}: expected names, such as 'x', got {name!r}")
    return texts
