"""Every slip of From's paper in docs/errata.md: the printed form fails, the corrected form passes."""

import numpy as np
import pytest

from ..every_law import each_case
from .motions import Cloud, Series, random_motion, steered_motion, twist_matrix, twist_vector
from .subgroups import C_57, CURVED, PITCH, SELECTION, S, ad, dim, dS, inertia, structure
from .truth import STEP, hat, same


@pytest.fixture
def rng():
    return np.random.default_rng(33)


def unlike(a, b, least=1e-3):
    """The two differ, in shape or by more than rounding."""
    assert np.shape(a) != np.shape(b) or np.abs(np.asarray(a) - np.asarray(b)).max() > least


class Body:
    """M, v, dv and the tau of particles that move in the subgroup."""

    def __init__(self, name, rng, principal=False):
        H = SELECTION[name]
        cloud = Cloud(rng).principal() if principal else Cloud(rng)
        self.M = inertia(name, cloud.inertia)
        self.v, self.dv = rng.normal(size=(2, dim(name)))
        self.motion = steered_motion(random_motion(rng, (), H).now, self.v, self.dv, H)
        self.cloud, self.p = cloud, self.M @ self.v
        self.tau = H.T @ cloud.wrench(self.motion)
        self.coriolis = self.tau - self.M @ self.dv


def at(name, phi):
    """S^-1, and d[j, l, m] = dS_jl/dphi_m."""
    return np.linalg.inv(S(name, phi)), dS(name, phi)


def swapped(name, p):
    """From's tilde ad: p . [e_i, e_j]."""
    return np.einsum("kij,k->ij", structure(name), p)


@pytest.mark.parametrize("name", CURVED)
def test_from1_duindams_coriolis_matrix(name, rng):
    """[From 33-37]: -ad_(Mv)^T v is not what the momentum balance asks for; [From 57] is."""
    body = Body(name, rng)
    d = dS(name, np.zeros(dim(name)))
    printed = np.einsum("jik,k->ij", d, body.p) - np.einsum("jki,k->ij", d, body.p)
    same(printed, -ad(name, body.p).T)
    unlike(printed @ body.v, body.coriolis)
    same(C_57(name, body.M, body.v) @ body.v, body.coriolis, 1e-12)


@pytest.mark.parametrize("name", CURVED)
def test_from2_the_velocity_is_lost(name, rng):
    """[From 33, 49]: as printed C does not depend on v, so C v is not quadratic; with v_l, v_k they are (35), (50)."""
    body = Body(name, rng)
    Si, d = at(name, np.zeros(dim(name)))
    difference = d - np.swapaxes(d, 1, 2)
    printed_33 = np.einsum("mi,jms,sk,kl->ij", Si, difference, Si, body.M)
    printed_49 = np.einsum("li,slm,mj,sk->ij", Si, difference, Si, body.M)
    unlike(printed_33, -ad(name, body.p).T)
    unlike(printed_49 @ body.v, body.coriolis)
    with_v_33 = np.einsum("mi,jms,sk,kl,l->ij", Si, difference, Si, body.M, body.v)
    with_v_49 = np.einsum("li,slm,mj,sk,k->ij", Si, difference, Si, body.M, body.v)
    same(with_v_33, -ad(name, body.p).T, 1e-13)
    same(with_v_49 @ body.v, body.coriolis, 1e-12)


@pytest.mark.parametrize("name", CURVED)
def test_from3_the_second_derivative_has_the_summed_index(name, rng):
    """[From 49-50]: dS_sj/dphi_l must be dS_sm/dphi_l. At phi = 0 the two agree, elsewhere only the latter holds."""
    body = Body(name, rng)
    for phi, agree in ((np.zeros(dim(name)), True), (rng.normal(size=dim(name)), False)):
        Si, d = at(name, phi)
        first = np.einsum("li,slm,mj,s->ij", Si, d, Si, body.p)
        printed = first - np.einsum("li,sjl,mj,s->ij", Si, d, Si, body.p)
        correct = first - np.einsum("li,sml,mj,s->ij", Si, d, Si, body.p)
        assert np.allclose(printed @ body.v, body.coriolis, atol=1e-3) == agree
        same(correct @ body.v, body.coriolis, 1e-11)


