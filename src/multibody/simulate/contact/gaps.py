"""The gaps of contacts over grounds, and between spheres, and whether they close within a step."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multibody.algorithms import kinematics
from multibody.geometry._arrays import dot
from multibody.model.tree import Tree
from multibody.simulate.contact.ground import Ground
from multibody.simulate.contact.spheres import SphereContact, SpherePair

Grounded = tuple[SphereContact, Ground]
Pair = Grounded | SpherePair
"""Two surfaces that may touch: a contact and a ground, or two spheres."""
MIN_SQUARED_DISTANCE = 1e-24
"""The squared distance of two centres below which its direction is z, in m²."""


def separation(pair: Pair, centers: Sequence[NDArray[Any]]) -> tuple[NDArray[Any], NDArray[Any]]:
    """The gap of a pair and its normal, which points to the first, from the centres of its spheres."""
    if isinstance(pair, SpherePair):
        length, n = length_and_direction(centers[0] - centers[1])
        return length - pair.first.radius - pair.second.radius, n
    distance, n = pair[1].surface(centers[0], pair[0].radius)
    return distance - pair[0].radius, n


def spheres_of(pair: Pair) -> tuple[SphereContact, ...]:
    """The one or two spheres on the robot."""
    return (pair.first, pair.second) if isinstance(pair, SpherePair) else pair[:1]


def gaps(tree: Tree, pairs: Sequence[Pair], q: NDArray[Any]) -> NDArray[Any]:
    """(pairs,): the distances between surfaces."""
    return np.stack([separation(pair, [center(tree, each, q) for each in spheres_of(pair)])[0] for pair in pairs])


def center(tree: Tree, contact: SphereContact, q: NDArray[Any]) -> NDArray[Any]:
    """(..., 3): the centre of a contact, in the world."""
    pose = kinematics.pose(tree, contact.frame, q)
    return pose.position + pose.rotation @ np.array(contact.point)


def length_and_direction(displacement: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """The length of a displacement (3,) and its direction; z for none."""
    square = dot(displacement, displacement)
    some = square > MIN_SQUARED_DISTANCE
    length = np.sqrt(np.where(some, square, 1.0))
    up = np.array([0.0, 0.0, 1.0], displacement.dtype)
    return np.where(some, length, 0.0), np.where(some, displacement / length, up)


def closing_velocity(free: Any, gap: Any, dt: Any) -> Any:
    """The velocity beyond that which closes a gap in the second half of a step: a contact touches if it is negative."""
    return free + 2.0 / dt * np.maximum(gap, 0.0)
