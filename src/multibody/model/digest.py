"""A digest of frozen data: equal for equal data, in every process."""

import hashlib
import sys
from dataclasses import fields, is_dataclass
from functools import cached_property
from numbers import Real
from typing import Any

import numpy as np

from multibody.errors import InputError
from multibody.geometry.value import Value

# named, because an int | float is made anew each time that it is asked for
SEQUENCES = (tuple, list)
WORDS = (str, slice, type(None))
NUMBERS = (float, int, Real)


def digest(*parts: Any) -> str:
    """Hexadecimal digits for the parts: numbers, texts, slices, tuples, values of geometry and frozen dataclasses.

    Raises:
        InputError: when a part is of another kind, of which nobody can tell what it stands for.

    >>> digest((1, "a")) == digest((1.0, "a")), digest(1) == digest("1")
    (True, False)
    """
    texts = (f"{x.__module__}.{x.__qualname__}".encode() if isinstance(x, type) else x for x in _tokens(parts))
    return hashlib.sha256(b"".join(b"%d:%b" % (len(text), text) for text in texts)).hexdigest()


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


def _tokens(parts: tuple[Any, ...]) -> list[bytes | type]:
    """What tells the parts apart: the classes in them, and their numbers and texts as bytes."""
    tokens: list[bytes | type] = []
    _collect(parts, tokens)
    return tokens


def _collect(x: Any, tokens: list[bytes | type]) -> None:
    if isinstance(x, SEQUENCES):
        tokens.append(b"%d parts" % len(x))
        for part in x:
            _collect(part, tokens)
    elif isinstance(x, WORDS):
        tokens.append(f"{type(x).__name__} {x!r}".encode())
    elif isinstance(x, NUMBERS):
        # 1, 1.0 and True are equal, and so are -0.0 and 0.0
        tokens.append(f"number {(float(x) + 0.0).hex()}".encode())
    elif isinstance(x, Value):
        tokens.append(type(x))
        for array in x._arrays():
            _collect(array, tokens)
    elif isinstance(x, np.ndarray) and x.dtype.kind in "fiub":
        # + 0.0 makes -0.0 and 0.0, which are equal, alike; so are equal float32 and float64 numbers
        tokens.append(f"array {x.shape}".encode())
        tokens.append((x.astype(np.float64) + 0.0).tobytes())
    elif is_dataclass(x) and not isinstance(x, type) and x.__dataclass_params__.frozen:  # type: ignore[attr-defined]
        tokens.append(type(x))
        declared = fields(x)
        _refuse_undeclared(x, {field.name for field in declared})
        for field in declared:
            if field.compare or not is_our_code(type(x)):  # what a user's class does with a field is not known
                _collect(getattr(x, field.name), tokens)
    else:
        raise InputError(
            f"expected numbers, texts, tuples, values of geometry and frozen dataclasses of these, got {x!r}: "
            "nobody can tell what it stands for in another process"
        )


def _refuse_undeclared(x: Any, names: set[str]) -> None:
    """Refuse attributes of a dataclass that are no fields of it, as a subclass can set them: no digest sees them."""
    for name in getattr(x, "__dict__", {}):
        if name not in names and not isinstance(getattr(type(x), name, None), cached_property):
            raise InputError(f"expected {name!r} of {x!r} as a field of a frozen dataclass, got an attribute alone")
