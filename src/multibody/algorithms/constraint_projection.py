"""Projections onto constraints: the configurations, velocities and accelerations that they allow.  [RD 3.63-3.65]"""

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multibody.algorithms import least_norm, rows
from multibody.algorithms.constraints.constraint import RANK_TOLERANCE, Constraint
from multibody.algorithms.constraints.constraint_set import worst_of
from multibody.algorithms.coriolis import bias
from multibody.algorithms.crba import crba
from multibody.algorithms.mass_matrix_factorization import Factors, HalfSolve
from multibody.errors import InputError, SingularityError
from multibody.geometry._arrays import at, batch_shape, eye_like, first, floats, is_traced, matvec, transpose
from multibody.model import check_configuration, configuration
from multibody.model.tree import Tree, expect_tree
from multibody.tracing.matrices import linalg

Constraints = Iterable[Constraint]
CLOSED = 1e-13
"""Position errors below this count as zero."""


def projected_configuration(tree: Tree, constraints: Constraints, q: NDArray[Any], rounds: int = 20) -> NDArray[Any]:
    """The nearest configuration (..., nq) without error, by Gauss-Newton steps on the manifold.

    Raises:
        InputError: if q is no configuration, or an error above 1e-9 remains.
    """
    members = _members(tree, constraints, "projected_configuration")
    if isinstance(rounds, bool) or not isinstance(rounds, int | np.integer) or rounds < 0:
        raise InputError(f"rounds: expected a whole number >= 0, got {rounds!r}")
    q = check_configuration.check(tree, q, limits=False)
    for _ in range(rounds):
        error = rows.error(tree, members, q)
        if np.abs(error).max(initial=0.0) < CLOSED:
            return q
        step = matvec(np.linalg.pinv(rows.jacobian(tree, members, q), rcond=RANK_TOLERANCE), error)
        q = configuration.integrate(tree, q, -step)
    if not q.size:
        return q
    worst = worst_of(rows.error(tree, members, q), rows.names(members))
    if not worst.error < 1e-9:
        raise InputError(
            f"{tree.name}: the constraints cannot be met from here, an error of {worst.error:.3g} is left in the row "
            f"{worst.row!r}{at(worst.sample)}"
        )
    return q


def projected_velocity(tree: Tree, constraints: Constraints, q: NDArray[Any], v: NDArray[Any]) -> NDArray[Any]:
    """N_c v, (..., nv): the allowed velocity nearest in kinetic energy.  [RD 3.63, 3.70]"""
    members = _members(tree, constraints, "projected_velocity")
    q, v = check_configuration.coordinates(tree, q), check_configuration.velocities(tree, v)
    batch_shape("projected_velocity, q, v", (q, 1), (v, 1))
    return matvec(null_space_projector(crba(tree, q), rows.jacobian(tree, members, q)), v)


def contact_inertia(M: NDArray[Any], J: NDArray[Any]) -> NDArray[Any]:
    """Λ_c = (J M^-1 J^T)^+, (..., rows, rows): the inertia at the constraints.  [RD 3.68]

    This is the inverse for independent rows, and the pseudo-inverse for redundant ones.
    """
    half = _half_solve(M, J, "contact_inertia")
    return least_norm.pseudo_inverse(half.Z, half.D_inv)


def consistent_inverse(M: NDArray[Any], J: NDArray[Any]) -> NDArray[Any]:
    """M^-1 J^T (J M^-1 J^T)^+, (..., nv, rows): the dynamically consistent inverse of J, also for redundant rows."""
    half = _half_solve(M, J, "consistent_inverse")
    return np.matmul(half.M_inv_R_T, least_norm.pseudo_inverse(half.Z, half.D_inv))


def null_space_projector(M: NDArray[Any], J: NDArray[Any]) -> NDArray[Any]:
    """N_c, (..., nv, nv): dynamically consistent, J N_c = 0, also for redundant rows.  [RD 3.63]"""
    M, J = _inertia_and_rows(M, J, "null_space_projector")
    return eye_like(M, M.shape[-1]) - np.matmul(consistent_inverse(M, J), J)


