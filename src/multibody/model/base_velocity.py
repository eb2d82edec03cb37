"""The velocity of a floating base in its four representations.  [MDN 76; RD 2.261; Kindr §Coordinates]

Algorithms compute with the left-trivialised velocity of every joint; this file takes the robot's v, a and generalized
forces to that form and back, for the floating joints on the world. Frames: W the world (where the joint stands), B the
base.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multibody.geometry import Pose, representations
from multibody.model.joint import Joint
from multibody.model.tree import Tree


def to_left(tree: Tree, q: NDArray[Any], v: NDArray[Any]) -> NDArray[Any]:
    """The velocity with every base in the representation "left"."""
    return _replaced(tree, v, lambda j, x: representations.velocity(_pose(j, q), x, tree.velocity, "left"))


def from_left(tree: Tree, q: NDArray[Any], v: NDArray[Any]) -> NDArray[Any]:
    """The inverse of `to_left`."""
    return _replaced(tree, v, lambda j, x: representations.velocity(_pose(j, q), x, "left", tree.velocity))


def acceleration_to_left(tree: Tree, q: NDArray[Any], v: NDArray[Any], a: NDArray[Any]) -> NDArray[Any]:
    """The acceleration v' with every base in the representation "left"; v is the robot's.  [MDN 52-55]"""
    return _replaced(
        tree,
        a,
        lambda j, x: representations.acceleration(_pose(j, q), v[..., j.v], x, tree.velocity, "left"),
    )


def acceleration_from_left(tree: Tree, q: NDArray[Any], left_v: NDArray[Any], a: NDArray[Any]) -> NDArray[Any]:
    """The inverse of `acceleration_to_left`; left_v is the velocity in "left" too."""
    return _replaced(
        tree,
        a,
        lambda j, x: representations.acceleration(_pose(j, q), left_v[..., j.v], x, "left", tree.velocity),
    )


def force_to_left(tree: Tree, q: NDArray[Any], tau: NDArray[Any]) -> NDArray[Any]:
    """Generalized forces, dual to velocities: their power stays.  [MDN 58-60]"""
    return _replaced(tree, tau, lambda j, x: representations.wrench(_pose(j, q), x, tree.velocity, "left"))


def force_from_left(tree: Tree, q: NDArray[Any], tau: NDArray[Any]) -> NDArray[Any]:
    """The inverse of `force_to_left`."""
    return _replaced(tree, tau, lambda j, x: representations.wrench(_pose(j, q), x, "left", tree.velocity))


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
    """The same for base velocities C_v_WB that are written in a frame C: J B_X_C.  [MDN 75-76]"""
    return _with_columns(tree, J, lambda joint: (joint.pose(q).inverse() @ W_H_C).adjoint)


def _with_columns(tree: Tree, J: NDArray[Any], map_of: Callable[[Joint], NDArray[Any]]) -> NDArray[Any]:
    """J with the columns of every base multiplied by its map."""
    if not tree.bases:
        return J
    parts, at = [], 0
    for joint in tree.bases:
        parts += [J[..., :, at : joint.v.start], np.matmul(J[..., :, joint.v], map_of(joint))]
        at = joint.v.stop
    parts.append(J[..., :, at:])
    batch = np.broadcast_shapes(*(part.shape[:-1] for part in parts))
    return np.concatenate([np.broadcast_to(part, (*batch, part.shape[-1])) for part in parts], axis=-1)


def _pose(joint: Joint, q: NDArray[Any]) -> Pose:
    """W_H_B, where W is the place of the joint."""
    return joint.kind.pose(q[..., joint.q])


def _replaced(tree: Tree, x: NDArray[Any], change: Any) -> NDArray[Any]:
    """x with the part of every base changed; when bases are in "left", as it is."""
    if tree.velocity == "left" or not tree.bases:
        return x
    parts, at = [], 0
    for joint in tree.bases:
        parts.append(x[..., at : joint.v.start])
        parts.append(change(joint, x[..., joint.v]))
        at = joint.v.stop
    parts.append(x[..., at:])
    batch = np.broadcast_shapes(*(part.shape[:-1] for part in parts))
    return np.concatenate(
        [np.broadcast_to(part, (*batch, part.shape[-1])) for part in parts if part.shape[-1]], axis=-1
    )
