"""Actuators, and equality constraints that a file states outside the tree."""

import math
from dataclasses import dataclass

from multibody.errors import InputError


@dataclass(frozen=True)
class Actuator:
    """A motor on a joint.  [RD 3.56]

    The joint feels `gear` times the motor's torque, and the square of `gear` times its rotor inertia, which the model
    adds to the armature of the joint.
    """

    name: str
    joint: str
    gear: float = 1.0
    """Gear ratio: turns of the motor per turn of the joint."""
    rotor_inertia: float = 0.0
    """The inertia of the rotor about its own axis, in kg m² (kg for a linear motor)."""
    effort: float = math.inf
    """The largest torque or force of the motor, before the gear."""

    def __post_init__(self) -> None:
        for name in ("gear", "rotor_inertia"):
            if not math.isfinite(getattr(self, name)):
                raise InputError(f"actuator {self.name!r}: expected a finite {name}, got {getattr(self, name)}")
        if self.gear == 0 or self.rotor_inertia < 0 or not self.effort >= 0:
            raise InputError(
                f"actuator {self.name!r}: expected a gear other than 0 and a rotor inertia and an effort of at "
                f"least 0, got {self.gear}, {self.rotor_inertia}, {self.effort}"
            )

    @property
    def reflected_inertia(self) -> float:
        """The rotor inertia reflected to the joint, in kg m² or kg."""
        return self.gear**2 * self.rotor_inertia


@dataclass(frozen=True)
class Equality:
    """An equality constraint of a robot file, stored as data."""

    kind: str
    """Such as "connect", "weld", "hinge", "joint"."""
    first: str
    second: str | None = None
    data: tuple[float, ...] = ()
    name: str = ""
    active: bool = True
