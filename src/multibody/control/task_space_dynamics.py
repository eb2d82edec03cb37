"""The dynamics of a robot as one of its frames feels them.  [RD §3.9.2]

With M = L^T D L and Y = D^-1/2 L^-T J^T, J M^-1 J^T = Y^T Y. Contacts, with rows J_c and Y_c, take away what they hold:
P = 1 - Q^T Q, for orthonormal rows Q that span the columns of Y_c, and then Y^T P Y is the inverse of the inertia.
Bases have velocities in "left", where M has the zeros of the tree.
"""

from collections.abc import Sequence

import numpy as np

from multibody.algorithms import jacobian, kinematics, rows
from multibody.algorithms.constraints import Constraint
from multibody.algorithms.forward_dynamics import factors
from multibody.algorithms.least_norm import gram
from multibody.algorithms.mass_matrix_factorization import HalfSolve
from multibody.algorithms.velocity_blocks import common_batch
from multibody.geometry._arrays import Array, eye_like, matvec, mirror_upper, transpose
from multibody.model.tree import Tree
from multibody.solvers.least_squares import left_solution, row_space
from multibody.tracing.matrices import linalg

ROUNDING = 64
"""How many rounding errors of the trace of J M^-1 J^T its eigenvalues are at least lifted by, where they vanish."""
FLOOR = 1e-3
"""What the eigenvalues are lifted by to ask for the heaviest direction, as a fraction of what they are damped by."""


class TaskDynamics:
    """Λ, and what forces and accelerations of the robot are at a frame.  [RD 3.86-3.89]

    Args:
        tree: with its base in "left".
        frame: one of its frames.
        chosen: which of the six mixed rows of the frame.
        q: (..., nq).
        heaviest: in kg or kg m²: no direction is felt heavier than by some such inertia.
        contacts: that hold.
    """

    def __init__(
        self, tree: Tree, frame: str, chosen: slice, q: Array, heaviest: float, contacts: Sequence[Constraint] = ()
    ) -> None:
        self.tree, self.frame, self.chosen, self.q = tree, frame, chosen, q
        self.contacts = contacts
        self.J = jacobian.jacobian(tree, frame, q, "mixed")[..., chosen, :]
        self.half = HalfSolve(factors(tree, q), self.J, common_batch(q))
        self.Y = np.sqrt(self.half.D_inv)[..., :, None] * self.half.Z
        self.free = self.Y  # P Y
        if contacts:
            J_c = rows.jacobian(tree, contacts, q)
            self.Y_c = np.stack([self._whitened(J_c[..., k, :]) for k in range(J_c.shape[-2])], axis=-1)
            self.Q = row_space(transpose(self.Y_c))
            self.free = self.Y - np.matmul(transpose(self.Q), np.matmul(self.Q, self.Y))
        self.inertia = damped_inertia(gram(self.free), heaviest)
        """Λ, (..., m, m)."""

    def acceleration(self, force: Array) -> Array:
        """J M^-1 τ, (..., m): the acceleration of the frame by generalized forces (..., nv)."""
        return matvec(transpose(self.free), self._whitened(force))

    def drift(self, v: Array) -> Array:
        """(..., m): the acceleration of the frame without any force, J' v; contacts that hold add to it."""
        rest = kinematics.acceleration(self.tree, self.frame, self.q, v, np.zeros_like(v), "mixed")[..., self.chosen]
        if not self.contacts:
            return rest
        bias = rows.bias(self.tree, self.contacts, self.q, v)
        Y_c_Q = np.matmul(transpose(self.Y_c), transpose(self.Q))
        return rest - matvec(transpose(self.Y), matvec(transpose(self.Q), left_solution(Y_c_Q, bias)))

    def inverse(self) -> Array:
        """J̄ = M^-1 J^T Λ, (..., nv, m): the inverse of J that moves the least mass."""
        spread = self.free / np.sqrt(self.half.D_inv)[..., :, None]
        return np.matmul(self.half.solve_DL_columns(spread), self.inertia)

    def _whitened(self, force: Array) -> Array:
        """D^-1/2 L^-T τ, (..., nv)."""
        return np.sqrt(self.half.D_inv) * self.half.solve_LT(force)


def damped_inertia(A: Array, heaviest: float) -> Array:
    """(A + λ² 1)^-1, (..., m, m), of a symmetric A that is not negative, with λ = 0 away from singularities.

    λ² = d - s, no less than zero, with d = 1 / heaviest and s = 1 / trace(A^-1), which is at most the smallest
    eigenvalue of A and at least that by their number: nothing is damped where the trace is less than `heaviest`, and
    where A is singular, λ² = d. `pseudo_inverse.damped_solution` is it for A = J J^T.  [RD 2.207-2.208]
    """
    one = eye_like(A, A.shape[-1])
    least = np.maximum(1.0 / heaviest, ROUNDING * np.finfo(A.dtype).eps * _trace(A))
    lifted = mirror_upper(A + (FLOOR * least)[..., None, None] * one)
    missing = np.maximum(least - 1.0 / _trace(linalg.solve(lifted, one, definite=True)), 0.0)
    return mirror_upper(linalg.solve(A + missing[..., None, None] * one, one, definite=True))


def _trace(A: Array) -> Array:
    return sum(A[..., k, k] for k in range(1, A.shape[-1])) + A[..., 0, 0]
