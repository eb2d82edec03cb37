"""Forward dynamics under constraints, contact forces, impacts, and motion that constraints allow.

M v' + h = τ + J^T f,  J v' + J' v = 0: f is on the robot, as everywhere in this library. RD writes + J^T F on the left
side [RD 3.57], so that its F_c is -f.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from multibody.algorithms._parts import mirrored, own_batch
from multibody.algorithms.constraints.constraint_set import RANK_WITHIN, ConstraintSet
from multibody.algorithms.coriolis import bias
from multibody.algorithms.crba import crba
from multibody.algorithms.forward_dynamics import factors
from multibody.errors import InputError
from multibody.geometry._arrays import choice, dot, eye_like, is_traced, matvec, transpose
from multibody.model import base_velocity, configuration

METHODS = ("least-norm", "exact", "proximal")


class Constrained(NamedTuple):
    """The acceleration (..., nv), and the forces of the constraints (..., rows) on the robot."""

    acceleration: NDArray[Any]
    force: NDArray[Any]


class Impact(NamedTuple):
    """What an impact does."""

    velocity: NDArray[Any]
    """(..., nv) after it."""
    impulse: NDArray[Any]
    """(..., rows) on the robot, in N s."""
    energy_loss: NDArray[Any]
    """(...) in J, not negative."""


def constrained_dynamics(
    constraints: ConstraintSet,
    q: NDArray[Any],
    v: NDArray[Any],
    tau: NDArray[Any],
    *,
    method: str = "least-norm",
    stiffness: float = 0.0,
    damping: float = 0.0,
    active: NDArray[Any] | None = None,
) -> Constrained:
    """The acceleration and the forces when constraints hold.  [RD 3.37, 3.57, 3.59-3.62]

    Args:
        constraints: on the robot.
        q: (..., nq).
        v: (..., nv).
        tau: (..., nv) generalized forces, S^T u of the actuators and any other.
        method: "least-norm" takes redundant constraints too, and gives the smallest forces; "exact" solves with
            J M^-1 J^T, which then must be regular; "proximal" regularises it and refines. The last two can be traced.
        stiffness: of Baumgarte's stabilisation, 1/s²: what J v' + J' v is made, -stiffness error - damping J v.
        damping: in 1/s.
        active: (..., rows) of ones, and zeros for rows that do not hold now: they have no force.
    """
    model = constraints.model
    wanted = -constraints.bias(q, v)
    if stiffness:
        wanted = wanted - stiffness * constraints.error(q)
    # the mass matrix is factored for "left" velocities, where it has the zeros of the tree; so J is for these, too
    J, left_v = constraints.jacobian(q, velocity="left"), base_velocity.to_left(model, q, v)
    if damping:
        wanted = wanted - damping * matvec(J, left_v)
    rest = base_velocity.force_to_left(model, q, tau - bias(model, q, v))
    batch, F = own_batch(q, v, tau), factors(model, q)
    free = F.solve_vector(rest, batch)
    M_inv_J_T = np.stack([F.solve_vector(J[..., r, :], batch) for r in range(constraints.rows)], axis=-1)
    A, b = mirrored(np.matmul(J, M_inv_J_T)), wanted - matvec(J, free)
    if active is not None:  # rows that do not hold become f = 0
        one = eye_like(A, constraints.rows)
        A = A * active[..., :, None] * active[..., None, :] + (1 - active)[..., :, None] * one
        A, b = mirrored(A), b * active
    force = _multipliers(A, b, method)
    force = force if active is None else force * active
    return Constrained(base_velocity.from_left(model, q, free + matvec(M_inv_J_T, force)), force)


def projected_configuration(constraints: ConstraintSet, q: NDArray[Any], rounds: int = 20) -> NDArray[Any]:
    """The nearest configuration without error, by Gauss-Newton steps on the manifold: q for one, (nq,), or a batch.

    Raises:
        InputError: when an error above 1e-9 is left.
    """
    model = constraints.model
    for _ in range(rounds):
        error = constraints.error(q)
        if np.abs(error).max(initial=0.0) < CLOSED:
            return q
        step = matvec(np.linalg.pinv(constraints.jacobian(q), rcond=RANK_WITHIN), error)
        q = configuration.integrate(model, q, -step)
    left = np.abs(constraints.error(q)).max(initial=0.0)
    if not left < 1e-9:
        raise InputError(f"{model.name}: the constraints cannot be met from here, an error of {left:.3g} is left")
    return q


def projected_velocity(constraints: ConstraintSet, q: NDArray[Any], v: NDArray[Any]) -> NDArray[Any]:
    """N_c v, (..., nv): the velocity that constraints leave, nearest in kinetic energy.  [RD 3.63, 3.70]"""
    return matvec(null_space_projector(crba(constraints.model, q), constraints.jacobian(q)), v)


def contact_inertia(M: NDArray[Any], J: NDArray[Any]) -> NDArray[Any]:
    """Λ_c = (J M^-1 J^T)^-1, (..., rows, rows): the inertia that is felt at the constraints.  [RD 3.68]"""
    return np.linalg.inv(np.matmul(J, np.linalg.solve(M, transpose(J))))


def consistent_inverse(M: NDArray[Any], J: NDArray[Any]) -> NDArray[Any]:
    """M^-1 J^T (J M^-1 J^T)^+, (..., nv, rows): the inverse of J that moves the least mass, for redundant rows, too."""
    M_inv_J_T = np.linalg.solve(M, transpose(J))
    return np.matmul(M_inv_J_T, _inverse(np.matmul(J, M_inv_J_T)))


def null_space_projector(M: NDArray[Any], J: NDArray[Any]) -> NDArray[Any]:
    """N_c, (..., nv, nv): dynamically consistent, J N_c = 0, for redundant rows, too.  [RD 3.63]"""
    return eye_like(M, M.shape[-1]) - np.matmul(consistent_inverse(M, J), J)


def projected_equations(
    constraints: ConstraintSet, q: NDArray[Any], v: NDArray[Any], tau: NDArray[Any]
) -> NDArray[Any]:
    """The acceleration by N_c^T (M v' + h) = N_c^T τ with J v' + J' v = 0, without forces.  [RD 3.64-3.65, §3.7.2]"""
    model = constraints.model
    M, J = crba(model, q), constraints.jacobian(q)
    pushed = matvec(transpose(null_space_projector(M, J)), tau - bias(model, q, v))
    return _solve(M, pushed) - matvec(consistent_inverse(M, J), constraints.bias(q, v))


def impact(constraints: ConstraintSet, q: NDArray[Any], v: NDArray[Any], restitution: float = 0.0) -> Impact:
    """A collision that makes J v⁺ = -restitution J v⁻ in no time.  [RD 3.66-3.72, §3.7.3]

    Args:
        constraints: that begin to hold.
        q: (..., nq).
        v: (..., nv) before the impact.
        restitution: from 0, plastic, to 1, without loss.
    """
    M, J = crba(constraints.model, q), constraints.jacobian(q)
    after, impulse = jump(M, J, v, -restitution * matvec(J, v))
    loss = (dot(v, matvec(M, v)) - dot(after, matvec(M, after))) / 2
    return Impact(after, impulse, loss)


def jump(M: NDArray[Any], J: NDArray[Any], v: NDArray[Any], wanted: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """The velocity v⁺ with J v⁺ = wanted, (..., rows), and the smallest impulse P with M (v⁺ - v) = J^T P."""
    M_inv_J_T = np.linalg.solve(M, transpose(J))
    P = matvec(_inverse(np.matmul(J, M_inv_J_T)), wanted - matvec(J, v))
    return v + matvec(M_inv_J_T, P), P


def support_consistent_velocity(
    constraints: ConstraintSet, q: NDArray[Any], task: NDArray[Any], wanted: NDArray[Any]
) -> NDArray[Any]:
    """v = N_c (J_t N_c)^+ w_t, (..., nv): the motion that reaches w_t at a task without moving the support.

    [RD 2.273-2.276, §2.10.5]

    Args:
        constraints: the support.
        q: (..., nq).
        task: J_t, (..., m, nv).
        wanted: w_t, (..., m).
    """
    J = constraints.jacobian(q)
    N = eye_like(J, J.shape[-1]) - np.matmul(np.linalg.pinv(J, rcond=RANK_WITHIN), J)
    return matvec(np.matmul(N, np.linalg.pinv(np.matmul(task, N), rcond=RANK_WITHIN)), wanted)


def _inverse(A: NDArray[Any]) -> NDArray[Any]:
    """The pseudo-inverse of a symmetric A: rows that are others' sums, or only rounding errors, do nothing."""
    values, vectors = np.linalg.eigh((A + transpose(A)) / 2)
    kept = values > np.maximum(RANK_WITHIN * values[..., -1:], NOTHING)
    inverse = np.where(kept, 1 / np.where(kept, values, 1.0), 0.0)
    return np.matmul(vectors * inverse[..., None, :], transpose(vectors))


def _solve(M: NDArray[Any], x: NDArray[Any]) -> NDArray[Any]:
    return np.linalg.solve(M, x[..., None])[..., 0]


def _multipliers(A: NDArray[Any], b: NDArray[Any], method: str) -> NDArray[Any]:
    """f with A f = b for a symmetric A that redundant rows make singular."""
    if choice(method, "method", METHODS) == "least-norm" and not is_traced(A):
        return matvec(_inverse(A), b)
    if method == "exact":
        return _solve(A, b)
    # each round solves with A + μ, and leaves an error that is μ / (μ + λ) of the last at the eigenvalue λ
    mu = PROXIMAL * sum(A[..., k, k] for k in range(A.shape[-1])) / A.shape[-1]
    shifted = A + mu[..., None, None] * eye_like(A, A.shape[-1])
    f = np.zeros_like(b)
    for _ in range(ROUNDS):
        f = f + _solve(shifted, b - matvec(A, f))
    return f


NOTHING = 1e-20
"""Eigenvalues of J M^-1 J^T, in 1/kg, that come from rounding errors of rows that are zero."""
CLOSED = 1e-13
"""The error of position at which a configuration is taken as it is."""
PROXIMAL = 1e-6
"""The regularisation of the proximal method, as a share of the mean of the diagonal."""
ROUNDS = 4
"""How often it refines."""
