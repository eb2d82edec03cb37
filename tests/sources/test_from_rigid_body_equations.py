"""From, sections 2.1 and 2.2: the classical equations and Boltzmann-Hamel, against Newton's law for particles."""

import numpy as np
import pytest

import multibody as mb

from ..every_law import each_case
from .motions import Cloud, Series, constant, random_motion, steered_motion, twist_matrix, twist_vector
from .subgroups import NAMES, SELECTION, S, inertia, library
from .truth import STEP, mul, same

SAMPLES = 3


@pytest.fixture
def rng():
    return np.random.default_rng(2012)


def hat_6(w):
    """[From 6]"""
    p, q, r = w
    return np.array([[0, -r, q], [r, 0, -p], [-q, p, 0]])


def ad_8(V):
    """[From 8]"""
    return np.block([[hat_6(V[3:]), hat_6(V[:3])], [np.zeros((3, 3)), hat_6(V[3:])]])


def turning_body(rng, cloud):
    """A rotation about the body's origin: w, dw and the torque that the particles ask for, sample by sample."""
    R = random_motion(rng, (SAMPLES,), SELECTION["SO(3)"])
    w = (R.inverse @ R.rate).map(twist_vector)
    return w.now[..., 3:, 0], w.rate.now[..., 3:, 0], cloud.wrench(R)[..., 3:]


def free_body(rng, cloud):
    """A motion in SE(3): V, dV and the wrench that the particles ask for."""
    A_H_B = random_motion(rng, (SAMPLES,))
    V = (A_H_B.inverse @ A_H_B.rate).map(twist_vector)
    return V.now[..., 0], V.rate.now[..., 0], cloud.wrench(A_H_B)


def test_eulers_equations_without_torque(rng):
    """[From 1]: M dw = (M w) x w keeps the angular momentum in the inertial frame."""
    cloud = Cloud(rng)
    M = cloud.inertia[3:, 3:]
    w = rng.normal(size=(SAMPLES, 3))
    dw = np.linalg.solve(M, np.cross(w @ M, w)[..., None])[..., 0]
    A_H_B = random_motion(rng, (SAMPLES,), SELECTION["SO(3)"]).now
    path = steered_motion(A_H_B, w, dw, SELECTION["SO(3)"])
    momentum = cloud.momentum(path)
    same(momentum.rate.now[..., 3:, 0], np.zeros((SAMPLES, 3)), 1e-12)
    assert np.abs(momentum.now[..., 3:, 0]).min() > 1e-2
    same(library("SO(3)").forward_dynamics(M, w, np.zeros((SAMPLES, 3))), dw, 1e-12)


def test_eulers_equations_in_principal_axes(rng):
    """[From 2-4, §2.1]: entry by entry."""
    cloud = Cloud(rng).principal()
    M = cloud.inertia[3:, 3:]
    Ix, Iy, Iz = np.diag(M)
    w, dw, torque = turning_body(rng, cloud)
    (p, q, r), (dp, dq, dr) = w.T, dw.T
    same(Ix * dp - (Iy - Iz) * q * r, torque[:, 0], 1e-12)
    same(Iy * dq - (Iz - Ix) * r * p, torque[:, 1], 1e-12)
    same(Iz * dr - (Ix - Iy) * p * q, torque[:, 2], 1e-12)
    same(library("SO(3)").inverse_dynamics(M, w, dw), torque, 1e-12)


def test_eulers_equations_with_any_inertia(rng):
    """[From 5-6]: M dw + w^ M w = tau."""
    cloud = Cloud(rng)
    M = cloud.inertia[3:, 3:]
    for w, dw, torque in zip(*turning_body(rng, cloud), strict=True):
        same(hat_6(w) @ torque, np.cross(w, torque))
        same(M @ dw + hat_6(w) @ M @ w, torque, 1e-12)
        same(library("SO(3)").inverse_dynamics(M, w, dw), torque, 1e-12)
        same(library("SO(3)").ad(w), hat_6(w))


def test_newton_euler_and_kirchhoff(rng):
    """[From 7-11]: with momenta dK/dV by complex steps of the kinetic energy."""
    cloud = Cloud(rng)
    M = cloud.inertia

    def momentum(V):
        """dK/dV"""
        return np.array([0.5 * (V + e) @ M @ (V + e) for e in np.eye(6) * 1j * STEP]).imag / STEP

    for V, dV, wrench in zip(*free_body(rng, cloud), strict=True):
        rate = momentum(V + 1e-3 * dV) / 2e-3 - momentum(V - 1e-3 * dV) / 2e-3  # exact: K is quadratic
        same(rate, M @ dV, 1e-11)
        same(rate - ad_8(V).T @ momentum(V), wrench, 1e-11)
        (dK_dv, dK_dw), (v, w) = momentum(V).reshape(2, 3), V.reshape(2, 3)
        same(rate[:3] + hat_6(w) @ dK_dv, wrench[:3], 1e-11)
        same(rate[3:] + hat_6(v) @ dK_dv + hat_6(w) @ dK_dw, wrench[3:], 1e-11)
        same(M @ dV - ad_8(V).T @ M @ V, wrench, 1e-11)
        same(library("SE(3)").C(M, V) @ V, -ad_8(V).T @ M @ V, 1e-12)
        same(library("SE(3)").ad(V), ad_8(V))
        same(library("SE(3)").inverse_dynamics(M, V, dV), wrench, 1e-11)
        same(mb.SpatialInertia.from_matrix(M).newton_euler(V, dV), wrench, 1e-11)
        same(mb.geometry.kirchhoff(V, momentum(V), rate), wrench, 1e-11)


