"""Vectors and matrices over the robot's velocities, assembled from the blocks of its joints."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multibody.geometry import Pose, Twist, Wrench
from multibody.geometry._arrays import dot, is_traced
from multibody.model.joint import Joint
from multibody.model.tree import Tree

Entries = dict[tuple[int, int], NDArray[Any]]
"""The entries (row, column) of a matrix, each an array over the batch; absent entries are zero."""


class VelocityBlocks:
    """A vector (..., nv) assembled joint by joint; joints that share a velocity (mimic) add up."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self.parts: dict[int, NDArray[Any]] = {}

    def add(self, joint: Joint, part: NDArray[Any]) -> None:
        """Add the block (..., joint.kind.nv) of a joint."""
        start = joint.v.start
        self.parts[start] = self.parts[start] + part if start in self.parts else part

    def vector(self, batch: tuple[int, ...] = ()) -> NDArray[Any]:
        """(..., nv)."""
        if not self.parts:
            return np.zeros((*batch, self.tree.nv))
        parts = [self.parts[start] for start in sorted(self.parts)]
        return concatenate(parts, -1, batch)


def add_entry(entries: Entries, row: int, column: int, value: NDArray[Any]) -> None:
    """Add to an entry: joints that share a velocity (mimic) add up."""
    key = (row, column)
    entries[key] = entries[key] + value if key in entries else value


def pairing(twist: Twist, wrench: Wrench) -> NDArray[Any]:
    """(...): the dual pairing of a twist and a wrench in the same frame."""
    return dot(twist.linear, wrench.force) + dot(twist.angular, wrench.torque)


def dense_matrix(rows: Sequence[Sequence[Any]], batch: tuple[int, ...], like: NDArray[Any]) -> NDArray[Any]:
    """(..., n, m): the matrix of entries over the batch, None for zero."""
    zero = np.zeros(batch, like.dtype)
    full = [[zero if entry is None else np.broadcast_to(entry, batch) for entry in row] for row in rows]
    return stack([np.stack(row, axis=-1) for row in full], -2, (*batch, 0, 0), like)


def stack(parts: Sequence[NDArray[Any]], axis: int, empty: tuple[int, ...], like: NDArray[Any]) -> NDArray[Any]:
    """Stack the parts along a new axis; without parts, return zeros of the shape `empty`."""
    return np.stack(parts, axis=axis) if parts else np.zeros(empty, like.dtype)


def concatenate(parts: Sequence[NDArray[Any]], axis: int, batch: tuple[int, ...] = ()) -> NDArray[Any]:
    """The parts along axis -1 or -2, with the axes before it broadcast, to a batch too."""
    batch = np.broadcast_shapes(batch, *(part.shape[:axis] for part in parts))
    return np.concatenate([np.broadcast_to(part, (*batch, *part.shape[axis:])) for part in parts], axis=axis)


def toward_world(tree: Tree, p_H: Mapping[int, Pose] | Sequence[Pose], i: int) -> Iterator[tuple[int, Pose]]:
    """(j, j_H_child) of the bodies from the parent of i to the world, with the poses p_H_i of bodies in parents."""
    while j := tree.bodies[i - 1].parent:
        yield j, p_H[i]
        i = j


def common_batch(*arrays: NDArray[Any]) -> tuple[int, ...]:
    """The common batch shape of arrays (..., n)."""
    return np.broadcast_shapes(*(array.shape[:-1] for array in arrays))


def gravity(tree: Tree, like: NDArray[Any]) -> NDArray[Any]:
    """(..., 3): the gravity of the tree in the precision of q, unless it is a traced input."""
    return tree.gravity if is_traced(tree.gravity) else tree.gravity.astype(like.dtype, copy=False)
