"""An interior-point method for small convex quadratic programs, a sample a lane.  [Mehrotra 1992]

    minimise x^T H x / 2 + g^T x   subject to   lower <= C x <= upper

Every bound has a slack s > 0 and a multiplier z > 0. A round factors H + C^T W C once, W = z / s of both sides of a
row, and solves with it twice: for the step towards s z = 0, and for its correction, which aims at s z = σ μ and takes
off the products of the first step's changes. The correction is added whole as long as the step can go as far as with a
share of it; else that share is, since whole corrections can turn in circles [Colombo and Gondzio 2008]. Steps have one
length, since H couples what is primal with what is dual.

The Newton equations have a little on both diagonals, as the proximal method of multipliers has it: W stays so small
that H is not lost beside it, and directions that nothing decides stay where they are. The residuals are those of the
program itself, so that the solution is not moved by it.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from multibody.algorithms._parts import mirrored
from multibody.geometry._arrays import matvec, transpose
from multibody.tracing.loop import loop

Array = NDArray[Any]
Carry = tuple[Array, Array, Array]
ROUNDS = 50
"""At most; some 6 to 10 are taken."""
WITHIN = {np.dtype(np.float64): 1e-10, np.dtype(np.float32): 2e-5}
"""When to stop: residuals, relative to the sizes of what they are made of."""
MEAN = {np.dtype(np.float64): 1e-12, np.dtype(np.float32): 1e-6}
"""When to stop: the mean of s z, likewise; where s and z of a row both vanish, each is off by the root of it."""
PROXIMAL = {np.dtype(np.float64): 1e-10, np.dtype(np.float32): 1e-5}
"""What is on the diagonals: beside H as a share of its largest entry; beside 1 / W so that C^T W C is no larger than H
by more than the inverse of it."""
SHORT = 0.995
"""The share of the way to the nearest bound that a step takes."""
BETTER = 1.01
"""By what factor a step must be longer for a smaller share of the correction to be preferred."""
AIM = 0.1
"""The least s z that is aimed at, as a share of what is small enough: smaller slacks would only lose digits."""
APART = 0.01
"""The least slack and multiplier at the start, relative to the sizes of the bounds and of g."""
NONE = 1e20
"""A bound that is larger is no bound."""


class Solution(NamedTuple):
    """The minimiser of a quadratic program, and how well it is met."""

    x: Array
    """(..., n)"""
    multipliers: Array
    """(..., m): positive at upper bounds, negative at lower ones; H x + g + C^T multipliers = 0."""
    rounds: Array
    """(...)"""
    residual: Array
    """(...): the largest of the residuals that tell when to stop."""


def solve(H: Array, g: Array, C: Array, lower: Array, upper: Array, skip: Any = None) -> Solution:
    """The x that solves the program; where no x is within the bounds, a compromise, with a large residual.

    Args:
        H: (..., n, n), symmetric and positive semi-definite; its upper triangle is read.
        g: (..., n).
        C: (..., m, n), m > 0; zeros and ones that are constants cost nothing in a kernel.
        lower: (..., m), -inf where there is no bound.
        upper: (..., m).
        skip: (...), truth values: samples whose solution is not wanted, which take no rounds.
    """
    dtype = np.dtype(g.dtype)
    within, rows, Ct = WITHIN[dtype], C.shape[-2], transpose(C)
    bounds = np.concatenate([-lower, upper], axis=-1)
    there = np.where(np.abs(bounds) < NONE, np.ones_like(bounds), np.zeros_like(bounds))
    bounds = np.where(there > 0, bounds, np.zeros_like(bounds))
    count = np.maximum(np.sum(there, axis=-1), 1.0)
    size_g, size_b = 1.0 + np.max(np.abs(g), axis=-1), 1.0 + np.max(np.abs(bounds), axis=-1)
    largest = np.max(np.stack([H[..., k, k] for k in range(H.shape[-1])], axis=-1), axis=-1)
    little = PROXIMAL[dtype] * np.where(largest > 0, largest, np.ones_like(largest))
    steepest = np.max(np.max(np.abs(C), axis=-1), axis=-1)
    soft = (PROXIMAL[dtype] ** 2 * steepest * steepest / little)[..., None]

    def sides(x: Array) -> Array:
        """(..., 2 m): what the bounds are for, -C x and C x."""
        y = matvec(C, x)
        return np.concatenate([-y, y], axis=-1)

    def pull(z: Array) -> Array:
        """(..., n): its transpose."""
        return matvec(Ct, z[..., rows:] - z[..., :rows])

    def residuals(carry: Carry) -> tuple[Array, Array, Array]:
        """Of the gradient, of the slacks, and the mean of s z."""
        x, s, z = carry
        return matvec(H, x) + g + pull(z), (bounds - sides(x) - s) * there, np.sum(s * z, axis=-1) / count

    def worst(carry: Carry) -> Array:
        dual, primal, mean = residuals(carry)
        gradient = np.maximum(np.max(np.abs(dual), axis=-1), mean * (within / MEAN[dtype])) / size_g
        return np.maximum(gradient, np.max(np.abs(primal), axis=-1) / size_b)

    def stop(carry: Carry) -> Any:
        done = ~(worst(carry) > within)  # NaN is done
        return done if skip is None else done | skip

    def body(carry: Carry) -> Carry:
        x, s, z = carry
        dual, primal, mean = residuals(carry)
        per_s, per_z, relaxed = 1.0 / s, 1.0 / (z + (1.0 - there)), 1.0 / (s + soft * z)
        w = z * relaxed
        A = _normal_matrix(H, C, w[..., :rows] + w[..., rows:], little)

        def direction(right: Array, primal: Array | float, change: Array) -> tuple[Array, Array, Array]:
            """The changes of x, s and z for which s z changes by as much, to first order."""
            dx = np.linalg.solve(A, right[..., None])[..., 0]
            way = (primal - sides(dx)) * there
            dz = change * relaxed - w * way
            return dx, way + soft * dz, dz

        dx, ds, dz = direction(pull(relaxed * z * (s + primal)) - dual, primal, -s * z)
        by_s, by_z = ds * per_s, dz * per_z  # relative to what is there
        far = _reach(by_s, by_z)
        ahead = np.sum((s + far[..., None] * ds) * (z + far[..., None] * dz), axis=-1) / count
        share = ahead / np.maximum(mean, np.finfo(dtype).tiny)
        target = np.maximum(share * share * share * mean, AIM * MEAN[dtype] * size_g)
        change = (target[..., None] - ds * dz) * there
        dx_2, ds_2, dz_2 = direction(-pull(change * relaxed), 0.0, change)
        by_s_2, by_z_2 = ds_2 * per_s, dz_2 * per_z
        length = _reach(by_s + by_s_2, by_z + by_z_2)
        part = np.ones_like(length)
        for smaller in (far, far * far, 0.1 * part):
            other = _reach(by_s + smaller[..., None] * by_s_2, by_z + smaller[..., None] * by_z_2)
            longer = other > BETTER * length
            length, part = np.where(longer, other, length), np.where(longer, smaller, part)
        a = (SHORT * length)[..., None]
        b = a * part[..., None]
        return x + a * dx + b * dx_2, s + a * ds + b * ds_2, z + a * dz + b * dz_2

    start = _start(H, g, C, bounds, there, size_g, size_b, little, sides, pull)
    after, rounds = loop(ROUNDS, body, start, until=stop, rounds=True)
    x, _, z = after
    return Solution(x, z[..., rows:] - z[..., :rows], rounds, worst(after))


def _start(
    H: Array,
    g: Array,
    C: Array,
    bounds: Array,
    there: Array,
    size_g: Array,
    size_b: Array,
    little: Array,
    sides: Any,
    pull: Any,
) -> Carry:
    """Mehrotra's: the least of the program with slacks in the objective, then all s and z moved to be positive."""
    rows = C.shape[-2]
    A = _normal_matrix(H, C, there[..., :rows] + there[..., rows:], little)
    x = np.linalg.solve(A, (pull(bounds) - g)[..., None])[..., 0]
    s = (bounds - sides(x)) * there
    low, high = np.min(s, axis=-1), np.max(s, axis=-1)
    s, z = s - np.minimum(1.5 * low, 0.0)[..., None], np.maximum(1.5 * high, 0.0)[..., None] - s
    s, z = s * there, z * there
    product = np.sum(s * z, axis=-1) / 2
    tiny = np.finfo(np.dtype(g.dtype)).tiny
    more_s = np.maximum(product / np.maximum(np.sum(z, axis=-1), tiny), APART * size_b)
    more_z = np.maximum(product / np.maximum(np.sum(s, axis=-1), tiny), APART * size_g)
    return x, np.where(there > 0, s + more_s[..., None], 1.0), there * (z + more_z[..., None])


def _reach(by_s: Array, by_z: Array) -> Array:
    """The longest step, at most 1, after which no slack and no multiplier is negative."""
    return 1.0 / np.maximum(1.0, np.max(np.maximum(-by_s, -by_z), axis=-1))


def _normal_matrix(H: Array, C: Array, w: Array, little: Array) -> Array:
    """H + C^T diag(w) C and a little on the diagonal, built so that the compiler knows it to be symmetric."""
    A = mirrored(H + np.matmul(transpose(C) * w[..., None, :], C))
    return A + little[..., None, None] * np.eye(H.shape[-1], dtype=H.dtype)
