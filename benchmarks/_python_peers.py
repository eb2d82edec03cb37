"""Pinocchio, MuJoCo and Drake called from Python, one state at a time; each is first checked against our results."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from _robots import CASES, plain_urdf
from lxml import etree

import multibody as mb
from multibody.model.layouts import MujocoLayout, PinocchioLayout

Calls = dict[str, Callable[[], Any]]


class State(NamedTuple):
    """Where everything is evaluated, in our coordinates; `a` is also the torque of forward dynamics."""

    frame: str
    q: np.ndarray
    v: np.ndarray
    a: np.ndarray


def agree(robot: mb.Robot, state: State, tau: np.ndarray, pose: np.ndarray, tolerance: float) -> None:
    """Whether a peer computed the same: torques in our layout, and the position of the frame."""
    ours = robot.inverse_dynamics(state.q, state.v, state.a)
    np.testing.assert_allclose(tau, ours, atol=tolerance * np.abs(ours).max())
    np.testing.assert_allclose(pose, robot.pose(state.frame, state.q).position, atol=1e-8)


def with_pinocchio(name: str, robot: mb.Robot, state: State) -> Calls:
    import pinocchio as pin

    model = pinocchio_model(name)
    data, layout = model.createData(), PinocchioLayout(robot.model, model)
    q, v, a = layout.q_to(state.q), layout.v_to(state.q, state.v), layout.a_to(state.q, state.v, state.a)
    frame, axes = model.getFrameId(state.frame), pin.ReferenceFrame.LOCAL_WORLD_ALIGNED

    def pose() -> Any:
        pin.forwardKinematics(model, data, q)
        return pin.updateFramePlacement(model, data, frame)

    agree(robot, state, layout.tau_from(q, pin.rnea(model.tree, data, q, v, a)), pose().translation, 1e-9)
    return {
        "inverse_dynamics": lambda: pin.rnea(model.tree, data, q, v, a),
        "forward_dynamics": lambda: pin.aba(model.tree, data, q, v, a),
        "mass_matrix": lambda: pin.crba(model.tree, data, q),
        "jacobian": lambda: pin.computeFrameJacobian(model, data, q, frame, axes),
        "pose": pose,
        "inverse_dynamics_derivatives": lambda: pin.computeRNEADerivatives(model, data, q, v, a),
    }


def pinocchio_model(name: str) -> Any:
    import pinocchio as pin

    root = (pin.JointModelFreeFlyer(),) if CASES[name].floating else ()
    return pin.buildModelFromXML(plain_urdf(name), *root)


def with_mujoco(name: str, robot: mb.Robot, state: State) -> Calls:
    import mujoco

    model = mujoco.MjModel.from_xml_string(_for_mujoco(name))
    off = mujoco.mjtDisableBit
    model.opt.disableflags |= int(off.mjDSBL_CONSTRAINT) | int(off.mjDSBL_CONTACT)
    data, layout = mujoco.MjData(model), MujocoLayout(robot.model, model)
    data.qpos[:], data.qvel[:] = layout.q_to(state.q), layout.v_to(state.q, state.v)
    data.qfrc_applied[:] = layout.tau_to(state.q, state.a)
    acceleration = layout.a_to(state.q, state.v, state.a)
    body, full = model.body(state.frame).id, np.zeros((model.nv, model.nv))
    linear, angular = np.zeros((3, model.nv)), np.zeros((3, model.nv))

    def inverse() -> Any:
        data.qacc[:] = acceleration  # mj_forward writes its own
        mujoco.mj_inverse(model, data)

    def places() -> None:
        mujoco.mj_kinematics(model, data)
        mujoco.mj_comPos(model, data)

    def mass() -> Any:
        places()
        mujoco.mj_makeM(model, data)
        mujoco.mj_fullM(model, data, full)

    def jacobian() -> Any:
        places()
        mujoco.mj_jacBody(model, data, linear, angular, body)

    inverse()
    agree(robot, state, layout.tau_from(data.qpos, data.qfrc_inverse), data.xpos[body], 1e-5)
    return {
        "inverse_dynamics": inverse,
        "forward_dynamics": lambda: mujoco.mj_forward(model, data),
        "mass_matrix": mass,
        "jacobian": jacobian,
        "pose": lambda: mujoco.mj_kinematics(model, data),
    }


def _for_mujoco(name: str) -> str:
    """The URDF with a free joint for a floating base, and bounds under which MuJoCo takes its lightest links."""
    root = etree.fromstring(plain_urdf(name))
    root.append(etree.fromstring('<mujoco><compiler boundinertia="1e-9" balanceinertia="true"/></mujoco>'))
    if CASES[name].floating:
        children = {child.get("link") for child in root.iter("child")}
        base = next(link.get("name") for link in root.findall("link") if link.get("name") not in children)
        root.append(etree.fromstring('<link name="the_world"/>'))
        joint = f'<joint name="base" type="floating"><parent link="the_world"/><child link="{base}"/></joint>'
        root.append(etree.fromstring(joint))
    return etree.tostring(root, encoding="unicode")


def with_drake(name: str, robot: mb.Robot, state: State) -> Calls:
    import logging

    from pydrake.multibody.parsing import Parser
    from pydrake.multibody.plant import MultibodyPlant
    from pydrake.multibody.tree import JacobianWrtVariable, MultibodyForces

    logging.getLogger("drake").setLevel(logging.ERROR)
    plant = MultibodyPlant(0.0)
    Parser(plant).AddModelsFromString(plain_urdf(name), "urdf")
    if not CASES[name].floating:
        plant.WeldFrames(plant.world_frame(), plant.GetFrameByName(robot.frames[0]))
    plant.Finalize()
    context, forces = plant.CreateDefaultContext(), MultibodyForces(plant)
    frame, world = plant.GetFrameByName(state.frame), plant.world_frame()
    with_respect_to_v, origin = JacobianWrtVariable.kV, np.zeros(3)

    place = np.zeros((plant.num_velocities(), robot.nv))  # of our velocities among Drake's, which are the world's
    for joint in robot.joints:
        if joint.kind.nv == 1:
            place[plant.GetJointByName(joint.name).velocity_start(), joint.v.start] = 1
    q = np.empty(plant.num_positions())
    if CASES[name].floating:
        place[:3, 3:6], place[3:6, :3] = mb.Rotation.from_quaternion(state.q[3:7]).matrix, np.eye(3)
        q[:4], q[4:7] = state.q[3:7], state.q[:3]
    for joint in robot.joints:
        if joint.kind.nv == 1:
            q[plant.GetJointByName(joint.name).position_start()] = state.q[joint.q.start]
    v, a = place @ state.v, place @ state.a
    plant.get_applied_generalized_force_input_port().FixValue(context, a)
    accelerations = plant.get_generalized_acceleration_output_port()

    def fresh() -> None:
        """A state that Drake has not seen: nothing is taken from its cache."""
        plant.SetPositions(context, q)
        plant.SetVelocities(context, v)

    def inverse() -> Any:
        fresh()
        forces.SetZero()
        plant.CalcForceElementsContribution(context, forces)
        return plant.CalcInverseDynamics(context, a, forces)

    def forward() -> Any:
        fresh()
        return accelerations.Eval(context)

    def mass() -> Any:
        fresh()
        return plant.CalcMassMatrix(context)

    def jacobian() -> Any:
        fresh()
        return plant.CalcJacobianSpatialVelocity(context, with_respect_to_v, frame, origin, world, world)

    def pose() -> Any:
        fresh()
        return frame.CalcPoseInWorld(context)

    agree(robot, state, place.T @ inverse(), pose().translation(), 1e-4)
    return {
        "inverse_dynamics": inverse,
        "forward_dynamics": forward,
        "mass_matrix": mass,
        "jacobian": jacobian,
        "pose": pose,
    }
