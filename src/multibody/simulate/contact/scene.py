"""The scene: contacts, joint limits and constraints of a simulated robot."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from multibody.algorithms.constraints import ConstraintSet
from multibody.simulate.contact.bilateral_constraints import CONSTRAINT_TOLERANCE
from multibody.simulate.contact.gaps import Grounded, Pair
from multibody.simulate.contact.independent_parts import Part
from multibody.simulate.contact.joint_limits import JointRows
from multibody.simulate.contact.spheres import SpherePair


@dataclass(frozen=True, eq=False)
class Scene:
    """Contacts, joint limits and constraints, with the tolerances of the solver."""

    pairs: tuple[Pair, ...]
    """Contacts and grounds, contact by contact, then pairs of spheres."""
    contacts: int
    """Their number."""
    bounds: JointRows
    sweeps: int
    """The largest number of sweeps."""
    tolerance: float
    """The change of a velocity at which sweeps end, in m/s."""
    depth: float
    """The penetration that is tolerated, in m."""
    parts: tuple[Part, ...]
    """The parts that exchange no forces."""
    constraints: ConstraintSet | None = None
    exact: bool = False
    """Whether impulses are the fixed point of the sweeps, with its derivative, and energy is not limited."""

    @property
    def tolerated_error(self) -> float:
        """The tolerated error of constraints, in m or rad; negative for derivatives, so that all passes run."""
        return -1.0 if self.exact else CONSTRAINT_TOLERANCE * self.depth

    @property
    def grounded(self) -> tuple[Grounded, ...]:
        """The pairs of contacts and grounds."""
        return tuple(pair for pair in self.pairs if not isinstance(pair, SpherePair))

    def laws(self, parameters: Mapping[str, Any]) -> list[tuple[Any, Any]]:
        """Friction and restitution of each pair; parameters may replace those of the ground."""
        own = [(pair, {}) if isinstance(pair, SpherePair) else (pair[1], parameters) for pair in self.pairs]
        return [(new.get("friction", each.friction), new.get("restitution", each.restitution)) for each, new in own]

    @property
    def spheres(self) -> int:
        """The number of pairs of spheres."""
        return len(self.pairs) - len(self.grounded)

    @property
    def rows(self) -> int:
        """The number of impulses of a step."""
        return 3 * len(self.pairs) + len(self.bounds.velocities)