def test_from4_the_minus_belongs_under_the_brace(rng):
    """[From 21, 45]: dL/dx is -dU/dx, and gamma_(k,2) is the negative of what stands over its brace."""
    x, v, M = rng.normal(size=3), rng.normal(size=3), np.diag([1.0, 2, 3])

    def gradient(f):
        return np.array([f(x + e) for e in np.eye(3) * 1j * STEP]).imag / STEP

    dU = gradient(lambda x: np.sin(x).sum())
    dL = gradient(lambda x: 0.5 * v @ M @ v - np.sin(x).sum())
    unlike(dU, dL)
    same(-dU, dL)
    Si, d = at("SO(3)", x)
    gamma_1, brace = np.einsum("li,jlm,mk->kij", Si, d, Si), np.einsum("li,jml,mk->kij", Si, d, Si)
    gamma = np.einsum("li,jlm,mk->kij", Si, d - np.swapaxes(d, 1, 2), Si)
    unlike(gamma_1 + brace, gamma)
    same(gamma_1 - brace, gamma, 1e-12)


def test_from5_v_tau_is_power(rng):
    """[From 24]: W = v^T tau is no work: it is the rate of the kinetic energy. Over h seconds the work is h W."""
    body = Body("SE(3)", rng)
    h = 1e-6
    before, after = (0.5 * v @ body.M @ v for v in (body.v - h / 2 * body.dv, body.v + h / 2 * body.dv))
    unlike(body.v @ body.tau, after - before)
    same((after - before) / h, body.v @ body.tau, 1e-6)


def test_from6_v_comes_from_the_rate_of_the_coordinates(rng):
    """[From 17]: v is not S(x) times the derivative of the generalized velocity, but of the coordinates."""
    phi, dphi, ddphi = rng.normal(size=(3, 6))
    path = Series(twist_matrix(np.stack([phi, dphi, ddphi / 2]))).exp
    twist = twist_vector((path.inverse @ path.rate).now)[..., 0]
    unlike(S("SE(3)", phi) @ ddphi, twist)
    same(S("SE(3)", phi) @ dphi, twist, 1e-12)


def test_from7_the_sum_over_s_includes_the_momentum(rng):
    """[From 53]: (sum_s ...)_is (Mv)_s closes the sum too early: no s makes it the Coriolis vector."""
    body = Body("SE(3)", rng)
    Si, d = at("SE(3)", np.zeros(6))
    gamma_v = np.einsum("li,slm,mk,k->is", Si, d - np.swapaxes(d, 1, 2), Si, body.v)
    for s in range(6):
        unlike(gamma_v.sum(1) * body.p[s], body.coriolis)
    same(gamma_v @ body.p, body.coriolis, 1e-12)


def test_from8_third_column(rng):
    """[From 66]: the first row's last entry is a derivative by phi_3, not by phi_2."""
    p = rng.normal(size=3)
    d = np.stack([hat(e) for e in np.eye(3)], axis=-1)  # d[k, i, j] = dphi^_ki / dphi_j
    entries = -0.5 * np.einsum("kij,k->ij", d, p)
    printed = entries.copy()
    printed[0, 2] = -0.5 * d[:, 0, 1] @ p
    unlike(printed, -0.5 * hat(p))
    same(entries, -0.5 * hat(p))


