"""The spaces of trajectories: R^n, SO(3) or SE(3), their coordinates, and the shortest durations within limits.

Trajectories are polynomials of these coordinates. Those of a rotation are those of exp(φ) R_k, with a base R_k for each
piece; those of a pose are its position and φ. Rates and accelerations are written along the axes of the frame that the
values are in: those of poses are mixed twists.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from multibody.control._checks import check_positive
from multibody.errors import InputError
from multibody.geometry import Pose, Rotation, so3
from multibody.geometry._arrays import check_values, floats, matvec, numbers


class Vectors:
    """R^n: the values themselves, arrays (..., n), or numbers."""

    def __init__(self, *, numbers: bool) -> None:
        self.numbers = numbers

    def bases(self, _points: Any) -> None:
        """A polynomial of the values needs no base."""

    def steps(self, points: Any) -> NDArray[Any]:
        """(..., k - 1, n): from each point to the next."""
        return points[..., 1:, :] - points[..., :-1, :]

    def start(self, points: Any) -> NDArray[Any]:
        """(..., k - 1, n): the coordinates at the beginning of each piece."""
        return points[..., :-1, :]

    def end_rates(self, _steps: NDArray[Any], rate: NDArray[Any], acceleration: NDArray[Any]) -> tuple[Any, Any]:
        """The derivatives of the coordinates at the ends of pieces, from rates and accelerations."""
        return rate, acceleration

    def motion(self, _base: None, x: NDArray[Any], dx: NDArray[Any], ddx: NDArray[Any]) -> tuple[Any, Any, Any]:
        """The value, its rate and acceleration, from coordinates and their derivatives."""
        return (x[..., 0][()], dx[..., 0][()], ddx[..., 0][()]) if self.numbers else (x, dx, ddx)

    def lengths(self, steps: NDArray[Any]) -> NDArray[Any]:
        """(..., m): what limits of velocity and acceleration apply to: each number."""
        return np.abs(steps)


class Rotations:
    """SO(3): coordinates are rotation vectors φ of exp(φ) R_k."""

    def bases(self, points: Rotation) -> NDArray[Any]:
        """(..., k - 1, 3, 3): where each piece begins."""
        return points.matrix[..., :-1, :, :]

    def steps(self, points: Rotation) -> NDArray[Any]:
        """(..., k - 1, 3): the shortest turns, each at most half a turn."""
        R = points.matrix
        return (Rotation._trusted(R[..., 1:, :, :]) @ Rotation._trusted(R[..., :-1, :, :]).inverse()).log()

    def start(self, points: Rotation) -> NDArray[Any]:
        """Zeros: a piece begins at its base."""
        return np.zeros_like(points.matrix[..., :-1, :, 0])

    def end_rates(self, steps: NDArray[Any], rate: NDArray[Any], acceleration: NDArray[Any]) -> tuple[Any, Any]:
        """φ' and φ'' of an angular velocity and acceleration: those are Γ φ' and Γ φ'' + Γ' φ'."""
        back = so3.left_jacobian_inverse(steps)
        dphi = matvec(back, rate)
        return dphi, matvec(back, acceleration - matvec(so3.left_jacobian_dot(steps, dphi), dphi))

    def motion(self, base: NDArray[Any], x: NDArray[Any], dx: NDArray[Any], ddx: NDArray[Any]) -> tuple[Any, Any, Any]:
        """The rotation, its angular velocity and angular acceleration."""
        G = so3.left_jacobian(x)
        value = Rotation._trusted(np.matmul(so3.exp(x), base))
        return value, matvec(G, dx), matvec(G, ddx) + matvec(so3.left_jacobian_dot(x, dx), dx)

    def lengths(self, steps: NDArray[Any]) -> NDArray[Any]:
        """(..., 1): the angle."""
        return np.linalg.norm(steps, axis=-1)[..., None]


class Poses:
    """SE(3), position and rotation apart: the origin moves as a vector, the axes as in SO(3)."""

    _linear, _angular = Vectors(numbers=False), Rotations()

    def bases(self, points: Pose) -> NDArray[Any]:
        return self._angular.bases(points.rotation)

    def steps(self, points: Pose) -> NDArray[Any]:
        return np.concatenate([self._linear.steps(points.position), self._angular.steps(points.rotation)], axis=-1)

    def start(self, points: Pose) -> NDArray[Any]:
        return np.concatenate([self._linear.start(points.position), self._angular.start(points.rotation)], axis=-1)

    def end_rates(self, steps: NDArray[Any], rate: NDArray[Any], acceleration: NDArray[Any]) -> tuple[Any, Any]:
        turned = self._angular.end_rates(steps[..., 3:], rate[..., 3:], acceleration[..., 3:])
        moved = rate[..., :3], acceleration[..., :3]
        dx, ddx = (np.concatenate(parts, axis=-1) for parts in zip(moved, turned, strict=True))
        return dx, ddx

    def motion(self, base: NDArray[Any], x: NDArray[Any], dx: NDArray[Any], ddx: NDArray[Any]) -> tuple[Any, Any, Any]:
        R, w, dw = self._angular.motion(base, x[..., 3:], dx[..., 3:], ddx[..., 3:])
        rate, acceleration = (np.concatenate([d[..., :3], y], axis=-1) for d, y in ((dx, w), (ddx, dw)))
        return Pose._trusted(R, x[..., :3]), rate, acceleration

    def lengths(self, steps: NDArray[Any]) -> NDArray[Any]:
        """(..., 2): the distance and the angle."""
        return np.stack([np.linalg.norm(steps[..., :3], axis=-1), np.linalg.norm(steps[..., 3:], axis=-1)], axis=-1)


Space = Vectors | Rotations | Poses


def between(a: Any, b: Any) -> tuple[Space, Any]:
    """The space of two ends, and both along a new axis before the last of their vectors."""
    if isinstance(a, Pose | Rotation) or isinstance(b, Pose | Rotation):
        if type(a) is not type(b):
            raise InputError(f"expected two ends of one kind, got {type(a).__name__} and {type(b).__name__}")
        ends: list[Any] = [a, b]
    else:
        ends = [check_finite(floats(x, what), what) for x, what in ((a, "the start"), (b, "the end"))]
    if ends[0].shape != ends[1].shape:
        raise InputError(f"expected two ends of one shape, got the shapes {ends[0].shape} and {ends[1].shape}")
    if isinstance(a, Pose | Rotation):
        arrays = zip(a._arrays(), b._arrays(), strict=True)
        return through(a._from_arrays(*(np.stack(parts, axis=len(a.shape)) for parts in arrays)))
    return through(np.stack(ends, axis=-2 if ends[0].ndim else 0))


def through(points: Any) -> tuple[Space, Any]:
    """The space of way points, which are along the last axis of a batch of values, or the last but one of vectors."""
    if isinstance(points, Pose | Rotation):
        if not points.shape:
            raise InputError(f"points: expected several along the last batch axis, got one {type(points).__name__}")
        for array in points._arrays():
            check_finite(array, "points")
        return (Poses() if isinstance(points, Pose) else Rotations()), points
    array = check_finite(floats(points, "points"), "points")
    if not array.ndim:
        raise InputError("points: expected several, got a number")
    if array.ndim == 1:
        return Vectors(numbers=True), array[..., None]
    return Vectors(numbers=False), array


def rates_of(space: Space, points: Any, x: ArrayLike | None, what: str) -> NDArray[Any]:
    """A rate or an acceleration at an end, (..., n); zeros for None."""
    n = space.steps(points).shape[-1]
    if x is None:
        return np.zeros(n)
    array = check_finite(floats(x, what), what)
    return floats(array[..., None] if isinstance(space, Vectors) and space.numbers else array, what, n)


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


def check_finite(x: NDArray[Any], what: str) -> NDArray[Any]:
    """x, if its concrete numbers are finite."""
    return check_values(x, what, np.isfinite, "finite numbers", core=x.ndim)
