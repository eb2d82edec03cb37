"""Base classes of joints about and along one fixed axis."""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multibody.geometry import Pose
from multibody.geometry.groups import SO2, Group
from multibody.model.joints._axes import Axis, along, rotation_about, unit_axis, unturned
from multibody.model.joints._kind import VectorKind
from multibody.model.joints.motion_subspace import Subspace


@dataclass(frozen=True)
class Screw(VectorKind):
    """The abstract base of joints with one coordinate: an angle about, or a length along, an axis."""

    axis: Axis

    nq = 1
    nv = 1

    def __init__(self, axis: str | Sequence[float] = "z") -> None:
        object.__setattr__(self, "axis", unit_axis(axis))

    @property
    @abstractmethod
    def screw(self) -> tuple[float, float]:
        """How far the child moves along the axis, and turns about it, when the coordinate grows by one."""

    def pose(self, q: NDArray[Any]) -> Pose:
        """Along and about the axis.  [From 59]"""
        advance, turn = self.screw
        x = q[..., 0]
        position = along(self.axis, advance * x) if advance else np.zeros((*x.shape, 3), q.dtype)
        if not turn:
            return Pose._trusted(unturned(q), position)
        return Pose._trusted(rotation_about(self.axis, x), position)

    def subspace(self, q: NDArray[Any]) -> Subspace:
        advance, turn = self.screw
        axis = np.array(self.axis)
        return Subspace.constant(np.concatenate([advance * axis, turn * axis])[:, None], q)


class Hinge(Screw):
    """The abstract base of joints that turn about an axis; the coordinate is the angle."""

    units = ("rad",)
    rates = ("rad",)

    @property
    def groups(self) -> tuple[Group, ...]:
        return (SO2(),)

    @property
    def screw(self) -> tuple[float, float]:
        return 0.0, 1.0
