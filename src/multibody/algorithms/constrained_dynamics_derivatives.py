"""The derivatives of constrained dynamics, through those of inverse dynamics and of the constraints' rows.

With a and f known, M a + h = τ + J^T f and J a + γ = 0, where γ is J' v and Baumgarte's terms, are differentiated:

    M da - J^T df = dτ - d(M a + h) + d(J^T f)         J da = -(dJ a + dγ)

where d(M a + h) is that of inverse dynamics at a, and the others are taken at constant a and f. Rows can be of any
kind, so their derivatives come from automatic differentiation.
"""

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from multibody.algorithms import least_norm
from multibody.algorithms.baumgarte import constraint_drift
from multibody.algorithms.constrained_dynamics import Response, constrained_dynamics
from multibody.algorithms.constraints.constraint import Constraint
from multibody.algorithms.forward_dynamics_derivatives import coupled_velocities
from multibody.algorithms.mass_matrix_factorization import Factors
from multibody.algorithms.rnea import Wrenches, rnea
from multibody.algorithms.rnea_derivatives import rnea_derivatives
from multibody.algorithms.rows import count, members
from multibody.algorithms.rows import jacobian as stacked
from multibody.algorithms.velocity_blocks import common_batch
from multibody.geometry._arrays import eye_like, floats, matvec, mirror_upper, transpose
from multibody.model import configuration
from multibody.model.tree import Tree
from multibody.tracing.ad.api import jacobian


class ConstrainedDerivatives(NamedTuple):
    """Derivatives of the acceleration, (..., nv, nv), and of the forces, (..., rows, nv), in the tangent space."""

    acceleration_by_q: NDArray[Any]
    acceleration_by_v: NDArray[Any]
    acceleration_by_tau: NDArray[Any]
    """N_c M^-1, symmetric."""
    force_by_q: NDArray[Any]
    force_by_v: NDArray[Any]
    force_by_tau: NDArray[Any]


def constrained_dynamics_derivatives(
    tree: Tree,
    constraints: Iterable[Constraint],
    q: NDArray[Any],
    v: NDArray[Any],
    tau: NDArray[Any],
    wrenches: Wrenches | None = None,
    *,
    method: str = "least-norm",
    baumgarte: Any = None,
    active: Any = None,
) -> ConstrainedDerivatives:
    """The derivatives of `constrained_dynamics`, of the smallest forces too where rows are redundant.  [RD 3.57-3.62]

    Args:
        tree: the robot.
        constraints: on it, a set or a list.
        q: (..., nq).
        v: (..., nv).
        tau: (..., nv).
        wrenches: as in `constrained_dynamics`; constant.
        method: as in `constrained_dynamics`.
        baumgarte: as in `constrained_dynamics`.
        active: as in `constrained_dynamics`.
    """
    constraints = members(constraints, "constrained_dynamics_derivatives")
    options: dict[str, Any] = {"method": method, "baumgarte": baumgarte, "active": active}
    a, f = constrained_dynamics(tree, constraints, q, v, tau, wrenches, **options)
    batch, n = common_batch(a, f), tree.nv
    gains = np.zeros(2, q.dtype) if baumgarte is None else floats(baumgarte, "baumgarte", 2)
    frames, forces = tuple(wrenches or {}), tuple((wrenches or {}).values())
    F = configuration.rate_matrix(tree, q)

    def J(q: Any) -> Any:
        return stacked(tree, constraints, q)

    def unmet_rows(q: Any, v: Any, a: Any, gains: Any) -> Any:
        return matvec(J(q), a) + constraint_drift(tree, constraints, q, v, None if baumgarte is None else gains)

    def push(q: Any, f: Any, *forces: Any) -> Any:
        still = np.zeros((*f.shape[:-1], n), f.dtype)
        outer = rnea(tree, q, still, still, dict(zip(frames, forces, strict=True)), gravity=False) if frames else still
        return matvec(transpose(J(q)), f) - outer

    def by_vectors(function: Any, argument: Any, *args: Any) -> Any:
        return jacobian(function, argument, shapes=[np.shape(x)[-1:] for x in args])(*args)

    def along_q(function: Any, *args: Any) -> Any:
        return np.matmul(by_vectors(function, 0, q, *args), F)

    id_by_q, id_by_v, M = rnea_derivatives(tree, q, v, a)
    factors = Factors({(r, c): M[..., r, c] for r, c in coupled_velocities(tree) if r <= c}, n)

    def solve(X: NDArray[Any]) -> NDArray[Any]:
        return np.stack([factors.solve_vector(X[..., :, k], batch) for k in range(X.shape[-1])], axis=-1)

    response = Response(tree, constraints, q, batch, active, method, factors)
    whole = np.ones(count(constraints), q.dtype) if response.mask is None else response.mask
    half, reduced, expanded = response.half, response.rows.reduced, response.rows.expanded  # J = U R
    A, R_M_inv = least_norm.gram(half.Z, half.D_inv), transpose(half.M_inv_R_T)
    rows_by_q, rows_by_v = (X * whole[..., :, None] for X in by_vectors(unmet_rows, (0, 1), q, v, a, gains))
    identity = np.broadcast_to(eye_like(M, n), (*batch, n, n))
    free = along_q(push, f, *forces) - id_by_q, -id_by_v, identity
    unmet = [np.matmul(R_M_inv, X) for X in free]
    unmet[0], unmet[1] = unmet[0] + reduced(np.matmul(rows_by_q, F)), unmet[1] + reduced(rows_by_v)
    if response.exact:
        A_inv, idle = response.solve_exactly(eye_like(A, A.shape[-1])), 0.0
    else:  # A^+ changes also by what it leaves out: forces without effect, and rows that cannot be met
        A_inv = least_norm.pseudo_inverse(half.Z, half.D_inv)
        x = matvec(transpose(R_M_inv), matvec(A_inv, reduced(f[..., None])[..., 0]))
        y = whole * unmet_rows(q, v, a, gains)
        idle = along_q(lambda q, x: matvec(J(q), x), x) * whole[..., :, None]
        bend = along_q(lambda q, y: matvec(transpose(J(q)), y), y)
        unmet[0] = unmet[0] + np.matmul(A, reduced(idle)) + np.matmul(A_inv, np.matmul(R_M_inv, bend))
    force = [expanded(-np.matmul(A_inv, X)) for X in unmet]
    force[0] = force[0] + idle
    pushed = [np.matmul(transpose(response.R), reduced(df)) for df in force]
    by_q, by_v, by_tau = (solve(X + P) for X, P in zip(free, pushed, strict=True))
    return ConstrainedDerivatives(by_q, by_v, mirror_upper(by_tau), *force)
