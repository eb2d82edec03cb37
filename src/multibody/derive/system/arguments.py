"""Checks of arguments that are no formulas: whole numbers, and names in a list."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from multibody.errors import InputError


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
