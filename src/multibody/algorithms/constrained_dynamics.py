"""Forward dynamics under constraints, contact forces, impacts, and motion that constraints allow.

M v' + h = τ + J^T f,  J v' + J' v = 0: f is on the robot, as everywhere in this library. RD writes + J^T F on the left
side [RD 3.57], so that its F_c is -f.
"""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from multibody.algorithms import least_norm, rows
from multibody.algorithms.change_of_velocity import with_base
from multibody.algorithms.constraints.constraint import RANK_WITHIN, Constraint
from multibody.algorithms.constraints.constraint_set import worst_of
from multibody.algorithms.constraints.independent import independent_rows, own_rows
from multibody.algorithms.coriolis import bias
from multibody.algorithms.crba import crba
from multibody.algorithms.factorization import Factors, HalfSolved
from multibody.algorithms.forward_dynamics import factors
from multibody.algorithms.rnea import Wrenches, rnea
from multibody.algorithms.velocity_blocks import own_batch
from multibody.errors import InputError, SingularityError
from multibody.geometry._arrays import (
    at,
    batch_shape,
    choice,
    dot,
    eye_like,
    first,
    floats,
    is_traced,
    matvec,
    transpose,
)
from multibody.model import base_velocity, configuration
from multibody.model.tree import Tree, expect_tree
from multibody.tracing.matrices import linalg

Constraints = Iterable[Constraint]
METHODS = ("least-norm", "exact")
CLOSED = 1e-13
"""The error of position at which a configuration is taken as it is."""


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
    tree: Tree,
    constraints: Constraints,
    q: NDArray[Any],
    v: NDArray[Any],
    tau: NDArray[Any],
    wrenches: Wrenches | None = None,
    *,
    method: str = "least-norm",
    baumgarte: Any = None,
    active: Any = None,
) -> Constrained:
    """The acceleration and the forces when constraints hold.  [RD 3.37, 3.57, 3.59-3.62]

    The forces are on the robot: RD's F_c [3.57, 3.62] has the opposite sign.

    Args:
        tree: the robot.
        constraints: on it, a set or a list.
        q: (..., nq).
        v: (..., nv).
        tau: (..., nv) generalized forces, S^T u of the actuators and any other.
        wrenches: external ones by the name of a frame, (..., 6), mixed, on the robot, besides those of the constraints.
        method: "least-norm" takes redundant constraints too, and gives the smallest forces; "exact" takes fewer
            operations and needs a regular J M^-1 J^T: with redundant rows the result is not a number, or nonsense.
        baumgarte: (..., 2), stiffness in 1/s² and damping in 1/s: J v' + J' v is made -stiffness error - damping J v.
        active: (..., constraints) or (..., rows) of ones, and zeros for what does not hold now and has no force.
    """
    parts = _held(tree, constraints, "constrained_dynamics")
    held = Response(tree, parts, q, own_batch(q, v, tau, *(wrenches or {}).values()), active, method)
    h = rnea(tree, q, v, np.zeros_like(v), wrenches)
    half = held.half
    free = half.halfway(base_velocity.force_to_left(tree, q, tau - h))
    change = -held.reduced(drift(tree, parts, q, v, baumgarte)) - matvec(transpose(half.Z), half.D_inv * free)
    x = held.force(change)
    return Constrained(base_velocity.from_left(tree, q, half.onward(free + matvec(half.Z, x))), held.expanded(x))


def drift(
    tree: Tree, constraints: Sequence[Constraint], q: NDArray[Any], v: NDArray[Any], baumgarte: Any = None
) -> NDArray[Any]:
    """J' v, and with Baumgarte's terms + stiffness error + damping J v, (..., rows): what J v' has to cancel."""
    total = rows.bias(tree, constraints, q, v)
    if baumgarte is None:
        return total
    gains = gains_of(baumgarte)
    slip = matvec(rows.jacobian(with_base(tree, "left"), constraints, q), base_velocity.to_left(tree, q, v))
    return total + gains[..., :1] * rows.error(tree, constraints, q) + gains[..., 1:] * slip


