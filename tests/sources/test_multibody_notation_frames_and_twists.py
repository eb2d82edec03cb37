"""Multibody Dynamics Notation, sections 3 to 5.3: every printed formula, against exact motions and the library.

A, B and C are three frames in relative motion. Each formula is transcribed as printed; where the print is wrong,
`test_errata_mdn.py` shows it and the corrected form stands here.
"""

import numpy as np
import pytest
from scipy.linalg import expm, logm

import multibody as mb
from multibody.geometry import operators, representations

from .motions import Series, block, random_motion, split
from .multibody_notation import X_27, cross_38, equal_series, hat_5, hat_7, left, right, times, vee_6, vee_8
from .truth import T, differ, mul, same


@pytest.fixture
def rng():
    return np.random.default_rng(20191104)


@pytest.fixture
def A_H_B(rng):
    return random_motion(rng)


def test_the_sets_and_their_algebras(rng):
    """[MDN 1-4, §3.1]: exp maps so(3) into SO(3) and se(3) into SE(3); commutators stay in the algebras."""
    W = hat_5(rng.normal(size=(20, 3)))
    R = expm(W)
    same(T(R) @ R, np.broadcast_to(np.eye(3), R.shape), 1e-13)
    same(np.linalg.det(R), np.ones(20), 1e-13)
    same(T(W), -W)
    commutator = W[:-1] @ W[1:] - W[1:] @ W[:-1]
    same(T(commutator), -commutator)
    v = rng.normal(size=(20, 6))
    V = hat_7(v)
    same(expm(V)[..., 3, :], np.broadcast_to([0.0, 0, 0, 1], (20, 4)))
    bracket = V[:-1] @ V[1:] - V[1:] @ V[:-1]
    same(bracket, hat_7(vee_8(bracket)))
    same(mb.Pose.exp(v).matrix, expm(V), 1e-12)
    same(mb.Rotation.exp(v[..., 3:]).matrix, expm(V[..., :3, :3]), 1e-12)


def test_hat_and_vee_of_three(rng):
    """[MDN 5-6]: w^ x = w cross x, and vee undoes hat."""
    w, x = rng.normal(size=(2, 4, 3, 3))
    same(mul(hat_5(w), x), np.cross(w, x))
    same(vee_6(hat_5(w)), w)
    same(operators.hat3(w), hat_5(w))
    same(operators.vee3(hat_5(w)), w)


def test_hat_and_vee_of_six(rng):
    """[MDN 7-8]: the 4x4 matrix of a twist moves homogeneous points with v + w cross p; vee undoes hat."""
    v, p = rng.normal(size=(4, 3, 6)), rng.normal(size=(4, 3, 3))
    moved = mul(hat_7(v), np.concatenate([p, np.ones((4, 3, 1))], -1))
    same(moved[..., :3], v[..., :3] + np.cross(v[..., 3:], p))
    same(moved[..., 3], np.zeros((4, 3)))
    same(vee_8(hat_7(v)), v)
    same(operators.hat6(v), hat_7(v))
    same(operators.vee6(hat_7(v)), v)
    same(mb.Twist.from_vector(v).hat(), hat_7(v))


def test_the_differential_is_the_linear_map_of_the_limit(rng):
    """[MDN 9]: ||f(x) - f(x0) - Df.(x - x0)|| / ||x - x0|| -> 0 for a map from R^3 to R^(4x4), with [MDN 7] in it."""
    x0, z = rng.normal(size=(2, 3))
    screw = rng.normal(size=(3, 6))

    def f(x):
        return expm(hat_7(x @ screw))

    series = Series([hat_7(x0 @ screw), hat_7(z @ screw)]).exp
    sizes = 10.0 ** -np.arange(1, 6)
    residuals = np.array([np.linalg.norm(f(x0 + h * z) - f(x0) - h * series.c[1]) for h in sizes])
    quotients = residuals / (sizes * np.linalg.norm(z))
    same(quotients[1:] / quotients[:-1], 0.1 * np.ones(4), 0.02)
    jacobian = np.stack([Series([hat_7(x0 @ screw), hat_7(e @ screw)]).exp.c[1] for e in np.eye(3)])
    same(np.einsum("iab,i->ab", jacobian, z), series.c[1])


