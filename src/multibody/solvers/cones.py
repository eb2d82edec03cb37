"""Circular (second-order) cones x_0 >= |(x_1, x_2)|: values, faces, and the scaling of Nesterov and Todd.

In a plane, the scaling W of a slack s and a multiplier z has the directions (1, t) / sqrt(2), (1, -t) / sqrt(2) and
(0, t'), where t is a unit vector and t' is perpendicular to it, and stretches them by a e, a / e and a. Along these
directions, a cone is three rows with weights of their own. [Nesterov and Todd 1997]
"""

from typing import NamedTuple

import numpy as np

from multibody.geometry._arrays import Array, matvec, positive_or_one, transpose

ROOT_HALF = float(np.sqrt(0.5))
MIN_EDGE_DISTANCE = {np.dtype(np.float64): 1e-15, np.dtype(np.float32): 1e-7}
"""The least distance of a point to the edge of its cone, relative to its height: rounding errors are of that size."""
ZERO_LENGTH = 1e-30
"""The length up to which a vector in the plane has no direction."""


class Cones(NamedTuple):
    """K u + k is in cones, three rows each: x_0 >= |(x_1, x_2)|."""

    K: Array
    """(..., 3 p, n)"""
    k: Array
    """(..., 3 p)"""

    def normalized(self) -> "Cones":
        """These cones with rows of the length 1 at most."""
        squares = np.sum(triples(np.sum(self.K * self.K, axis=-1)), axis=-1)
        per = np.repeat(1.0 / np.sqrt(positive_or_one(squares)), 3, axis=-1)
        return Cones(self.K * per[..., None], self.k * per)

    def norms_and_heights(self, x: Array) -> tuple[Array, Array]:
        """|(x_1, x_2)| and x_0 of all cones at x, (..., p)."""
        y = triples(matvec(self.K, x) + self.k)
        return norm(y[..., 1], y[..., 2]), y[..., 0]

    def directions(self, x: Array) -> Array:
        """The directions of (x_1, x_2) of all cones at x, (..., p, 2)."""
        y = triples(matvec(self.K, x) + self.k)
        return _norm_and_direction(y[..., 1], y[..., 2])[1]

    def restricted(self, x: Array, active: "ActiveCones | None", Z: Array) -> tuple["Cones", Array]:
        """The cones in u of x + Z u, x itself within, and rows (..., m, n) of u that must vanish, some of them zeros.

        A force that a level before has pressed against the edge of its cone stays on the line through it and the tip,
        and one at the tip stays there, because other forces would be worse for that level. These faces of the cone give
        the feasible set an interior, without which an interior-point method does not converge.
        """
        y, K = triples(matvec(self.K, x) + self.k), np.matmul(self.K, Z)
        inner = np.maximum(y[..., 0], norm(y[..., 1], y[..., 2]))
        k = np.concatenate([inner[..., None], y[..., 1:]], axis=-1)
        if active is None:
            return Cones(K, flatten(k)), K[..., :0, :]
        rows, zero = Scaling(active.t, np.ones_like(y)).rows(K), np.zeros_like(inner)
        edge, tip = (flag[..., None] for flag in (np.maximum(active.edge, active.tip), active.tip))
        flags = np.concatenate([tip, edge, edge], axis=-1)
        fixed = flatten(flags)[..., None] * rows
        first = np.eye(3)[0]  # x_+ of a force on a line, as the height of a cone
        lines = [first[:, None] * rows[..., None, 3 * j, :] for j in range(K.shape[-2] // 3)]
        line = np.concatenate(lines, axis=-2) * np.repeat(1.0 - active.tip, 3, axis=-1)[..., None]
        on = np.repeat(edge[..., 0], 3, axis=-1)
        height = np.stack([inner + active.tip, zero, zero], axis=-1)
        return Cones(np.where(on[..., None] > 0, line, K), np.where(on > 0, flatten(height), flatten(k))), fixed


class ActiveCones(NamedTuple):
    """Forces that levels have pressed against their cones, and that stay there at later levels."""

    t: Array
    """(..., p, 2): the directions of (x_1, x_2)."""
    edge: Array
    """(..., p): ones for forces on the edge of their cone."""
    tip: Array
    """(..., p): ones for forces at the tip."""

    def union(self, other: "ActiveCones") -> "ActiveCones":
        """The forces that this level, or the next one, has pressed against their cones."""
        t = np.where(self.edge[..., None] > 0, self.t, other.t)
        return ActiveCones(t, np.maximum(self.edge, other.edge), np.maximum(self.tip, other.tip))


class Scaling(NamedTuple):
    """The scaling W of cones: its directions (1, t), (1, -t) and (0, t'), and how far it stretches them."""

    t: Array
    """(..., p, 2)"""
    stretch: Array
    """(..., p, 3)"""

    @staticmethod
    def nesterov_todd(s: Array, z: Array) -> "Scaling":
        """The W with W z = W^-1 s, for points s and z within cones, (..., p, 3)."""
        length_s, length_z = np.sqrt(determinant(s)), np.sqrt(determinant(z))
        s, z = s / length_s[..., None], z / length_z[..., None]
        half = 1.0 / np.sqrt(2.0 * (1.0 + np.sum(s * z, axis=-1)))
        x, y = ((s[..., j] - z[..., j]) * half for j in (1, 2))
        length, t = _norm_and_direction(x, y)
        size, e = np.sqrt(length_s / length_z), np.sqrt(1.0 + length * length) + length
        return Scaling(t, np.stack([size * e, size / e, size], axis=-1))

    def components(self, x: Array) -> Array:
        """(..., p, 3): the components of x along the directions."""
        t, (a, b, c) = self.t, (x[..., j] for j in range(3))
        along, across = t[..., 0] * b + t[..., 1] * c, t[..., 0] * c - t[..., 1] * b
        return np.stack([ROOT_HALF * (a + along), ROOT_HALF * (a - along), across], axis=-1)

    def vector(self, y: Array) -> Array:
        """(..., 3 p): the vector with these components, the inverse of `components`."""
        t, along, across = self.t, ROOT_HALF * (y[..., 0] - y[..., 1]), y[..., 2]
        first, second = t[..., 0] * along - t[..., 1] * across, t[..., 1] * along + t[..., 0] * across
        return flatten(np.stack([ROOT_HALF * (y[..., 0] + y[..., 1]), first, second], axis=-1))

    def rows(self, K: Array) -> Array:
        """(..., 3 p, n): the rows of a matrix along the directions."""
        t = self.t[..., None, :, :]
        return transpose(flatten(Scaling(t, t).components(triples(transpose(K)))))


def triples(x: Array) -> Array:
    """(..., p, 3) from (..., 3 p)."""
    return x.reshape(*x.shape[:-1], x.shape[-1] // 3, 3)


def flatten(x: Array) -> Array:
    """(..., 3 p) from (..., p, 3)."""
    return x.reshape(*x.shape[:-2], 3 * x.shape[-2])


def norm(x: Array, y: Array) -> Array:
    """|(x, y)|."""
    return np.sqrt(x * x + y * y)


def _norm_and_direction(x: Array, y: Array) -> tuple[Array, Array]:
    """The length of (x, y), and its direction, (..., 2): the first axis if it has none."""
    length = norm(x, y)
    some = length > ZERO_LENGTH
    per = 1.0 / np.where(some, length, np.ones_like(length))
    return length, np.stack([np.where(some, x * per, np.ones_like(x)), y * per], axis=-1)


def determinant(x: Array) -> Array:
    """x_0² - x_1² - x_2², positive, without cancellation near the edge of the cone."""
    return _difference_of_squares(x[..., 0], norm(x[..., 1], x[..., 2]))


def _difference_of_squares(height: Array, side: Array) -> Array:
    return np.maximum(height - side, MIN_EDGE_DISTANCE[np.dtype(height.dtype)] * height) * (height + side)


# ---- along the directions of a scaling -------------------------------------------------------------------------------


def jordan_quotient(x: Array, c: Array, d: Array, aim: Array) -> Array:
    """The y whose Jordan product with x is that of c and d, (c . d, c_0 d_1 + d_0 c_1), minus (aim, 0, 0)."""
    (x_0, x_t), (c_0, c_t), (d_0, d_t) = (_height_and_radius(part) for part in (x, c, d))
    b_0, x_n = np.sum(c * d, axis=-1) - aim, x[..., 2]
    b_t, b_n = c_0 * d_t + d_0 * c_t, c_0 * d[..., 2] + d_0 * c[..., 2]
    y_0 = (x_0 * b_0 - x_t * b_t - x_n * b_n) / _determinant_of_components(x)
    y_t, y_n = (b_t - y_0 * x_t) / x_0, (b_n - y_0 * x_n) / x_0
    return np.stack([ROOT_HALF * (y_0 + y_t), ROOT_HALF * (y_0 - y_t), y_n], axis=-1)


def step_length(by_s: Array, by_z: Array, at: Array, by_s_c: Array, by_z_c: Array) -> Array:
    """The longest step, at most 1, that keeps slacks and multipliers of rows, and those of cones at `at`, within."""
    root = np.sqrt(_determinant_of_components(at))
    x_0, x_t = (part / root for part in _height_and_radius(at))
    x_n = at[..., 2] / root
    ratios = [-by_s, -by_z]
    for d in (by_s_c, by_z_c):
        d_0, d_t = _height_and_radius(d)
        first = x_0 * d_0 - x_t * d_t - x_n * d[..., 2]
        part = (first + d_0) / (x_0 + 1.0)
        ratios.append((norm(d_t - part * x_t, d[..., 2] - part * x_n) - first) / root)
    return 1.0 / np.maximum(1.0, np.max(np.concatenate(ratios, axis=-1), axis=-1))


def _height_and_radius(x: Array) -> tuple[Array, Array]:
    """x_0, and the part of x along t."""
    return ROOT_HALF * (x[..., 0] + x[..., 1]), ROOT_HALF * (x[..., 0] - x[..., 1])


def _determinant_of_components(x: Array) -> Array:
    x_0, x_t = _height_and_radius(x)
    return _difference_of_squares(x_0, norm(x_t, x[..., 2]))
