"""Joint limits: the range of joints, as rows of velocities and of accelerations."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multibody.control._checks import check_number
from multibody.control.limits._limit import Range
from multibody.control.limits.velocities import BoxLimit
from multibody.model.robot_limits import integrated_coordinates
from multibody.model.tree import Tree


@dataclass(frozen=True)
class JointLimits(BoxLimit):
    """Joints within their range after the time dt: (lower - q) / dt <= v <= (upper - q) / dt.

    A joint outside of its range moves back, as fast as velocity limits let it if these are
    there too. In `WholeBody` it moves back at least at the velocity from which `deceleration`
    stops it at its limit, as far as the torques allow; `Limit.acceleration_range` makes the
    rows of accelerations there. Coordinates that are no integrals of velocities, such as
    quaternions, have no bounds.

    >>> import multibody as mb
    >>> robot = mb.load("planar-arm")
    >>> robot.tree.upper
    array([2.8, 2.8, 2.8])
    >>> JointLimits().on(robot.tree).upper(robot.tree, np.array([2.7, 0.0, 0.0]), 0.1).round(9)
    array([ 1., 28., 28.])
    """

    name: str = "joint limits"
    deceleration: float = 10.0
    """In rad/s² or m/s²: with what joints can brake; `WholeBody` keeps to velocities from which they can still stop."""
    needs_dt = True

    def __post_init__(self) -> None:
        check_number(self.deceleration, str(self.name), "a positive deceleration")

    def lower(self, tree: Tree, q: NDArray[Any], dt: Any) -> NDArray[Any]:
        return _rates(tree, tree.lower, q, dt)

    def upper(self, tree: Tree, q: NDArray[Any], dt: Any) -> NDArray[Any]:
        return _rates(tree, tree.upper, q, dt)

    def stopping_range(self, tree: Tree, q: NDArray[Any], v: NDArray[Any], dt: Any) -> Range:
        """Velocities from which joints can still stop before the ends of their range
        with `deceleration` d.

        v'^2 / (2 d) + v' dt / 2 <= upper - q - v dt / 2, where v' = v + a dt is the velocity at
        the end of the time dt. A joint past its end comes back with the velocity from which it
        would stop there.
        """
        kept, half, coordinate = self.bounded_rows(tree), 0.5 * dt[..., None], integrated_coordinates(tree)
        places = [k for k in (coordinate[k] for k in kept) if k is not None]
        x = q[..., places] + half * v[..., kept]
        lower, upper = (
            _braking_velocity(way, self.deceleration, half) for way in (x - tree.lower[places], tree.upper[places] - x)
        )
        return Range(self.velocity_range(tree, q, dt).J, -lower, upper)

    def bounded(self, tree: Tree) -> NDArray[Any]:
        ends = [None if k is None else (tree.lower[k], tree.upper[k]) for k in integrated_coordinates(tree)]
        return np.array([end is not None and bool(np.isfinite(end).any()) for end in ends])


def _rates(tree: Tree, ends: NDArray[Any], q: NDArray[Any], dt: Any) -> NDArray[Any]:
    """(..., nv): the velocities that take joints to their ends in the time dt; infinite where there is no end."""
    none = np.full(q.shape[:-1], np.inf if ends is tree.upper else -np.inf, q.dtype)
    places = integrated_coordinates(tree)
    rates = [none if k is None or np.isinf(ends[k]) else (ends[k] - q[..., k]) / dt for k in places]
    return np.stack(rates, axis=-1)


def _braking_velocity(displacement: NDArray[Any], deceleration: float, half: NDArray[Any]) -> NDArray[Any]:
    """The velocity that stops after a displacement; where it is negative, one that comes back by as much.

    `half` is half of the time of a step.
    """
    slow, far = half * deceleration, np.minimum(np.abs(displacement), 1e9)
    speed = np.sqrt(slow * slow + 2.0 * deceleration * far) - slow
    return np.where(displacement < 0, -np.maximum(speed, np.minimum(far / half, 2.0 * slow)), speed)
