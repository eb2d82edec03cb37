"""Dynamics of robots, as printed, on embedded robots.  [RD §3.1-3.7]

Where the text carries a slip, the corrected form stands here and the slip in test_errata_robots.py.
"""

import numpy as np
import pytest

import multibody as mb
from multibody.model.joint import Passive
from multibody.textbook.projected_newton_euler import projected_newton_euler

from ..plain import Plain, bodies_alone
from .truth import T, differ, hat, mul, same

N = 5
FOOT = "foot-lf"


class Sums:
    """Of each body of a robot: m, its centre of mass and Θ_S in the body, and the Jacobians and their rates."""

    def __init__(self, robot, q, v):
        self.robot, self.q, self.v = robot, q, v
        self.bodies = [self.body(body) for body in robot.bodies]

    def body(self, body):
        robot, q, v = self.robot, self.q, self.v
        C = robot.pose(body.name, q).rotation.matrix
        J, J_dot = robot.jacobian(body.name, q), robot.jacobian_dot(body.name, q, v)
        J_R, J_R_dot = J[..., 3:, :], J_dot[..., 3:, :]
        W = hat(mul(J_R, v))
        arm = hat(mul(C, body.inertia.com))
        arm_dot = W @ arm - arm @ W
        J_S = J[..., :3, :] - arm @ J_R
        J_S_dot = J_dot[..., :3, :] - arm_dot @ J_R - arm @ J_R_dot
        return {
            "m": body.inertia.mass,
            "r": robot.pose(body.name, q) @ body.inertia.com,
            "C": C,
            "B_theta": body.inertia.inertia,
            "theta": C @ body.inertia.inertia @ T(C),
            "J_S": J_S,
            "J_R": J_R,
            "J_S_dot": J_S_dot,
            "J_R_dot": J_R_dot,
            "W": mul(J_R, v),
        }

    def sum(self, term):
        return sum(term(**body) for body in self.bodies)


@pytest.fixture(scope="module", params=["puma-560", "quadruped", "branching-figure"])
def robot(request):
    return bodies_alone(request.param)


@pytest.fixture(scope="module")
def state(robot):
    rng = np.random.default_rng(3)
    return robot.random(rng, (N,)), *rng.normal(size=(3, N, robot.nv))


@pytest.fixture(scope="module")
def sums(robot, state):
    return Sums(robot, *state[:2])


# ---- section 3.1 and 3.2 ---------------------------------------------------------------------------------------------


def test_equations_of_motion(robot, state):
    """[RD §3.1; RD 3.1, 3.38]: M q'' + b + g = τ + J_c^T F_c, M symmetric and positive definite."""
    q, v, a, _ = state
    rng = np.random.default_rng(31)
    frame, F_c = robot.bodies[-1].name, rng.normal(size=(N, 6))
    M, h = robot.mass_matrix(q), robot.bias(q, v)
    same(M, T(M), 1e-12)
    assert np.linalg.eigvalsh(M).min() > 0
    tau = mul(M, a) + h - mul(T(robot.jacobian(frame, q)), F_c)
    same(robot.inverse_dynamics(q, v, a, {frame: F_c}), tau, 1e-11)
    same(robot.forward_dynamics(q, v, tau, {frame: F_c}), a, 1e-8)


def test_motion_of_bodies_from_generalised_coordinates(robot, state):
    """[RD §3.2.4; RD 3.9-3.10]: v_S and Ω from q', a_S and Ψ from q'' with the rates of the Jacobians."""
    q, v, a, _ = state
    for body in robot.bodies:
        S = body.inertia.com
        J_P, J_R = robot.point_jacobian(body.name, q, S), robot.jacobian(body.name, q)[:, 3:]
        same(mul(J_P, v), robot.point_velocity(body.name, q, v, S), 1e-12)
        same(mul(J_R, v), robot.velocity(body.name, q, v)[:, 3:], 1e-12)
    one = Sums(robot, q, v)
    for body, terms in zip(robot.bodies, one.bodies, strict=True):
        a_S = mul(terms["J_S"], a) + mul(terms["J_S_dot"], v)
        same(a_S, robot.point_acceleration(body.name, q, v, a, body.inertia.com), 1e-11)
        Psi = mul(terms["J_R"], a) + mul(terms["J_R_dot"], v)
        same(Psi, robot.acceleration(body.name, q, v, a)[:, 3:], 1e-11)


