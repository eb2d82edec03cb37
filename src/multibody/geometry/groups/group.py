"""The interface of the Lie groups of rigid motion: SE(3) and its subgroups.

An element is a plain matrix (..., n, n); an element of the algebra is a vector (..., m). Velocities are
left-trivialised: g' = g hat(v), as in From.
"""

from abc import ABC, abstractmethod
from functools import cache
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from multibody.geometry import exponential_coefficients as k
from multibody.geometry import operators, so3
from multibody.geometry._arrays import eye_like, floats, matvec, read_only, solve, transpose
from multibody.geometry.pose import Pose
from multibody.geometry.public_api import public_methods
from multibody.geometry.rotation import Rotation


@public_methods
class Group(ABC):
    """A Lie group of rigid motion.  [From §4]

    A subclass defines `dim`, `size`, `selection`, `hat`, `vee`, `exp` and `log`; it overrides
    `pose` and `inverse` if its elements are not homogeneous 4 × 4 matrices, and `Ad` if a
    closed form is shorter. The bracket, the Coriolis matrix and the equations of motion follow
    from the selection matrix.
    """

    dim: ClassVar[int]
    """The number m of velocities."""
    size: ClassVar[int]
    """The number n of rows of an element."""

    # ---- defined by each group ---------------------------------------------------------------------------------------

    @abstractmethod
    def selection(self) -> NDArray[Any]:
        """The matrix H as a fresh array."""

    @abstractmethod
    def hat(self, x: ArrayLike) -> NDArray[Any]:
        """The (..., n, n) matrix of an element (..., m) of the algebra.  [From Table 1]"""

    @abstractmethod
    def vee(self, X: ArrayLike) -> NDArray[Any]:
        """The inverse of `hat`."""

    @abstractmethod
    def exp(self, x: ArrayLike) -> NDArray[Any]:
        """The matrix exponential of hat(x), in closed form.  [From 59]"""

    @abstractmethod
    def log(self, g: ArrayLike) -> NDArray[Any]:
        """The x, (..., m), with the smallest angle such that exp(x) = g."""

    # ---- derived -----------------------------------------------------------------------------------------------------

    @property
    def H(self) -> NDArray[Any]:
        """(6, m): the selection matrix, which maps a velocity to a twist, V = H v.

        [From Def. 4.2; From 58, 62, 77, 88]
        """
        return self.selection()

    @property
    def structure(self) -> NDArray[Any]:
        """(m, m, m): the structure constants, [e_i, e_j] = Σ_k structure[k, i, j] e_k."""
        return _structure(self)

    @property
    def abelian(self) -> bool:
        """Whether all brackets vanish, and with them all Coriolis forces.  [From §4.6]"""
        return not self.structure.any()

    def identity(self, batch: tuple[int, ...] = ()) -> NDArray[Any]:
        """(..., n, n): the neutral element."""
        return np.broadcast_to(np.eye(self.size), (*batch, self.size, self.size))

    def inverse(self, g: ArrayLike) -> NDArray[Any]:
        """(..., n, n): the inverse element of a homogeneous matrix."""
        g = self._element(g)
        n = self.size - 1
        R_T = transpose(g[..., :n, :n])
        upper = np.concatenate([R_T, -np.matmul(R_T, g[..., :n, n:])], axis=-1)
        return np.concatenate([upper, g[..., n:, :]], axis=-2)

    def pose(self, g: ArrayLike) -> Pose:
        """The rigid motion of an element, here of a homogeneous 4 × 4 matrix.  [From Def. 4.1]"""
        g = self._element(g)
        return Pose._trusted(Rotation._trusted(g[..., :3, :3] + 0.0), g[..., :3, 3] + 0.0)

    def Ad(self, g: ArrayLike) -> NDArray[Any]:
        """(..., m, m): Ad_g x = vee(g hat(x) g^-1).  [MDN 29]

        This is the identity if the group is abelian, otherwise H^T Ad H for an H with
        orthonormal columns.
        """
        if self.abelian:
            g = self._element(g)
            return np.broadcast_to(eye_like(g, self.dim), (*g.shape[:-2], self.dim, self.dim))
        Ad = self.pose(g).adjoint
        H = self.H.astype(Ad.dtype)
        return np.matmul(np.matmul(H.T, Ad), H)

    def ad(self, x: ArrayLike) -> NDArray[Any]:
        """(..., m, m): ad_x y = [x, y].  [From 8, 78, 89, 102; From Table 1]"""
        x = self._vector(x)
        return np.einsum("kij,...i->...kj", self.structure.astype(x.dtype), x)

    def ad_swapped(self, p: ArrayLike) -> NDArray[Any]:
        """(..., m, m): From's tilde ad, which swaps the order: for every v, it times
        v is -ad_v^T p.

        [From 73, 83, 98, 108; From Table 1, Lemma 5.1]
        """
        p = self._vector(p)
        return np.einsum("kij,...k->...ji", -self.structure.astype(p.dtype), p)

    def S(self, phi: ArrayLike) -> NDArray[Any]:
        """(..., m, m): the right Jacobian of exp, v = S φ' for g = exp(φ).
        [From 28-29, 55, 64, 72; From Table 2]

        1 - B ad + C ad², the sum of the series 1 - ad/2 + ad²/6 - ..., for groups with one
        angle.
        """
        phi = self._vector(phi)
        identity = eye_like(phi, self.dim)
        if self.abelian:
            return np.broadcast_to(identity, (*phi.shape[:-1], self.dim, self.dim))
        ad, x, a, b = self._coefficients(phi)
        return identity - b * ad + k.c(x, a) * np.matmul(ad, ad)

    def S_inverse(self, phi: ArrayLike) -> NDArray[Any]:
        """(..., m, m): φ' = S(φ)^-1 v, which is 1 + ad/2 + D ad² for groups with one angle.

        Raises:
            SingularityError: at a whole turn, where S is singular.
        """
        phi = self._vector(phi)
        identity = eye_like(phi, self.dim)
        if self.abelian:
            return np.broadcast_to(identity, (*phi.shape[:-1], self.dim, self.dim))
        so3.check_whole_turns(self._angle(phi)[..., None])
        ad, x, a, b = self._coefficients(phi)
        return identity + ad / 2 + k.d(x, a, b) * np.matmul(ad, ad)

    def C(self, M: ArrayLike, v: ArrayLike) -> NDArray[Any]:
        """(..., m, m): the Coriolis matrix of a body with inertia M, ad_swapped(M v).

        [From 51, 57, 68, 74, 82, 93, 105-106, 109; From Table 2, Prop. 3.1]
        """
        return self.ad_swapped(matvec(floats(M, "M", self.dim, self.dim), self._vector(v)))

    def inertia(self, body: ArrayLike) -> NDArray[Any]:
        """(..., m, m): H^T I H of a 6 × 6 inertia.  [From 60, 63]"""
        body = floats(body, "6 x 6 inertia", 6, 6)
        H = self.H.astype(body.dtype)
        return np.matmul(np.matmul(H.T, body), H)

    def spatial_inertia(self, g: ArrayLike, M: ArrayLike) -> NDArray[Any]:
        """(..., m, m): the inertia for velocities in the inertial frame, which
        depends on the pose.  [From 61]
        """
        Ad = self.Ad(self.inverse(g))
        return np.matmul(np.matmul(transpose(Ad), floats(M, "M", self.dim, self.dim)), Ad)

    def inverse_dynamics(self, M: ArrayLike, v: ArrayLike, v_dot: ArrayLike) -> NDArray[Any]:
        """(..., m): τ = M v' + C(v) v of one body.
        [From 48, 69-71, 75, 84-87, 94-96, 104-108, §5, Prop. 5.1]
        """
        v = self._vector(v)
        return matvec(floats(M, "M", self.dim, self.dim), self._vector(v_dot)) + matvec(self.C(M, v), v)

    def forward_dynamics(self, M: ArrayLike, v: ArrayLike, tau: ArrayLike) -> NDArray[Any]:
        """(..., m): the v' that solves M v' + C(v) v = τ."""
        v = self._vector(v)
        rest = self._vector(tau) - matvec(self.C(M, v), v)
        return solve(floats(M, "M", self.dim, self.dim), rest, "the inertia M")

    def _vector(self, x: ArrayLike) -> NDArray[Any]:
        return floats(x, f"{type(self).__name__} vector", self.dim)

    def _element(self, g: ArrayLike) -> NDArray[Any]:
        return floats(g, f"{type(self).__name__} element", self.size, self.size)

    def _angle(self, phi: NDArray[Any]) -> NDArray[Any]:
        """The angle of rotation of a non-abelian group with a fixed axis: its last coordinate."""
        return phi[..., -1]

    def _coefficients(self, phi: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any]]:
        theta = self._angle(phi)[..., None, None]
        return self.ad(phi), theta * theta, *k.a_b(theta)


@cache
def _structure(group: Group) -> NDArray[Any]:
    H = group.selection()
    back = np.linalg.pinv(H)
    brackets = [back @ operators.ad(H[:, i]) @ H for i in range(group.dim)]  # ad of each basis vector
    return read_only(np.round(np.stack(brackets, axis=1), 12) + 0.0)
