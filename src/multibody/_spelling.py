"""The other spelling of public names: that of NumPy and SciPy is American, and errors about the British one say so."""

import re
from collections.abc import Callable
from functools import wraps
from typing import Any

SPELLINGS = (
    (r"([Cc])enter", r"\1entre"),
    (r"([Cc])olor", r"\1olour"),
    (r"([Bb])ehavior", r"\1ehaviour"),
    (r"([Nn])eighbor", r"\1eighbour"),
    (r"gray(?![a-z])", "grey"),
    (r"([a-z]{3,}[^s\W])iz(e|ed|es|er|ing|ation)(?![a-z])", r"\1is\2"),
    (r"alyz(e|ed|es|er|ing)(?![a-z])", r"alys\1"),
)
"""American spellings in names, and the British ones."""


def british(name: str) -> str | None:
    """Return the British spelling of a name, or None if it is the same.

    >>> british("center_of_mass"), british("Generalized"), british("size")
    ('centre_of_mass', 'Generalised', None)
    """
    other = name
    for american, spelling in SPELLINGS:
        other = re.sub(american, spelling, other)
    return None if other == name else other


def accept_arguments(**names: str) -> Callable[[Callable[..., Any]], Any]:
    """Accept the earlier names of arguments: {earlier: name}."""

    def decorate(function: Callable[..., Any]) -> Any:
        @wraps(function)
        def call(*args: Any, **named: Any) -> Any:
            return function(*args, **{names.get(name, name): value for name, value in named.items()})

        return call

    return decorate