# ---- section 3.3.2: Newton-Euler for robots --------------------------------------------------------------------------


def test_newton_and_euler_for_every_body_cut_free(robot, state):
    """[RD §3.3.2; RD 3.24-3.25]: with the wrenches of its joints, each body obeys both laws about its COG."""
    q, v, a, _ = state
    wrenches = robot.joint_wrenches(q, v, a)
    g = np.array(robot.model.gravity)
    for i, body in enumerate(robot.bodies):
        pose = robot.pose(body.name, q)
        C, S = pose.rotation.matrix, pose @ body.inertia.com
        F, M = _in_world(pose, wrenches[:, i], S)
        F = F + body.inertia.mass * g
        for j, child in enumerate(robot.bodies):
            if child.parent == body.index:
                f, m = _in_world(robot.pose(child.name, q), wrenches[:, j], S)
                F, M = F - f, M - m
        a_S = robot.point_acceleration(body.name, q, v, a, body.inertia.com)
        Omega, Psi = robot.velocity(body.name, q, v)[:, 3:], robot.acceleration(body.name, q, v, a)[:, 3:]
        theta = C @ body.inertia.inertia @ T(C)
        same(body.inertia.mass * a_S, F, 1e-10)
        same(mul(theta, Psi) + np.cross(Omega, mul(theta, Omega)), M, 1e-10)


def _in_world(pose, wrench, about):
    """The force and the torque about a point, along the world's axes, of a wrench in a body's frame."""
    C = pose.rotation.matrix
    force = mul(C, wrench[:, :3])
    return force, mul(C, wrench[:, 3:]) + np.cross(pose.position - about, force)


def test_joints_transmit_what_their_motors_give(robot, state):
    """[RD §3.3.2]: along the axis of a joint, the wrench is its generalised force."""
    q, v, a, _ = state
    tau, wrenches = robot.inverse_dynamics(q, v, a), robot.joint_wrenches(q, v, a)
    for i, body in enumerate(robot.bodies):
        if not robot.tree.is_base(body.joint):
            S = body.joint.subspace(q).matrix
            same(mul(T(np.broadcast_to(S, (N, *S.shape[-2:]))), wrenches[:, i]), tau[:, body.joint.v], 1e-10)


def test_cart_pendulum():
    """[RD Ex. 3.3.1]: the equations of motion of the system, by hand; the text's own are lost in the scan."""
    m_c, m_p, l, theta, g = 1.3, 0.4, 0.6, 0.05, 9.81
    built = mb.robots.build("cart-pendulum", cart_mass=m_c, pendulum_mass=m_p, length=l, inertia=theta)
    robot = Plain(mb.Robot(built))
    rng = np.random.default_rng(331)
    q, v = rng.normal(size=(2, N, 2))
    s, c = np.sin(q[:, 1]), np.cos(q[:, 1])
    for M, b, gravity in (
        projected_newton_euler(robot.tree, q, v),
        (robot.mass_matrix(q), robot.bias(q, v) - robot.gravity(q), robot.gravity(q)),
    ):
        same(M[:, 0, 0], np.full(N, m_c + m_p))
        same(M[:, 0, 1], m_p * l * c)
        same(M[:, 1, 1], np.full(N, theta + m_p * l**2))
        same(b, np.stack([-m_p * l * s * v[:, 1] ** 2, 0 * s], axis=-1), 1e-12)
        same(gravity, np.stack([0 * s, m_p * g * l * s], axis=-1), 1e-12)


