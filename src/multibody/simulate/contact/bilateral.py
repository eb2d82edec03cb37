"""Equality constraints in a step: loops, gears and points that are held, taken out before contacts are looked at.

Impulses of constraints are found by one factorization, so that contacts and joints see the inverse inertia that
constraints leave: no sweep has to go around a stiff loop. Redundant rows share their impulses: to A = J M^-1 J^T a
little is added, `GIVES` of the mean that a constraint has on the diagonal. No rank is judged: in a loop that lies in a
plane the row across it is zero only as far as the loop is closed.
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
from multibody.simulate.advance import advance
from multibody.tracing.matrices import linalg
from multibody.tracing.record.loop import loop

GIVES = {np.dtype(np.float64): 1e-11, np.dtype(np.float32): 1e-5}
"""By how much rows give way, as a share of their own response; those of contacts that constraints hold already, too."""
MAX_PROJECTIONS = 8
"""Of the closing in positions, at most; each leaves some v dt of an error."""
TIGHT = 0.1
"""Of the depth that contacts may keep: what constraints may."""
MOST = 1.0
"""See `BilateralConstraints.push`."""
NOISE = {np.dtype(np.float64): 1e-13, np.dtype(np.float32): 1e-6}
"""In m or rad: what counts as no error at all."""
CLOSED = 1e-6
"""In m or rad: the error with which a run may start."""
TINY = 1e-30


class PositionProjection:
    """The least ways that take the errors of constraints away, as far as J at a configuration tells."""

    def __init__(
        self, tree: Tree, constraints: Sequence[Constraint], q: NDArray[Any], V: NDArray[Any], ways: NDArray[Any]
    ) -> None:
        """`ways`, (nv, rows), have bases in "left": -ways V^T e takes errors e away."""
        self.tree, self.constraints, self.q, self.V, self.ways = tree, constraints, q, V, ways

    def error(self, q: NDArray[Any]) -> Any:
        """The largest, in m or rad."""
        return np.max(np.abs(rows.error(self.tree, self.constraints, q)))

    def nearer(self, q: NDArray[Any]) -> NDArray[Any]:
        """q moved by the least way; by a tenth of it, or not at all, where errors would grow, as J loses rank there."""
        error = rows.error(self.tree, self.constraints, q)
        way = -matvec(self.ways, matvec(transpose(self.V), error))
        way = base_velocity.from_left(self.tree, self.q, way)
        most, whole, part = self.error(q) + NOISE[q.dtype], advance(self.tree, q, way), advance(self.tree, q, 0.1 * way)
        return np.where(self.error(whole) <= most, whole, np.where(self.error(part) <= most, part, q))

    def closed(self, q: NDArray[Any], within: float) -> NDArray[Any]:
        """q with errors below `within`, of which derivatives want none; velocities know nothing of it."""

        def close(carry: Any) -> Any:
            nearer = self.nearer(carry[0])
            return nearer, self.error(nearer)

        return loop(MAX_PROJECTIONS, close, (q, self.error(q)), until=lambda carry: carry[1] <= within)[0]


def closed(tree: Tree, held: ConstraintSet, q: NDArray[Any], within: float) -> NDArray[Any]:
    """q with errors below `within`, by the least ways in velocities."""
    J = rows.jacobian(with_base(tree, "left"), held.constraints, q)
    V = _whitening(gram(transpose(J)), held.constraints)
    return PositionProjection(tree, held.constraints, q, V, np.matmul(transpose(J), V)).closed(q, within)


class BilateralConstraints:
    """The constraints of a robot at a configuration, and what they do to impulses.

    Impulses are y = L^-T p of M = L^T D L, half solved. Q has columns that are orthonormal under D^-1 and span what
    constraints can exert, so that y - Q Q^T D^-1 y is left of y.
    """

    def __init__(self, tree: Tree, held: ConstraintSet, M: Factors, q: NDArray[Any], v: NDArray[Any], dt: Any) -> None:
        self.tree, self.constraints, self.q, self.dt = tree, held.constraints, q, dt
        J = rows.jacobian(with_base(tree, "left"), self.constraints, q)
        self.half = HalfSolve(M, J, ())
        self.V = _whitening(gram(self.half.Z, self.half.D_inv), self.constraints)
        self.Q = np.matmul(self.half.Z, self.V)
        ways = np.stack([self.half.solve_DL(self.Q[:, k]) for k in range(held.rows)], axis=-1)
        self.closing = PositionProjection(tree, self.constraints, q, self.V, ways)
        """Of positions, in the metric of M."""
        self.before = matvec(transpose(self.V), matvec(J, base_velocity.to_left(tree, q, v)))
        """V^T J v, as long as the part of v, in the metric of M, that constraints forbid in the middle of the step."""

    def push(self, y: NDArray[Any], v: NDArray[Any]) -> NDArray[Any]:
        """Impulses y with those that constraints add: J(q_m) v⁺ + dt/2 J'(v) v = 0.

        That is J v⁺ = 0 at the end of the step, to second order; the velocity before the step was along the
        constraints at its start, so that in the middle both are off by as much: the constraints do no work. Where J
        loses rank, as in a linkage that is flat, dt/2 J' v is no small change of J: there v⁺ gets no more of it than
        `MOST` of what v had.
        """
        bends = rows.bias(self.tree, self.constraints, self.q, v)
        goal = -self.dt / 2 * matvec(transpose(self.V), bends)
        goal = goal * np.minimum(1.0, MOST * _length(self.before) / _length(goal))
        return y + matvec(self.Q, goal - self.before - self._felt(y))

    def remaining(self, Z: NDArray[Any]) -> NDArray[Any]:
        """What constraints leave of rows Z, (nv, n), half solved."""
        return Z - np.matmul(self.Q, np.matmul(transpose(self.Q * self.half.D_inv[:, None]), Z))

    def impulses(self, y: NDArray[Any], after: NDArray[Any]) -> NDArray[Any]:
        """(rows,): those of constraints that change y, half solved, to what it is after them."""
        return matvec(self.V, self._felt(after - y))

    def _felt(self, y: NDArray[Any]) -> NDArray[Any]:
        return matvec(transpose(self.Q), self.half.D_inv * y)


def _whitening(A: NDArray[Any], constraints: Sequence[Constraint]) -> NDArray[Any]:
    """V with V^T A V = 1, for an A with a little more on its diagonal."""
    little, start = [], 0
    for constraint in constraints:
        own = [A[k, k] for k in range(start, start + constraint.rows)]
        mean = sum(own[1:], start=own[0]) / constraint.rows
        little += [GIVES[A.dtype] * mean + TINY] * constraint.rows
        start += constraint.rows
    C = np.linalg.cholesky(A + diagonal(np.stack(little)))
    return transpose(linalg.solve_triangular(C, eye_like(A, start)))


def _length(x: NDArray[Any]) -> Any:
    return np.sqrt(np.sum(x * x) + TINY)


def check_closed(held: ConstraintSet, q: NDArray[Any]) -> None:
    """Refuse to start where constraints are off."""
    if not np.size(q):
        return
    worst = held.worst(q)
    if worst.error > CLOSED:
        raise InputError(
            f"q{at(worst.sample)}: the constraint {worst.row!r} is off by {worst.error:.3g}, expected at most "
            f"{CLOSED:g} at the start; simulator.closed(q) is the nearest configuration that constraints allow"
        )
