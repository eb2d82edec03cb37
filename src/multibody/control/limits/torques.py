"""The forces that actuators can exert."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multibody.control._checks import is_number
from multibody.errors import InputError
from multibody.model.tree import Tree


@dataclass(frozen=True)
class TorqueLimits:
    """|tau| of every joint within a fraction of the robot's limits of effort, in N m or N: for `WholeBody`.

    >>> import multibody as mb
    >>> TorqueLimits(fraction=0.5).upper(mb.load("panda").tree)
    array([43.5, 43.5, 43.5, 43.5,  6. ,  6. ,  6. ])
    """

    name: str = "torque limits"
    fraction: float = 1.0

    def __post_init__(self) -> None:
        if not is_number(self.fraction) or not 0 < self.fraction < np.inf:
            raise InputError(f"{self.name}: expected a positive fraction of the limits, got {self.fraction!r}")

    def upper(self, tree: Tree) -> NDArray[Any]:
        """(nv,): the largest |tau|, infinite where a joint states none."""
        return self.fraction * tree.effort_limits
