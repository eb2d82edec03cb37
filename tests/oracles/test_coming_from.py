"""The rows of docs/coming-from.md and docs/notation.md on Drake, robotics-toolbox and JAX, where these are installed.

They are not in the extra `test`: `pip install drake roboticstoolbox-python jax` beside it, then run this file.
"""

from pathlib import Path

import numpy as np
import pytest

import multibody as mb

LINK = """<inertial><origin xyz="0 0 0.2"/><mass value="2"/>
  <inertia ixx="0.03" iyy="0.02" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial>"""
LIMIT = '<limit lower="-3" upper="3" effort="9" velocity="9"/>'
URDF = f"""<robot name="pendulum">
  <link name="base">{LINK}</link><link name="arm">{LINK}</link><link name="tip">{LINK}</link>
  <joint name="one" type="revolute"><parent link="base"/><child link="arm"/><axis xyz="0 1 0"/>
    <origin xyz="0.1 0 0.3"/>{LIMIT}</joint>
  <joint name="two" type="revolute"><parent link="arm"/><child link="tip"/><axis xyz="1 0 0"/>
    <origin xyz="0 0 0.4"/><dynamics damping="0.3"/>{LIMIT}</joint></robot>"""


def near(a, b, tolerance=1e-11):
    np.testing.assert_allclose(np.asarray(a, float), np.asarray(b, float), rtol=0, atol=tolerance)


def test_drake():
    pytest.importorskip("pydrake")
    from pydrake.math import RollPitchYaw
    from pydrake.multibody.parsing import Parser
    from pydrake.multibody.plant import MultibodyPlant
    from pydrake.multibody.tree import JacobianWrtVariable, MultibodyForces, SpatialInertia, UnitInertia

    plant = MultibodyPlant(0.0)
    Parser(plant).AddModelsFromString(URDF, "urdf")
    plant.Finalize()
    context = plant.CreateDefaultContext()
    robot, rng = mb.load(URDF, floating=True), np.random.default_rng(0)
    q, v, a = robot.random(rng), rng.normal(size=robot.nv), rng.normal(size=robot.nv)
    R = mb.Rotation.from_quaternion(q[3:7]).matrix
    T = np.zeros(
        (robot.nv, robot.nv)
    )  # takes our velocities to theirs: mixed, angular first; their rates as well, since R w' = (R w)'
    T[:3, 3:6], T[3:6, :3], T[6:, 6:] = R, np.eye(3), np.eye(robot.nv - 6)

    plant.SetPositions(context, np.concatenate([q[3:7], q[:3], q[7:]]))
    plant.SetVelocities(context, T @ v)
    world, tip = plant.world_frame(), plant.GetFrameByName("tip")
    near(plant.CalcRelativeTransform(context, world, tip).GetAsMatrix4(), robot.pose("tip", q).matrix)
    near(np.roll(tip.CalcSpatialVelocityInWorld(context).get_coeffs(), 3), robot.velocity("tip", q, v))
    J = plant.CalcJacobianSpatialVelocity(context, JacobianWrtVariable.kV, tip, np.zeros(3), world, world)
    near(np.roll(J @ T, 3, axis=0), robot.jacobian("tip", q))
    M, gravity = plant.CalcMassMatrix(context), plant.CalcGravityGeneralizedForces(context)
    near(T.T @ M @ T, robot.mass_matrix(q))
    near(T.T @ gravity, -robot.gravity(q))
    near(T.T @ (M @ (T @ a) + plant.CalcBiasTerm(context) - gravity), robot.inverse_dynamics(q, v, a))
    forces = MultibodyForces(plant)
    plant.CalcForceElementsContribution(context, forces)
    torques = plant.CalcInverseDynamics(context, T @ a, forces)
    near(T.T @ torques, robot.inverse_dynamics(q, v, a) - robot.passive(q, v))
    falling = robot.forward_dynamics(q, v, robot.passive(q, v))
    near(plant.EvalTimeDerivatives(context).CopyToVector()[-robot.nv :], T @ falling)
    acceleration = tip.CalcSpatialAccelerationInWorld(context).get_coeffs()
    near(np.roll(acceleration, 3), robot.acceleration("tip", q, v, falling))
    near(plant.CalcCenterOfMassPositionInWorld(context), robot.center_of_mass(q))
    near(plant.gravity_field().gravity_vector(), [0, 0, -9.81])
    rpy = [0.1, 0.2, 0.3]
    near(RollPitchYaw(*rpy).ToRotationMatrix().matrix(), mb.Rotation.from_euler("extrinsic-xyz", rpy).matrix)
    unit = SpatialInertia(mass=2.0, p_PScm_E=[0.1, 0.2, 0.3], G_SP_E=UnitInertia(1, 1, 1))
    near(unit.CalcRotationalInertia().get_moments(), [2, 2, 2])  # about the origin, per unit mass


