"""The moments of mass of a body: m, m c and the second moments, in which dynamics is linear.

For the particles of a body at r, with masses dm: mass ∫ dm, first ∫ r dm, second ∫ r r^T dm. When a particle has the
acceleration a + U r, the body needs the force m a + U first and the torque of the antisymmetric part of U second
about the origin. That is [QT 72-73] and [RD 3.21-3.25] written for the body's origin.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from multibody.geometry import SpatialInertia, Wrench
from multibody.geometry._arrays import eye_like, matvec, vector
from multibody.geometry.operators import cross3, hat3


class MassMoments(NamedTuple):
    """The moments of the mass of a body, about its frame's origin, along its axes."""

    mass: NDArray[Any]
    first: NDArray[Any]
    second: NDArray[Any]

    @staticmethod
    def of(inertia: SpatialInertia) -> "MassMoments":
        """From an inertia: the second moments are tr(I)/2 - I."""
        I = inertia.about_origin
        half = (I[..., 0, 0] + I[..., 1, 1] + I[..., 2, 2]) / 2
        return MassMoments(inertia.mass, inertia.first_moment, half[..., None, None] * eye_like(I, 3) - I)

    def wrench(self, a: NDArray[Any], U: NDArray[Any]) -> Wrench:
        """The wrench that gives the origin the acceleration a and points r the further acceleration U r."""
        force = self.mass[..., None] * a + matvec(U, self.first)
        return Wrench._trusted(force, torque_of(np.matmul(U, self.second)) + cross3(self.first, a))


def rotational_acceleration(w: NDArray[Any], w_dot: NDArray[Any]) -> NDArray[Any]:
    """U = [ω'] + [ω][ω], (..., 3, 3): points r fixed to a body accelerate by U r relative to its origin.  [RD 2.122]"""
    W = hat3(w)
    return hat3(w_dot) + np.matmul(W, W)


def torque_of(T: NDArray[Any]) -> NDArray[Any]:
    """∫ r × f of the tensor T = ∫ f r^T: the vector of its antisymmetric part."""
    return vector(T[..., 2, 1] - T[..., 1, 2], T[..., 0, 2] - T[..., 2, 0], T[..., 1, 0] - T[..., 0, 1])
