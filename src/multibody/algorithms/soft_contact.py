"""Soft contact with a plane: a spring and a damper, and friction that is smooth, without branches.  [RD §3.7.1]"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multibody.algorithms import kinematics
from multibody.algorithms.rnea import Wrenches
from multibody.errors import InputError
from multibody.geometry._arrays import dot
from multibody.model.model import Model


@dataclass(frozen=True)
class SoftContact:
    """The ground below z = 0 and what it is made of.

    The force on the robot is -F_c of [RD 3.58] along z, where a point is below the ground and not pulled back; friction
    opposes slip with at most μ times the normal force, and grows linearly below the slip velocity.
    """

    stiffness: float = 2e4
    """In N/m."""
    damping: float = 200.0
    """In N s/m."""
    friction: float = 0.8
    """μ."""
    slip: float = 1e-2
    """In m/s: below it friction is viscous."""

    def __post_init__(self) -> None:
        if not (self.stiffness > 0 and self.damping >= 0 and self.friction >= 0 and self.slip > 0):
            raise InputError(
                f"soft contact: expected a positive stiffness and slip, damping and friction >= 0, got {self}"
            )

    def force(self, position: NDArray[Any], velocity: NDArray[Any]) -> NDArray[Any]:
        """(..., 3): on a point at a position (..., 3) with a velocity (..., 3), along the world's axes.  [RD 3.58]"""
        depth = -position[..., 2]
        push = np.maximum(self.stiffness * depth - self.damping * velocity[..., 2], 0.0)
        normal = np.where(depth > 0.0, push, 0.0)
        across = velocity[..., :2]
        speed = np.sqrt(dot(across, across) + self.slip**2)
        grip = -self.friction * (normal / speed)[..., None] * across
        return np.concatenate([grip, normal[..., None]], axis=-1)

    def wrenches(self, model: Model, frames: tuple[str, ...], q: NDArray[Any], v: NDArray[Any]) -> Wrenches:
        """The forces at the origins of frames, as the dynamics of a robot take them."""
        found = {}
        for frame in frames:
            velocity = kinematics.velocity(model, frame, q, v, "mixed")[..., :3]
            force = self.force(kinematics.pose(model, frame, q).position, velocity)
            found[frame] = np.concatenate([force, np.zeros_like(force)], axis=-1)
        return found
