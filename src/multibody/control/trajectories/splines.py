"""Trajectories through way points.

In R^n this is the cubic spline: its acceleration is continuous, and linear between way points. Of rotations the turns
from each to the next, as vectors, have such a spline; its angular velocities and accelerations at the way points are
those of the trajectory, which runs between them by quintic polynomials in exp(φ) R_k. It turns with the way points when
these are turned, and about a fixed axis it is the spline of the angle.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from multibody.control.trajectories._spaces import check_finite, through
from multibody.control.trajectories._trajectory import Trajectory
from multibody.control.trajectories.polynomials import hermite
from multibody.errors import InputError
from multibody.geometry._arrays import floats, is_traced


def spline(times: ArrayLike, points: Any) -> Trajectory:
    """Through way points at given times, twice continuously differentiable, at rest at both ends.

    Args:
        times: (..., k) in s, increasing.
        points: where it is then: (..., k, n), (k,) numbers, or an `mb.Rotation` or `mb.Pose`
            whose last batch axis has k. Turns between neighbours are the shortest.

    Raises:
        InputError: when there are fewer than two way points, their number is not that of the
            times, times do not increase, or numbers are not finite.

    >>> path = spline([0.0, 1.0, 3.0], [[0.0], [1.0], [0.0]])
    >>> path([0.0, 1.0, 3.0]).value.ravel()
    array([0., 1., 0.])
    """
    space, points = through(points)
    knots = check_finite(floats(times, "times"), "times")
    step, start = space.steps(points), space.start(points)
    count = start.shape[-2] + 1
    if count < 2 or not knots.ndim or knots.shape[-1] != count:
        raise InputError(f"times: expected as many as points, two at least; got shape {knots.shape} for {count} points")
    if not is_traced(knots) and not (np.diff(knots, axis=-1) > 0).all():
        raise InputError(f"times: expected them to increase, got {np.asarray(times).tolist()!r:.80}")
    h = (knots[..., 1:] - knots[..., :-1])[..., None]
    rates, accelerations = _knots(step, h)
    begin = rates[..., :-1, :], accelerations[..., :-1, :]
    end = space.end_rates(step, rates[..., 1:, :], accelerations[..., 1:, :])
    return Trajectory(space, knots, hermite(start, step, begin, end, h), space.bases(points))


def _knots(step: NDArray[Any], h: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """(..., k, n) each: rates and accelerations at way points of the cubic spline with rates of zero at its ends.

    Accelerations on both sides of a way point are equal: a tridiagonal system, eliminated from the first to the last.
    """
    count = step.shape[-2]
    slope = step / h
    zero = np.zeros_like(slope[..., 0, :])
    ratios, rights = [0 * h[..., 0, :]], [zero]
    for j in range(1, count):
        low, high = 1 / h[..., j - 1, :], 1 / h[..., j, :]
        pivot = 2 * (low + high) - low * ratios[-1]
        right = 3 * (slope[..., j - 1, :] * low + slope[..., j, :] * high)
        ratios.append(high / pivot)
        rights.append((right - low * rights[-1]) / pivot)
    rates = [zero]
    for j in reversed(range(1, count)):
        rates.append(rights[j] - ratios[j] * rates[-1])
    r = np.stack([zero, *reversed(rates)] if count > 1 else [zero, zero], axis=-2)
    before, after = r[..., :-1, :], r[..., 1:, :]
    at_start = (6 * slope - 4 * before - 2 * after) / h
    at_end = (2 * before + 4 * after - 6 * slope) / h
    return r, np.concatenate([at_start, at_end[..., -1:, :]], axis=-2)
