"""The Unimation PUMA 560: six hinges, the last three in one point."""

import math

from multibody.geometry import Pose
from multibody.model.builder import Builder
from multibody.model.denavit_hartenberg import about
from multibody.model.joint import Limits, Passive
from multibody.model.joints import Revolute
from multibody.model.robots._construction import DARK, GREY, WHITE, draw_capsule, draw_cylinder, solid
from multibody.model.shapes import Sphere

SUMMARY = "Unimation PUMA 560, a 6R arm with a spherical wrist, with its motors, gears and friction."
SOURCE = (
    "Armstrong, Khatib & Burdick, The explicit dynamic model and inertial parameters of the PUMA 560 arm (ICRA 1986); "
    "Corke & Armstrong-Hélouvry, A search for consensus among model parameters reported for the PUMA 560 (ICRA 1994). "
    "Chosen here: mass and cross moments of link 1 (only 0.35 kg m² about its axis is published, and nothing else "
    "matters on a fixed base); Ixx of link 3 raised from 0.066 to 0.0736 kg m², because the published moments break "
    "the triangle inequality."
)

# Classical Denavit-Hartenberg parameters d (m), a (m), alpha (quarter turns).
_GEOMETRY = (
    (0.672, 0.0, 1),
    (0.0, 0.4318, 0),
    (0.15005, 0.0203, -1),
    (0.4318, 0.0, 1),
    (0.0, 0.0, -1),
    (0.0, 0.0, 0),
)
# Mass (kg), centre of mass (m) and moments about it (kg m²) in the Denavit-Hartenberg frame at the end of the link.
_INERTIAS = (
    (13.0, (0.0, 0.0, 0.0), (0.5, 0.35, 0.5)),
    (17.4, (-0.3638, 0.006, 0.2275), (0.13, 0.524, 0.539)),
    (4.8, (-0.0203, -0.0141, 0.070), (0.0736, 0.086, 0.0125)),
    (0.82, (0.0, 0.019, 0.0), (1.8e-3, 1.3e-3, 1.8e-3)),
    (0.34, (0.0, 0.0, 0.0), (0.3e-3, 0.4e-3, 0.3e-3)),
    (0.09, (0.0, 0.0, 0.032), (0.15e-3, 0.15e-3, 0.04e-3)),
)
# Gear, rotor inertia (kg m²), and at the motor viscous (N m s/rad) and mean dry friction (N m).
_DRIVES = (
    (-62.6111, 200e-6, 1.48e-3, 0.415),
    (107.815, 200e-6, 0.817e-3, 0.0985),
    (-53.7063, 200e-6, 1.38e-3, 0.1185),
    (76.0364, 33e-6, 71.2e-6, 0.01405),
    (71.923, 33e-6, 82.6e-6, 0.01188),
    (76.686, 33e-6, 36.7e-6, 0.00723),
)
# Least and largest angle (degrees), largest torque of the joint (N m).
_LIMITS = (
    (-160, 160, 97.6),
    (-45, 225, 186.4),
    (-225, 45, 89.4),
    (-110, 170, 24.2),
    (-100, 100, 20.1),
    (-266, 266, 21.3),
)
_FLANGE = 0.05625


def build() -> Builder:
    """The arm. At zero the upper arm lies along x and the forearm points up; home is the table-top pose of Corke."""
    b = Builder("puma-560")
    b.body("base")
    draw_cylinder(b, "base", [0.0, 0.0, 0.0], [0.0, 0.0, 0.55], 0.09, GREY)
    parent, parent_H_joint = "base", Pose.identity()
    rows = zip(_GEOMETRY, _INERTIAS, _DRIVES, _LIMITS, strict=True)
    for k, ((d, a, quarters), inertia, (gear, rotor, viscous, dry), (low, high, torque)) in enumerate(rows, start=1):
        link, joint = f"link{k}", f"joint{k}"
        end = about("z", 0.0, d) @ about("x", quarters * math.pi / 2, a)
        b.body(link, end @ solid(*inertia))
        b.joint(
            joint,
            Revolute("z"),
            parent=parent,
            child=link,
            placement=parent_H_joint,
            limits=Limits(math.radians(low), math.radians(high), effort=torque),
            passive=Passive(damping=gear**2 * viscous, friction=abs(gear) * dry),
        )
        b.actuator(f"motor{k}", joint, gear=gear, rotor_inertia=rotor, effort=torque / abs(gear))
        parent, parent_H_joint = link, end
    b.frame("wrist", "link6").frame("tool", "link6", [0.0, 0.0, _FLANGE])
    _draw(b)
    b.home = (0.0, math.pi / 4, -math.pi, 0.0, math.pi / 4, 0.0)
    return b


def _draw(b: Builder) -> None:
    draw_cylinder(b, "link1", [0.0, 0.0, 0.55], [0.0, 0.0, 0.74], 0.1, WHITE)
    draw_cylinder(b, "link1", [0.0, 0.0, 0.672], [0.0, -0.16, 0.672], 0.08, WHITE)
    draw_capsule(b, "link2", [-0.12, 0.0, 0.2], [0.4318, 0.0, 0.2], 0.07, WHITE)
    draw_cylinder(b, "link3", [0.0, 0.0, 0.08], [0.0, 0.0, 0.2], 0.06, DARK)
    draw_capsule(b, "link3", [0.0203, -0.05, 0.15005], [0.0203, 0.36, 0.15005], 0.05, WHITE)
    draw_cylinder(b, "link4", [0.0, 0.0, 0.36], [0.0, 0.0, 0.41], 0.045, GREY)
    b.shape("link5", Sphere(0.045), color=DARK)
    draw_cylinder(b, "link6", [0.0, 0.0, 0.03], [0.0, 0.0, _FLANGE], 0.025, GREY)
