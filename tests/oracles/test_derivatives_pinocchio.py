"""Derivatives of frames' motions, of M(q) x and of centroidal momentum against Pinocchio; wrenches through the joints.

Both robots have left-trivialised velocities, so derivatives along them are the same. One robot runs compiled, as a
slow test, the others as plain NumPy.
"""

from typing import Any

import numpy as np
import pinocchio as pin
import pytest

import multibody as mb

from ..laws.tools import hat
from .pinocchio_peer import REFERENCES, Peer, close, peer

COMPILED = ("finger_edu_description/robots/finger_edu.urdf", True)
ROBOTS = (
    pytest.param(COMPILED, marks=pytest.mark.slow),
    ("go2_description/urdf/go2.urdf", True),
    ("xarm_description/urdf/xarm7.urdf", False),
    ("bolt_description/robots/bolt.urdf", True),
)


@pytest.fixture(params=ROBOTS, ids=lambda case: case[0].split("_")[0])
def p(request: pytest.FixtureRequest) -> Peer:
    return peer(*request.param, "left", armature=0.1, compiled=request.param == COMPILED)


def derivatives(p: Peer, name: str, *args: np.ndarray, **options: Any) -> Any:
    """Of a quantity of the robot, by each of its arguments; compiled when the robot is."""
    if isinstance(p.robot, mb.Robot):
        return p.robot.derivatives(name, *args, **options)
    with mb.eager():
        return p.robot.derivatives(name, *args, **options)


def on_the_way(p: Peer, frame: str, representation: str, angular: np.ndarray) -> np.ndarray:
    """What our derivatives by q have more: the frame's origin moves, Pinocchio holds it where it is.

    The linear part of a mixed twist at x is that of the right one plus w × x.
    """
    J = p.robot.jacobian(frame, p.q)[:3]
    return np.concatenate([hat(angular) @ J if representation == "mixed" else 0 * J, 0 * J])


@pytest.mark.parametrize("representation", REFERENCES)
def test_velocity_of_a_frame(p: Peer, representation: str) -> None:
    frame, m, d = p.leaves[-1], p.model, p.data
    pin.computeForwardKinematicsDerivatives(m, d, p.y, p.w, p.b)
    theirs = pin.getFrameVelocityDerivatives(m, d, m.getFrameId(frame), REFERENCES[representation])
    by_q, by_v = derivatives(p, "velocity", p.q, p.v, frame=frame, representation=representation)
    w = p.robot.velocity(frame, p.q, p.v)[3:]
    close(by_q, theirs[0] @ p.T + on_the_way(p, frame, representation, w), "velocity by q")
    close(by_v, theirs[1] @ p.T, "velocity by v")


@pytest.mark.parametrize("representation", REFERENCES)
def test_acceleration_of_a_frame(p: Peer, representation: str) -> None:
    """The intrinsic one; left and right it is the apparent one as well."""
    frame, m, d = p.leaves[-1], p.model, p.data
    pin.computeForwardKinematicsDerivatives(m, d, p.y, p.w, p.b)
    _, *theirs = pin.getFrameAccelerationDerivatives(m, d, m.getFrameId(frame), REFERENCES[representation])
    for intrinsic in (True,) if representation == "mixed" else (True, False):
        options = {"frame": frame, "representation": representation, "intrinsic": intrinsic}
        by_q, by_v, by_a = derivatives(p, "acceleration", p.q, p.v, p.a, **options)
        w_dot = p.robot.acceleration(frame, p.q, p.v, p.a)[3:]
        close(by_q, theirs[0] @ p.T + on_the_way(p, frame, representation, w_dot), "acceleration by q")
        close(by_v, theirs[1] @ p.T, "acceleration by v")
        close(by_a, theirs[2] @ p.T, "acceleration by a")


def test_mixed_acceleration_of_a_frame(p: Peer) -> None:
    """The apparent one is the intrinsic one and w × v: so are its derivatives."""
    frame, args = p.leaves[-1], (p.q, p.v, p.a)
    apparent = derivatives(p, "acceleration", *args, frame=frame, representation="mixed")
    intrinsic = derivatives(p, "acceleration", *args, frame=frame, representation="mixed", intrinsic=True)
    V = p.robot.velocity(frame, p.q, p.v)
    slopes = derivatives(p, "velocity", p.q, p.v, frame=frame, representation="mixed")
    for one, other, dV in zip(apparent, intrinsic, (*slopes, 0 * slopes[1]), strict=True):
        close(one[:3], other[:3] + hat(V[3:]) @ dV[:3] - hat(V[:3]) @ dV[3:], "linear part")
        close(one[3:], other[3:], "angular part")


def test_centroidal_momentum_and_its_rate(p: Peer) -> None:
    """dh/dv is the centroidal momentum matrix, and so is the derivative of h' by a."""
    dh_dq, *rates = pin.computeCentroidalDynamicsDerivatives(p.model, p.data, p.y, p.w, p.b)
    by_q, by_v = derivatives(p, "centroidal_momentum", p.q, p.v)
    close(by_q, dh_dq @ p.T, "h by q")
    close(by_v, p.robot.centroidal_momentum_matrix(p.q), "h by v")
    ours = derivatives(p, "centroidal_momentum_rate", p.q, p.v, p.a)
    for one, other, by in zip(ours, rates, "qva", strict=True):
        close(one, other @ p.T, f"h' by {by}")


def test_product_with_the_mass_matrix(p: Peer) -> None:
    """d(M x)/dq is that of the torques of a robot at rest, without those that hold it."""
    m, d, rest = p.model, p.data, 0 * p.w
    x = p.layout.v_to(p.q, p.v)
    pin.computeRNEADerivatives(m, d, p.y, rest, x)
    moved = d.dtau_dq.copy()
    pin.computeRNEADerivatives(m, d, p.y, rest, rest)
    by_q, by_x = derivatives(p, "mass_matrix_product", p.q, p.v)
    close(by_q, p.T.T @ (moved - d.dtau_dq) @ p.T, "M x by q")
    close(by_x, p.T.T @ p.M @ p.T, "M x by x")


def test_wrenches_through_the_joints(p: Peer) -> None:
    pin.rnea(p.model, p.data, p.y, p.w, p.b)
    places = {name: k for k, name in enumerate(p.model.names)}
    theirs = [p.data.f[places.get(body.joint.name, 1)].vector for body in p.robot.bodies]
    close(p.robot.joint_wrenches(p.q, p.v, p.a), np.stack(theirs), "wrenches")
