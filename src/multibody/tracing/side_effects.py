"""Whether a function that is recorded once for many rounds writes into arrays that it has by name.

Traced arrays know it themselves; plain ones, and those of objects that `np.array` makes of traced values, are compared
with what they were. Lists and counters of Python are not looked at.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from multibody.tracing.randomness import held_by, reached

_LARGEST = 100_000
"""Elements of the largest array that is copied."""


class Arrays:
    """The plain arrays that a function has by name, as they are before it runs."""

    def __init__(self, function: Callable[..., Any]) -> None:
        held = [x for f in reached(function) for x in held_by(f) if isinstance(x, np.ndarray)]
        self._before = [(x, x.copy()) for x in held if x.flags.writeable and x.size <= _LARGEST]

    def changed(self) -> bool:
        """Whether one of them has other elements now."""
        return any(not _same(now, before) for now, before in self._before)


def _same(now: np.ndarray[Any, Any], before: np.ndarray[Any, Any]) -> bool:
    if now.dtype == object:  # traced values have no truth value: whether they are the same objects
        return all(a is b for a, b in zip(now.ravel().tolist(), before.ravel().tolist(), strict=True))
    return now.tobytes() == before.tobytes()
