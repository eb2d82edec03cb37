"""The axioms of Lie groups and of motion on them: for every group, batch shape and precision."""

import zlib
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy.linalg import expm

import multibody as mb
from multibody.geometry import groups

from ..every_law import each_case
from ..surface import GROUPS, inertial_parameters
from .tools import TOLERANCE, T, difference, mul, near, vectors

BATCHES = {  # two batch shapes, which broadcast to the third
    "single": ((), (), ()),
    "empty": ((0,), (0,), (0,)),
    "one": ((1,), (1,), (1,)),
    "five": ((5,), (5,), (5,)),
    "grid": ((2, 3), (2, 3), (2, 3)),
    "broadcast": ((2, 1), (3,), (2, 3)),
}
ABELIAN = {"SO2", "R1", "R2", "R3", "Helical-0.2", "Helical--1.5"}


@dataclass
class Case:
    """A group, vectors x and y and inertias M of its algebra, and the elements g = exp(x), h = exp(y)."""

    G: Any
    x: np.ndarray
    y: np.ndarray
    M: np.ndarray
    dtype: type
    batch: tuple[int, ...]

    @property
    def g(self):
        return self.G.exp(self.x)

    @property
    def h(self):
        return self.G.exp(self.y)

    def near(self, found, expected, times=1.0):
        """Close within the precision of the case, and of that precision."""
        assert np.asarray(found).dtype == self.dtype
        near(found, expected, times * TOLERANCE[self.dtype])


def make(name, batches="single", dtype=np.float64):
    G = GROUPS[name]
    rng = np.random.default_rng(zlib.crc32(f"{name} {batches}".encode()))
    one, two, both = BATCHES[batches]
    x, y = rng.uniform(-1.5, 1.5, (*one, G.dim)), rng.uniform(-1.5, 1.5, (*two, G.dim))
    A = rng.uniform(-1, 1, (*two, G.dim, G.dim))
    M = A @ T(A) + np.eye(G.dim)
    return Case(G, x.astype(dtype), y.astype(dtype), M.astype(dtype), dtype, both)


CASES = list(product(GROUPS, BATCHES, (np.float64, np.float32)))
every_group = each_case("name", GROUPS)


every_case = each_case(
    "case",
    [make(*arguments) for arguments in CASES],
    ids=[f"{name}-{batches}-{dtype.__name__}" for name, batches, dtype in CASES],
)


def wide(x):
    return np.asarray(x, np.float64)


# ---- the group -------------------------------------------------------------------------------------------------------


@every_case
def test_products_stay_in_the_group(case):
    """Of elements of the group, exp(log(g h)) is g h; other matrices do not come back."""
    gh = case.g @ case.h
    assert gh.shape == (*case.batch, case.G.size, case.G.size)
    case.near(case.G.exp(case.G.log(gh)), gh, 10)


@every_case
def test_composition_is_that_of_poses_and_associative(case):
    """g -> pose(g) is a homomorphism into SE(3); (g h) g is g (h g) through it.  [From Def. 4.1]"""
    G, g, h = case.G, case.g, case.h
    left, right = (G.pose(g) @ G.pose(h)) @ G.pose(g), G.pose(g) @ G.pose(h @ g)
    case.near(left.matrix, right.matrix)
    case.near((G.pose(g) @ G.pose(h)).matrix, G.pose(g @ h).matrix)


@every_case
def test_the_identity_is_exp_of_zero_and_neutral(case):
    G, x = case.G, case.x
    identity = G.identity(x.shape[:-1])
    case.near(G.exp(0 * x), identity)
    case.near(G.log(identity.astype(case.dtype)), 0 * x)
    near(G.pose(identity).matrix, np.broadcast_to(np.eye(4), (*x.shape[:-1], 4, 4)))
    near(identity @ wide(case.g), wide(case.g))


