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
from multibody.simulate.contact.gaps import Pair, separation, spheres_of
from multibody.simulate.contact.spheres import SphereContact, SpherePair


class ContactRows(NamedTuple):
    """The three rows of a pair at a configuration."""

    R: NDArray[Any]
    """(3, nv): from velocities, with bases in "left", to that of the contact point along the axes."""
    axes: NDArray[Any]
    """(3, 3): as rows, two directions along the surface and the normal, in the world; it points to the first."""
    gap: NDArray[Any]


def contact_rows(tree: Tree, pairs: Sequence[Pair], q: NDArray[Any]) -> list[ContactRows]:
    """The rows of all pairs.  [RD 3.60]

    The velocity is that of the first sphere relative to the ground, or to the second sphere in the middle of the gap:
    opposite forces act on both at one point, so that momenta stay.
    """
    rows = []
    for pair in pairs:
        centers, moves = zip(*(_moving(tree, each, q) for each in spheres_of(pair)), strict=True)
        gap, n = separation(pair, centers)
        if isinstance(pair, SpherePair):
            axes, half = _basis(n), gap / 2
            J = moves[0]((pair.first.radius + half) * n) - moves[1](-(pair.second.radius + half) * n)
        else:
            axes, J = pair[1].axes(n), moves[0](pair[0].radius * n)
        rows.append(ContactRows(np.matmul(axes, J), axes, gap))
    return rows


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
