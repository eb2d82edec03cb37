"""Base representations of v, a and τ: conversion to "left" and back.  [MDN 76; RD 2.261; Kindr §Coordinates]

Algorithms compute with left-trivialised velocities. This file converts the robot's v, a and generalized forces to that
form and back, for the floating joints on the world. `geometry.representations` converts one twist, and
`algorithms.base_representation` whole algorithms. Frames: W the world (at the joint's placement), B the base.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multibody.geometry import Pose, representations
from multibody.geometry._arrays import concatenate_last
from multibody.model.joint import Joint
from multibody.model.tree import Tree


def to_left(tree: Tree, q: NDArray[Any], v: NDArray[Any]) -> NDArray[Any]:
    """The velocity with every base in the representation "left"."""
    return _represent(representations.velocity, tree, q, v, source=tree.velocity)


def from_left(tree: Tree, q: NDArray[Any], v: NDArray[Any]) -> NDArray[Any]:
    """The inverse of `to_left`."""
    return _represent(representations.velocity, tree, q, v, target=tree.velocity)


def acceleration_to_left(tree: Tree, q: NDArray[Any], v: NDArray[Any], a: NDArray[Any]) -> NDArray[Any]:
    """The acceleration v' with every base in the representation "left"; v is the robot's.  [MDN 52-55]"""
    return _represent(representations.acceleration, tree, q, v, a, source=tree.velocity)


def acceleration_from_left(tree: Tree, q: NDArray[Any], left_v: NDArray[Any], a: NDArray[Any]) -> NDArray[Any]:
    """The inverse of `acceleration_to_left`; left_v is the velocity in "left" too."""
    return _represent(representations.acceleration, tree, q, left_v, a, target=tree.velocity)


def force_to_left(tree: Tree, q: NDArray[Any], tau: NDArray[Any]) -> NDArray[Any]:
    """Generalized forces, dual to velocities: their power stays.  [MDN 58-60]"""
    return _represent(representations.wrench, tree, q, tau, source=tree.velocity)


def force_from_left(tree: Tree, q: NDArray[Any], tau: NDArray[Any]) -> NDArray[Any]:
    """The inverse of `force_to_left`."""
    return _represent(representations.wrench, tree, q, tau, target=tree.velocity)


def between(joint: Joint, q: NDArray[Any], source: str, target: str) -> NDArray[Any]:
    """(..., 6, 6): the map of one base's velocity from a representation to another.  [MDN 76]"""
    return representations.transform(_pose(joint, q), source, target)


def change(joint: Joint, x: NDArray[Any], twist: NDArray[Any], source: str, target: str) -> NDArray[Any]:
    """The velocity (..., 6) of one base, at its own coordinates x, in another representation."""
    return representations.velocity(joint.kind.pose(x), twist, source, target)


def columns_from_left(tree: Tree, q: NDArray[Any], J: NDArray[Any]) -> NDArray[Any]:
    """A matrix (..., m, nv) that multiplies left velocities, made to multiply the robot's.  [MDN 75-76]"""
    if tree.velocity == "left":
        return J
    return _with_columns(tree, J, lambda joint: between(joint, q, tree.velocity, "left"))


def columns_from_left_in(tree: Tree, q: NDArray[Any], J: NDArray[Any], W_H_C: Pose) -> NDArray[Any]:
    """As `columns_from_left`, for base velocities C_v_WB in a frame C: J B_X_C.  [MDN 75-76]"""
    return _with_columns(tree, J, lambda joint: (joint.pose(q).inverse() @ W_H_C).adjoint)


def _with_columns(tree: Tree, J: NDArray[Any], map_of: Callable[[Joint], NDArray[Any]]) -> NDArray[Any]:
    """J with the columns of every base multiplied by its map."""
    return _map_bases(tree, J, lambda joint, columns: np.matmul(columns, map_of(joint)))


def _pose(joint: Joint, q: NDArray[Any]) -> Pose:
    """W_H_B, where W is the place of the joint."""
    return joint.kind.pose(q[..., joint.q])


def _represent(
    change: Callable[..., NDArray[Any]],
    tree: Tree,
    q: NDArray[Any],
    *arrays: NDArray[Any],
    source: str = "left",
    target: str = "left",
) -> NDArray[Any]:
    """The last array with the entries of every base in another representation; `change` takes those of all arrays."""
    *before, x = arrays
    if tree.velocity == "left":
        return x
    return _map_bases(tree, x, lambda j, own: change(_pose(j, q), *(y[..., j.v] for y in before), own, source, target))


def _map_bases(tree: Tree, x: NDArray[Any], change: Callable[[Joint, NDArray[Any]], NDArray[Any]]) -> NDArray[Any]:
    """x, with velocities along the last axis, where `change` maps the entries of every base."""
    if not tree.bases:
        return x
    parts, start = [], 0
    for joint in tree.bases:
        parts += [x[..., start : joint.v.start], change(joint, x[..., joint.v])]
        start = joint.v.stop
    parts.append(x[..., start:])
    return concatenate_last([part for part in parts if part.shape[-1]])
