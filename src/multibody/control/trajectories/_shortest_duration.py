"""The shortest duration of a displacement within limits of velocity and acceleration."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from multibody.control._checks import check_positive
from multibody.control.trajectories._spaces import Space
from multibody.errors import InputError
from multibody.geometry._arrays import numbers


def paces(space: Space, step: NDArray[Any], velocity: Any, acceleration: Any) -> tuple[NDArray[Any], NDArray[Any]]:
    """The longest |d| / v, in s, and |d| / a, in s², over the parts d of a step, (..., n); zero without a limit."""
    lengths = space.lengths(step)
    if velocity is None and acceleration is None:
        raise InputError("duration: expected a duration, or limits of velocity and acceleration, got neither")
    both = []
    for limit, what in ((velocity, "velocity"), (acceleration, "acceleration")):
        if limit is None:
            both.append(np.zeros_like(lengths[..., 0]))
            continue
        bound = check_positive(numbers(limit, what, lengths), what, "a limit")
        if bound.ndim and bound.shape[-1] not in (1, lengths.shape[-1]):
            raise InputError(f"{what}: expected a number or (..., {lengths.shape[-1]}), got shape {bound.shape}")
        both.append(np.max(lengths / bound, axis=-1))
    return both[0], both[1]
