"""The forces that actuators can exert."""

from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from multibody.control._checks import check_number
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
        check_number(self.fraction, str(self.name), "a positive fraction of the limits")

    def upper(self, tree: Tree) -> NDArray[Any]:
        """(nv,): the largest |tau|, infinite where a joint states none."""
        return self.fraction * tree.effort_limits
