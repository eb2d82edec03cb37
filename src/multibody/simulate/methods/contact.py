"""Time stepping with hard unilateral contact and Coulomb friction.  [Kindr §Equations of Motion with Impulses; RD §3.7]

Moreau's midpoint rule: half a step to q_m, where mass matrix, contacts and forces are taken; velocities jump by
M (v⁺ - v) = dt (τ - h) + J^T P; half a step with v⁺. Impulses obey Signorini's condition and Coulomb's law; penetration
is corrected in positions only. docs/decisions/0030 says why.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from multibody.algorithms.energy import kinetic_energy
from multibody.model.tree import Tree
from multibody.simulate.contact.midpoint import Midpoint
from multibody.simulate.contact.problem import ContactProblem, KnownContacts, Law, gravity
from multibody.simulate.contact.scene import Scene
from multibody.simulate.step_forces import StepForces
from multibody.simulate.step_result import StepResult
from multibody.tracing.record.loop import loop

FREE_LIFT = 1e-3
"""The penetration that is corrected even if that raises the potential energy, in m."""
MAX_PREDICTION_ERROR = 5e-2
"""The velocity error from the predicted Coriolis forces above which the step is repeated, in m/s or rad/s."""
SMALLEST_DIVISOR = 1e-30


class Iteration(NamedTuple):
    """One iteration of the step: forces that depend on velocities are those before it, then those of both its ends.

    With p = A(q) v the momentum of a robot in the air, A(q_m) (v⁺ - v) + dt/2 (A'(v) v + A'(v⁺) v⁺) = 0 keeps it,
    through impacts, too; Coriolis forces at one velocity, before or between, do not. Where an impact is not in the
    middle of the step, each velocity has its own fraction of the step.
    """

    predicted: NDArray[Any]
    """(nv,): the velocity after the step at which Coriolis forces are taken."""
    change: NDArray[Any]
    """(nv,): of the velocity."""
    half_solved: tuple[NDArray[Any], ...]
    """(nv,): the impulse of forces, see `ContactProblem.half_solve`."""
    P: NDArray[Any]
    """(rows,)."""
    residual: Any
    sweeps: Any
    delays: NDArray[Any]
    """(rows,): the times of impacts after the middle of the step, in s."""
    fraction_after_impact: Any
    """Of the step."""
    prediction_error: Any
    """In m/s or rad/s: the estimated error of the velocity by Coriolis forces at the predicted one."""


@dataclass(frozen=True, eq=False)
class Solution:
    """The impulses of a step, and the velocities that they leave."""

    iteration: Iteration
    free: NDArray[Any]
    """(rows,): the velocities without impulses."""
    u: NDArray[Any]
    """(rows,): those with impulses, as Signorini's condition counts them."""


@dataclass(frozen=True, eq=False)
class Solver:
    """The iterations of a step: predict the velocity after it, solve for impulses, compare."""

    problem: ContactProblem
    start: tuple[NDArray[Any], ...]
    """The impulse of forces with Coriolis forces before the step, see `ContactProblem.half_solve`."""
    twice_energy: Any
    """Of the motion before the step, in J."""

    @staticmethod
    def solve(problem: ContactProblem, warm: NDArray[Any]) -> Solution:
        """Solve a contact problem from the impulses of the last step."""
        midpoint = problem.midpoint
        tree, q_m, v = midpoint.tree, midpoint.q, midpoint.v
        start, twice = problem.half_solve(v), 2.0 * kinetic_energy(tree, q_m, v)
        solver = Solver(problem, start, np.maximum(twice, SMALLEST_DIVISOR))  # roots have a slope at rest, too
        zero = 0.0 * v[0]
        y = start[-1] + np.matmul(problem.Z, warm)
        predicted = solver.clipped_prediction(problem.velocity_change(y), y)
        first = Iteration(predicted, 0.0 * v, start, warm, zero, zero, 0.0 * warm, 0.5 + zero, zero + np.inf)
        converged = lambda carry: Iteration(*carry).prediction_error <= MAX_PREDICTION_ERROR  # noqa: E731
        last = Iteration(*loop(2, solver.iterate, first, until=converged))
        free = problem.free(last.half_solved[-1])
        system = problem.system(free)
        return Solution(last, free, system.u + np.matmul(system.W, last.P))

    def iterate(self, carry: Any) -> Iteration:
        """The next iteration."""
        last, problem, scene = Iteration(*carry), self.problem, self.problem.midpoint.scene
        ends = zip(self.start, problem.half_solve(last.predicted), strict=True)
        after = last.fraction_after_impact
        half_solved = tuple((1.0 - after) * old + after * new for old, new in ends)
        free = problem.free(half_solved[-1])
        system = problem.system(free)
        impulses = system.converged(last.P) if scene.exact else system.solve(last.P, scene.sweeps, scene.tolerance)
        delays = problem.impact_delays(free)
        y = half_solved[-1] + np.matmul(problem.Z, impulses.P)
        change = problem.velocity_change(y)
        clipped_prediction = self.clipped_prediction(change, y)
        error = self._prediction_error(last.predicted, clipped_prediction)
        part = np.clip(error / MAX_PREDICTION_ERROR - 1.0, 0.0, 1.0)  # so that another iteration begins without a jump
        fraction = self._fraction_after_impact(delays, impulses.P)
        predicted = last.predicted + part * (clipped_prediction - last.predicted)
        return Iteration(predicted, change, half_solved, *impulses, delays, after + part * (fraction - after), error)

    def clipped_prediction(self, change: NDArray[Any], y: NDArray[Any]) -> NDArray[Any]:
        """v with its change, or less of it: links that whirl at rates near 1/dt have no velocity to predict.

        A plastic impact changes v by no more than its own length, in the metric of M.
        """
        limit, length = self.twice_energy, np.sum(self.problem.half.D_inv * y * y)
        scale = np.sqrt(np.where(length > limit, limit / np.maximum(length, SMALLEST_DIVISOR), 1.0))
        return self.problem.midpoint.v + change * scale

    def _prediction_error(self, predicted: NDArray[Any], v: NDArray[Any]) -> Any:
        return self.problem.midpoint.dt * np.sum(np.abs(v - predicted)) * np.sum(np.abs(v) + np.abs(predicted))

    def _fraction_after_impact(self, delays: NDArray[Any], P: NDArray[Any]) -> Any:
        """The mean of all impacts, weighted by their impulses; a half without."""
        normals = [3 * k + 2 for k in range(len(self.problem.contacts))]
        if not normals:
            return 0.5
        push = P[normals]
        total = np.maximum(np.sum(push), SMALLEST_DIVISOR)
        return 0.5 - np.sum(delays[normals] * push) / (self.problem.midpoint.dt * total)


