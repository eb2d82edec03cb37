"""Trees of links: velocities, equations of motion and recursive inverse dynamics, as printed.  [QT §5.2, 5.3, 7]

Where the text carries a slip, the corrected form stands here and the slip in test_errata_robots.py.
"""

import numpy as np
import pytest

import multibody as mb
from multibody.geometry import Pose, SpatialInertia
from multibody.model.builder import Builder
from multibody.model.joints import Prismatic, Revolute, Spherical, Translational

from ..plain import Plain, bodies_alone
from .truth import hat, same


@pytest.fixture(scope="module")
def figure():
    """The articulated system of figure 1: joints of 2, 3, 1 and 1 degrees of freedom, p(3) = p(4) = 2."""
    return Plain(mb.load("branching-figure"))


@pytest.fixture(scope="module")
def state(figure):
    rng = np.random.default_rng(52)
    return figure.random(rng), *rng.normal(size=(2, figure.nv))


def local_jacobians(figure, q):
    """Ĵ_ωk of each joint: the angular velocity of its link relative to its parent, in the frame of the parent."""
    found = {}
    for body in figure.bodies:
        R_k = body.joint.pose(q).rotation.matrix
        found[body.name] = R_k @ body.joint.subspace(q).matrix[3:]
    return found


def orientation(figure, name, q):
    return figure.pose(name, q).rotation.matrix


# ---- section 5.2 -----------------------------------------------------------------------------------------------------


def test_angular_velocity_of_a_link(figure, state):
    """[QT 50-51]: ω_k = ω_p(k) + R^0_p(k) Ĵ_ωk q'_k, and unrolled; zero where a joint does not carry the link."""
    q, v, _ = state
    J = local_jacobians(figure, q)
    w = {None: np.zeros(3)}
    parents = {"link1": None, "link2": "link1", "link3": "link2", "link4": "link2"}
    for body in figure.bodies:
        p = parents[body.name]
        R_p = np.eye(3) if p is None else orientation(figure, p, q)
        w[body.name] = w[p] + R_p @ J[body.name] @ v[body.joint.v]
        same(figure.velocity(body.name, q, v)[3:], w[body.name], 1e-12)
    R_1, R_2 = orientation(figure, "link1", q), orientation(figure, "link2", q)
    zero = np.zeros((3, 1))
    same(figure.jacobian("link1", q)[3:], np.concatenate([J["link1"], np.zeros((3, 5))], axis=1), 1e-12)
    printed = np.concatenate([J["link1"], R_1 @ J["link2"], zero, R_2 @ J["link4"]], axis=1)
    same(figure.jacobian("link4", q)[3:], printed, 1e-12)


def test_three_hinges_make_the_euler_joint():
    """[QT 52]: columns e_x, R^(x) e_y, R^(x) R^(y) e_z, as the Jacobian of three hinges one after the other."""
    b = Builder("euler").body("a").body("b").body("c")
    for parent, child, axis in ((None, "a", "x"), ("a", "b", "y"), ("b", "c", "z")):
        b.joint(axis, Revolute(axis), parent=parent, child=child)
    robot = Plain(mb.Robot(b))
    q = np.array([0.4, -0.7, 1.1])
    R_x, R_y = (mb.Rotation.from_rotation_vector(v).matrix for v in ([0.4, 0, 0], [0, -0.7, 0]))
    e = np.eye(3)
    same(robot.jacobian("c", q)[3:], np.stack([e[0], R_x @ e[1], R_x @ R_y @ e[2]], axis=-1), 1e-12)


def test_exponential_coordinates_of_a_ball_joint(figure, state):
    """[QT 53-56]: R_k = exp([q_k]) and Ĵ_ωk, on link 2, whose velocity here is R_k^T Ĵ_ωk q'_k."""
    q, _, _ = state
    rng = np.random.default_rng(53)
    for theta in (1.3, 1e-4):
        x, x_dot = rng.normal(size=(2, 3))
        x = theta * x / np.linalg.norm(x)
        X = hat(x)
        R = np.eye(3) + np.sin(theta) / theta * X + (1 - np.cos(theta)) / theta**2 * X @ X
        J = np.eye(3) + (1 - np.cos(theta)) / theta**2 * X + (theta - np.sin(theta)) / theta**3 * X @ X
        near = theta < 1e-3
        if near:
            same(R, np.eye(3) + X + X @ X / 2, 1e-11)
            same(J, np.eye(3) + X / 2 + X @ X / 6, 1e-8)
        ball = figure.bodies[1].joint
        assert isinstance(ball.kind, Spherical)
        full = q.copy()
        full[ball.q] = mb.Rotation(R).quaternion
        v = np.zeros(figure.nv)
        v[ball.v] = R.T @ J @ x_dot
        R_1 = orientation(figure, "link1", full)
        same(orientation(figure, "link2", full), R_1 @ R, 1e-12)
        same(figure.velocity("link2", full, v)[3:], R_1 @ J @ x_dot, 1e-8 if near else 1e-12)