def test_coordinates_of_a_point(rng):
    """[MDN 10-13, §4.2, §4.3]: scalar products; the columns of A_R_B are axes of B; A_p = A_R_B B_p + A_o_B."""
    origin_A, origin_B, p = rng.normal(size=(3, 8, 3))  # in some third frame
    axes_A, axes_B = expm(hat_5(rng.normal(size=(2, 8, 3))))  # columns x, y, z
    A_p = np.stack([np.sum((p - origin_A) * axes_A[..., i], -1) for i in range(3)], -1)
    B_p = np.stack([np.sum((p - origin_B) * axes_B[..., i], -1) for i in range(3)], -1)
    A_o_B = np.stack([np.sum((origin_B - origin_A) * axes_A[..., i], -1) for i in range(3)], -1)
    A_R_B = T(axes_A) @ axes_B
    same(T(A_R_B) @ A_R_B, np.broadcast_to(np.eye(3), (8, 3, 3)))
    A_H_B = np.concatenate(
        [np.concatenate([A_R_B, A_o_B[..., None]], -1), np.broadcast_to([0, 0, 0, 1.0], (8, 1, 4))], -2
    )
    one = np.ones((8, 1))
    same(mul(A_H_B, np.concatenate([B_p, one], -1)), np.concatenate([A_p, one], -1))
    same(mul(A_R_B, B_p) + A_o_B, A_p)
    pose = mb.Pose.from_matrix(A_H_B)
    same(pose @ B_p, A_p)
    same(pose.rotation.matrix, A_R_B)
    same(pose.position, A_o_B)
    same(mb.Pose(mb.Rotation.from_matrix(A_R_B), A_o_B).matrix, A_H_B)


def test_rates_of_coordinates(A_H_B, rng):
    """[MDN 14-16]: derivatives of coordinates, entry by entry, against central differences of the motion itself."""
    B_p = rng.normal(size=3)
    h = 1e-3

    def at(t):
        return sum(c * t**k for k, c in enumerate(A_H_B.c))

    weights = {1: 4 / 5, 2: -1 / 5, 3: 4 / 105, 4: -1 / 280}
    H_dot = sum(w * (at(k * h) - at(-k * h)) / h for k, w in weights.items())
    same(H_dot, A_H_B.rate.now, 1e-11)
    R, o = split(A_H_B)
    same(H_dot[..., :3, :3], R.rate.now, 1e-11)
    same(H_dot[..., :3, 3:], o.rate.now, 1e-11)
    same(H_dot[..., 3, :], np.zeros((5, 4)))
    A_p_dot = sum(w * (at(k * h) - at(-k * h)) / h for k, w in weights.items()) @ np.append(B_p, 1)
    same(A_p_dot[..., :3], mul(R.rate.now, B_p) + o.rate.now[..., 0], 1e-11)


def test_left_trivialised_velocity(A_H_B):
    """[MDN 17-21, §5]: A_H_B^-1 dA_H_B is [A_R_B^T dA_R_B, A_R_B^T dA_o_B; 0, 0], skew in its first block."""
    R, o = split(A_H_B)
    product = A_H_B.inverse @ A_H_B.rate
    equal_series(product.map(lambda H: H[..., :3, :3]), R.T @ R.rate)
    equal_series(product.map(lambda H: H[..., :3, 3:]), R.T @ o.rate)
    same(product.now[..., 3, :], np.zeros((5, 4)))
    skew = R.T @ R.rate
    equal_series(skew.T, -skew)
    inverse = np.concatenate([T(R.now), -T(R.now) @ o.now], -1)
    same(A_H_B.inverse.now[..., :3, :], inverse)
    v = np.concatenate([(R.T @ o.rate).now[..., 0], vee_6(skew.now)], -1)
    same(left(A_H_B).now, v)
    h = 1e-6
    ahead = np.stack([logm(np.linalg.inv(a) @ (a + h * b)) / h for a, b in zip(*A_H_B.c[:2], strict=True)])
    same(vee_8(ahead), v, 1e-4)
    pose = mb.Pose.from_matrix(A_H_B.now)
    same(pose.inverse().matrix @ A_H_B.rate.now, operators.hat6(v))


def test_right_trivialised_velocity(A_H_B):
    """[MDN 22-26]: dA_H_B A_H_B^-1 is [dA_R_B A_R_B^T, dA_o_B - dA_R_B A_R_B^T A_o_B; 0, 0]."""
    R, o = split(A_H_B)
    product = A_H_B.rate @ A_H_B.inverse
    equal_series(product.map(lambda H: H[..., :3, :3]), R.rate @ R.T)
    equal_series(product.map(lambda H: H[..., :3, 3:]), o.rate - R.rate @ R.T @ o)
    skew = R.rate @ R.T
    equal_series(skew.T, -skew)
    v = np.concatenate([(o.rate - R.rate @ R.T @ o).now[..., 0], vee_6(skew.now)], -1)
    same(right(A_H_B).now, v)
    pose = mb.Pose.from_matrix(A_H_B.now)
    same(representations.velocity(pose, left(A_H_B).now, "left", "right"), v)