def test_from9_ad_instead_of_hat_on_se2(rng):
    """[From 80-81]: with phi^ of (78) the entries are not the printed result; with ad_phi they are."""
    p = rng.normal(size=3)
    result = -0.5 * np.array([[0, 0, p[1]], [0, 0, -p[0]], [-p[1], p[0], 0]])
    hats = np.stack([[[0, -r, u], [r, 0, v], [0, 0, 0]] for u, v, r in np.eye(3)], axis=-1)
    ads = np.stack([ad("SE(2)", e) for e in np.eye(3)], axis=-1)
    unlike(-0.5 * np.einsum("kij,k->ij", hats, p), result)
    same(-0.5 * np.einsum("kij,k->ij", ads, p), result)
    unlike(-0.5 * np.einsum("kji,k->ij", hats, p), -result)
    same(-0.5 * np.einsum("kji,k->ij", ads, p), -result)


@pytest.mark.parametrize("name", ["SE(2)", "X(z)"])
def test_from10_sign_of_the_reduced_matrix(name, rng):
    """[From 79, 90]: S_r is -ad/2; with +ad/2 as printed the Coriolis forces change their sign."""
    body = Body(name, rng)
    ads = np.stack([ad(name, e) for e in np.eye(dim(name))], axis=-1)
    for sign, right in ((0.5, False), (-0.5, True)):
        d = sign * ads
        C = np.einsum("kij,k->ij", d - np.swapaxes(d, 1, 2), body.p)
        assert np.allclose(C @ body.v, body.coriolis, atol=1e-6) == right
        assert np.allclose(d, dS(name, np.zeros(dim(name)))) == right


@pytest.mark.parametrize("name", ["SE(3)", "X(z)"])
def test_from11_the_tilde_is_lost(name, rng):
    """[From 74, 93-94, Table 2]: C is the swapped adjoint of Mv; ad_(Mv) without the tilde is another matrix."""
    body = Body(name, rng)
    unlike(body.M @ body.dv + ad(name, body.p) @ body.v, body.tau)
    same(body.M @ body.dv + swapped(name, body.p) @ body.v, body.tau, 1e-12)


def test_from12_no_sum_over_k(rng):
    """[From 72-74]: {dS_ki/dphi_j}_ij is half the swapped adjoint of e_k for each k; the sum over k is not."""
    d = dS("SE(3)", np.zeros(6))
    for k, e_k in enumerate(np.eye(6)):
        unlike(d.sum(0), 0.5 * swapped("SE(3)", e_k))
        same(d[k], 0.5 * swapped("SE(3)", e_k))
    p = rng.normal(size=6)
    same(np.einsum("kij,k->ij", d, p), 0.5 * swapped("SE(3)", p))


def test_from13_the_last_of_the_six_equations(rng):
    """[From §4.2]: I_z dr - I_x q p + I_y r q has a wrong product: it is I_y p q."""
    body = Body("SE(3)", rng, principal=True)
    (_, _, _, Ix, Iy, Iz), (p, q, r), dr = np.diag(body.M), body.v[3:], body.dv[5]
    unlike(Iz * dr - Ix * q * p + Iy * r * q, body.tau[5])
    same(Iz * dr - Ix * q * p + Iy * p * q, body.tau[5], 1e-12)


def test_from14_a_diagonal_inertia_is_not_enough(rng):
    """[From 76, 96, §4.2]: "M diagonal" needs equal masses: with added mass the torque v x (m v) stays."""
    M = np.diag([1.0, 2, 3, 4, 5, 6])
    V = rng.normal(size=6)
    v, w = V[:3], V[3:]
    exact = -ad("SE(3)", V).T @ M @ V
    printed = np.concatenate([np.cross(w, M[:3, :3] @ v), np.cross(w, M[3:, 3:] @ w)])
    unlike(printed[3:], exact[3:])
    same(printed + np.append(np.zeros(3), np.cross(v, M[:3, :3] @ v)), exact, 1e-13)
    equal = np.diag([2.0, 2, 2, 4, 5, 6])
    same(np.append(2 * np.cross(w, v), np.cross(w, equal[3:, 3:] @ w)), -ad("SE(3)", V).T @ equal @ V, 1e-13)


