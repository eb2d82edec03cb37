"""From, section 4: selection matrices, inertias, Coriolis matrices and equations of every configuration space.

Each printed matrix is transcribed entry by entry (with the corrections of docs/errata.md, which
`test_errata_from.py` justifies) and compared with commutators of 4x4 matrices, with particles, and the library.
"""

import numpy as np
import pytest
from scipy.linalg import expm

from ..every_law import each_case
from .motions import Cloud, random_motion, steered_motion, twist_matrix, twist_vector
from .subgroups import C_57, CURVED, FLAT, NAMES, PITCH, SELECTION, S, ad, dS, inertia, library
from .truth import differ, mul, same

BATCH = 4


@pytest.fixture
def rng():
    return np.random.default_rng(96)


@pytest.fixture(params=NAMES)
def name(request):
    return request.param


def body(name, rng, principal=False):
    """M, a batch of v and dv, and the tau of the particles."""
    cloud = Cloud(rng).principal() if principal else Cloud(rng)
    H = SELECTION[name]
    v, dv = rng.normal(size=(2, BATCH, H.shape[1]))
    start = random_motion(rng, (BATCH,), H).now
    return inertia(name, cloud.inertia), v, dv, cloud.wrench(steered_motion(start, v, dv, H)) @ H


def rows(*entries):
    """A matrix (..., n, m) of rows of scalars."""
    shape = np.broadcast_shapes(*[np.shape(e) for row in entries for e in row])
    return np.stack([np.stack([np.broadcast_to(e, shape) for e in row], -1) for row in entries], -2)


# Definitions 4.1 and 4.2


def test_selection_matrices(name, rng):
    """[From 58, §4, Def. 4.1, Def. 4.2]: motions of the group have twists H v, and v fully determines them."""
    H = library(name).H
    same(H, SELECTION[name])
    assert np.linalg.matrix_rank(H) == H.shape[1] == library(name).dim
    v = rng.normal(size=(BATCH, H.shape[1]))
    g = library(name).exp(v)
    pose = library(name).pose(g).matrix
    same(pose, expm(twist_matrix(mul(H, v))), 1e-13)
    products = library(name).pose(g[:-1] @ g[1:]).matrix
    same(products, pose[:-1] @ pose[1:], 1e-13)
    if name != "H":
        same(H.T @ H, np.eye(H.shape[1]))  # H^T selects v from H v