def test_velocity_transformation(A_H_B):
    """[MDN 27-28]: A_X_B maps the left velocity to the right one, its inverse is B_X_A, and A_o_B = -A_R_B B_o_A."""
    X = X_27(A_H_B)
    equal_series(times(X, left(A_H_B)), right(A_H_B))
    equal_series(X.inverse, X_27(A_H_B.inverse))
    R, o = split(A_H_B)
    equal_series(o, -(R @ split(A_H_B.inverse)[1]))
    pose = mb.Pose.from_matrix(A_H_B.now)
    same(pose.adjoint, X.now)
    same((pose @ mb.Twist.from_vector(left(A_H_B).now)).vector, right(A_H_B).now)


def test_adjoint_action_of_the_group(A_H_B, rng):
    """[MDN 29-31]: Ad_g xi = g xi g^-1 has the matrix A_X_B on R^6, for any xi, and takes B_v_AB^ to A_v_AB^."""
    g, xi = A_H_B.now, rng.normal(size=(5, 6))
    same(vee_8(g @ hat_7(xi) @ np.linalg.inv(g)), mul(X_27(g), xi))
    equal_series(A_H_B @ left(A_H_B).map(hat_7) @ A_H_B.inverse, A_H_B.rate @ A_H_B.inverse)
    equal_series(A_H_B.rate @ A_H_B.inverse, right(A_H_B).map(hat_7))
    same((mb.Pose.from_matrix(g) @ mb.Twist.from_vector(xi)).vector, vee_8(g @ hat_7(xi) @ np.linalg.inv(g)))


def test_a_twist_in_any_frame(A_H_B, rng):
    """[MDN 32-33, §5.1]: C_v_AB = C_X_A A_v_AB = C_X_B B_v_AB, and C_X_A A_X_B = C_X_B."""
    C_H_A = random_motion(rng).inverse
    C_H_B = C_H_A @ A_H_B
    equal_series(X_27(C_H_A) @ X_27(A_H_B), X_27(C_H_B))
    C_v_AB = times(X_27(C_H_A), right(A_H_B))
    equal_series(C_v_AB, times(X_27(C_H_B), left(A_H_B)))
    similar = C_H_A @ (A_H_B.rate @ A_H_B.inverse) @ C_H_A.inverse
    equal_series(C_v_AB, similar.map(vee_8))
    library = representations.in_frame(mb.Pose.from_matrix(C_H_B.now), left(A_H_B).now)
    same(library, C_v_AB.now)
    same(mb.Twist.from_vector(library).linear, C_v_AB.now[..., :3])
    same(mb.Twist.from_vector(library).angular, C_v_AB.now[..., 3:])


def test_angular_velocity_turns_with_the_axes(A_H_B, rng):
    """[MDN 34]: C_w_AB = C_R_B B_w_AB = C_R_A A_w_AB, whatever the origins."""
    C_H_A = random_motion(rng).inverse
    C_R_A, C_R_B = split(C_H_A)[0], split(C_H_A @ A_H_B)[0]
    C_w = times(X_27(C_H_A), right(A_H_B)).map(lambda v: v[..., 3:])
    equal_series(C_w, times(C_R_B, left(A_H_B).map(lambda v: v[..., 3:])))
    equal_series(C_w, times(C_R_A, right(A_H_B).map(lambda v: v[..., 3:])))
    same(mb.Rotation.from_matrix(C_R_B.now) @ left(A_H_B).now[..., 3:], C_w.now)


def test_the_right_linear_velocity_is_of_the_point_at_the_origin_of_A(A_H_B):
    """[MDN §5.2]: A_v_AB's linear part is not dA_o_B but the velocity of the point of B that passes the origin of A."""
    R, o = split(A_H_B)
    B_p = -T(R.now) @ o.now  # the point of B that is at the origin of A now
    same((R.rate.now @ B_p + o.rate.now)[..., 0], right(A_H_B).now[..., :3])
    differ(right(A_H_B).now[..., :3], o.rate.now[..., 0])


