"""Four links, of which two hang on the second, with seven hinges and no other joints.  [QT 52, 64, §5.1]"""

from multibody.derive.system.from_robot import from_robot
from multibody.derive.system.system import System
from multibody.geometry import SpatialInertia
from multibody.model.builder import Builder
from multibody.model.joints import Revolute, Universal
from multibody.robot import Robot


def branching_hinges() -> System:
    """The figure with numbers: n(1) = 2, n(2) = 3, n(3) = n(4) = 1, p(2) = 1, p(3) = p(4) = 2.  [QT 64]

    Joint 2 is three rotations about x, y and z [QT 52]; links 3 and 4 are light rods with a mass at their ends.
    """
    b = Builder("branching-hinges")
    for k, (mass, com, moments) in enumerate(
        [
            (3.0, [0.0, 0.0, 0.25], [0.06, 0.06, 0.01]),
            (2.0, [0.0, 0.0, 0.2], [0.03, 0.03, 0.01]),
            (1.0, [0.3, 0.0, 0.0], [0.0, 0.0, 0.0]),
            (1.0, [-0.3, 0.0, 0.0], [0.0, 0.0, 0.0]),
        ],
        start=1,
    ):
        inertia = [[moments[0], 0.0, 0.0], [0.0, moments[1], 0.0], [0.0, 0.0, moments[2]]]
        b.body(f"link{k}", SpatialInertia(mass=mass, com=com, inertia=inertia))
    b.body("link2x").body("link2y")
    b.joint("joint1", Universal("x", "y"), parent=None, child="link1")
    b.joint("joint2x", Revolute("x"), parent="link1", child="link2x", placement=[0.0, 0.0, 0.5])
    b.joint("joint2y", Revolute("y"), parent="link2x", child="link2y")
    b.joint("joint2z", Revolute("z"), parent="link2y", child="link2")
    b.joint("joint3", Revolute("y"), parent="link2", child="link3", placement=[0.0, 0.0, 0.4])
    b.joint("joint4", Revolute("z"), parent="link2", child="link4", placement=[0.0, 0.0, 0.4])
    names = ("q_11", "q_12", "q_21", "q_22", "q_23", "q_3", "q_4")
    return from_robot(Robot(b.model()), coordinates=names)
