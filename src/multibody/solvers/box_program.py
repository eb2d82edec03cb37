"""The quadratic program of one level, a sample a lane, in the rounds of `control.predictor_corrector`.

Rows have the length 1 or less, only the first have two sides, and all sides have bounds: what other programs are asked
for takes no operations here. The start is x = 0, which is within the bounds.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from multibody.solvers.predictor_corrector import Iterate, Program, Sides, Tolerance

Array = NDArray[Any]
ROUNDS = 40
"""At most; some 6 to 10 are taken."""
TOLERANCES = {np.dtype(np.float64): Tolerance(1e-9, 1e-11, 1e-9), np.dtype(np.float32): Tolerance(2e-5, 1e-6, 2e-5)}
SHARPER = 1e-2
"""By what these are less where levels follow: the last round squares what is left, and H, a square, has small
eigenvalues that make more of it."""
APART = 0.01
"""The least slack at the start, beside bounds of 1."""


class Box(NamedTuple):
    """Where rows are to stay: below `upper`, (..., m), and the first of them above `lower`, (..., k), k <= m."""

    lower: Array
    upper: Array


class Minimum(NamedTuple):
    """The end of a program."""

    u: Array
    """(..., n)"""
    pressed: Array
    """(..., m): ones for rows whose multipliers are certainly not zero, else zeros."""
    residual: Array
    """(...): the largest of the conditions of optimality; at most the tolerance, where it was reached."""


def steepness(H: Array, g: Array) -> Array:
    """(...): the size of an objective."""
    diagonal = np.stack([H[..., k, k] for k in range(g.shape[-1])], axis=-1)
    return np.maximum(np.max(np.abs(g), axis=-1), np.max(diagonal, axis=-1))


def per_size(H: Array, g: Array, flat: Array | None) -> Array:
    """(...): by what an objective is multiplied, to be of the size 1."""
    steep = steepness(H, g)
    steep = steep if flat is None else np.maximum(steep, flat)
    return 1.0 / np.where(steep > 0, steep, np.ones_like(steep))


def minimiser(H: Array, g: Array, G: Array, box: Box, skip: Any, flat: Array | None = None, *, sharp: bool) -> Minimum:
    """The u in the box of G u for which u^T H u / 2 + g^T u is least.

    Args:
        H: (..., n, n), symmetric and positive semi-definite.
        g: (..., n).
        G: (..., m, n), of rows of the length 1, or less.
        box: the bounds of G u, none of which zero is beyond.
        skip: (...), truth values: samples whose solution is not wanted, which take no rounds.
        flat: (...): an objective whose size is less is one of this size, as its entries are rounding errors.
        sharp: whether it matters which rows are pressed.
    """
    per = per_size(H, g, flat)
    bounds = np.concatenate([box.upper, -box.lower], axis=-1)
    sides, one = Sides(box.upper.shape[-1], 0, box.lower.shape[-1]), np.ones_like(per)
    program = Program(
        H * per[..., None, None],
        g * per[..., None],
        G,
        sides,
        bounds,
        one,
        _tolerance(np.dtype(g.dtype), sharp=sharp),
        sharp=sharp,
    )
    near = APART * (1.0 + np.max(np.abs(bounds), axis=-1))[..., None]
    s = np.maximum(bounds, near)
    z = near / s
    start = Iterate(np.zeros_like(g), np.zeros_like(box.upper), s, z, program.g + program.pull(z))
    end = program.solved(start, ROUNDS, None, skip)[0]
    none = np.zeros_like(box.upper)
    return Minimum(
        end.x, np.where(program.pressed(end), 1.0 + none, none), program.residual(end, program.tolerance.gap)
    )


def _tolerance(dtype: np.dtype[Any], *, sharp: bool) -> Tolerance:
    """That of a precision; singles have no digits to be sharper with."""
    known = TOLERANCES[dtype]
    return Tolerance(*(SHARPER * part for part in known)) if sharp and dtype == np.float64 else known
