"""Projected Gauss-Seidel: sweeps over all contacts and joints, block by block, until impulses agree.

The correction of penetration sweeps over displacements, row by row (`solve_within`).
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from multibody.simulate.contact.one_contact import SMALLEST_DIVISOR, contact_impulse
from multibody.tracing.record.loop import loop

REGULARISATION = {np.dtype(np.float64): 1e-12, np.dtype(np.float32): 1e-6}
"""Regularisation of the blocks of W, relative to their trace, so that immovable directions have an inverse."""
FULL_SWEEPS = 40
"""Sweeps after which updates are under-relaxed, because the iteration may cycle."""
RELAXATION = 0.5
MAX_PENETRATION_SWEEPS = 10


class Impulses(NamedTuple):
    """The impulses of a solve."""

    P: NDArray[Any]
    residual: Any
    sweeps: Any


class ContactSystem(NamedTuple):
    """u = u0 + W P with three rows for each contact, then one for each joint with bounds."""

    W: NDArray[Any]
    """(n, n)."""
    u: NDArray[Any]
    """(n,): the velocities without impulses; those along normals include gaps and bounces."""
    free: NDArray[Any]
    """(n,): the velocities without impulses."""
    friction: list[Any]
    """μ of each contact."""
    floor: NDArray[Any]
    """(joints,): the least velocities."""
    ceiling: NDArray[Any]
    """(joints,): the largest."""
    dry: NDArray[Any]
    """(joints,): the largest impulses of dry friction."""

    def solve(self, warm: NDArray[Any], most: int, tolerance: float) -> Impulses:
        """Sweep from the impulses of the last step until no velocity changes by more than the tolerance."""
        inverses = self.inverses()

        def sweep(carry: Any) -> Any:
            P, u, _, count = carry
            part = np.where(count < FULL_SWEEPS, 1.0, RELAXATION)
            P, u, changes = self.sweep(inverses, P, u, part)
            return P, u, np.max(np.stack(changes)), count + 1.0

        start = (warm, self.u + np.matmul(self.W, warm), np.inf + 0.0 * warm[0], 0.0 * warm[0])
        P, u, residual, count = loop(most, sweep, start, until=lambda c: c[2] <= tolerance)
        return Impulses(self._scaled_to_dissipate(P, u), residual, count)

    def inverses(self) -> list[NDArray[Any]]:
        """The inverses of the contacts' regularised blocks of W."""
        blocks = range(0, 3 * len(self.friction), 3)
        return [_inverse(self.W[k : k + 3, k : k + 3]) for k in blocks]

    def sweep(
        self, inverses: list[NDArray[Any]], P: NDArray[Any], u: NDArray[Any], part: Any, exact: bool = False
    ) -> tuple[NDArray[Any], NDArray[Any], list[Any]]:
        """Impulses and velocities after all blocks in turn, and the change of velocity by each block.

        `exact` sweeps update all blocks at once, and have derivatives.
        """
        contacts, rows, changes = len(self.friction), self.W.shape[-1], []
        starts = [*range(0, 3 * contacts, 3), *range(3 * contacts, rows + 1)]
        for k, at in enumerate(map(slice, starts, starts[1:])):
            own = self.W[at, at]
            b = u[at] - np.matmul(own, P[at])
            if k < contacts:
                change = part * (contact_impulse(own, inverses[k], b, self.friction[k], exact) - P[at])
                new = P[at] + change
            else:
                new = self._joint(k - contacts, own[0], b)
                change = new - P[at]
            u = u if exact else u + np.matmul(self.W[:, at], change)
            P = np.concatenate([P[: at.start], new, P[at.stop :]])
            changes += [np.abs(change[i]) * own[-1, -1] for i in range(len(own))]
        return P, u, changes

    def _scaled_to_dissipate(self, P: NDArray[Any], u: NDArray[Any]) -> NDArray[Any]:
        """Scale impulses so that their work P · (u0 + W P/2) is not positive, in case the sweeps did not converge.

        Scaled impulses stay within their cones; solutions are not changed.
        """
        work, square = np.sum(P * self.free), np.sum(P * (u - self.u))
        scale = np.clip(-2.0 * work / np.maximum(square, SMALLEST_DIVISOR), 0.0, 1.0)
        return np.where(2.0 * work + square > 0.0, scale, 1.0) * P

    def _joint(self, j: int, W: Any, b: Any) -> Any:
        """The impulse of a joint: dry friction up to its bound, then the limits."""
        dry = np.clip(-b / W, -self.dry[j], self.dry[j])
        u = b + W * dry
        return dry + (np.minimum(np.maximum(u, self.floor[j]), self.ceiling[j]) - u) / W


def solve_within(W: NDArray[Any], lower: NDArray[Any], upper: NDArray[Any]) -> NDArray[Any]:
    """(n,): the smallest x, in the metric of W, with lower <= W x <= upper, after a number of sweeps."""

    def sweep(state: Any) -> Any:
        x, moved = state
        for k in range(len(W)):
            without = moved[k] - W[k, k] * x[k]
            new = (np.minimum(np.maximum(without, lower[k]), upper[k]) - without) / W[k, k]
            moved = moved + W[:, k] * (new - x[k])
            x = np.concatenate([x[:k], np.reshape(new, (1,)), x[k + 1 :]])
        return x, moved

    zero = 0.0 * W[:, 0]
    return loop(MAX_PENETRATION_SWEEPS, sweep, (zero, zero))[0]


def _inverse(W: NDArray[Any]) -> NDArray[Any]:
    """The inverse of a regularised symmetric block (3, 3)."""
    trace = W[0, 0] + W[1, 1] + W[2, 2]
    a, b, c = (W[k, k] + REGULARISATION[W.dtype] * trace for k in range(3))
    d, e, f = W[0, 1], W[0, 2], W[1, 2]
    A, B, C = b * c - f * f, e * f - d * c, d * f - b * e
    scale = 1.0 / (a * A + d * B + e * C)
    rows = [[A, B, C], [B, a * c - e * e, d * e - a * f], [C, d * e - a * f, a * b - d * d]]
    return np.stack([np.stack([x * scale for x in row]) for row in rows])
