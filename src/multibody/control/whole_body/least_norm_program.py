"""The least-norm program of a state at which all levels can be met, as DAQP takes it.

Where all levels can be met, contacts stand still and limits hold, all at once, strict priorities make no difference.
Then x = x_0 + Z w: the orthonormal columns of Z span the null space of all levels, x_0 is the least-norm x that meets
them, and |w| is minimised within the bounds. Forces are affine in w; accelerations and slacks, in x.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from multibody.control.affine import Affine
from multibody.geometry._arrays import Array
from multibody.solvers import daqp
from multibody.solvers.program import Bounds, Program, Rows, residuals

MAX_RESIDUAL = {np.dtype(np.float64): 1e-8, np.dtype(np.float32): 1e-4}
"""The optimality residual up to which DAQP's answer is accepted."""


class LeastNormProgram(NamedTuple):
    """The program of a state, and the maps from its solution to the answer."""

    G: Array
    """(..., m, k): lower <= G w <= upper"""
    lower: Array
    """(..., m), as DAQP has it where there is no bound."""
    upper: Array
    x: Array
    """(..., n, k + 1): Z and x_0, the matrix and the offset of x, a map of w."""
    f: Array
    """(..., rows, k + 1): of the contact forces, maps of w, too."""
    maps: Array
    """(..., m, n + 1): of all that follows from x."""
    known: Array
    """(..., entries): what else the answer needs."""

    @staticmethod
    def of(x: Affine, f: Affine, bounds: Bounds, maps: Sequence[Affine], known: Sequence[Array]) -> "LeastNormProgram":
        """The program of unknowns, forces and bounds of w, and of maps of x."""
        infinite = np.full_like(bounds.upper[..., bounds.lower.shape[-1] :], -daqp.INFINITE_BOUND)
        lower, rows = np.concatenate([bounds.lower, infinite], axis=-1), [_join(part) for part in maps]
        all_maps, all_known = np.concatenate(rows, axis=-2), np.concatenate(known, axis=-1)
        return LeastNormProgram(bounds.C, lower, bounds.upper, _join(x), _join(f), all_maps, all_known)

    def at(self, w: Array) -> tuple[Array, Array, Array]:
        """The unknowns x, the contact forces, and the rows of all maps of x."""
        x = _at(self.x, w)
        return x, _at(self.f, w), _at(self.maps, x)

    def optimality_residuals(self, w: Array, multipliers: Array) -> Array:
        """(..., 3): the residuals of the conditions of optimality."""
        G, none = self.G, self.G[..., :0, :]
        one = np.broadcast_to(np.eye(w.shape[-1], dtype=w.dtype), (*w.shape, w.shape[-1]))
        rows = Rows(none, none[..., 0], G, self.lower, self.upper)
        return residuals(Program(one, np.zeros_like(w), rows), w, multipliers)


def _join(part: Affine) -> Array:
    return np.concatenate([part.matrix, part.offset[..., None]], axis=-1)


def _at(joined: Array, x: Array) -> Array:
    return Affine(joined[..., :-1], joined[..., -1]).at(x)