def test_the_printed_selection_matrices():
    """[From 62, 77, 88]: SO(3), SE(2) and Schoenflies about z, as printed; SE(3) has the identity."""
    same(library("SO(3)").H, [[0, 0, 0], [0, 0, 0], [0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
    same(library("SE(2)").H, np.array([[1, 0, 0, 0, 0, 0], [0, 1, 0, 0, 0, 0], [0, 0, 0, 0, 0, 1]]).T)
    schoenflies = [[1, 0, 0, 0, 0, 0], [0, 1, 0, 0, 0, 0], [0, 0, 1, 0, 0, 0], [0, 0, 0, 0, 0, 1]]
    same(library("X(z)").H, np.array(schoenflies).T)
    same(library("SE(3)").H, np.eye(6))


def test_local_coordinates(name, rng):
    """[From 59]: g = g0 exp(phi^) covers a neighbourhood of g0, and log finds phi."""
    group = library(name)
    phi, phi0 = 0.8 * rng.normal(size=(2, BATCH, group.dim))
    g0 = group.exp(phi0)
    g = g0 @ group.exp(phi)
    same(group.log(np.linalg.inv(g0) @ g), phi, 1e-12)
    same(group.pose(g).matrix, group.pose(g0).matrix @ expm(twist_matrix(phi @ SELECTION[name].T)), 1e-13)
    same(group.vee(group.hat(phi)), phi)
    same(expm(group.hat(phi)), group.exp(phi), 1e-13)


def test_kinetic_energy(name, rng):
    """[From 60]: K = V^T I V / 2 = v^T M v / 2, which is that of the particles."""
    cloud, H = Cloud(rng), SELECTION[name]
    motion = random_motion(rng, (BATCH,), H)
    V = (motion.inverse @ motion.rate).map(twist_vector).now[..., 0]
    v = np.linalg.lstsq(H, V.T, rcond=None)[0].T
    energy = cloud.kinetic_energy(motion)
    same(0.5 * np.einsum("ni,ij,nj->n", V, cloud.inertia, V), energy, 1e-12)
    M = library(name).inertia(cloud.inertia)
    same(M, H.T @ cloud.inertia @ H, 1e-12)
    same(0.5 * np.einsum("ni,ij,nj->n", v, M, v), energy, 1e-12)


def test_inertia_in_the_inertial_frame(name, rng):
    """[From 61]: M(g) = Ad_(g^-1)^T I Ad_(g^-1) gives the same energy with the spatial twist, and depends on g."""
    group, cloud, H = library(name), Cloud(rng), SELECTION[name]
    motion = random_motion(rng, (BATCH,), H)
    V_S = (motion.rate @ motion.inverse).map(twist_vector).now[..., 0]
    v_S = np.linalg.lstsq(H, V_S.T, rcond=None)[0].T
    M = inertia(name, cloud.inertia)
    # A group's own matrix of Ad, by conjugation of its 4x4 basis.
    conjugated = np.linalg.inv(motion.now)[:, None] @ twist_matrix(H.T) @ motion.now[:, None]
    Ad_inverse = np.stack([np.linalg.lstsq(H, twist_vector(c)[..., 0].T, rcond=None)[0] for c in conjugated])
    M_g = np.swapaxes(Ad_inverse, -1, -2) @ M @ Ad_inverse
    same(0.5 * np.einsum("ni,nij,nj->n", v_S, M_g, v_S), cloud.kinetic_energy(motion), 1e-12)
    local = np.linalg.lstsq(H, twist_vector((motion.inverse @ motion.rate).now)[..., 0].T, rcond=None)[0].T
    same(mul(Ad_inverse, v_S), local, 1e-12)
    g = group.exp(rng.normal(size=(BATCH, group.dim)))
    pose = group.pose(g).matrix
    conjugated = np.linalg.inv(pose)[:, None] @ twist_matrix(H.T) @ pose[:, None]
    Ad_inverse = np.stack([np.linalg.lstsq(H, twist_vector(c)[..., 0].T, rcond=None)[0] for c in conjugated])
    same(np.linalg.inv(group.Ad(g)), Ad_inverse, 1e-12)
    same(group.spatial_inertia(g, M), np.swapaxes(Ad_inverse, -1, -2) @ M @ Ad_inverse, 1e-11)
    if name in CURVED:
        differ(group.spatial_inertia(g, M), np.broadcast_to(M, (BATCH, *M.shape)))


# The two halves of C, {sum_k dS_ki/dphi_j p_k}_ij and {sum_k dS_kj/dphi_i p_k}_ij


def halves(name, p):
    d = dS(name, np.zeros(len(p)))
    return np.einsum("kij,k->ij", d, p), np.einsum("kji,k->ij", d, p)


def hat_of(p):
    return rows([0, -p[..., 2], p[..., 1]], [p[..., 2], 0, -p[..., 0]], [-p[..., 1], p[..., 0], 0])


def test_SO3(rng):
    """[From 63-71, §4.1]: S_r, the two halves of C, C = -(Mv)^, and Euler's equations."""
    M, v, dv, tau = body("SO(3)", rng, principal=True)
    same(M, np.diag(np.diag(M)), 1e-12)
    M, v, dv, tau = body("SO(3)", rng)
    for phi in rng.normal(size=(BATCH, 3)) * 1e-3:
        S_r = -0.5 * np.array([[0, -phi[2], phi[1]], [phi[2], 0, -phi[0]], [-phi[1], phi[0], 0]])
        same(S("SO(3)", phi), np.eye(3) + S_r + (2 * S_r) @ (2 * S_r) / 6, 1e-8)
        same(dS("SO(3)", np.zeros(3)) @ phi, S_r, 1e-15)
    for p in v @ M:
        first, second = halves("SO(3)", p)
        same(first, -hat_of(p) / 2)
        same(second, hat_of(p) / 2)
    C = -hat_of(v @ M)
    same(library("SO(3)").C(M, v), C, 1e-13)
    same(dv @ M + mul(C, v), tau, 1e-12)
    same(mul(hat_of(v @ M), v), -np.cross(v, v @ M))
    same(dv @ M + np.cross(v, v @ M), tau, 1e-12)
    same(dv @ M - np.cross(v @ M, v), tau, 1e-12)


def swapped_73(p):
    """[From 73], and Table 1's SE(3)."""
    p1, p2, p3, p4, p5, p6 = np.moveaxis(p, -1, 0)
    return rows(
        [0, 0, 0, 0, p3, -p2],
        [0, 0, 0, -p3, 0, p1],
        [0, 0, 0, p2, -p1, 0],
        [0, p3, -p2, 0, p6, -p5],
        [-p3, 0, p1, -p6, 0, p4],
        [p2, -p1, 0, p5, -p4, 0],
    )


def test_SE3(rng):
    """[From 72-76, §4.2]: for every k, {dS_ki/dphi_j}_ij is half the swapped adjoint of e_k; C is that of Mv."""
    d = dS("SE(3)", np.zeros(6))
    for k, e_k in enumerate(np.eye(6)):
        same(d[k], 0.5 * swapped_73(e_k))
        same(d[k].T, -0.5 * swapped_73(e_k))
    M, v, dv, tau = body("SE(3)", rng)
    same(library("SE(3)").ad_swapped(v @ M), swapped_73(v @ M))
    same(library("SE(3)").C(M, v), swapped_73(v @ M), 1e-13)
    same(mul(swapped_73(v @ M), v), -mul(np.swapaxes(ad("SE(3)", v), -1, -2), v @ M), 1e-12)
    same(dv @ M + mul(swapped_73(v @ M), v), tau, 1e-12)
    same(dv @ M - mul(np.swapaxes(ad("SE(3)", v), -1, -2), v @ M), tau, 1e-12)


def test_SE3_written_out(rng):
    """[From §4.2]: the six equations after (76), with p q in the last."""
    M, V, dV, tau = body("SE(3)", rng, principal=True)
    m, (Ix, Iy, Iz) = M[0, 0], np.diag(M)[3:]
    (u, v, w, p, q, r), (du, dv, dw, dp, dq, dr) = V.T, dV.T
    equations = [
        m * du - m * r * v + m * q * w,
        m * dv + m * r * u - m * p * w,
        m * dw - m * q * u + m * p * v,
        Ix * dp - Iy * r * q + Iz * q * r,
        Iy * dq + Ix * r * p - Iz * p * r,
        Iz * dr - Ix * q * p + Iy * p * q,
    ]
    same(np.stack(equations, -1), tau, 1e-12)
    same(library("SE(3)").inverse_dynamics(M, V, dV), tau, 1e-12)


def swapped_83(p):
    """[From 83]"""
    p1, p2, _ = np.moveaxis(p, -1, 0)
    return rows([0, 0, -p2], [0, 0, p1], [p2, -p1, 0])


def test_SE2(rng):
    """[From 78-87, §4.3]: the adjoint, S_r = -ad/2, both halves, C, and the equations written out."""
    M, v, dv, tau = body("SE(2)", rng)
    x, y, r = v.T
    ad_V = rows([0, -r, y], [r, 0, -x], [0, 0, 0])
    same(ad_V, ad("SE(2)", v))
    same(library("SE(2)").ad(v), ad_V)
    same(library("SE(2)").hat(v), rows([0, -r, x], [r, 0, y], [0, 0, 0]))
    same(dS("SE(2)", np.zeros(3)) @ v[0], -0.5 * ad_V[0])
    for p in v @ M:
        first, second = halves("SE(2)", p)
        printed = rows([0, 0, p[1]], [0, 0, -p[0]], [-p[1], p[0], 0])
        same(first, -0.5 * printed)
        same(second, 0.5 * printed)
        same(first, 0.5 * swapped_83(p))
    same(library("SE(2)").C(M, v), swapped_83(v @ M), 1e-13)
    same(dv @ M + mul(swapped_83(v @ M), v), tau, 1e-12)
    same(dv @ M - mul(np.swapaxes(ad_V, -1, -2), v @ M), tau, 1e-12)
    M, v, dv, tau = body("SE(2)", rng, principal=True)
    (x, y, r), (dx, dy, dr), m, Iz = v.T, dv.T, M[0, 0], M[2, 2]
    same(M, np.diag([m, m, Iz]), 1e-12)
    matrix = rows([0, r, 0], [-r, 0, 0], [y, -x, 0])
    same(dv @ M - mul(matrix, np.stack([m * x, m * y, Iz * r], -1)), tau, 1e-12)
    same(np.stack([m * dx - m * r * y, m * dy + m * r * x, Iz * dr], -1), tau, 1e-12)


def swapped_schoenflies(p):
    """[From 91], Table 1's X(z)."""
    p1, p2, _, _ = np.moveaxis(p, -1, 0)
    return rows([0, 0, 0, -p2], [0, 0, 0, p1], [0, 0, 0, 0], [p2, -p1, 0, 0])


def test_schoenflies(rng):
    """[From 88-96, §4.4]: the same steps; C touches neither the third row nor the third column."""
    M, v, dv, tau = body("X(z)", rng)
    x, y, _, r = v.T
    ad_V = rows([0, -r, 0, y], [r, 0, 0, -x], [0, 0, 0, 0], [0, 0, 0, 0])
    same(ad_V, ad("X(z)", v))
    same(library("X(z)").ad(v), ad_V)
    same(dS("X(z)", np.zeros(4)) @ v[0], -0.5 * ad_V[0])
    for p in v @ M:
        first, second = halves("X(z)", p)
        printed = rows([0, 0, 0, p[1]], [0, 0, 0, -p[0]], [0, 0, 0, 0], [-p[1], p[0], 0, 0])
        same(first, -0.5 * printed)
        same(second, 0.5 * printed)
        same(first, 0.5 * swapped_schoenflies(p))
    C = library("X(z)").C(M, v)
    same(C, swapped_schoenflies(v @ M), 1e-13)
    assert not C[:, 2].any()
    assert not C[:, :, 2].any()
    same(dv @ M + mul(swapped_schoenflies(v @ M), v), tau, 1e-12)
    same(dv @ M - mul(np.swapaxes(ad_V, -1, -2), v @ M), tau, 1e-12)
    M, v, dv, tau = body("X(z)", rng, principal=True)
    (x, y, _, r), (dx, dy, dw, dr), m = v.T, dv.T, M[0, 0]
    equations = [m * dx - m * r * y, m * dy + m * r * x, m * dw, M[3, 3] * dr]
    same(np.stack(equations, -1), tau, 1e-12)


@each_case("name", FLAT)
def test_translations_and_lower_dimensional_groups(name, rng):
    """[From §4.5, §4.6]: S = I and M dv = tau."""
    M, v, dv, tau = body(name, rng)
    same(S(name, v), np.broadcast_to(np.eye(len(M)), (BATCH, *M.shape)))
    same(library(name).S(v), S(name, v))
    same(dv @ M, tau, 1e-12)
    same(library(name).inverse_dynamics(M, v, dv), tau, 1e-12)
    if name == "R^3":
        same(M, M[0, 0] * np.eye(3), 1e-12)


# Tables 1 and 2, with the corrections From9 to From11


def table_1(name, v, p):
    """V^, ad_V and the Coriolis matrix. The smallest matrices of the group; zero where the print shows 0."""
    zero = 0 * v[..., 0]
    if name == "SE(3)":
        x, y, z, a, b, c = np.moveaxis(v, -1, 0)
        return (
            rows([0, -c, b, x], [c, 0, -a, y], [-b, a, 0, z], [0, 0, 0, 0]),
            rows(
                [0, -c, b, 0, -z, y],
                [c, 0, -a, z, 0, -x],
                [-b, a, 0, -y, x, 0],
                [0, 0, 0, 0, -c, b],
                [0, 0, 0, c, 0, -a],
                [0, 0, 0, -b, a, 0],
            ),
            swapped_73(p),
        )
    if name == "X(z)":
        x, y, z, c = np.moveaxis(v, -1, 0)
        ad_V = rows([0, -c, 0, y], [c, 0, 0, -x], [0, 0, 0, 0], [0, 0, 0, 0])
        return rows([0, -c, 0, x], [c, 0, 0, y], [0, 0, 0, z], [0, 0, 0, 0]), ad_V, swapped_schoenflies(p)
    if name == "SE(2)":
        x, y, c = np.moveaxis(v, -1, 0)
        return rows([0, -c, x], [c, 0, y], [0, 0, 0]), rows([0, -c, y], [c, 0, -x], [0, 0, 0]), swapped_83(p)
    if name == "SO(3)":
        return hat_of(v), hat_of(v), -hat_of(p)
    flat = np.zeros((*v.shape, v.shape[-1]))
    if name == "R^3":
        x, y, z = np.moveaxis(v, -1, 0)
        return rows([zero, 0, 0, x], [0, 0, 0, y], [0, 0, 0, z], [0, 0, 0, 0]), flat, flat
    if name == "R^2":
        return rows([zero, 0, v[..., 0]], [0, 0, v[..., 1]], [0, 0, 0]), flat, flat
    (c,) = np.moveaxis(v, -1, 0)
    one = {
        "R": rows([zero, c], [0, 0]),
        "H": rows([zero, -c, 0, 0], [c, 0, 0, 0], [0, 0, 0, PITCH * c], [0, 0, 0, 0]),
        "SO(2)": rows([zero, -c], [c, 0]),
    }
    return one[name], flat, flat


@each_case("name", [n for n in NAMES if n not in ("X(x)", "X(y)")])
def test_tables_1_and_2(name, rng):
    """[From Table 1, Table 2]: V^, ad_V, C and S of each group."""
    M, v, dv, tau = body(name, rng)
    hat_V, ad_V, C = table_1(name, v, v @ M)
    same(ad_V, ad(name, v))
    same(library(name).ad(v), ad_V)
    same(library(name).hat(v), hat_V)
    same(library(name).C(M, v), C, 1e-13)
    same(np.stack([C_57(name, M, x) for x in v]), C, 1e-13)
    same(dv @ M + mul(C, v), tau, 1e-12)
    small = 1e-3 * v
    three_terms = np.eye(len(M)) - ad(name, small) / 2 + ad(name, small) @ ad(name, small) / 6
    same(library(name).S(small), three_terms, 1e-8)
    vectors = rng.normal(size=(2, BATCH, len(M)))
    bracket = library(name).hat(vectors[0]) @ library(name).hat(vectors[1])
    bracket = bracket - library(name).hat(vectors[1]) @ library(name).hat(vectors[0])
    same(library(name).hat(mul(ad(name, vectors[0]), vectors[1])), bracket)


def test_the_other_schoenflies_groups(rng):
    """[From §4.4]: rotation about x or y, by the same theorem."""
    for name in ("X(x)", "X(y)"):
        M, v, dv, tau = body(name, rng)
        same(library(name).inverse_dynamics(M, v, dv), tau, 1e-12)
        same(library(name).C(M, v), np.stack([C_57(name, M, x) for x in v]), 1e-13)
