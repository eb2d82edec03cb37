"""The signature of compiled code: its arguments and results."""

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from multibody.errors import InputError
from multibody.tracing.record.layout import Layout
from multibody.tracing.record.trace import Input


class Signature(NamedTuple):
    """The arguments and results of a kernel or of the step of a scan."""

    inputs: tuple[Input, ...]
    outputs: tuple[tuple[int, ...], ...]
    dtype: np.dtype[Any]
    layout: Layout
    """The nesting of the results."""
    quaternions: tuple[tuple[int, int], ...] = ()
    """(input, first entry) of every four entries that must be a unit quaternion."""

    @classmethod
    def of_header(cls, header: dict[str, Any], quaternions: Mapping[str, Sequence[int]] = {}) -> "Signature":
        """The signature in the header of code, with the first entries of unit quaternions by input."""
        inputs = tuple(Input(name, tuple(shape)) for name, shape in header["inputs"])
        units = tuple((_index(inputs, name, start), start) for name, starts in quaternions.items() for start in starts)
        outputs = tuple(map(tuple, header["outputs"]))
        return cls(inputs, outputs, np.dtype(header["dtype"]), header["layout"], units)


def _index(inputs: Sequence[Input], name: str, start: int) -> int:
    """The index of an input that has a quaternion at an entry."""
    names = [spec.name for spec in inputs]
    if name not in names:
        raise InputError(f"quaternions: no argument is called {name!r}; there are {names}")
    size = math.prod(inputs[names.index(name)].shape)
    if not isinstance(start, int | np.integer) or not 0 <= start <= size - 4:
        raise InputError(f"quaternions: expected an element of {name!r} from 0 to {size - 4}, got {start!r}")
    return names.index(name)
