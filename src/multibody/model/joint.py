"""Joints: a kind of motion with a name, a placement, limits, passive elements and mimicry."""

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multibody.errors import InputError
from multibody.geometry import Pose, Twist
from multibody.model.joints import Kind
from multibody.model.joints.motion_subspace import Subspace
from multibody.model.mimic import Mimic

INFINITY = math.inf


@dataclass(frozen=True)
class Limits:
    """The limits of one joint: a number for all of its coordinates, or one for each.

    `lower` and `upper` bound the coordinates (m, rad), `velocity` (m/s, rad/s) and `effort` (N, N m) the magnitudes of
    velocities and efforts. A missing limit is infinite.

    >>> Limits(lower=-1.0, upper=1.0).upper
    1.0
    """

    lower: float | tuple[float, ...] = -INFINITY
    upper: float | tuple[float, ...] = INFINITY
    velocity: float | tuple[float, ...] = INFINITY
    effort: float | tuple[float, ...] = INFINITY

    def __post_init__(self) -> None:
        for name in ("lower", "upper", "velocity", "effort"):
            limit = getattr(self, name)
            try:
                numbers = np.asarray(limit, dtype=float)
            except (TypeError, ValueError):
                raise InputError(f"limits.{name}: expected one number or several, got {limit!r}") from None
            object.__setattr__(self, name, tuple(numbers.tolist()) if numbers.ndim else float(numbers))

    def spread(self, kind: Kind) -> "Limits":
        """Return the limits with one number per coordinate and velocity of a kind."""
        sizes = {"lower": kind.nq, "upper": kind.nq, "velocity": kind.nv, "effort": kind.nv}
        full = Limits(**{name: _each(getattr(self, name), n, f"limits.{name}") for name, n in sizes.items()})
        pairs = zip(full.lower, full.upper, strict=True)  # type: ignore[arg-type]
        for k, (low, high) in enumerate(pairs):
            if not low <= high:
                raise InputError(f"limits of coordinate {k}: expected lower <= upper, got {low:g} and {high:g}")
        for name in ("velocity", "effort"):
            if any(not x >= 0 for x in getattr(full, name)):
                raise InputError(f"limits.{name}: expected numbers that are not negative, got {getattr(full, name)}")
        where = kind.quaternion
        if where is not None and np.isfinite((*full.lower[where], *full.upper[where])).any():  # type: ignore[index]
            raise InputError("limits: the numbers of a quaternion have none, expected -inf and inf there")
        return full


@dataclass(frozen=True)
class Passive:
    """Passive elements of a joint (damper, dry friction, spring), and the armature of its drive.

    Numbers hold for each velocity of the joint, in N m s/rad or N s/m, N m or N, N m/rad or N/m, kg m² or kg.
    """

    damping: float = 0.0
    friction: float = 0.0
    """Dry (Coulomb) friction."""
    stiffness: float = 0.0
    """The stiffness of a spring that pulls to `rest`."""
    rest: tuple[float, ...] | None = None
    """Coordinates at which the spring is at rest; None is the neutral configuration."""
    armature: float = 0.0
    """Inertia of the rotor as the joint feels it: it stands on the diagonal of the mass matrix."""

    def __post_init__(self) -> None:
        for name in ("damping", "friction", "stiffness", "armature"):
            value = float(getattr(self, name))
            if not (value >= 0 and math.isfinite(value)):
                raise InputError(f"{name}: expected a finite number that is not negative, got {value!r}")
            object.__setattr__(self, name, value)
        if self.rest is not None:
            object.__setattr__(self, "rest", tuple(float(x) for x in self.rest))


def _nowhere() -> slice:
    return slice(0, 0)


@dataclass(frozen=True)
class Joint:
    """A joint between two links.

    Frames: p the parent link, j the joint on it, i the child link; j and i coincide at the neutral configuration.
    A mimic joint has no coordinate of its own: `q` and `v` are those of the joint that it follows.
    """

    name: str
    kind: Kind
    parent: str | None
    """The name of the parent link; None is the world."""
    child: str
    placement: Pose = field(default_factory=Pose.identity)
    """p_H_j."""
    limits: Limits = Limits()
    passive: Passive = Passive()
    mimic: Mimic | None = None
    q: slice = field(default_factory=_nowhere, hash=False)
    """The indices of its coordinates in the robot's q; set by the model."""
    v: slice = field(default_factory=_nowhere, hash=False)
    """The indices of its velocities in the robot's v; set by the model."""
    offset: Any = field(default=None, hash=False)
    """(...): added to the only coordinate, in m or rad, by `Tree.with_values`; None for none."""

    @property
    def nq(self) -> int:
        """The number of coordinates of its own."""
        return 0 if self.mimic else self.kind.nq

    @property
    def nv(self) -> int:
        """The number of velocities of its own."""
        return 0 if self.mimic else self.kind.nv

    def coordinates(self, q: NDArray[Any]) -> NDArray[Any]:
        """The coordinates (..., kind.nq) of this joint in the robot's q."""
        x = q[..., self.q]
        if self.mimic is not None:
            x = self.mimic.follow(x)
        return x if self.offset is None else x + self.offset[..., None]

    def rates(self, v: NDArray[Any]) -> NDArray[Any]:
        """The velocities (..., kind.nv), or the accelerations, of this joint in the robot's v."""
        x = v[..., self.v]
        return x if self.mimic is None else x * self.mimic.ratio

    def pose(self, q: NDArray[Any]) -> Pose:
        """p_H_i at the robot's q.  [RD 2.130]"""
        return self.placement @ self.kind.pose(self.coordinates(q))

    def subspace(self, q: NDArray[Any]) -> Subspace:
        """i_S at the robot's q: the twist i_v_pi is i_S times v[joint.v]."""
        S = self.kind.subspace(self.coordinates(q))
        return S if self.mimic is None else S.scaled(self.mimic.ratio)

    def bias(self, q: NDArray[Any], v: NDArray[Any]) -> Twist | None:
        """i_S' v: the acceleration i_a_pi that is left when v' = 0; None where S is constant."""
        return self.kind.bias(self.coordinates(q), self.rates(v))


def _each(x: Any, n: int, what: str) -> tuple[float, ...]:
    if isinstance(x, float) and not math.isnan(x):
        return (x,) * n
    numbers = np.asarray(x, dtype=float)
    if numbers.ndim > 1 or (numbers.ndim == 1 and len(numbers) != n):
        raise InputError(f"{what}: expected one number or {n}, got {x!r}")
    if np.isnan(numbers).any():
        raise InputError(f"{what}: expected numbers, got {x!r}")
    return tuple(float(value) for value in np.broadcast_to(numbers, (n,)))
