"""Words of other libraries for what a robot has: asking for one of them says ours.

They are descriptors of the class, and no `__getattr__`, with which every call of a method takes a third longer; `dir`,
`help` and `hasattr` do not know them.
"""

from __future__ import annotations

from typing import Any, Never

WORDS: dict[str, tuple[str, ...]] = {
    "robot.inverse_dynamics(q, v, a)": ("rnea", "RNEA", "id", "calc_inverse_dynamics", "rne"),
    "robot.forward_dynamics(q, v, tau)": ("aba", "ABA", "fd", "accel", "calc_forward_dynamics"),
    "robot.mass_matrix(q)": ("crba", "CRBA", "M", "inertia", "inertia_matrix", "massMatrix", "calc_mass_matrix"),
    "robot.bias(q, v)": ("nle", "h", "c", "nonLinearEffects", "nonlinear_effects", "bias_forces", "qfrc_bias"),
    "robot.gravity(q)": (
        "g",
        "G",
        "gravload",
        "gravity_vector",
        "computeGeneralizedGravity",
        "gravity_torque",
        "gravity_compensation",
    ),
    "robot.coriolis(q, v)": ("C", "coriolis_matrix", "computeCoriolisMatrix"),
    "robot.pose(frame, q), robot.poses(q) for all frames": (
        "forward_kinematics",
        "forwardKinematics",
        "fk",
        "fkine",
        "framesForwardKinematics",
        "kinematics",
        "placement",
        "transform",
        "get_frame_pose",
    ),
    "robot.inverse_kinematics(frame, target)": ("ik", "IK", "ikine", "solve_ik"),
    "robot.jacobian(frame, q)": (
        "J",
        "jac",
        "jacob0",
        "jacobe",
        "frame_jacobian",
        "computeFrameJacobian",
        "getFrameJacobian",
        "computeJointJacobians",
        "geometric_jacobian",
    ),
    "robot.jacobian_dot(frame, q, v)": ("dJ", "jacobian_derivative", "jacobian_time_derivative", "jacob0_dot"),
    "robot.center_of_mass(q)": ("com", "centerOfMass", "centre_of_mass", "com_position"),
    "robot.com_jacobian(q)": ("jacobianCenterOfMass", "center_of_mass_jacobian", "jacobian_com"),
    "robot.com_velocity(q, v)": ("vcom", "center_of_mass_velocity"),
    "robot.centroidal_momentum(q, v)": ("hg", "computeCentroidalMomentum"),
    "robot.centroidal_momentum_matrix(q)": ("Ag", "cmm", "ccrba", "computeCentroidalMap"),
    "robot.inverse_dynamics_derivatives(q, v, a)": ("rnea_derivatives", "computeRNEADerivatives"),
    "robot.forward_dynamics_derivatives(q, v, tau)": ("aba_derivatives", "computeABADerivatives"),
    "robot.constrained_dynamics(constraints, q, v, tau)": ("constraintDynamics", "contact_dynamics"),
    "robot.regressor(q, v, a)": ("computeJointTorqueRegressor", "joint_torque_regressor"),
    "robot.neutral()": ("zero", "zeros", "q0", "qz", "neutral_configuration", "zero_configuration"),
    "robot.random(rng)": ("random_configuration", "randomConfiguration", "sample", "random_q"),
    "robot.nv, the number of velocities, and robot.nq, that of coordinates": ("dof", "ndof", "dofs", "n", "num_dofs"),
    "robot.joints: [joint.name for joint in robot.joints]": (
        "joint_names",
        "names",
        "njoints",
        "num_joints",
        "getJointId",
    ),
    "robot.bodies; robot.frames has the names of all links": ("links", "link_names", "nbodies", "num_bodies"),
    "robot.frames: a tuple of names": ("frame_names", "nframes", "getFrameId", "existFrame"),
    "robot.limits, which has lower, upper, velocity and effort": (
        "joint_limits",
        "lower_limits",
        "upper_limits",
        "lower",
        "upper",
        "qlim",
        "lowerPositionLimit",
        "upperPositionLimit",
    ),
    "robot.integrate(q, dv)": ("plus", "boxplus", "step_configuration"),
    "robot.difference(q0, q1)": ("minus", "boxminus"),
    "robot.kinetic_energy(q, v)": ("ke", "computeKineticEnergy"),
    "robot.potential_energy(q)": ("pe", "computePotentialEnergy"),
    "robot.kinetic_energy(q, v) + robot.potential_energy(q)": ("energy", "total_energy", "mechanical_energy"),
    "robot.tree, which tasks and algorithms take in place of the robot": ("frame", "outward", "inward", "support"),
    "mb.load(file)": ("load", "from_urdf", "buildModelFromUrdf"),
    "nothing: calls return their results, and a robot has no state": (
        "data",
        "createData",
        "state",
        "update",
        "reset",
        "q",
        "v",
    ),
    "robot.kernel(name).to_c(path)": ("to_c", "export", "codegen"),
}
"""By what it is here, in the words of a message."""


class Word:
    """A name that the robot does not have, and the word for what was meant."""

    __slots__ = ("message",)

    def __init__(self, message: str) -> None:
        self.message = message

    def __get__(self, robot: Any, owner: type) -> Never:
        # with a name of its own, Python suggests no other
        raise AttributeError(self.message, name="")


class Answering(type):
    """A class that answers words of other libraries with its own, and does not list them."""

    def __new__(mcs, name: str, bases: tuple[type, ...], namespace: dict[str, Any]) -> Answering:
        words = {word: Word(message) for word, message in _messages(name).items() if word not in namespace}
        return super().__new__(mcs, name, bases, {**words, **namespace})

    def __dir__(cls) -> list[str]:
        return [name for name in super().__dir__() if not isinstance(cls.__dict__.get(name), Word)]


def meant(word: object) -> str | None:
    """The name of the method that others call by a word."""
    ours = next((ours for ours, words in WORDS.items() if word in words), "")
    return ours.removeprefix("robot.").partition("(")[0] if ours.startswith("robot.") and "(" in ours else None


def _messages(owner: str) -> dict[str, str]:
    said = {word: f"it is {ours} here" for ours, words in WORDS.items() for word in words}
    said |= dict.fromkeys(("step", "simulate"), "mb.simulate.Simulator(robot, dt=0.002)(q, v, seconds=1.0) does that")
    drawing = "mb.view.show(robot, q) opens it in the browser, mb.view.picture(robot, q, 'robot.png') draws it"
    said |= dict.fromkeys(("plot", "show", "draw", "display", "view", "visualize", "render"), drawing)
    return {word: f"{owner} has no {word!r}: {message}" for word, message in said.items()}
