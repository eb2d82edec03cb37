"""From, sections 2.3 and 3: the Coriolis matrix that is wrong, the one that is right, and every step between.

The truth is the momentum balance in the inertial frame: a cloud of particles moves in the subgroup, and the rate of its
linear and angular momentum, taken in the inertial frame, is the wrench that M dv + C(v) v must give.
"""

import numpy as np
import pytest

from .motions import Cloud, constant, random_motion, steered_motion
from .multibody_notation import Xf_59
from .subgroups import C_57, CURVED, FLAT, NAMES, SELECTION, S, ad, dS, inertia, library
from .truth import STEP, same


@pytest.fixture
def rng():
    return np.random.default_rng(57)


@pytest.fixture(params=NAMES)
def name(request):
    return request.param


class State:
    """A rigid body in a subgroup of SE(3): M, one v and dv, and tau by the momentum balance in the inertial frame."""

    def __init__(self, name, rng):
        H = SELECTION[name]
        cloud = Cloud(rng)
        self.name, self.m = name, H.shape[1]
        self.M = inertia(name, cloud.inertia)
        self.v, self.dv = rng.normal(size=(2, self.m))
        A_H_B = random_motion(rng, (), H).now
        momentum_rate = cloud.momentum(steered_motion(A_H_B, self.v, self.dv, H)).rate.now[..., 0]
        B_f = Xf_59(np.linalg.inv(A_H_B)) @ momentum_rate  # about the origin of B, in its axes
        self.tau = H.T @ B_f
        self.p = self.M @ self.v
        self.coriolis = self.tau - self.M @ self.dv  # what C(v) v must be


@pytest.fixture
def state(name, rng):
    return State(name, rng)


def at(name, phi):
    """S^-1 and d[j, l, m] = dS_jl/dphi_m at phi."""
    return np.linalg.inv(S(name, phi)), dS(name, phi)


def duindam_33(name, M, v, phi):
    """[From 33], with the v_l that the print has lost."""
    Si, d = at(name, phi)
    difference = d - np.swapaxes(d, 1, 2)  # [j, m, s]: dS_jm/dphi_s - dS_js/dphi_m
    return np.einsum("mi,jms,sk,kl,l->ij", Si, difference, Si, M, v)


def duindam_35(name, p):
    """[From 35], index by index."""
    d = dS(name, np.zeros(len(p)))
    n = range(len(p))
    return np.array([[sum((d[j, i, k] - d[j, k, i]) * p[k] for k in n) for j in n] for i in n])


def test_the_momentum_balance_is_the_particles_newton_law(state):
    """[From 32, 48]: the truth of this file agrees with Newton's law particle by particle (two independent sums)."""
    rng = np.random.default_rng(57)
    H, cloud = SELECTION[state.name], Cloud(rng)
    v, dv = rng.normal(size=(2, state.m))
    A_H_B = random_motion(rng, (), H).now
    same(H.T @ cloud.wrench(steered_motion(A_H_B, v, dv, H)), state.tau, 1e-12)


@pytest.mark.parametrize("name", CURVED)
def test_the_published_coriolis_matrix_is_wrong(state):
    """[From 32-37, §2.3]: the forms of Duindam and Stramigioli agree with each other, not with momentum."""
    name, M, v, p = state.name, state.M, state.v, state.p
    C = duindam_33(name, M, v, np.zeros(state.m))
    same(duindam_35(name, p), C, 1e-13)
    same(-ad(name, p).T, C, 1e-13)
    assert np.abs(C @ v - state.coriolis).max() > 1e-2
    assert np.abs(M @ state.dv + C @ v - state.tau).max() > 1e-2
    assert np.abs(C - library(name).C(M, v)).max() > 1e-2


