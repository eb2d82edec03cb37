"""No motion: the child is a part of the parent."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multibody.geometry import Pose
from multibody.geometry.groups import Group
from multibody.model.joints._kind import VectorKind
from multibody.model.joints.motion_subspace import Subspace


@dataclass(frozen=True)
class Fixed(VectorKind):
    """A joint without coordinates. Links that it joins make one body."""

    nq = 0
    nv = 0
    units = ()
    rates = ()

    @property
    def groups(self) -> tuple[Group, ...]:
        return ()

    def pose(self, q: NDArray[Any]) -> Pose:
        return Pose.identity(q.shape[:-1])

    def subspace(self, q: NDArray[Any]) -> Subspace:
        return Subspace.constant(np.zeros((6, 0)), q)