def test_linear_jacobian_of_the_centre_of_mass(figure, state):
    """[QT 57-58]: J_vk is the derivative of W^0_k c_k, by the velocities of the tree; V_k = J_k q'."""
    q, v, _ = state
    h = 1e-6
    for body in figure.bodies:
        c = body.inertia.com

        def x(q, c=c, name=body.name):
            return figure.pose(name, q) @ c

        J_v = np.stack(
            [(x(figure.integrate(q, d)) - x(figure.integrate(q, -d))) / (2 * h) for d in h * np.eye(figure.nv)], axis=-1
        )
        same(figure.point_jacobian(body.name, q, c), J_v, 1e-8)
        V = np.concatenate([figure.point_velocity(body.name, q, v, c), figure.velocity(body.name, q, v)[3:]])
        J = np.concatenate([figure.point_jacobian(body.name, q, c), figure.jacobian(body.name, q)[3:]])
        same(J @ v, V, 1e-12)


# ---- section 5.3 -----------------------------------------------------------------------------------------------------


def test_equations_of_motion_as_a_sum_over_links(figure, state):
    """[QT §5.3; QT 59]: Σ J^T M_c J q'' + Σ (J^T M_c J' + J^T [ω̃] M_c J) q', without gravity."""
    q, v, a = state
    M, C = np.zeros((7, 7)), np.zeros(7)
    for body in figure.bodies:
        J, J_dot, M_c, w = stacked(figure, body, q, v)
        tilde = np.zeros((6, 6))
        tilde[3:, 3:] = hat(w)
        M += J.T @ M_c @ J
        C += (J.T @ M_c @ J_dot + J.T @ tilde @ M_c @ J) @ v
    same(figure.mass_matrix(q), M, 1e-12)
    same(figure.inverse_dynamics(q, v, a, gravity=False), M @ a + C, 1e-11)


def stacked(robot, body, q, v):
    """J_k of the centre of mass, its rate, M_ck and ω_k, along the axes of the world."""
    J, J_dot = robot.jacobian(body.name, q), robot.jacobian_dot(body.name, q, v)
    R = orientation(robot, body.name, q)
    w = J[3:] @ v
    arm = hat(R @ body.inertia.com)
    arm_dot = hat(w) @ arm - arm @ hat(w)
    J_k = np.concatenate([J[:3] - arm @ J[3:], J[3:]])
    J_k_dot = np.concatenate([J_dot[:3] - arm_dot @ J[3:] - arm @ J_dot[3:], J_dot[3:]])
    M_c = np.zeros((6, 6))
    M_c[:3, :3], M_c[3:, 3:] = body.inertia.mass * np.eye(3), R @ body.inertia.inertia @ R.T
    return J_k, J_k_dot, M_c, w


# ---- section 7 -------------------------------------------------------------------------------------------------------


class TwoPasses:
    """Recursive inverse dynamics of a tree of hinges, balls and sliders, in the symbols of the text.

    `w_hat` and its rate are of the joint, in the frame of the parent. After a sliding joint, the acceleration is the
    text's rate of coordinates with ω × v^ℓ added, for which 72 asks.
    """

    def __init__(self, robot, q, v, a, *, gravity=True):
        g = np.array(robot.model.gravity) if gravity else np.zeros(3)
        zero = np.zeros(3)
        self.R, self.d = {}, {}
        self.c = {0: zero}
        self.v, self.w, self.v_dot, self.w_dot = {0: zero}, {0: zero}, {0: -g}, {0: zero}  # the root: 85
        for k, p, body in robot.tree.outward():
            pose = body.joint.pose(q)
            R, d, c = pose.rotation.matrix, pose.position, body.inertia.com
            S = body.joint.subspace(q).matrix
            rate, second = S @ v[body.joint.v], S @ a[body.joint.v]
            w_hat, w_hat_dot = R @ rate[3:], R @ second[3:]
            slide, slide_dot = R @ rate[:3], R @ second[:3]
            D = d - self.c[p]
            w_p, w_dot_p = self.w[p], self.w_dot[p]
            w = R.T @ (w_p + w_hat)  # 78
            w_dot = R.T @ (w_dot_p + w_hat_dot + np.cross(w_p, w_hat))  # 80
            self.v[k] = R.T @ (self.v[p] + np.cross(w_p, D) + slide) + np.cross(w, c)  # 76 and 83
            moved = self.v_dot[p] + np.cross(w_dot_p, D) + np.cross(w_p, np.cross(w_p, D))
            moved = moved + 2 * np.cross(w_p, slide) + slide_dot
            self.v_dot[k] = R.T @ moved + np.cross(w, np.cross(w, c)) + np.cross(w_dot, c)  # 79
            self.w[k], self.w_dot[k] = w, w_dot
            self.R[k], self.d[k], self.c[k] = R, d, c
        self.f, self.tau = {}, {}
        for k, _, body in robot.tree.inward():
            m, I_c = body.inertia.mass, body.inertia.inertia
            f = m * self.v_dot[k]  # 72
            n = I_c @ self.w_dot[k] + np.cross(self.w[k], I_c @ self.w[k])  # 73
            for i in robot.tree.children(k):
                f = f + self.R[i] @ self.f[i]
            n = n + np.cross(self.c[k], f)
            for i in robot.tree.children(k):
                force = self.R[i] @ self.f[i]
                n = n + self.R[i] @ self.tau[i] + np.cross(self.d[i] - self.c[k], force)
            self.f[k], self.tau[k] = f, n


