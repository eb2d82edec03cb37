"""A sleeve on a shaft: it slides along and turns about one axis, independently."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multibody.geometry import Pose
from multibody.geometry.groups import R1, SO2, Group
from multibody.model.joints._axes import Axis, along, rotation_about, unit_axis
from multibody.model.joints._kind import VectorKind
from multibody.model.joints.motion_subspace import Subspace


@dataclass(frozen=True)
class Cylindrical(VectorKind):
    """q = [length along the axis, angle about it].  [From §4.6]"""

    axis: Axis

    nq = 2
    nv = 2
    units = ("m", "rad")
    rates = ("m", "rad")

    def __init__(self, axis: str | Sequence[float] = "z") -> None:
        object.__setattr__(self, "axis", unit_axis(axis))

    @property
    def groups(self) -> tuple[Group, ...]:
        return R1(), SO2()

    def pose(self, q: NDArray[Any]) -> Pose:
        return Pose._trusted(rotation_about(self.axis, q[..., 1]), along(self.axis, q[..., 0]))

    def subspace(self, q: NDArray[Any]) -> Subspace:
        axis, none = np.array(self.axis), np.zeros(3)
        return Subspace.constant(np.stack([np.concatenate([axis, none]), np.concatenate([none, axis])], axis=1), q)
