"""Lifting out of the ground, in positions alone: velocities know nothing of it, so that it adds no energy of motion."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from multibody.algorithms.energy import potential_energy
from multibody.algorithms.mass_matrix_factorization import HalfSolve
from multibody.model import base_velocity
from multibody.model.tree import Tree
from multibody.simulate.advance import advance
from multibody.simulate.contact.bilateral import PASSES as CLOSING
from multibody.simulate.contact.bilateral import TIGHT, BilateralConstraints
from multibody.simulate.contact.contact_rows import JointRows, Pair, gaps
from multibody.tracing.record.loop import loop

PASSES = 3
"""After each the true gaps are looked at again: one leaves millimetres at steps of 10 ms."""
SHORTER = 0.25
"""Of its way, what the next pass goes after one that did not help: legs that are straight turn far for little."""
SWEEPS = 10


def resolve_penetration(
    tree: Tree,
    pairs: tuple[Pair, ...],
    bounds: JointRows,
    half: HalfSolve,
    Z: NDArray[Any],
    W: NDArray[Any],
    q_m: NDArray[Any],
    q: NDArray[Any],
    depth: float,
    held: BilateralConstraints | None,
    energy: Any = None,
) -> NDArray[Any]:
    """q with no contact deeper than `depth` and no joint past its limits: by the least way, in the metric of M.

    Args:
        tree: the robot.
        pairs: contacts and grounds.
        bounds: joints with limits.
        half: of M at q_m.
        Z: the rows of these pairs and bounds at q_m, half solved, as constraints leave them.
        W: the product of these rows with M^-1 and themselves.
        q_m: where the rows are taken.
        q: (nq,), what is corrected.
        depth: in m.
        held: constraints, which have the last word.
        energy: in J: lifts to a larger potential energy go but a part of their way; None for no bound.
    """
    count, extra = len(pairs), len(bounds.velocities)
    normals = [3 * k + 2 for k in range(count)] + [3 * count + j for j in range(extra)]
    Wn = W[normals][:, normals]
    Zn = Z[:, normals]

    def past(q: NDArray[Any]) -> tuple[Any, Any, Any]:
        """How far each row must move at least, at most, and the largest violation."""
        least: list[Any] = []
        most: list[Any] = []
        if count:
            distances = gaps(tree, pairs, q)
            least += [-distances[k] for k in range(count)]
            most += [np.inf] * count
        for j, k in enumerate(bounds.coordinates):
            least.append(bounds.lower[j] - q[k])
            most.append(bounds.upper[j] - q[k])
        worst = np.max(np.stack([np.maximum(a, -b) for a, b in zip(least, most, strict=True)]))
        return least, most, worst if held is None else np.maximum(worst, held.closing.error(q) / TIGHT)

    def lift(carry: Any) -> Any:
        q, worst, part = carry
        least, most, _ = past(q)

        def sweep(state: Any) -> Any:
            x, moved = state
            for k in range(len(normals)):
                without = moved[k] - Wn[k, k] * x[k]
                new = (np.minimum(np.maximum(without, least[k]), most[k]) - without) / Wn[k, k]
                moved = moved + Wn[:, k] * (new - x[k])
                x = np.concatenate([x[:k], np.reshape(new, (1,)), x[k + 1 :]])
            return x, moved

        zero = 0.0 * Wn[:, 0]
        x, _ = loop(SWEEPS, sweep, (zero, zero))
        way = base_velocity.from_left(tree, q_m, half.solve_DL(np.matmul(Zn, x)))
        there = advance(tree, q, part * way)
        if held is not None:
            there = held.closing.nearer(there)
        after = past(there)[2]
        helps = after < worst
        if energy is not None:
            helps = helps & (potential_energy(tree, there) <= energy)
        return np.where(helps, there, q), np.where(helps, after, worst), np.where(helps, 1.0, SHORTER * part)

    worst = past(q)[2]
    passes = PASSES if held is None else CLOSING
    q, _, _ = loop(passes, lift, (q, worst, 1.0 + 0.0 * worst), until=lambda carry: carry[1] <= depth)
    return q
