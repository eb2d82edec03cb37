"""Loads on a system: springs, dampers, forces and torques on bodies, actuators between bodies, generalized forces.

Vectors are along the axes of the world W. `Spring` and `Damper` act along a deflection d(q, t); the others at bodies.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import sympy as sp

from multibody.derive.system.symbols import expression, vector


def _point(x: Any, name: str) -> sp.ImmutableMatrix | None:
    return None if x is None else vector(x, name)


@dataclass(frozen=True)
class Load:
    """Something that pushes."""

    FORCES: ClassVar[tuple[str, ...]] = ()
    """Fields that may depend on velocities and inputs."""
    CHECKS: ClassVar[tuple[tuple[str, Callable[[Any, str], Any], str], ...]] = ()
    """Fields, their checks, and their names in messages."""

    def __post_init__(self) -> None:
        for name, check, text in self.CHECKS:
            object.__setattr__(self, name, check(getattr(self, name), text.format(self)))

    @property
    def constants(self) -> tuple[Any, ...]:
        """Expressions whose symbols are coordinates and parameters."""
        return ()

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

    CHECKS = tuple((name, expression, f"{name} of a spring") for name in ("stiffness", "deflection", "rest"))
    stiffness: Any
    deflection: Any
    """The length or angle d(q, t)."""
    rest: Any = 0

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

    CHECKS = tuple((name, expression, f"{name} of a damper") for name in ("damping", "deflection"))
    damping: Any
    deflection: Any

    @property
    def constants(self) -> tuple[Any, ...]:
        return (self.damping, self.deflection)


@dataclass(frozen=True)
class Force(Load):
    """A force on a body at a point that the body carries.  [RD 3.49]"""

    FORCES = ("force",)
    CHECKS = (("force", vector, "force on {0.body}"), ("point", _point, "point of a force on {0.body}"))
    body: str
    force: Any
    point: Any = None
    """W_r(q, t); the centre of mass by default."""

    @property
    def constants(self) -> tuple[Any, ...]:
        return (self.point,)


@dataclass(frozen=True)
class Torque(Load):
    """A torque on a body.  [RD 3.50]"""

    FORCES = ("torque",)
    CHECKS = (("torque", vector, "torque on {0.body}"),)
    body: str
    torque: Any


@dataclass(frozen=True)
class Actuator(Load):
    """A force and a torque on a body, and the opposite ones on another.  [RD 3.52]"""

    FORCES = ("force", "torque")
    CHECKS = (
        *((name, vector, name + " on {0.body}") for name in FORCES),
        *((name, _point, name + " of an actuator of {0.body}") for name in ("point", "reaction")),
    )
    body: str
    against: str | None
    """The other body; None is the world."""
    force: Any = (0, 0, 0)
    torque: Any = (0, 0, 0)
    point: Any = None
    """W_r(q, t) on the body; its centre of mass by default, as in RD."""
    reaction: Any = None
    """W_r(q, t) on the other body; its centre of mass by default."""

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
    CHECKS = (("force", expression, "force along {0.velocity}"),)
    velocity: sp.Symbol
    force: Any
