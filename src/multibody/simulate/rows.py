"""The rows of a step with contacts: where the robot touches, and the joints with limits or dry friction."""

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from multibody.algorithms import kinematics
from multibody.algorithms.jacobian import crossed, jacobian
from multibody.geometry._arrays import is_zero
from multibody.model.tree import Tree
from multibody.simulate.contacts import SphereContact
from multibody.simulate.ground import Ground

Pair = tuple[SphereContact, Ground]


class Touch(NamedTuple):
    """A contact and a ground at a configuration."""

    R: NDArray[Any]
    """(3, nv): velocities, with bases in "left", to that of the contact point along the axes."""
    axes: NDArray[Any]
    """(3, 3): as rows, two directions along the surface and the normal, in the world."""
    gap: NDArray[Any]


def touches(tree: Tree, pairs: tuple[Pair, ...], q: NDArray[Any]) -> list[Touch]:
    """All pairs of contacts and grounds.  [RD 3.60]"""
    left = replace(tree, velocity="left")
    result = []
    for contact, ground in pairs:
        pose = kinematics.pose(tree, contact.frame, q)
        J = jacobian(left, contact.frame, q, "mixed")
        arm = pose.rotation @ np.array(contact.point)
        distance, n = ground.surface(pose.position + arm)
        axes = ground.axes(n)
        point = J[..., :3, :] + crossed(J[..., 3:, :], arm - contact.radius * n)
        result.append(Touch(np.matmul(axes, point), axes, distance - contact.radius))
    return result


def gaps(tree: Tree, pairs: tuple[Pair, ...], q: NDArray[Any]) -> NDArray[Any]:
    """(pairs,): the distances between contacts and grounds."""
    distances = []
    for contact, ground in pairs:
        pose = kinematics.pose(tree, contact.frame, q)
        distance, _ = ground.surface(pose.position + pose.rotation @ np.array(contact.point))
        distances.append(distance - contact.radius)
    return np.stack(distances)


class Bounds(NamedTuple):
    """The joints with limits or dry friction, each with one row."""

    coordinates: tuple[int, ...]
    velocities: tuple[int, ...]
    lower: NDArray[Any]
    upper: NDArray[Any]


def bounds_of(tree: Tree, limits: bool, passive: bool) -> Bounds:
    """The joints with one coordinate that `limits` or, for dry friction, `passive` asks for."""
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
    return Bounds(columns[0], columns[1], np.array(columns[2]), np.array(columns[3]))
