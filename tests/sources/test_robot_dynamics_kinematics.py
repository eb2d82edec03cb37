"""Forward and differential kinematics of robots, as printed, on embedded robots.  [RD §2.8.2-2.8.6]"""

import numpy as np
import pytest

import multibody as mb
from multibody.geometry import rates
from multibody.model.joints import Revolute

from ..every_law import each_case
from ..plain import Plain
from .truth import T, differ, elementary, mul, same

LENGTHS = (0.7, 0.5, 0.4, 0.3)
N = 8


@pytest.fixture(scope="module")
def rng():
    return np.random.default_rng(285)


@pytest.fixture(scope="module")
def arm():
    """The planar arm of the examples, with four different lengths."""
    return Plain(mb.Robot(mb.robots.build("planar-arm", lengths=LENGTHS)))


@pytest.fixture(scope="module")
def puma():
    """A chain of six hinges in space."""
    return Plain(mb.load("puma-560"))


def sums(q):
    """sin and cos of q1, q1 + q2 and q1 + q2 + q3."""
    angles = np.cumsum(q, axis=-1)
    return np.moveaxis(np.sin(angles), -1, 0), np.moveaxis(np.cos(angles), -1, 0)


def central(f, robot, q, h=1e-6):
    """The derivatives of f(q) by the coordinates of a robot whose joints are all simple, on a new last axis."""
    step = h * np.eye(robot.nv)
    return np.stack([(f(q + d) - f(q - d)) / (2 * h) for d in step], axis=-1)


# ---- section 2.8.2: coordinates of the end-effector ------------------------------------------------------------------


def test_number_of_end_effector_parameters(puma, rng):
    """[RD 2.133-2.134, Ex. 2.8.2]: m = 6 with Euler angles; 12 with spherical coordinates and the whole matrix."""
    q = puma.random(rng, (N,))
    pose = puma.pose("tool", q)
    chi = puma.end_effector("tool", q, rotation="euler-zyx", position="cartesian")
    assert chi.shape == (N, 6)
    same(chi[:, :3], pose.position)
    same(rates.rotation("euler-zyx", chi[:, 3:]).matrix, pose.rotation.matrix, 1e-12)
    full = puma.end_effector("tool", q, rotation="matrix", position="spherical")
    assert full.shape == (N, 12)
    same(rates.position("spherical", full[:, :3]), pose.position, 1e-12)


def test_operational_space_of_six_dimensions(puma, rng):
    """[RD 2.135, Ex. 2.8.3]: six independent coordinates; the four of a quaternion are not independent."""
    q = puma.random(rng)
    assert np.linalg.matrix_rank(puma.analytical_jacobian("tool", q, rotation="euler-zyx")) == 6
    with_quaternion = puma.analytical_jacobian("tool", q, rotation="quaternion")
    assert with_quaternion.shape == (7, 6)
    assert np.linalg.matrix_rank(with_quaternion) == 6
    assert puma.manipulability("tool", q) > 0


def test_operational_space_of_a_scara_arm(rng):
    """[RD 2.136, Ex. 2.8.4]: x, y, z and the angle about the vertical; the other two rotations do not move."""
    scara = Plain(mb.load("scara"))
    q = scara.random(rng)
    frame = scara.frames[-1]
    values = scara.singular_values(frame, q, (0, 1, 2, 5))
    assert values.shape == (4,)
    assert values[-1] > 1e-3
    same(scara.jacobian(frame, q)[3:5], np.zeros((2, 4)))
    same(scara.manipulability(frame, q, (0, 1, 2, 5)), np.prod(values))


# ---- section 2.8.3: forward kinematics -------------------------------------------------------------------------------


def test_forward_kinematics_is_the_product_of_the_joints_poses(puma, rng):
    """[RD 2.137-2.138]: T_IE = T_I0 Π T_(k-1)k(q_k) T_nE."""
    q = puma.random(rng)
    product = np.eye(4)
    for joint in puma.joints:
        assert isinstance(joint.kind, Revolute)
        turn = np.eye(4)
        turn[:3, :3] = mb.Rotation.from_rotation_vector(np.array(joint.kind.axis) * q[joint.q]).matrix
        product = product @ joint.placement.matrix @ turn
    last, n_H_E = puma.model.tree.frame("tool")
    assert last == len(puma.bodies)
    same(puma.pose("tool", q).matrix, product @ n_H_E.matrix, 1e-12)


