"""Motions and bodies of which everything is known: exact time series, and Newton's law for a cloud of particles.

Nothing here comes from the library. A motion is a truncated Taylor series in time whose coefficients are exact, so an
identity between time derivatives of any order is checked to rounding.
"""

import numpy as np
from scipy.linalg import expm

from .truth import T, hat

ORDER = 3


class Series:
    """A matrix as a Taylor series of time: sum_k c[k] t^k, with c of shape (order + 1, ..., n, m)."""

    def __init__(self, coefficients):
        self.c = np.asarray(coefficients)

    @property
    def now(self):
        return self.c[0]

    @property
    def rate(self):
        """The series of the time derivative, one order shorter."""
        k = np.arange(1, len(self.c)).reshape((-1,) + (1,) * (self.c.ndim - 1))
        return Series(k * self.c[1:])

    def map(self, linear):
        """Apply a linear function of the matrix to every coefficient."""
        return Series([linear(c) for c in self.c])

    @property
    def T(self):
        return self.map(T)

    def product(self, other, bilinear):
        """The series of bilinear(self, other): Leibniz' rule."""
        n = min(len(self.c), len(other.c))
        return Series([sum(bilinear(self.c[i], other.c[k - i]) for i in range(k + 1)) for k in range(n)])

    def __matmul__(self, other):
        return self.product(other, np.matmul)

    def __add__(self, other):
        n = min(len(self.c), len(other.c))
        return Series(self.c[:n] + other.c[:n])

    def __neg__(self):
        return Series(-self.c)

    def __sub__(self, other):
        return self + (-other)

    @property
    def inverse(self):
        first = np.linalg.inv(self.c[0])
        inverse = [first]
        for k in range(1, len(self.c)):
            inverse.append(-first @ sum(self.c[i] @ inverse[k - i] for i in range(1, k + 1)))
        return Series(inverse)

    @property
    def exp(self):
        """The matrix exponential: block-Toeplitz matrices multiply as truncated series do."""
        orders, n = len(self.c), self.c.shape[-1]
        toeplitz = np.zeros((*self.c.shape[1:-2], orders * n, orders * n))
        for row in range(orders):
            for k in range(orders - row):
                toeplitz[..., row * n : (row + 1) * n, (row + k) * n : (row + k + 1) * n] = self.c[k]
        exp = expm(toeplitz)
        return Series([exp[..., :n, k * n : (k + 1) * n] for k in range(orders)])


def constant(matrix):
    """The series of a matrix that stays."""
    return Series(np.stack([matrix] + [np.zeros_like(matrix)] * ORDER))


def block(rows):
    """Blocks of series to one series; 0 stands for a 3x3 block of zeros."""
    some = next(b for row in rows for b in row if isinstance(b, Series))
    n = min(len(b.c) for row in rows for b in row if isinstance(b, Series))
    zero = np.zeros((n, *some.c.shape[1:-2], 3, 3))
    return Series(np.concatenate([np.concatenate([b.c[:n] if b else zero for b in row], -1) for row in rows], -2))


def twist_matrix(v):
    """(linear, angular) to the 4x4 matrix of se(3)."""
    v = np.asarray(v)
    top = np.concatenate([hat(v[..., 3:]), v[..., :3, None]], axis=-1)
    return np.concatenate([top, np.zeros_like(top[..., :1, :])], axis=-2)


def twist_vector(V):
    """The inverse of `twist_matrix`, as a column (..., 6, 1)."""
    angular = np.stack([V[..., 2, 1], V[..., 0, 2], V[..., 1, 0]], axis=-1)
    return np.concatenate([V[..., :3, 3], angular], axis=-1)[..., None]


def random_motion(rng, batch=(5,), H=None):
    """A_H_B(t) in the subgroup of SE(3) whose twists are H v, with H of shape (6, m); all of SE(3) by default."""
    H = np.eye(6) if H is None else H

    def factor():
        return Series(twist_matrix(0.7 * rng.normal(size=(ORDER + 1, *batch, H.shape[1])) @ H.T)).exp

    return factor() @ factor()


def steered_motion(A_H_B, v, dv, H=None):
    """A motion through the pose A_H_B with left-trivialised velocity H v and its rate H dv at the instant t = 0."""
    H = np.eye(6) if H is None else H
    zero = np.zeros_like(v)
    # exp(v t + dv t^2/2) has the twist v + dv t up to O(t^2): the bracket of a path with its own rate starts there.
    return constant(A_H_B) @ Series(twist_matrix(np.stack([zero, v, dv / 2, zero]) @ H.T)).exp


def split(A_H_B):
    """The series A_R_B and A_o_B of the series A_H_B."""
    return A_H_B.map(lambda H: H[..., :3, :3]), A_H_B.map(lambda H: H[..., :3, 3:])


class Cloud:
    """Particles fixed in a body frame B: the rigid body of the textbook."""

    def __init__(self, rng, n=7):
        self.masses = rng.uniform(0.2, 1.5, n)
        self.points = rng.normal(size=(n, 3))

    @property
    def inertia(self):
        """(6, 6) about the origin of B: twice the kinetic energy's matrix, because a particle moves with [1, -r^] v."""
        maps = [np.hstack([np.eye(3), -hat(r)]) for r in self.points]
        return sum(m * J.T @ J for m, J in zip(self.masses, maps, strict=True))

    def principal(self):
        """The same particles, seen from the centre of mass along the principal axes: a diagonal inertia."""
        other = object.__new__(Cloud)
        other.masses = self.masses
        centred = self.points - self.masses @ self.points / self.masses.sum()
        axes = np.linalg.eigh(np.einsum("n,ni,nj->ij", self.masses, centred, centred))[1]
        other.points = centred @ axes * np.sign(np.linalg.det(axes))
        return other

    def paths(self, A_H_B):
        """Series of the particles' positions in A, (..., 3, n)."""
        R, o = split(A_H_B)
        return R @ constant(self.points.T) + o.map(lambda o: o + np.zeros(len(self.points)))

    def kinetic_energy(self, A_H_B):
        return 0.5 * np.sum(self.masses * self.paths(A_H_B).rate.now ** 2, axis=(-2, -1))

    def momentum(self, A_H_B):
        """Series of the linear momentum and the angular momentum about the origin of A, in A. (..., 6, 1)"""
        x = self.paths(A_H_B)
        linear = x.rate.map(lambda dx: self.masses * dx)
        angular = x.product(linear, lambda r, p: np.cross(r, p, axis=-2))
        both = zip(linear.c, angular.c, strict=True)
        return Series([np.concatenate([p, h], -2).sum(-1)[..., None] for p, h in both])

    def wrench(self, A_H_B):
        """The force, and moment about the origin of B, both in the axes of B, that Newton's law asks for. (..., 6)"""
        R, o = split(A_H_B)
        x = self.paths(A_H_B)
        forces = self.masses * x.rate.rate.now
        moments = np.cross(x.now - o.now, forces, axis=-2)
        return np.concatenate([T(R.now) @ f.sum(-1)[..., None] for f in (forces, moments)], -2)[..., 0]
