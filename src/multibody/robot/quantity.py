"""Quantity: an entry of the tables of what a robot can compute."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


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
    frame_options: tuple[str, ...] = ()
    """Those of the options that name frames."""
    whole: bool = False
    """Whether it depends on more of the model than its dynamics: on all frames, or on passive forces."""
