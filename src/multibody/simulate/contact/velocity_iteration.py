"""The iterations of a step with contacts: predict the velocity after it, solve for impulses, compare."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from multibody.simulate.contact.impulse_gradient import solve_exact
from multibody.simulate.contact.problem import ContactProblem
from multibody.tracing.record.loop import loop

MAX_PREDICTION_ERROR = 5e-2
"""The velocity error from the predicted Coriolis forces above which the step is repeated, in m/s or rad/s."""
SMALLEST_DIVISOR = 1e-30


class VelocityIteration(NamedTuple):
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
    free: NDArray[Any]
    """(rows,): the velocities without P."""
    fraction_after_impact: Any
    """Of the step."""
    prediction_error: Any
    """In m/s or rad/s: the estimated error of the velocity by Coriolis forces at the predicted one."""


@dataclass(frozen=True, eq=False)
class Solver:
    """The iterations of a step: predict the velocity after it, solve for impulses, compare."""

    problem: ContactProblem
    start: tuple[NDArray[Any], ...]
    """The impulse of forces with Coriolis forces before the step, see `ContactProblem.half_solve`."""
    twice_energy: Any
    """Of the motion before the step, in J."""

    @staticmethod
    def solve(problem: ContactProblem, warm: NDArray[Any]) -> VelocityIteration:
        """Solve a contact problem from the impulses of the last step."""
        midpoint = problem.midpoint
        v, start = midpoint.v, problem.half_solve(midpoint.v)
        energy = np.maximum(midpoint.twice_energy(), SMALLEST_DIVISOR)  # roots have a slope at rest, too
        solver = Solver(problem, start, energy)
        zero = 0.0 * v[0]
        y = start[-1] + np.matmul(problem.Z, warm)
        predicted = solver.clipped_prediction(problem.velocity_change(y), y)
        first = VelocityIteration(predicted, 0.0 * v, start, warm, zero, zero, 0.0 * warm, 0.5 + zero, zero + np.inf)
        return VelocityIteration(*loop(2, solver.iterate, first, until=lambda at: at[-1] <= MAX_PREDICTION_ERROR))

    def iterate(self, carry: Any) -> VelocityIteration:
        """The next iteration."""
        last, problem, scene = VelocityIteration(*carry), self.problem, self.problem.midpoint.scene
        ends = zip(self.start, problem.half_solve(last.predicted), strict=True)
        after = last.fraction_after_impact
        half_solved = tuple((1.0 - after) * old + after * new for old, new in ends)
        free = problem.free(half_solved[-1])
        system, delays = problem.system(free)
        impulses = solve_exact(system, last.P) if scene.exact else system.solve(last.P, scene.sweeps, scene.tolerance)
        y = half_solved[-1] + np.matmul(problem.Z, impulses.P)
        change = problem.velocity_change(y)
        clipped_prediction = self.clipped_prediction(change, y)
        wrong, speeds = np.abs(clipped_prediction - last.predicted), np.abs(clipped_prediction) + np.abs(last.predicted)
        error = problem.midpoint.dt * np.sum(wrong) * np.sum(speeds)
        part = np.clip(error / MAX_PREDICTION_ERROR - 1.0, 0.0, 1.0)  # so that another iteration begins without a jump
        fraction = self._fraction_after_impact(delays, impulses.P)
        predicted = last.predicted + part * (clipped_prediction - last.predicted)
        return VelocityIteration(
            predicted, change, half_solved, *impulses, free, after + part * (fraction - after), error
        )

    def clipped_prediction(self, change: NDArray[Any], y: NDArray[Any]) -> NDArray[Any]:
        """v with its change, or less of it: links that whirl at rates near 1/dt have no velocity to predict.

        A plastic impact changes v by no more than its own length, in the metric of M.
        """
        limit, length = self.twice_energy, np.sum(self.problem.half.D_inv * y * y)
        scale = np.sqrt(np.where(length > limit, limit / np.maximum(length, SMALLEST_DIVISOR), 1.0))
        return self.problem.midpoint.v + change * scale

    def _fraction_after_impact(self, delays: NDArray[Any], P: NDArray[Any]) -> Any:
        """The mean of all impacts, weighted by their impulses; a half without."""
        normals = [3 * k + 2 for k in range(len(self.problem.contacts))]
        if not normals:
            return 0.5
        push = P[normals]
        total = np.maximum(np.sum(push), SMALLEST_DIVISOR)
        return 0.5 - np.sum(delays[normals] * push) / (self.problem.midpoint.dt * total)
