"""Quantities: what a robot can compute, in a table that other rooms add to."""

import inspect
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from multibody._foreign_names import translate_quantity
from multibody.errors import InputError
from multibody.model.digest import is_our_code
from multibody.model.tree import unknown
from multibody.robot.inputs import VALUES, Kind


@dataclass(frozen=True)
class Quantity:
    """An algorithm, ``function(tree, *inputs, **options)``; a frame, where it has one, comes before the inputs.

    >>> from multibody.algorithms.energy import kinetic_energy
    >>> Quantity(kinetic_energy, {"q": "configuration", "v": "velocity"}).is_ours
    True
    """

    function: Callable[..., Any]
    inputs: Mapping[str, Kind]
    """The names and kinds of its inputs.

    With constraints there are three more kinds: "rows", a number for each of their rows, and for the option `task_rows`
    "task", as many numbers, and "task-jacobian", a matrix of as many rows.
    """
    frame: bool = False
    """Whether its first argument after the tree is the name of a frame."""
    constraints: bool = False
    """Whether its first argument after the tree is a set of constraints."""
    options: Mapping[str, Callable[[Any, str], Any]] = field(default_factory=dict)
    """Further keyword options, each with what makes its value out of what is given, or refuses it."""
    wrenches: bool = False
    """Whether external wrenches are taken."""
    optional: Mapping[str, Kind] = field(default_factory=dict)
    """Inputs that may be left out, and are keywords of the function."""
    solves: bool = False
    """Whether it divides by the mass matrix."""
    any_length: bool = False
    """Whether quaternions need not be units."""

    @cached_property
    def defaults(self) -> dict[str, Any]:
        """What options are when they are not given; those that must be given are absent."""
        parameters = inspect.signature(self.function).parameters
        values = {name: parameters[name].default for name in self.options}
        return {name: value for name, value in values.items() if value is not inspect.Parameter.empty}

    @cached_property
    def is_ours(self) -> bool:
        """Whether the name in the table tells the code: that of a user can change."""
        return is_our_code(self.function)


TABLE: dict[str, Quantity] = {}
"""Every name that `robot.kernel`, `robot.evaluate` and `robot.derivatives` take."""


def register(quantities: Mapping[str, Quantity]) -> None:
    """Add quantities to the table: from then on all robots compute them, and start warm with the library's own."""
    for name, quantity in quantities.items():
        if not isinstance(quantity, Quantity):
            raise InputError(f"the quantity {name!r}: expected a Quantity, got {type(quantity).__name__}")
        unknown_options = quantity.options.keys() - inspect.signature(quantity.function).parameters.keys()
        if unknown_options:
            raise InputError(f"the quantity {name!r}: its function has no argument {sorted(unknown_options)[0]!r}")
        for each, kind in (*quantity.inputs.items(), *quantity.optional.items()):
            if isinstance(kind, str) and kind in VALUES:
                raise InputError(f"the quantity {name!r}, {each}: expected arrays, got the kind {kind!r}")
        if TABLE.setdefault(name, quantity) is not quantity:
            raise InputError(f"a quantity is named {name!r} already")


def quantity_of(name: Any, owner: str) -> Quantity:
    """The quantity of a name."""
    if not isinstance(name, str) or name not in TABLE:
        ours = translate_quantity(name)
        if ours in TABLE:
            raise InputError(f"{owner}: no quantity is named {name!r}; it is {ours!r} here")
        raise InputError(unknown("quantity", name, tuple(TABLE), owner))
    return TABLE[name]


def places(value: Any, what: str) -> tuple[int, ...]:
    """Whole numbers, which say where something is in a list."""
    try:
        return tuple(map(operator.index, value))
    except TypeError:
        raise InputError(f"{what}: expected a list of whole numbers such as [0, 1, 2], got {value!r}") from None


def count(value: Any, what: str) -> int:
    """A whole number of things, one at least."""
    try:
        number = operator.index(value)
    except TypeError:
        number = 0
    if number < 1:
        raise InputError(f"{what}: expected a whole number from 1 on, got {value!r}")
    return number


def word(value: Any, what: str) -> str:
    """A name."""
    if not isinstance(value, str):
        raise InputError(f"{what}: expected a name, got {value!r}")
    return value
