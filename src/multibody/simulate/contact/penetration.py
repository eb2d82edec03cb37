"""The correction of penetration, by Gauss-Seidel sweeps over positions. Velocities and kinetic energy stay."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from multibody.simulate.configuration_update import advance
from multibody.simulate.contact.bilateral_constraints import CONSTRAINT_TOLERANCE, MAX_PROJECTIONS
from multibody.simulate.contact.gaps import gaps
from multibody.simulate.contact.gauss_seidel import solve_within
from multibody.simulate.contact.problem import ContactProblem
from multibody.tracing.record.loop import loop

MAX_PASSES = 3
"""Passes over the true gaps: one leaves millimetres at steps of 10 ms."""
STEP_REDUCTION = 0.25
"""The step-length factor after a rejected pass; near-singular legs overshoot."""


def resolve_penetration(
    problem: ContactProblem, q: NDArray[Any], energies: list[Any], limits: list[Any]
) -> tuple[NDArray[Any], list[Any]]:
    """Return q without contacts that are too deep and joints past their limits, by the shortest way in the metric of M.

    And the potential energies there.

    Args:
        problem: the rows, and the constraints, which have the last word.
        q: (nq,), after the step.
        energies: `Midpoint.potential_energies` at q.
        limits: those up to which q is lifted all the way.
    """
    midpoint, scene, pairs, soft = problem.midpoint, problem.midpoint.scene, problem.rigid, problem.compliant
    tree, bounds, constraints, count = midpoint.tree, scene.bounds, midpoint.constraints, len(problem.rigid)
    rows = [soft + 3 * k + 2 for k in range(count)] + [soft + 3 * count + j for j in range(len(bounds.velocities))]
    if not rows:
        q = midpoint.close(q)
        return q, midpoint.potential_energies(q)
    W, Z = problem.W[rows][:, rows], problem.Z[:, rows]

    def violation(q: NDArray[Any]) -> tuple[Any, Any, Any]:
        """The smallest and the largest displacement of each row that is allowed, and the largest violation."""
        at = q[bounds.coordinates]
        lower = np.concatenate([-gaps(tree, pairs, q) if pairs else np.zeros((0,)), bounds.lower - at])
        upper = np.concatenate([np.full(count, np.inf), bounds.upper - at])
        worst = np.max(np.maximum(lower, -upper))
        if constraints is not None:
            worst = np.maximum(worst, constraints.projection.error(q) / CONSTRAINT_TOLERANCE)
        return lower, upper, worst

    def lift(carry: Any) -> Any:
        q, worst, part, energies = carry
        lower, upper, _ = violation(q)
        there = advance(tree, q, part * problem.velocity_change(np.matmul(Z, solve_within(W, lower, upper))))
        if constraints is not None:
            there = constraints.projection.step(there)
        after = violation(there)[2]
        helps = after < worst
        lifted = midpoint.potential_energies(there)
        for energy, limit in zip(lifted, limits, strict=True):
            helps = helps & (energy <= limit)
        pairs = [(there, q), (after, worst), (1.0, STEP_REDUCTION * part), *zip(lifted, energies, strict=True)]
        q, worst, part, *energies = (np.where(helps, new, old) for new, old in pairs)
        return q, worst, part, energies

    worst = violation(q)[2]
    passes = MAX_PASSES if constraints is None else MAX_PROJECTIONS
    start = (q, worst, 1.0 + 0.0 * worst, energies)
    q, _, _, energies = loop(passes, lift, start, until=lambda carry: carry[1] <= scene.depth)
    return q, energies