KINDS = {
    "tree": (Spherical(), Revolute("x"), Revolute((0.6, 0.0, 0.8)), Spherical(), Revolute("z")),
    "sliders": (Revolute("z"), Prismatic("x"), Revolute("y"), Translational(), Revolute("x")),
}


def inertia():
    return SpatialInertia(mass=2.0, com=[0.1, -0.2, 0.3], inertia=np.diag([0.2, 0.3, 0.4]))


def tree(name):
    """A random tree of joints, each on one of the two links before it."""
    rng = np.random.default_rng(7)
    b = Builder(name)
    for k, kind in enumerate(KINDS[name]):
        parent = f"link{rng.integers(max(0, k - 2), k)}" if k else None
        b.body(f"link{k}", inertia())
        b.joint(f"joint{k}", kind, parent=parent, child=f"link{k}", placement=Pose.random(rng))
    return mb.Robot(b)


@pytest.fixture(scope="module", params=["arm", "tree", "sliders"])
def moving(request):
    robot = bodies_alone("puma-560") if request.param == "arm" else Plain(tree(request.param))
    rng = np.random.default_rng(72)
    q, (v, a) = robot.random(rng), rng.normal(size=(2, robot.nv))
    return robot, q, v, a, TwoPasses(robot, q, v, a)


def test_first_pass(moving):
    """[QT §7.2; QT 74-84]: velocities and accelerations of the centres of mass, and of rotation, in local frames."""
    robot, q, v, a, passes = moving
    free = TwoPasses(robot, q, v, a, gravity=False)
    for body in robot.bodies:
        k, c = body.index, body.inertia.com
        back = orientation(robot, body.name, q).T
        same(passes.v[k], back @ robot.point_velocity(body.name, q, v, c), 1e-11)
        same(passes.w[k], back @ robot.velocity(body.name, q, v)[3:], 1e-11)
        same(free.v_dot[k], back @ robot.point_acceleration(body.name, q, v, a, c), 1e-11)
        same(passes.w_dot[k], back @ robot.acceleration(body.name, q, v, a)[3:], 1e-11)


def test_second_pass(moving):
    """[QT §7, 7.1, 7.3; QT 72-73, 85]: the force and torque that each link receives, and the joints' own."""
    robot, q, v, a, passes = moving
    wrenches, tau = robot.joint_wrenches(q, v, a), robot.inverse_dynamics(q, v, a)
    for body in robot.bodies:
        received = np.concatenate([passes.f[body.index], passes.tau[body.index]])
        same(wrenches[body.index - 1], received, 1e-10)
        same(tau[body.joint.v], body.joint.subspace(q).matrix.T @ received, 1e-10)


def test_root_of_the_first_pass():
    """[QT 81, 85]: the root turns about its joint, with gravity as an acceleration of the ground."""
    robot = Plain(mb.Robot(Builder("ball").body("a", inertia()).joint("j", Spherical(), parent=None, child="a")))
    rng = np.random.default_rng(81)
    q, (w, w_dot) = robot.random(rng), rng.normal(size=(2, 3))
    body, R_0 = robot.bodies[0], orientation(robot, "a", q)
    c_0 = body.inertia.com
    same(R_0.T @ robot.point_velocity("a", q, w, c_0), np.cross(w, c_0), 1e-12)
    v_dot = np.cross(w, np.cross(w, c_0)) + np.cross(w_dot, c_0)
    same(R_0.T @ robot.point_acceleration("a", q, w, w_dot, c_0), v_dot, 1e-12)
    f = robot.joint_wrenches(q, w, w_dot)[0, :3]
    same(f, body.inertia.mass * (v_dot - R_0.T @ np.array(robot.model.gravity)), 1e-11)
