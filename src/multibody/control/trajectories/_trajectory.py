"""Trajectories: polynomials of time, piece after piece, and their time scaling."""

from collections.abc import Sequence
from typing import Any, NamedTuple, final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from multibody._reprs import short_fields
from multibody.control._checks import check_positive
from multibody.control.trajectories._spaces import Space
from multibody.geometry._arrays import batch_shape, is_traced, numbers


class Motion(NamedTuple):
    """The position, velocity and acceleration of a trajectory at a time."""

    value: Any
    """An array (..., n), an `mb.Rotation` or an `mb.Pose`."""
    rate: NDArray[Any]
    """Its velocity: (..., n), an angular velocity (..., 3), or a mixed twist (..., 6)."""
    acceleration: NDArray[Any]
    """The time derivative of the rate."""

    __repr__ = short_fields


@final
class Trajectory:
    """A function of time, in s: `trajectory(t)` is its value, rate and acceleration.

    It begins at 0, a spline at the first of its times. Before and after, it is held at its
    ends, with rate and acceleration zero. Times have any shape, which broadcasts with the batch
    of the trajectory; they may be traced. A trajectory is frozen.
    """

    __slots__ = ("_space", "_knots", "_coefficients", "_bases")

    def __init__(self, space: Space, knots: NDArray[Any], coefficients: NDArray[Any], bases: Any) -> None:
        """Make it of knots, (..., k + 1), and coefficients, (..., k, powers, n), of
        the time since the last knot.
        """
        batch = np.broadcast_shapes(knots.shape[:-1], coefficients.shape[:-3])
        knots = np.broadcast_to(knots, (*batch, knots.shape[-1]))
        for name, value in zip(self.__slots__, (space, knots, coefficients, bases), strict=True):
            object.__setattr__(self, name, value)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a Trajectory is frozen: {name!r} cannot be set")

    def __reduce__(self) -> tuple[Any, ...]:
        return Trajectory, (self._space, self._knots, self._coefficients, self._bases)

    @property
    def duration(self) -> Any:
        """How long it takes, in s, (...)."""
        return self._knots[..., -1] - self._knots[..., 0]

    def __call__(self, t: ArrayLike) -> Motion:
        """The value, rate and acceleration at times t, (...)."""
        time = numbers(t, "t", self._knots)
        batch_shape("the trajectory and t", (self._knots, 1), (time, 0))
        begin, end = self._knots[..., 0], self._knots[..., -1]
        clipped = np.minimum(np.maximum(time, begin), end)
        outside = ((time < begin) | (time > end))[..., None]
        start, c, base = self._piece(clipped)
        u = (clipped - start)[..., None]
        x, dx, ddx = _horner(c, u)
        zero = np.zeros_like(dx)
        base = base if base is None else np.broadcast_to(base, (*x.shape[:-1], 3, 3))
        dx, ddx = np.where(outside, zero, dx), np.where(outside, zero, ddx)
        return Motion(*self._space.motion(base, x, dx, ddx))

    def _piece(self, t: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any], Any]:
        """The beginning, the coefficients and the base of the piece at each time."""
        knots, C, bases = self._knots, self._coefficients, self._bases
        start, c = knots[..., 0], C[..., 0, :, :]
        base = None if bases is None else bases[..., 0, :, :]
        for j in range(1, C.shape[-3]):
            later = t >= knots[..., j]
            start = np.where(later, knots[..., j], start)
            c = np.where(later[..., None, None], C[..., j, :, :], c)
            base = None if base is None else np.where(later[..., None, None], bases[..., j, :, :], base)
        return start, c, base

    def slowed(self, factor: ArrayLike) -> "Trajectory":
        """Return the path in `factor` times the time, (...): rates are divided by it,
        accelerations by its square.

        >>> from multibody.control import trajectories
        >>> trajectories.cubic(0.0, 1.0, 2.0).slowed(1.5).duration
        np.float64(3.0)
        """
        k = check_positive(numbers(factor, "factor", self._knots), "factor", "of the time")
        powers = self._coefficients.shape[-2]
        scales = np.stack([np.ones_like(k), *(1 / k**p for p in range(1, powers))], axis=-1)
        C = self._coefficients * scales[..., None, :, None]
        return Trajectory(self._space, self._knots * k[..., None], C, self._bases)

    def __repr__(self) -> str:
        kind, pieces = type(self._space).__name__.lower(), self._coefficients.shape[-3]
        length = "a traced time" if is_traced(self._knots) else f"{np.max(self.duration, initial=0.0):.6g} s"
        return f"<Trajectory of {kind}: {pieces} piece{'s' * (pieces > 1)} in {length}>"


def columns(parts: Sequence[Any]) -> NDArray[Any]:
    """(..., powers, n): coefficients (..., n), of any batch shapes that broadcast, from the lowest power on."""
    shape = np.broadcast_shapes(*(part.shape for part in parts))
    return np.stack([np.broadcast_to(part, shape) for part in parts], axis=-2)


def _horner(c: NDArray[Any], u: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """A polynomial, (..., powers, n), and its first two derivatives at u, (..., 1)."""
    last = c.shape[-2] - 1
    x = c[..., last, :] + 0 * u
    dx, ddx = np.zeros_like(x), np.zeros_like(x)
    for p in reversed(range(last)):
        ddx = ddx * u + 2 * dx
        dx = dx * u + x
        x = x * u + c[..., p, :]
    return x, dx, ddx
