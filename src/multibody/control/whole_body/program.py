"""A quadratic program of one level, a sample a lane: an interior-point method with as little as can be in a round.

    minimise u^T H u / 2 + g^T u   subject to   G u <= upper, and -G u <= -lower for the first rows   [Mehrotra 1992]

It is that of `control.interior_point`, for rows of which only the first have two sides, from a start that is near to
the bounds: residuals are carried from round to round, and sides that are not there take no operations.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from multibody.algorithms._parts import mirrored
from multibody.geometry._arrays import matvec, transpose
from multibody.tracing import linalg
from multibody.tracing.loop import loop

Array = NDArray[Any]
ROUNDS = 40
"""At most; some 6 to 10 are taken."""
WITHIN = {np.dtype(np.float64): 1e-9, np.dtype(np.float32): 2e-5}
"""When to stop: residuals of the gradient and of the bounds, relative to the sizes of what they are made of."""
MEAN = {np.dtype(np.float64): 1e-11, np.dtype(np.float32): 1e-6}
"""When to stop: the mean of s z, likewise."""
LITTLE = {np.dtype(np.float64): 1e-8, np.dtype(np.float32): 1e-5}
"""What is beside H, whose largest entry is 1, in the Newton equations: directions that nothing decides stay."""
YIELD = {np.dtype(np.float64): 1e-7, np.dtype(np.float32): 1e-4}
"""What is beside s / z in them, for rows of the length 1."""
SHORT = 0.995
"""The share of the way to the nearest bound that a step takes."""
APART = 0.01
"""The least slack at the start, and the least multiplier, beside bounds and a gradient of 1."""
PRESSED = 1e3
"""How many times its slack a multiplier is that is certainly not zero."""


class Sides(NamedTuple):
    """Where rows are to stay: below `upper`, (..., m), and the first of them above `lower`, (..., k), k <= m."""

    lower: Array
    upper: Array

    def of(self, y: Array) -> Array:
        """(..., m + k): y as all sides have it."""
        return np.concatenate([y, -y[..., : self.lower.shape[-1]]], axis=-1)

    def merged(self, z: Array, sign: int) -> Array:
        """(..., m): what all sides of a row have together, the lower ones with a sign."""
        m, k = self.upper.shape[-1], self.lower.shape[-1]
        return np.concatenate([z[..., :k] + sign * z[..., m:], z[..., k:m]], axis=-1)


Carry = tuple[Array, Array, Array, Array, Array, Array]
"""What a round improves: u, y = G u, slacks and multipliers; the gradient H u + g + G^T z, and the largest residual."""


def minimiser(H: Array, g: Array, G: Array, sides: Sides, skip: Any) -> tuple[Array, Array]:
    """u, (..., n), and ones for rows that press against a bound, (..., m), else zeros.

    Args:
        H: (..., n, n), symmetric and positive semi-definite.
        g: (..., n).
        G: (..., m, n), of rows of the length 1, or less.
        sides: their bounds.
        skip: (...), truth values: samples whose solution is not wanted, which take no rounds.
    """
    dtype = np.dtype(g.dtype)
    within, little, give = WITHIN[dtype], LITTLE[dtype], YIELD[dtype]
    n = g.shape[-1]
    steep = np.maximum(np.max(np.abs(g), axis=-1), np.max(np.stack([H[..., k, k] for k in range(n)], axis=-1), axis=-1))
    steep = 1.0 / np.where(steep > 0, steep, np.ones_like(steep))
    H, g, G_T = H * steep[..., None, None], g * steep[..., None], transpose(G)
    bounds = np.concatenate([sides.upper, -sides.lower], axis=-1)
    count = bounds.shape[-1]
    wide = 1.0 / (1.0 + np.max(np.abs(bounds), axis=-1))

    def measured(u: Array, y: Array, s: Array, z: Array) -> Carry:
        gradient = matvec(H, u) + g + matvec(G_T, sides.merged(z, -1))
        gap = np.max(np.abs(bounds - sides.of(y) - s), axis=-1) * wide
        mean = np.sum(s * z, axis=-1) * (within / MEAN[dtype] / count)
        return u, y, s, z, gradient, np.maximum(np.maximum(np.max(np.abs(gradient), axis=-1), mean), gap)

    def improved(at: Carry) -> Carry:
        u, y, s, z, gradient, _ = at
        gap = bounds - sides.of(y) - s
        product = s * z
        per_s, per_z, relaxed = 1.0 / s, 1.0 / z, 1.0 / (s + give * z)
        w = z * relaxed
        A = mirrored(H + np.matmul(G_T * sides.merged(w, 1)[..., None, :], G)) + little * np.eye(n, dtype=dtype)

        def direction(right: Array, gap: Array | float, change: Array) -> tuple[Array, Array, Array, Array]:
            du = linalg.solve(A, right[..., None], definite=True)[..., 0]
            dy = matvec(G, du)
            way = gap - sides.of(dy)
            dz = change * relaxed - w * way
            return du, dy, way + give * dz, dz

        pull = matvec(G_T, sides.merged(relaxed * product + w * gap, -1))
        du, dy, ds, dz = direction(pull - gradient, gap, -product)
        by_s, by_z = ds * per_s, dz * per_z
        far = _reach(by_s, by_z)[..., None]
        mean = np.sum(product, axis=-1)
        left = np.sum((s + far * ds) * (z + far * dz), axis=-1)
        share = left / mean
        aim = np.maximum(share * share * left / count, 0.1 * MEAN[dtype])
        change = aim[..., None] - ds * dz
        du_2, dy_2, ds_2, dz_2 = direction(-matvec(G_T, sides.merged(change * relaxed, -1)), 0.0, change)
        by_s_2, by_z_2 = ds_2 * per_s, dz_2 * per_z
        whole, some = _reach(by_s + by_s_2, by_z + by_z_2), _reach(by_s + far * by_s_2, by_z + far * by_z_2)
        better = some > 1.01 * whole
        a = (SHORT * np.where(better, some, whole))[..., None]
        b = a * np.where(better[..., None], far, np.ones_like(far))
        return measured(u + a * du + b * du_2, y + a * dy + b * dy_2, s + a * ds + b * ds_2, z + a * dz + b * dz_2)

    u, y = np.zeros_like(g), np.zeros_like(sides.upper)
    s = np.maximum(bounds, APART / wide[..., None])
    z = np.broadcast_to(np.ones_like(wide)[..., None], s.shape) * (1.0 / s)
    end = loop(ROUNDS, improved, measured(u, y, s, z), until=lambda at: ~(at[-1] > within) | skip)
    return end[0], sides.merged(np.where(end[3] > PRESSED * end[2], np.ones_like(s), np.zeros_like(s)), 1)


def _reach(by_s: Array, by_z: Array) -> Array:
    """The longest step, at most 1, after which no slack and no multiplier is negative."""
    return 1.0 / np.maximum(1.0, np.max(np.maximum(-by_s, -by_z), axis=-1))
