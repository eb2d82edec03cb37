"""The arm for assembly: three hinges about the vertical, then a slider along it.  [RD Ex. 2.8.1]"""

import numpy as np

from multibody.model.builder import Builder
from multibody.model.joint import Limits, Passive
from multibody.model.joints import Prismatic, Revolute
from multibody.model.robots._construction import BLUE, DARK, GREY, WHITE, draw_cylinder, positive
from multibody.model.shapes import Box, Cylinder

SUMMARY = "SCARA arm, q = (alpha, beta, gamma, zeta): three hinges about the vertical and a slider."
SOURCE = "ETH Zurich, Robot Dynamics Lecture Notes, examples 2.8.1 and 2.8.4; dimensions and masses chosen here."


def build(upper: float = 0.35, fore: float = 0.25, height: float = 0.40) -> Builder:
    """The arm; zeta is positive upwards, and zero at the upper end of the stroke of 0.2 m.

    Args:
        upper: from the first axis to the second, in m.
        fore: from the second axis to the third, in m.
        height: of the tool above the ground at zeta = 0, in m.
    """
    (l1,), (l2,), (h,) = positive("upper", upper), positive("fore", fore), positive("height", height)
    b = Builder("scara")
    b.body("base", shape=Cylinder(0.07, h), pose=[0.0, 0.0, h / 2], mass=12.0, color=GREY)
    b.body("upper-arm", shape=Box([l1 + 0.1, 0.12, 0.08]), pose=[l1 / 2, 0.0, 0.04], mass=5.0, color=BLUE)
    b.body("forearm", shape=Box([l2 + 0.1, 0.10, 0.10]), pose=[l2 / 2, 0.0, 0.05], mass=4.0, color=WHITE)
    b.body("spindle", shape=Cylinder(0.03, 0.06), pose=[0.0, 0.0, 0.05], mass=0.5, color=DARK)
    b.body("quill", shape=Cylinder(0.01, 0.36), pose=[0.0, 0.0, 0.18], mass=0.8, color=GREY)
    draw_cylinder(b, "upper-arm", [l1, 0.0, 0.0], [l1, 0.0, 0.08], 0.06, DARK)
    hinge = Limits(-2.6, 2.6, velocity=8.0, effort=100.0)
    b.joint("alpha", Revolute("z"), parent="base", child="upper-arm", placement=[0.0, 0.0, h], limits=hinge)
    b.joint("beta", Revolute("z"), parent="upper-arm", child="forearm", placement=[l1, 0.0, 0.08], limits=hinge)
    b.joint(
        "gamma",
        Revolute("z"),
        parent="forearm",
        child="spindle",
        placement=[l2, 0.0, -0.08],
        limits=Limits(-2 * np.pi, 2 * np.pi, velocity=20.0, effort=10.0),
    )
    b.joint(
        "zeta",
        Prismatic("z"),
        parent="spindle",
        child="quill",
        limits=Limits(-0.2, 0.0, velocity=1.0, effort=200.0),
        passive=Passive(damping=5.0),
    )
    b.frame("tool", "quill")
    b.home = (0.4, 0.9, 0.0, -0.05)
    return b
