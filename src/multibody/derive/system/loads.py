"""Loads on a system: springs, dampers, forces and torques on bodies, actuators between bodies, generalized forces.

Vectors are along the axes of the world W. `Spring` and `Damper` act along a deflection d(q, t); the others at bodies.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import sympy as sp

from multibody.derive.system.symbols import expression, vector


@dataclass(frozen=True)
class Load(ABC):
    """Something that pushes."""

    FORCES: ClassVar[tuple[str, ...]] = ()
    """Fields that may depend on velocities and inputs."""

    @property
    @abstractmethod
    def constants(self) -> tuple[Any, ...]:
        """Expressions whose symbols are coordinates and parameters."""

    @property
    def inputs(self) -> tuple[Any, ...]:
        """Expressions whose other symbols are inputs of the system."""
        return tuple(getattr(self, name) for name in self.FORCES)

    def substitute(self, velocities: Mapping[sp.Symbol, Any]) -> Self:
        """Return the load with expressions in the place of velocities."""
        return replace(self, **{name: getattr(self, name).subs(velocities, simultaneous=True) for name in self.FORCES})


@dataclass(frozen=True)
class Spring(Load):
    """An elastic element with the energy k (d(q, t) - d0)² / 2.  [RD 3.34]"""

    stiffness: Any
    deflection: Any
    """The length or angle d(q, t)."""
    rest: Any = 0

    def __post_init__(self) -> None:
        for name in ("stiffness", "deflection", "rest"):
            object.__setattr__(self, name, expression(getattr(self, name), f"{name} of a spring"))

    @property
    def energy(self) -> sp.Expr:
        """Its potential energy."""
        return self.stiffness * (self.deflection - self.rest) ** 2 / 2

    @property
    def constants(self) -> tuple[Any, ...]:
        return (self.energy,)


@dataclass(frozen=True)
class Damper(Load):
    """A force against the rate of a deflection d(q, t): -c d'."""

    damping: Any
    deflection: Any

    def __post_init__(self) -> None:
        for name in ("damping", "deflection"):
            object.__setattr__(self, name, expression(getattr(self, name), f"{name} of a damper"))

    @property
    def constants(self) -> tuple[Any, ...]:
        return (self.damping, self.deflection)


@dataclass(frozen=True)
class Force(Load):
    """A force on a body at a point that the body carries.  [RD 3.49]"""

    FORCES = ("force",)
    body: str
    force: Any
    point: Any = None
    """W_r(q, t); the centre of mass by default."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "force", vector(self.force, f"force on {self.body}"))
        object.__setattr__(self, "point", _point(self.point, f"point of a force on {self.body}"))

    @property
    def constants(self) -> tuple[Any, ...]:
        return (self.point,)


@dataclass(frozen=True)
class Torque(Load):
    """A torque on a body.  [RD 3.50]"""

    FORCES = ("torque",)
    body: str
    torque: Any

    def __post_init__(self) -> None:
        object.__setattr__(self, "torque", vector(self.torque, f"torque on {self.body}"))

    @property
    def constants(self) -> tuple[Any, ...]:
        return ()


@dataclass(frozen=True)
class Actuator(Load):
    """A force and a torque on a body, and the opposite ones on another.  [RD 3.52]"""

    FORCES = ("force", "torque")
    body: str
    against: str | None
    """The other body; None is the world."""
    force: Any = (0, 0, 0)
    torque: Any = (0, 0, 0)
    point: Any = None
    """W_r(q, t) on the body; its centre of mass by default, as in RD."""
    reaction: Any = None
    """W_r(q, t) on the other body; its centre of mass by default."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "force", vector(self.force, f"force on {self.body}"))
        object.__setattr__(self, "torque", vector(self.torque, f"torque on {self.body}"))
        for name in ("point", "reaction"):
            object.__setattr__(self, name, _point(getattr(self, name), f"{name} of an actuator of {self.body}"))

    @property
    def constants(self) -> tuple[Any, ...]:
        return (self.point, self.reaction)

    def parts(self) -> list[Force | Torque]:
        """The action and the reaction."""
        pairs = [(self.body, self.point, 1)]
        if self.against is not None:
            pairs.append((self.against, self.reaction, -1))
        forces = [Force(body, sign * self.force, point) for body, point, sign in pairs if any(self.force)]
        return [*forces, *(Torque(body, sign * self.torque) for body, _, sign in pairs if any(self.torque))]


@dataclass(frozen=True)
class Generalized(Load):
    """A generalized force along one velocity of the system."""

    FORCES = ("force",)
    velocity: sp.Symbol
    force: Any

    def __post_init__(self) -> None:
        object.__setattr__(self, "force", expression(self.force, f"force along {self.velocity}"))

    @property
    def constants(self) -> tuple[Any, ...]:
        return ()


def _point(x: Any, name: str) -> sp.ImmutableMatrix | None:
    return None if x is None else vector(x, name)
