"""The interface of the kinds of joints: how the child moves relative to the joint's place on the parent."""

import math
from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from multibody.geometry import Pose, Twist
from multibody.geometry._arrays import eye_like, transpose
from multibody.geometry.groups import Group
from multibody.model.joints.motion_subspace import Subspace

RANDOM_HALF_RANGE = {"rad": math.pi, "m": 1.0, "": 1.0}
"""Half the range of a coordinate without limits in random configurations."""


class Kind(ABC):
    """A kind of joint. Frames: j the joint on the parent, i the child; they coincide at the neutral configuration.

    `q` are the coordinates (..., nq) and `v` the velocities (..., nv) of this joint alone. Velocities are
    left-trivialised: i_v_ji = S(q) v. All functions take batches and traced arrays. A subclass is a frozen dataclass.
    Each column of S is fixed in the child, or in the parent for those in `held_by_parent`. `check_kind` verifies it
    for kinds from outside the library when a model is made.
    """

    nq: ClassVar[int]
    """The number of coordinates."""
    nv: ClassVar[int]
    """The number of velocities."""
    units: ClassVar[tuple[str, ...]]
    """The unit of each coordinate: "rad", "m", or "" for the numbers of a quaternion."""
    rates: ClassVar[tuple[str, ...]]
    """The unit of each velocity, without "per second"."""
    quaternion: ClassVar[slice | None] = None
    """The indices of a unit quaternion in the coordinates."""
    held_by_parent: ClassVar[tuple[int, ...]] = ()
    """The velocities whose columns of S are fixed in the parent; the others are fixed in the child."""

    @property
    def name(self) -> str:
        """The name of the kind, in lower case."""
        return type(self).__name__.lower()

    @property
    @abstractmethod
    def groups(self) -> tuple[Group, ...]:
        """The Lie groups in which the joint moves, one after the other, up to a constant choice of axes.

        [From Def. 4.1]
        """

    @abstractmethod
    def pose(self, q: NDArray[Any]) -> Pose:
        """j_H_i(q)."""

    @abstractmethod
    def subspace(self, q: NDArray[Any]) -> Subspace:
        """S(q): the twists i_v_ji = S(q) v that the joint allows.  [From 58; From Def. 4.2]"""

    def bias(self, q: NDArray[Any], v: NDArray[Any]) -> Twist | None:
        """S'(q, v) v, the acceleration of the child without v'; None where S is constant."""
        del q, v

    @abstractmethod
    def integrate(self, q: NDArray[Any], dv: NDArray[Any]) -> NDArray[Any]:
        """The coordinates after moving at the velocity dv for one unit of time.  [From 59; MDN 77]"""

    @abstractmethod
    def difference(self, q0: NDArray[Any], q1: NDArray[Any]) -> NDArray[Any]:
        """The dv, the shortest, that leads from q0 to q1."""

    def scaled(self, factor: float) -> "Kind":
        """Return the kind in a robot scaled by a factor; kinds with lengths, such as a pitch, override it."""
        del factor
        return self

    def neutral(self) -> NDArray[Any]:
        """(nq,): where the child's frame lies on the joint's."""
        return np.zeros(self.nq)

    def rate_matrix(self, q: NDArray[Any]) -> NDArray[Any]:
        """F(q), (..., nq, nv): q' = F(q) v.  [Kindr §Coordinate Rates]"""
        return np.broadcast_to(eye_like(q, self.nq), (*q.shape[:-1], self.nq, self.nv))

    def rate_inverse(self, q: NDArray[Any]) -> NDArray[Any]:
        """(..., nv, nq): the left inverse of F, v = F^+ q'."""
        return transpose(self.rate_matrix(q))

    def random(
        self, rng: np.random.Generator, lower: NDArray[Any], upper: NDArray[Any], batch: tuple[int, ...]
    ) -> NDArray[Any]:
        """(..., nq): uniform between the limits; without limits, within RANDOM_HALF_RANGE of the unit."""
        reach = np.array([RANDOM_HALF_RANGE[unit] for unit in self.units])
        low = np.where(np.isfinite(lower), lower, np.where(np.isfinite(upper), upper - 2 * reach, -reach))
        high = np.where(np.isfinite(upper), upper, np.where(np.isfinite(lower), lower + 2 * reach, reach))
        return rng.uniform(low, high, (*batch, self.nq))


class VectorKind(Kind):
    """The abstract base of kinds whose coordinates form a vector space: velocities are their rates."""

    def integrate(self, q: NDArray[Any], dv: NDArray[Any]) -> NDArray[Any]:
        return q + dv

    def difference(self, q0: NDArray[Any], q1: NDArray[Any]) -> NDArray[Any]:
        return q1 - q0
