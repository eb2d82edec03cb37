"""Operational space and torques of floating bases beside Pinocchio's dynamics, on arms and walking machines."""

import numpy as np
import pinocchio as pin
import pytest
from numpy.testing import assert_allclose

import multibody as mb
from multibody.control.floating_base_inverse_dynamics import distribute_torques
from multibody.control.operational_space_laws import Laws
from multibody.control.pose_tracking import ROWS
from multibody.model.layouts import PinocchioLayout

from .robot_data import urdf

ARMS = {
    "panda": ("panda_description/urdf/panda.urdf", "panda_hand_tcp", "panda_joint"),
    "ur5": ("ur_description/urdf/ur5_robot.urdf", "tool0", ""),
    "xarm7": ("xarm_description/urdf/xarm7.urdf", "link7", "joint"),
    "talos": ("talos_data/robots/talos_reduced.urdf", "gripper_left_base_link", "arm_left"),
}
SHORT = "rotation-vector"


class Peer:
    """Pinocchio's dynamics of a robot of ours, in our velocities."""

    def __init__(self, robot, model):
        self.robot, self.model, self.data = robot, model, model.createData()
        self.layout = PinocchioLayout(robot.model, model)

    def moved(self, frame, q, v, a):
        """The mixed acceleration of a frame."""
        y, w, b = self.layout.q_to(q), self.layout.v_to(q, v), self.layout.a_to(q, v, a)
        pin.forwardKinematics(self.model, self.data, y, w, b)
        pin.updateFramePlacements(self.model, self.data)
        axes, number = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED, self.model.getFrameId(frame)
        return pin.getFrameClassicalAcceleration(self.model, self.data, number, axes).vector

    def forward_dynamics(self, q, v, tau):
        y, w = self.layout.q_to(q), self.layout.v_to(q, v)
        b = pin.aba(self.model, self.data, y, w, self.layout.tau_to(q, tau))
        return self.layout.a_from(y, w, b)


def arm(name):
    path, frame, keep = ARMS[name]
    robot = mb.load(urdf(path), mimic="independent", snap=0.0)
    locked = [joint.name for joint in robot.joints if not joint.name.startswith(keep)]
    robot = robot.lock(dict.fromkeys(locked, 0.0)) if locked else robot
    model = pin.buildModelFromUrdf(str(urdf(path)))
    if locked:
        model = pin.buildReducedModel(model, [model.getJointId(x) for x in locked], pin.neutral(model))
    return Peer(robot, model), frame


@pytest.mark.parametrize("name", ARMS)
def test_commands_come_out_and_null_space_torques_do_not_count(name):
    """Λ w' as Pinocchio moves the tool; τ0 accelerates the joints, and not the tool. [RD 3.87-3.96]"""
    peer, frame = arm(name)
    tree, rng = peer.robot.tree, np.random.default_rng(1)
    laws = Laws(frame, ROWS["pose"], (), "joint", SHORT, 1e9)
    task = Laws(frame, ROWS["pose"], (), "task", SHORT, 1e9)
    for _ in range(3):
        q, v, tau0 = rng.uniform(-1, 1, (3, tree.nv))
        q += 0.3
        w = rng.standard_normal(6)
        size = 1e-9 * max(1.0, np.abs(laws.inertia(tree, q)).max())
        plain = laws.torques(tree, q, v, acceleration=w)
        for tau in (
            plain,
            laws.torques(tree, q, v, acceleration=w, tau0=5 * tau0),
            task.torques(tree, q, v, acceleration=w),
        ):
            a = peer.forward_dynamics(q, v, tau)
            assert_allclose(peer.moved(frame, q, v, a), w, atol=size)
        still = 0 * v
        a = peer.forward_dynamics(
            q,
            still,
            laws.null_space_projector(tree, q) @ tau0
            + pin.rnea(peer.model, peer.data, peer.layout.q_to(q), still, still),
        )
        assert np.abs(peer.moved(frame, q, still, a)).max() < size
        assert tree.nv == 6 or np.abs(a).max() > 1e-3
        p = laws.inertia(tree, q) @ (
            peer.moved(frame, q, still, 0 * v) - peer.moved(frame, q, still, peer.forward_dynamics(q, still, still))
        )
        assert_allclose(laws.gravity(tree, q), p, atol=100 * size)


