"""The rows of a step with contacts: where the robot touches, and the joints with limits or dry friction."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from multibody.algorithms import kinematics
from multibody.algorithms.jacobian import cross_columns, jacobian
from multibody.geometry._arrays import dot, is_zero, matrix
from multibody.model.tree import Tree
from multibody.simulate.contact.ground import Ground
from multibody.simulate.contact.spheres import SphereContact, SpherePair

Grounded = tuple[SphereContact, Ground]
Pair = Grounded | SpherePair
"""Two surfaces that may touch: a contact and a ground, or two spheres."""
MIN_SQUARED_DISTANCE = 1e-24
"""The squared distance of two centres below which its direction is z, in m²."""


class ContactRows(NamedTuple):
    """The three rows of a pair at a configuration."""

    R: NDArray[Any]
    """(3, nv): from velocities, with bases in "left", to that of the contact point along the axes."""
    axes: NDArray[Any]
    """(3, 3): as rows, two directions along the surface and the normal, in the world; it points to the first."""
    gap: NDArray[Any]


def contact_rows(tree: Tree, pairs: Sequence[Pair], q: NDArray[Any]) -> list[ContactRows]:
    """The rows of all pairs.  [RD 3.60]"""
    return [
        _sphere_rows(tree, pair, q) if isinstance(pair, SpherePair) else _ground_rows(tree, *pair, q) for pair in pairs
    ]


def gaps(tree: Tree, pairs: Sequence[Pair], q: NDArray[Any]) -> NDArray[Any]:
    """(pairs,): the distances between surfaces."""
    distances = []
    for pair in pairs:
        if isinstance(pair, SpherePair):
            length, _ = _length_and_direction(center(tree, pair.first, q) - center(tree, pair.second, q))
            distances.append(length - pair.first.radius - pair.second.radius)
        else:
            distance, _ = pair[1].surface(center(tree, pair[0], q), pair[0].radius)
            distances.append(distance - pair[0].radius)
    return np.stack(distances)


def laws(pairs: Sequence[Pair], parameters: Mapping[str, Any]) -> list[tuple[Any, Any]]:
    """Friction and restitution of each pair; parameters may replace those of the ground."""
    own = [pair if isinstance(pair, SpherePair) else pair[1] for pair in pairs]
    values = [(each, {} if isinstance(each, SpherePair) else parameters) for each in own]
    return [(new.get("friction", each.friction), new.get("restitution", each.restitution)) for each, new in values]


def _ground_rows(tree: Tree, contact: SphereContact, ground: Ground, q: NDArray[Any]) -> ContactRows:
    center, moves = _moving(tree, contact, q)
    distance, n = ground.surface(center, contact.radius)
    axes = ground.axes(n)
    return ContactRows(np.matmul(axes, moves(contact.radius * n)), axes, distance - contact.radius)


def _sphere_rows(tree: Tree, pair: SpherePair, q: NDArray[Any]) -> ContactRows:
    """The velocity is that of the first sphere relative to the second, in the middle of the gap.

    Opposite forces act on both at one point, so that momenta stay.
    """
    (first, moves_first), (second, moves_second) = (_moving(tree, each, q) for each in (pair.first, pair.second))
    length, n = _length_and_direction(first - second)
    axes = _basis(n)
    gap = length - pair.first.radius - pair.second.radius
    below, above = (pair.first.radius + gap / 2) * n, (pair.second.radius + gap / 2) * n
    return ContactRows(np.matmul(axes, moves_first(below) - moves_second(-above)), axes, gap)


def center(tree: Tree, contact: SphereContact, q: NDArray[Any]) -> NDArray[Any]:
    """(..., 3): the centre of a contact, in the world."""
    pose = kinematics.pose(tree, contact.frame, q)
    return pose.position + pose.rotation @ np.array(contact.point)


def _moving(
    tree: Tree, contact: SphereContact, q: NDArray[Any]
) -> tuple[NDArray[Any], Callable[[NDArray[Any]], NDArray[Any]]]:
    """The centre, and the Jacobian (3, nv), bases in "left", of the point at a displacement (3,) against the normal."""
    pose = kinematics.pose(tree, contact.frame, q)
    J = jacobian(replace(tree, velocity="left"), contact.frame, q, "mixed")
    arm = pose.rotation @ np.array(contact.point)

    def moves(below: NDArray[Any]) -> NDArray[Any]:
        return J[..., :3, :] + cross_columns(J[..., 3:, :], arm - below)

    return pose.position + arm, moves


def _length_and_direction(displacement: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """The length of a displacement (3,) and its direction; z for none."""
    square = dot(displacement, displacement)
    some = square > MIN_SQUARED_DISTANCE
    length = np.sqrt(np.where(some, square, 1.0))
    up = np.array([0.0, 0.0, 1.0], displacement.dtype)
    return np.where(some, length, 0.0), np.where(some, displacement / length, up)


def _basis(n: NDArray[Any]) -> NDArray[Any]:
    """(3, 3): two directions orthogonal to a unit vector, and the vector, as rows.

    Duff et al., Building an Orthonormal Basis, Revisited (2017): no divisor is ever zero.
    """
    x, y, z = n[..., 0], n[..., 1], n[..., 2]
    side = np.where(z < 0.0, -1.0, 1.0)
    a = -1.0 / (side + z)
    b = x * y * a
    return matrix(
        [[1.0 + side * x * x * a, side * b, -side * x], [b, side + y * y * a, -y], [x, y, z]],
    )


class JointRows(NamedTuple):
    """The joints with limits or dry friction, each with one row."""

    coordinates: tuple[int, ...]
    velocities: tuple[int, ...]
    lower: NDArray[Any]
    upper: NDArray[Any]
    restitution: float = 0.0
    """The restitution of the limits, from 0, plastic, to 1, elastic."""


def bounds_of(tree: Tree, limits: bool, passive: bool, restitution: float = 0.0) -> JointRows:
    """The joints with one coordinate that have limits or, if `passive`, dry friction."""
    chosen = []
    for joint in tree.joints:
        if joint.mimic is not None or joint.kind.nv != 1 or joint.kind.nq != 1:
            continue
        k = joint.q.start
        limited = limits and bool(np.isfinite([tree.lower[k], tree.upper[k]]).any())
        if limited or (passive and not is_zero(tree.friction[..., joint.v])):
            chosen.append((k, joint.v.start, *((tree.lower[k], tree.upper[k]) if limited else (-np.inf, np.inf))))
    chosen.sort()
    columns = list(zip(*chosen, strict=True)) if chosen else [(), (), (), ()]
    return JointRows(columns[0], columns[1], np.array(columns[2]), np.array(columns[3]), restitution)
