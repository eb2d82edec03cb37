"""One time step with percussions, in the notation of Kindr's list of symbols, and friction cones as data.

Kindr writes M (u⁺ - u⁻) - h Δt = W P: its h is on the other side of the equation and so has the opposite sign of ours,
W = J^T are the directions of the contacts, and P are percussions, the impulses of a step, on the robot.
[Kindr §Dynamics]
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from multibody.algorithms.constrained_dynamics import jump
from multibody.algorithms.constraints.constraint_set import ConstraintSet
from multibody.algorithms.forward_dynamics import forward_dynamics
from multibody.errors import InputError
from multibody.geometry._arrays import dot


class Step(NamedTuple):
    """The velocity u⁺, (..., nv), after a step, and the percussions P, (..., rows), of the contacts."""

    velocity: NDArray[Any]
    percussion: NDArray[Any]


def percussion_step(constraints: ConstraintSet, q: NDArray[Any], v: NDArray[Any], tau: NDArray[Any], dt: float) -> Step:
    """u⁺ with M (u⁺ - u⁻) = (τ - h) Δt + W P and W^T u⁺ = 0, h of this library.

    [Kindr §Equations of Motion with Impulses]
    """
    if not dt > 0:
        raise InputError(f"percussion_step: expected a positive time step, got {dt}")
    free = v + dt * forward_dynamics(constraints.model, q, v, tau)
    return Step(*jump(constraints, q, free)[:2])


@dataclass(frozen=True)
class FrictionCone:
    """Which forces a contact can exert: along the normal not negative, across it at most μ times as much."""

    friction: float
    """μ."""
    normal: tuple[float, float, float] = (0.0, 0.0, 1.0)
    """Out of the ground, along the world's axes, of length one."""

    def __post_init__(self) -> None:
        if not self.friction >= 0 or abs(float(np.linalg.norm(self.normal)) - 1) > 1e-9:
            raise InputError(f"friction cone: expected a friction >= 0 and a normal of length one, got {self}")

    def distance(self, force: NDArray[Any]) -> NDArray[Any]:
        """(...): how far a force (..., 3) is inside the cone, μ f_n - |f_t| in N: negative outside."""
        n = np.array(self.normal)
        along = dot(force, np.broadcast_to(n, force.shape))
        across = force - along[..., None] * n
        return self.friction * along - np.sqrt(dot(across, across))

    def pyramid(self, sides: int = 4) -> NDArray[Any]:
        """A, (sides + 1, 3), with A f ≥ 0 inside a pyramid within the cone: its sides, and the normal."""
        if sides < 3:
            raise InputError(f"pyramid: expected at least three sides, got {sides}")
        n = np.array(self.normal)
        first = np.linalg.svd(n[None])[2][1]
        second = np.cross(n, first)
        angles = 2 * np.pi * np.arange(sides) / sides
        inner = self.friction * np.cos(np.pi / sides)  # the pyramid's sides touch the cone from inside
        across = np.cos(angles)[:, None] * first + np.sin(angles)[:, None] * second
        return np.concatenate([inner * n - across, n[None]])
