"""States of runs and controllers: arrays, and nested tuples and dicts of arrays."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multibody.errors import InputError
from multibody.simulate.controllers import Function


def shapes_of(value: Any) -> Any:
    """The shapes of nested arrays."""
    if isinstance(value, Mapping):
        return {name: shapes_of(part) for name, part in value.items()}
    if isinstance(value, tuple | list) and not all(isinstance(part, int | float) for part in value):
        return [shapes_of(part) for part in value]
    return np.shape(value)


def batches_of(state: Any, shapes: Any) -> list[tuple[int, ...]]:
    """The leading shapes of all arrays of a state."""
    if isinstance(shapes, Mapping):
        return [batch for name in shapes for batch in batches_of(state[name], shapes[name])]
    if isinstance(shapes, list):
        return [batch for part, shape in zip(state, shapes, strict=True) for batch in batches_of(part, shape)]
    array: NDArray[Any] = np.asarray(state)
    return [array.shape[: array.ndim - len(shapes)]]


def first_memory(controller: Any, state: Any) -> Any:
    """The first state of a controller; None for one that has none."""
    remembers = isinstance(controller, Function) and controller.remembers
    if remembers == (state is not None):
        return state
    if remembers:
        raise InputError("state: expected the first state of the controller, function(t, q, v, input, state)")
    raise InputError("state: expected none: the controller is not a function(t, q, v, input, state)")
