"""Nested states of runs and controllers, tuples and dicts of arrays: their shapes and batches, and choices of two."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from multibody.errors import InputError
from multibody.tracing.record.layout import flatten_to_list, parts_of, rebuild


def shapes_of(value: Any) -> Any:
    """The shapes of nested arrays."""
    if isinstance(value, Mapping):
        return {name: shapes_of(part) for name, part in value.items()}
    if isinstance(value, tuple | list) and not all(isinstance(part, int | float) for part in value):
        return [shapes_of(part) for part in value]
    return np.shape(value)


def batches_of(state: Any, shapes: Any, what: str = "state") -> list[tuple[int, ...]]:
    """The leading shapes of all arrays of a state, which must be nested as its shapes are."""
    if isinstance(shapes, Mapping):
        if not isinstance(state, Mapping) or set(state) != set(shapes):
            actual = ", ".join(map(str, state)) if isinstance(state, Mapping) else type(state).__name__
            raise InputError(f"{what}: expected a dict with {', '.join(shapes)}, got {actual}")
        parts = [(state[name], shapes[name], f"{what}, {name}") for name in shapes]
    elif isinstance(shapes, list):
        if not isinstance(state, tuple | list) or len(state) != len(shapes):
            raise InputError(f"{what}: expected a tuple of {len(shapes)}, got {state!r:.60}")
        parts = [(*pair, f"{what}[{k}]") for k, pair in enumerate(zip(state, shapes, strict=True))]
    else:
        if isinstance(state, Mapping):
            raise InputError(f"{what}: expected an array of shape {shapes}, got a dict")
        shape = np.shape(state)
        if shape[len(shape) - len(shapes) :] != shapes:
            expected = ", ".join(map(str, ("...", *shapes)))
            raise InputError(f"{what}: expected shape ({expected}), got {shape}")
        return [shape[: len(shape) - len(shapes)]]
    return [batch for part in parts for batch in batches_of(*part)]


def broadcast_batches(batches: list[tuple[int, ...]]) -> tuple[int, ...]:
    """The common shape of the batches of q, v, the state, inputs, pushes and parameters."""
    try:
        return np.broadcast_shapes(*batches)
    except ValueError:
        several = ", ".join(map(str, dict.fromkeys(batches)))
        raise InputError(
            f"the batches of q, v, state, inputs, wrenches and parameters, {several}, do not broadcast: "
            "expected one leading shape, or axes of length 1"
        ) from None


def broadcast_state(state: Any, shapes: Any, batch: tuple[int, ...]) -> Any:
    """The state with all arrays in a batch."""
    if isinstance(shapes, Mapping):
        return {name: broadcast_state(state[name], shapes[name], batch) for name in shapes}
    if isinstance(shapes, list):
        return tuple(broadcast_state(part, shape, batch) for part, shape in zip(state, shapes, strict=True))
    return np.broadcast_to(state, (*batch, *shapes))


def with_prefix(values: Mapping[str, Any], prefix: str) -> dict[str, Any]:
    """The values whose names begin with a prefix, by the rest of their names."""
    return {name.removeprefix(prefix): x for name, x in values.items() if name.startswith(prefix)}


def map_arrays(function: Callable[..., Any], state: Any, *others: Any) -> Any:
    """function(array, ...) of each array of a state, and of those of other states that are nested as it is."""
    arrays, layout = flatten_to_list(state)
    columns = (parts_of(layout, other, "state") for other in others)
    return rebuild(layout, map(function, arrays, *columns))


def select(truth: Any, after: Any, before: Any) -> Any:
    """The nested values after, where the truth value holds, and those before otherwise."""
    return map_arrays(lambda old, new: np.where(truth, new, old), before, after)
