"""From, section 5, as laws over every subgroup of SE(3) in the library, and over three Lie algebras outside of it."""

import numpy as np
import pytest

from ..every_law import each_case
from .motions import Series, twist_matrix
from .subgroups import C_57, NAMES, OUTSIDE, SELECTION, S, ad, dim, dS, library, structure
from .truth import mul, same

ALL = [*NAMES, *OUTSIDE]


@pytest.fixture
def rng():
    return np.random.default_rng(112)


@pytest.fixture(params=ALL)
def name(request):
    return request.param


def pattern(rng, n):
    """[From 97, Def. 5.1]: a matrix whose entries are some x_k or 0, as a tensor P with x_bar = P x."""
    choice = rng.integers(-1, n, size=(n, n))
    return np.array([[np.eye(n)[k] if k >= 0 else np.zeros(n) for k in row] for row in choice])


def swap_98(x_bar, y):
    """[From 98], index by index: y_bar_ij = sum_k d x_bar_ik / d x_j y_k, for x_bar given as a function of x."""
    n = len(y)
    d = np.stack([x_bar(e) - x_bar(np.zeros(n)) for e in np.eye(n)], axis=-1)  # exact: x_bar is affine in x
    return np.array([[sum(d[i, k, j] * y[k] for k in range(n)) for j in range(n)] for i in range(n)])


def spd(rng, m):
    root = rng.normal(size=(m, m))
    return root @ root.T + np.eye(m)


@each_case("n", [1, 2, 3, 6])
def test_swapping_the_order_of_multiplication(n, rng):
    """[From 97-98, Def. 5.1, Lemma 5.1]: x_bar y = y_bar x, also where an x_k stands several times in a row."""
    for _ in range(20):
        P = pattern(rng, n)
        x, y = rng.normal(size=(2, n))
        x_bar = P @ x
        assert all(entry == 0 or entry in x for entry in x_bar.ravel())
        same(swap_98(lambda x, P=P: P @ x, y) @ x, x_bar @ y, 1e-12)


@pytest.mark.parametrize("n", [1, 3, 6])
def test_swapping_linear_combinations(n, rng):
    """[From 99, Lemma 5.2]: the same for a_1 x_bar_1 + a_2 x_bar_2 + ..., with any coefficients."""
    P = sum(a * pattern(rng, n) for a in rng.normal(size=4))
    x, y = rng.normal(size=(2, n))
    same(swap_98(lambda x: P @ x, y) @ x, (P @ x) @ y, 1e-12)


def test_the_adjoint_map_swaps(name, rng):
    """[From 98-99, Lemma 5.1, Lemma 5.2]: ad_x y is linear in x, so it swaps, into -ad_y; and so does ad_x^T y."""
    x, y = rng.normal(size=(2, dim(name)))
    same(swap_98(lambda x: ad(name, x), y), -ad(name, y), 1e-13)
    transposed = swap_98(lambda x: ad(name, x).T, y)
    same(transposed @ x, ad(name, x).T @ y, 1e-13)


@each_case("name", NAMES)
def test_the_swapped_adjoint_of_the_library(name, rng):
    """[From 98-99, 108, 111]: ad_swapped(p) v = -ad_v^T p for all p and v, and it is From's lemma of -ad^T."""
    p, v = rng.normal(size=(2, 5, dim(name)))
    group = library(name)
    same(mul(group.ad_swapped(p), v), -mul(np.swapaxes(ad(name, v), -1, -2), p), 1e-13)
    same(group.ad_swapped(p)[0], swap_98(lambda x: -ad(name, x).T, p[0]), 1e-13)
    same(group.ad(v), ad(name, v), 1e-14)
    same(group.structure, structure(name), 1e-14)


def test_the_derivatives_of_S_are_antisymmetric(name, rng):
    """[From 100-101, Lemma 5.3]: sum_k (dS_ki/dphi_j - dS_kj/dphi_i) x_k = 2 sum_k dS_ki/dphi_j x_k at phi = 0."""
    m = dim(name)
    d, x = dS(name, np.zeros(m)), rng.normal(size=m)
    left = np.einsum("kij,k->ij", d, x) - np.einsum("kji,k->ij", d, x)
    same(left, 2 * np.einsum("kij,k->ij", d, x), 1e-13)