def gains_of(baumgarte: Any) -> NDArray[Any]:
    """(..., 2), when all are finite and not negative: others drive apart what they should pull together."""
    gains = floats(baumgarte, "baumgarte", 2)
    if is_traced(gains):
        return gains
    if gains.ndim > 1 or not all(0 <= x < np.inf for x in gains.tolist()):  # one pair is quicker in Python
        bad = ~((gains >= 0) & (gains < np.inf))
        if bad.any():
            k = first(bad)
            which = ("stiffness", "damping")[k[-1]]
            raise InputError(f"baumgarte{at(k[:-1])}: expected a finite {which}, not negative, got {gains[k]}")
    return gains


def restitution_of(restitution: Any) -> NDArray[Any]:
    """Numbers of any shape, when all are from 0 to 1."""
    e = floats(restitution, "restitution")
    if not is_traced(e):
        bad = ~((e >= 0) & (e <= 1))
        if bad.any():
            raise InputError(f"restitution{at(first(bad))}: expected 0, plastic, to 1, without loss, got {e[bad][0]}")
    return e


class Response:
    """What forces at constraints do to a robot that is free otherwise; its velocities have bases in "left".

    There the mass matrix has the zeros of the tree, which its factors keep. The rows are R with J = U R, and their
    forces x, with f = U x, where U has orthonormal columns: f is the smallest when x is.
    """

    def __init__(
        self,
        tree: Tree,
        constraints: Sequence[Constraint],
        q: NDArray[Any],
        batch: tuple[int, ...],
        active: Any = None,
        method: str = "least-norm",
    ) -> None:
        self.exact = choice(method, "method", METHODS) == "exact"
        self.mask = None if active is None else rows.mask(constraints, active)
        self.batch = batch if self.mask is None else np.broadcast_shapes(batch, self.mask.shape[:-1])
        self.rows = (own_rows if self.exact else independent_rows)(with_base(tree, "left"), constraints, q, self.mask)
        self.R = self.rows.jacobian
        self.half = HalfSolved(factors(tree, q), self.R, self.batch)

    def reduced(self, x: NDArray[Any]) -> NDArray[Any]:
        """U^T x for x (..., rows), zero at rows that do not hold."""
        return self.rows.reduced((x if self.mask is None else x * self.mask)[..., None])[..., 0]

    def expanded(self, x: NDArray[Any]) -> NDArray[Any]:
        """U x, (..., rows)."""
        return self.rows.expanded(x[..., None])[..., 0]

    def velocity(self, x: NDArray[Any]) -> NDArray[Any]:
        """M^-1 R^T x."""
        return self.half.onward(matvec(self.half.Z, x))

    def force(self, change: NDArray[Any]) -> NDArray[Any]:
        """x with R M^-1 R^T x = change."""
        if not self.exact:
            return least_norm.solution(self.half.Z, change[..., None], self.half.D_inv)[..., 0]
        A = least_norm.gram(self.half.Z, self.half.D_inv)
        if self.mask is None:
            return _solve(A, change)
        idle = (1 - self.mask)[..., :, None] * eye_like(A, A.shape[-1])  # rows that do not hold become f = 0
        return _solve(A + idle, change)


def projected_configuration(tree: Tree, constraints: Constraints, q: NDArray[Any], rounds: int = 20) -> NDArray[Any]:
    """The nearest configuration without error, by Gauss-Newton steps on the manifold: q for one, (nq,), or a batch.

    Raises:
        InputError: when q is no configuration, or an error above 1e-9 is left.
    """
    parts = _held(tree, constraints, "projected_configuration")
    if isinstance(rounds, bool) or not isinstance(rounds, int | np.integer) or rounds < 0:
        raise InputError(f"rounds: expected a whole number >= 0, got {rounds!r}")
    q = configuration.check(tree, q, limits=False)
    for _ in range(rounds):
        error = rows.error(tree, parts, q)
        if np.abs(error).max(initial=0.0) < CLOSED:
            return q
        step = matvec(np.linalg.pinv(rows.jacobian(tree, parts, q), rcond=RANK_WITHIN), error)
        q = configuration.integrate(tree, q, -step)
    if not q.size:
        return q
    worst = worst_of(rows.error(tree, parts, q), rows.names(parts))
    if not worst.error < 1e-9:
        raise InputError(
            f"{tree.name}: the constraints cannot be met from here, an error of {worst.error:.3g} is left in the row "
            f"{worst.row!r}{at(worst.sample)}"
        )
    return q