def test_double_pendulum():
    """[RD 3.43-3.45]: the three terms by hand."""
    robot = Plain(mb.Robot(mb.robots.build("double-pendulum", lengths=(0.8, 0.5), masses=(1.5, 0.7))))
    (m_1, c_1, I_1), (m_2, c_2, I_2) = (
        (body.inertia.mass, -body.inertia.com[2], body.inertia.inertia[1, 1]) for body in robot.bodies
    )
    l_1, g = 0.8, 9.81
    rng = np.random.default_rng(332)
    q, v = rng.normal(size=(2, N, 2))
    s_1, s_12 = np.sin(q[:, 0]), np.sin(q.sum(axis=-1))
    s_2, c_2q = np.sin(q[:, 1]), np.cos(q[:, 1])
    k = m_2 * l_1 * c_2
    for M, b, gravity in (
        projected_newton_euler(robot.tree, q, v),
        (robot.mass_matrix(q), robot.bias(q, v) - robot.gravity(q), robot.gravity(q)),
    ):
        same(M[:, 0, 0], I_1 + I_2 + m_1 * c_1**2 + m_2 * (l_1**2 + c_2**2) + 2 * k * c_2q, 1e-12)
        same(M[:, 0, 1], I_2 + m_2 * c_2**2 + k * c_2q, 1e-12)
        same(M[:, 1, 1], np.full(N, I_2 + m_2 * c_2**2), 1e-12)
        first = -k * s_2 * (2 * v[:, 0] * v[:, 1] + v[:, 1] ** 2)
        same(b, np.stack([first, k * s_2 * v[:, 0] ** 2], axis=-1), 1e-12)
        second = m_2 * c_2 * g * s_12
        same(gravity, np.stack([(m_1 * c_1 + m_2 * l_1) * g * s_1 + second, second], axis=-1), 1e-12)


# ---- section 3.4: Lagrange -------------------------------------------------------------------------------------------


def test_kinetic_energy(robot, state, sums):
    """[RD §3.4.2; RD 3.28-3.31]: over the bodies, and through the mass matrix."""
    q, v, _, _ = state
    energy = robot.kinetic_energy(q, v)

    def of_body(m, J_S, W, theta, **_):
        r_dot = mul(J_S, v)
        return m * (r_dot * r_dot).sum(-1) / 2 + (W * mul(theta, W)).sum(-1) / 2

    same(sums.sum(of_body), energy, 1e-12)
    M = sums.sum(lambda m, J_S, J_R, theta, **_: m * T(J_S) @ J_S + T(J_R) @ theta @ J_R)
    same((v * mul(M, v)).sum(-1) / 2, energy, 1e-12)


def test_potential_energy(robot, state, sums):
    """[RD §3.4.3; RD 3.32-3.33]: U_g = -Σ r_S^T F_g, F_g = m g e_g; its gradient is g."""
    q = state[0]
    g = np.array(robot.model.gravity)
    same(sums.sum(lambda m, r, **_: -(r * (m * g)).sum(-1)), robot.potential_energy(q), 1e-12)
    h = 1e-6
    for k, step in enumerate(h * np.eye(robot.nv)):
        rise = robot.potential_energy(robot.integrate(q, step)) - robot.potential_energy(robot.integrate(q, -step))
        same(rise / (2 * h), robot.gravity(q)[:, k], 1e-6)


def test_potential_energy_of_a_spring():
    """[RD 3.34]: its negative gradient is the passive force of a joint with a spring."""
    robot = Plain(mb.load("cart-pendulum").change(passive={"slider": Passive(stiffness=7.0, rest=(0.2,))}))
    q = np.array([0.5, 0.3])

    def energy(x):
        return 0.5 * 7.0 * (x - 0.2) ** 2

    h = 1e-6
    same(robot.passive(q, np.zeros(2)), [-(energy(q[0] + h) - energy(q[0] - h)) / (2 * h), 0.0], 1e-8)


def test_euler_lagrange_equation():
    """[RD 3.26-3.27]: d/dt (dL/dq') - dL/dq = τ with L = T - U, on an arm of which q' is the velocity."""
    robot = bodies_alone("puma-560")
    rng = np.random.default_rng(327)
    q, (v, a) = robot.random(rng), rng.normal(size=(2, 6))
    h = 1e-5

    def L(q, v):
        return robot.kinetic_energy(q, v) - robot.potential_energy(q)

    step = h * np.eye(6)
    by_v = [(L(q + t * v, v + t * a + step) - L(q + t * v, v + t * a - step)) / (2 * h) for t in (h, -h)]
    by_q = (L(q + step, v) - L(q - step, v)) / (2 * h)
    same((by_v[0] - by_v[1]) / (2 * h) - by_q, robot.inverse_dynamics(q, v, a), 1e-5)


# ---- section 3.5: the projected Newton-Euler equations ---------------------------------------------------------------


