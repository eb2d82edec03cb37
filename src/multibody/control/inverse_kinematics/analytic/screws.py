"""Joints of one coordinate as screws of the world: W_H_F = exp(ξ_1 q_1) ... exp(ξ_n q_n) M."""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from multibody.algorithms import kinematics
from multibody.errors import InputError
from multibody.geometry import Pose
from multibody.model import configuration
from multibody.model.joint import Joint
from multibody.model.tree import Tree

Vector = NDArray[Any]
Matrix = NDArray[Any]


class Screw(NamedTuple):
    """A hinge about an axis, or a slide along it."""

    axis: Vector
    """Its direction, of length one."""
    point: Vector
    """On the axis of a hinge; anything for a slide."""
    turns: bool

    def matrix(self, q: float) -> Matrix:
        """exp(ξ q), (4, 4)."""
        H = np.eye(4)
        if self.turns:
            H[:3, :3] = rotation_about(self.axis, q)
            H[:3, 3] = self.point - H[:3, :3] @ self.point
        else:
            H[:3, 3] = q * self.axis
        return H

    def reversed(self) -> "Screw":
        """exp(-ξ q) is that of q."""
        return Screw(-self.axis, self.point, self.turns)

    def seen_from(self, A_H_B: Matrix) -> "Screw":
        """Written in A when this is in B."""
        return Screw(A_H_B[:3, :3] @ self.axis, transform(A_H_B, self.point), self.turns)


class Chain(NamedTuple):
    """The joints that move a frame, from the base on."""

    joints: tuple[Joint, ...]
    screws: tuple[Screw, ...]
    rest: Matrix
    """M, (4, 4): where the frame is at q = 0."""


def chain(tree: Tree, frame: str) -> Chain:
    """The chain of a frame, of hinges and slides with a coordinate each."""
    body, _ = tree.frame(frame)
    neutral = configuration.neutral(tree)
    on_the_way = [tree.bodies[i - 1] for i in sorted(tree.support(body))]
    poses = kinematics.poses(tree, neutral)
    screws = []
    for each in on_the_way:
        joint = each.joint
        S = joint.subspace(neutral).matrix
        twist = None if S.shape[-1] != 1 or joint.mimic is not None or joint.kind.nq != 1 else S[:, 0]
        if twist is None or (np.any(twist[3:]) and abs(twist[:3] @ twist[3:]) > 1e-12):
            raise InputError(
                f"{tree.name}: joint {joint.name!r} on the way to {frame!r} is neither a hinge nor a slide with a "
                "coordinate of its own; there is an analytic solution for six of these with a spherical wrist"
            )
        screws.append(_screw(poses[each.index], twist))
    joints = tuple(each.joint for each in on_the_way)
    return Chain(joints, tuple(screws), kinematics.pose(tree, frame, neutral).matrix)


def common_point(screws: tuple[Screw, ...]) -> tuple[Vector, float]:
    """The point nearest to the axes, and how far it is off the farthest."""
    across = [np.eye(3) - np.outer(s.axis, s.axis) for s in screws]
    right = sum(P @ s.point for P, s in zip(across, screws, strict=True))
    point = np.linalg.lstsq(sum(across), right, rcond=1e-9)[0]
    return point, max(float(np.linalg.norm(P @ (point - s.point))) for P, s in zip(across, screws, strict=True))


def _screw(W_H_i: Pose, twist: Vector) -> Screw:
    linear, angular = W_H_i.rotation @ twist[:3], W_H_i.rotation @ twist[3:]
    if not np.any(twist[3:]):
        return Screw(linear, W_H_i.position, False)
    # where the child's origin moves, the axis is beside it
    return Screw(angular, W_H_i.position + np.cross(angular, linear) / (angular @ angular), True)


def turn_about(axis: Vector, start: Vector, end: Vector, within: float) -> float | None:
    """The angle about an axis that takes a vector's direction to that of another; None when one lies along the axis."""
    a, b = start - axis * (axis @ start), end - axis * (axis @ end)
    if min(np.linalg.norm(a), np.linalg.norm(b)) < within:
        return None
    return float(np.arctan2(axis @ np.cross(a, b), a @ b))


def rotation_about(axis: Vector, angle: float) -> Matrix:
    """The rotation (3, 3) about a unit axis (Rodrigues)."""
    x, y, z = axis
    K = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.eye(3) + math.sin(angle) * K + 2 * math.sin(angle / 2) ** 2 * (K @ K)


def transform(A_H_B: Matrix, B_p: Vector) -> Vector:
    """A point of B, in A."""
    return A_H_B[:3, :3] @ B_p + A_H_B[:3, 3]


def inverse(A_H_B: Matrix) -> Matrix:
    """B_H_A."""
    H = np.eye(4)
    H[:3, :3] = A_H_B[:3, :3].T
    H[:3, 3] = -H[:3, :3] @ A_H_B[:3, 3]
    return H
