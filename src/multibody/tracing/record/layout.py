"""Layouts: how values are nested, as plain data that can be stored and applied to other arrays.

"array"                      one array
["tuple", part, ...]         a tuple, or "list" a list
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
    """The layout of a nested value; `take` is called with each of its arrays."""
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


def flatten_to_list(nested: Any) -> tuple[list[Any], Layout]:
    """The arrays of a nested value, and its layout."""
    arrays: list[Any] = []
    layout = flatten(nested, arrays.append)
    return arrays, layout


def rebuild(layout: Layout, arrays: Iterator[Any]) -> Any:
    """The nested value of a layout with these arrays."""
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
    """Whether it is one array, or a tuple of arrays."""
    return layout == "array" or (layout[0] == "tuple" and all(part == "array" for part in layout[1:]))


def without_values(layout: Layout, cell: Layout = "array") -> Layout:
    """The layout of derivatives: arrays in place of values of geometry, tuples of lists, and a cell for each array."""
    if layout == "array":
        return cell
    kind, *parts = layout
    if kind == "dict":
        return ["dict", *([key, without_values(part, cell)] for key, part in parts)]
    members = [without_values(part, cell) for part in (parts[1:] if kind == "value" else parts)]
    return members[0] if kind == "value" and len(members) == 1 else ["tuple", *members]


def parts_of(layout: Layout, value: Any, name: str) -> list[Any]:
    """The arrays of a value that must have a layout without values of geometry; errors begin with the name."""
    if layout == "array":
        if isinstance(value, dict | Value):
            raise InputError(f"{name}: expected an array, got {type(value).__name__}")
        return [value]
    kind, *parts = layout
    if kind == "dict":
        keys = [key for key, _ in parts]
        if not isinstance(value, dict) or set(value) != set(keys):
            actual = f"keys {', '.join(value)}" if isinstance(value, dict) else type(value).__name__
            raise InputError(f"{name}: expected a dict with keys {', '.join(keys)}, got {actual}")
        return [array for key, part in parts for array in parts_of(part, value[key], name)]
    if not isinstance(value, tuple | list) or len(value) != len(parts):
        raise InputError(f"{name}: expected a tuple of {len(parts)} arrays, got {value!r:.60}")
    return [array for part, member in zip(parts, value, strict=True) for array in parts_of(part, member, name)]