@every_case
def test_the_inverse_undoes_and_reverses_products(case):
    G, g, h = case.G, case.g, case.h
    case.near(G.inverse(g) @ g, G.identity(g.shape[:-2]))
    case.near(G.inverse(g), G.exp(-case.x))
    case.near(G.inverse(g @ h), G.inverse(h) @ G.inverse(g))


# ---- the exponential map ---------------------------------------------------------------------------------------------


@every_case
def test_hat_and_vee_are_inverse(case):
    """[From Table 1]"""
    G, x = case.G, case.x
    case.near(G.vee(G.hat(x)), x)
    case.near(G.hat(x + case.y), G.hat(x) + G.hat(case.y))


@every_case
def test_log_takes_exp_back(case):
    """For angles below half a turn.  [From 59]"""
    case.near(case.G.log(case.g), case.x, 10)
    case.near(case.G.exp(case.G.log(case.g)), case.g)


@every_case
def test_exp_is_the_matrix_exponential_of_hat(case):
    """[From 59]"""
    case.near(case.g, expm(wide(case.G.hat(case.x))))


@every_case
def test_exp_is_the_screw_motion_of_the_selected_twist(case):
    """pose(exp x) = Pose.exp(H x), with V = H v.  [From 58-59]"""
    G = case.G
    pose = G.pose(case.g)
    case.near(pose.matrix, mb.Pose.exp(mul(G.H, wide(case.x))).matrix)
    assert pose.shape == case.x.shape[:-1]


def test_screws_tell_any_number_of_turns():
    """log(exp x) = x on the helical group, whatever the angle."""
    x = np.linspace(-100.0, 100.0, 41)[:, None]
    for G in (GROUPS["Helical-0.2"], GROUPS["Helical--1.5"]):
        near(G.log(G.exp(x)), x)


def test_a_pitch_from_numpy_does_not_change_the_precision():
    G = groups.Helical(pitch=np.float64(0.3))
    for x in (np.ones(1, np.float32), np.ones((4, 1), np.float32)):
        assert G.exp(x).dtype == G.hat(x).dtype == G.log(G.exp(x)).dtype == np.float32


# ---- adjoints and brackets -------------------------------------------------------------------------------------------


@every_case
def test_Ad_is_conjugation_and_keeps_products(case):
    """Ad_g x = (g x^ g^-1)v; Ad_gh = Ad_g Ad_h; Ad of the inverse is the inverse.  [MDN 29]"""
    G, g, h = case.G, case.g, case.h
    case.near(mul(G.Ad(h), case.x), G.vee(h @ G.hat(case.x) @ G.inverse(h)))
    case.near(G.Ad(g @ h), G.Ad(g) @ G.Ad(h))
    case.near(G.Ad(G.inverse(g)) @ G.Ad(g), np.broadcast_to(np.eye(G.dim), (*g.shape[:-2], G.dim, G.dim)))


@every_case
def test_Ad_of_exp_is_exp_of_ad(case):
    case.near(case.G.Ad(case.g), expm(wide(case.G.ad(case.x))))


@every_case
def test_Ad_agrees_with_the_adjoint_of_poses(case):
    """A_X_B H = H Ad: the twists of a subgroup stay its twists.  [From Def. 4.2; MDN 27]"""
    G = case.G
    near(G.pose(case.g).adjoint @ G.H, G.H @ wide(G.Ad(case.g)), TOLERANCE[case.dtype])


@every_case
def test_the_bracket_is_the_commutator(case):
    """ad_x y = (x^ y^ - y^ x^)v = -ad_y x.  [From 8, 78, 89; From Table 1]"""
    G, x, y = case.G, case.x, case.y
    commutator = G.hat(x) @ G.hat(y) - G.hat(y) @ G.hat(x)
    case.near(mul(G.ad(x), y), G.vee(commutator))
    case.near(mul(G.ad(x), y), -mul(G.ad(y), x))


