"""A flying robot with four rotors: the AscTec Hummingbird."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multibody.model.builder import BASE, Builder
from multibody.model.joints import Fixed, Floating
from multibody.model.model import Model
from multibody.model.robots._construction import DARK, GLASS, ORANGE, WHITE, draw_cylinder, solid
from multibody.model.shapes import Box, Cylinder

SUMMARY = "AscTec Hummingbird: one floating body with four rotors, given as frames and data."
SOURCE = (
    "Furrer, Burri, Achtelik & Siegwart, RotorS, a modular Gazebo MAV simulator framework (2016), and its "
    "parameters of the Hummingbird; the blades are taken as bars of 0.2 x 0.015 x 0.003 m."
)

ARM = 0.17
"""From the centre to a rotor, in m."""
_ROTOR_HEIGHT, _ROTOR_RADIUS, _ROTOR_MASS = 0.01, 0.1, 0.009


@dataclass(frozen=True)
class Rotor:
    """A rotor that pushes along z of its frame."""

    frame: str
    direction: int
    """1 when it turns about +z of its frame, -1 about -z."""
    thrust_constant: float = 8.54858e-6
    """Thrust is this times the speed squared, in N s²/rad²."""
    moment_constant: float = 0.016
    """The drag torque on the robot is this times the thrust, against the direction, in m."""
    max_speed: float = 838.0
    """In rad/s."""

    def speed(self, thrust: float) -> float:
        """The speed, in rad/s, at which the rotor gives a thrust in N.

        >>> ROTORS[0].speed(0.0)
        0.0
        """
        return math.sqrt(thrust / self.thrust_constant)

    @property
    def max_thrust(self) -> float:
        """The thrust at full speed, in N."""
        return self.thrust_constant * self.max_speed**2


ROTORS = (Rotor("rotor-front", -1), Rotor("rotor-left", 1), Rotor("rotor-back", -1), Rotor("rotor-right", 1))


def build() -> Builder:
    """The robot; x points to the front rotor, y to the left one. It has no motors in joints: see `allocation`."""
    b = Builder("quadrotor")
    b.body("body", solid(0.68, (0.0, 0.0, 0.0), (0.007, 0.007, 0.012)))
    b.shape("body", Cylinder(0.05, 0.06), color=WHITE)
    b.joint(BASE, Floating(), parent=None, child="body")
    for k, rotor in enumerate(ROTORS):
        angle = k * math.pi / 2
        hub = np.round([ARM * math.cos(angle), ARM * math.sin(angle), _ROTOR_HEIGHT], 12)
        draw_cylinder(b, "body", [0.0, 0.0, 0.0], [*hub[:2], 0.0], 0.008, ORANGE if k == 0 else DARK)
        b.body(rotor.frame, shape=Box([2 * _ROTOR_RADIUS, 0.015, 0.003]), mass=_ROTOR_MASS, color=DARK)
        b.shape(rotor.frame, Cylinder(_ROTOR_RADIUS, 0.002), color=GLASS, collision=False)
        b.joint(f"{rotor.frame}-mount", Fixed(), parent="body", child=rotor.frame, placement=hub)
    b.unactuated()
    b.home = (0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0)
    return b


def allocation(model: Model, rotors: tuple[Rotor, ...] = ROTORS) -> NDArray[Any]:
    """(6, n): the wrench on the body, at its origin and along its axes, is this times the thrusts of the n rotors.

    Args:
        model: with the frames of the rotors, all on one body.
        rotors: their data.
    """
    columns = []
    for rotor in rotors:
        pose = model.tree.frame(rotor.frame)[1]
        axis = pose.rotation.matrix[:, 2]
        torque = np.cross(pose.position, axis) - rotor.direction * rotor.moment_constant * axis
        columns.append(np.concatenate([axis, torque]))
    return np.stack(columns, axis=1)