# Section 2.2 in two kinds of coordinates x: exponential ones of every group, and Euler angles z-y-x on SO(3).


def euler_S(x):
    """w = S(x) dx for the intrinsic angles z, y, x: columns are the axes of the three turns, seen in the body."""
    _, y, z = x
    sy, cy, sx, cx = np.sin(y), np.cos(y), np.sin(z), np.cos(z)
    return np.array([[-sy, 0, 1], [cy * sx, cx, 0], [cy * cx, -sx, 0]])


class Problem:
    """A mechanical system in coordinates x with v = S(x) dx: one state, its rates, and the force by Newton's law."""

    def __init__(self, name, rng):
        self.H = SELECTION["SO(3)" if name == "euler" else name]
        m = self.H.shape[1]
        self.x, self.dx, self.ddx = 0.8 * rng.normal(size=(3, m))
        path = Series([self.x, self.dx, self.ddx / 2, 0 * self.x])
        if name == "euler":
            self.S = euler_S
            turns = [twist_matrix(np.outer(path.c[:, i], np.eye(6)[5 - i])) for i in range(3)]
            self.motion = Series(turns[0]).exp @ Series(turns[1]).exp @ Series(turns[2]).exp
        else:
            self.S = lambda phi: S(name, phi)
            start = random_motion(rng, (), self.H).now
            self.motion = constant(start) @ Series(twist_matrix(path.c @ self.H.T)).exp
        self.cloud = Cloud(rng)
        self.M = self.H.T @ self.cloud.inertia @ self.H
        self.waves = rng.normal(size=(m, m))
        self.v = self.S(self.x) @ self.dx
        self.inertial_force = self.H.T @ self.cloud.wrench(self.motion)

    def U(self, x):
        """Some potential."""
        return np.sum(np.sin(self.waves @ x)) + x @ x

    def L(self, x, v):
        """[From 13]"""
        return 0.5 * v @ self.M @ v - self.U(x)

    def L_bar(self, x, dx):
        """[From 17]"""
        return 0.5 * dx @ self.S(x).T @ self.M @ self.S(x) @ dx - self.U(x)


def gradient(f, x):
    return np.array([f(x + e) for e in np.eye(len(x)) * 1j * STEP]).imag / STEP


def along(f, x, direction):
    """The derivative of an array-valued f along a direction."""
    return f(x + 1j * STEP * direction).imag / STEP


def jacobian(f, x):
    """d f_i / d x_j"""
    return np.stack([along(f, x, e) for e in np.eye(len(x))], axis=-1)


@pytest.fixture(params=[*NAMES, "euler"])
def problem(request, rng):
    return Problem(request.param, rng)


def test_quasi_velocities(problem):
    """[From 12, 28-29]: v = S(q) dq is the body's twist, with S = I - ad/2 + ad^2/6 - ... for exponentials."""
    twist = (problem.motion.inverse @ problem.motion.rate).map(twist_vector)
    same(problem.H @ problem.v, twist.now[..., 0], 1e-12)
    dS = along(problem.S, problem.x, problem.dx)
    same(problem.H @ (problem.S(problem.x) @ problem.ddx + dS @ problem.dx), twist.rate.now[..., 0], 1e-11)


@each_case("name", NAMES)
def test_S_of_the_library(name, rng):
    """[From 28-29, 34, 55]: the library's closed forms, from tiny to large coordinates, are the printed series."""
    m = SELECTION[name].shape[1]
    for scale in (0.0, 1e-9, 1e-4, 1e-2, 0.3, 2.0):
        phi = scale * rng.normal(size=(SAMPLES, m))
        same(library(name).S(phi), S(name, phi), 1e-13)
        same(library(name).S_inverse(phi) @ S(name, phi), np.broadcast_to(np.eye(m), (SAMPLES, m, m)), 1e-12)
        three_terms = [np.eye(m) - a / 2 + a @ a / 6 for a in library(name).ad(phi)]
        bound = 1e-12 + 10 * scale**3
        same(library(name).S(phi), np.stack(three_terms), bound)