def test_the_matrices_under_equation_35(name):
    """[From 34-36]: {dS_ji/dphi_k}_ij = -ad_ek^T/2 and {dS_jk/dphi_i}_ij = +ad_ek^T/2."""
    m = SELECTION[name].shape[1]
    d = dS(name, np.zeros(m))
    for k in range(m):
        e_k = np.eye(m)[k]
        same(d[:, :, k].T, -ad(name, e_k).T / 2)
        same(d[:, k, :].T, ad(name, e_k).T / 2)


def test_the_published_matrix_has_the_wrong_sign_on_SO3(rng):
    """[From 36-37]: on SO(3) it is +(Mv)^, the negative of [From 68]."""
    state = State("SO(3)", rng)
    same(-ad("SO(3)", state.p).T @ state.v, -state.coriolis, 1e-12)


def test_the_corrected_coriolis_matrix_is_right(state):
    """[From 48, 51, 57, §3, Prop. 3.1]: C(v) v from the derivatives of S is what the momentum balance asks for."""
    C = C_57(state.name, state.M, state.v)
    same(C @ state.v, state.coriolis, 1e-12)
    same(state.M @ state.dv + C @ state.v, state.tau, 1e-12)
    same(library(state.name).C(state.M, state.v), C, 1e-13)
    same(library(state.name).inverse_dynamics(state.M, state.v, state.dv), state.tau, 1e-12)


def test_C_is_skew_so_kinetic_energy_changes_by_power_alone(state):
    """[From 57]: v^T C v = 0, and here C itself is skew (M is constant)."""
    C = C_57(state.name, state.M, state.v)
    same(C, -C.T)
    same(state.v @ state.M @ state.dv, state.v @ state.tau, 1e-12)


@pytest.mark.parametrize("name", FLAT)
def test_no_coriolis_terms_without_a_bracket(state):
    """[From §4.6, §4.7]: on abelian groups C vanishes."""
    assert not C_57(state.name, state.M, state.v).any()
    same(state.coriolis, np.zeros(state.m), 1e-12)
    assert not library(state.name).C(state.M, state.v).any()


def test_derivatives_of_S_by_central_differences(name):
    """[From 55, 57]: the complex steps of this file agree with central differences of the series at 0."""
    m = SELECTION[name].shape[1]
    h = 1e-5
    central = np.stack([(S(name, h * e) - S(name, -h * e)) / (2 * h) for e in np.eye(m)], axis=-1)
    same(dS(name, np.zeros(m)), central, 1e-10)
    library_S = library(name).S
    central = np.stack([(library_S(h * e) - library_S(-h * e)) / (2 * h) for e in np.eye(m)], axis=-1)
    same(dS(name, np.zeros(m)), central, 1e-9)


# Section 3, step by step, away from phi = 0 as well.


@pytest.fixture(params=[0.0, 0.9])
def local(request, name, rng):
    """A group and phi, dphi, v = S dphi; phi = 0 or not."""
    m = SELECTION[name].shape[1]
    phi, dphi = request.param * rng.normal(size=m), rng.normal(size=m)
    return name, phi, dphi, S(name, phi) @ dphi


def test_the_two_parts_of_gamma(local):
    """[From 38-45]: S^-T, dS/dt^T and d(S dq)/dq^T entry by entry; gamma_1 and gamma_2 free of dq."""
    name, q, dq, v = local
    n = range(len(q))
    Si, d = at(name, q)
    for i in n:
        for j in n:
            same(np.linalg.inv(S(name, q)).T[i, j], Si[j, i])
    S_dot_T = (S(name, q + 1j * STEP * dq).imag / STEP).T
    same(S_dot_T, np.array([[sum(d[j, i, m] * dq[m] for m in n) for j in n] for i in n]), 1e-12)
    swept = np.stack([(S(name, q + 1j * STEP * e) @ dq).imag / STEP for e in np.eye(len(q))], axis=-1)
    same(swept.T, np.array([[sum(d[j, m, i] * dq[m] for m in n) for j in n] for i in n]), 1e-12)
    gamma_1 = np.einsum("li,jlm,mk->kij", Si, d, Si)
    gamma_2 = -np.einsum("li,jml,mk->kij", Si, d, Si)
    same(np.einsum("kij,k->ij", gamma_1, v), Si.T @ S_dot_T, 1e-12)
    same(np.einsum("kij,k->ij", gamma_2, v), -Si.T @ swept.T, 1e-12)


