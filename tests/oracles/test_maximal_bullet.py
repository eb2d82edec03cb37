"""Velocities and forces of links beside Bullet; skipped where pybullet is not installed."""

import numpy as np
import pytest

import multibody as mb
from multibody.algorithms.maximal_coordinates import forces
from multibody.algorithms.maximal_coordinates import velocities as maximal

bullet = pytest.importorskip("pybullet")

LINK = (
    '<link name="{}"><inertial><origin xyz="{}" rpy="0.4 0.2 0.7"/><mass value="2"/>'
    '<inertia ixx="0.1" iyy="0.12" izz="0.15" ixy="0" ixz="0" iyz="0"/></inertial></link>'
)
URDF = f"""<robot name="crane">{LINK.format("hull", "0.1 0.05 -0.1")}{LINK.format("boom", "0.2 0.1 0.3")}
{LINK.format("hook", "-0.1 0.2 0.1")}
<joint name="swing" type="continuous"><parent link="hull"/><child link="boom"/>
  <origin xyz="0.3 0 0.1" rpy="0.2 0.3 0.4"/><axis xyz="0 1 0"/></joint>
<joint name="hoist" type="prismatic"><parent link="boom"/><child link="hook"/>
  <origin xyz="0.1 0.2 0.3" rpy="0.5 0.1 0"/><axis xyz="0 0 1"/>
  <limit lower="-9" upper="9" effort="1e4" velocity="1e4"/></joint></robot>"""
STEP = 1e-6


class Peer:
    """The same robot in Bullet, without motors, damping and gravity; the hull is its base, or fixed."""

    def __init__(self, path, robot, q, v) -> None:
        self.client = bullet.connect(bullet.DIRECT)
        bullet.setTimeStep(STEP, self.client)
        floating = robot.nv > 2
        options = {"useFixedBase": not floating, "flags": bullet.URDF_USE_INERTIA_FROM_FILE}
        self.body = bullet.loadURDF(str(path), **options, physicsClientId=self.client)
        self.links = [-1, 0, 1] if floating else [0, 1]
        for k in (-1, 0, 1):
            bullet.changeDynamics(self.body, k, linearDamping=0, angularDamping=0, jointDamping=0)
        if floating:
            _, _, _, place, turn, *_ = bullet.getDynamicsInfo(self.body, -1)
            frame = robot.pose("hull", q) @ mb.Pose(mb.Rotation.from_xyzw(turn), place)
            w, x, y, z = frame.rotation.quaternion
            bullet.resetBasePositionAndOrientation(self.body, frame.position, [x, y, z, w])
            V = maximal.link_velocities(robot.model, q, v)[0]
            bullet.resetBaseVelocity(self.body, V[:3], V[3:])
        for k in (0, 1):
            bullet.setJointMotorControl2(self.body, k, bullet.VELOCITY_CONTROL, force=0)
            bullet.resetJointState(self.body, k, q[-2 + k], v[-2 + k])

    def centre(self, k: int):
        return (bullet.getBasePositionAndOrientation if k < 0 else self.state)(self.body, *([] if k < 0 else [k]))[0]

    @staticmethod
    def state(body, k):
        return bullet.getLinkState(body, k, computeLinkVelocity=1, computeForwardKinematics=1)

    def velocities(self) -> np.ndarray:
        rows = [bullet.getBaseVelocity(self.body) if k < 0 else self.state(self.body, k)[6:8] for k in self.links]
        return np.array(rows).reshape(-1, 6)

    def rates(self) -> np.ndarray:
        return np.array([bullet.getJointState(self.body, k)[1] for k in (0, 1)])


@pytest.fixture(params=[False, True], ids=["fixed", "floating"])
def peer(request, tmp_path):
    path = tmp_path / "crane.urdf"
    path.write_text(URDF)
    robot = mb.load(path, floating=request.param, gravity=(0, 0, 0))
    rng = np.random.default_rng(0)
    q, v = robot.random(rng), rng.standard_normal(robot.nv)
    made = Peer(path, robot, q, v)
    yield robot, q, v, made
    bullet.disconnect(made.client)


def test_velocities(peer) -> None:
    robot, q, v, other = peer
    np.testing.assert_allclose(other.velocities(), maximal.link_velocities(robot.model, q, v), atol=1e-12)
    np.testing.assert_allclose(maximal.check_velocities(robot.model, q, other.velocities()), v, atol=1e-9)


def test_forces(peer) -> None:
    """Forces at centres of mass and torques, along the world's axes, give the accelerations of one step."""
    robot, q, v, other = peer
    F = np.random.default_rng(1).standard_normal((len(other.links), 6))
    for k, row in zip(other.links, F, strict=True):
        bullet.applyExternalForce(other.body, k, row[:3], other.centre(k), bullet.WORLD_FRAME)
        bullet.applyExternalTorque(other.body, k, row[3:], bullet.WORLD_FRAME)
    before = other.rates()
    bullet.stepSimulation()
    after = other.rates()
    a = robot.forward_dynamics(q, v, forces.generalized_force(robot.tree, q, F))
    np.testing.assert_allclose((after - before) / STEP, a[-2:], rtol=1e-5)
    bullet.stepSimulation()  # without forces: they held for one step
    still = robot.forward_dynamics(q, v, np.zeros(robot.nv))
    np.testing.assert_allclose((other.rates() - after) / STEP, still[-2:], rtol=1e-4, atol=1e-4)
