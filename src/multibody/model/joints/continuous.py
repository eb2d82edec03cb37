"""A hinge that turns without end."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multibody.model.joints._screw import Hinge


@dataclass(frozen=True, init=False)
class Continuous(Hinge):
    """Rotation about a fixed axis, on the circle: angles that differ by whole turns are the same place.

    The coordinate is the angle; `difference` goes the shortest way round.  [From Table 1]
    """

    def difference(self, q0: NDArray[Any], q1: NDArray[Any]) -> NDArray[Any]:
        """The shortest way, in (-π, π]."""
        angle = q1 - q0
        return np.arctan2(np.sin(angle), np.cos(angle))
