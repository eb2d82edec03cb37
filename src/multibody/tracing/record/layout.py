"""How a function's result is nested, as plain data: so that it can be stored, and put around other arrays.

"array"                      one array
["tuple", part, ...]         a tuple or a list of parts
["dict", [key, part], ...]   a dict with string keys
["value", name, part, ...]   a value of geometry, of that class
"""

from collections.abc import Callable, Iterator
from typing import Any

from multibody import geometry
from multibody.errors import InputError
from multibody.geometry.value import Value

Layout = Any


def flatten(result: Any, take: Callable[[Any], None]) -> Layout:
    """The layout of a result, whose arrays are handed to `take` one by one."""
    if isinstance(result, Value):
        return ["value", type(result).__name__, *(flatten(array, take) for array in result._arrays())]
    if isinstance(result, dict):
        if not all(isinstance(key, str) for key in result):
            raise InputError(f"expected dicts with string keys, got {list(result)}")
        return ["dict", *([key, flatten(value, take)] for key, value in result.items())]
    if isinstance(result, tuple | list):
        return ["tuple" if isinstance(result, tuple) else "list", *(flatten(part, take) for part in result)]
    take(result)
    return "array"


def rebuild(layout: Layout, arrays: Iterator[Any]) -> Any:
    """The result of that layout around the given arrays."""
    if layout == "array":
        return next(arrays)
    kind, *parts = layout
    if kind == "value":
        name, *parts = parts
        return getattr(geometry, name)._from_arrays(*[rebuild(part, arrays) for part in parts])
    if kind == "dict":
        return {key: rebuild(part, arrays) for key, part in parts}
    members = [rebuild(part, arrays) for part in parts]
    return tuple(members) if kind == "tuple" else members


def is_flat(layout: Layout) -> bool:
    """Whether it is one array, or a tuple of arrays and nothing deeper."""
    return layout == "array" or (layout[0] == "tuple" and all(part == "array" for part in layout[1:]))
