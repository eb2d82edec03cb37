"""Quantity: an entry of the tables of what a robot can compute, and what the values of its options are."""

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from multibody.errors import InputError
from multibody.geometry._arrays import truth


@dataclass(frozen=True)
class Quantity:
    """An algorithm: function(model, *options before, *inputs, **options), the inputs named as in the face."""

    function: Callable[..., Any]
    inputs: tuple[str, ...]
    frame: bool = False
    """Whether the first argument is the name of a frame."""
    constraints: bool = False
    """Whether the function takes a set of constraints in place of the model."""
    options: tuple[str, ...] = ()
    """Names of further keyword options."""
    wrenches: bool = False
    """Whether external wrenches are taken."""
    optional: tuple[str, ...] = ()
    """Names of inputs that may be left out, and are keywords of the function."""
    solves: bool = False
    """Whether it divides by the mass matrix."""
    any_length: bool = False
    """Whether quaternions need not be units."""
    frame_options: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Those of the options that name frames, each with the words that it may be instead."""
    required: tuple[str, ...] = ()
    """Those of the options that must be given."""
    whole: bool = False
    """Whether it depends on more of the model than its dynamics: on all frames, or on passive forces."""


def places(value: Any, what: str) -> tuple[int, ...]:
    """Whole numbers, which say where something is in a list."""
    try:
        return tuple(map(operator.index, value))
    except TypeError:
        raise InputError(f"{what}: expected a list of whole numbers such as [0, 1, 2], got {value!r}") from None


def word(value: Any, what: str) -> str:
    """A name."""
    if not isinstance(value, str):
        raise InputError(f"{what}: expected a name, got {value!r}")
    return value


VALUES: dict[str, Callable[[Any, str], Any]] = {"intrinsic": truth, "coordinates": places}
"""What makes the value of an option out of what is given, by its name, where that is not a `word`."""
