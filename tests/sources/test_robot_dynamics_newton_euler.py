"""The Newton-Euler equations of one body, as printed, against a cloud of particles.  [RD §3.3.1]"""

import numpy as np
import pytest

import multibody as mb

from .motions import Cloud, constant, random_motion, split
from .truth import T, hat, mul, rotations, same, vee

N = 20


class Body:
    """Particles whose centre of gravity S is the origin of the frame B that moves with them in the inertial frame A."""

    def __init__(self, rng):
        self.cloud = Cloud(rng)
        self.cloud.points -= np.average(self.cloud.points, axis=0, weights=self.cloud.masses)
        self.A_H_B = random_motion(rng, (N,))
        self.C_AB, self.r_S = split(self.A_H_B)
        self.m = self.cloud.masses.sum()
        self.rho = np.moveaxis((self.C_AB @ constant(self.cloud.points.T)).now, -1, 0)  # (particles, N, 3)
        self.path = self.cloud.paths(self.A_H_B)
        W = self.C_AB.rate @ self.C_AB.T
        self.Omega, self.Psi = vee(W.now), vee(W.rate.now)
        self.v_S, self.a_S = self.r_S.rate.now[..., 0], self.r_S.rate.rate.now[..., 0]
        self.B_Theta = sum(m * (p @ p * np.eye(3) - np.outer(p, p)) for m, p in self.particles)
        self.Theta = self.C_AB.now @ self.B_Theta @ T(self.C_AB.now)
        self.dF = np.moveaxis(
            (self.cloud.masses * self.path.rate.rate.now), -1, 0
        )  # Newton's law, particle by particle
        self.F, self.T = self.dF.sum(axis=0), np.cross(self.rho, self.dF).sum(axis=0)

    @property
    def particles(self):
        return list(zip(self.cloud.masses, self.cloud.points, strict=True))

    def sum(self, terms):
        """The integral over the body: the sum over particles of a function of their mass and ρ."""
        return sum(terms(m, rho) for m, rho in zip(self.cloud.masses, self.rho, strict=True))


@pytest.fixture
def rng():
    return np.random.default_rng(33)


@pytest.fixture
def body(rng):
    return Body(rng)


def stack(top, bottom):
    return np.concatenate([top, bottom], axis=-1)


def test_virtual_work(body, rng):
    """[RD 3.14]: both lines vanish for any virtual displacement, particle by particle and summed."""
    displacement = rng.normal(size=(N, 6))
    acceleration, W2 = stack(body.a_S, body.Psi), hat(body.Omega) @ hat(body.Omega)
    one = np.broadcast_to(np.eye(3), (N, 3, 3))
    first = second = 0.0
    for m, rho, dF in zip(body.cloud.masses, body.rho, body.dF, strict=True):
        p = hat(rho)
        inertial = mul(np.concatenate([one, -p], axis=-1), acceleration) * m + mul(W2, rho) * m - dF
        same(inertial, np.zeros((N, 3)), 1e-11)
        first = first + mul(np.concatenate([one, p], axis=-2), inertial + dF)
        blocks = np.block([[one * m, T(p) * m], [p * m, -p @ p * m]])
        second = second + mul(blocks, acceleration) + stack(mul(W2, rho) * m, mul(p @ W2, rho) * m)
    external = stack(body.F, body.T)
    for line in (first, second):
        same(line, external, 1e-11)
        same(np.einsum("ni,ni->n", displacement, line - external), np.zeros(N), 1e-10)


def test_rule_for_nested_cross_products(rng):
    """[RD §3.3.1]: a × (b × (b × a)) = -b × (a × (a × b)), the rule below 3.14."""
    a, b = rng.normal(size=(2, N, 3))
    same(np.cross(a, np.cross(b, np.cross(b, a))), -np.cross(b, np.cross(a, np.cross(a, b))), 1e-12)


