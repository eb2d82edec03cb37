"""Bodies with mass: particles and rigid bodies, placed by expressions in the coordinates."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy as sp

from multibody.derive.system.symbols import TIME, expression, matrix, vector
from multibody.errors import InputError


@dataclass(frozen=True)
class Body:
    """A rigid body, or a particle when it has no rotation. Frames: W world, B
    body, S its centre of mass.

    Args:
        name: the name of the body.
        mass: an expression.
        position: W_r_S(q, t), three expressions.
        rotation: W_R_B(q, t), a 3 × 3 matrix; None for a particle, which cannot turn.
        inertia: B_Θ_S, a 3 × 3 matrix about the centre of mass along the axes of the body.
            [RD 3.17]
        parent: the body to which a joint connects it; None is the world.
        joint: W_r(q, t) of that joint, where reactions are given; the centre of mass by
            default.
    """

    name: str
    mass: Any
    position: Any
    rotation: Any = None
    inertia: Any = None
    parent: str | None = None
    joint: Any = None

    def __post_init__(self) -> None:
        def put(field: str, value: Any) -> None:
            object.__setattr__(self, field, value)

        if not isinstance(self.name, str):
            raise InputError(f"expected the name of a body as its first argument, got {self.name!r}")
        put("mass", expression(self.mass, f"mass of {self.name}"))
        if self.mass.is_negative or (self.mass.is_zero and self.rotation is None):
            kind = "particle" if self.rotation is None else "body"
            raise InputError(f"mass of {self.name}: expected a {kind} with a positive mass, got {self.mass}")
        put("position", vector(self.position, f"position of {self.name}"))
        put("joint", self.position if self.joint is None else vector(self.joint, f"joint of {self.name}"))
        if self.rotation is None:
            if self.inertia is not None:
                raise InputError(f"{self.name}: an inertia needs a rotation: a body without one is a particle")
            return
        put("rotation", matrix(self.rotation, f"rotation of {self.name}", (3, 3)))
        inertia = sp.zeros(3) if self.inertia is None else self.inertia
        put("inertia", matrix(inertia, f"inertia of {self.name}", (3, 3)))
        self._check_inertia()

    def _check_inertia(self) -> None:
        """That it is symmetric and, as far as it consists of numbers, not negative."""
        if any(x.equals(0) is False for x in self.inertia - self.inertia.T):
            raise InputError(f"inertia of {self.name}: expected a symmetric matrix, got {self.inertia.tolist()}")
        if any(x.is_negative for x in self.inertia.diagonal()):
            raise InputError(
                f"inertia of {self.name}: expected positive moments of inertia, got {list(self.inertia.diagonal())}"
            )
        if not self.inertia.free_symbols:
            moments = np.linalg.eigvalsh(np.array(self.inertia, dtype=float))
            if moments[0] < -1e-12 * abs(moments[-1]):
                raise InputError(
                    f"inertia of {self.name}: expected positive moments of inertia, got the principal ones {moments}"
                )

    @property
    def moves_with_time(self) -> bool:
        """Whether its place depends on the time t, besides the coordinates."""
        return TIME in self.position.free_symbols or (self.turns and TIME in self.rotation.free_symbols)

    @property
    def turns(self) -> bool:
        """Whether it has an orientation."""
        return self.rotation is not None


def particle(name: str, mass: Any, position: Any, parent: str | None = None) -> Body:
    """A point that has mass."""
    return Body(name, mass, position, parent=parent)