def projected_equations(
    tree: Tree, constraints: Constraints, q: NDArray[Any], v: NDArray[Any], tau: NDArray[Any]
) -> NDArray[Any]:
    """The acceleration by N_c^T (M v' + h) = N_c^T τ with J v' + J' v = 0, without forces.  [RD 3.64-3.65, §3.7.2]

    They contain no force, so RD's sign of F_c [3.57], opposite to ours, makes no difference.
    """
    members = _members(tree, constraints, "projected_equations")
    q, v = check_configuration.coordinates(tree, q), check_configuration.velocities(tree, v)
    tau = check_configuration.velocities(tree, tau, "tau")
    batch_shape("projected_equations, q, v, tau", (q, 1), (v, 1), (tau, 1))
    M, J = crba(tree, q), rows.jacobian(tree, members, q)
    generalized_force = matvec(transpose(null_space_projector(M, J)), tau - bias(tree, q, v))
    return linalg.solve(M, generalized_force[..., None], definite=True)[..., 0] - matvec(
        consistent_inverse(M, J), rows.bias(tree, members, q, v)
    )


def support_consistent_velocity(J: NDArray[Any], task: NDArray[Any], wanted: NDArray[Any]) -> NDArray[Any]:
    """v = N_c (J_t N_c)^+ w_t, (..., nv): the velocity with w_t at a task and no motion of the support.

    N_c = I - J_c^+ J_c is symmetric, so v = B (B^T B)^+ w_t with B = N_c J_t^T.  [RD 2.273-2.276, §2.10.5]

    Args:
        J: J_c, (..., rows, nv), of the support.
        task: J_t, (..., m, nv).
        wanted: w_t, (..., m).
    """
    where = "support_consistent_velocity"
    J = _rows(J, f"{where}, J")
    task = _rows(task, f"{where}, task", J.shape[-1])
    wanted = floats(wanted, f"{where}, wanted", task.shape[-2])
    batch_shape(f"{where}, J, task, wanted", (J, 2), (task, 2), (wanted, 1))
    J_T = transpose(J)

    def allowed(X: NDArray[Any]) -> NDArray[Any]:
        return X - np.matmul(J_T, least_norm.solution(J_T, np.matmul(J, X)))

    B = allowed(transpose(task))
    x = least_norm.solution(B, wanted[..., None])
    return allowed(np.matmul(B, x))[..., 0]  # again, for rounding errors


def _members(tree: Tree, constraints: Constraints, where: str) -> tuple[Constraint, ...]:
    expect_tree(tree)
    return rows.members(constraints, where)


def _rows(J: Any, what: str, nv: int | str = "nv") -> NDArray[Any]:
    """Check a matrix (..., rows, nv) with at least one row."""
    J = floats(J, what)
    if J.ndim < 2 or not J.shape[-2] or nv not in ("nv", J.shape[-1]):
        raise InputError(f"{what}: expected a matrix (..., rows, {nv}), got shape {J.shape}")
    return J


def _inertia_and_rows(M: Any, J: Any, where: str) -> tuple[NDArray[Any], NDArray[Any]]:
    """Check that M, (..., nv, nv), and J, (..., rows, nv), fit each other."""
    M = floats(M, f"{where}, M")
    if M.ndim < 2 or M.shape[-2] != M.shape[-1]:
        raise InputError(f"{where}, M: expected a mass matrix (..., nv, nv), got shape {M.shape}")
    J = _rows(J, f"{where}, J", M.shape[-1])
    batch_shape(f"{where}, M, J", (M, 2), (J, 2))
    return M, J


def _half_solve(M: Any, J: Any, where: str) -> HalfSolve:
    M, J = _inertia_and_rows(M, J, where)
    n = M.shape[-1]
    with np.errstate(divide="ignore", invalid="ignore"):
        halves = Factors({(r, c): M[..., r, c] for c in range(n) for r in range(c + 1)}, n)
    half = HalfSolve(halves, J, np.broadcast_shapes(M.shape[:-2], J.shape[:-2]))
    if not is_traced(half.D_inv) and np.isinf(half.D_inv).any():
        raise SingularityError(f"M{at(first(np.isinf(half.D_inv))[:-1])}: expected a mass matrix, got a singular one")
    return half
