"""Three hinges about y in the x-z plane, on a post.  [RD Ex. 2.8.5]"""

from collections.abc import Sequence

from multibody.model.builder import Builder
from multibody.model.joint import Limits
from multibody.model.joints import Revolute
from multibody.model.robots._construction import BLUE, GREY, ORANGE, WHITE, positive, rod

SUMMARY = "Planar arm with three hinges about y, upright at zero."
SOURCE = "ETH Zurich, Robot Dynamics Lecture Notes, example 2.8.5; the text gives no numbers, all are chosen here."


def build(lengths: Sequence[float] = (1.0, 1.0, 1.0, 1.0), masses: Sequence[float] = (1.0, 1.0, 1.0)) -> Builder:
    """The arm.

    Args:
        lengths: l0 of the post and l1, l2, l3 of the links, in m.
        masses: of the links, homogeneous rods, in kg.
    """
    l0, *links = positive("lengths", lengths, 4)
    masses = positive("masses", masses, 3)
    b = Builder("planar-arm")
    rod(b, "base", [0.0, 0.0, l0], 0.05 * l0, 10.0, GREY)
    parent, height = "base", l0
    for k, (length, mass, color) in enumerate(zip(links, masses, (BLUE, WHITE, ORANGE), strict=True), start=1):
        rod(b, f"link{k}", [0.0, 0.0, length], 0.03 * length, mass, color)
        b.joint(
            f"joint{k}",
            Revolute("y"),
            parent=parent,
            child=f"link{k}",
            placement=[0.0, 0.0, height],
            limits=Limits(-2.8, 2.8, velocity=5.0, effort=100.0),
        )
        parent, height = f"link{k}", length
    b.frame("tool", "link3", [0.0, 0.0, links[-1]])
    b.home = (0.4, 0.7, 0.5)
    return b
