"""Whether a function that is recorded once for many rounds changes anything that is not its own.

What it has from outside is compared before and after it has run; traced arrays know by themselves who writes into them.
"""

import itertools
import operator
import zlib
from array import array
from collections.abc import Callable
from types import FunctionType, GeneratorType
from typing import Any, NamedTuple

import numpy as np

from multibody.tracing.array.traced import ADVICE, TraceError
from multibody.tracing.record.surroundings import PLAIN, Part, Thing, is_iterator, parts_of, surroundings


class _State(NamedTuple):
    """What a thing is at a time."""

    content: Any
    """Numbers of an array, what is left of an iterator."""
    parts: list[Part]


class Outside:
    """What functions have from outside, as it is before they run."""

    def __init__(self, *functions: Callable[..., Any] | None) -> None:
        things = surroundings(*(f for f in functions if f is not None))
        self._before = [(thing, _state(thing.value)) for thing in things if thing.users]

    def check(self, what: str, error: Callable[[str], TraceError] = TraceError) -> None:
        """Refuse changes since then."""
        for thing, before in self._before:
            name = _change(thing, before)
            if name is not None:
                raise error(f"{what} is recorded once, and changes {name}, which is from outside it: {ADVICE}")


def _state(x: Any) -> _State:
    content: Any = None
    if isinstance(x, np.ndarray) and x.dtype != object:
        whole = x.flags.c_contiguous and x.dtype.kind in "biufc"  # read where it lies, which may be long
        content = (x.shape, x.dtype, zlib.crc32(x.data if whole else x.tobytes()))
    elif isinstance(x, bytearray | memoryview | array):
        content = bytes(x)
    elif isinstance(x, itertools.count):
        content = repr(x)
    elif is_iterator(x):
        content = operator.length_hint(x)
    elif isinstance(x, GeneratorType):
        content = None if x.gi_frame is None else x.gi_frame.f_lasti
    return _State(content, parts_of(x))


def _change(thing: Thing, before: _State) -> str | None:
    """The name of what has changed in a thing."""
    now = _state(thing.value)
    if now.content != before.content or len(now.parts) != len(before.parts):
        return thing.name
    for (name, value), (_, old) in zip(now.parts, before.parts, strict=True):
        if not _same(value, old):
            return name if isinstance(thing.value, FunctionType) else thing.name + name
    return None


def _same(a: Any, b: Any) -> bool:
    return a is b or (type(a) is type(b) and isinstance(a, PLAIN) and repr(a) == repr(b))
