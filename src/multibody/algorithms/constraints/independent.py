"""Independent rows of redundant contacts, by construction: those of one rigid body have at most six.  [RD §2.10.4]

Points of a body have velocities B t, where t is the twist of the body. With a U whose columns are orthonormal and span
those of B, J = U R for the rows R = U^T J, and

    (J M^-1 J^T)^+ = U (R M^-1 R^T)^+ U^T

so the smallest forces follow from R, which has 3 rows for a point, 5 for points on a line, 6 otherwise. The number
depends only on the points, not on the masses or joints of the robot.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from multibody.algorithms import jacobian, kinematics, least_norm, rows
from multibody.algorithms.constraints.constraint import Constraint, Grip
from multibody.geometry._arrays import block_matrix, is_traced, matvec, transpose
from multibody.geometry.operators import hat3
from multibody.model.tree import Tree


class IndependentRows(NamedTuple):
    """R, and how the rows J of constraints follow from it."""

    jacobian: NDArray[Any]
    """R, (..., r, nv); rows that do not hold are zero."""
    basis: NDArray[Any] | None
    """U, (..., rows, r), with J = U R; None is the identity."""

    def reduced(self, x: NDArray[Any]) -> NDArray[Any]:
        """U^T x, (..., r, m), for x (..., rows, m)."""
        return x if self.basis is None else np.matmul(transpose(self.basis), x)

    def expanded(self, x: NDArray[Any]) -> NDArray[Any]:
        """U x, (..., rows, m), for x (..., r, m)."""
        return x if self.basis is None else np.matmul(self.basis, x)


def stack_rows(
    tree: Tree, constraints: Sequence[Constraint], q: NDArray[Any], mask: NDArray[Any] | None = None
) -> IndependentRows:
    """The rows of constraints as they are, zero where a mask (..., rows) is."""
    J = rows.jacobian(tree, constraints, q)
    return IndependentRows(J if mask is None else J * mask[..., :, None], None)


def independent_rows(
    tree: Tree, constraints: Sequence[Constraint], q: NDArray[Any], mask: NDArray[Any] | None = None
) -> IndependentRows:
    """R and U of constraints at q, (..., nq); a mask (..., rows) has zeros for rows that do not hold."""
    groups = _groups(tree, constraints)
    ends = np.cumsum([constraint.rows for constraint in constraints])
    masks = [None if mask is None else mask[..., end - c.rows : end] for c, end in zip(constraints, ends, strict=True)]
    blocks = []
    for members in groups:
        held, masked = [constraints[k] for k in members], [masks[k] for k in members]
        alone = len(members) == 1 and _points(held[0]) < 2
        blocks.append(stack_rows(tree, held, q, masked[0]) if alone else _patch(tree, held, q, masked))
    J = np.concatenate([block.jacobian for block in blocks], axis=-2)
    if all(block.basis is None for block in blocks):
        return IndependentRows(J, None)
    parts: dict[tuple[int, int], NDArray[Any]] = {}
    for column, (members, block) in enumerate(zip(groups, blocks, strict=True)):
        U = np.eye(block.jacobian.shape[-2]) if block.basis is None else block.basis
        start = 0
        for k in members:
            parts[k, column] = U[..., start : start + constraints[k].rows, :]
            start += constraints[k].rows
    basis = block_matrix([[parts.get((k, g), 0) for g in range(len(groups))] for k in range(len(constraints))])
    return IndependentRows(J, basis)


def _groups(tree: Tree, constraints: Sequence[Constraint]) -> list[list[int]]:
    """The indices of constraints, grouped by body; constraints without a grip are groups of one."""
    groups: dict[Any, list[int]] = {}
    for k, constraint in enumerate(constraints):
        grip = constraint.grip()
        groups.setdefault(("alone", k) if grip is None else tree.frame(grip.frame)[0], []).append(k)
    return list(groups.values())


def _points(constraint: Constraint) -> int:
    grip = constraint.grip()
    return 0 if grip is None else len(grip.points)


def _patch(
    tree: Tree, held: Sequence[Constraint], q: NDArray[Any], masks: Sequence[NDArray[Any] | None]
) -> IndependentRows:
    """R and U of constraints that hold points of one body.

    Its twist t is the velocity of the mean of the points, along the world's axes, and the angular velocity along those
    of a frame F of the body: without a mask, the two do not meet in B^T B, which is constant.
    """
    grips = [grip for grip in (constraint.grip() for constraint in held) if grip is not None]
    frame = grips[0].frame
    clouds = [_in_frame(tree, frame, grip) for grip in grips]
    count = sum(len(grip.points) for grip in grips)
    mean = np.concatenate(clouds, axis=-2).sum(axis=-2) / count
    arms = [hat3(cloud - mean[..., None, :]) for cloud in clouds]
    W_R_F = kinematics.pose(tree, frame, q).rotation.matrix
    J = jacobian.jacobian(tree, frame, q, "mixed")
    at_mean = J[..., :3, :] + jacobian.cross_columns(J[..., 3:, :], matvec(W_R_F, mean))
    twist = np.concatenate([at_mean, np.matmul(transpose(W_R_F), J[..., 3:, :])], axis=-2)
    lines, identity, zero = [], np.eye(3), np.zeros((3, 3))
    for grip, arm in zip(grips, arms, strict=True):
        lines += [(identity, -np.matmul(W_R_F, arm[..., k, :, :])) for k in range(len(grip.points))]
        lines += [(zero, W_R_F)] if grip.turning else []
    B = block_matrix([list(line) for line in lines])
    if masks[0] is None:
        fixed = [np.broadcast_to(identity, (*arms[0].shape[:-3], 3, 3))] * sum(grip.turning for grip in grips)
        turned = np.concatenate([*(arm[..., k, :, :] for arm in arms for k in range(arm.shape[-3])), *fixed], axis=-2)
        V, kept = least_norm.whitening(turned)
        if not is_traced(kept) and kept.ndim == 1:
            V = V[:, : int(kept.sum())]  # the kept ones come first
        length, gram = np.sqrt(count), least_norm.gram(turned)
        U = np.matmul(B, block_matrix([[identity / length, 0], [0, V]]))
        R = np.matmul(block_matrix([[length * identity, 0], [0, np.matmul(transpose(V), gram)]]), twist)
        return IndependentRows(R, U)
    mask = np.concatenate([mask for mask in masks if mask is not None], axis=-1)
    B = B * mask[..., :, None]
    gram = least_norm.gram(B)
    V, _ = least_norm.whitening(B)
    return IndependentRows(np.matmul(np.matmul(transpose(V), gram), twist), np.matmul(B, V))


def _in_frame(tree: Tree, frame: str, grip: Grip) -> NDArray[Any]:
    """(..., points, 3): the points of a grip in a frame of the same body."""
    points = np.array(grip.points)
    if grip.frame == frame:
        return points
    F_H_G = tree.frame(frame)[1].inverse() @ tree.frame(grip.frame)[1]
    return np.stack([F_H_G @ point for point in points], axis=-2)