@pytest.fixture(scope="module")
def dog():
    path = "anymal_b_simple_description/robots/anymal.urdf"
    robot = mb.load(urdf(path), floating=True, mimic="independent")
    return Peer(robot, pin.buildModelFromUrdf(str(urdf(path)), pin.JointModelFreeFlyer()))


def standing(robot, rng, legs=12):
    return np.concatenate([robot.home()[:7], rng.uniform(0.1, 0.6, legs)]), rng.standard_normal(robot.nv)


def constrained(peer, feet, q, v, tau):
    """The acceleration by Pinocchio's M and h and the rows of contacts, as one system of equations."""
    tree, layout = peer.robot.tree, peer.layout
    y, w, still = layout.q_to(q), layout.v_to(q, v), layout.a_to(q, v, 0 * v)
    h = layout.tau_from(y, pin.rnea(peer.model, peer.data, y, w, still))
    M, T = pin.crba(peer.model, peer.data, y), layout.v_to(q, np.eye(tree.nv)).T
    M = T.T @ (np.triu(M) + np.triu(M, 1).T) @ T
    J = np.concatenate([foot.jacobian(tree, q) for foot in feet])
    bias = np.concatenate([foot.bias(tree, q, v) for foot in feet])
    system = np.block([[M, -J.T], [J, np.zeros((len(J), len(J)))]])
    return np.linalg.lstsq(system, np.concatenate([tau - h, -bias]), rcond=None)[0][: tree.nv]


@pytest.mark.parametrize(
    ("names", "frame"),
    [(("LF_FOOT", "RF_FOOT", "LH_FOOT", "RH_FOOT"), "base"), (("LF_FOOT", "RF_FOOT", "LH_FOOT"), "RH_FOOT")],
)
def test_frames_of_a_walking_machine_accelerate_as_commanded(dog, names, frame):
    """The trunk on four feet, and a foot in the air on three, with τ0 for the legs. [RD 3.96, 3.100]"""
    robot, rng = dog.robot, np.random.default_rng(2)
    tree, feet = robot.tree, tuple(mb.constraints.PointContact(x, x) for x in names)
    rows = "pose" if frame == "base" else "position"
    laws = Laws(frame, ROWS[rows], feet, "joint", SHORT, 1e9)
    q, v = standing(robot, rng)
    w, tau0 = rng.standard_normal(laws.count), np.concatenate([np.zeros(6), rng.standard_normal(12)])
    for wishes in ({}, {"tau0": 5 * tau0}):
        tau = laws.torques(tree, q, v, acceleration=w, **wishes)
        assert np.abs(tau[:6]).max() == 0
        a = constrained(dog, feet, q, v, tau)
        assert_allclose(dog.moved(frame, q, v, a)[ROWS[rows]], w, atol=1e-7)


def test_floating_inverse_dynamics_of_a_biped_on_soles():
    """Soles of four points are redundant; Pinocchio's RNEA is what motors and contacts make together. [RD 3.100]"""
    path = "talos_data/robots/talos_reduced.urdf"
    robot = mb.load(urdf(path), floating=True, mimic="independent")
    tree, rng = robot.tree, np.random.default_rng(3)
    corners = ((0.1, 0.06, 0.0), (0.1, -0.06, 0.0), (-0.1, 0.06, 0.0), (-0.1, -0.06, 0.0))
    soles = tuple(mb.constraints.SurfaceContact(x, f"{x}_sole_link", corners) for x in ("left", "right"))
    q, v = robot.home(), 0.1 * rng.standard_normal(robot.nv)
    peer = Peer(robot, pin.buildModelFromUrdf(str(urdf(path)), pin.JointModelFreeFlyer()))
    a = rng.standard_normal(robot.nv)
    layout = peer.layout
    theirs = pin.rnea(peer.model, peer.data, layout.q_to(q), layout.v_to(q, v), layout.a_to(q, v, a))
    y = layout.tau_from(layout.q_to(q), theirs)
    tau = distribute_torques(tree, soles, q, y)
    J = np.concatenate([sole.jacobian(tree, q) for sole in soles])
    rest = y - tau
    assert np.abs(tau[:6]).max() == 0
    assert np.abs(rest - J.T @ np.linalg.lstsq(J.T, rest, rcond=None)[0]).max() < 1e-7