def test_forward_kinematics_of_a_planar_arm(arm, rng):
    """[RD Ex. 2.8.5; RD 2.139-2.142]"""
    q = arm.random(rng, (N,))
    s, c = sums(q)
    l0, l1, l2, l3 = LENGTHS
    x = l1 * s[0] + l2 * s[1] + l3 * s[2]
    z = l0 + l1 * c[0] + l2 * c[1] + l3 * c[2]
    pose = arm.pose("tool", q)
    same(pose.position, np.stack([x, 0 * x, z], axis=-1))
    same(pose.rotation.matrix, elementary("y", q.sum(axis=-1)))


# ---- section 2.8.4: the analytical Jacobian --------------------------------------------------------------------------


def test_first_order_change_of_the_parameters(puma, rng):
    """[RD 2.143-2.146]: what J_A δq leaves out is of second order in δq."""
    q, step = puma.random(rng), rng.normal(size=6)
    chi, J = puma.end_effector("tool", q), puma.analytical_jacobian("tool", q)
    left = [np.abs(puma.end_effector("tool", q + h * step) - chi - h * J @ step).max() for h in (1e-3, 1e-4)]
    assert 50 < left[0] / left[1] < 200
    differ(chi + J @ step, puma.end_effector("tool", q + step))


@each_case("position", ["cartesian", "cylindrical", "spherical"])
@each_case("rotation", ["euler-zyx", "euler-xyz", "euler-zyz", "quaternion", "angle-axis", "matrix"])
def test_analytical_jacobian_is_the_partial_derivative(puma, rotation, position):
    """[RD 2.145, 2.147-2.148]: its rows are dχ_P/dq and dχ_R/dq."""
    q = np.array([0.3, -0.8, 0.4, 0.7, 0.9, -0.5])
    chi = central(lambda x: puma.end_effector("tool", x, rotation=rotation, position=position), puma, q)
    same(puma.analytical_jacobian("tool", q, rotation=rotation, position=position), chi, 1e-7)


def test_analytical_jacobian_of_a_planar_arm(arm, rng):
    """[RD Ex. 2.8.6; RD 2.149-2.150]: c_213 in the text is c_123, the cosine of the same sum."""
    q = arm.random(rng, (N,))
    s, c = sums(q)
    _, l1, l2, l3 = LENGTHS
    first = [l1 * c[0] + l2 * c[1] + l3 * c[2], l2 * c[1] + l3 * c[2], l3 * c[2]]
    second = [-l1 * s[0] - l2 * s[1] - l3 * s[2], -l2 * s[1] - l3 * s[2], -l3 * s[2]]
    J = arm.analytical_jacobian("tool", q, rotation="euler-yxz")
    same(J[:, 0], np.stack(first, axis=-1))
    same(J[:, 2], np.stack(second, axis=-1))
    same(J[:, 3], np.ones((N, 3)))


# ---- section 2.8.5: the geometric Jacobian ---------------------------------------------------------------------------


def test_twist_from_joint_rates(puma, rng):
    """[RD 2.151-2.152]: w_e = J_e0 q' in the axes of any frame A, here those of a link in the middle."""
    q, v = puma.random(rng), rng.normal(size=6)
    w = puma.velocity("tool", q, v)
    same(puma.jacobian("tool", q) @ v, w)
    C_IA = puma.pose(puma.bodies[2].name, q).rotation.matrix
    E_in_A = mb.Pose(puma.pose(puma.bodies[2].name, q).rotation, puma.pose("tool", q).position)
    in_A = puma.jacobian_in("tool", q, written_in=E_in_A) @ v
    same(in_A, np.concatenate([C_IA.T @ w[:3], C_IA.T @ w[3:]]), 1e-12)


