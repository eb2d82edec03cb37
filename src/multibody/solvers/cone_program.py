"""A quadratic program of one level with circular cones among its bounds, a sample a lane.

    minimise u^T H u / 2 + g^T u   subject to   G u <= upper, -G u <= -lower for the first rows,
                                                and K u + k in cones, x_0 >= |(x_1, x_2)|, three rows each

The method is that of `whole_body.program`, on symmetric cones [Nesterov and Todd 1997; Andersen, Dahl, Vandenberghe
2003]: a round scales slacks s and multipliers z of a cone by the W with W z = W^-1 s. In a plane, W has the directions
(1, t) / sqrt(2), (1, -t) / sqrt(2) and (0, t'), where t is a unit vector and t' is across it, and stretches them by
a e, a / e and a: along these a cone is three rows with weights of their own.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from multibody.geometry._arrays import matvec, mirror_upper, transpose
from multibody.solvers.box_program import APART, ROUNDS, TOLERANCES, Box, Minimum, per_size
from multibody.solvers.predictor_corrector import AIM, PRESSED, YIELD, Sides, beside, shifted
from multibody.tracing.matrices import linalg
from multibody.tracing.record.loop import loop

Array = NDArray[Any]
HALF = float(np.sqrt(0.5))
SHORT = 0.98
"""The share of the way to the nearest bound that a step takes: nearer to the edge of a cone, steps stay short."""
EDGE = {np.dtype(np.float64): 1e-15, np.dtype(np.float32): 1e-7}
"""How near to its edge a point of a cone may be, as a share of its height: rounding errors are of that size."""


class Cones(NamedTuple):
    """K u + k is in cones: x_0 >= |(x_1, x_2)|."""

    K: Array
    """(..., 3 p, n)"""
    k: Array
    """(..., 3 p)"""

    def scaled(self) -> "Cones":
        """The same, with rows of the length 1 at most."""
        squares = np.sum(_triples(np.sum(self.K * self.K, axis=-1)), axis=-1)
        per = 1.0 / np.sqrt(np.where(squares > 0, squares, np.ones_like(squares)))
        per = np.stack([per[..., j // 3] for j in range(self.k.shape[-1])], axis=-1)
        return Cones(self.K * per[..., None], self.k * per)

    def at(self, x: Array) -> tuple[Array, Array]:
        """(..., p): |(x_1, x_2)| and x_0 of all, at some x."""
        y = _triples(matvec(self.K, x) + self.k)
        return _length(y[..., 1], y[..., 2]), y[..., 0]

    def directions(self, x: Array) -> Array:
        """(..., p, 2): those of (x_1, x_2), at some x."""
        y = _triples(matvec(self.K, x) + self.k)
        return _unit(y[..., 1], y[..., 2])[1]

    def around(self, x: Array, held: "Held | None", Z: Array) -> "Around":
        """Of u from x, which itself is within, along columns of Z; what a level before holds stays as it is.

        A level that presses a force against the edge of its cone leaves it the line through it and the tip, and one
        that presses it against the tip leaves it nothing: other forces would not be as good. [Faces of the cone; with
        them the set has an inside, without which an interior-point method does not converge.]
        """
        y, K = _triples(matvec(self.K, x) + self.k), np.matmul(self.K, Z)
        inner = np.maximum(y[..., 0], _length(y[..., 1], y[..., 2]))
        if held is None:
            k = np.concatenate([inner[..., None], y[..., 1:]], axis=-1)
            return Around(Cones(K, _flat(k)), K[..., :0, :])
        rows, zero = _Turn(held.t, np.ones_like(y)).rows(K), np.zeros_like(inner)
        edge, tip = (flag[..., None] for flag in (np.maximum(held.edge, held.tip), held.tip))
        flags = np.concatenate([tip, edge, edge], axis=-1)
        G = _flat(flags)[..., None] * rows
        first = np.eye(3)[0]  # x_+ of a force on a line, as the height of a cone
        lines = [first[:, None] * rows[..., None, 3 * j, :] for j in range(K.shape[-2] // 3)]
        line = np.concatenate(lines, axis=-2) * _flat(np.concatenate([1.0 - tip] * 3, axis=-1))[..., None]
        on = _flat(np.concatenate([edge, edge, edge], axis=-1))
        height = np.stack([inner + held.tip, zero, zero], axis=-1)
        k = np.concatenate([inner[..., None], y[..., 1:]], axis=-1)
        cones = Cones(np.where(on[..., None] > 0, line, K), np.where(on > 0, _flat(height), _flat(k)))
        return Around(cones, G)


class Held(NamedTuple):
    """Forces that a level has pressed against their cones, which stay there at those after it."""

    t: Array
    """(..., p, 2): the directions of (x_1, x_2)."""
    edge: Array
    """(..., p): ones for those on the edge of their cone."""
    tip: Array
    """(..., p): ones for those at its tip."""

    def with_(self, other: "Held") -> "Held":
        """What is held by two levels, one after the other."""
        t = np.where(self.edge[..., None] > 0, self.t, other.t)
        return Held(t, np.maximum(self.edge, other.edge), np.maximum(self.tip, other.tip))


class Around(NamedTuple):
    """What a program is bounded by, beside rows of its own."""

    cones: Cones
    G: Array
    """(..., m, n): rows that are to stay as they are, or zeros."""


Carry = tuple[Array, Array, Array, Array, Array, Array, Array]
"""What a round improves: u, slacks and multipliers of sides and of cones, the gradient, and the largest residual."""


def minimiser(
    H: Array, g: Array, G: Array, box: Box, cones: Cones, skip: Any, flat: Array | None = None
) -> tuple[Minimum, Array, Array]:
    """The minimum, and ones for cones that are pressed at an edge, and at their tip, (..., p), else zeros.

    Args:
        H: (..., n, n), symmetric and positive semi-definite.
        g: (..., n).
        G: (..., m, n), of rows of the length 1, or less; m may be zero.
        box: their bounds.
        cones: what else holds; rows of some such length, k itself within.
        skip: (...), truth values: samples whose solution is not wanted, which take no rounds.
        flat: (...): as `program.minimiser` has it.
    """
    dtype = np.dtype(g.dtype)
    (within, enough, _), give = TOLERANCES[dtype], YIELD[dtype]
    sides = Sides(box.upper.shape[-1], 0, box.lower.shape[-1])
    count = cones.k.shape[-1] // 3
    per = per_size(H, g, flat)
    H, g, G_T, (K, k) = H * per[..., None, None], g * per[..., None], transpose(G), cones
    bounds = np.concatenate([box.upper, -box.lower], axis=-1)
    degree = bounds.shape[-1] + count
    wide = 1.0 / (1.0 + np.max(np.abs(np.concatenate([bounds, k], axis=-1)), axis=-1))

    def measured(u: Array, s: Array, z: Array, s_c: Array, z_c: Array) -> Carry:
        gradient = matvec(H, u) + g - matvec(transpose(K), z_c)
        gaps = [np.abs(k + matvec(K, u) - s_c)]
        if bounds.shape[-1]:
            gradient = gradient + matvec(G_T, sides.merged(z, -1))
            gaps.append(np.abs(bounds - sides.of(matvec(G, u)) - s))
        gap = np.max(np.concatenate(gaps, axis=-1), axis=-1) * wide
        mean = (np.sum(s * z, axis=-1) + np.sum(s_c * z_c, axis=-1)) * (within / enough / degree)
        residual = np.maximum(np.maximum(np.max(np.abs(gradient), axis=-1), mean), gap)
        return u, s, z, s_c, z_c, gradient, residual

    def improved(at: Carry) -> Carry:
        u, s, z, s_c, z_c, gradient, _ = at
        product, per_s, per_z, relaxed = s * z, 1.0 / s, 1.0 / z, 1.0 / (s + give * z)
        w = z * relaxed
        gap = bounds - sides.of(matvec(G, u)) - s
        turn = _scaling(_triples(s_c), _triples(z_c))
        stretch = turn.stretch
        soft = 1.0 / (stretch * stretch + give)
        rows = turn.rows(K)
        gap_c, at_s = turn.light(_triples(k + matvec(K, u) - s_c)), turn.light(_triples(s_c))
        scaled = turn.light(_triples(z_c)) * stretch
        every = np.concatenate([G, rows], axis=-2)
        weights = np.concatenate([sides.merged(w, 1), _flat(soft)], axis=-1)
        A = mirror_upper(H + np.matmul(transpose(every) * weights[..., None, :], every))
        A = shifted(A, beside(A))

        def direction(
            right: Array, gap: Array | float, change: Array, gap_c: Array | float, push: Array
        ) -> tuple[Array, Array, Array, Array, Array]:
            """Of u, s and z, then of s and z of cones; `push` is W times what W^-1 ds + W dz is to lose."""
            du = linalg.solve(A, right[..., None], definite=True)[..., 0]
            way = gap - sides.of(matvec(G, du))
            dz = change * relaxed - w * way
            way_c = gap_c + _triples(matvec(rows, du))
            dz_c = -soft * (way_c + push)
            return du, way + give * dz, dz, way_c + give * dz_c, dz_c

        def pulled(y: Array, y_c: Array) -> Array:
            pull = -matvec(transpose(rows), _flat(soft * y_c))
            return pull + matvec(G_T, sides.merged(y, -1)) if bounds.shape[-1] else pull

        right = pulled(relaxed * product + w * gap, gap_c + at_s) - gradient
        du, ds, dz, ds_c, dz_c = direction(right, gap, -product, gap_c, at_s)
        by_s, by_z, by_s_c, by_z_c = ds * per_s, dz * per_z, ds_c / stretch, dz_c * stretch
        far = _reach(by_s, by_z, scaled, by_s_c, by_z_c)[..., None]
        mean = np.sum(product, axis=-1) + np.sum(_flat(scaled * scaled), axis=-1)
        left = np.sum((s + far * ds) * (z + far * dz), axis=-1) + np.sum(
            _flat((scaled + far[..., None] * by_s_c) * (scaled + far[..., None] * by_z_c)), axis=-1
        )
        share = left / mean
        aim = np.maximum(share * share * left / degree, AIM * enough)
        change = aim[..., None] - ds * dz
        push = stretch * _divided(scaled, _times(by_s_c, by_z_c), aim[..., None])
        du_2, ds_2, dz_2, ds_c_2, dz_c_2 = direction(pulled(-change * relaxed, push), 0.0, change, 0.0, push)
        du, ds, dz, ds_c, dz_c = du + du_2, ds + ds_2, dz + dz_2, ds_c + ds_c_2, dz_c + dz_c_2
        far = _reach(ds * per_s, dz * per_z, scaled, ds_c / stretch, dz_c * stretch)
        a = (SHORT * far)[..., None]
        step_s, step_z = (turn.back(a[..., None] * x) for x in (ds_c, dz_c))
        return measured(u + a * du, s + a * ds, z + a * dz, s_c + step_s, z_c + step_z)

    least = APART / wide[..., None]
    s = np.maximum(bounds, least)
    s_c = _triples(k)
    more = np.maximum(least - (s_c[..., 0] - _length(s_c[..., 1], s_c[..., 2])), 0.0)
    s_c = np.concatenate([(s_c[..., 0] + more)[..., None], s_c[..., 1:]], axis=-1)
    z_c = np.concatenate([s_c[..., :1], -s_c[..., 1:]], axis=-1) / _square(s_c)[..., None]
    end = loop(
        ROUNDS,
        improved,
        measured(np.zeros_like(g), s, 1.0 / s, _flat(s_c), _flat(z_c)),
        until=lambda at: ~(at[-1] > within) | skip,
    )
    zero, one = np.zeros_like(end[2]), np.ones_like(end[2])
    pressed = np.minimum(sides.merged(np.where(end[2] > PRESSED * end[1], one, zero), 1), 1.0)
    return Minimum(end[0], pressed, end[6]), *_pressed(_triples(end[3]), _triples(end[4]), skip)


def _pressed(s: Array, z: Array, skip: Any) -> tuple[Array, Array]:
    """Ones for cones whose multipliers are certainly not zero: those at an edge, and those at their tip."""
    low, high = (s[..., 0] + sign * _length(s[..., 1], s[..., 2]) for sign in (-1, 1))
    strong, weak = (z[..., 0] + sign * _length(z[..., 1], z[..., 2]) for sign in (1, -1))
    one, zero = np.ones_like(low), np.zeros_like(low)
    edge = np.where(strong > PRESSED * low, one, zero)
    tip = np.where(weak > PRESSED * high, one, zero)
    return np.where(skip[..., None], zero, edge), np.where(skip[..., None], zero, tip)


class _Turn(NamedTuple):
    """The directions in which a scaling stretches cones, and by how much: (1, t), (1, -t) and (0, t')."""

    t: Array
    """(..., p, 2)"""
    stretch: Array
    """(..., p, 3)"""

    def light(self, x: Array) -> Array:
        """(..., p, 3): x along the directions."""
        t, (a, b, c) = self.t, (x[..., j] for j in range(3))
        along, across = t[..., 0] * b + t[..., 1] * c, t[..., 0] * c - t[..., 1] * b
        return np.stack([HALF * (a + along), HALF * (a - along), across], axis=-1)

    def back(self, y: Array) -> Array:
        """(..., 3 p): of what is along the directions."""
        t, along, across = self.t, HALF * (y[..., 0] - y[..., 1]), y[..., 2]
        first, second = t[..., 0] * along - t[..., 1] * across, t[..., 1] * along + t[..., 0] * across
        return _flat(np.stack([HALF * (y[..., 0] + y[..., 1]), first, second], axis=-1))

    def rows(self, K: Array) -> Array:
        """(..., 3 p, n): rows of a matrix along the directions."""
        lines = []
        for j in range(K.shape[-2] // 3):
            a, b, c = (K[..., 3 * j + i, :] for i in range(3))
            x, y = self.t[..., j, 0, None], self.t[..., j, 1, None]
            along, across = x * b + y * c, x * c - y * b
            lines += [HALF * (a + along), HALF * (a - along), across]
        return np.stack(lines, axis=-2)


def _scaling(s: Array, z: Array) -> _Turn:
    """That of Nesterov and Todd, of points within cones, (..., p, 3)."""
    length_s, length_z = np.sqrt(_square(s)), np.sqrt(_square(z))
    s, z = s / length_s[..., None], z / length_z[..., None]
    half = 1.0 / np.sqrt(2.0 * (1.0 + np.sum(s * z, axis=-1)))
    x, y = ((s[..., j] - z[..., j]) * half for j in (1, 2))
    length, t = _unit(x, y)
    size, e = np.sqrt(length_s / length_z), np.sqrt(1.0 + length * length) + length
    return _Turn(t, np.stack([size * e, size / e, size], axis=-1))


def _triples(x: Array) -> Array:
    """(..., p, 3) of (..., 3 p)."""
    return np.stack([x[..., j : j + 3] for j in range(0, x.shape[-1], 3)], axis=-2)


def _flat(x: Array) -> Array:
    """(..., 3 p) of (..., p, 3)."""
    return np.concatenate([x[..., j, :] for j in range(x.shape[-2])], axis=-1)


def _length(x: Array, y: Array) -> Array:
    return np.sqrt(x * x + y * y)


def _unit(x: Array, y: Array) -> tuple[Array, Array]:
    """The length of (x, y), and its direction, (..., 2): the first axis, where it has none."""
    length = _length(x, y)
    some = length > 1e-30
    per = 1.0 / np.where(some, length, np.ones_like(length))
    return length, np.stack([np.where(some, x * per, np.ones_like(x)), y * per], axis=-1)


def _square(x: Array) -> Array:
    """x_0² - x_1² - x_2², which is positive, without cancellation where x is near the edge of its cone."""
    return _between(x[..., 0], _length(x[..., 1], x[..., 2]))


def _between(height: Array, side: Array) -> Array:
    return np.maximum(height - side, EDGE[np.dtype(height.dtype)] * height) * (height + side)


def _times(x: Array, y: Array) -> tuple[Array, Array, Array]:
    """The Jordan product (x . y, x_0 y_1 + y_0 x_1), of what is along the directions of a scaling."""
    (x_0, x_t), (y_0, y_t) = _straight(x), _straight(y)
    return np.sum(x * y, axis=-1), x_0 * y_t + y_0 * x_t, x_0 * y[..., 2] + y_0 * x[..., 2]


def _divided(x: Array, product: tuple[Array, Array, Array], aim: Array) -> Array:
    """The y whose Jordan product with x is the one given, less (aim, 0, 0); along the directions of a scaling."""
    (x_0, x_t), (b_0, b_t, b_n) = _straight(x), product
    b_0, x_n = b_0 - aim, x[..., 2]
    y_0 = (x_0 * b_0 - x_t * b_t - x_n * b_n) / _determinant(x)
    y_t, y_n = (b_t - y_0 * x_t) / x_0, (b_n - y_0 * x_n) / x_0
    return np.stack([HALF * (y_0 + y_t), HALF * (y_0 - y_t), y_n], axis=-1)


def _straight(x: Array) -> tuple[Array, Array]:
    return HALF * (x[..., 0] + x[..., 1]), HALF * (x[..., 0] - x[..., 1])


def _determinant(x: Array) -> Array:
    """x_0² - x_t² - x_n²."""
    x_0, x_t = _straight(x)
    return _between(x_0, _length(x_t, x[..., 2]))


def _reach(by_s: Array, by_z: Array, at: Array, by_s_c: Array, by_z_c: Array) -> Array:
    """The longest step, at most 1, after which no slack and no multiplier is outside."""
    root = np.sqrt(_determinant(at))
    x_0, x_t = (part / root for part in _straight(at))
    x_n = at[..., 2] / root
    ratios = [-by_s, -by_z]
    for d in (by_s_c, by_z_c):
        d_0, d_t = _straight(d)
        first = x_0 * d_0 - x_t * d_t - x_n * d[..., 2]
        share = (first + d_0) / (x_0 + 1.0)
        ratios.append((_length(d_t - share * x_t, d[..., 2] - share * x_n) - first) / root)
    return 1.0 / np.maximum(1.0, np.max(np.concatenate(ratios, axis=-1), axis=-1))
