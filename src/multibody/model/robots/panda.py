"""The Franka Emika Panda: seven hinges."""

import math

from multibody.model.builder import Builder
from multibody.model.denavit_hartenberg import about
from multibody.model.joint import Limits
from multibody.model.joints import Revolute
from multibody.model.robots._construction import DARK, WHITE, draw_capsule, draw_cylinder, solid

SUMMARY = "Franka Emika Panda, a 7-joint arm without its hand."
SOURCE = (
    "dimensions and limits: Franka Control Interface documentation; inertias: Gaz, Cognetti, Oliva, Robuffo Giordano "
    "& De Luca, Dynamic identification of the Franka Emika Panda robot with retrieval of feasible parameters using "
    "penalty-based optimization (RA-L 2019): they reproduce the torques, and are not the true masses of the links. "
    "Shapes chosen here."
)

# Modified Denavit-Hartenberg parameters a (m), d (m), alpha (quarter turns) of each joint.
_GEOMETRY = (
    (0.0, 0.333, 0),
    (0.0, 0.0, -1),
    (0.0, 0.316, 1),
    (0.0825, 0.0, 1),
    (-0.0825, 0.384, -1),
    (0.0, 0.0, 1),
    (0.088, 0.0, 1),
)
# Least and largest angle (rad), speed (rad/s), torque (N m).
_LIMITS = (
    (-2.8973, 2.8973, 2.175, 87.0),
    (-1.7628, 1.7628, 2.175, 87.0),
    (-2.8973, 2.8973, 2.175, 87.0),
    (-3.0718, -0.0698, 2.175, 87.0),
    (-2.8973, 2.8973, 2.610, 12.0),
    (-0.0175, 3.7525, 2.610, 12.0),
    (-2.8973, 2.8973, 2.610, 12.0),
)
# Mass (kg), centre of mass (m), and xx, yy, zz, xy, xz, yz about it (kg m²), in the frame of the link.
_INERTIAS = (
    (4.970684, (3.875e-3, 2.081e-3, -0.04762), (0.70337, 0.70661, 9.117e-3, -1.39e-4, 6.772e-3, 0.019169)),
    (0.646926, (-3.141e-3, -0.02872, 3.495e-3), (7.962e-3, 0.02811, 0.025995, -3.925e-3, 0.010254, 7.04e-4)),
    (3.228604, (0.027518, 0.039252, -0.066502), (0.037242, 0.036155, 0.01083, -4.761e-3, -0.011396, -0.012805)),
    (3.587895, (-0.05317, 0.104419, 0.027454), (0.025853, 0.019552, 0.028323, 7.796e-3, -1.332e-3, 8.641e-3)),
    (1.225946, (-0.011953, 0.041065, -0.038437), (0.035549, 0.029474, 8.627e-3, -2.117e-3, -4.037e-3, 2.29e-4)),
    (1.666555, (0.060149, -0.014117, -0.010517), (1.964e-3, 4.354e-3, 5.433e-3, 1.09e-4, -1.158e-3, 3.41e-4)),
    (0.735522, (0.010517, -4.252e-3, 0.061597), (0.012516, 0.010027, 4.815e-3, -4.28e-4, -1.196e-3, -7.41e-4)),
)
_FLANGE = 0.107
# Per link: start and end of a capsule, and its radius.
_CAPSULES = (
    ((0.0, 0.0, -0.19), (0.0, 0.0, 0.0), 0.06),
    ((0.0, 0.0, 0.0), (0.0, -0.18, 0.0), 0.06),
    ((0.0, 0.0, -0.12), (0.0825, 0.0, -0.02), 0.055),
    ((0.0, 0.0, 0.0), (-0.0825, 0.12, 0.0), 0.055),
    ((0.0, 0.0, -0.24), (0.0, 0.06, -0.02), 0.05),
    ((0.0, 0.0, 0.0), (0.088, 0.0, 0.0), 0.05),
    ((0.0, 0.0, 0.0), (0.0, 0.0, 0.06), 0.045),
)


def build() -> Builder:
    """The arm; `tool` is the frame of the flange. Zero is outside of the limits of joint 4."""
    b = Builder("panda")
    b.body("link0")
    draw_capsule(b, "link0", [-0.08, 0.0, 0.06], [0.0, 0.0, 0.06], 0.06, DARK)
    rows = zip(_GEOMETRY, _LIMITS, _INERTIAS, _CAPSULES, strict=True)
    for k, ((a, d, quarters), limits, inertia, (start, end, radius)) in enumerate(rows, start=1):
        b.body(f"link{k}", solid(*inertia))
        draw_capsule(b, f"link{k}", start, end, radius, WHITE)
        b.joint(
            f"joint{k}",
            Revolute("z"),
            parent=f"link{k - 1}",
            child=f"link{k}",
            placement=about("x", quarters * math.pi / 2, a) @ about("z", 0.0, d),
            limits=Limits(*limits),
        )
    draw_cylinder(b, "link7", [0.0, 0.0, 0.08], [0.0, 0.0, _FLANGE], 0.035, DARK)
    b.frame("tool", "link7", [0.0, 0.0, _FLANGE])
    b.home = (0.0, -math.pi / 4, 0.0, -3 * math.pi / 4, 0.0, math.pi / 2, math.pi / 4)
    return b
