"""Trajectories between two ends by one polynomial of time: cubic, quintic, minimum jerk."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from multibody.control._checks import check_positive
from multibody.control.trajectories._spaces import Space, between, paces, rates_of
from multibody.control.trajectories._trajectory import Trajectory, columns
from multibody.errors import InputError
from multibody.geometry._arrays import batch_shape, numbers

Ends = tuple[ArrayLike | None, ArrayLike | None]

AT_REST = (None, None)
PEAKS = {"cubic": (1.5, 6.0), "quintic": (1.875, 10 / np.sqrt(3.0))}
"""The largest rate and acceleration of a displacement of length one in a time of one, at rest at both ends."""


def cubic(
    a: Any,
    b: Any,
    duration: ArrayLike | None = None,
    *,
    rates: Ends = AT_REST,
    velocity: ArrayLike | None = None,
    acceleration: ArrayLike | None = None,
) -> Trajectory:
    """From a to b by a cubic polynomial of time, with rates at both ends that are zero by default.

    Args:
        a: where it begins: an array (..., n), a number, an `mb.Rotation` or an `mb.Pose`.
        b: where it ends, of the same shape.
        duration: in s, (...); without it, the shortest that keeps the limits.
        rates: at the beginning and at the end, (..., n): of rotations angular velocities, of
            poses mixed twists.
        velocity: the limit of the rate where there is no duration, (..., n) or a number; of a
            rotation its angular speed, of a pose (..., 2), its speed and angular speed.
        acceleration: the limit of the acceleration, likewise.

    Raises:
        InputError: when the ends do not fit each other, the duration or a limit is not
            positive, or numbers are not finite.

    >>> x, rate, acceleration = cubic([0.0, 1.0], [2.0, 1.0], 2.0)(1.0)
    >>> x, rate, acceleration
    (array([1., 1.]), array([1.5, 0. ]), array([0., 0.]))
    """
    space, points = between(a, b)
    T = _duration("cubic", space, points, duration, velocity, acceleration, at_rest=all(x is None for x in rates))
    r0, r1 = (rates_of(space, points, x, "rates")[..., None, :] for x in rates)
    step, h = space.steps(points), _not_zero(T)
    r1, _ = space.end_rates(step, r1, np.zeros_like(r1))
    c2 = (3 * step / h - 2 * r0 - r1) / h
    c3 = (r0 + r1 - 2 * step / h) / (h * h)
    return _of(space, points, T, columns([space.start(points), r0, c2, c3]))


def quintic(
    a: Any,
    b: Any,
    duration: ArrayLike | None = None,
    *,
    rates: Ends = AT_REST,
    accelerations: Ends = AT_REST,
    velocity: ArrayLike | None = None,
    acceleration: ArrayLike | None = None,
) -> Trajectory:
    """From a to b by a quintic polynomial of time, with rates and accelerations
    at both ends, zero by default.

    The arguments are those of `cubic`; `accelerations` are at the beginning and at the end,
    (..., n).

    >>> x, rate, acceleration = quintic(0.0, 1.0, 1.0, rates=(0.5, None))(0.0)
    >>> x, rate, acceleration
    (np.float64(0.0), np.float64(0.5), np.float64(0.0))
    """
    space, points = between(a, b)
    at_rest = all(x is None for x in (*rates, *accelerations))
    T = _duration("quintic", space, points, duration, velocity, acceleration, at_rest=at_rest)
    r0, r1 = (rates_of(space, points, x, "rates")[..., None, :] for x in rates)
    a0, a1 = (rates_of(space, points, x, "accelerations")[..., None, :] for x in accelerations)
    step = space.steps(points)
    C = hermite(space.start(points), step, (r0, a0), space.end_rates(step, r1, a1), _not_zero(T))
    return _of(space, points, T, C)


def minimum_jerk(
    a: Any,
    b: Any,
    duration: ArrayLike | None = None,
    *,
    velocity: ArrayLike | None = None,
    acceleration: ArrayLike | None = None,
) -> Trajectory:
    """From rest to rest with the least integral of squared jerk: the quintic 10
    s³ - 15 s⁴ + 6 s⁵ of s = t / duration.

    The arguments are those of `cubic`.

    >>> minimum_jerk(0.0, 1.0, 2.0)(1.0).rate
    np.float64(0.9375)
    """
    return quintic(a, b, duration, velocity=velocity, acceleration=acceleration)


def hermite(x: Any, step: Any, begin: tuple[Any, Any], end: tuple[Any, Any], h: Any) -> NDArray[Any]:
    """(..., 6, n): coefficients from x to x + step in a time h, with rates and accelerations at both ends."""
    (r0, a0), (r1, a1) = begin, end
    c2 = a0 / 2
    left = step / h - r0 - c2 * h  # what remains, over h, h and h²
    turn, bend = r1 - r0 - 2 * c2 * h, (a1 - 2 * c2) * h
    c3 = (10 * left - 4 * turn + bend / 2) / (h * h)
    c4 = (-15 * left + 7 * turn - bend) / (h * h * h)
    c5 = (6 * left - 3 * turn + bend / 2) / (h * h * h * h)
    return columns([x, r0, c2, c3, c4, c5])


def _of(space: Space, points: Any, T: NDArray[Any], C: NDArray[Any]) -> Trajectory:
    return Trajectory(space, np.stack([np.zeros_like(T), T], axis=-1), C, space.bases(points))


def _duration(
    law: str, space: Space, points: Any, duration: Any, velocity: Any, acceleration: Any, *, at_rest: bool
) -> NDArray[Any]:
    """The duration that is asked for, or the shortest that keeps the limits."""
    step = space.steps(points)[..., 0, :]
    if duration is not None:
        if velocity is not None or acceleration is not None:
            raise InputError("duration: expected either a duration or limits of velocity and acceleration, got both")
        T = check_positive(numbers(duration, "duration", step), "duration", "in s")
        batch_shape("the ends, duration", (step, 1), (T, 0))
        return T
    if not at_rest:
        raise InputError("duration: expected one, since only from rest to rest limits tell the shortest")
    p, r = paces(space, step, velocity, acceleration)
    rate, bend = PEAKS[law]
    return np.maximum(rate * p, np.sqrt(bend * r))


def _not_zero(T: NDArray[Any]) -> NDArray[Any]:
    """(..., 1, 1): a duration to divide by; that from a place to itself is zero."""
    return np.where(T > 0, T, np.ones_like(T))[..., None, None]