def step(
    scene: Scene,
    surface: tuple[Any, Any] | None,
    forces: StepForces,
    dt: Any,
    t: Any,
    q: NDArray[Any],
    v: NDArray[Any],
    warm: Any,
    bound: Any = None,
    known: KnownContacts | None = None,
    law: Law | None = None,
) -> StepResult:
    """Return the state after a step.

    Args:
        scene: the contacts.
        surface: friction and restitution where they differ from sample to sample, each a number or None.
        forces: of controllers, pushes and joints.
        dt: the step in s.
        t: the time before it in s.
        q: (nq,), before the step.
        v: (nv,), before the step.
        warm: (rows,), the impulses of the last step.
        bound: that of the energy; None for no limit.
        known: the open contacts, if they are known.
        law: that of compliant ground, in place of Signorini's condition.
    """
    midpoint = Midpoint.predict(scene, forces, dt, t, q, v)
    bounded = bound is not None and not scene.exact
    if not scene.rows:
        return _step_without_contacts(midpoint, bound, bounded)
    problem = ContactProblem.assemble(midpoint, surface, known, law)
    solution = Solver.solve(problem, warm)
    drifted = _advance(problem, solution.iteration)
    work = _work(problem, solution) if bounded else None
    q_after = problem.correct_positions(drifted, bound[0] + work + _lift_energy(midpoint.tree) if bounded else None)
    v_after, bound = midpoint.limit_energy(q_after, solution.iteration.change, bound, work)
    return _result(problem, solution, drifted, q_after, v_after, bound)


def _step_without_contacts(midpoint: Midpoint, bound: Any, bounded: bool) -> StepResult:
    change, impulses = midpoint.change_without_contacts()
    q_after = midpoint.close(midpoint.advance(change))
    v_after, bound = midpoint.limit_energy(q_after, change, bound, midpoint.work(change) if bounded else None)
    forces = None if impulses is None else impulses / midpoint.dt
    return StepResult(
        q_after, v_after, midpoint.mean_force(change), midpoint.forces, bound=bound, constraint_forces=forces
    )


def _advance(problem: ContactProblem, last: Iteration) -> NDArray[Any]:
    """(nq,): after the second half of the step, with the penetration that is left."""
    midpoint = problem.midpoint
    late_impulse_displacement = problem.velocity_change(np.matmul(problem.Z, last.delays * last.P))
    q = midpoint.advance(last.change, late_impulse_displacement)
    return q if problem.known is None else midpoint.close(q)


def _work(problem: ContactProblem, solution: Solution) -> Any:
    """The work of forces and of compliant ground, in J."""
    last = solution.iteration
    work = problem.midpoint.work(last.change)
    return work if problem.law is None else work + problem.spring_work(last.P, solution.free)


def _lift_energy(tree: Tree) -> Any:
    return FREE_LIFT * tree.mass * gravity(tree)


def _result(
    problem: ContactProblem, solution: Solution, drifted: NDArray[Any], q: NDArray[Any], v: NDArray[Any], bound: Any
) -> StepResult:
    midpoint, last = problem.midpoint, solution.iteration
    result = StepResult(
        q,
        v,
        midpoint.mean_force(last.change),
        midpoint.forces,
        last.P,
        problem.contact_forces(last.P),
        last.residual,
        last.sweeps,
        bound,
        solution.u,
        drifted,
    )
    if midpoint.constraints is None:
        return result
    forces, all_forces = last.half_solved[0], last.half_solved[-1]
    before, after = forces + np.matmul(problem.half.Z, last.P), all_forces + np.matmul(problem.Z, last.P)
    return result._replace(constraint_forces=midpoint.constraints.impulses(before, after) / midpoint.dt)
