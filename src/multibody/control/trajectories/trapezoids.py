"""Trajectories with trapezoidal profiles of speed."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from multibody.control.trajectories._spaces import between, paces
from multibody.control.trajectories._trajectory import Trajectory, columns


def trapezoidal(a: Any, b: Any, *, velocity: ArrayLike, acceleration: ArrayLike) -> Trajectory:
    """From rest at a to rest at b: at the largest acceleration, then speed, then
    deceleration that the limits allow.

    All parts move together: they begin and end at the same time, on a straight path, and the
    slowest sets the pace. A displacement that is too short for the largest speed has no time at
    it.

    Args:
        a: where it begins: an array (..., n), a number, an `mb.Rotation` or an `mb.Pose`.
        b: where it ends, of the same shape; the same place takes no time.
        velocity: the limit of the rate, (..., n) or a number; of a rotation its angular speed
            in rad/s, of a pose (..., 2), its speed in m/s and its angular speed.
        acceleration: the limit of the acceleration, likewise.

    Raises:
        InputError: when the ends do not fit each other or are not finite, or a limit is not
            positive.

    >>> trajectory = trapezoidal([0.0, 0.0], [1.0, -0.5], velocity=0.5, acceleration=1.0)
    >>> trajectory.duration
    np.float64(2.5)
    >>> trajectory(1.25).rate
    array([ 0.5 , -0.25])
    """
    space, points = between(a, b)
    step = space.steps(points)
    p, r = paces(space, step[..., 0, :], velocity, acceleration)
    zero, one = np.zeros_like(p), np.ones_like(p)
    moves = r > 0
    long = r < p * p
    ramp = np.where(long, r / np.where(long, p, one), np.sqrt(r))  # of a displacement from 0 to 1, at 1 / r
    end = np.where(long, p, ramp) + ramp
    bend = np.where(moves, one, zero) / np.where(moves, r, one)
    speed = bend * ramp
    knots = np.stack([zero, ramp, end - ramp, end], axis=-1)
    risen = speed * ramp / 2
    # the fraction of the displacement, as coefficients of the time since the last knot
    pieces = [[zero, zero, bend / 2], [risen, speed, zero], [one - risen, speed, -bend / 2]]
    done = np.stack([np.stack(piece, axis=-1) for piece in pieces], axis=-2)
    x = columns([space.start(points)[..., 0, :], 0 * step[..., 0, :], 0 * step[..., 0, :]])
    C = x[..., None, :, :] + done[..., :, :, None] * step[..., 0, None, None, :]
    bases = space.bases(points)
    bases = None if bases is None else np.broadcast_to(bases, (*bases.shape[:-3], 3, 3, 3))
    return Trajectory(space, knots, C, bases)
