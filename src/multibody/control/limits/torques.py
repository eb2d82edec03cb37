"""Torque limits: the forces that actuators can exert, and their rows."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multibody.control._checks import check_number
from multibody.control.affine import Affine
from multibody.model.actuation import actuated_indices
from multibody.model.tree import Tree
from multibody.solvers.program import Bounds


@dataclass(frozen=True)
class TorqueLimits:
    """Keep |tau| of every joint within a fraction of its effort limit: for `WholeBody`.

    Efforts are in N m or N.

    >>> import multibody as mb
    >>> TorqueLimits(fraction=0.5).upper(mb.load("panda").tree)
    array([43.5, 43.5, 43.5, 43.5,  6. ,  6. ,  6. ])
    """

    name: str = "torque limits"
    fraction: float = 1.0

    def __post_init__(self) -> None:
        check_number(self.fraction, str(self.name), "a positive fraction of the limits")

    def upper(self, tree: Tree) -> NDArray[Any]:
        """(nv,): the largest |tau|, infinite where a joint states none."""
        return self.fraction * tree.effort_limits

    def bounds(self, tree: Tree, tau: Affine, newtons: float) -> Bounds:
        """The bounds of unknowns of which tau, (..., actuated joints), is a map, in a
        unit of forces in N.
        """
        upper = self.upper(tree)[actuated_indices(tree)] / newtons
        limited = np.flatnonzero(np.isfinite(upper)).tolist()
        offset = tau.offset[..., limited]
        return Bounds(tau.matrix[..., limited, :], -upper[limited] - offset, upper[limited] - offset)
