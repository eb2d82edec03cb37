"""Configuration and motion constraints of a system.  [RD §3.4.5]"""

from dataclasses import dataclass
from typing import Any

import sympy as sp

from multibody.derive.system.symbols import expression


@dataclass(frozen=True)
class Holonomic:
    """A configuration constraint f(q, t) = 0."""

    name: str
    f: Any

    def __post_init__(self) -> None:
        object.__setattr__(self, "f", expression(self.f, f"constraint {self.name}"))

    @property
    def expression(self) -> sp.Expr:
        """The expression that is zero."""
        return self.f


@dataclass(frozen=True)
class Motion:
    """A motion constraint Σ_k a_k(q, t) q'_k + a_0(t) = 0.  [RD 3.35]

    Args:
        name: the name of the constraint.
        velocity: the sum, linear in the rates of the coordinates; or in the velocities, when
            they differ.
    """

    name: str
    velocity: Any

    def __post_init__(self) -> None:
        object.__setattr__(self, "velocity", expression(self.velocity, f"constraint {self.name}"))

    @property
    def expression(self) -> sp.Expr:
        """The expression that is zero."""
        return self.velocity


Restriction = Holonomic | Motion
