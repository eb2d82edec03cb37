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
    """|tau| of every joint within a share of the robot's limits of effort, in N m or N: for `WholeBody`.

    >>> import multibody as mb
    >>> TorqueLimits(share=0.5).upper(mb.load("panda").tree)
    array([43.5, 43.5, 43.5, 43.5,  6. ,  6. ,  6. ])
    """

    name: str = "torque limits"
    share: float = 1.0

    def __post_init__(self) -> None:
        if not is_number(self.share) or not 0 < self.share < np.inf:
            raise InputError(f"{self.name}: expected a positive share of the limits, got {self.share!r}")

    def upper(self, tree: Tree) -> NDArray[Any]:
        """(nv,): the largest |tau|, infinite where a joint states none."""
        return self.share * tree.effort_limits
