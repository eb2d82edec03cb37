"""What is left to be decided when nothing that is asked for has to yield: one program for one state, by DAQP.

Where all levels can be met, contacts stand still and limits hold, all at once, strict priorities make no difference.
Then x = x_0 + Z w, in which the columns of Z are orthonormal and span what no level decides and x_0 is the least of all
x that meet them, and |w| is to be least within the bounds. Forces are affine in w; accelerations and slacks, in x.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from multibody.control import active_set
from multibody.control.program_phases import Program, Rows, residuals
from multibody.control.whole_body.hierarchy import Bounds
from multibody.control.whole_body.motion import Affine
from multibody.geometry._arrays import matvec

Array = NDArray[Any]
JUDGED_WITHIN = {np.dtype(np.float64): 1e-8, np.dtype(np.float32): 1e-4}
"""Residuals of the conditions of optimality up to which DAQP's answer is one."""


class AtOnce(NamedTuple):
    """The program of a state, and what its solution means."""

    G: Array
    """(..., m, k): lower <= G w <= upper"""
    lower: Array
    """(..., m), as DAQP has it where there is no bound."""
    upper: Array
    x: Array
    """(..., n, k + 1): Z and x_0."""
    f: Array
    """(..., rows, k + 1): of contact forces, the matrix and the offset, of w."""
    maps: Array
    """(..., rows, n + 1): matrices and offsets of all that follows from x, one below the other."""
    known: Array
    """(..., entries): what else the answer needs."""

    @staticmethod
    def of(x: Affine, f: Affine, bounds: Bounds, maps: Sequence[Affine], known: Sequence[Array]) -> "AtOnce":
        """That of unknowns, forces and bounds of w, and of maps of x."""
        infinite = np.full_like(bounds.upper[..., bounds.lower.shape[-1] :], -active_set.NONE)
        return AtOnce(
            bounds.C,
            np.concatenate([bounds.lower, infinite], axis=-1),
            bounds.upper,
            _joined(x),
            _joined(f),
            np.concatenate([_joined(part) for part in maps], axis=-2),
            np.concatenate(known, axis=-1),
        )

    def at(self, w: Array) -> tuple[Array, Array, Array]:
        """x, forces, and all that follows from x."""
        x = _at(self.x, w)
        return x, _at(self.f, w), _at(self.maps, x)

    def judged(self, w: Array, multipliers: Array) -> Array:
        """(..., 3): how far w is from the conditions of optimality."""
        G, none = self.G, self.G[..., :0, :]
        one = np.broadcast_to(np.eye(w.shape[-1], dtype=w.dtype), (*w.shape, w.shape[-1]))
        rows = Rows(none, none[..., 0], G, self.lower, self.upper)
        return residuals(Program(one, np.zeros_like(w), rows), w, multipliers)


def _joined(part: Affine) -> Array:
    return np.concatenate([part.matrix, part.offset[..., None]], axis=-1)


def _at(joined: Array, x: Array) -> Array:
    return matvec(joined[..., :-1], x) + joined[..., -1]