def test_geometric_jacobians_add(puma, rng):
    """[RD 2.153-2.154]: w_C = w_B + w_BC, as differences of velocities of points and of angular velocities."""
    q, v = puma.random(rng), rng.normal(size=6)
    B = puma.bodies[2].name
    J_BC = puma.relative_jacobian("tool", B, q, kind="difference")
    same(puma.velocity(B, q, v) + J_BC @ v, puma.velocity("tool", q, v), 1e-12)
    same(puma.jacobian(B, q) + J_BC, puma.jacobian("tool", q), 1e-12)


def test_the_difference_is_not_the_relative_twist(puma, rng):
    """[RD 2.153-2.154; MDN 74]: a frame that rides on B has no twist relative to B, but another velocity."""
    q = puma.random(rng)
    near, far = puma.bodies[0].name, puma.bodies[2].name
    still = Plain(puma.lock({joint.name: 0.3 for joint in puma.joints[1:]}))
    same(still.relative_jacobian(far, near, q[:1]), np.zeros((6, 1)), 1e-12)
    differ(still.relative_jacobian(far, near, q[:1], kind="difference").T, np.zeros((1, 6)))
    same(puma.relative_jacobian(far, near, q)[:, 3:], np.zeros((6, 3)))


@pytest.fixture(scope="module")
def chain(puma, rng):
    """Axes n_k, joints r_k and the end-effector of a chain of hinges, all in the inertial frame, and rates of q."""
    q, v = puma.random(rng), rng.normal(size=6)
    places, axes = [], []
    for joint in puma.joints:
        pose = puma.pose(joint.child, q)
        places.append(pose.position)
        axes.append(pose.rotation @ np.array(joint.kind.axis))
    places.append(puma.pose("tool", q).position)
    return q, v, np.array(axes), np.array(places)


def test_velocity_of_the_next_link(puma, chain):
    """[RD 2.155, 2.158]: of its origin and of its rotation, from those of the link before."""
    q, v, axes, places = chain
    twists = [np.zeros(6), *(puma.velocity(joint.child, q, v) for joint in puma.joints)]
    for k in range(1, 7):
        w = twists[k - 1][3:]
        before = places[k - 2] if k > 1 else places[0]
        same(twists[k - 1][:3] + np.cross(w, places[k - 1] - before), twists[k][:3], 1e-12)
        same(w + axes[k - 1] * v[k - 1], twists[k][3:], 1e-12)


def test_end_effector_velocity_as_sums(puma, chain):
    """[RD 2.156-2.157, 2.159-2.162]: over links, and with the sums exchanged over joints."""
    q, v, axes, places = chain
    w = np.cumsum(axes * v[:, None], axis=0)
    arms = np.diff(places, axis=0)
    truth = puma.velocity("tool", q, v)
    same(np.cross(w, arms).sum(axis=0), truth[:3], 1e-12)
    same(sum(np.cross(axes[: k + 1] * v[: k + 1, None], arms[k]).sum(axis=0) for k in range(6)), truth[:3], 1e-12)
    same(sum(np.cross(axes[k] * v[k], arms[k:].sum(axis=0)) for k in range(6)), truth[:3], 1e-12)
    same(np.cross(axes * v[:, None], places[-1] - places[:-1]).sum(axis=0), truth[:3], 1e-12)
    same(w[-1], truth[3:], 1e-12)


def test_geometric_jacobian_column_by_column(puma, chain):
    """[RD 2.163-2.167]: n_k × r_k(n+1) above n_k, with n_k = C_I(k-1) n_k of the link before."""
    q, _, axes, places = chain
    upper = np.cross(axes, places[-1] - places[:-1]).T
    same(puma.jacobian("tool", q), np.concatenate([upper, axes.T]), 1e-12)
    for k, joint in enumerate(puma.joints):
        before = puma.pose(puma.joints[k - 1].child, q).rotation if k else mb.Rotation.identity()
        same(before @ (joint.placement.rotation @ np.array(joint.kind.axis)), axes[k], 1e-12)


