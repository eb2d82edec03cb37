"""Translation in all directions, without rotation."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multibody.geometry import Pose
from multibody.geometry.groups import R3, Group
from multibody.model.joints._axes import unturned
from multibody.model.joints._kind import VectorKind
from multibody.model.joints.motion_subspace import Subspace


@dataclass(frozen=True)
class Translational(VectorKind):
    """q = the position x, y, z of the child in the joint's frame.  [From §4.6; From Table 1]"""

    nq = 3
    nv = 3
    units = ("m", "m", "m")
    rates = ("m", "m", "m")

    @property
    def groups(self) -> tuple[Group, ...]:
        return (R3(),)

    def pose(self, q: NDArray[Any]) -> Pose:
        return Pose._trusted(unturned(q), q + 0.0)

    def subspace(self, q: NDArray[Any]) -> Subspace:
        return Subspace.constant(np.eye(6)[:, :3], q)