@pytest.mark.filterwarnings("ignore")
def test_robotics_toolbox(tmp_path: Path):
    rtb = pytest.importorskip("roboticstoolbox")
    (tmp_path / "arm.urdf").write_text(URDF, encoding="utf-8")
    theirs, ours = rtb.Robot.URDF(str(tmp_path / "arm.urdf")), mb.load(URDF)
    q, v, a = np.array([[0.3, 0.4], [0.5, -0.6], [0.7, 0.8]])
    near(theirs.fkine(q, end="tip").A, ours.pose("tip", q).matrix)
    near(theirs.jacob0(q, end="tip"), ours.jacobian("tip", q))
    near(theirs.jacobe(q, end="tip"), ours.jacobian("tip", q, "left"))
    near(theirs.jacob0_dot(q, v), ours.jacobian_dot("tip", q, v))
    near(theirs.hessian0(q, end="tip"), ours.hessian("tip", q))
    near(theirs.rne(q, v, a), ours.inverse_dynamics(q, v, a))
    near(theirs.inertia(q), ours.mass_matrix(q))
    near(theirs.gravload(q), ours.gravity(q))
    near(theirs.accel(q, v, a), ours.forward_dynamics(q, v, a))
    inertia = {"m": 2, "r": [-0.2, 0, 0], "I": [0.01, 0.02, 0.03, 0, 0, 0]}
    planar = rtb.DHRobot([rtb.RevoluteDH(a=0.4, **inertia) for _ in range(2)])
    moments = 'ixx="0.01" iyy="0.02" izz="0.03" ixy="0" ixz="0" iyz="0"'
    link = f'<inertial><origin xyz="0.2 0 0"/><mass value="2"/><inertia {moments}/></inertial>'
    joint = '<joint name="{1}" type="continuous"><parent link="{0}"/><child link="{1}"/><axis xyz="0 0 1"/>{2}</joint>'
    joints = joint.format("w", "a", "") + joint.format("a", "b", '<origin xyz="0.4 0 0"/>')
    same = mb.load(
        f'<robot name="p"><link name="w"/><link name="a">{link}</link><link name="b">{link}</link>{joints}</robot>'
    )
    near(planar.coriolis(q, v), same.coriolis(q, v))


def test_jax():
    jax = pytest.importorskip("jax")
    jax.config.update("jax_enable_x64", True)
    X = np.random.default_rng(0).normal(size=(100, 3))

    def energy(x, k):
        return k * (x**2).sum() / 2

    theirs = jax.jit(jax.vmap(jax.grad(energy), (0, None)))(X, 2.0)
    near(mb.compile(mb.gradient(energy), 3, ())(X, 2.0), theirs)
    last, seen = jax.lax.scan(lambda x, u: (0.5 * x + u, x), 0.0, np.ones(3))
    ours = mb.loop(None, lambda x, u: (0.5 * x + u, x), 0.0, xs=np.ones(3), outputs=True)
    near(ours[0], last)
    near(ours[1], seen)
