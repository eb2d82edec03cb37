"""Names from other libraries, and what they are called here: errors about an unknown name say the right one."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from typing import Any, Never

from multibody._signatures import readable_names
from multibody._spelling import british

Names = dict[str, str]
"""Names in other libraries, separated by spaces, by the name here."""

MODULES: dict[str, Names] = {
    "multibody": {
        "mb.Pose": "SE3 Transform RigidTransform Transform3d se3",
        "mb.Robot": "Model Kinematics",
        "mb.Rotation": "SO3 RotationMatrix Quaternion UnitQuaternion so3",
        "mb.SpatialInertia": "Inertia",
        "mb.Twist": "Motion SpatialVelocity Twist3",
        "mb.Wrench": "Force SpatialForce",
        "mb.compile": "jit",
        "mb.compile_scan": "scan",
        "mb.gradient": "grad",
        "mb.hessian_vector": "hvp",
        "mb.jacobian": "jacfwd jacrev",
        "mb.load": "load_urdf buildModelFromUrdf loadrobot importrobot",
    },
    "multibody.control": {
        "control.pseudo_inverse(J)": "pinv",
        "control.pseudo_inverse(J, damping)": "damped_pinv damped_pseudo_inverse dls dpinv",
        "control.null_space_projector(J)": "null_space nullspace null nullspace_projector",
        "control.InverseKinematics": "IK ik solve_ik inverseKinematics LMSolver generalizedInverseKinematics "
        "InverseKinematicsSolver DifferentialInverseKinematicsIntegrator",
        "control.inverse_dynamics_control": "InverseDynamicsController computed_torque computed_torque_control",
        "control.joint_impedance": "JointStiffnessController impedance impedance_control",
        "control.OperationalSpace": "OSC osc operational_space_control taskSpaceMotionModel",
        "control.WholeBody": "TSID WBC wbc InverseDynamicsFormulationAccForce whole_body_control",
        "control.PoseTask": "FrameTask BodyTask SE3Task TaskSE3Equality",
        "control.CenterOfMassTask": "ComTask CoMTask TaskComEquality",
        "control.PostureTask": "JointTask TaskJointPosture",
        "control.MomentumTask": "TaskAMEquality",
        "control.JointLimits": "ConfigurationLimit PositionLimit PositionLimits",
        "control.VelocityLimits": "VelocityLimit",
        "control.FrictionCones": "FrictionCone",
        "control.qp": "solve_qp quadprog QP OSQP osqp",
        "control.PID": "PIDController PidController",
        "control.gains": "critically_damped",
        "control.trajectories.trapezoidal": "trapezoidal trapveltraj trapezoidal_profile lspb",
        "control.trajectories.cubic": "cubicpolytraj",
        "control.trajectories.quintic": "quinticpolytraj jtraj quintic",
        "control.trajectories.minimum_jerk": "minjerkpolytraj minimum_jerk",
        "control.trajectories.spline": "spline CubicSpline PiecewisePolynomial",
    },
    "multibody.simulate": {
        "simulate.Simulator(robot, dt=0.002)": "Simulation World Engine MjModel MjData MultibodyPlant "
        "jointSpaceMotionModel",
        "simulate.Simulator(robot, dt=0.002).step": "mj_step mj_step1 mj_step2 stepSimulation",
        "simulate.Simulator(robot, dt=0.002)(q, v, seconds=1.0)": "simulate rollout AdvanceTo ode45",
        "simulate.Ground": "Plane GroundPlane ground plane Terrain HeightField",
        "simulate.SphereContact": "Contact ContactPoint",
        "simulate.PD": "PDController",
    },
}
"""Names of modules."""

VELOCITY_REPRESENTATIONS: Names = {
    "left": "local body body-fixed left-trivialised left-trivialized",
    "right": "world spatial right-trivialised right-trivialized",
    "mixed": "local_world_aligned hybrid world_aligned inertial geometric drake mujoco",
}
"""Representations of velocities, in lower case."""

DERIVATIVE_OPTIONS: Names = {"argument": "argnums argnum wrt", "shapes": "in_axes shape"}
"""Options of `mb.gradient` and the other derivatives."""

ROBOT: Names = {
    "robot.inverse_dynamics(q, v, a)": "rnea RNEA id calc_inverse_dynamics rne inverseDynamics CalcInverseDynamics "
    "mj_inverse mj_rne",
    "robot.forward_dynamics(q, v, tau)": "aba ABA fd accel calc_forward_dynamics forwardDynamics mj_forward qacc",
    "robot.mass_matrix(q)": "crba CRBA M inertia inertia_matrix massMatrix calc_mass_matrix CalcMassMatrix mj_fullM "
    "qM mj_crb CalcMassMatrixViaInverseDynamics",
    "robot.bias(q, v)": "nle h c nonLinearEffects nonlinear_effects bias_forces qfrc_bias",
    "robot.coriolis(q, v) @ v": "velocityProduct CalcBiasTerm",
    "robot.gravity(q)": "g G gravload gravity_vector computeGeneralizedGravity gravity_torque gravity_compensation "
    "gravityTorque",
    "robot.gravity(q), with the opposite sign": "CalcGravityGeneralizedForces",
    "np.linalg.inv(robot.mass_matrix(q))": "computeMinverse Minv",
    "robot.velocity(frame, q, v)": "getFrameVelocity cvel frame_velocity mj_objectVelocity",
    "robot.acceleration(frame, q, v, a)": "getFrameAcceleration cacc frame_acceleration mj_objectAcceleration",
    "robot.pose(frame, q).position": "xpos site_xpos geom_xpos",
    "robot.pose(frame, q).rotation": "xmat xquat site_xmat ximat",
    "robot.pose(reference, q).pull(robot.pose(frame, q))": "CalcRelativeTransform",
    "robot.coriolis(q, v)": "C coriolis_matrix computeCoriolisMatrix",
    "robot.pose(frame, q), robot.poses(q) for all frames": "forward_kinematics forwardKinematics fk fkine "
    "framesForwardKinematics kinematics placement transform get_frame_pose getTransform oMf oMi mj_kinematics "
    "updateFramePlacements framePlacement EvalBodyPoseInWorld CalcWorldTransform",
    "robot.with_frame(name, parent, pose)": "add_frame addFrame addBodyFrame AddFrame add_site add_body_frame AddBody",
    "robot.inverse_kinematics(frame, target)": "ik IK ikine solve_ik ikine_LM ik_LM inverseKinematics",
    "robot.jacobian(frame, q)": "J jac jacob0 jacobe "
    "frame_jacobian computeFrameJacobian getFrameJacobian computeJointJacobians geometric_jacobian geometricJacobian "
    "CalcJacobianSpatialVelocity mj_jac mj_jacSite mj_jacBody mj_jacGeom",
    "robot.jacobian_dot(frame, q, v)": "dJ jacobian_derivative jacobian_time_derivative jacob0_dot mj_jacDot "
    "getFrameJacobianTimeVariation computeJointJacobiansTimeVariation",
    "robot.center_of_mass(q)": "com centerOfMass centre_of_mass com_position subtree_com "
    "CalcCenterOfMassPositionInWorld",
    "robot.com_jacobian(q)": "jacobianCenterOfMass center_of_mass_jacobian jacobian_com mj_jacSubtreeCom "
    "CalcJacobianCenterOfMassTranslationalVelocity",
    "robot.mass": "CalcTotalMass total_mass computeTotalMass body_mass getMass",
    "wrenches={frame: wrench} of the dynamics": "externalForce xfrc_applied fext",
    "robot.lock({joint: value})": "buildReducedModel reduced_model",
    "robot.attach(other, to=frame)": "addSubtree appendModel addBody addLink",
    "robot.remove(link)": "removeBody remove_body",
    "print(robot)": "showdetails",
    "robot.com_velocity(q, v)": "vcom center_of_mass_velocity CalcCenterOfMassTranslationalVelocityInWorld",
    "robot.centroidal_momentum(q, v)": "hg computeCentroidalMomentum",
    "robot.centroidal_momentum_matrix(q)": "Ag cmm ccrba computeCentroidalMap",
    "robot.inverse_dynamics_derivatives(q, v, a)": "rnea_derivatives computeRNEADerivatives",
    "robot.forward_dynamics_derivatives(q, v, tau)": "aba_derivatives computeABADerivatives",
    "robot.constrained_dynamics(constraints, q, v, tau)": "constraintDynamics contact_dynamics",
    "robot.regressor(q, v, a)": "computeJointTorqueRegressor joint_torque_regressor",
    "robot.neutral()": "zero zeros q0 qz neutral_configuration zero_configuration",
    "robot.home()": "homeConfiguration home_configuration qpos0 qr GetDefaultPositions",
    "robot.random(rng)": "random_configuration randomConfiguration sample random_q",
    "robot.nv, the number of velocities, and robot.nq, that of coordinates": "dof ndof dofs n num_dofs "
    "num_positions num_velocities",
    "robot.joints: [joint.name for joint in robot.joints]": "joint_names names njoints num_joints getJointId",
    "robot.bodies; robot.frames has the names of all links": "links link_names nbodies num_bodies "
    "Bodies NumBodies BodyNames nbody GetBodyByName getBody getBodyId",
    "robot.frames: a tuple of names": "frame_names nframes getFrameId existFrame GetFrameByName sites site_names",
    "robot.limits, which has lower, upper, velocity and effort": "joint_limits lower_limits upper_limits lower "
    "upper qlim lowerPositionLimit upperPositionLimit",
    "robot.integrate(q, dv)": "plus boxplus step_configuration",
    "robot.difference(q0, q1)": "minus boxminus",
    "robot.kinetic_energy(q, v)": "ke computeKineticEnergy CalcKineticEnergy",
    "robot.potential_energy(q)": "pe computePotentialEnergy CalcPotentialEnergy",
    "robot.kinetic_energy(q, v) + robot.potential_energy(q)": "energy total_energy mechanical_energy",
    "robot.tree, which tasks and algorithms take in place of the robot": "frame outward inward support",
    "mb.load(file)": "load from_urdf buildModelFromUrdf",
    "the results of calls, since a robot has no state": "data createData state update reset q v",
    "robot.kernel(name).to_c(path)": "to_c export codegen",
    "mb.simulate.Simulator(robot, dt=0.002)(q, v, seconds=1.0)": "step simulate",
    "mb.view.show(robot, q), in the browser, or mb.view.picture(robot, q, 'arm.png')": "plot show draw "
    "display view visualize render",
}
"""Attributes of a robot, by the expression that computes them here."""

ROTATION: Names = {
    "Rotation.from_xyzw(q), or Rotation.from_quaternion(q) with w first": "from_quat from_quaternion_xyzw",
    "rotation.xyzw, or rotation.quaternion with w first": "as_quat quat coeffs ToQuaternion wxyz to_quaternion "
    "as_quaternion_xyzw",
    "rotation.matrix": "as_matrix as_dcm to_matrix R A rotm rotmat toRotationMatrix xmat",
    "Rotation.from_matrix(matrix)": "from_dcm from_rotm FromMatrix ProjectToRotationMatrix",
    "rotation.rotation_vector": "as_rotvec rotvec to_rotvec eulervec",
    "Rotation.from_rotation_vector(vector)": "from_rotvec EulerVec Exp",
    "rotation.euler(sequence)": "as_euler eul to_euler rotm2eul quat2eul",
    "rotation.euler('extrinsic-xyz')": "rpy as_rpy as_rpy_radians to_rpy ToRollPitchYaw",
    "Rotation.from_euler(sequence, angles)": "Eul from_eul from_euler_angles eul2rotm eul2quat",
    "Rotation.from_euler('extrinsic-xyz', [roll, pitch, yaw])": "RPY from_rpy from_rpy_radians from_roll_pitch_yaw",
    "Rotation.elementary(axis, angle)": "Rx Ry Rz rotx roty rotz MakeXRotation MakeYRotation MakeZRotation "
    "from_x_radians from_y_radians from_z_radians",
    "Rotation.from_angle_axis(angle, axis)": "AngVec AngleAxis AxisAngle from_axis_angle from_axang axang2rotm",
    "rotation.angle_axis": "angvec axang axis_angle as_axis_angle to_axis_angle ToAngleAxis angle axis rotm2axang",
    "rotation.angle_axis[0]": "magnitude",
    "rotation.inverse()": "inv T transpose conj conjugate",
    "rotation @ other, for a rotation or for vectors (..., 3)": "apply rotate act multiply",
    "rotation.interpolate(other, t)": "slerp interp Slerp",
    "Rotation.stack(rotations)": "concatenate",
    "Rotation.random(rng)": "Rand Random sample_uniform",
}
"""Attributes of rotations."""

POSE: Names = {
    "pose.position": "translation t p trans trvec xyz origin tform2trvec",
    "pose.rotation": "orientation so3",
    "pose.rotation.matrix": "R rotm",
    "pose.rotation.quaternion, with w first": "quat quaternion wxyz",
    "pose.inverse()": "inv Inverse",
    "pose.inverse() @ other": "actInv InvertAndCompose",
    "pose.matrix": "homogeneous as_matrix to_matrix GetAsMatrix4 tform A T np GetAsMatrix34",
    "Pose.from_matrix(matrix)": "from_homogeneous FromMatrix",
    "pose @ other, for a pose, points (..., 3), a Twist or a Wrench": "act apply multiply transform se3Action",
    "pose.adjoint": "Ad action toActionMatrix",
    "pose.dual_adjoint": "dualAction toDualActionMatrix",
    "Pose(rotation, position)": "Rt Rp from_components from_rotation_and_translation",
    "Pose(Rotation.identity(), position)": "trvec2tform Trans Tx Ty Tz from_translation",
    "Pose(rotation, [0, 0, 0])": "rotm2tform eul2tform Rx Ry Rz RPY from_rotation",
    "Pose.exp(twist)": "Exp exp6 from_exp_coords",
    "pose.log()": "log6 twist as_exp_coords",
    "pose.interpolate(other, t)": "interp slerp Interpolate",
    "Pose.identity()": "Identity",
    "Pose.stack(poses)": "concatenate",
    "Pose.random(rng)": "Random Rand",
}
"""Attributes of poses."""

TWIST: Names = {
    "twist.vector, linear part first": "np S A vec as_vector to_vector get_coeffs",
    "twist.linear": "v lin translational",
    "twist.angular": "w ang omega rotational",
    "Twist.from_vector(vector), linear part first": "from_array",
    "pose @ twist": "se3Action act Shift transform",
    "twist.hat()": "se skewa skew",
    "twist.ad()": "action crm toActionMatrix",
    "twist.power(wrench)": "dot",
    "Twist.zero()": "Zero",
    "Pose.exp(twist)": "exp Exp exp6",
}
"""Attributes of twists."""

WRENCH: Names = {
    "wrench.vector, force first": "np S A vec as_vector to_vector get_coeffs",
    "wrench.force": "linear f lin translational",
    "wrench.torque": "angular moment n tau ang rotational",
    "Wrench.from_vector(vector), force first": "from_array",
    "pose @ wrench": "se3Action act Shift transform",
    "wrench.power(twist)": "dot",
    "Wrench.zero()": "Zero",
}
"""Attributes of wrenches."""

INERTIA: Names = {
    "inertia.mass": "m get_mass Mass",
    "inertia.com": "lever c r center_of_mass centre_of_mass get_com CenterOfMass ipos",
    "inertia.inertia, about the centre of mass": "I Ic I_com rotational_inertia",
    "inertia.about_origin": "J CalcRotationalInertia",
    "inertia.matrix": "A as_matrix to_matrix CopyToFullMatrix6",
    "inertia.parameters()": "toDynamicParameters",
    "SpatialInertia.from_parameters(parameters)": "FromDynamicParameters",
    "SpatialInertia(mass, com, inertia)": "MakeFromCentralInertia",
    "pose @ inertia": "se3Action Shift ReExpress",
    "inertia.problems()": "IsPhysicallyValid CouldBePhysicallyValid is_physical",
}
"""Attributes of inertias."""

CLASSES: dict[str, Names] = {
    "Robot": ROBOT,
    "Rotation": ROTATION,
    "Pose": POSE,
    "Twist": TWIST,
    "Wrench": WRENCH,
    "SpatialInertia": INERTIA,
}
"""The tables of classes."""


def translate(name: object, names: Names) -> str | None:
    """Return the name here, or None if the name is unknown."""
    return next((ours for ours, others in names.items() if name in others.split()), None)


def public_room(module: str) -> Callable[[str], Never]:
    """Make the public names of a complete room readable, and return its `__getattr__`."""
    readable_names(module)
    return unknown_attribute(module)


def unknown_attribute(module: str) -> Callable[[str], Never]:
    """Return the `__getattr__` of a module, which says what a name of another library is called here."""

    def refuse(name: str) -> Never:
        ours = translate(name, MODULES.get(module, {}))
        if ours is None:
            names = vars(sys.modules[module])
            ours = next((public for public in names.get("__all__", names) if british(public) == name), None)
        raise AttributeError(f"module {module!r} has no attribute {name!r}{f'; use {ours}' if ours else ''}")

    return refuse


def translate_quantity(name: object) -> str | None:
    """Return the method of a robot that computes a quantity of this name, or None."""
    ours = translate(name, ROBOT) or ""
    return ours.removeprefix("robot.").partition("(")[0] if ours.startswith("robot.") and "(" in ours else None


class ForeignName:
    """An attribute that a class does not have: access raises an AttributeError that says what to use."""

    __slots__ = ("message",)

    def __init__(self, message: str) -> None:
        self.message = message

    def __get__(self, robot: Any, owner: type) -> Never:
        raise AttributeError(self.message, name="")  # without a name Python suggests no other


class ForeignNames(type):
    """Metaclass of classes that answer foreign names and British spellings, and leave them out of `dir`.

    They are descriptors instead of a `__getattr__`, with which every method call takes a third longer.
    """

    __module__ = "multibody"  # `help` writes it behind the signature of each class method

    def __new__(mcs, name: str, bases: tuple[type, ...], namespace: dict[str, Any]) -> ForeignNames:
        foreign = {
            other: ForeignName(f"{name} has no {other!r}; use {ours}")
            for ours, others in CLASSES.get(name, {}).items()
            for other in others.split()
        }
        spelled = {
            other: ForeignName(f"{name} has no {other!r}; use {public}")
            for public in namespace
            if not public.startswith("_") and (other := british(public))
        }
        return super().__new__(mcs, name, bases, {**spelled, **foreign, **namespace})

    def __dir__(cls) -> list[str]:
        return [name for name in super().__dir__() if not isinstance(inspect.getattr_static(cls, name), ForeignName)]