def test_rates_of_momentum_project_to_the_equations_of_motion(robot, state, sums):
    """[RD §3.5.2; RD 3.39-3.42]: Σ (J_S; J_R)^T ((p'; N') - (F_g; 0)) = τ."""
    q, v, a, _ = state
    g = np.array(robot.model.gravity)

    def of_body(m, J_S, J_R, J_S_dot, J_R_dot, theta, W, **_):
        p_dot = m * (mul(J_S, a) + mul(J_S_dot, v))
        N_dot = mul(theta, mul(J_R, a) + mul(J_R_dot, v)) + np.cross(W, mul(theta, W))
        return mul(T(J_S), p_dot - m * g) + mul(T(J_R), N_dot)

    same(sums.sum(of_body), robot.inverse_dynamics(q, v, a), 1e-11)


def test_projected_newton_euler(robot, state, sums):
    """[RD §3.5.2; RD 3.43-3.45; QT 59]: M, b and g as sums over the bodies equal the recursive ones."""
    q, v, _, _ = state
    g = np.array(robot.model.gravity)
    M = sums.sum(lambda m, J_S, J_R, theta, **_: m * T(J_S) @ J_S + T(J_R) @ theta @ J_R)
    b = sums.sum(
        lambda m, J_S, J_R, J_S_dot, J_R_dot, theta, W, **_: (
            mul(T(J_S), m * mul(J_S_dot, v)) + mul(T(J_R), mul(theta, mul(J_R_dot, v)) + np.cross(W, mul(theta, W)))
        )
    )
    gravity = sums.sum(lambda m, J_S, **_: -mul(T(J_S), np.broadcast_to(m * g, (N, 3))))
    same(robot.mass_matrix(q), M, 1e-12)
    same(robot.bias(q, v), b + gravity, 1e-11)
    same(robot.gravity(q), gravity, 1e-11)
    for ours, printed in zip(projected_newton_euler(robot.tree, q, v), (M, b, gravity), strict=True):
        same(ours, printed, 1e-11)


def test_projected_newton_euler_with_mixed_axes(robot, state, sums):
    """[RD 3.46-3.48]: linear terms in a fixed frame A, angular ones in the frame B of each body."""
    q, v, _, _ = state
    C_AI = mb.Rotation.random(np.random.default_rng(346)).matrix
    g = C_AI @ np.array(robot.model.gravity)

    def in_B(C, J_R, J_R_dot, W):
        """B_J_R, the rate of its numbers, and B_Ω."""
        return T(C) @ J_R, T(C) @ (J_R_dot - hat(W) @ J_R), mul(T(C), W)

    def mass(m, J_S, J_R, J_R_dot, C, B_theta, W, **_):
        A_J, (B_J, _, _) = C_AI @ J_S, in_B(C, J_R, J_R_dot, W)
        return m * T(A_J) @ A_J + T(B_J) @ B_theta @ B_J

    def coriolis(m, J_S, J_S_dot, J_R, J_R_dot, C, B_theta, W, **_):
        B_J, B_J_dot, B_W = in_B(C, J_R, J_R_dot, W)
        torque = mul(B_theta, mul(B_J_dot, v)) + np.cross(B_W, mul(B_theta, B_W))
        return mul(T(C_AI @ J_S), m * mul(C_AI @ J_S_dot, v)) + mul(T(B_J), torque)

    gravity = sums.sum(lambda m, J_S, **_: -mul(T(C_AI @ J_S), np.broadcast_to(m * g, (N, 3))))
    same(robot.mass_matrix(q), sums.sum(mass), 1e-12)
    same(robot.bias(q, v), sums.sum(coriolis) + gravity, 1e-11)
    same(robot.gravity(q), gravity, 1e-11)


