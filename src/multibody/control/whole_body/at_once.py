"""What is left to be decided when nothing that is asked for has to yield: one program for one state, by DAQP.

Where all levels can be met, contacts stand still and limits hold, all at once, strict priorities make no difference.
Then x = x_0 + Z w, in which the columns of Z are orthonormal and span what no level decides and x_0 is the least of all
x that meet them, and |w| is to be least within the bounds. Torques, accelerations, forces and slacks are affine in x.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from multibody.control import active_set
from multibody.control.program_phases import Program, Rows, residuals
from multibody.control.whole_body.hierarchy import Bounds, Point
from multibody.control.whole_body.motion import Affine
from multibody.geometry._arrays import matvec

Array = NDArray[Any]
JUDGED_WITHIN = {np.dtype(np.float64): 1e-8, np.dtype(np.float32): 1e-4}
"""Residuals of the conditions of optimality up to which DAQP's answer is one."""


class AtOnce(NamedTuple):
    """The program of a state, and what its solution means."""

    x: Array
    """(..., n): x_0"""
    Z: Array
    """(..., n, k)"""
    G: Array
    """(..., m, k): lower <= G w <= upper"""
    lower: Array
    """(..., m), as DAQP has it where there is no bound."""
    upper: Array
    maps: Array
    """(..., rows, n + 1): matrices and offsets of all that follows from x, one below the other."""
    known: Array
    """(..., entries): what else the answer needs."""

    @staticmethod
    def of(x: Array, point: Point, bounds: Bounds, maps: Sequence[Affine], known: Sequence[Array]) -> "AtOnce":
        """That of a point from which the levels leave some directions, and of its least x."""
        y, count = matvec(bounds.C, x), bounds.lower.shape[-1]
        infinite = np.full_like(bounds.upper[..., count:], -active_set.NONE)
        return AtOnce(
            x,
            point.Z,
            np.matmul(bounds.C, point.Z),
            np.concatenate([bounds.lower - y[..., :count], infinite], axis=-1),
            bounds.upper - y,
            np.concatenate([np.concatenate([m.matrix, m.offset[..., None]], axis=-1) for m in maps], axis=-2),
            np.concatenate(known, axis=-1),
        )

    def at(self, w: Array) -> tuple[Array, Array]:
        """x, and all that follows from it."""
        x = self.x + matvec(self.Z, w)
        return x, matvec(self.maps[..., :-1], x) + self.maps[..., -1]

    def judged(self, w: Array, multipliers: Array) -> Array:
        """(..., 3): how far w is from the conditions of optimality."""
        G, none = self.G, self.G[..., :0, :]
        one = np.broadcast_to(np.eye(w.shape[-1], dtype=w.dtype), (*w.shape, w.shape[-1]))
        rows = Rows(none, none[..., 0], G, self.lower, self.upper)
        return residuals(Program(one, np.zeros_like(w), rows), w, multipliers)
