"""A digest of frozen data: equal for equal models, in every process."""

import hashlib
from dataclasses import fields, is_dataclass
from numbers import Real
from typing import Any

import numpy as np

from multibody.geometry._value import Value


def digest(*parts: Any) -> str:
    """Hexadecimal digits for the parts: numbers, texts, tuples, values of geometry and frozen dataclasses."""
    hasher = hashlib.sha256()
    _feed(hasher, parts)
    return hasher.hexdigest()


def _feed(hasher: Any, x: Any) -> None:
    if isinstance(x, Value):
        hasher.update(f"<{type(x).__name__}".encode())
        for array in x._arrays():
            _feed(hasher, array)
    elif isinstance(x, np.ndarray):
        # + 0.0 makes -0.0 and 0.0, which are equal, alike; so are equal float32 and float64 numbers
        hasher.update(f"<array {x.shape}".encode() + (x.astype(np.float64) + 0.0).tobytes())
    elif is_dataclass(x):
        hasher.update(f"<{type(x).__name__}".encode())
        for field in fields(x):
            if field.compare:
                _feed(hasher, getattr(x, field.name))
    elif isinstance(x, tuple | list):
        hasher.update(f"<{len(x)}".encode())
        for part in x:
            _feed(hasher, part)
    elif isinstance(x, Real):
        # 1, 1.0 and True are equal, and so are -0.0 and 0.0
        hasher.update(f"<{(float(x) + 0.0).hex()}".encode())
    else:
        hasher.update(f"<{type(x).__name__} {x!r}".encode())
