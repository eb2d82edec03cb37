"""The arguments of a differentiated function: nested values as a list of arrays."""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from multibody.errors import InputError
from multibody.geometry.value import Value
from multibody.tracing.array.traced import TracedArray, gathered
from multibody.tracing.record.layout import Layout, flatten, parts_of, rebuild, without_values
from multibody.tracing.record.trace import Input, shape_of

Function = Callable[..., Any]
Shapes = Sequence[Any] | None


class Point(NamedTuple):
    """The point of differentiation: the arguments as a list of arrays."""

    arrays: list[Any]
    inputs: tuple[Input, ...]
    """The name of each array, and its shape in one sample."""
    layouts: list[Layout]
    """The layout of each argument."""
    batched: bool
    titles: list[str]
    """The names of the arguments."""

    def names(self, argument: int | tuple[int, ...]) -> list[str]:
        """The names of the arrays of one argument, or several."""
        if isinstance(argument, tuple):
            return [name for k in argument for name in self.names(k)]
        count = len(self.layouts)
        if not isinstance(argument, int | np.integer) or not 0 <= argument < count:
            raise InputError(f"argument: expected a position below {count}, the number of arguments, got {argument}")
        return [name for name, _ in self.inputs if name.split(".")[0] == self.titles[argument]]

    def nesting(self, argument: int | tuple[int, ...]) -> Layout:
        """The layout of derivatives with respect to one argument, or several."""
        if not isinstance(argument, tuple):
            return without_values(self.layouts[argument])
        return self.nesting(argument[0]) if len(argument) == 1 else ["tuple", *map(self.nesting, argument)]

    def call(self, function: Function, *arrays: Any) -> Any:
        """Call the function with other arrays in the layouts of the arguments."""
        rest = iter(arrays)
        return function(*(rebuild(layout, rest) for layout in self.layouts))


def point_of(arguments: tuple[Any, ...], shapes: Shapes, titles: list[str]) -> Point:
    """The arguments of a call; with shapes of one sample, they are a batch."""
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
            name = f"shapes: those of {titles[k]} must be nested as it is"
            samples = map(shape_of, parts_of(without_values(layouts[-1]), shapes[k], name))
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
    """Whether a list with the member x is nested, rather than an array written as a list."""
    if isinstance(x, list | tuple):
        return any(map(_holds_array, x))
    return isinstance(x, Value | dict) or (isinstance(x, TracedArray | np.ndarray) and x.ndim > 0)


def array_of(x: Any, what: str) -> Any:
    """X as an array of real numbers; Python numbers, which have no precision, stay."""
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