def projected_velocity(tree: Tree, constraints: Constraints, q: NDArray[Any], v: NDArray[Any]) -> NDArray[Any]:
    """N_c v, (..., nv): the velocity that constraints leave, nearest in kinetic energy.  [RD 3.63, 3.70]"""
    parts = _held(tree, constraints, "projected_velocity")
    q, v = configuration.coordinates(tree, q), configuration.velocities(tree, v)
    batch_shape("projected_velocity, q, v", (q, 1), (v, 1))
    return matvec(null_space_projector(crba(tree, q), rows.jacobian(tree, parts, q)), v)


def contact_inertia(M: NDArray[Any], J: NDArray[Any]) -> NDArray[Any]:
    """Λ_c = (J M^-1 J^T)^+, (..., rows, rows): the inertia that is felt at the constraints.  [RD 3.68]

    For rows that do not repeat each other this is the inverse; for redundant ones, the smallest that says the same.
    """
    M, J = _inertia_and_rows(M, J, "contact_inertia")
    half = _half_solved(M, J)
    return least_norm.pseudo_inverse(half.Z, half.D_inv)


def consistent_inverse(M: NDArray[Any], J: NDArray[Any]) -> NDArray[Any]:
    """M^-1 J^T (J M^-1 J^T)^+, (..., nv, rows): the inverse of J that moves the least mass, for redundant rows, too."""
    M, J = _inertia_and_rows(M, J, "consistent_inverse")
    half = _half_solved(M, J)
    return np.matmul(half.M_inv_R_T, least_norm.pseudo_inverse(half.Z, half.D_inv))


def null_space_projector(M: NDArray[Any], J: NDArray[Any]) -> NDArray[Any]:
    """N_c, (..., nv, nv): dynamically consistent, J N_c = 0, for redundant rows, too.  [RD 3.63]"""
    M, J = _inertia_and_rows(M, J, "null_space_projector")
    return eye_like(M, M.shape[-1]) - np.matmul(consistent_inverse(M, J), J)


def projected_equations(
    tree: Tree, constraints: Constraints, q: NDArray[Any], v: NDArray[Any], tau: NDArray[Any]
) -> NDArray[Any]:
    """The acceleration by N_c^T (M v' + h) = N_c^T τ with J v' + J' v = 0, without forces.  [RD 3.64-3.65, §3.7.2]

    No force is left in them, so that RD's sign of F_c [3.57], opposite to ours, makes no difference.
    """
    parts = _held(tree, constraints, "projected_equations")
    q, v, tau = (
        configuration.coordinates(tree, q),
        configuration.velocities(tree, v),
        configuration.velocities(tree, tau, "tau"),
    )
    batch_shape("projected_equations, q, v, tau", (q, 1), (v, 1), (tau, 1))
    M, J = crba(tree, q), rows.jacobian(tree, parts, q)
    pushed = matvec(transpose(null_space_projector(M, J)), tau - bias(tree, q, v))
    return _solve(M, pushed) - matvec(consistent_inverse(M, J), rows.bias(tree, parts, q, v))


def impact(
    tree: Tree,
    constraints: Constraints,
    q: NDArray[Any],
    v: NDArray[Any],
    restitution: Any = 0.0,
    *,
    active: Any = None,
) -> Impact:
    """A collision that makes J v⁺ = -restitution J v⁻ in no time.  [RD 3.66-3.72, §3.7.3]

    The impulse is on the robot: RD's [3.66-3.69] has the opposite sign, as its F_c has.

    Args:
        tree: the robot.
        constraints: those that begin to hold.
        q: (..., nq).
        v: (..., nv) before the impact.
        restitution: from 0, plastic, to 1, without loss; a number or (..., 1).
        active: (..., constraints) or (..., rows) of ones, and zeros for what has no impact.
    """
    after, impulse, before_slip, after_slip = jump(tree, constraints, q, v, restitution_of(restitution), active)
    loss = -dot(impulse, before_slip + after_slip) / 2
    return Impact(after, impulse, np.where(loss == 0, 0.0, loss)[()])  # not -0.0, where nothing is hit


