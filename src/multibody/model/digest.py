"""Digests of frozen data: equal for equal data, in every process."""

import hashlib
import sys
from collections.abc import Iterable
from dataclasses import fields, is_dataclass
from functools import cached_property
from numbers import Real
from typing import Any

import numpy as np

from multibody.errors import InputError
from multibody.geometry.value import Value

# module constants, because isinstance(x, int | float) builds the union at every call
SEQUENCES = (tuple, list)
LITERALS = (str, slice, type(None))
NUMBERS = (float, int, Real)


def digest(*parts: Any) -> str:
    """Return hexadecimal digits for numbers, strings, slices, tuples, geometry values and frozen dataclasses.

    Raises:
        InputError: if a part has no stable representation.

    >>> digest((1, "a")) == digest((1.0, "a")), digest(1) == digest("1")
    (True, False)
    """
    return _encode(parts)[0]


def library_digest(*parts: Any) -> str | None:
    """Return `digest` of the parts; None if a class is from outside the library, because its code may change.

    >>> from multibody.model.joints import Revolute
    >>> library_digest(Revolute("z")) == digest(Revolute("z"))
    True
    >>> library_digest(type("Revolute", (Revolute,), {})("z")) is None
    True
    """
    text, classes = _encode(parts)
    return text if all(map(is_our_code, classes)) else None


def is_our_code(x: Any) -> bool:
    """Return whether a class or a function is the one of its name in a module of the library.

    >>> is_our_code(digest), is_our_code(lambda: 1)
    (True, False)
    """
    module, name = getattr(x, "__module__", None) or "", getattr(x, "__qualname__", "")
    home = sys.modules.get(module) if module.startswith("multibody.") else None
    for part in name.split("."):
        home = getattr(home, part, None)
    return home is x and home is not None


def _encode(parts: tuple[Any, ...]) -> tuple[str, dict[type, tuple[str, ...]]]:
    """The digest, and the classes in the parts with the names of the fields that count.

    One loop over a stack: a second robot of the same model waits for this, and calls would take most of the time.
    """
    classes: dict[type, tuple[str, ...]] = {}
    tokens: list[bytes] = []
    stack: list[Any] = [parts]
    while stack:
        x = stack.pop()
        kind = type(x)
        if kind is float:
            tokens.append(b"number " + (x + 0.0).hex().encode())
        elif isinstance(x, SEQUENCES):
            tokens.append(b"%d parts" % len(x))
            stack.extend(x[::-1])
        elif isinstance(x, LITERALS):
            tokens.append(f"{kind.__name__} {x!r}".encode())
        elif isinstance(x, np.ndarray) and x.dtype.kind in "fiub":
            # + 0.0 makes -0.0 and 0.0, which are equal, alike; so are equal float32 and float64 numbers
            tokens += [f"array {x.shape}".encode(), (x.astype(np.float64) + 0.0).tobytes()]
        elif isinstance(x, Value):
            classes.setdefault(kind, ())
            tokens.append(f"{kind.__module__}.{kind.__qualname__}".encode())
            stack.extend(x._arrays()[::-1])
        elif isinstance(x, NUMBERS):  # 1, 1.0 and True are equal
            tokens.append(b"number " + (float(x) + 0.0).hex().encode())
        elif kind in classes or _is_frozen(x):
            if kind not in classes:
                # a user's class may use fields that it does not compare
                ours = is_our_code(kind)
                classes[kind] = tuple([f.name for f in fields(kind) if f.compare or not ours])
            if (attributes := getattr(x, "__dict__", {})).keys() != kind.__dataclass_fields__.keys():
                _refuse_undeclared(x, attributes)
            tokens.append(f"{kind.__module__}.{kind.__qualname__}".encode())
            stack.extend([getattr(x, name) for name in reversed(classes[kind])])
        else:
            raise InputError(
                f"expected numbers, strings, tuples, geometry values and frozen dataclasses of these, got {x!r}, which "
                "has no stable representation in another process"
            )
    return hashlib.sha256(b"".join([b"%d:%b" % (len(token), token) for token in tokens])).hexdigest(), classes


def _is_frozen(x: Any) -> bool:
    return is_dataclass(x) and not isinstance(x, type) and x.__dataclass_params__.frozen  # type: ignore[attr-defined]


def _refuse_undeclared(x: Any, names: Iterable[str]) -> None:
    """Raise an InputError for attributes that are no fields, such as a subclass may set: no digest covers them."""
    for name in names:
        if name not in x.__dataclass_fields__ and not isinstance(getattr(type(x), name, None), cached_property):
            raise InputError(f"expected {name!r} of {x!r} as a field of a frozen dataclass, got an attribute")
