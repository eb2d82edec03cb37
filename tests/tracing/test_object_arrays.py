"""Arrays as everyone writes them: np.array([[...]]) of traced values, in kernels, loops, batches and derivatives."""

from functools import cache

import numpy as np
import pytest

import multibody as mb

from ..every_law import each_case
from ..laws.tools import near


def rotation(a):
    return np.array([[np.cos(a), -np.sin(a)], [np.sin(a), np.cos(a)]])


def skew(x):
    return np.array([[0.0, -x[2], x[1]], [x[2], 0, -x[0]], [-x[1], x[0], 0]])


WRITTEN = {
    "matrix": lambda x: rotation(x[0]),
    "times vector": lambda x: rotation(x[0]) @ x[1:],
    "vector times": lambda x: x[1:] @ rotation(x[0]),
    "times matrix": lambda x: rotation(x[0]) @ rotation(x[1]),
    "times constant": lambda x: (np.eye(2) @ rotation(x[0]), rotation(x[0]) @ np.ones(2), 2.0 * rotation(x[1]) + 1),
    "sums": lambda x: (skew(x) + skew(x).T, skew(x) - np.eye(3), -skew(x), skew(x) ** 2, skew(x) / 3.0),
    "elementary": lambda x: [
        f(np.array([x[0], x[2]]))
        for f in (
            np.sin, np.cos, np.tan, np.arcsin, np.arctan, np.exp, np.log, np.sqrt, np.tanh, np.sinh, np.cosh, np.abs,
            np.square, np.floor, np.ceil, np.rint, np.trunc, np.log1p, np.expm1, np.deg2rad, np.degrees, np.fabs,
        )
    ],
    "two": lambda x: [f(np.array([x[0], x[2]]), np.array([x[1], x[2]])) for f in (np.arctan2, np.hypot, np.fmod)],
    "with traced": lambda x: (np.array([x[0], 1.0, 2]) * x, np.where(x > 0.5, np.array([x[0], 0, 1]), x)),
    "functions": lambda x: (
        np.sum(np.array([x[0], 2.0])), np.dot(np.array([x[0], 1]), np.array([x[1], 2])), np.trace(rotation(x[0])),
        np.cross(np.array([x[0], 0, 1]), np.array([x[1], 1, 0])), np.outer(np.array([x[0], 1]), np.array([x[1], 2])),
        np.linalg.norm(np.array([x[0], x[1]])), np.concatenate([np.array([x[0]]), x]), np.diag(np.array([x[0], 1.0])),
        np.einsum("ij,j->i", rotation(x[0]), x[1:]),
    ),
    "solve": lambda x: np.linalg.solve(np.array([[2.0, x[0]], [x[0], 3.0]]), x[1:]),
    "stacked": lambda x: (np.stack([np.array([x[0], 1]), x[1:]]), np.vstack([x, [1.0, 2, 3]]), np.array([x, 2 * x])),
    "full": lambda x: (np.full(3, x[0]), np.full((2, 3), x), np.array(x), np.asarray(x) + 1.0, np.array(x[0])),
    "masks": lambda x: np.where(np.array([x[0] > 0.5, x[1] > 0.5, True]), x, -x),
    "written": lambda x: filled(np.array([x[0], 0, x[1]]), x),
    "in place": lambda x: doubled(np.array([x[0], 0, x[1]]), x),
    "kernel": lambda x: INNER([x[0], 2.0 * x[1]]) + INNER(np.array([x[0], 1.0])),
    "geometry": lambda x: mb.Rotation.exp(np.array([x[0], 0, x[1]])).matrix @ mb.Rotation.exp([0, x[0], 0]).matrix,
    "loop": lambda x: mb.loop(3, lambda c: np.array([c[0] * 0.5, c[1] + c[0]]), x[:2]),
}  # fmt: skip
INNER = mb.compile(lambda y: y * y[0], 2)
X = np.random.default_rng(1).uniform(0.1, 0.9, (7, 3))


def filled(z, x):
    z[1] = x[2] * 2
    return z


def doubled(z, x):
    z += x
    z *= 2
    return z


def flat(result):
    parts = result if isinstance(result, list | tuple) else [result]
    return [np.asarray(part, dtype=float) for part in parts]


@cache
def of_one_kernel(dtype):
    """The results of all functions, by name."""
    return mb.compile(lambda x: {name: f(x) for name, f in WRITTEN.items()}, 3, dtype=dtype)(X.astype(dtype))


@each_case("name", WRITTEN)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_arrays_of_traced_values(name, dtype):
    computed = flat(of_one_kernel(dtype)[name])
    for batch, *rows in zip(computed, *(flat(WRITTEN[name](row)) for row in X), strict=True):
        near(batch, np.array(rows), 1e-13 if dtype == np.float64 else 2e-5)


def test_derivatives_go_through_arrays_of_traced_values():
    slope = mb.jacobian(lambda a: rotation(a) @ np.array([2.0, a]))
    a = 0.7
    s, c = np.sin(a), np.cos(a)
    near(slope(a), [-2 * s - s - a * c, 2 * c + c - a * s], 1e-14)
    per_sample = mb.gradient(lambda x: np.sum(skew(x) @ x[:, None] ** 2), shapes=[3])
    one = mb.gradient(lambda x: np.sum(skew(x) @ x[:, None] ** 2))
    x = np.random.default_rng(3).normal(size=(4, 3))
    near(per_sample(x), np.stack([one(row) for row in x]), 1e-13)
