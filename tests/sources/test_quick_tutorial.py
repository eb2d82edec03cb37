"""One rigid body, and the velocities of a tree of them, as printed.  [QT §3, 5.2]

Where the text carries a slip, the corrected form stands here and the slip in test_errata_qt.py.
"""

import numpy as np
import pytest
from scipy.linalg import expm

import multibody as mb
from multibody.geometry import operators, rates, so3

from .motions import Cloud, constant, random_motion, split
from .truth import T, angular_velocity, elementary, hat, mul, rate, rotations, rows, same, vee

N = 20


@pytest.fixture
def rng():
    return np.random.default_rng(1501)


# ---- section 3: one rigid body ---------------------------------------------------------------------------------------


class Body:
    """Particles of one mass μ around their centre of mass x, on a body with rotation R(t)."""

    def __init__(self, rng):
        self.cloud = Cloud(rng, 9)
        self.cloud.masses[:] = 0.4
        self.cloud.points -= self.cloud.points.mean(axis=0)
        self.mu, self.m = 0.4, 3.6
        motion = random_motion(rng, (N,))
        self.R, self.x = split(motion)
        self.path = self.cloud.paths(motion)
        self.arms = self.R @ constant(self.cloud.points.T)  # r'_i, (N, 3, particles)
        W = self.R.rate @ self.R.T
        self.w, self.w_dot = vee(W.now), vee(W.rate.now)
        self.v, self.v_dot = self.x.rate.now[..., 0], self.x.rate.rate.now[..., 0]
        self.I_0 = sum(self.mu * (p @ p * np.eye(3) - np.outer(p, p)) for p in self.cloud.points)
        self.I_c = self.R.now @ self.I_0 @ T(self.R.now)
        self.force = (self.mu * self.path.rate.rate.now).sum(-1)
        self.torque = np.cross(self.arms.now, self.mu * self.path.rate.rate.now, axis=-2).sum(-1)

    def each_arm(self):
        return np.moveaxis(self.arms.now, -1, 0)


@pytest.fixture
def body(rng):
    return Body(rng)


def test_linear_momentum(body):
    """[QT 18]: P = Σ μ r_i' = Σ μ (v + ω × r'_i) = m v."""
    P = (body.mu * body.path.rate.now).sum(-1)
    same(sum(body.mu * (body.v + np.cross(body.w, r)) for r in body.each_arm()), P, 1e-12)
    same(body.m * body.v, P, 1e-12)


def test_angular_momentum(body):
    """[QT 19, 21]: L = Σ r'_i × P_i = Σ -μ [r'][r'] ω = I_c ω, with I_c = R I_0 R^T."""
    L = np.cross(body.arms.now, body.mu * body.path.rate.now, axis=-2).sum(-1)
    same(sum(body.mu * np.cross(r, body.v + np.cross(body.w, r)) for r in body.each_arm()), L, 1e-12)
    same(sum(body.mu * mul(hat(r) @ hat(body.w), r) for r in body.each_arm()), L, 1e-12)
    I_c = sum(-body.mu * hat(r) @ hat(r) for r in body.each_arm())
    same(I_c, body.I_c, 1e-12)
    same(mul(I_c, body.w), L, 1e-12)
    inertia = mb.SpatialInertia(mass=body.m, com=[0.0, 0, 0], inertia=body.I_0)
    B_v = mul(T(body.R.now), body.v), mul(T(body.R.now), body.w)
    momentum = inertia.momentum(np.concatenate(B_v, axis=-1))
    same(mul(body.R.now, momentum[..., 3:]), L, 1e-12)
    same(mul(body.R.now, momentum[..., :3]), body.m * body.v, 1e-12)


def test_skew_symmetric_matrix(rng):
    """[QT 20]: [a] b = a × b, and the identities below it."""
    a, b = rng.normal(size=(2, N, 3))
    a1, a2, a3 = a.T
    printed = rows((0, -a3, a2), (a3, 0, -a1), (-a2, a1, 0))
    same(mul(printed, b), np.cross(a, b))
    same(mul(hat(a), b), -mul(hat(b), a))
    same(T(printed), -printed, 0)
    outer = a[:, :, None] * a[:, None, :]
    same(-printed @ printed, np.sum(a * a, -1)[:, None, None] * np.eye(3) - outer)
    same(operators.hat3(a), printed, 0)


