"""The gaps of contacts over grounds, and between spheres: which of them touch."""

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


def gaps(tree: Tree, pairs: Sequence[Pair], q: NDArray[Any]) -> NDArray[Any]:
    """(pairs,): the distances between surfaces."""
    distances = []
    for pair in pairs:
        if isinstance(pair, SpherePair):
            length, _ = length_and_direction(center(tree, pair.first, q) - center(tree, pair.second, q))
            distances.append(length - pair.first.radius - pair.second.radius)
        else:
            distance, _ = pair[1].surface(center(tree, pair[0], q), pair[0].radius)
            distances.append(distance - pair[0].radius)
    return np.stack(distances)


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
