"""A cardan joint: two hinges in one place."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multibody.errors import InputError
from multibody.geometry import Pose, Twist
from multibody.geometry.groups import SO2, Group
from multibody.geometry.operators import cross3
from multibody.model.joints._axes import Axis, rotation_about, unit_axis
from multibody.model.joints._kind import VectorKind
from multibody.model.joints.motion_subspace import Subspace


@dataclass(frozen=True)
class Universal(VectorKind):
    """q = [angle about the first axis, which the parent holds; angle about the second, which the child holds].

    The only kind whose subspace depends on q: S = [R_2^T a_1, a_2] in the child, so that
    S' v = (R_2^T a_1 × a_2) v_1 v_2.
    """

    first: Axis
    second: Axis

    nq = 2
    nv = 2
    units = ("rad", "rad")
    rates = ("rad", "rad")
    held_by_parent = (0,)

    def __init__(self, first: str | Sequence[float] = "x", second: str | Sequence[float] = "y") -> None:
        n1, n2 = unit_axis(first, "first axis"), unit_axis(second, "second axis")
        if np.linalg.norm(np.cross(n1, n2)) < 1e-9:
            raise InputError(f"universal joint: expected two axes that are not parallel, got {first!r} and {second!r}")
        object.__setattr__(self, "first", n1)
        object.__setattr__(self, "second", n2)

    @property
    def groups(self) -> tuple[Group, ...]:
        return SO2(), SO2()

    def pose(self, q: NDArray[Any]) -> Pose:
        rotation = rotation_about(self.first, q[..., 0]) @ rotation_about(self.second, q[..., 1])
        return Pose._trusted(rotation, np.zeros_like(rotation.matrix[..., 0]))

    def subspace(self, q: NDArray[Any]) -> Subspace:
        i_a1 = self._first_in_child(q)
        i_a2 = np.broadcast_to(np.asarray(self.second, dtype=q.dtype), i_a1.shape)
        angular = np.stack([i_a1, i_a2], axis=-1)
        return Subspace(np.concatenate([np.zeros_like(angular), angular], axis=-2))

    def bias(self, q: NDArray[Any], v: NDArray[Any]) -> Twist:
        i_a1 = self._first_in_child(q)
        angular = cross3(i_a1, np.asarray(self.second, dtype=q.dtype)) * (v[..., 0] * v[..., 1])[..., None]
        return Twist._trusted(np.zeros_like(angular), angular)

    def _first_in_child(self, q: NDArray[Any]) -> NDArray[Any]:
        return rotation_about(self.second, q[..., 1]).inverse() @ np.asarray(self.first, dtype=q.dtype)
