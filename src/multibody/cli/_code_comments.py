"""Comments of exported code: the inputs of a kernel with their entries and units, and its results."""

import textwrap

from multibody.cli._tables import names_of, velocity_names
from multibody.compiler.export.to_c import CSource
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
WIDTH = 118
"""The columns of a line."""
PARAMETERS = {
    "masses": "in kg, of",
    "inertias": "mass, mass times centre, Ixx, Ixy, Iyy, Ixz, Iyz, Izz about its origin, in its frame, of each body:",
}


def describe(robot: Robot, kernel: Kernel, quantity: str, frame: str | None, options: dict[str, str]) -> list[str]:
    """Return lines on the quantity, and on the inputs and outputs of its code in their order."""
    of = f" of the frame {frame}" if frame is not None else ""
    how = "".join(f", {option} {value}" for option, value in options.items())
    lines = [f"{quantity}{of} of the robot {robot.name}{how}: nq = {robot.nq}, nv = {robot.nv}. Arrays row by row."]
    shapes = [(x.name, x.shape, _input(robot, x.name)) for x in kernel.signature.inputs]
    lines += ["Inputs:", *_entries(shapes)]
    outputs = kernel.signature.outputs
    known = OUTPUTS.get(quantity, ())
    meanings = known if len(known) == len(outputs) else ("",) * len(outputs)
    results = [(f"y{k}", shape, text) for k, (shape, text) in enumerate(zip(outputs, meanings, strict=True))]
    return [*lines, "Outputs:", *_entries(results)]


def with_comment(code: CSource, about: list[str]) -> CSource:
    """Return code and header with lines as a comment at their beginning."""
    comment = "".join(f" * {line}".rstrip() + "\n" for line in about).replace("*/", "* /")
    return CSource(*(f"/*\n{comment} */\n{text}" for text in code))


def _entries(arrays: list[tuple[str, tuple[int, ...], str]]) -> list[str]:
    lines = []
    for name, shape, meaning in arrays:
        text = f"{name}{''.join(f'[{n}]' for n in shape)}" + (f": {meaning}" if meaning else "")
        lines += textwrap.wrap(text, WIDTH, initial_indent="  ", subsequent_indent="      ", break_on_hyphens=False)
    return lines


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
