"""docs/errata.md, what concerns robots: one test for each entry that a number can decide, named after it.

The printed form fails the check, the corrected one passes it.
"""

import numpy as np
import pytest

import multibody as mb
from multibody.algorithms.change_of_velocity import equations_of_motion
from multibody.geometry import Pose, SpatialInertia
from multibody.model import base_velocity
from multibody.model.builder import Builder
from multibody.model.joints import Prismatic, Revolute, Spherical

from ..plain import Plain, bodies_alone
from .truth import differ, hat, same


@pytest.fixture
def rng():
    return np.random.default_rng(404)


def inertia(com=(0.1, -0.2, 0.3)):
    return SpatialInertia(mass=2.0, com=com, inertia=np.diag([0.2, 0.3, 0.4]))


def chain(*kinds, seed=5):
    """Links on joints of some kinds, one after the other."""
    rng = np.random.default_rng(seed)
    b = Builder("chain")
    for k, kind in enumerate(kinds):
        b.body(f"link{k}", inertia())
        b.joint(f"joint{k}", kind, parent=f"link{k - 1}" if k else None, child=f"link{k}", placement=Pose.random(rng))
    return Plain(mb.Robot(b))


def turned(robot, name, q):
    return robot.pose(name, q).rotation.matrix


# ---- Robot Dynamics --------------------------------------------------------------------------------------------------


def test_rd24_columns_of_sliding_joints(rng):
    """[RD 2.163-2.166]: n × r above n is the column of a hinge; that of a slider is n above 0."""
    scara = Plain(mb.load("scara"))
    q = scara.random(rng)
    quill = scara.joints[-1]
    assert isinstance(quill.kind, Prismatic)
    pose = scara.pose(quill.child, q)
    n = pose.rotation @ np.array(quill.kind.axis)
    column = scara.jacobian("tool", q)[:, quill.v.start]
    differ(np.concatenate([np.cross(n, scara.pose("tool", q).position - pose.position), n]), column)
    same(column, np.concatenate([n, np.zeros(3)]))


def test_rd25_the_mass_of_a_particle(rng):
    """[RD 3.2]: the mass has become an index of the position."""
    stone = Plain(mb.Robot(Builder("stone", gravity=(0, 0, 0)).body("a", inertia((0, 0, 0))).model(floating=True)))
    F = rng.normal(size=3)
    q = stone.random(rng)
    r_ddot = stone.forward_dynamics(q, np.zeros(6), np.concatenate([F, np.zeros(3)]))[:3]
    differ(r_ddot, F)
    same(2.0 * r_ddot, F, 1e-12)


def test_rd26_sizes_of_the_equations_of_motion():
    """[RD 3.1, 3.55]: the tables give n_q for the sizes of M, u, b and g, which have n_u; forces have 3 n_c numbers."""
    robot = Plain(mb.load("quadruped"))
    q = robot.neutral()
    assert (robot.nq, robot.nv) == (19, 18)
    assert robot.mass_matrix(q).shape == (18, 18)
    feet = [name for name in robot.frames if name.startswith("foot")]
    assert np.concatenate([robot.jacobian(name, q)[:3] for name in feet]).shape == (3 * len(feet), 18)


def test_rd27_constraint_jacobian(rng):
    """[RD 3.35-3.37]: Σ_k a_kj q'_k is J_m q' for the transpose of the matrix that is printed."""
    n, constraints = 5, 2
    a, q_dot, multipliers = rng.normal(size=(n, constraints)), rng.normal(size=n), rng.normal(size=constraints)
    sums = [sum(a[k, j] * q_dot[k] for k in range(n)) for j in range(constraints)]
    with pytest.raises(ValueError, match="mismatch"):
        a @ q_dot
    with pytest.raises(ValueError, match="mismatch"):
        a.T @ multipliers
    J_m = a.T
    same(J_m @ q_dot, sums, 1e-12)
    assert (J_m.T @ multipliers).shape == (n,)


