"""Every slip of Multibody Dynamics Notation in docs/errata.md: the printed form fails, the corrected form passes."""

import numpy as np
import pytest

from .motions import random_motion, split
from .multibody_notation import (
    X_27,
    Xf_59,
    cross_38,
    dual_cross_62,
    equal_series,
    hat_5,
    hat_7,
    left,
    right,
    times,
    vee_6,
    vee_8,
)
from .truth import T, differ, mul, same


@pytest.fixture
def rng():
    return np.random.default_rng(2019)


@pytest.fixture
def A_H_B(rng):
    return random_motion(rng)


def points(rng, A_H_B):
    """Coordinates A_p and B_p of the same points, homogeneous."""
    R, o = split(A_H_B)
    B_p = rng.normal(size=(5, 3))
    A_p = mul(R.now, B_p) + o.now[..., 0]
    return np.append(A_p, np.ones((5, 1)), 1), np.append(B_p, np.ones((5, 1)), 1)


def test_mdn1_a_pose_maps_from_b_to_a(A_H_B, rng):
    """[MDN 12-13]: the text says that A_H_B maps A_p to B_p; it maps B_p to A_p."""
    A_p, B_p = points(rng, A_H_B)
    differ(mul(A_H_B.now, A_p), B_p)
    same(mul(A_H_B.now, B_p), A_p)


@pytest.mark.parametrize("velocity", [left, right])
def test_mdn2_no_hat_on_the_angular_part(A_H_B, velocity):
    """[MDN 20, 25]: stacked with w^ the twist has no six entries; with w it is the twist of [MDN 21, 26]."""
    v = velocity(A_H_B).now
    linear, w = v[..., :3], v[..., 3:]
    with pytest.raises(ValueError, match="dimensions"):
        np.concatenate([linear, hat_5(w)], -1)
    g = A_H_B
    expected = (g.inverse @ g.rate) if velocity is left else (g.rate @ g.inverse)
    same(hat_7(np.concatenate([linear, w], -1)), expected.now)


def test_mdn3_the_wrench_transformation_is_the_dual(A_H_B):
    """[MDN §5.1]: Ad*_g of g = A_H_B moves wrenches from A to B; it is not the velocity transformation B_X_A."""
    Ad_star = T(X_27(A_H_B.now))
    B_H_A = A_H_B.inverse.now
    differ(X_27(B_H_A), Ad_star)
    same(Xf_59(B_H_A), Ad_star)


def test_mdn4_hat_is_an_isomorphism_of_algebras(rng):
    """[MDN §5.3]: a homeomorphism need not carry the bracket over; the linear map hat does."""
    u, v = rng.normal(size=(2, 5, 6))
    bracket = mul(cross_38(u), v)

    def commutator(hat):
        return hat(u) @ hat(v) - hat(v) @ hat(u)

    def bent(x):  # continuous, with a continuous inverse: a homeomorphism
        return hat_7(x**3)

    differ(commutator(bent), bent(bracket))
    same(commutator(hat_7), hat_7(bracket))


def test_mdn5_ad_of_the_body_velocity(A_H_B):
    """[MDN 42]: ad_(g^-1 dg) is B_v_AB x, not A_v_AB x."""
    Ad = X_27(A_H_B)
    differ(Ad.rate.now, (Ad @ right(A_H_B).map(cross_38)).now)
    equal_series(Ad.rate, Ad @ left(A_H_B).map(cross_38))


def test_mdn6_the_transpose_of_the_velocity_transformation(A_H_B, rng):
    """[MDN 59]: with (B_X^A)^T as printed, power is not conserved; with (B_X_A)^T it is."""
    B_H_A = A_H_B.inverse.now
    B_f = rng.normal(size=(5, 6))
    power = np.sum(B_f * left(A_H_B).now, -1)
    for B_X_A, right_one in ((Xf_59(B_H_A), False), (X_27(B_H_A), True)):
        A_f = mul(T(B_X_A), B_f)
        moved = np.sum(A_f * right(A_H_B).now, -1)
        assert np.allclose(moved, power, atol=1e-12) == right_one
        assert np.allclose(T(B_X_A), Xf_59(A_H_B.now), atol=1e-12) == right_one


def test_mdn7_square_of_a_skew_matrix(rng):
    """[MDN 69]: o^ o^ is o (x) o - o.o I, not o.o I + o (x) o."""
    o = rng.normal(size=(5, 3))
    dot, outer = np.sum(o * o, -1)[:, None, None] * np.eye(3), o[:, :, None] * o[:, None, :]
    differ(hat_5(o) @ hat_5(o), dot + outer)
    same(hat_5(o) @ hat_5(o), outer - dot)


