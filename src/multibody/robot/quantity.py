"""Quantity: an algorithm of `robot.kernel`, with its inputs and options."""

import inspect
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from multibody.errors import InputError
from multibody.model.digest import is_our_code
from multibody.robot.inputs import Kind


@dataclass(frozen=True)
class Quantity:
    """An algorithm, ``function(tree, *inputs, **options)``, with a frame before the inputs if it takes one.

    >>> from multibody.algorithms.energy import kinetic_energy
    >>> Quantity(kinetic_energy, {"q": "configuration", "v": "velocity"}).is_ours
    True
    """

    function: Callable[..., Any]
    inputs: Mapping[str, Kind]
    """The names and kinds of its inputs.

    Constraints add three kinds: "rows", one value per constraint row; "task", `task_rows` values; "task-jacobian", a
    matrix of `task_rows` rows.
    """
    frame: bool = False
    """Whether its first argument after the tree is the name of a frame."""
    constraints: bool = False
    """Whether its first argument after the tree is a set of constraints."""
    options: Mapping[str, Callable[[Any, str], Any]] = field(default_factory=dict)
    """Keyword options, each with the function that checks and converts its value."""
    wrenches: bool = False
    """Whether it takes external wrenches."""
    optional: Mapping[str, Kind] = field(default_factory=dict)
    """Optional inputs, which are keywords of the function."""
    solves: bool = False
    """Whether it solves with the mass matrix."""
    any_length: bool = False
    """Whether it accepts quaternions of any length."""

    @cached_property
    def defaults(self) -> dict[str, Any]:
        """The defaults of the options, without the required ones."""
        parameters = inspect.signature(self.function).parameters
        values = {name: parameters[name].default for name in self.options}
        return {name: value for name, value in values.items() if value is not inspect.Parameter.empty}

    @cached_property
    def is_ours(self) -> bool:
        """Whether the function is part of the library, so that its name identifies the code."""
        return is_our_code(self.function)


def parse_indices(value: Any, title: str) -> tuple[int, ...]:
    """Return a list of indices as a tuple."""
    try:
        return tuple(map(operator.index, value))
    except TypeError:
        raise InputError(f"{title}: expected a list of integers such as [0, 1, 2], got {value!r}") from None


def parse_count(value: Any, title: str) -> int:
    """Return a positive integer."""
    try:
        number = 0 if isinstance(value, bool) else operator.index(value)
    except TypeError:
        number = 0
    if number < 1:
        raise InputError(f"{title}: expected a positive integer, got {value!r}")
    return number


def parse_name(value: Any, title: str) -> str:
    """Return a name."""
    if not isinstance(value, str):
        raise InputError(f"{title}: expected a name, got {value!r}")
    return value