def test_mixed_velocity(A_H_B):
    """[MDN 35]: in B[A], the twist is (dA_o_B, A_w_AB)."""
    R, o = split(A_H_B)
    # B[A] has the axes of A at the origin of B, so B[A]_H_B has A_R_B and no translation.
    mixed_H_B = block([[R, o - o]]).map(lambda H: np.concatenate([H, np.zeros_like(H[..., :1, :])], -2))
    mixed_H_B.c[0, ..., 3, 3] = 1
    mixed = times(X_27(mixed_H_B), left(A_H_B))
    blocks = np.concatenate([mul(R.now, mul(T(R.now), o.rate.now[..., 0])), mul(R.now, left(A_H_B).now[..., 3:])], -1)
    same(mixed.now, blocks)
    expected = np.concatenate([o.rate.now[..., 0], right(A_H_B).now[..., 3:]], -1)
    same(mixed.now, expected)
    pose = mb.Pose.from_matrix(A_H_B.now)
    same(representations.velocity(pose, left(A_H_B).now, "left", "mixed"), expected)
    same(representations.transform(pose, "left", "mixed"), X_27(mixed_H_B.now))


def test_rate_of_the_velocity_transformation(A_H_B):
    """[MDN 36-38, §5.3]: dA_H_B = A_H_B B_v_AB^, and in the same way dA_X_B = A_X_B B_v_AB x."""
    equal_series(A_H_B.rate, A_H_B @ left(A_H_B).map(hat_7))
    X = X_27(A_H_B)
    equal_series(X.rate, X @ left(A_H_B).map(cross_38))
    v = left(A_H_B).now
    same(operators.ad(v), cross_38(v))
    same(mb.Twist.from_vector(v).ad(), cross_38(v))


def test_cross_product_is_anticommutative_and_a_lie_bracket(rng):
    """[MDN 39-40]: u x v = -v x u, v x v = 0; and v x is the commutator of the 4x4 matrices (so Jacobi holds)."""
    u, v, w = rng.normal(size=(3, 6, 6))
    same(mul(cross_38(u), v), -mul(cross_38(v), u))
    same(mul(cross_38(v), v), np.zeros((6, 6)))
    same(hat_7(mul(cross_38(u), v)), hat_7(u) @ hat_7(v) - hat_7(v) @ hat_7(u))
    cycle = [(u, v, w), (v, w, u), (w, u, v)]
    same(sum(mul(cross_38(a), mul(cross_38(b), c)) for a, b, c in cycle), np.zeros((6, 6)))
    same(mb.Twist.from_vector(u).cross(mb.Twist.from_vector(v)).vector, mul(cross_38(u), v))


def test_cross_product_moves_with_the_frame(A_H_B, rng):
    """[MDN 41]: A_X_B (B_v x) = (A_X_B B_v) x A_X_B, for the frame's own twist and for any other."""
    X = X_27(A_H_B)
    equal_series(X @ left(A_H_B).map(cross_38), times(X, left(A_H_B)).map(cross_38) @ X)
    equal_series(X @ left(A_H_B).map(cross_38), right(A_H_B).map(cross_38) @ X)
    u, w = rng.normal(size=(2, 5, 6))
    same(mul(X.now, mul(cross_38(u), w)), mul(cross_38(mul(X.now, u)), mul(X.now, w)))
    pose, U, W = mb.Pose.from_matrix(A_H_B.now), mb.Twist.from_vector(u), mb.Twist.from_vector(w)
    same((pose @ U.cross(W)).vector, (pose @ U).cross(pose @ W).vector)


def test_the_same_in_the_notation_of_lie_groups(A_H_B):
    """[MDN 42-43]: d/dt Ad_g = Ad_g ad_(g^-1 dg) = ad_(dg g^-1) Ad_g, from conjugations of basis matrices only."""
    basis = hat_7(np.eye(6))

    def matrix_of(action):
        """The 6x6 series of a series-valued linear map of se(3)."""
        columns = [action(Series(np.broadcast_to(E, (4, 5, 4, 4)) * [[[[1.0]]], *[[[[0.0]]]] * 3])) for E in basis]
        return Series(np.stack([[vee_8(m) for m in column.c] for column in columns], -1))

    g, body, spatial = A_H_B, A_H_B.inverse @ A_H_B.rate, A_H_B.rate @ A_H_B.inverse
    Ad = matrix_of(lambda xi: g @ xi @ g.inverse)
    ad_body = matrix_of(lambda xi: body @ xi - xi @ body)
    ad_spatial = matrix_of(lambda xi: spatial @ xi - xi @ spatial)
    equal_series(Ad.rate, Ad @ ad_body)
    equal_series(Ad @ ad_body, ad_spatial @ Ad)
    same(ad_body.now, operators.ad(left(A_H_B).now))
    same(ad_spatial.now, operators.ad(right(A_H_B).now))
    same(Ad.now, mb.Pose.from_matrix(g.now).adjoint)
