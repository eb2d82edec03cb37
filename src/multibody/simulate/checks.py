"""Checks of plain numbers."""

from typing import Any

import numpy as np

from multibody.errors import InputError
from multibody.geometry._arrays import floats


def positive_number(x: Any, name: str = "dt", unit: str = "s") -> float:
    """Return a finite number above 0; refuse anything else."""
    value = floats(x, name)
    if value.shape or not (0 < value < np.inf):
        raise InputError(f"{name}: expected a positive number of {unit}, finite, got {x!r}")
    return float(value)


def positive_integer(x: Any, name: str) -> int:
    """Return an integer above 0; refuse anything else."""
    if not isinstance(x, int | np.integer) or isinstance(x, bool) or x < 1:
        raise InputError(f"{name}: expected a positive integer, got {x!r}")
    return int(x)


def step_number(seconds: Any, dt: float) -> int:
    """The number of steps of dt in a duration, which must be a multiple of it."""
    duration = floats(seconds, "seconds")
    if duration.shape or not np.isfinite(duration) or duration < 0:
        raise InputError(f"seconds: expected a time in s that is not negative, got {seconds!r}")
    steps = round(float(duration) / dt)
    if abs(steps * dt - float(duration)) > 1e-9 * max(1.0, float(duration)):
        raise InputError(f"seconds: expected a multiple of dt = {dt} s, got {seconds!r}")
    return steps
