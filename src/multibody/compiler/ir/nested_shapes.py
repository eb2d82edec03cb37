"""Nested shapes: how the arguments of kernels, and the states, inputs and parameters of scans are declared.

A shape is an integer or a tuple of integers. Tuples and lists of anything else, and dicts, are nested.
"""

from typing import Any

import numpy as np

from multibody.errors import InputError
from multibody.tracing.record.layout import Layout
from multibody.tracing.record.trace import shape_of

Shape = tuple[int, ...]


def flatten_shapes(spec: Any, *what: str) -> tuple[Layout, list[Shape]]:
    """The layout of arrays that are nested as shapes, and the shapes in order; lists are tuples there.

    Args:
        spec: the shapes.
        *what: the beginning of errors, if not that of `shape_of`.

    >>> flatten_shapes({"q": 7, "v": [(3, 3), ()]})
    (['dict', ['q', 'array'], ['v', ['tuple', 'array', 'array']]], [(7,), (3, 3), ()])
    """
    shapes: list[Shape] = []

    def flatten(part: Any) -> Layout:
        if isinstance(part, dict):
            if not all(isinstance(name, str) for name in part):
                raise InputError(f"expected dicts with string keys, got {list(part)}")
            return ["dict", *([name, flatten(member)] for name, member in part.items())]
        if isinstance(part, list) or (
            isinstance(part, tuple) and not all(isinstance(n, int | np.integer) for n in part)
        ):
            return ["tuple", *map(flatten, part)]
        shapes.append(shape_of(part, *what))
        return "array"

    return flatten(spec), shapes
