"""What the arrays of a kernel are: the entries of its inputs with their units, and the names of its results."""

from multibody.cli._tables import names_of, velocity_names
from multibody.compiler.kernel import Kernel
from multibody.model.joint import Joint
from multibody.robot import Robot
from multibody.robot.inputs import WRENCH

OUTPUTS = {
    "pose": ("the rotation from the frame to the world", "the position in the world, in m"),
    "poses": ("the rotations of all frames, in the order of robot.frames", "their positions, in m"),
    "velocity": ("the twist: m/s, then rad/s",),
    "jacobian": ("rows vx vy vz wx wy wz, columns along v",),
    "inverse_dynamics": ("the generalized forces tau along v, in N m and N",),
    "forward_dynamics": ("the accelerations along v",),
    "mass_matrix": ("M, rows and columns along v",),
    "bias": ("h of M a + h = tau, along v",),
    "gravity": ("along v",),
    "coriolis": ("C of C v, rows and columns along v",),
    "inverse_dynamics_derivatives": ("d tau / d q, along velocities", "d tau / d v", "d tau / d a: M"),
    "forward_dynamics_derivatives": ("d a / d q, along velocities", "d a / d v", "d a / d tau: the inverse of M"),
    "center_of_mass": ("in the world, in m",),
    "kinetic_energy": ("in J",),
    "potential_energy": ("in J",),
}
"""The results of the quantities that are exported most, in their order."""
OVER_VELOCITIES = {
    "a": "accelerations, as v and per second",
    "tau": "generalized forces, in the order of v, in N m and N",
}
PARAMETERS = {
    "masses": "in kg, of",
    "inertias": "mass, mass times centre, Ixx, Ixy, Iyy, Ixz, Iyz, Izz about its origin, in its frame, of each body:",
}


def inputs_of(robot: Robot, kernel: Kernel) -> list[str]:
    """What each input of a kernel of a robot is."""
    return [_input(robot, spec.name) for spec in kernel.signature.inputs]


def outputs_of(quantity: str, count: int) -> tuple[str, ...]:
    """What each result of a quantity is, where that is known."""
    known = OUTPUTS.get(quantity, ())
    return known if len(known) == count else ("",) * count


def _input(robot: Robot, name: str) -> str:
    if name in ("q", "q0", "q1"):
        return "coordinates: " + ", ".join(coordinate_names(robot))
    if name == "v":
        base = f'; the base as velocity="{robot.model.velocity}" has it' if robot.tree.bases else ""
        return "velocities, per second: " + ", ".join(velocity_names(robot)).replace("ω", "w") + base
    if name.startswith(WRENCH):
        return "force, then moment about the origin of the frame, along the axes of the world, in N and N m"
    if name in PARAMETERS:
        return f"{PARAMETERS[name]} " + ", ".join(body.name for body in robot.bodies)
    return OVER_VELOCITIES.get(name, "in m/s^2" if name == "gravity" else "")


def coordinate_names(robot: Robot) -> list[str]:
    """A name for each coordinate: the joint's, with the part of it where it has several, and its unit."""
    return names_of(robot, robot.nq, lambda joint: (joint.q, _parts(joint)))


def _parts(joint: Joint) -> list[str]:
    kind = joint.kind
    if kind.nq == 1:
        return [f"{joint.name} [{kind.units[0]}]"]
    parts = [f"{k} [{unit}]" for k, unit in enumerate(kind.units)]
    if kind.units[:3] == ("m", "m", "m"):
        parts[:3] = [f"{axis} [m]" for axis in "xyz"]
    if kind.quaternion is not None:
        parts[kind.quaternion] = ["qw", "qx", "qy", "qz"]
    return [f"{joint.name} {part}" for part in parts]