def test_geometric_jacobian_of_a_point(puma, chain):
    """[RD 2.163, 2.165]: of a point of the last link that is not its frame's origin."""
    q, v, axes, places = chain
    point = np.array([0.1, -0.2, 0.3])
    E = puma.pose("tool", q) @ point
    same(puma.point_jacobian("tool", q, point), np.cross(axes, E - places[:-1]).T, 1e-12)
    same(puma.point_velocity("tool", q, v, point), np.cross(axes, E - places[:-1]).T @ v, 1e-12)


def test_geometric_jacobian_of_a_planar_arm(arm, rng):
    """[RD Ex. 2.8.7; RD 2.168-2.188]: its five steps."""
    q = arm.random(rng, (N,))
    s, c = sums(q)
    lengths = LENGTHS[1:]
    C = [elementary("y", angle) for angle in np.cumsum(q, axis=-1).T]
    for k, matrix in enumerate(C):  # step 1, 2.169 to 2.171
        same(arm.pose(f"link{k + 1}", q).rotation.matrix, matrix)
    e_y = np.array([0.0, 1.0, 0.0])
    n = [np.broadcast_to(e_y, (N, 3)), mul(C[0], e_y), mul(C[1], e_y)]  # step 3, 2.173 to 2.175
    same(np.stack(n), np.broadcast_to(e_y, (3, N, 3)))
    links = [length * np.stack([s[k], 0 * s[k], c[k]], axis=-1) for k, length in enumerate(lengths)]
    arms = [links[0] + links[1] + links[2], links[1] + links[2], links[2]]  # step 4, 2.176 to 2.184
    for k in range(3):
        same(arms[k], arm.pose("tool", q).position - arm.pose(f"link{k + 1}", q).position, 1e-12)
    J = arm.jacobian("tool", q)
    same(J[:, :3], np.stack([np.cross(a, b) for a, b in zip(n, arms, strict=True)], axis=-1), 1e-12)
    first = np.stack(
        [links[0][:, 2] + links[1][:, 2] + links[2][:, 2], links[1][:, 2] + links[2][:, 2], links[2][:, 2]]
    )
    third = np.stack(
        [links[0][:, 0] + links[1][:, 0] + links[2][:, 0], links[1][:, 0] + links[2][:, 0], links[2][:, 0]]
    )
    same(J[:, 0], first.T, 1e-12)
    same(J[:, 1], np.zeros((N, 3)))
    same(J[:, 2], -third.T, 1e-12)
    same(J[:, 3:], np.broadcast_to([[0, 0, 0], [1, 1, 1], [0, 0, 0]], (N, 3, 3)))


# ---- section 2.8.6: both Jacobians -----------------------------------------------------------------------------------


@each_case("position", ["cartesian", "cylindrical", "spherical"])
@each_case("rotation", ["euler-xyz", "euler-zyx", "euler-zyz", "quaternion", "angle-axis"])
def test_geometric_from_analytical_jacobian(puma, rng, rotation, position):
    """[RD 2.189-2.192]: J_e0 = E_e J_eA, and w_e = E_e χ'."""
    q, v = puma.random(rng), rng.normal(size=6)
    pose = puma.pose("tool", q)
    E_P = rates.linear(position, rates.position_inverse(position, pose.position))
    E_R = rates.angular(rotation, rates.parameters(rotation, pose.rotation), frame="A")
    J_A = puma.analytical_jacobian("tool", q, rotation=rotation, position=position)
    same(np.concatenate([E_P @ J_A[:3], E_R @ J_A[3:]]), puma.jacobian("tool", q), 1e-10)
    same(np.concatenate([E_P @ (J_A[:3] @ v), E_R @ (J_A[3:] @ v)]), puma.velocity("tool", q, v), 1e-10)


def test_both_jacobians_of_a_planar_arm_are_the_same(arm, rng):
    """[RD §2.8.6]: for planar systems, with the rotation about the normal as the angle."""
    q = arm.random(rng, (N,))
    plane = [0, 2, 4]
    analytical = arm.analytical_jacobian("tool", q, rotation="euler-yxz")[:, [0, 2, 3]]
    same(arm.jacobian("tool", q)[:, plane], analytical, 1e-12)
    differ(T(arm.jacobian("tool", q))[:, :, :3], T(analytical))
