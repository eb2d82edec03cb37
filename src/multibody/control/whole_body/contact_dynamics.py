"""The equations of motion, solved for accelerations: everything is affine in torques and contact forces.  [RD 3.110]"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from multibody.algorithms.change_of_velocity import with_base
from multibody.algorithms.constraints import Constraint
from multibody.algorithms.forward_dynamics import factors
from multibody.algorithms.mass_matrix_factorization import HalfSolve
from multibody.algorithms.rnea import rnea
from multibody.control.affine import Affine
from multibody.control.whole_body.contact_forces import ContactForces, split_forces
from multibody.geometry._arrays import Array, eye_like, matvec, mirror_upper, transpose
from multibody.model import base_velocity
from multibody.model.actuation import actuated_indices
from multibody.model.tree import Tree
from multibody.tracing.matrices import linalg

REFERENCE_MASS = 10.0
"""The mass in kg of a robot whose unit of forces is 1 N."""


class Unknowns(NamedTuple):
    """Torques, contact forces and acceleration, of unknowns x."""

    tau: Affine
    f: Affine
    a: Affine


class Dynamics(NamedTuple):
    """Accelerations as affine functions of torques and contact forces; bases have velocities in "left"."""

    tree: Tree
    """With its base in "left"."""
    unit: float
    """The unit of forces and torques, in N and N m."""
    v: Array
    """(..., nv)"""
    actuated: list[int]
    """The indices in v of the actuated joints."""
    half: HalfSolve
    """The half-solve of (S, R): the rows of the actuated joints, then those of contacts that move the robot."""
    free_a: Array
    """(..., nv): the acceleration without torques and forces."""
    contact_a: Affine
    """The acceleration of the independent rows of contacts, of (tau, w); zero for inactive contacts."""
    forces: ContactForces
    """The parts of the contact forces, with no rows without contacts."""

    @property
    def torques(self) -> int:
        """The number of torques, which are the first in z."""
        return len(self.actuated)

    @property
    def max_acceleration(self) -> Array:
        """(...): the largest acceleration of a joint that a torque of 1 there makes, with all that carries it fixed.

        Of a robot without motors, the largest one of its base.
        """
        return np.max(self.half.D_inv[..., self.actuated or slice(None)], axis=-1)

    @property
    def all_contact_a(self) -> Affine:
        """The acceleration of the independent rows of contacts, of z = (tau, w, g)."""
        return _with_idle(self.contact_a, self.forces.within)

    def forces_of_torques(self) -> Affine:
        """w of tau: contacts that stand still, whose rows are independent of each other, have one w for every tau.

        With K = R M^-1 (S^T, R^T), K_w is symmetric and regular: w = -K_w^-1 (K_tau tau + k).  [RD 3.62]
        """
        n, mask = self.torques, self.forces.mask
        K_tau, K_w = self.contact_a.matrix[..., :n], mirror_upper(self.contact_a.matrix[..., n:])
        if mask is not None:
            K_w = K_w + (1 - mask)[..., :, None] * eye_like(K_w, K_w.shape[-1])  # what is not active has no force
        solution = linalg.solve(K_w, np.concatenate([K_tau, self.contact_a.offset[..., None]], axis=-1), definite=True)
        return Affine(-solution[..., :n], -solution[..., n])

    def torque_unknowns(self, w: Affine) -> Unknowns:
        """x = (tau, g), for w that is given by tau; g are the forces within soles, which tau leaves open."""
        n, half, pushes = self.torques, self.half, self.forces
        Z, Z_R = half.Z[..., :n], half.Z[..., n:]
        a = Affine(
            half.solve_DL_columns(Z + np.matmul(Z_R, w.matrix)), self.free_a + half.solve_DL(matvec(Z_R, w.offset))
        )
        one = np.broadcast_to(np.eye(n, dtype=Z.dtype), (*Z.shape[:-2], n, n))
        tau = Affine(one, np.zeros_like(one[..., 0]))
        return Unknowns(_with_idle(tau, pushes.within), pushes.of(w), _with_idle(a, pushes.within))

    def all_unknowns(self) -> Unknowns:
        """x = z = (tau, w, g), for contacts that are not independent of each other: tau leaves their forces open."""
        k, n, within = self.torques, self.half.Z.shape[-1], self.forces.within
        one = np.broadcast_to(np.eye(n, dtype=self.v.dtype), (*self.v.shape[:-1], n, n))
        none = np.zeros_like(one[..., 0])
        tau, w = Affine(one[..., :k, :], none[..., :k]), Affine(one[..., k:, :], none[..., k:])
        return Unknowns(
            _with_idle(tau, within), self.forces.of(w), _with_idle(Affine(self.half.M_inv_R_T, self.free_a), within)
        )


def unit_of(tree: Tree) -> float:
    """The unit of forces and torques, in N and N m, in proportion to the mass of the robot."""
    return tree.mass / REFERENCE_MASS if tree.mass > 0 else 1.0


def contact_dynamics(tree: Tree, contacts: Sequence[Constraint], q: Array, v: Array, mask: Array | None) -> Dynamics:
    """M a + h = S^T tau + J^T f as a = M^-1 (S^T tau + J^T f - h), so that it
    holds whatever tau and f.  [RD 3.110]

    All of it is divided by the unit of forces.

    Args:
        tree: the robot.
        contacts: on it; their forces are on the robot, RD's F_c has the opposite sign.
        q: (..., nq).
        v: (..., nv).
        mask: (..., rows) of ones, and zeros for contacts that are not active; None for all
            ones.
    """
    left, left_v = with_base(tree, "left"), base_velocity.to_left(tree, q, v)
    actuated = actuated_indices(tree)
    R = np.broadcast_to(np.eye(tree.nv, dtype=q.dtype)[actuated], (*q.shape[:-1], len(actuated), tree.nv))
    unit = unit_of(tree)
    free_a = -rnea(left, q, left_v, np.zeros_like(v)) / unit
    pushes = split_forces(left, contacts, q, left_v, mask)
    half = HalfSolve(factors(tree, q).per(unit), np.concatenate([R, pushes.J], axis=-2), q.shape[:-1])
    free_a = half.solve_DL(half.solve_LT(free_a))
    K = np.matmul(transpose(half.Z[..., len(actuated) :]), half.D_inv[..., :, None] * half.Z)
    contact_a = Affine(K, matvec(pushes.J, free_a) + pushes.drift)
    return Dynamics(left, unit, left_v, actuated, half, free_a, contact_a, pushes)


def _with_idle(affine: Affine, count: int) -> Affine:
    """The map with further unknowns that it does not depend on."""
    if not count:
        return affine
    zeros = np.zeros((*affine.matrix.shape[:-1], count), affine.matrix.dtype)
    return Affine(np.concatenate([affine.matrix, zeros], axis=-1), affine.offset)
