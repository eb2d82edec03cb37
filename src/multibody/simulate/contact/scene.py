"""What a robot can touch, and what holds it."""

from dataclasses import dataclass

from multibody.algorithms.constraints import ConstraintSet
from multibody.simulate.contact.bilateral import TIGHT
from multibody.simulate.contact.contact_rows import Grounded, JointRows, Pair
from multibody.simulate.contact.spheres import SpherePair


@dataclass(frozen=True, eq=False)
class Scene:
    """What a robot can touch, and how exactly impulses are found."""

    pairs: tuple[Pair, ...]
    """Of contacts and grounds, contact by contact, then of spheres."""
    contacts: int
    bounds: JointRows
    sweeps: int
    tolerance: float
    """In m/s."""
    depth: float
    """In m: what is not resolve_penetration out of the ground."""
    constraints: ConstraintSet | None = None
    exact: bool = False
    """Whether impulses are the fixed point of the sweeps, with its derivative, and energy is not balanced."""

    @property
    def open(self) -> float:
        """In m or rad: what is left of the errors of constraints; less than nothing is to be, for derivatives."""
        return -1.0 if self.exact else TIGHT * self.depth

    @property
    def grounded(self) -> tuple[Grounded, ...]:
        """The pairs of contacts and grounds."""
        return tuple(pair for pair in self.pairs if not isinstance(pair, SpherePair))

    @property
    def spheres(self) -> int:
        """How many pairs of spheres there are."""
        return len(self.pairs) - len(self.grounded)

    @property
    def rows(self) -> int:
        """How many impulses a step has."""
        return 3 * len(self.pairs) + len(self.bounds.velocities)
