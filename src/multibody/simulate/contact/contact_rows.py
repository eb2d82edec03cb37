"""The contact Jacobian: three rows for each contact, along two directions of the surface and its normal."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from multibody.algorithms import kinematics
from multibody.algorithms.jacobian import cross_columns, jacobian
from multibody.geometry._arrays import matrix
from multibody.model.tree import Tree
from multibody.simulate.contact.gaps import Pair, length_and_direction
from multibody.simulate.contact.ground import Ground
from multibody.simulate.contact.spheres import SphereContact, SpherePair


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
    length, n = length_and_direction(first - second)
    axes = _basis(n)
    gap = length - pair.first.radius - pair.second.radius
    below, above = (pair.first.radius + gap / 2) * n, (pair.second.radius + gap / 2) * n
    return ContactRows(np.matmul(axes, moves_first(below) - moves_second(-above)), axes, gap)


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
