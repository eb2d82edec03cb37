"""The equations of motion, solved for accelerations: everything is affine in torques and contact forces.  [RD 3.110]"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from multibody.algorithms import rows
from multibody.algorithms._parts import mirrored
from multibody.algorithms.change_of_velocity import with_base
from multibody.algorithms.constraints import Constraint
from multibody.algorithms.factorization import HalfSolved
from multibody.algorithms.forward_dynamics import factors
from multibody.algorithms.rnea import rnea
from multibody.geometry._arrays import eye_like, matvec
from multibody.model import base_velocity
from multibody.model.tree import Tree
from multibody.tracing import linalg

Array = NDArray[Any]


class Affine(NamedTuple):
    """What is matrix x + offset, for unknowns x."""

    matrix: Array
    """(..., m, n)"""
    offset: Array
    """(..., m)"""

    def at(self, x: Array) -> Array:
        """(..., m): its value."""
        return matvec(self.matrix, x) + self.offset

    def through(self, R: Array) -> "Affine":
        """R times it, for rows (..., k, m)."""
        return Affine(np.matmul(R, self.matrix), matvec(R, self.offset))

    def through_of(self, inner: "Affine") -> "Affine":
        """What it is of the unknowns of another, whose value is its own unknown."""
        return Affine(np.matmul(self.matrix, inner.matrix), matvec(self.matrix, inner.offset) + self.offset)


class Motion(NamedTuple):
    """What torques and contact forces do to a robot; velocities and accelerations have bases in "left"."""

    tree: Tree
    """With its base in "left"."""
    v: Array
    """(..., nv)"""
    unactuated: int
    """How many velocities come before those of actuated joints."""
    a: Affine
    """The acceleration, of z = (tau, f): tau of the actuated joints, then the forces of all contacts."""
    still: Affine
    """The acceleration of the contacts, of z; zero where one is not active."""

    @property
    def torques(self) -> int:
        """The number of torques, which are the first in z."""
        return self.tree.nv - self.unactuated


class Unknowns(NamedTuple):
    """Torques, contact forces and acceleration, of unknowns x that are left when contacts stand still."""

    tau: Affine
    f: Affine
    a: Affine


def motion(tree: Tree, contacts: Sequence[Constraint], q: Array, v: Array, mask: Array | None) -> Motion:
    """M a + h = S^T tau + J^T f as a = M^-1 (S^T tau + J^T f - h), so that it holds whatever tau and f.  [RD 3.110]

    Args:
        tree: the robot.
        contacts: on it; their forces are on the robot, RD's F_c has the opposite sign.
        q: (..., nq).
        v: (..., nv).
        mask: (..., rows) of ones, and zeros for contacts that are not active; None for all ones.
    """
    left, left_v = with_base(tree, "left"), base_velocity.to_left(tree, q, v)
    unactuated = 6 if tree.floating else 0
    R = np.broadcast_to(np.eye(tree.nv, dtype=q.dtype)[unactuated:], (*q.shape[:-1], tree.nv - unactuated, tree.nv))
    fall = -rnea(left, q, left_v, np.zeros_like(v))
    if not contacts:
        half = HalfSolved(factors(tree, q), R, q.shape[:-1])
        a = Affine(half.M_inv_R_T, half.onward(half.halfway(fall)))
        return Motion(left, left_v, unactuated, a, Affine(a.matrix[..., :0, :], a.offset[..., :0]))
    J, drift = rows.jacobian(left, contacts, q), rows.bias(left, contacts, q, left_v)
    if mask is not None:
        J, drift = J * mask[..., :, None], drift * mask
    half = HalfSolved(factors(tree, q), np.concatenate([R, J], axis=-2), q.shape[:-1])
    a = Affine(half.M_inv_R_T, half.onward(half.halfway(fall)))
    still = a.through(J)
    return Motion(left, left_v, unactuated, a, Affine(still.matrix, still.offset + drift))


def of_torques(motion: Motion, mask: Array | None) -> Unknowns:
    """x = tau: contacts that stand still, independent of each other, have one f for every tau.

    With K = J M^-1 (S^T, J^T), K_f is symmetric and regular: f = -K_f^-1 (K_tau tau + k).  [RD 3.62]
    """
    n = motion.torques
    K_tau, K_f = motion.still.matrix[..., :n], mirrored(motion.still.matrix[..., n:])
    if mask is not None:
        K_f = K_f + (1 - mask)[..., :, None] * eye_like(K_f, K_f.shape[-1])  # what is not active has no force
    solved = linalg.solve(K_f, np.concatenate([K_tau, motion.still.offset[..., None]], axis=-1), definite=True)
    return around(motion, Affine(-solved[..., :n], -solved[..., n]))


def around(motion: Motion, f: Affine) -> Unknowns:
    """x = tau, for f that is given by it."""
    n, (X, fall) = motion.torques, motion.a
    a = Affine(X[..., :n] + np.matmul(X[..., n:], f.matrix), fall + matvec(X[..., n:], f.offset))
    one = np.broadcast_to(np.eye(n, dtype=X.dtype), (*X.shape[:-2], n, n))
    return Unknowns(Affine(one, np.zeros_like(one[..., 0])), f, a)


def of_all(motion: Motion) -> Unknowns:
    """x = z = (tau, f), for contacts that repeat each other, as corners of a sole: tau leaves forces open."""
    n = motion.a.matrix.shape[-1]
    one = np.broadcast_to(np.eye(n, dtype=motion.v.dtype), (*motion.v.shape[:-1], n, n))
    none = np.zeros_like(one[..., 0])
    k = motion.torques
    return Unknowns(Affine(one[..., :k, :], none[..., :k]), Affine(one[..., k:, :], none[..., k:]), motion.a)
