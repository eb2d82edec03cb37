"""Friction cones and torque limits as bounds, and contact forces along the axes of the cones."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from multibody.algorithms.constraints import Constraint, PointContact, RollingContact, SurfaceContact
from multibody.control.limits import FrictionCones
from multibody.control.whole_body.contact_dynamics import Affine, Unknowns, unit_of
from multibody.geometry._arrays import unit, vector
from multibody.model.tree import Tree
from multibody.solvers.cones import Cones
from multibody.solvers.program import Bounds

Array = NDArray[Any]


def points_of(contact: Constraint) -> int:
    """The number of points of a contact that only push, three rows each; welds and others hold in both directions."""
    return contact.rows // 3 if isinstance(contact, PointContact | SurfaceContact | RollingContact) else 0


class ForceRows(NamedTuple):
    """The friction constraints on the contact forces."""

    faces: Affine
    """(..., m), at most zero: the faces of pyramids, and least normal forces."""
    circles: Affine | None
    """(..., 3 p): (mu f_n, f_1, f_2) of all points, where cones are circular; (1, 0, 0) where one is not active."""


def cones_of(
    cones: FrictionCones, contacts: Sequence[Constraint], newtons: float, normals: Any, mask: Any
) -> ForceRows:
    """The faces of all cones, or the cones themselves, and minimal normal forces, for a unit of forces in N."""
    total, start = sum(contact.rows for contact in contacts), 0
    lines: list[Any] = []
    circles: list[Any] = []
    upper: list[Any] = []
    free: list[Any] = []
    for k, contact in enumerate(contacts):
        n = cones.normal_of(contact.name) if normals is None else unit(normals[..., k, :])
        faces = -n[..., None, :] if cones.circular else np.concatenate([cones.faces(n), -n[..., None, :]], axis=-2)
        for place in range(start, start + 3 * points_of(contact), 3):
            lines.append(_spread(faces, place, total))
            if cones.circular:
                circles.append(_spread(cones.axes(n), place, total))
                free += [0.0 if mask is None else 1.0 - mask[..., place], 0.0, 0.0]
            least = cones.minimum / newtons * (1.0 if mask is None else mask[..., place])
            upper += [0.0] * (faces.shape[-2] - 1) + [-least]
        start += contact.rows
    if not lines:
        return ForceRows(Affine(np.zeros((0, total)), np.zeros(0)), None)
    circular = Affine(np.concatenate(circles, axis=-2), vector(*free)) if circles else None
    return ForceRows(Affine(np.concatenate(lines, axis=-2), -vector(*upper)), circular)


def _spread(R: Array, place: int, total: int) -> Array:
    """Rows of three forces as rows of all."""
    before = np.zeros((*R.shape[:-1], place), R.dtype)
    return np.concatenate([before, R, np.zeros((*R.shape[:-1], total - place - 3), R.dtype)], axis=-1)


def central_forces(
    cones: FrictionCones | None, contacts: Sequence[Constraint], tree: Tree, normals: Any, mask: Any
) -> Any:
    """(..., rows): the weight, shared by the points in contact, along their normals; no less than they are to push.

    It is in the unit of forces.
    """
    parts: list[Any] = []
    count: Any = 0.0
    for k, contact in enumerate(contacts):
        fixed = (0.0, 0.0, 1.0) if cones is None else cones.normal_of(contact.name)
        n = np.array(fixed) if normals is None else unit(normals[..., k, :])
        points = points_of(contact)
        parts += [n[..., j] for _ in range(points) for j in range(3)] + [0.0] * (contact.rows - 3 * points)
        first = sum(other.rows for other in contacts[:k])
        count = count + points * (1.0 if mask is None else mask[..., first])
    newtons = unit_of(tree)
    force = tree.mass / newtons * float(np.linalg.norm(tree.gravity)) / np.maximum(count, 1.0)
    force = force if cones is None else np.maximum(force, cones.minimum / newtons)
    normal = vector(*parts)
    return normal * (force if mask is None else force[..., None] * mask)


def bounds_of(unknowns: Unknowns, torques: Array, pushes: ForceRows) -> Bounds:
    """Torques within their limits, (n,), infinite where there is none, and forces within their cones."""
    limited = np.flatnonzero(np.isfinite(torques)).tolist()
    C, offset = unknowns.tau.matrix[..., limited, :], unknowns.tau.offset[..., limited]
    lower, upper = -torques[limited] - offset, torques[limited] - offset
    if pushes.faces.offset.shape[-1]:
        f = pushes.faces.compose(unknowns.f)
        C, upper = np.concatenate([C, f.matrix], axis=-2), np.concatenate([upper, -f.offset], axis=-1)
    cones = None if pushes.circles is None else Cones(*pushes.circles.compose(unknowns.f))
    return Bounds(C, lower, upper, cones)