def test_partial_derivatives_of_the_lagrangian(problem):
    """[From 13-16]: dL/dv = M v, its time derivative, and dL/dx = -dU/dx."""
    x, v = problem.x, problem.v
    dv = (problem.motion.inverse @ problem.motion.rate).map(twist_vector).rate.now[..., 0]
    dv = np.linalg.lstsq(problem.H, dv, rcond=None)[0]
    same(gradient(lambda v: problem.L(x, v), v), problem.M @ v)
    same(along(lambda v: problem.M @ v, v, dv), problem.M @ dv)
    same(gradient(lambda x: problem.L(x, v), x), -gradient(problem.U, x))


def test_lagranges_equations_in_x(problem):
    """[From 17-24, 30-31]: each partial derivative of L_bar, then S^T tau on the right, with tau from Newton's law."""
    P, x, dx, ddx = problem, problem.x, problem.dx, problem.ddx
    S, dL_dv = P.S(x), P.M @ P.v
    dL_dx = -gradient(P.U, x)
    same(P.L_bar(x, dx), P.L(x, P.v))
    same(gradient(lambda dx: P.L_bar(x, dx), dx), S.T @ dL_dv, 1e-12)

    def momentum(state):
        x, dx = state
        return P.S(x).T @ P.M @ P.S(x) @ dx

    rate = along(momentum, np.stack([x, dx]), np.stack([dx, ddx]))
    dS = along(P.S, x, dx)
    dv = S @ ddx + dS @ dx
    same(rate, dS.T @ dL_dv + S.T @ P.M @ dv, 1e-12)
    swept = jacobian(lambda x: P.S(x) @ dx, x)
    dLbar_dx = gradient(lambda x: P.L_bar(x, dx), x)
    same(dLbar_dx, swept.T @ P.M @ S @ dx - gradient(P.U, x), 1e-12)
    same(dLbar_dx, dL_dx + swept.T @ dL_dv, 1e-12)
    tau = P.inertial_force - np.linalg.solve(S.T, dL_dx)  # the actuators also hold the potential
    same(rate - dLbar_dx, S.T @ tau, 1e-11)
    same(S.T @ P.M @ dv + dS.T @ dL_dv - dL_dx - swept.T @ dL_dv, S.T @ tau, 1e-11)
    power = (P.cloud.masses * P.cloud.paths(P.motion).rate.now * P.cloud.paths(P.motion).rate.rate.now).sum()
    same(P.v @ P.inertial_force, power, 1e-12)
    same(dx @ S.T @ P.inertial_force, power, 1e-12)


def gamma(P):
    """[From 46] at the state of the problem: gamma[k, i, j]."""
    Si = np.linalg.inv(P.S(P.x))
    d = jacobian(P.S, P.x)  # d[j, l, m] = dS_jl / dq_m
    return np.einsum("li,jlm,mk->kij", Si, d, Si) - np.einsum("li,jml,mk->kij", Si, d, Si)


def test_boltzmann_hamel(problem):
    """[From 25-27, §2.2, Prop. 2.1]: both forms give the force of Newton's law."""
    P, x, dx = problem, problem.x, problem.dx
    S, dS, dL_dv = P.S(x), along(P.S, x, dx), P.M @ P.v
    dv = S @ P.ddx + dS @ dx
    dL_dx = -gradient(P.U, x)
    swept = jacobian(lambda x: P.S(x) @ dx, x)
    tau = P.inertial_force - np.linalg.solve(S.T, dL_dx)
    form_26 = P.M @ dv - np.linalg.solve(S.T, dL_dx) + np.linalg.solve(S.T, (dS.T - swept.T) @ dL_dv)
    same(form_26, tau, 1e-11)
    form_27 = P.M @ dv - np.linalg.solve(S.T, dL_dx) + np.einsum("kij,k,j->i", gamma(P), P.v, dL_dv)
    same(form_27, tau, 1e-11)


@each_case("name", NAMES)
def test_dynamics_of_the_library(name, rng):
    """[From 26-27, Prop. 2.1]: forward and inverse dynamics of every group agree with the particles."""
    cloud = Cloud(rng)
    H = SELECTION[name]
    M = inertia(name, cloud.inertia)
    A_H_B = random_motion(rng, (SAMPLES,), H)
    v = np.linalg.lstsq(H, np.moveaxis(left := _twists(A_H_B)[0], 0, -1), rcond=None)[0].T
    dv = np.linalg.lstsq(H, np.moveaxis(_twists(A_H_B)[1], 0, -1), rcond=None)[0].T
    same(mul(H, v), left, 1e-12)
    tau = cloud.wrench(A_H_B) @ H
    same(library(name).inverse_dynamics(M, v, dv), tau, 1e-11)
    same(library(name).forward_dynamics(M, v, tau), dv, 1e-10)
    same(library(name).inertia(cloud.inertia), M, 1e-12)


def _twists(A_H_B):
    twist = (A_H_B.inverse @ A_H_B.rate).map(twist_vector)
    return twist.now[..., 0], twist.rate.now[..., 0]
