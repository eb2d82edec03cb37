"""Forward dynamics under constraints, and their forces.

M v' + h = τ + J^T f,  J v' + J' v = 0: f is on the robot, as everywhere in this library. RD writes + J^T F on the left
side [RD 3.57], so its F_c is -f.
"""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from multibody.algorithms import least_norm, rows
from multibody.algorithms.baumgarte import constraint_drift
from multibody.algorithms.change_of_velocity import with_base
from multibody.algorithms.constraints.constraint import Constraint
from multibody.algorithms.constraints.independent import independent_rows, stack_rows
from multibody.algorithms.forward_dynamics import factors
from multibody.algorithms.mass_matrix_factorization import Factors, HalfSolve
from multibody.algorithms.rnea import Wrenches, rnea
from multibody.algorithms.velocity_blocks import common_batch
from multibody.geometry._arrays import choice, eye_like, matvec, transpose
from multibody.model import base_velocity
from multibody.model.tree import Tree, expect_tree
from multibody.tracing.matrices import linalg

METHODS = ("least-norm", "exact")


class Constrained(NamedTuple):
    """The acceleration (..., nv), and the forces of the constraints (..., rows) on the robot."""

    acceleration: NDArray[Any]
    force: NDArray[Any]


def constrained_dynamics(
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
) -> Constrained:
    """The acceleration, and the forces of constraints.  [RD 3.37, 3.57, 3.59-3.62]

    The forces are on the robot: RD's F_c [3.57, 3.62] has the opposite sign.

    Args:
        tree: the robot.
        constraints: on it, a set or a list.
        q: (..., nq).
        v: (..., nv).
        tau: (..., nv) generalized forces, S^T u of the actuators and any other.
        wrenches: external ones by frame name, (..., 6), mixed, on the robot, in addition to the constraints'.
        method: "least-norm" accepts redundant constraints and returns the smallest forces. "exact" takes fewer
            operations and needs a regular J M^-1 J^T: with redundant rows the result is NaN or meaningless.
        baumgarte: (..., 2), stiffness in 1/s² and damping in 1/s: J v' + J' v = -stiffness error - damping J v.
        active: (..., constraints) or (..., rows) of ones, and zeros for inactive ones, which have no force.
    """
    members = rows.members(constraints, "constrained_dynamics")
    response = Response(
        expect_tree(tree), members, q, common_batch(q, v, tau, *(wrenches or {}).values()), active, method
    )
    h = rnea(tree, q, v, np.zeros_like(v), wrenches)
    half = response.half
    free = half.solve_LT(base_velocity.force_to_left(tree, q, tau - h))
    change = -response.reduced(constraint_drift(tree, members, q, v, baumgarte)) - matvec(
        transpose(half.Z), half.D_inv * free
    )
    x = response.force(change)
    return Constrained(base_velocity.from_left(tree, q, half.solve_DL(free + matvec(half.Z, x))), response.expanded(x))


class Response:
    """The response of a robot to constraint forces, by default for velocities with bases in "left".

    There the mass matrix has the sparsity of the tree, and so have its factors. The rows are R with J = U R. Their
    forces are x with f = U x. U has orthonormal columns, so f is smallest if x is.
    """

    def __init__(
        self,
        tree: Tree,
        constraints: Sequence[Constraint],
        q: NDArray[Any],
        batch: tuple[int, ...],
        active: Any = None,
        method: str = "least-norm",
        mass_factors: Factors | None = None,
    ) -> None:
        """Use the factors of the mass matrix, with rows in the tree's own base representation, if there are some."""
        self.exact = choice(method, "method", METHODS) == "exact"
        self.mask = None if active is None else rows.mask(constraints, active)
        self.batch = batch if self.mask is None else np.broadcast_shapes(batch, self.mask.shape[:-1])
        written = with_base(tree, "left") if mass_factors is None else tree
        self.rows = (stack_rows if self.exact else independent_rows)(written, constraints, q, self.mask)
        self.R = self.rows.jacobian
        self.half = HalfSolve(mass_factors or factors(tree, q), self.R, self.batch)

    def reduced(self, x: NDArray[Any]) -> NDArray[Any]:
        """U^T x for x (..., rows), zero at inactive rows."""
        return self.rows.reduced((x if self.mask is None else x * self.mask)[..., None])[..., 0]

    def expanded(self, x: NDArray[Any]) -> NDArray[Any]:
        """U x, (..., rows)."""
        return self.rows.expanded(x[..., None])[..., 0]

    def velocity(self, x: NDArray[Any]) -> NDArray[Any]:
        """M^-1 R^T x."""
        return self.half.solve_DL(matvec(self.half.Z, x))

    def force(self, change: NDArray[Any]) -> NDArray[Any]:
        """x with R M^-1 R^T x = change."""
        if not self.exact:
            return least_norm.solution(self.half.Z, change[..., None], self.half.D_inv)[..., 0]
        return self.solve_exactly(change[..., None])[..., 0]

    def solve_exactly(self, X: NDArray[Any]) -> NDArray[Any]:
        """(R M^-1 R^T)^-1 X of independent rows; zero at inactive ones if X is."""
        A = least_norm.gram(self.half.Z, self.half.D_inv)
        if self.mask is not None:  # inactive rows become f = 0
            A = A + (1 - self.mask)[..., :, None] * eye_like(A, A.shape[-1])
        return linalg.solve(A, X, definite=True)