@every_case
def test_the_bracket_keeps_the_jacobi_identity_and_Ad_keeps_the_bracket(case):
    """[x, [y, z]] + [y, [z, x]] + [z, [x, y]] = 0, and Ad_g [x, y] = [Ad_g x, Ad_g y].  [MDN 41]"""
    G, x, y = case.G, case.x, case.y
    bracket = lambda a, b: mul(G.ad(a), b)
    z = G.vee(case.h)  # some third vector
    jacobi = bracket(x, bracket(y, z)) + bracket(y, bracket(z, x)) + bracket(z, bracket(x, y))
    case.near(jacobi, 0 * jacobi, 10)
    Ad = G.Ad(case.h)
    case.near(mul(Ad, bracket(x, y)), bracket(mul(Ad, x), mul(Ad, y)), 10)


@every_case
def test_ad_swapped_swaps_the_factors(case):
    """ad_swapped(p) v = -ad_v^T p.  [From 73, 83, 98, 108; From Table 1]"""
    G, p, v = case.G, case.x, case.y
    case.near(mul(G.ad_swapped(p), v), -mul(T(G.ad(v)), p))


@every_group
def test_structure_constants_are_the_brackets_of_the_basis(name):
    G = GROUPS[name]
    basis = np.eye(G.dim)
    for i, j in product(range(G.dim), repeat=2):
        near(G.structure[:, i, j], G.ad(basis[i]) @ basis[j])
    assert G.abelian == (name in ABELIAN) == (not G.structure.any())


# ---- the right Jacobian of exp ---------------------------------------------------------------------------------------


@every_case
def test_S_is_its_series_and_its_integral(case):
    """S = 1 - ad/2! + ad²/3! - ... = the integral over [0, 1] of exp(-s ad).  [From 28-29, 64, 72; From Table 2]"""
    m, ad = case.G.dim, wide(case.G.ad(case.x))
    one = np.broadcast_to(np.eye(m), ad.shape)
    series = term = one
    for n in range(1, 40):
        term = -term @ ad / (n + 1)
        series = series + term
    integral = expm(np.block([[-ad, one], [0 * ad, 0 * ad]]))[..., :m, m:]
    case.near(case.G.S(case.x), series)
    case.near(case.G.S(case.x), integral)


@every_case
def test_S_gives_the_velocity_of_exponential_coordinates(case):
    """v = S(φ) φ' for g = exp(φ), g' = g v^.  [From 28; From Table 2]"""
    G, phi = case.G, wide(case.x)
    rate = np.cos(np.arange(phi.size).reshape(phi.shape))
    g_dot = difference(lambda t: G.exp(phi + t * rate))
    velocity = G.vee(G.inverse(G.exp(phi)) @ g_dot)
    near(mul(G.S(phi), rate), velocity, 1e-10)


@every_case
def test_S_inverse_is_the_inverse_of_S(case):
    G, x = case.G, case.x
    one = np.broadcast_to(np.eye(G.dim), (*x.shape[:-1], G.dim, G.dim))
    case.near(G.S_inverse(x) @ G.S(x), one)
    case.near(G.S(x) @ G.S_inverse(x), one)


@every_case
def test_S_turns_into_Ad_from_right_to_left(case):
    """Ad(exp φ) S(φ) = S(-φ): the left Jacobian is the right one of the inverse."""
    case.near(case.G.Ad(case.g) @ case.G.S(case.x), case.G.S(-case.x))


# ---- motion ----------------------------------------------------------------------------------------------------------


@every_case
def test_coriolis_forces_do_no_work(case):
    """v^T C(v) v = 0.  [From 57, 68, 74; From Prop. 5.1]"""
    G, v, M = case.G, case.x, case.M
    power = np.einsum("...i,...ij,...j->...", v, G.C(M, v), v)
    assert power.shape == case.batch
    case.near(power, 0 * power, 10)


