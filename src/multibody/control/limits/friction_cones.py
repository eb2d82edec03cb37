"""Friction cones of contacts: circular ones or pyramids, their rows on the forces of points and of soles."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from multibody.algorithms import rows
from multibody.algorithms.constraints import Constraint, FrameContact, PointContact, RollingContact, SurfaceContact
from multibody.algorithms.friction import pyramid_faces, tangents
from multibody.control._checks import check_direction, check_number
from multibody.control.affine import Affine
from multibody.errors import InputError
from multibody.geometry._arrays import unit, vector
from multibody.solvers.cones import Cones
from multibody.solvers.program import Bounds

UP = (0.0, 0.0, 1.0)
NORMAL = "friction cones, normal"


class ForceRows(NamedTuple):
    """The friction constraints on contact forces f, (..., rows)."""

    faces: Affine
    """(..., m), at most zero: the faces of pyramids, and least normal forces."""
    circles: Affine | None
    """(..., 3 p): (mu f_n, f_1, f_2) of all points, where cones are circular; (1, 0, 0) where one is not active."""

    def bounds(self, f: Affine) -> Bounds:
        """The bounds of unknowns of which f is a map."""
        faces, circles = self.faces.compose(f), None if self.circles is None else self.circles.compose(f)
        return Bounds(faces.matrix, faces.offset[..., :0], -faces.offset, None if circles is None else Cones(*circles))


@dataclass(frozen=True)
class FrictionCones:
    """Forces of points that only push, and within the cone of friction: for `WholeBody`.

    The cone |f_t| <= mu f_n is a pyramid within it, whose edges are on the cone: none of its
    forces slips. Four faces are across x and y of the contact: x is the world's, made to lie in
    the plane, where the normal is not near to it. With `sides=np.inf` it is the circular cone
    itself, which takes some more rounds and operations.

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
        if isinstance(self.normal, Mapping):
            normals = tuple((str(contact), check_direction(n, NORMAL)) for contact, n in self.normal.items()) or UP
        else:
            normals = check_direction(self.normal, NORMAL)
        object.__setattr__(self, "normal", normals)

    def check(self, contacts: Sequence[Constraint]) -> None:
        """Refuse contacts that have no points to push with, and normals of contacts
        that are not there.
        """
        for contact in contacts:
            if isinstance(contact, FrameContact):
                raise InputError(
                    f"{self.name}: contact {contact.name!r} is a FrameContact, whose six rows hold in all directions: "
                    "expected a SurfaceContact, with the corners of a sole, or a Weld for what may pull"
                )
        names = [contact.name for contact in contacts]
        named = () if isinstance(self.normal[0], float) else tuple(name for name, _ in self.normal)
        unknown = [name for name in named if name not in names]
        if unknown:
            known = ", ".join(map(repr, names)) or "none"
            raise InputError(f"{self.name}: there is no contact {unknown[0]!r} for a normal; there are {known}")

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

    def force_rows(self, contacts: Sequence[Constraint], newtons: float, normals: Any, mask: Any) -> ForceRows | None:
        """The cones of all points, and their least normal forces; None where no
        contact is of points.

        Args:
            contacts: whose forces these are.
            newtons: the unit of forces, in N.
            normals: (..., contacts, 3), along the world's axes; None for those of the cones.
            mask: (..., rows) of ones, and zeros for contacts that are not active; None for all
                ones.
        """
        total, lines, circles, least, idle = rows.count(contacts), [], [], list[Any](), list[Any]()
        for k, (contact, place) in enumerate(zip(contacts, rows.slices(contacts).values(), strict=True)):
            n = self._normal_at(k, contact, normals)
            faces = -n[..., None, :] if self.circular else np.concatenate([self.faces(n), -n[..., None, :]], axis=-2)
            for first in range(place.start, place.start + 3 * points_of(contact), 3):
                active = 1.0 if mask is None else mask[..., first]
                lines.append(_spread(faces, first, total))
                least += [0.0] * (faces.shape[-2] - 1) + [self.minimum / newtons * active]
                if self.circular:
                    circles.append(_spread(self.axes(n), first, total))
                    idle += [1.0 - active, 0.0, 0.0]
        if not lines:
            return None
        circular = Affine(np.concatenate(circles, axis=-2), vector(*idle)) if circles else None
        return ForceRows(Affine(np.concatenate(lines, axis=-2), vector(*least)), circular)

    def central_forces(
        self, contacts: Sequence[Constraint], weight: Any, newtons: float, normals: Any, mask: Any
    ) -> NDArray[Any]:
        """(..., rows): a weight, shared by the active points, along their normals; no
        less than they are to push.

        The arguments are those of `force_rows`; weight and forces are in the unit of forces.
        """
        parts: list[Any] = []
        count: Any = 0.0
        for k, (contact, place) in enumerate(zip(contacts, rows.slices(contacts).values(), strict=True)):
            n, points = self._normal_at(k, contact, normals), points_of(contact)
            parts += [n[..., j] for _ in range(points) for j in range(3)] + [0.0] * (contact.rows - 3 * points)
            count = count + points * (1.0 if mask is None else mask[..., place.start])
        force = np.maximum(weight / np.maximum(count, 1.0), self.minimum / newtons)
        return vector(*parts) * (force if mask is None else force[..., None] * mask)

    def _normal_at(self, k: int, contact: Constraint, normals: Any) -> NDArray[Any]:
        if normals is not None:
            return unit(normals[..., k, :])
        return np.array(self.normal if isinstance(self.normal[0], float) else dict(self.normal).get(contact.name, UP))


def points_of(contact: Constraint) -> int:
    """The number of points of a contact that only push, three rows each; welds and others hold in both directions."""
    return contact.rows // 3 if isinstance(contact, PointContact | SurfaceContact | RollingContact) else 0


def _spread(R: NDArray[Any], first: int, total: int) -> NDArray[Any]:
    """Rows of three forces as rows of all."""
    before = np.zeros((*R.shape[:-1], first), R.dtype)
    return np.concatenate([before, R, np.zeros((*R.shape[:-1], total - first - 3), R.dtype)], axis=-1)
