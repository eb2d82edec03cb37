"""Nested layouts of the states, inputs and parameters of a scan, from the shapes that declare them.

A shape is a number or a tuple of numbers; tuples and lists of anything else, and dicts, are nested. In a layout it is
["shape", length, ...].
"""

from typing import Any

import numpy as np

from multibody.errors import InputError
from multibody.tracing.record.layout import Layout
from multibody.tracing.record.trace import shape_of


def layout_of(spec: Any) -> Layout:
    """The layout of nested shapes.

    >>> layout_of({"q": 7, "v": [(3, 3), ()]})
    ['dict', ['q', ['shape', 7]], ['v', ['tuple', ['shape', 3, 3], ['shape']]]]
    """
    if isinstance(spec, dict):
        if not all(isinstance(name, str) for name in spec):
            raise InputError(f"expected dicts with string keys, got {list(spec)}")
        return ["dict", *([name, layout_of(part)] for name, part in spec.items())]
    nested = isinstance(spec, list) or (
        isinstance(spec, tuple) and not all(isinstance(n, int | np.integer) for n in spec)
    )
    if nested:
        return ["tuple", *map(layout_of, spec)]
    return ["shape", *shape_of(spec)]


def shapes_of(layout: Layout) -> list[tuple[int, ...]]:
    """The shapes of all arrays in order; empty ones if the layout is that of values."""
    if layout == "array":
        return [()]
    kind, *parts = layout
    if kind == "shape":
        return [tuple(parts)]
    return [shape for part in parts for shape in shapes_of(part[1] if kind == "dict" else part)]