def test_rd28_linear_terms_in_a_moving_frame(rng):
    """[RD 3.47]: with the frame of the body as A, the rate of A_J_S is not the acceleration: Ω × v is missing."""
    robot = bodies_alone("puma-560")
    q, v = robot.random(rng), rng.normal(size=6)
    h = 1e-6
    printed, corrected = np.zeros(6), np.zeros(6)

    def in_body(name, q, com):
        return turned(robot, name, q).T @ robot.point_jacobian(name, q, com)

    for body in robot.bodies:
        m, com, name = body.inertia.mass, body.inertia.com, body.name
        B_J_S = in_body(name, q, com)
        B_J_S_dot = (in_body(name, q + h * v, com) - in_body(name, q - h * v, com)) / (2 * h)
        B_J_R = turned(robot, name, q).T @ robot.jacobian(name, q)[3:]
        B_W = B_J_R @ v
        B_psi = turned(robot, name, q).T @ robot.acceleration(name, q, v, np.zeros(6))[3:]
        angular = B_J_R.T @ (body.inertia.inertia @ B_psi + np.cross(B_W, body.inertia.inertia @ B_W))
        printed += m * B_J_S.T @ B_J_S_dot @ v + angular
        corrected += m * B_J_S.T @ (B_J_S_dot + hat(B_W) @ B_J_S) @ v + angular
    b = robot.bias(q, v) - robot.gravity(q)
    differ(printed, b)
    same(corrected, b, 1e-7)


def test_rd29_actuator_force_at_two_points(rng):
    """[RD 3.52]: a force and its reaction act at one point, not at the two centres of mass."""
    robot = chain(Revolute("z"), Revolute("y"), Prismatic("x"))
    q = robot.random(rng)
    axis = turned(robot, "link2", q) @ np.array([1.0, 0.0, 0.0])
    before, after = robot.bodies[1], robot.bodies[2]
    at_centres = [robot.point_jacobian(body.name, q, body.inertia.com) for body in (before, after)]
    differ((at_centres[1] - at_centres[0]).T @ axis, np.eye(3)[2])
    point = robot.pose("link2", q).position
    at_point = [robot.point_jacobian(name, q, robot.pose(name, q).inverse() @ point) for name in ("link1", "link2")]
    same((at_point[1] - at_point[0]).T @ axis, np.eye(3)[2], 1e-12)


# ---- Kindr -----------------------------------------------------------------------------------------------------------


def test_k17_hessian_before_the_moving_joint(rng):
    """[Kindr 15]: for i < j, J_Rj × J_Pi is printed for J_Ri × J_Pj."""
    robot = Plain(mb.load("puma-560"))
    q, i, j, h = robot.random(rng), 1, 3, 1e-6
    step = h * np.eye(6)[j]
    truth = (robot.jacobian("tool", q + step) - robot.jacobian("tool", q - step))[:3, i] / (2 * h)
    J = robot.jacobian("tool", q)
    differ(np.cross(J[3:, j], J[:3, i]), truth)
    same(np.cross(J[3:, i], J[:3, j]), truth, 1e-8)


def test_k18_one_joint_beside_the_chain(rng):
    """[Kindr 15]: the derivative is zero when i or j is not on the chain; "i, j" reads as both."""
    robot = Plain(mb.load("branching-figure"))
    q = robot.random(rng)
    on, beside = robot.model.joint("joint4").v.start, robot.model.joint("joint3").v.start
    J = robot.jacobian("tip4", q)
    axis = robot.jacobian("tip3", q)[3:, beside]  # J_R of the joint, for those that it moves
    differ(np.cross(axis, J[:3, on]), np.zeros(3))
    same(robot.hessian("tip4", q)[beside, :, on], np.zeros(6))


