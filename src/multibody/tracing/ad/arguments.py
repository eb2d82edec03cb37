"""The arguments of a function that is differentiated: nested values, laid end to end as arrays."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from multibody.errors import InputError
from multibody.geometry.value import Value
from multibody.tracing.ad.traces import plain
from multibody.tracing.array.traced import TracedArray, gathered
from multibody.tracing.record.layout import Layout, flatten, rebuild
from multibody.tracing.record.trace import Input, shape_of

Function = Callable[..., Any]
Shapes = Sequence[Any] | None


class Point(NamedTuple):
    """Where a function is differentiated: its arguments, laid end to end as arrays."""

    arrays: list[Any]
    inputs: tuple[Input, ...]
    """For each array its name, and its shape in one sample."""
    layouts: list[Layout]
    """How each argument is nested."""
    batched: bool
    titles: list[str]
    """What the function calls each argument."""

    def names(self, argument: int | tuple[int, ...]) -> list[str]:
        """The names of the arrays of one argument, or several."""
        if isinstance(argument, tuple):
            return [name for k in argument for name in self.names(k)]
        count = len(self.layouts)
        if not isinstance(argument, int | np.integer) or not 0 <= argument < count:
            raise InputError(f"argument: expected a position below {count}, the number of arguments, got {argument}")
        return [name for name, _ in self.inputs if name.split(".")[0] == self.titles[argument]]

    def nesting(self, argument: int | tuple[int, ...]) -> Layout:
        """How derivatives by one argument, or several, are nested."""
        if not isinstance(argument, tuple):
            return plain(self.layouts[argument])
        return self.nesting(argument[0]) if len(argument) == 1 else ["tuple", *map(self.nesting, argument)]

    def call(self, function: Function, *arrays: Any) -> Any:
        """The function of arguments that are nested as these, around other arrays."""
        rest = iter(arrays)
        return function(*(rebuild(layout, rest) for layout in self.layouts))


def point_of(arguments: tuple[Any, ...], shapes: Shapes, titles: list[str]) -> Point:
    """The arguments of a call, under the function's names; with shapes, those of one sample, they are a batch."""
    if shapes is not None and (not isinstance(shapes, list | tuple) or len(shapes) != len(arguments)):
        raise InputError(f"shapes: expected a list of one for each of {len(arguments)} arguments, got {shapes!r}")
    arrays: list[Any] = []
    inputs: list[Input] = []
    layouts: list[Layout] = []
    for k, argument in enumerate(arguments):
        parts: list[Any] = []
        layouts.append(flatten(_with_arrays(argument, titles[k]), parts.append))
        if shapes is None:
            samples = map(np.shape, parts)
        else:
            refusal = f"shapes: expected those of {titles[k]} nested as it is"
            samples = map(shape_of, matched(plain(layouts[-1]), shapes[k], refusal))
        names = [titles[k]] if layouts[-1] == "array" else [f"{titles[k]}.{i}" for i in range(len(parts))]
        inputs += map(Input, names, samples)
        arrays += parts
    return Point(arrays, tuple(inputs), layouts, shapes is not None, titles)


def _with_arrays(nested: Any, what: str) -> Any:
    """Nested values with arrays in place of lists of numbers."""
    if isinstance(nested, dict):
        return {key: _with_arrays(part, what) for key, part in nested.items()}
    if isinstance(nested, list | tuple) and any(map(_holds_array, nested)):
        parts = [_with_arrays(part, what) for part in nested]
        return tuple(parts) if isinstance(nested, tuple) else parts
    return nested if isinstance(nested, Value) else array_of(nested, what)


def _holds_array(x: Any) -> bool:
    """Whether a list with x among its members is nested, rather than an array that is written as a list."""
    if isinstance(x, list | tuple):
        return any(map(_holds_array, x))
    return isinstance(x, Value | dict) or (isinstance(x, TracedArray | np.ndarray) and x.ndim > 0)


def array_of(x: Any, what: str) -> Any:
    """X as an array of real numbers; one of Python's has no precision of its own, and stays."""
    try:
        x = gathered(x)
        if isinstance(x, TracedArray) or type(x) in (int, float):
            return x
        array = np.asarray(x)
    except ValueError as error:
        raise InputError(f"{what}: expected numbers, got {error}") from None
    if array.dtype.kind not in "fiub":
        raise InputError(f"{what}: expected real numbers, got {x!r:.60}")
    return array


def matched(layout: Layout, nested: Any, refusal: str) -> list[Any]:
    """The parts of something that is nested as a layout without values, one for each of its arrays."""
    if layout == "array":
        return [nested]
    kind, *parts = layout
    if kind == "dict" and isinstance(nested, dict) and nested.keys() == {key for key, _ in parts}:
        return [x for key, part in parts for x in matched(part, nested[key], refusal)]
    if kind == "tuple" and isinstance(nested, list | tuple) and len(parts) == len(nested):
        return [x for part, member in zip(parts, nested, strict=True) for x in matched(part, member, refusal)]
    raise InputError(f"{refusal}, got {type(nested).__name__}")