def test_generalised_forces_of_external_forces(robot, state):
    """[RD §3.5.3; RD 3.49-3.51, 3.53]: forces at points by J_P^T, torques by J_R^T, and they add."""
    q, v, a, tau = state
    rng = np.random.default_rng(349)
    first, last = robot.bodies[0].name, robot.bodies[-1].name
    F, M = rng.normal(size=(2, N, 3))
    point = np.array([0.1, 0.2, -0.3])
    tau_F = mul(T(robot.point_jacobian(last, q, point)), F)
    tau_T = mul(T(robot.jacobian(first, q)[:, 3:]), M)
    arm = mul(robot.pose(last, q).rotation.matrix, point)
    wrenches = {
        last: np.concatenate([F, np.cross(arm, F)], axis=-1),
        first: np.concatenate([np.zeros((N, 3)), M], axis=-1),
    }
    without = robot.inverse_dynamics(q, v, a)
    same(without - robot.inverse_dynamics(q, v, a, wrenches), tau_F + tau_T, 1e-11)
    pushed = robot.forward_dynamics(q, v, tau, wrenches)
    same(pushed, robot.forward_dynamics(q, v, tau + tau_F + tau_T), 1e-8)


def test_generalised_force_of_an_actuator():
    """[RD 3.52]: of a torque about the axis of a hinge, on both links: the one entry of its joint."""
    robot = bodies_alone("puma-560")
    q = robot.random(np.random.default_rng(352))
    J_R = [np.zeros((3, 6)), *(robot.jacobian(body.name, q)[3:] for body in robot.bodies)]
    for k, body in enumerate(robot.bodies):
        axis = robot.pose(body.name, q).rotation @ np.array(body.joint.kind.axis)
        same((J_R[k + 1] - J_R[k]).T @ (2.5 * axis), 2.5 * np.eye(6)[k], 1e-12)


# ---- sections 3.6 and 3.7 --------------------------------------------------------------------------------------------


def test_total_energy_stays(robot):
    """[RD §3.6; RD 3.54]: without forces, H = T + U is constant along the motion."""
    rng = np.random.default_rng(354)
    q, v, h = robot.random(rng), 0.5 * rng.normal(size=robot.nv), 1e-3
    zero = np.zeros(robot.nv)
    start = robot.kinetic_energy(q, v) + robot.potential_energy(q)
    moved = []
    for _ in range(20):
        k_1 = robot.forward_dynamics(q, v, zero)
        half = robot.integrate(q, h / 2 * v)
        k_2 = robot.forward_dynamics(half, v + h / 2 * k_1, zero)
        q, v = robot.integrate(q, h * (v + h / 2 * k_1)), v + h * k_2
        moved.append(robot.kinetic_energy(q, v))
    assert abs(robot.kinetic_energy(q, v) + robot.potential_energy(q) - start) < 2e-4 * max(1.0, abs(start))
    assert np.ptp(moved) > 1e-2


def test_power_is_the_rate_of_the_total_energy(robot, state):
    """[RD 3.54]: dH/dt = v·τ."""
    q, v, a, _ = state
    h = 1e-6
    H = [
        robot.kinetic_energy(robot.integrate(q, t * v), v + t * a) + robot.potential_energy(robot.integrate(q, t * v))
        for t in (h, -h)
    ]
    same(robot.power(q, v, a), (H[0] - H[1]) / (2 * h), 1e-6)
    same(robot.power(q, v, a), (v * robot.inverse_dynamics(q, v, a)).sum(-1), 1e-12)


def test_floating_base():
    """[RD §3.7; RD 3.55-3.57]: S selects the actuated joints; a force on the environment has the other sign."""
    robot = bodies_alone("quadruped")
    rng = np.random.default_rng(355)
    q, (u, u_dot), F = robot.random(rng), rng.normal(size=(2, 18)), rng.normal(size=3)
    S = np.concatenate([np.zeros((12, 6)), np.eye(12)], axis=1)
    same(robot.selection, S)
    same(S @ u, u[6:])
    M, h, J = robot.mass_matrix(q), robot.bias(q, u), robot.jacobian(FOOT, q)[:3]
    tau = rng.normal(size=12)
    wrench = np.concatenate([F, np.zeros(3)])
    a = robot.forward_dynamics(q, u, S.T @ tau, {FOOT: wrench})
    same(M @ a + h, S.T @ tau + J.T @ F, 1e-9)  # 3.55, on the robot
    same(M @ a + h + J.T @ (-F), S.T @ tau, 1e-9)  # 3.57, on the environment
    base = (M @ u_dot + h)[:6]
    differ(base, np.zeros(6))
    same(robot.inverse_dynamics(q, u, u_dot)[:6], base, 1e-11)  # no motor can give it: 3.55 asks for F_ext
