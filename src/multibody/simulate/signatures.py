"""Functions that users pass, checked before they are called."""

import inspect
from collections.abc import Callable
from typing import Any

from multibody.errors import InputError


def check_signature(function: Callable[..., Any], expected: str, *arguments: str, **named: Any) -> None:
    """Refuse a function that does not take these arguments; the message begins with what was expected."""
    try:
        inspect.signature(function).bind(*arguments, **named)
    except TypeError as error:
        raise InputError(f"{expected}, got one with {error}") from None
    except ValueError:  # of a function in C, whose arguments are unknown
        pass