class Jump(NamedTuple):
    """Velocities after an impact (..., nv), impulses, and slips J v⁻ and J v⁺, each (..., rows)."""

    velocity: NDArray[Any]
    impulse: NDArray[Any]
    before: NDArray[Any]
    after: NDArray[Any]


def jump(
    tree: Tree, constraints: Constraints, q: NDArray[Any], v: NDArray[Any], restitution: Any = 0.0, active: Any = None
) -> Jump:
    """The v⁺ with J v⁺ = -restitution J v⁻, and the smallest impulse P with M (v⁺ - v⁻) = J^T P on the robot."""
    parts = _held(tree, constraints, "impact")
    held, left_v = Response(tree, parts, q, own_batch(q, v), active), base_velocity.to_left(tree, q, v)
    before = held.expanded(matvec(held.R, left_v))
    x = held.force(held.reduced(-(1 + restitution) * before))
    after = left_v + held.velocity(x)
    slip = held.expanded(matvec(held.R, after))
    return Jump(base_velocity.from_left(tree, q, after), held.expanded(x), before, slip)


def support_consistent_velocity(J: NDArray[Any], task: NDArray[Any], wanted: NDArray[Any]) -> NDArray[Any]:
    """v = N_c (J_t N_c)^+ w_t, (..., nv): the motion that reaches w_t at a task without moving the support.

    N_c = I - J_c^+ J_c is symmetric, so that v = B (B^T B)^+ w_t with B = N_c J_t^T.  [RD 2.273-2.276, §2.10.5]

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
    return allowed(np.matmul(B, x))[..., 0]  # once more, for what rounding left


def _held(tree: Tree, constraints: Constraints, where: str) -> tuple[Constraint, ...]:
    expect_tree(tree)
    return rows.members(constraints, where)


def _rows(J: Any, what: str, nv: int | str = "nv") -> NDArray[Any]:
    """Matrices (..., rows, nv), of one row or more."""
    J = floats(J, what)
    if J.ndim < 2 or not J.shape[-2] or nv not in ("nv", J.shape[-1]):
        raise InputError(f"{what}: expected a matrix (..., rows, {nv}), got shape {J.shape}")
    return J


def _inertia_and_rows(M: Any, J: Any, where: str) -> tuple[NDArray[Any], NDArray[Any]]:
    """M, (..., nv, nv), and J, (..., rows, nv), that fit each other."""
    M = floats(M, f"{where}, M")
    if M.ndim < 2 or M.shape[-2] != M.shape[-1]:
        raise InputError(f"{where}, M: expected a mass matrix (..., nv, nv), got shape {M.shape}")
    J = _rows(J, f"{where}, J", M.shape[-1])
    batch_shape(f"{where}, M, J", (M, 2), (J, 2))
    return M, J


def _half_solved(M: NDArray[Any], J: NDArray[Any]) -> HalfSolved:
    n = M.shape[-1]
    with np.errstate(divide="ignore", invalid="ignore"):
        halves = Factors({(r, c): M[..., r, c] for c in range(n) for r in range(c + 1)}, n)
    half = HalfSolved(halves, J, np.broadcast_shapes(M.shape[:-2], J.shape[:-2]))
    if not is_traced(half.D_inv) and np.isinf(half.D_inv).any():
        raise SingularityError(f"M{at(first(np.isinf(half.D_inv))[:-1])}: expected a mass matrix, got a singular one")
    return half


def _solve(M: NDArray[Any], x: NDArray[Any]) -> NDArray[Any]:
    return linalg.solve(M, x[..., None], definite=True)[..., 0]