def test_force(body):
    """[QT 22]: f = P' = m v'."""
    same(body.m * body.v_dot, body.force, 1e-11)


def test_torque(body):
    """[QT 23]: τ = L' = (I_c ω)', in all its steps (the first two with the dots over the brackets)."""
    I_c = body.R @ constant(np.broadcast_to(body.I_0, (N, 3, 3))) @ body.R.T
    W = body.R.rate @ body.R.T
    w = W.map(lambda A: np.stack([A[..., 2, 1], A[..., 0, 2], A[..., 1, 0]], -1)[..., None])
    same((I_c @ w).rate.now[..., 0], body.torque, 1e-11)
    start, R, R_dot = mul(body.I_c, body.w_dot), body.R.now, body.R.rate.now
    same(start + mul(I_c.rate.now, body.w), body.torque, 1e-11)
    same(start + mul(R_dot @ body.I_0 @ T(R) + R @ body.I_0 @ T(R_dot), body.w), body.torque, 1e-11)
    same(start + mul(R_dot @ T(R) @ body.I_c + body.I_c @ T(R_dot @ T(R)), body.w), body.torque, 1e-11)
    same(start + mul(hat(body.w) @ body.I_c - body.I_c @ hat(body.w), body.w), body.torque, 1e-11)
    same(start + np.cross(body.w, mul(body.I_c, body.w)), body.torque, 1e-11)


def test_newton_euler_equations(body):
    """[QT 24]: the block form, and the library's wrench in the frame of the body."""
    mass = np.zeros((N, 6, 6))
    mass[:, :3, :3], mass[:, 3:, 3:] = body.m * np.eye(3), body.I_c
    bias = np.concatenate([np.zeros((N, 3)), np.cross(body.w, mul(body.I_c, body.w))], axis=-1)
    wrench = np.concatenate([body.force, body.torque], axis=-1)
    same(mul(mass, np.concatenate([body.v_dot, body.w_dot], axis=-1)) + bias, wrench, 1e-11)

    B = T(body.R.now)
    B_v = np.concatenate([mul(B, body.v), mul(B, body.w)], axis=-1)
    B_dv = np.concatenate([mul(B, body.v_dot - np.cross(body.w, body.v)), mul(B, body.w_dot)], axis=-1)
    inertia = mb.SpatialInertia(mass=body.m, com=[0.0, 0, 0], inertia=body.I_0)
    same(inertia.newton_euler(B_v, B_dv), np.concatenate([mul(B, body.force), mul(B, body.torque)], axis=-1), 1e-11)


def test_kinetic_energy(body):
    """[QT 25-27]: of the particles, through mass and inertia, and in block form (25 with the dot over its first r)."""
    energy = 0.5 * (body.mu * body.path.rate.now**2).sum(axis=(-2, -1))
    both = 0.5 * body.m * np.sum(body.v**2, -1) + 0.5 * np.sum(body.w * mul(body.I_c, body.w), -1)
    same(both, energy, 1e-12)
    same(sum(0.5 * body.mu * np.sum((body.v + np.cross(body.w, r)) ** 2, -1) for r in body.each_arm()), energy, 1e-12)
    B_v = np.concatenate([mul(T(body.R.now), body.v), mul(T(body.R.now), body.w)], axis=-1)
    inertia = mb.SpatialInertia(mass=body.m, com=[0.0, 0, 0], inertia=body.I_0)
    same(inertia.kinetic_energy(B_v), energy, 1e-12)


# ---- section 5.2: the tree of figure 1, links 1 to 4 with 2, 3, 1 and 1 degrees of freedom ---------------------------

PARENT = {1: None, 2: 1, 3: 1, 4: 2}
SLICE = {1: slice(0, 2), 2: slice(2, 5), 3: slice(5, 6), 4: slice(6, 7)}
AXIS_3, AXIS_4 = np.array([0.6, 0.0, 0.8]), np.array([0.0, -0.8, 0.6])