def test_mass_centre_and_inertia(body):
    """[RD 3.15-3.17]: mass, first moment zero at S, and the inertia matrix around S in both forms."""
    same(body.sum(lambda m, _: m), body.m)
    same(body.sum(lambda m, rho: m * rho), np.zeros((N, 3)), 1e-12)
    same(body.sum(lambda m, rho: -m * hat(rho) @ hat(rho)), body.Theta)
    same(body.sum(lambda m, rho: m * hat(rho) @ T(hat(rho))), body.Theta)
    inertia = mb.SpatialInertia(mass=body.m, com=[0.0, 0, 0], inertia=body.B_Theta)
    same(inertia.matrix, body.cloud.inertia, 1e-12)


def test_newton_euler_equations(body):
    """[RD 3.18, 3.23-3.25]: mass and inertia times acceleration, plus the gyroscopic torque, are force and torque."""
    top, bottom = body.m * body.a_S, mul(body.Theta, body.Psi) + mul(hat(body.Omega) @ body.Theta, body.Omega)
    same(top, body.F, 1e-11)
    same(bottom, body.T, 1e-11)


def test_momenta(body):
    """[RD 3.19-3.20]: p_S = m v_S and N_S = Θ_S Ω, against the sums over the particles."""
    v = np.moveaxis(body.path.rate.now, -1, 0)
    same(body.m * body.v_S, np.einsum("p,pni->ni", body.cloud.masses, v), 1e-12)
    N_S = np.einsum("p,pni->ni", body.cloud.masses, np.cross(body.rho, v))
    same(mul(body.Theta, body.Omega), N_S, 1e-12)
    B_v = stack(mul(T(body.C_AB.now), body.v_S), mul(T(body.C_AB.now), body.Omega))
    momentum = mb.SpatialInertia(mass=body.m, com=[0.0, 0, 0], inertia=body.B_Theta).momentum(B_v)
    same(mul(body.C_AB.now, momentum[..., :3]), body.m * body.v_S, 1e-12)
    same(mul(body.C_AB.now, momentum[..., 3:]), N_S, 1e-12)


def test_rates_of_the_momenta(body):
    """[RD 3.21-3.22]: p' = m a_S and N' = Θ Ψ + Ω × Θ Ω, against the derivative of the summed momenta."""
    relative = body.path - body.r_S.map(lambda r: r + np.zeros(len(body.cloud.masses)))
    moment = relative.product(body.path.rate, lambda r, v: np.cross(r, body.cloud.masses * v, axis=-2))
    same(body.m * body.a_S, body.path.rate.rate.map(lambda a: body.cloud.masses * a).now.sum(-1), 1e-11)
    N_dot = mul(body.Theta, body.Psi) + np.cross(body.Omega, mul(body.Theta, body.Omega))
    same(N_dot, moment.rate.now.sum(-1), 1e-11)


def test_newton_euler_of_the_library(body):
    """[RD 3.18, 3.24-3.25]: the library's wrench in the body frame, from the left-trivialised acceleration."""
    C = T(body.C_AB.now)
    B_v = stack(mul(C, body.v_S), mul(C, body.Omega))
    B_a_S, B_psi = mul(C, body.a_S), mul(C, body.Psi)
    B_a = stack(B_a_S - np.cross(B_v[..., 3:], B_v[..., :3]), B_psi)  # (B_v)' by Euler's rule [RD 2.129]
    inertia = mb.SpatialInertia(mass=body.m, com=[0.0, 0, 0], inertia=body.B_Theta)
    wrench = inertia.newton_euler(B_v, B_a)
    same(wrench, stack(mul(C, body.F), mul(C, body.T)), 1e-11)
    same(inertia.acceleration(B_v, wrench), B_a, 1e-10)


def test_inertia_in_another_frame(body, rng):
    """[RD §3.3.1]: B_Θ = C_BA A_Θ C_BA^T."""
    C_BA = T(body.C_AB.now)
    same(C_BA @ body.Theta @ T(C_BA), np.broadcast_to(body.B_Theta, (N, 3, 3)), 1e-12)
    C = rotations(rng, 1)[0]
    A_H_B = mb.Pose(mb.Rotation.from_matrix(C), [0.0, 0, 0])
    inertia = mb.SpatialInertia(mass=body.m, com=[0.0, 0, 0], inertia=body.B_Theta)
    same(inertia.transformed(A_H_B).matrix[3:, 3:], C @ body.B_Theta @ C.T, 1e-12)