@pytest.mark.parametrize("name", ["SE(2)", "X(z)"])
def test_from15_the_velocity_state_is_v(name, rng):
    """[From 77, 88]: [u v r] is the state v; the twist V has six entries, H v."""
    v = rng.normal(size=dim(name))
    H = SELECTION[name]
    motion = random_motion(rng, (), H)
    V = twist_vector((motion.inverse @ motion.rate).now)[..., 0]
    unlike(v, V)
    assert (H @ v).shape == V.shape == (6,)
    same(H @ (H.T @ V), V, 1e-12)


def test_from16_the_transpose_does_not_select_on_a_screw(rng):
    """[From 58-60, Def. 4.2]: for the helical group H^T H v = (1 + h^2) v; the pseudo-inverse selects. M is right."""
    H, v = SELECTION["H"], rng.uniform(1, 2, size=1)
    V = H @ v
    unlike(H.T @ V, v, 1e-2)
    same(np.linalg.pinv(H) @ V, v)
    assert np.sum(~H.any(axis=1)) == 4  # all-zero rows, which is not 6 - m = 5
    cloud = Cloud(rng)
    same(v @ inertia("H", cloud.inertia) @ v, V @ cloud.inertia @ V)


def test_from17_translations_do_not_rotate(rng):
    """[From Table 1]: the V^ of R^3 contains r; exp of the right one has no rotation, and ad is 3x3."""
    u, v, w, r = rng.normal(size=4)
    printed = np.array([[0, -r, 0, u], [r, 0, 0, v], [0, 0, 0, w], [0, 0, 0, 0]])
    correct = np.array([[0, 0, 0, u], [0, 0, 0, v], [0, 0, 0, w], [0, 0, 0, 0]])
    unlike(printed, twist_matrix(SELECTION["R^3"] @ [u, v, w]))
    same(correct, twist_matrix(SELECTION["R^3"] @ [u, v, w]))
    unlike(np.zeros((4, 4)), ad("R^3", np.array([u, v, w])))
    same(np.zeros((3, 3)), ad("R^3", np.array([u, v, w])))


def test_from18_sign_of_the_coriolis_matrix_of_so3(rng):
    """[From 68, Table 1]: C is -(Mv)^, as in (68) and Table 2; Table 1 prints +p^."""
    body = Body("SO(3)", rng)
    unlike(body.M @ body.dv + hat(body.p) @ body.v, body.tau)
    same(body.M @ body.dv - hat(body.p) @ body.v, body.tau, 1e-12)
    same(swapped("SO(3)", body.p), -hat(body.p))


@pytest.mark.parametrize("name", ["R", "H", "SO(2)"])
def test_from19_one_dimensional_algebras_are_not_zero(name, rng):
    """[From Table 1]: V^ = 0 would never move; ad and the Coriolis matrix are 0 as printed."""
    v = rng.normal(size=1)
    V_hat = twist_matrix(SELECTION[name] @ v)
    unlike(np.zeros_like(V_hat), V_hat)
    u, r = {"R": (v[0], 0.0), "H": (PITCH * v[0], v[0]), "SO(2)": (0.0, v[0])}[name]
    same(np.array([[0, -r, 0, 0], [r, 0, 0, 0], [0, 0, 0, u], [0, 0, 0, 0]]), V_hat)
    assert not ad(name, v).any()
    assert not swapped(name, v).any()


def test_from20_ad_has_negative_entries(rng):
    """[From 97, Def. 5.1]: entries of x_bar are some x_k or 0; ad_x has -x_k too, so it needs Lemma 5.2."""
    x = rng.uniform(1, 2, size=3)
    assert not set(ad("SO(3)", x).ravel()) <= {0.0, *x}
    positive, negative = np.maximum(ad("SO(3)", x), 0), np.maximum(-ad("SO(3)", x), 0)
    assert set(positive.ravel()) | set(negative.ravel()) <= {0.0, *x}
    same(positive - negative, ad("SO(3)", x))