def R_local(k, q):
    """R_k(q_k): a universal joint, three Euler angles, two hinges."""
    own = q[..., SLICE[k]]
    if k == 1:
        return elementary("x", own[..., 0]) @ elementary("y", own[..., 1])
    if k == 2:
        return elementary("x", own[..., 0]) @ elementary("y", own[..., 1]) @ elementary("z", own[..., 2])
    return expm(hat(own * (AXIS_3 if k == 3 else AXIS_4)))


def J_local(k, q):
    """The local Jacobian of link k, in the frame of its parent."""
    own = q[..., SLICE[k]]
    one = np.broadcast_to(np.eye(3), (*own.shape[:-1], 3, 3))
    if k == 1:
        return np.stack([one[..., 0], mul(elementary("x", own[..., 0]), one[..., 1])], axis=-1)
    if k == 2:  # (52)
        R_x, R_y = elementary("x", own[..., 0]), elementary("y", own[..., 1])
        return np.stack([one[..., 0], mul(R_x, one[..., 1]), mul(R_x @ R_y, one[..., 2])], axis=-1)
    return np.broadcast_to((AXIS_3 if k == 3 else AXIS_4)[:, None], (*own.shape[:-1], 3, 1))


def R_world(k, q):
    return R_local(k, q) if PARENT[k] is None else R_world(PARENT[k], q) @ R_local(k, q)


def chain(k):
    return [] if k is None else [*chain(PARENT[k]), k]


def J_world(k, q):
    """(51): zero for the joints that do not move link k."""
    J = np.zeros((*q.shape[:-1], 3, 7))
    for l in chain(k):
        R = np.eye(3) if PARENT[l] is None else R_world(PARENT[l], q)
        J[..., SLICE[l]] = R @ J_local(l, q)
    return J


@pytest.mark.parametrize("k", [2, 3, 4])
def test_angular_velocity_of_a_link(k, rng):
    """[QT 49-50]: [ω_k] = [ω_p] + R_p [ω̂_k] R_p^T, as vectors ω_k = ω_p + R_p Ĵ_k q_k'."""
    q, q_dot = rng.uniform(-2, 2, (N, 7)), rng.normal(size=(N, 7))
    p = PARENT[k]
    w_k = angular_velocity(lambda t: R_world(k, q + t * q_dot))
    w_p = angular_velocity(lambda t: R_world(p, q + t * q_dot))
    R_p, R_k = R_world(p, q), R_local(k, q)
    R_p_dot, R_k_dot = rate(lambda t: R_world(p, q + t * q_dot)), rate(lambda t: R_local(k, q + t * q_dot))
    same((R_p_dot @ R_k + R_p @ R_k_dot) @ T(R_k) @ T(R_p), hat(w_k))
    same(R_p_dot @ T(R_p) + R_p @ (R_k_dot @ T(R_k)) @ T(R_p), hat(w_k))
    w_hat = vee(R_k_dot @ T(R_k))
    same(hat(w_p) + R_p @ hat(w_hat) @ T(R_p), hat(w_k))
    same(mul(J_local(k, q), q_dot[:, SLICE[k]]), w_hat)
    same(w_p + mul(R_p, w_hat), w_k)


@pytest.mark.parametrize("k", [1, 2, 3, 4])
def test_angular_jacobian(k, rng):
    """[QT 50-51]: ω_k = J_ωk q', with the two examples of figure 1."""
    q, q_dot = rng.uniform(-2, 2, (N, 7)), rng.normal(size=(N, 7))
    w_k = angular_velocity(lambda t: R_world(k, q + t * q_dot))
    same(mul(J_world(k, q), q_dot), w_k)
    if k == 4:
        blocks = [J_local(1, q), R_world(1, q) @ J_local(2, q), np.zeros((N, 3, 1)), R_world(2, q) @ J_local(4, q)]
        same(J_world(4, q), np.concatenate(blocks, axis=-1), 0)
    if k == 1:
        same(J_world(1, q), np.concatenate([J_local(1, q), np.zeros((N, 3, 5))], axis=-1), 0)