def test_k19_gyroscopic_forces(rng):
    """[Kindr §Projected Newton-Euler]: the second line is g, with the rates of both Jacobians."""
    robot = bodies_alone("puma-560")
    q, u = robot.random(rng), rng.normal(size=6)
    printed, corrected, h = np.zeros(6), np.zeros(6), 1e-6
    for body in robot.bodies:
        m, com, name = body.inertia.mass, body.inertia.com, body.name
        J_S, J_R = robot.point_jacobian(name, q, com), robot.jacobian(name, q)[3:]
        ahead, behind = (robot.point_jacobian(name, q + t * u, com) for t in (h, -h))
        J_S_dot, J_R_dot = (ahead - behind) / (2 * h), robot.jacobian_dot(name, q, u)[3:]
        R = turned(robot, name, q)
        Theta, W = R @ body.inertia.inertia @ R.T, J_R @ u
        gyroscopic = np.cross(W, Theta @ W)
        printed += m * J_S.T @ J_S @ u + J_R.T @ (Theta @ J_R @ u + gyroscopic)
        corrected += m * J_S.T @ J_S_dot @ u + J_R.T @ (Theta @ J_R_dot @ u + gyroscopic)
    g = robot.bias(q, u) - robot.gravity(q)
    differ(printed, g)
    same(corrected, g, 1e-7)


# ---- Quick Tutorial --------------------------------------------------------------------------------------------------


@pytest.fixture
def hinges(rng):
    """Two balls, and what 76 to 80 say about the second link in terms of the first, all in local frames."""
    robot = chain(Spherical(), Spherical())
    q, (v, a) = robot.random(rng), rng.normal(size=(2, 6))
    p, k = robot.bodies
    joint = k.joint.pose(q)
    R, d = joint.rotation.matrix, joint.position
    back = [turned(robot, body.name, q).T for body in (p, k)]
    twist = [robot.velocity(body.name, q, v) for body in (p, k)]
    rate = [robot.acceleration(body.name, q, v, a) for body in (p, k)]
    return {
        "R": R,
        "D": d - p.inertia.com,
        "c": k.inertia.com,
        "w_p": back[0] @ twist[0][3:],
        "w": back[1] @ twist[1][3:],
        "w_dot_p": back[0] @ rate[0][3:],
        "w_dot": back[1] @ rate[1][3:],
        "v_dot_p": back[0] @ robot.point_acceleration(p.name, q, v, a, p.inertia.com),
        "v_dot": back[1] @ robot.point_acceleration(k.name, q, v, a, k.inertia.com),
        "w_hat": R @ v[3:],
        "w_hat_dot": R @ a[3:],
    }


def test_qt9_centripetal_acceleration(hinges):
    """[QT 79]: ω'_k × (ω_k × c_k) is printed for ω_k × (ω_k × c_k)."""
    x = hinges
    inner = np.cross(x["w_p"], np.cross(x["w_p"], x["D"]))
    moved = x["R"].T @ (x["v_dot_p"] + np.cross(x["w_dot_p"], x["D"]) + inner) + np.cross(x["w_dot"], x["c"])
    around = np.cross(x["w"], x["c"])
    differ(moved + np.cross(x["w_dot"], around), x["v_dot"])
    same(moved + np.cross(x["w"], around), x["v_dot"], 1e-11)


def test_qt10_angular_acceleration(hinges):
    """[QT 80]: the hats of the joint's own velocity and acceleration are lost."""
    x = hinges
    in_parent = x["R"] @ x["w_dot"]
    differ(x["R"].T @ (x["w_dot_p"] + in_parent + np.cross(x["w_p"], in_parent)), x["w_dot"])
    same(x["R"].T @ (x["w_dot_p"] + x["w_hat_dot"] + np.cross(x["w_p"], x["w_hat"])), x["w_dot"], 1e-12)


def test_qt11_angular_velocity_of_the_root(rng):
    """[QT 81]: an acceleration is printed for the angular velocity ω̂_0."""
    robot = chain(Spherical())
    q, (v, a) = robot.random(rng), rng.normal(size=(2, 3))
    R_0 = robot.bodies[0].joint.kind.pose(q).rotation.matrix
    w_hat, w_hat_dot = R_0 @ v, R_0 @ a
    truth = turned(robot, "link0", q).T @ robot.velocity("link0", q, v)[3:]
    differ(R_0.T @ w_hat_dot, truth)
    same(R_0.T @ w_hat, truth, 1e-12)