@every_case
def test_forward_and_inverse_dynamics_are_inverse_and_both_forms_agree(case):
    """M v' + C(v) v = τ, which is M v' - ad_v^T M v.  [From 107-109; From Prop. 5.1]"""
    G, M, v, a = case.G, case.M, case.x, case.y
    tau = G.inverse_dynamics(M, v, a)
    case.near(tau, mul(M, a) - mul(T(G.ad(v)), mul(M, v)), 10)
    case.near(G.forward_dynamics(M, v, tau), np.broadcast_to(a, tau.shape), 10)


@every_case
def test_kinetic_energy_is_the_same_in_both_frames(case):
    """v^T M v with the body's velocity is V^T M(g) V with the spatial one, V = Ad_g v.  [From 60-61]"""
    G, M, v = case.G, case.M, case.y
    V = mul(G.Ad(case.g), v)
    body, spatial = (np.einsum("...i,...ij,...j->...", x, N, x) for x, N in ((v, M), (V, G.spatial_inertia(case.g, M))))
    case.near(spatial, np.broadcast_to(body, spatial.shape), 10)


@every_group
def test_inertia_is_the_selected_part_of_that_of_the_body(name):
    """M = H^T I H, so that v^T M v is the energy of the twist H v.  [From 60, 63]"""
    G = GROUPS[name]
    body = mb.SpatialInertia.from_parameters(inertial_parameters(np.random.default_rng(0), (4,)))
    v = np.random.default_rng(1).uniform(-1, 1, (4, G.dim))
    energy = np.einsum("...i,...ij,...j->...", v, G.inertia(body.matrix), v) / 2
    near(energy, body.kinetic_energy(mul(G.H, v)))


@every_group
def test_free_motion_keeps_energy_and_spatial_momentum(name):
    """With τ = 0, v^T M v / 2 and Ad_g^-T M v stay; Runge-Kutta of order 4 on the group.  [From 107; From Prop. 5.1]"""
    case = make(name)
    G, M, v, g, h = case.G, case.M, case.x, case.h, 0.01
    momentum = lambda g, v: T(G.Ad(G.inverse(g))) @ M @ v
    energy_before, momentum_before, g_before = v @ M @ v / 2, momentum(g, v), g

    def rates(phi, v):
        return G.S_inverse(phi) @ v, G.forward_dynamics(M, v, np.zeros(G.dim))

    for _ in range(100):
        zero = np.zeros(G.dim)
        p1, a1 = rates(zero, v)
        p2, a2 = rates(h / 2 * p1, v + h / 2 * a1)
        p3, a3 = rates(h / 2 * p2, v + h / 2 * a2)
        p4, a4 = rates(h * p3, v + h * a3)
        g = g @ G.exp(h / 6 * (p1 + 2 * p2 + 2 * p3 + p4))
        v = v + h / 6 * (a1 + 2 * a2 + 2 * a3 + a4)
    near(v @ M @ v / 2, energy_before, 1e-7)
    near(momentum(g, v), momentum_before, 1e-7)
    assert np.abs(g - g_before).max() > 0.05  # it did move


# ---- any vectors at all ----------------------------------------------------------------------------------------------


@every_group
@given(data=st.data())
def test_axioms_hold_for_any_vectors(name, data):
    """Also for zero, tiny and large ones: there and back, inverse, Ad, S; angles below half a turn."""
    G = GROUPS[name]
    x, y = data.draw(vectors(G.dim, 1.8)), data.draw(vectors(G.dim, 30.0))
    g, h = G.exp(x), G.exp(y)
    near(G.log(g), x, 1e-11)
    near(g, expm(G.hat(x)))
    near(h, expm(G.hat(y)), 1e-10)
    near(G.inverse(h) @ h, G.identity(), 1e-11)
    near(G.Ad(g @ h), G.Ad(g) @ G.Ad(h), 1e-11)
    near(G.S_inverse(x) @ G.S(x), np.eye(G.dim), 1e-10)
    near(G.pose(h).matrix, mb.Pose.exp(G.H @ y).matrix, 1e-11)
