"""A digest of frozen data: equal for equal data, in every process."""

import hashlib
import sys
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from numbers import Real
from typing import Any

import numpy as np

from multibody.errors import InputError
from multibody.geometry._value import Value


def digest(*parts: Any) -> str:
    """Hexadecimal digits for the parts: numbers, texts, slices, tuples, values of geometry and frozen dataclasses.

    Raises:
        InputError: when a part is of another kind, of which nobody can tell what it stands for.

    >>> digest((1, "a")) == digest((1.0, "a")), digest(1) == digest("1")
    (True, False)
    """
    hasher = hashlib.sha256()
    for token in _tokens(parts):
        text = f"{token.__module__}.{token.__qualname__}".encode() if isinstance(token, type) else token
        hasher.update(b"%d:%b" % (len(text), text))
    return hasher.hexdigest()


def is_ours(*parts: Any) -> bool:
    """Whether all classes in the parts are the library's: the code of others can change under the same name.

    >>> from multibody.model.joints import Revolute
    >>> is_ours(Revolute("z")), is_ours(type("Revolute", (Revolute,), {})("z"))
    (True, False)
    """
    return all(is_our_code(token) for token in _tokens(parts) if isinstance(token, type))


def is_our_code(x: Any) -> bool:
    """Whether a class or a function is the one of its name in a module of the library.

    >>> is_our_code(digest), is_our_code(lambda: 1)
    (True, False)
    """
    module, name = getattr(x, "__module__", None) or "", getattr(x, "__qualname__", "")
    home = sys.modules.get(module) if module.startswith("multibody.") else None
    for part in name.split("."):
        home = getattr(home, part, None)
    return home is x and home is not None


def _tokens(x: Any) -> Iterator[bytes | type]:
    """What tells x apart: the classes in it, and its numbers and texts as bytes."""
    if isinstance(x, Value):
        yield type(x)
        for array in x._arrays():
            yield from _tokens(array)
    elif isinstance(x, np.ndarray) and x.dtype.kind in "fiub":
        # + 0.0 makes -0.0 and 0.0, which are equal, alike; so are equal float32 and float64 numbers
        yield f"array {x.shape}".encode()
        yield (x.astype(np.float64) + 0.0).tobytes()
    elif is_dataclass(x) and not isinstance(x, type):
        yield type(x)
        for field in fields(x):
            if field.compare:
                yield from _tokens(getattr(x, field.name))
    elif isinstance(x, tuple | list):
        yield f"{len(x)} parts".encode()
        for part in x:
            yield from _tokens(part)
    elif isinstance(x, Real):
        # 1, 1.0 and True are equal, and so are -0.0 and 0.0
        yield f"number {(float(x) + 0.0).hex()}".encode()
    elif isinstance(x, str | slice | None):
        yield f"{type(x).__name__} {x!r}".encode()
    else:
        raise InputError(
            f"expected numbers, texts, tuples, values of geometry and frozen dataclasses of these, got {x!r}: "
            "nobody can tell what it stands for in another process"
        )