def test_from21_linear_not_affine(rng):
    """[From 99, Lemma 5.2]: a constant part does not swap; linear combinations do, with any sum of coefficients."""
    x, y = rng.normal(size=(2, 3))
    P, constant = rng.normal(size=(3, 3, 3)), rng.normal(size=(3, 3))
    y_bar = np.einsum("ikj,k->ij", P, y)  # (98): the derivative does not see the constant
    unlike((P @ x + constant) @ y, y_bar @ x)
    same((P @ x) @ y, y_bar @ x)


def test_from22_the_adjoint_of_the_group_itself(rng):
    """[From 100, Lemma 5.3]: "as in (8)" fits SE(3) alone: on SE(2), S of H v by (8) is 6x6, and m is 3."""
    phi = rng.normal(size=3)
    H = SELECTION["SE(2)"]
    unlike(S("SE(3)", H @ phi), S("SE(2)", phi))
    same(np.linalg.pinv(H) @ S("SE(3)", H @ phi) @ H, S("SE(2)", phi), 1e-13)


def test_from23_indices_of_the_first_line(rng):
    """[From 103]: neither the products nor their origin are right."""
    X, Y = np.vstack([np.zeros(2), rng.normal(size=(6, 2))]).T  # from index 1
    value = (ad("SE(3)", X[1:]) @ Y[1:])[0]
    unlike(-X[3] * Y[2] + Y[3] * X[2] - X[6] * Y[3] + Y[6] * X[5], value)
    from_XY, from_YX = -X[6] * Y[2] + X[5] * Y[3], X[2] * Y[6] - X[3] * Y[5]
    same(from_XY + from_YX, value)
    same(from_XY, (twist_matrix(X[1:]) @ twist_matrix(Y[1:]))[0, 3])
    same(from_YX, -(twist_matrix(Y[1:]) @ twist_matrix(X[1:]))[0, 3])


@each_case("name", CURVED)
def test_from24_which_derivatives_are_opposite(name):
    """[From 103, Lemma 5.3]: d(ad)_ki/dphi_i = -d(ad)_ki/dphi_i as printed says 0 = 0; it is ki, j against kj, i."""
    d = np.stack([ad(name, e) for e in np.eye(dim(name))], axis=-1)  # d[k, i, j]
    same(np.einsum("kii->ki", d), np.zeros((dim(name), dim(name))))
    assert d.any()
    same(d, -np.swapaxes(d, 1, 2))


@pytest.mark.parametrize("name", CURVED)
def test_from25_a_vector_is_not_a_matrix(name, rng):
    """[From 110-111]: the right-hand sides are matrices; times v they are the vectors on the left."""
    body = Body(name, rng)
    d = np.stack([ad(name, e) for e in np.eye(dim(name))], axis=-1)
    for vector, matrix in (
        (ad(name, body.v) @ body.p, np.einsum("ikj,k->ij", d, body.p)),
        (ad(name, body.v).T @ body.p, np.einsum("kij,k->ij", d, body.p)),
    ):
        unlike(matrix, vector)
        same(matrix @ body.v, vector, 1e-12)


@pytest.mark.parametrize("name", CURVED)
def test_from26_the_proof_ends_with_111(name, rng):
    """[From 109-111, Prop. 5.1]: (110) cannot be rewritten as (109); the negative of (111) can."""
    body = Body(name, rng)
    d = np.stack([ad(name, e) for e in np.eye(dim(name))], axis=-1)
    matrix_110, matrix_111 = np.einsum("ikj,k->ij", d, body.p), np.einsum("kij,k->ij", d, body.p)
    C = C_57(name, body.M, body.v)
    if name != "SO(3)":  # where ad is skew, so that (110) is the negative of (111)
        unlike(matrix_110, C)
    unlike(-matrix_110, C)
    same(-matrix_111, C, 1e-12)
