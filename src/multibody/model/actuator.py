"""Motors and what they drive, and constraints that a file states and the tree does not hold."""

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
    """Turns of the motor for one of the joint."""
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
                f"actuator {self.name!r}: expected a gear that is not 0, a rotor inertia and an effort that are not "
                f"negative, got {self.gear}, {self.rotor_inertia}, {self.effort}"
            )

    @property
    def reflected_inertia(self) -> float:
        """What the rotor adds to the inertia that the joint feels."""
        return self.gear**2 * self.rotor_inertia


@dataclass(frozen=True)
class Equality:
    """A constraint that a robot file states besides the tree, kept as data."""

    kind: str
    """Such as "connect", "weld", "joint"."""
    first: str
    second: str | None = None
    data: tuple[float, ...] = ()
    name: str = ""
    active: bool = True