def test_qt12_rate_of_coordinates_after_a_slider(rng):
    """[QT 72, 83-84]: 84 is the rate of the numbers of v^ℓ; the force of 72 needs ω × v^ℓ besides."""
    b = Builder("slider").body("a", inertia()).body("b", inertia())
    b.joint("ball", Spherical(), parent=None, child="a").joint("x", Prismatic("x"), parent="a", child="b")
    robot = Plain(mb.Robot(b))
    q, (v, a) = robot.random(rng), rng.normal(size=(2, 4))
    c = robot.bodies[0].inertia.com  # of both links, each in its frame
    w, w_dot, e_x = v[:3], a[:3], np.array([1.0, 0.0, 0.0])
    q_k, q_k_dot, q_k_ddot = q[4] * e_x, v[3] * e_x, a[3] * e_x
    v_p, v_p_dot = np.cross(w, c), np.cross(w_dot, c)  # of the root, and the rate of its numbers
    v_k = v_p + np.cross(w, c + q_k - c) + q_k_dot  # 83
    back = turned(robot, "b", q).T
    same(v_k, back @ robot.point_velocity("b", q, v, c), 1e-12)
    v_k_dot = v_p_dot + np.cross(w_dot, c + q_k - c) + np.cross(w, q_k_dot) + q_k_ddot  # 84
    truth = back @ robot.point_acceleration("b", q, v, a, c)
    differ(v_k_dot, truth)
    same(v_k_dot + np.cross(w, v_k), truth, 1e-11)


def test_qt13_sign_of_the_fictitious_force(rng):
    """[QT 85]: an acceleration of -g of the root is a force m g on every link, not -m g."""
    robot = chain(Spherical(), Revolute("x"))
    q, (v, a) = robot.random(rng), rng.normal(size=(2, 4))
    truth = robot.inverse_dynamics(q, v, a)
    for sign, agrees in ((-1.0, False), (1.0, True)):
        forces = {}
        for body in robot.bodies:
            force = sign * body.inertia.mass * np.array(robot.model.gravity)
            arm = turned(robot, body.name, q) @ body.inertia.com
            forces[body.name] = np.concatenate([force, np.cross(arm, force)])
        found = robot.inverse_dynamics(q, v, a, forces, gravity=False)
        if agrees:
            same(found, truth, 1e-11)
        else:
            differ(found, truth)


def test_qt14_force_on_the_root(rng):
    """[QT §7.3]: f_0 and τ_0 are zero for a root that floats freely; the root of 81 turns about a fixed point."""
    fixed = chain(Spherical(), Revolute("x"))
    q, (v, a) = fixed.random(rng), rng.normal(size=(2, 4))
    differ(fixed.joint_wrenches(q, v, a)[0, :3], np.zeros(3))
    free = bodies_alone("quadruped")
    q, v, tau = free.random(rng), rng.normal(size=18), np.concatenate([np.zeros(6), rng.normal(size=12)])
    same(free.joint_wrenches(q, v, free.forward_dynamics(q, v, tau))[0], np.zeros(6), 1e-7)


# ---- Multibody Dynamics Notation -------------------------------------------------------------------------------------


def test_mdn17_the_coriolis_matrix_needs_the_rate_of_y(rng):
    """[MDN 76, §9]: multiplications by Y change M and G; C takes Y^T (C Y + M Y')."""
    robot = Plain(bodies_alone("quadruped").change(velocity="left"))
    q, nu = robot.random(rng), rng.normal(size=18)
    joint, h = robot.tree.bases[0], 1e-6

    def Y(q):
        full = np.eye(18)
        full[:6, :6] = base_velocity.between(joint, q, "mixed", "left")
        return full

    left = Y(q) @ nu
    Y_dot = (Y(robot.integrate(q, h * left)) - Y(robot.integrate(q, -h * left))) / (2 * h)
    _, bias = equations_of_motion(robot.tree, q, nu, "mixed")
    C, M, G = robot.coriolis(q, left), robot.mass_matrix(q), robot.gravity(q)
    differ(Y(q).T @ (C @ Y(q) @ nu + G), bias)
    same(Y(q).T @ (C @ Y(q) @ nu + M @ Y_dot @ nu + G), bias, 1e-7)
