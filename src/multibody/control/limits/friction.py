"""Contacts that push and do not slip: friction cones, as such or as pyramids within them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multibody.algorithms.constraints import Constraint, FrameContact
from multibody.algorithms.friction import pyramid_faces, tangents
from multibody.control._checks import check_number
from multibody.errors import InputError
from multibody.geometry._arrays import floats

UP = (0.0, 0.0, 1.0)


@dataclass(frozen=True)
class FrictionCones:
    """Forces of points that only push, and within the cone of friction: for `WholeBody`.

    The cone |f_t| <= mu f_n is a pyramid within it, whose edges are on the cone: none of its forces slips. Four faces
    are across x and y of the contact: x is the world's, made to lie in the plane, where the normal is not near to it.
    With `sides=np.inf` it is the circular cone itself, which takes some more rounds and operations.

    >>> FrictionCones(0.6).faces(np.array([0.0, 0.0, 1.0])).round(3) + 0.0
    array([[ 1.   ,  0.   , -0.424],
           [ 0.   ,  1.   , -0.424],
           [-1.   ,  0.   , -0.424],
           [ 0.   , -1.   , -0.424]])
    """

    friction: float
    """The coefficient, mu."""
    minimum: float = 0.0
    """The least normal force of a point in contact, in N."""
    sides: float | None = None
    """The number of faces, from 3 on; 4 by default; infinite for the circular cone."""
    normal: Any = UP
    """Out of the ground, in the world: one for all contacts, or a dict by the names of contacts; others have z."""
    name: str = "friction cones"

    def __post_init__(self) -> None:
        check_number(self.friction, "friction cones", "a number positive for friction")
        check_number(self.minimum, "friction cones", "a number that is not negative for minimum", zero=True)
        whole = isinstance(self.sides, Integral) and not isinstance(self.sides, bool) and self.sides >= 3
        if self.sides is not None and not whole and self.sides != np.inf:
            raise InputError(f"{self.name}: expected at least 3 sides, or np.inf for a circle, got {self.sides!r}")
        normal = UP if isinstance(self.normal, Mapping) and not self.normal else self.normal
        if isinstance(normal, Mapping):
            normals = tuple((str(contact), _normal(n)) for contact, n in normal.items())
        else:
            normals = _normal(normal)
        object.__setattr__(self, "normal", normals)

    def check(self, contacts: Sequence[Constraint]) -> None:
        """Refuse contacts that have no points to push with, and normals of contacts that are not there."""
        for contact in contacts:
            if isinstance(contact, FrameContact):
                raise InputError(
                    f"{self.name}: contact {contact.name!r} is a FrameContact, whose six rows hold in all directions: "
                    "expected a SurfaceContact, with the corners of a sole, or a Weld for what may pull"
                )
        names = [contact.name for contact in contacts]
        named = () if isinstance(self.normal[0], float) else tuple(name for name, _ in self.normal)
        for name in named:
            if name not in names:
                known = ", ".join(map(repr, names)) or "none"
                raise InputError(f"{self.name}: there is no contact {name!r} for a normal; there are {known}")

    def normal_of(self, contact: str) -> NDArray[Any]:
        """(3,): the normal at a contact, by its name."""
        if isinstance(self.normal[0], float):
            return np.array(self.normal)
        return np.array(dict(self.normal).get(contact, UP))

    @property
    def circular(self) -> bool:
        """Whether it is the cone itself, not a pyramid."""
        return self.sides == np.inf

    def axes(self, normal: NDArray[Any]) -> NDArray[Any]:
        """(..., 3, 3): the rows R of R f = (mu f_n, f_1, f_2), for a unit normal (..., 3)."""
        return np.stack([self.friction * normal, *tangents(normal)], axis=-2)

    def faces(self, normal: NDArray[Any]) -> NDArray[Any]:
        """(..., sides, 3): the rows R of R f <= 0, for a unit normal (..., 3)."""
        if self.circular:
            raise InputError(f"{self.name}: a circular cone has no faces")
        return pyramid_faces(self.friction, normal, 4 if self.sides is None else int(self.sides))


def _normal(x: Any) -> tuple[float, ...]:
    n = floats(x, "friction cones, normal", 3)
    length = np.linalg.norm(n)
    if n.shape != (3,) or not 0 < length < np.inf:
        raise InputError(f"friction cones: expected three finite numbers as a normal, not all zero, got {x!r}")
    return tuple((n / length).tolist())