def test_mdn8_the_ring_is_the_derivative_of_coordinates(A_H_B, rng):
    """[MDN 87]: with a dot on both sides the table says C_a_AB = dC_v_AB; that holds for C = B only."""
    A_H_C = random_motion(rng)
    C_H_B = A_H_C.inverse @ A_H_B
    dot = times(X_27(C_H_B), left(A_H_B).rate).now  # by the inertial frame, written in C
    ring = times(X_27(C_H_B), left(A_H_B)).rate.now  # of the coordinates in C
    differ(dot, ring)
    same(times(X_27(A_H_B.inverse), right(A_H_B).rate).now, left(A_H_B).rate.now, 1e-12)


def test_mdn9_superscripts_mark_wrenches(A_H_B):
    """[MDN §A.1]: the matrix with the right superscript moves wrenches, the one with the right subscript twists."""
    twist_map, wrench_map = X_27(A_H_B.now), Xf_59(A_H_B.now)
    differ(mul(wrench_map, left(A_H_B).now), right(A_H_B).now)
    same(mul(twist_map, left(A_H_B).now), right(A_H_B).now)


def test_mdn10_the_dual_cross_product_acts_on_forces(rng):
    """[MDN 62, §A.1]: v xbar* is not ad_v on motion vectors but the dual representation, on forces."""
    u, v = rng.normal(size=(2, 5, 6))
    differ(mul(dual_cross_62(u), v), mul(cross_38(u), v))
    differ(mul(dual_cross_62(u), v), -mul(dual_cross_62(v), u))  # so it is no bracket
    same(dual_cross_62(u), -T(cross_38(u)))
    commutator = dual_cross_62(u) @ dual_cross_62(v) - dual_cross_62(v) @ dual_cross_62(u)
    same(commutator, dual_cross_62(mul(cross_38(u), v)))  # but it represents the bracket


@pytest.mark.parametrize("equation", ["88", "90", "92"])
def test_mdn11_the_zero_block_is_a_row(A_H_B, equation):
    """[MDN 88, 90, 92]: with 0_(3x1) the blocks do not fit; with 0_(1x3) they are A_H_B."""
    assert equation in test_mdn11_the_zero_block_is_a_row.__doc__
    H = A_H_B.now[0]
    R, o, one = H[:3, :3], H[:3, 3:], np.eye(1)
    with pytest.raises(ValueError, match="dimensions"):
        np.block([[R, o], [np.zeros((3, 1)), one]])
    same(np.block([[R, o], [np.zeros((1, 3)), one]]), H)


def test_mdn12_the_other_books_map_from_b_to_a(A_H_B, rng):
    """[MDN 88, 90, 92]: the texts say from A to B; the matrix with columns R_B^A maps from B to A."""
    A_p, B_p = points(rng, A_H_B)
    R, o = split(A_H_B)
    matrix = np.append(np.append(R.now, o.now, 2), np.broadcast_to([0, 0, 0, 1.0], (5, 1, 4)), 1)
    differ(mul(matrix, A_p), B_p)
    same(mul(matrix, B_p), A_p)


def test_mdn13_a_velocity_is_not_a_position(A_H_B):
    """[MDN 89]: the table pairs dp_B with A_o_B; it is dA_o_B."""
    o = split(A_H_B)[1]
    R = split(A_H_B)[0].now
    p_dot = mul(R, left(A_H_B).now[..., :3])  # the linear part of [MDN 35]
    differ(o.now[..., 0], p_dot)
    same(o.rate.now[..., 0], p_dot)


def test_mdn14_one_p_ab_in_the_spatial_velocity(A_H_B):
    """[MDN 93]: with p_ab p_ab the product has no meaning; with one p_ab it is A_v_AB."""
    R, p = split(A_H_B)
    with pytest.raises(ValueError, match="mismatch"):
        (R.rate @ R.T).now @ p.now @ p.now
    linear = (-(R.rate @ R.T @ p) + p.rate).now[..., 0]
    same(linear, right(A_H_B).now[..., :3])


def test_mdn15_the_body_velocity_compares_with_18_to_21(A_H_B):
    """[MDN 94]: it is not the velocity of [MDN 23], to which the text refers, but that of [MDN 18-19]."""
    R, o = split(A_H_B)
    v_94 = (R.T @ o.rate).now[..., 0]
    v_23 = (o.rate - R.rate @ R.T @ o).now[..., 0]
    differ(v_94, v_23)
    same(np.append(v_94, vee_6((R.T @ R.rate).now), 1), left(A_H_B).now)


def test_mdn16_vectors_have_no_hat(A_H_B):
    """[MDN 93-94]: V^ is the 4x4 matrix; the stacked vector, and the table's rows, are V; w_ab^a is w_ab^s."""
    V_hat = (A_H_B.rate @ A_H_B.inverse).now
    R = split(A_H_B)[0]
    stacked = np.append(right(A_H_B).now[..., :3], vee_6((R.rate @ R.T).now), 1)
    assert V_hat.shape[-2:] == (4, 4)
    assert stacked.shape[-1:] == (6,)
    same(vee_8(V_hat), stacked)
    same(vee_8(V_hat)[..., 3:], right(A_H_B).now[..., 3:])
