"""Three hinges in one point, about z, y and x, as in RD's example 2.9.7."""

import math

from multibody.model.builder import Builder
from multibody.model.joint import Limits
from multibody.model.joints import Revolute
from multibody.model.robots._construction import BLUE, GREY, ORANGE, WHITE, positive, rod
from multibody.model.shapes import Box, Cylinder

SUMMARY = "Wrist with hinges about z, y and x, whose angles are the Euler angles ZYX of the tool."
SOURCE = "ETH Zurich, Robot Dynamics Lecture Notes, example 2.9.7; dimensions and masses chosen here."


def build(length: float = 0.1) -> Builder:
    """The wrist; its centre is the origin, and the tool lies on its x axis. Home is the start of the example.

    Args:
        length: from the centre to the tool, in m.
    """
    (length,) = positive("length", length)
    b = Builder("zyx-wrist")
    b.body("base", shape=Cylinder(0.04, 0.1), pose=[0.0, 0.0, -0.075], mass=1.0, color=GREY)
    b.body("yaw", shape=Cylinder(0.035, 0.05), mass=0.4, color=BLUE)
    b.body("pitch", shape=Box([0.05, 0.10, 0.05]), mass=0.3, color=WHITE)
    rod(b, "roll", [length, 0.0, 0.0], 0.015, 0.2, ORANGE)
    parent = "base"
    for child, axis in (("yaw", "z"), ("pitch", "y"), ("roll", "x")):
        b.joint(
            child,
            Revolute(axis),
            parent=parent,
            child=child,
            limits=Limits(-math.pi, math.pi, velocity=10.0, effort=10.0),
        )
        parent = child
    b.frame("tool", "roll", [length, 0.0, 0.0])
    b.home = (-0.7, 0.0, 1.5)
    return b
