"""Jacobian columns: the twist of each velocity of a robot, and the body that carries it.

The twists are along the axes of the world, about a fixed point O at the current position of the base. This avoids
cancellation if the robot is far from the world's origin. A frame's Jacobian, its time derivative and its Hessian
follow from the columns and their carriers.
"""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multibody.algorithms import kinematics
from multibody.algorithms.base_representation import base_directions
from multibody.geometry import Pose, Twist
from multibody.model.joint import Joint
from multibody.model.tree import Tree


@dataclass(frozen=True)
class Column:
    """One direction: the body `body` and all beyond it move with the twist at a unit of the velocity `index`."""

    index: int
    """The index of the velocity in v. Mimic joints share a velocity: their columns add up."""
    body: int
    twist: Twist
    carrier: int
    """The body that carries the twist; 0 if the twist is fixed in the world."""
    carried_only_by: range | None = None
    """The indices of the only columns that carry it, if not all columns of the carrier do."""


@dataclass(frozen=True)
class Directions:
    """All columns at a configuration, and the poses of the bodies relative to O."""

    tree: Tree
    origin: NDArray[Any]
    """W_o_O, (..., 3)."""
    near: NDArray[Any]
    """The configuration with O at the world's origin."""
    poses: dict[int, Pose]
    columns: list[Column]

    def on(self, body: int) -> list[int]:
        """The indices of the columns that move a body."""
        path = set(self.tree.support(body))
        return [k for k, column in enumerate(self.columns) if column.body in path]

    def frame(self, name: str) -> Pose:
        """The pose of a frame, relative to O."""
        i, i_H_F = self.tree.frame(name)
        return self.poses[i] @ i_H_F if i else Pose._trusted(i_H_F.rotation, i_H_F.position - self.origin)

    def carries(self, k: int, c: int) -> bool:
        """Whether motion along column k carries column c."""
        column = self.columns[c]
        if column.carried_only_by is not None:
            return k in column.carried_only_by
        body = self.columns[k].body
        return body <= column.carrier <= self.tree.last(body)

    def derivative(self, k: int, c: int) -> Twist | None:
        """The derivative of column c along column k; None for zero.  [MDN 38]"""
        return self.columns[k].twist.cross(self.columns[c].twist) if self.carries(k, c) else None

    def twists(self, v: NDArray[Any]) -> list[Twist | None]:
        """The twist of every body that has columns; None if no column moves it."""
        twists: list[Twist | None] = [None] * (len(self.tree.bodies) + 1)
        started: set[int] = set()
        for column in self.columns:
            i = column.body
            if i not in started:
                twists[i] = twists[self.tree.bodies[i - 1].parent]
                started.add(i)
            twists[i] = add(twists[i], column.twist * v[..., column.index])
        return twists

    def rates(self, v: NDArray[Any]) -> list[Twist | None]:
        """The time derivatives of all columns; None for zero."""
        twists = self.twists(v)
        rates: list[Twist | None] = []
        for column in self.columns:
            carrier = twists[column.carrier]
            if column.carried_only_by is not None:
                carrier = None
                for k in column.carried_only_by:
                    carrier = add(carrier, self.columns[k].twist * v[..., self.columns[k].index])
            rates.append(None if carrier is None else carrier.cross(column.twist))
        return rates


def directions(tree: Tree, q: NDArray[Any], only: Collection[int] | None = None) -> Directions:
    """The columns of the bodies in `only`, by default of all, in the robot's own base representation.  [MDN 74-76]"""
    origin, near = near_base(tree, q)
    W_H = kinematics.poses(tree, near, only)
    columns: list[Column] = []
    for i, p, body in tree.outward():
        if only is not None and i not in only:
            continue
        start = len(columns)
        for k, (twist, carrier) in enumerate(_of_joint(tree, body.joint, near, W_H[i], origin)):
            carriers = range(start, start + 3) if carrier == "position" else None
            fixed_to = {"parent": p, "child": i}.get(carrier, 0)
            columns.append(Column(body.joint.v.start + k, i, twist, fixed_to, carriers))
    return Directions(tree, origin, near, W_H, columns)


def near_base(tree: Tree, q: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """O, and the configuration with the base at the origin, if all bodies hang on one floating base."""
    if not tree.floating or len(tree.children(0)) > 1:
        return np.zeros(3, q.dtype), q
    near = np.concatenate([np.zeros((*q.shape[:-1], 3), q.dtype), q[..., 3:]], axis=-1)
    return tree.bases[0].placement.rotation @ q[..., :3], near


def _of_joint(tree: Tree, joint: Joint, q: NDArray[Any], W_H_i: Pose, origin: NDArray[Any]) -> list[tuple[Twist, str]]:
    """The twists of a joint's velocities, and the carrier of each: "none" is the world."""
    S = joint.subspace(q)
    left = [W_H_i @ S.column(k) for k in range(joint.kind.nv)]
    base = base_directions(tree, joint, left, W_H_i, origin)
    if base is not None:
        return base
    if joint.kind.nv == 1:
        return [(left[0], "parent")]  # a direction does not carry itself
    held = joint.kind.held_by_parent
    return [(twist, "parent" if k in held else "child") for k, twist in enumerate(left)]


def add(a: Twist | None, b: Twist | None) -> Twist | None:
    """a + b; None stands for zero."""
    return b if a is None else a if b is None else a + b