def gamma_46(name, q):
    """[From 46-47], index by index: gamma[k, i, j]."""
    Si, d = at(name, q)
    n = range(len(q))
    return np.array(
        [
            [[sum(Si[l, i] * (d[j, l, m] - d[j, m, l]) * Si[m, k] for l in n for m in n) for j in n] for i in n]
            for k in n
        ]
    )


def test_gamma_is_constant_because_the_frame_is_left_invariant(name, rng):
    """[From 46-47]: gamma_k of S(phi) does not depend on phi: it is the bracket, (gamma_k)_ij = [e_i, e_k]_j."""
    m = SELECTION[name].shape[1]
    bracket = np.stack([[ad(name, e_i) @ e_k for e_i in np.eye(m)] for e_k in np.eye(m)])
    for scale in (0.0, 0.5, 1.5):
        same(gamma_46(name, scale * rng.normal(size=m)), bracket, 1e-12)
    structure = library(name).structure  # [e_i, e_j] = sum_k structure[k, i, j] e_k
    same(structure, np.moveaxis(bracket, (0, 1, 2), (2, 1, 0)), 1e-14)


def test_coriolis_vector_from_gamma(local, rng):
    """[From 38, 47, 52-54]: each rearrangement of the proof gives the same vector c = C v, at any phi."""
    name, phi, _, _ = local
    state = State(name, rng)
    M, v, p = state.M, state.v, state.p
    gamma = gamma_46(name, phi)
    Si, d = at(name, phi)
    difference = d - np.swapaxes(d, 1, 2)  # [s, l, m]: dS_sl/dphi_m - dS_sm/dphi_l
    C_52 = np.einsum("li,slm,mk,k,sj->ij", Si, difference, Si, v, M)
    same(C_52, np.einsum("kis,k,sj->ij", gamma, v, M), 1e-12)
    same(C_52 @ v, state.coriolis, 1e-11)
    same(np.einsum("kis,k,s->i", gamma, v, p), state.coriolis, 1e-11)
    C_54 = np.einsum("li,slm,mj,s->ij", Si, difference, Si, p)
    same(C_54 @ v, state.coriolis, 1e-11)
    same(library(name).C(M, v) @ v, C_54 @ v, 1e-11)


def test_proposition_3_1_at_zero(state):
    """[From 49-51, 56, Prop. 3.1]: at phi = 0, with the lost v_k in (49) and the index m in both, all are (57)."""
    name, M, v, p = state.name, state.M, state.v, state.p
    Si, d = at(name, np.zeros(state.m))
    difference = d - np.swapaxes(d, 1, 2)
    C_49 = np.einsum("li,slm,mj,sk,k->ij", Si, difference, Si, M, v)
    C_50 = np.einsum("li,slm,mj,s->ij", Si, difference, Si, p)
    n = range(state.m)
    C_56 = np.array([[sum(Si[i, i] * (d[s, i, j] - d[s, j, i]) * Si[j, j] * p[s] for s in n) for j in n] for i in n])
    for C in (C_49, C_50, C_56):
        same(C, C_57(name, M, v), 1e-13)


def test_the_equations_do_not_depend_on_the_chart(name, rng):
    """[From 47, 57]: M and C(v) are the same around every g; a motion from g0 needs the same tau as one from I."""
    cloud, H = Cloud(rng), SELECTION[name]
    v, dv = rng.normal(size=(2, 4, H.shape[1]))
    g0 = random_motion(rng, (), H).now
    motion = steered_motion(np.broadcast_to(np.eye(4), (4, 4, 4)), v, dv, H)
    same(cloud.wrench(constant(g0) @ motion) @ H, cloud.wrench(motion) @ H, 1e-12)
