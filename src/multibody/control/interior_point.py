"""An interior-point iteration for small convex quadratic programs, a sample a lane.  [Mehrotra 1992]

    minimise x^T H x / 2 + g^T x   subject to   lower <= C x <= upper

The two sides of a row share C x, and each has a slack s > 0 and a multiplier z > 0. A round solves twice with one
factorization of H + C^T W C, W = z / s of both sides: first for the step towards s z = 0, then, knowing how far that one
went, for the step towards s z = σ μ with the products of the first step's changes taken off.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from multibody.geometry._arrays import matvec, transpose
from multibody.tracing.loop import loop

Array = NDArray[Any]
ROUNDS = 40
"""At most; some 10 to 15 are taken."""
WITHIN = {np.dtype(np.float64): 1e-10, np.dtype(np.float32): 2e-5}
"""When to stop: residuals and the mean of s z, relative to the sizes of what they are made of."""
SHORT = 0.995
"""The share of the way to the nearest bound that a step takes."""
NONE = 1e20
"""A bound that is larger is no bound."""


class Solution(NamedTuple):
    """The least of a quadratic program, and how well it was found."""

    x: Array
    """(..., n)"""
    multipliers: Array
    """(..., m): positive at upper bounds, negative at lower ones; H x + g + C^T multipliers = 0."""
    rounds: Array
    """(...)"""
    residual: Array
    """(...): the largest of the residuals that tell when to stop; 1e-10 and less where it was found."""


class _Side(NamedTuple):
    """Slacks and multipliers of all rows at their lower or at their upper bounds."""

    s: Array
    z: Array


def solve(H: Array, g: Array, C: Array, lower: Array, upper: Array) -> Solution:
    """The x that solves the program; where no x is within the bounds, a compromise, with a large residual.

    Args:
        H: (..., n, n), symmetric and positive definite.
        g: (..., n).
        C: (..., m, n).
        lower: (..., m), -inf where there is no bound.
        upper: (..., m).
    """
    within = WITHIN[np.dtype(g.dtype)]
    there = [np.where(np.abs(bound) < NONE, 1.0, 0.0) for bound in (lower, upper)]
    bounds = [np.where(some > 0, bound, 0.0) for some, bound in zip(there, (lower, upper), strict=True)]
    count = np.maximum(np.sum(there[0] + there[1], axis=-1), 1.0)
    size_g = 1.0 + np.max(np.abs(g), axis=-1)
    size_b = 1.0 + np.max(np.maximum(np.abs(bounds[0]), np.abs(bounds[1])), axis=-1)
    Ct = transpose(C)

    def gaps(x: Array) -> tuple[Array, Array]:
        y = matvec(C, x)
        return y - bounds[0], bounds[1] - y

    def residuals(x: Array, sides: tuple[_Side, _Side]) -> tuple[Array, list[Array], Array]:
        """Of the gradient, of the slacks, and the mean of s z."""
        low, high = sides
        dual = matvec(H, x) + g + matvec(Ct, high.z - low.z)
        primal = [(gap - side.s) * some for gap, side, some in zip(gaps(x), sides, there, strict=True)]
        mean = np.sum(low.s * low.z * there[0] + high.s * high.z * there[1], axis=-1) / count
        return dual, primal, mean

    def worst(carry: Any) -> Array:
        dual, primal, mean = residuals(*_unpack(carry))
        sizes = [np.max(np.abs(dual), axis=-1) / size_g, mean / size_g]
        sizes += [np.max(np.abs(part), axis=-1) / size_b for part in primal]
        return np.max(np.stack(sizes, axis=-1), axis=-1)

    def body(carry: Any) -> Any:
        x, (low, high) = _unpack(carry)
        dual, (p_low, p_high), mean = residuals(x, (low, high))
        w_low, w_high = low.z / low.s * there[0], high.z / high.s * there[1]
        A = H + np.matmul(Ct * (w_low + w_high)[..., None, :], C)

        def direction(c_low: Array, c_high: Array) -> tuple[Array, list[_Side]]:
            """The step for which s z changes by c, and its sides."""
            right = (c_low / low.s - w_low * p_low) * there[0] - (c_high / high.s - w_high * p_high) * there[1]
            dx = np.linalg.solve(A, (matvec(Ct, right) - dual)[..., None])[..., 0]
            dy = matvec(C, dx)
            ds_low, ds_high = (dy + p_low) * there[0], (p_high - dy) * there[1]
            return dx, [
                _Side(ds_low, (c_low - low.z * ds_low) / low.s * there[0]),
                _Side(ds_high, (c_high - high.z * ds_high) / high.s * there[1]),
            ]

        def reach(changes: list[_Side]) -> Array:
            """The longest step of at most 1 that keeps all slacks and multipliers positive."""
            ratios = [-part for now, d in zip((low, high), changes, strict=True) for part in (d.s / now.s, d.z / now.z)]
            return 1.0 / np.maximum(1.0, np.max(np.concatenate(ratios, axis=-1), axis=-1))

        _, straight = direction(-low.s * low.z, -high.s * high.z)
        far = reach(straight)[..., None]
        ahead = [
            (now.s + far * d.s) * (now.z + far * d.z) * some
            for now, d, some in zip((low, high), straight, there, strict=True)
        ]
        share = np.sum(ahead[0] + ahead[1], axis=-1) / count / np.maximum(mean, 1e-300)
        target = (share * share * share * mean)[..., None]
        dx, changes = direction(
            target - low.s * low.z - straight[0].s * straight[0].z,
            target - high.s * high.z - straight[1].s * straight[1].z,
        )
        length = np.minimum(1.0, SHORT * reach(changes) + (1 - SHORT) * far[..., 0] * 0.0)[..., None]
        sides = [(now.s + length * d.s, now.z + length * d.z) for now, d in zip((low, high), changes, strict=True)]
        return x + length * dx, *sides[0], *sides[1]

    x = np.zeros_like(g)
    start: list[Any] = [x]
    for gap, some in zip(gaps(x), there, strict=True):
        start += [
            np.where(some > 0, np.maximum(gap, 0.1 * size_b[..., None]), 1.0),
            some * size_g[..., None] * 0.1 + (1 - some),
        ]
    after, rounds = loop(ROUNDS, body, tuple(start), until=lambda carry: worst(carry) <= within, rounds=True)
    x, (low, high) = _unpack(after)
    return Solution(x, high.z * there[1] - low.z * there[0], rounds, worst(after))


def _unpack(carry: Any) -> tuple[Array, tuple[_Side, _Side]]:
    x, s_low, z_low, s_high, z_high = carry
    return x, (_Side(s_low, z_low), _Side(s_high, z_high))