def test_the_bracket_is_the_commutator(name, rng):
    """[From 102]: (ad_X Y)^ = X^ Y^ - Y^ X^, in the 4x4 (or the smallest) matrices of the algebra."""
    x, y = rng.normal(size=(2, dim(name)))
    basis = OUTSIDE[name] if name in OUTSIDE else twist_matrix(SELECTION[name].T)
    X, Y = np.tensordot(x, basis, 1), np.tensordot(y, basis, 1)
    same(np.tensordot(ad(name, x) @ y, basis, 1), X @ Y - Y @ X, 1e-13)
    if name not in OUTSIDE:
        hat = library(name).hat
        same(hat(library(name).ad(x) @ y), hat(x) @ hat(y) - hat(y) @ hat(x), 1e-13)


def test_the_first_line_of_the_bracket(rng):
    """[From 103] with the right indices: -X6 Y2 + X5 Y3 come from XY, and X2 Y6 - X3 Y5 from -YX."""
    X, Y = rng.normal(size=(2, 6))
    _, X2, X3, _, X5, X6 = X
    _, Y2, Y3, _, Y5, Y6 = Y
    same((ad("SE(3)", X) @ Y)[0], -X6 * Y2 + X5 * Y3 + X2 * Y6 - X3 * Y5, 1e-14)
    same((twist_matrix(X) @ twist_matrix(Y))[0, 3], -X6 * Y2 + X5 * Y3, 1e-14)
    same(-(twist_matrix(Y) @ twist_matrix(X))[0, 3], X2 * Y6 - X3 * Y5, 1e-14)
    same((library("SE(3)").ad(X) @ Y)[0], -X6 * Y2 + X5 * Y3 + X2 * Y6 - X3 * Y5, 1e-14)


def test_proposition_5_1(name, rng):
    """[From 104-109, §5, Prop. 5.1]: C(v) v of the derivatives of S is -ad_v^T M v, for every algebra and inertia."""
    m = dim(name)
    M, v = spd(rng, m), rng.normal(size=m)
    C = C_57(name, M, v)
    same(C @ v, -ad(name, v).T @ M @ v, 1e-12)
    same(C, swap_98(lambda x: -ad(name, x).T, M @ v), 1e-12)
    if name not in OUTSIDE:
        group, dv = library(name), rng.normal(size=m)
        same(group.C(M, v), C, 1e-12)
        same(group.ad_swapped(M @ v), C, 1e-12)
        same(group.inverse_dynamics(M, v, dv), M @ dv - ad(name, v).T @ M @ v, 1e-12)


def test_the_two_swaps_of_the_proof(name, rng):
    """[From 110-112, Prop. 5.1]: with the sum over v_j; S_r = -ad/2 turns the second swap into -C."""
    m = dim(name)
    M, v = spd(rng, m), rng.normal(size=m)
    p, n = M @ v, range(m)
    d = np.stack([ad(name, e) for e in np.eye(m)], axis=-1)  # d[i, k, j] = d(ad_v)_ik / dv_j
    swap_110 = np.array([[sum(d[i, k, j] * p[k] for k in n) for j in n] for i in n])
    swap_111 = np.array([[sum(d[k, i, j] * p[k] for k in n) for j in n] for i in n])
    same(swap_110 @ v, ad(name, v) @ p, 1e-12)
    same(swap_111 @ v, ad(name, v).T @ p, 1e-12)
    same(-swap_111, C_57(name, M, v), 1e-12)
    phi = 1e-6 * rng.normal(size=m)
    same(S(name, phi) - np.eye(m), -0.5 * ad(name, phi), 1e-11)


def test_euler_poincare_conserves_momentum_on_every_group(name, rng):
    """[From 107, Prop. 5.1]: with tau = 0, d/dt (Ad_(g^-1)^T M v) = 0: the spatial momentum, for any Lie group."""
    m = dim(name)
    M, v = spd(rng, m), rng.normal(size=m)
    dv = np.linalg.solve(M, ad(name, v).T @ M @ v)
    # g = exp(v t + dv t^2/2) has the velocity v + dv t up to O(t^2), and Ad of exp is exp of ad.
    zero = np.zeros(m)
    Ad_inverse = Series(-ad(name, np.stack([zero, v, dv / 2]))).exp
    momentum = Ad_inverse.T @ Series(np.stack([M @ v, M @ dv, zero])[..., None])
    same(momentum.rate.now[..., 0], zero, 1e-12)
