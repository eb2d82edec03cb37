"""Four links, of which two hang on the second.  [QT §5.1]"""

import math

from multibody.model.builder import Builder
from multibody.model.joint import Limits
from multibody.model.joints import Revolute, Spherical, Universal
from multibody.model.robots._construction import BLUE, GREEN, ORANGE, WHITE, rod

SUMMARY = "Tree of four links with joints of 2, 3, 1 and 1 degrees of freedom: p(2) = 1, p(3) = p(4) = 2."
SOURCE = "Liu & Jain, A Quick Tutorial on Multibody Dynamics, figure 1 and section 5.1; dimensions chosen here."


def build() -> Builder:
    """The figure; link 1 hangs on the world by two hinges about x and y, link 2 by a ball, links 3 and 4 by hinges."""
    hinge = Limits(-math.pi / 2, math.pi / 2)
    b = Builder("branching-figure")
    rod(b, "link1", [0.0, 0.0, 0.5], 0.04, 3.0, BLUE)
    rod(b, "link2", [0.0, 0.0, 0.4], 0.04, 2.0, WHITE)
    rod(b, "link3", [0.3, 0.0, 0.2], 0.03, 1.0, ORANGE)
    rod(b, "link4", [-0.3, 0.0, 0.2], 0.03, 1.0, GREEN)
    b.joint("joint1", Universal("x", "y"), parent=None, child="link1", limits=hinge)
    b.joint("joint2", Spherical(), parent="link1", child="link2", placement=[0.0, 0.0, 0.5])
    b.joint("joint3", Revolute("y"), parent="link2", child="link3", placement=[0.0, 0.0, 0.4], limits=hinge)
    b.joint("joint4", Revolute("z"), parent="link2", child="link4", placement=[0.0, 0.0, 0.4], limits=hinge)
    return b.frame("tip3", "link3", [0.3, 0.0, 0.2]).frame("tip4", "link4", [-0.3, 0.0, 0.2])
