"""Bilateral constraints in a step: loops, gears and fixed points, eliminated before the contacts.

One factorization solves for their impulses, so contacts and joints see the inverse inertia that constraints leave, and
no sweep has to go around a stiff loop. Redundant rows share their impulses, because A = J M^-1 J^T is regularised, by
`REGULARISATION` of each constraint's mean diagonal. No rank is estimated: the row across a planar loop is zero only as
far as the loop is closed.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multibody.algorithms import rows
from multibody.algorithms.change_of_velocity import with_base
from multibody.algorithms.constraints import Constraint, ConstraintSet
from multibody.algorithms.least_norm import gram
from multibody.algorithms.mass_matrix_factorization import Factors, HalfSolve
from multibody.errors import InputError
from multibody.geometry._arrays import at, diagonal, eye_like, matvec, transpose
from multibody.model import base_velocity
from multibody.model.tree import Tree
from multibody.simulate.configuration_update import advance
from multibody.tracing.matrices import linalg
from multibody.tracing.record.loop import loop

REGULARISATION = {np.dtype(np.float64): 1e-11, np.dtype(np.float32): 1e-5}
"""For redundant rows, relative to their diagonal of J M^-1 J^T; also for contact rows that constraints already fix."""
MAX_PROJECTIONS = 8
"""Iterations of the position projection; each leaves about v dt of the error."""
CONSTRAINT_TOLERANCE = 0.1
"""The tolerated error of constraints, relative to the tolerated penetration."""
MAX_CORRECTION = 1.0
"""The largest velocity correction of a step, relative to the forbidden velocity before it."""
ROUND_OFF = {np.dtype(np.float64): 1e-13, np.dtype(np.float32): 1e-6}
"""Errors below this are round-off, in m or rad."""
MAX_START_ERROR = 1e-6
"""The largest error with which a run may start, in m or rad."""
SMALLEST_DIVISOR = 1e-30


class PositionProjection:
    """Minimum-norm position corrections of the constraint errors, with J taken at one configuration."""

    def __init__(
        self, tree: Tree, constraints: Sequence[Constraint], q: NDArray[Any], V: NDArray[Any], ways: NDArray[Any]
    ) -> None:
        """`ways`, (nv, rows), have bases in "left"; -ways V^T e corrects the errors e."""
        self.tree, self.constraints, self.q, self.V, self.ways = tree, constraints, q, V, ways

    def error(self, q: NDArray[Any]) -> Any:
        """The largest error, in m or rad."""
        return np.max(np.abs(rows.error(self.tree, self.constraints, q)))

    def step(self, q: NDArray[Any]) -> NDArray[Any]:
        """Correct q once; a tenth of the way, or not at all, if the error would grow, as it does where J loses rank."""
        error = rows.error(self.tree, self.constraints, q)
        way = -matvec(self.ways, matvec(transpose(self.V), error))
        way = base_velocity.from_left(self.tree, self.q, way)
        limit = self.error(q) + ROUND_OFF[q.dtype]
        whole, part = advance(self.tree, q, way), advance(self.tree, q, 0.1 * way)
        return np.where(self.error(whole) <= limit, whole, np.where(self.error(part) <= limit, part, q))

    def correct(self, q: NDArray[Any], tolerance: float) -> NDArray[Any]:
        """Correct q until its error is below the tolerance; a negative one runs all iterations, as derivatives need."""

        def close(carry: Any) -> Any:
            closer = self.step(carry[0])
            return closer, self.error(closer)

        return loop(MAX_PROJECTIONS, close, (q, self.error(q)), until=lambda carry: carry[1] <= tolerance)[0]


def project_position(tree: Tree, constraints: ConstraintSet, q: NDArray[Any], tolerance: float) -> NDArray[Any]:
    """Correct q until its error is below the tolerance, by the shortest way in the norm of velocities."""
    J = rows.jacobian(with_base(tree, "left"), constraints.constraints, q)
    V = _whitening(gram(transpose(J)), constraints.constraints)
    return PositionProjection(tree, constraints.constraints, q, V, np.matmul(transpose(J), V)).correct(q, tolerance)


class BilateralConstraints:
    """The constraints of a robot at a configuration, as a projection of impulses.

    Impulses are y = L^-T p of M = L^T D L, half solved. Q has columns that are orthonormal under D^-1 and span the
    impulses of constraints, so that y - Q Q^T D^-1 y remains of y.
    """

    def __init__(
        self, tree: Tree, constraints: ConstraintSet, M: Factors, q: NDArray[Any], v: NDArray[Any], dt: Any
    ) -> None:
        self.tree, self.constraints, self.q, self.dt = tree, constraints.constraints, q, dt
        J = rows.jacobian(with_base(tree, "left"), self.constraints, q)
        self.half = HalfSolve(M, J, ())
        self.V = _whitening(gram(self.half.Z, self.half.D_inv), self.constraints)
        self.Q = np.matmul(self.half.Z, self.V)
        self.projection = PositionProjection(tree, self.constraints, q, self.V, self.half.solve_DL_columns(self.Q))
        """The position projection in the metric of M."""
        self.before = matvec(transpose(self.V), matvec(J, base_velocity.to_left(tree, q, v)))
        """V^T J v: its length is that of the forbidden part of v, in the metric of M, at the midpoint."""

    def push(self, y: NDArray[Any], v: NDArray[Any]) -> NDArray[Any]:
        """Add the impulses of constraints to y, so that J(q_m) v⁺ + dt/2 J'(v) v = 0.

        That is J v⁺ = 0 at the end of the step, to second order; the velocity before the step was along the
        constraints at its start, so that in the middle both are off by as much: the constraints do no work. Where J
        loses rank, as in a linkage that is flat, dt/2 J' v is no small change of J: there v⁺ gets at most
        `MAX_CORRECTION` times the forbidden part of v.
        """
        bends = rows.bias(self.tree, self.constraints, self.q, v)
        goal = -self.dt / 2 * matvec(transpose(self.V), bends)
        goal = goal * np.minimum(1.0, MAX_CORRECTION * _length(self.before) / _length(goal))
        return y + matvec(self.Q, goal - self.before - self._response(y))

    def remaining(self, Z: NDArray[Any]) -> NDArray[Any]:
        """(nv, n): the part of half-solved rows Z, (nv, n), that constraints leave."""
        return Z - np.matmul(self.Q, np.matmul(transpose(self.Q * self.half.D_inv[:, None]), Z))

    def impulses(self, y: NDArray[Any], after: NDArray[Any]) -> NDArray[Any]:
        """(rows,): the impulses of constraints between two half-solved impulses."""
        return matvec(self.V, self._response(after - y))

    def _response(self, y: NDArray[Any]) -> NDArray[Any]:
        return matvec(transpose(self.Q), self.half.D_inv * y)


def _whitening(A: NDArray[Any], constraints: Sequence[Constraint]) -> NDArray[Any]:
    """V with V^T A V = 1, for the regularised A."""
    added, start = [], 0
    for constraint in constraints:
        own = [A[k, k] for k in range(start, start + constraint.rows)]
        mean = sum(own[1:], start=own[0]) / constraint.rows
        added += [REGULARISATION[A.dtype] * mean + SMALLEST_DIVISOR] * constraint.rows
        start += constraint.rows
    C = np.linalg.cholesky(A + diagonal(np.stack(added)))
    return transpose(linalg.solve_triangular(C, eye_like(A, start)))


def _length(x: NDArray[Any]) -> Any:
    return np.sqrt(np.sum(x * x) + SMALLEST_DIVISOR)


def check_closed(constraints: ConstraintSet, q: NDArray[Any]) -> None:
    """Refuse a start that violates constraints."""
    if not np.size(q):
        return
    worst = constraints.worst(q)
    if worst.error > MAX_START_ERROR:
        raise InputError(
            f"q{at(worst.sample)}: the constraint {worst.row!r} is off by {worst.error:.3g}, expected at most "
            f"{MAX_START_ERROR:g} at the start; simulator.closed(q) is the nearest configuration that constraints allow"
        )
