"""Sweeps over all contacts and joints, block by block, until impulses agree (block Gauss-Seidel)."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from multibody.simulate.impulses import contact_impulse
from multibody.tracing.loop import loop

REGULAR = 1e-10
"""Of the trace of W: what is added to its blocks, so that directions in which nothing moves have an inverse."""


class Solved(NamedTuple):
    """The impulses, and how far the sweeps went."""

    P: NDArray[Any]
    residual: Any
    sweeps: Any


class System(NamedTuple):
    """u = u0 + W P with three rows for each contact, then one for each joint with bounds."""

    W: NDArray[Any]
    """(n, n)."""
    u: NDArray[Any]
    """(n,): the velocities without impulses."""
    friction: list[Any]
    """μ of each contact."""
    floor: NDArray[Any]
    """(joints,): the least velocities."""
    ceiling: NDArray[Any]
    """(joints,): the largest."""
    dry: NDArray[Any]
    """(joints,): the largest impulses of dry friction."""

    def solve(self, warm: NDArray[Any], most: int, tolerance: float) -> Solved:
        """From the impulses of the last step, until no sweep changes a velocity by more than the tolerance."""
        n, contacts = self.W.shape[-1], len(self.friction)
        inverses = [_inverse(self.W[3 * k : 3 * k + 3, 3 * k : 3 * k + 3]) for k in range(contacts)]

        def sweep(carry: Any) -> Any:
            P, u, _ = carry
            changes: list[Any] = []
            for k in range(contacts):
                at = slice(3 * k, 3 * k + 3)
                own = self.W[at, at]
                new = contact_impulse(own, inverses[k], u[at] - np.matmul(own, P[at]), self.friction[k])
                change = new - P[at]
                u = u + np.matmul(self.W[:, at], change)
                P = np.concatenate([P[: at.start], new, P[at.stop :]])
                changes += [np.abs(change[i]) * own[2, 2] for i in range(3)]
            for j in range(n - 3 * contacts):
                i = 3 * contacts + j
                new = self._joint(j, self.W[i, i], u[i] - self.W[i, i] * P[i])
                change = new - P[i]
                u = u + self.W[:, i] * change
                P = np.concatenate([P[:i], np.reshape(new, (1,)), P[i + 1 :]])
                changes.append(np.abs(change) * self.W[i, i])
            return P, u, np.max(np.stack(changes))

        start = (warm, self.u + np.matmul(self.W, warm), np.inf + 0.0 * warm[0])
        (P, _, residual), rounds = loop(most, sweep, start, until=lambda c: c[2] <= tolerance, rounds=True)
        return Solved(P, residual, rounds)

    def _joint(self, j: int, W: Any, b: Any) -> Any:
        """The impulse of a joint: dry friction as far as it goes, then what the limits ask for."""
        held = np.clip(-b / W, -self.dry[j], self.dry[j])
        u = b + W * held
        return held + (np.minimum(np.maximum(u, self.floor[j]), self.ceiling[j]) - u) / W


def _inverse(W: NDArray[Any]) -> NDArray[Any]:
    """Of a symmetric block (3, 3)."""
    trace = W[0, 0] + W[1, 1] + W[2, 2]
    a, b, c = (W[k, k] + REGULAR * trace for k in range(3))
    d, e, f = W[0, 1], W[0, 2], W[1, 2]
    A, B, C = b * c - f * f, e * f - d * c, d * f - b * e
    scale = 1.0 / (a * A + d * B + e * C)
    rows = [[A, B, C], [B, a * c - e * e, d * e - a * f], [C, d * e - a * f, a * b - d * d]]
    return np.stack([np.stack([x * scale for x in row]) for row in rows])