def test_skew_matrix_of_a_rotated_vector(rng):
    """[QT §5.2]: [R ω] = R [ω] R^T."""
    R, w = rotations(rng, N), rng.normal(size=(N, 3))
    same(operators.hat3(mb.Rotation.from_matrix(R) @ w), R @ hat(w) @ T(R))


def test_euler_joint(rng):
    """[QT 52]: the local Jacobian of R^(x) R^(y) R^(z)."""
    q = rng.uniform(-2, 2, (N, 7))
    columns = [angular_velocity(lambda t, e=e: R_local(2, q + t * e)) for e in np.eye(7)[SLICE[2]]]
    same(J_local(2, q), np.stack(columns, axis=-1))
    same(rates.angular("euler-xyz", q[:, SLICE[2]]), J_local(2, q))


def test_exponential_joint(rng):
    """[QT 53-54]: Rodrigues' formula, and both forms of the local Jacobian."""
    q = rng.normal(size=(N, 3))
    theta, K = np.linalg.norm(q, axis=-1)[:, None, None], hat(q)
    R = np.eye(3) + np.sin(theta) / theta * K + (1 - np.cos(theta)) / theta**2 * K @ K
    same(R, expm(K))
    b, c = (1 - np.cos(theta)) / theta**2, (theta - np.sin(theta)) / theta**3
    columns = [angular_velocity(lambda t, e=e: expm(hat(q + t * e))) for e in np.eye(3)]
    J = np.stack(columns, axis=-1)
    same(R @ (np.eye(3) - b * K + c * K @ K), J, 1e-12)
    same(np.eye(3) + b * K + c * K @ K, J, 1e-12)
    same(so3.exp(q), R)
    same(so3.left_jacobian(q), J, 1e-12)


def test_exponential_joint_near_zero(rng):
    """[QT 55-56]: both expansions leave an error of third order."""
    q = rng.normal(size=(N, 3))
    errors = []
    for size in (1e-2, 1e-3):
        K = hat(size * q)
        errors.append(
            (
                np.abs(np.eye(3) + K + K @ K / 2 - so3.exp(size * q)).max(),
                np.abs(np.eye(3) + K / 2 + K @ K / 6 - so3.left_jacobian(size * q)).max(),
            )
        )
    ratio = np.divide(errors[0], errors[1])
    assert np.all(ratio > 900)
    assert np.all(np.array(errors[1]) < 1e-8)


def test_linear_jacobian_and_twist(rng):
    """[QT 57-58]: J_vk is the derivative of W_k c_k (with a one below c_k); V_k = J_k q' stacks both."""
    offset = rng.normal(size=(5, 3))
    c_4 = np.append(rng.normal(size=3), 1.0)

    def W(k, q):
        local = np.zeros((*q.shape[:-1], 4, 4), dtype=q.dtype)
        local[..., :3, :3], local[..., :3, 3], local[..., 3, 3] = R_local(k, q), offset[k], 1
        return local if PARENT[k] is None else W(PARENT[k], q) @ local

    q, q_dot = rng.uniform(-2, 2, (N, 7)), rng.normal(size=(N, 7))
    J_v = np.stack([rate(lambda t, e=e: (W(4, q + t * e) @ c_4)[..., :3]) for e in np.eye(7)], axis=-1)
    v = rate(lambda t: (W(4, q + t * q_dot) @ c_4)[..., :3])
    J = np.concatenate([J_v, J_world(4, q)], axis=-2)
    V = np.concatenate([v, angular_velocity(lambda t: R_world(4, q + t * q_dot))], axis=-1)
    same(mul(J, q_dot), V)
    arm = (W(4, q) @ c_4)[..., :3] - W(4, q)[..., :3, 3]  # a hinge moves the centre of mass across its axis
    same(J_v[..., 6], np.cross(mul(R_world(2, q), np.broadcast_to(AXIS_4, (N, 3))), arm))
