"""Two rods on hinges."""

from collections.abc import Sequence

from multibody.model.builder import Builder
from multibody.model.joints import Continuous
from multibody.model.robots._construction import BLUE, GREY, ORANGE, positive, rod
from multibody.model.shapes import Sphere

SUMMARY = "Two hinged rods that hang under gravity."
SOURCE = "textbook system; lengths and masses chosen here."


def build(lengths: Sequence[float] = (1.0, 1.0), masses: Sequence[float] = (1.0, 1.0)) -> Builder:
    """The pendulum in the x-z plane, without motors; q = [angle from the vertical, angle between the rods].

    Args:
        lengths: of the rods, in m.
        masses: of the rods, homogeneous and thin (their radius is a fiftieth of the length), in kg.
    """
    l1, l2 = positive("lengths", lengths, 2)
    m1, m2 = positive("masses", masses, 2)
    b = Builder("double-pendulum")
    b.body("base", shape=Sphere(0.04 * l1), color=GREY)
    rod(b, "upper", [0.0, 0.0, -l1], 0.02 * l1, m1, BLUE)
    rod(b, "lower", [0.0, 0.0, -l2], 0.02 * l2, m2, ORANGE)
    b.joint("shoulder", Continuous("-y"), parent="base", child="upper")
    b.joint("elbow", Continuous("-y"), parent="upper", child="lower", placement=[0.0, 0.0, -l1])
    b.frame("tip", "lower", [0.0, 0.0, -l2]).unactuated()
    b.home = (2.0, 0.5)
    return b
