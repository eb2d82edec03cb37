"""Names from other libraries, and what they are called here: errors about an unknown name say the right one."""

from __future__ import annotations

from typing import Any, Never

Names = dict[str, str]
"""Names in other libraries, separated by spaces, by the name here."""

MODULE: Names = {
    "Pose": "SE3 Transform",
    "Robot": "Model Kinematics",
    "Rotation": "SO3",
    "compile": "jit",
    "compile_scan": "scan",
    "gradient": "grad",
    "hessian_vector": "hvp",
    "jacobian": "jacfwd jacrev",
    "load": "load_urdf buildModelFromUrdf",
}
"""Names of `mb`."""

VELOCITY_REPRESENTATIONS: Names = {
    "left": "local body body-fixed left-trivialised left-trivialized",
    "right": "world spatial right-trivialised right-trivialized",
    "mixed": "local_world_aligned hybrid world_aligned inertial geometric drake mujoco",
}
"""Representations of velocities, in lower case."""

DERIVATIVE_OPTIONS: Names = {"argument": "argnums argnum wrt", "shapes": "in_axes shape"}
"""Options of `mb.gradient` and the other derivatives."""

ROBOT: Names = {
    "robot.inverse_dynamics(q, v, a)": "rnea RNEA id calc_inverse_dynamics rne",
    "robot.forward_dynamics(q, v, tau)": "aba ABA fd accel calc_forward_dynamics",
    "robot.mass_matrix(q)": "crba CRBA M inertia inertia_matrix massMatrix calc_mass_matrix",
    "robot.bias(q, v)": "nle h c nonLinearEffects nonlinear_effects bias_forces qfrc_bias",
    "robot.gravity(q)": "g G gravload gravity_vector computeGeneralizedGravity gravity_torque gravity_compensation",
    "robot.coriolis(q, v)": "C coriolis_matrix computeCoriolisMatrix",
    "robot.pose(frame, q), robot.poses(q) for all frames": "forward_kinematics forwardKinematics fk fkine "
    "framesForwardKinematics kinematics placement transform get_frame_pose",
    "robot.inverse_kinematics(frame, target)": "ik IK ikine solve_ik",
    "robot.jacobian(frame, q)": "J jac jacob0 jacobe "
    "frame_jacobian computeFrameJacobian getFrameJacobian computeJointJacobians geometric_jacobian",
    "robot.jacobian_dot(frame, q, v)": "dJ jacobian_derivative jacobian_time_derivative jacob0_dot",
    "robot.center_of_mass(q)": "com centerOfMass centre_of_mass com_position",
    "robot.com_jacobian(q)": "jacobianCenterOfMass center_of_mass_jacobian jacobian_com",
    "robot.com_velocity(q, v)": "vcom center_of_mass_velocity",
    "robot.centroidal_momentum(q, v)": "hg computeCentroidalMomentum",
    "robot.centroidal_momentum_matrix(q)": "Ag cmm ccrba computeCentroidalMap",
    "robot.inverse_dynamics_derivatives(q, v, a)": "rnea_derivatives computeRNEADerivatives",
    "robot.forward_dynamics_derivatives(q, v, tau)": "aba_derivatives computeABADerivatives",
    "robot.constrained_dynamics(constraints, q, v, tau)": "constraintDynamics contact_dynamics",
    "robot.regressor(q, v, a)": "computeJointTorqueRegressor joint_torque_regressor",
    "robot.neutral()": "zero zeros q0 qz neutral_configuration zero_configuration",
    "robot.random(rng)": "random_configuration randomConfiguration sample random_q",
    "robot.nv, the number of velocities, and robot.nq, that of coordinates": "dof ndof dofs n num_dofs",
    "robot.joints: [joint.name for joint in robot.joints]": "joint_names names njoints num_joints getJointId",
    "robot.bodies; robot.frames has the names of all links": "links link_names nbodies num_bodies",
    "robot.frames: a tuple of names": "frame_names nframes getFrameId existFrame",
    "robot.limits, which has lower, upper, velocity and effort": "joint_limits lower_limits upper_limits lower "
    "upper qlim lowerPositionLimit upperPositionLimit",
    "robot.integrate(q, dv)": "plus boxplus step_configuration",
    "robot.difference(q0, q1)": "minus boxminus",
    "robot.kinetic_energy(q, v)": "ke computeKineticEnergy",
    "robot.potential_energy(q)": "pe computePotentialEnergy",
    "robot.kinetic_energy(q, v) + robot.potential_energy(q)": "energy total_energy mechanical_energy",
    "robot.tree, which tasks and algorithms take in place of the robot": "frame outward inward support",
    "mb.load(file)": "load from_urdf buildModelFromUrdf",
    "nothing: calls return their results, and a robot has no state": "data createData state update reset q v",
    "robot.kernel(name).to_c(path)": "to_c export codegen",
    "mb.simulate.Simulator(robot, dt=0.002)(q, v, seconds=1.0)": "step simulate",
    "mb.view.show(robot, q), in the browser, or mb.view.picture(robot, q, 'arm.png')": "plot show draw "
    "display view visualize render",
}
"""Attributes of a robot, by the expression that computes them here."""


def translate(name: object, names: Names) -> str | None:
    """Return the name here, or None if the name is unknown."""
    return next((ours for ours, others in names.items() if name in others.split()), None)


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
    """Metaclass of Robot: it adds the foreign names and leaves them out of `dir`.

    They are descriptors instead of a `__getattr__`, with which every method call takes a third longer.
    """

    def __new__(mcs, name: str, bases: tuple[type, ...], namespace: dict[str, Any]) -> ForeignNames:
        messages = {other: f"it is {ours} here" for ours, others in ROBOT.items() for other in others.split()}
        foreign = {
            other: ForeignName(f"{name} has no {other!r}: {message}")
            for other, message in messages.items()
            if other not in namespace
        }
        return super().__new__(mcs, name, bases, {**foreign, **namespace})

    def __dir__(cls) -> list[str]:
        return [name for name in super().__dir__() if not isinstance(cls.__dict__.get(name), ForeignName)]
