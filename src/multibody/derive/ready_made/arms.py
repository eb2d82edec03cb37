"""Arms in a plane and for assembly, and a tree of hinges."""

from multibody.derive.ready_made._parts import embedded
from multibody.derive.system.from_robot import from_robot
from multibody.derive.system.symbols import symbols
from multibody.derive.system.system import System
from multibody.geometry import SpatialInertia
from multibody.model.builder import Builder
from multibody.model.joints import Revolute, Universal
from multibody.robot import Robot


def planar_3r() -> System:
    """Three links in a plane, with lengths, centres of mass, masses and inertias as symbols.  [RD Ex. 2.8.5]

    q = the angles between the links; the arm is upright at zero, on a post of the height l_0.
    """
    m, c, l = symbols("m_1 m_2 m_3"), symbols("c_1 c_2 c_3"), symbols("l_0 l_1 l_2")
    moments, (g,) = symbols("I_1 I_2 I_3"), symbols("g")
    numbers = {
        f"link{k + 1}": {
            "mass": m[k],
            "center": (0, 0, c[k]),
            "inertia": (0, moments[k], 0),
            "position": (0, 0, l[k]),
        }
        for k in range(3)
    }
    return from_robot(embedded("planar-arm"), numbers, name="planar-3r", gravity=(0, 0, -g))


def scara() -> System:
    """An arm for assembly: three hinges about the vertical, then a slider along it.  [RD Ex. 2.8.1]

    q = [alpha, beta, gamma, zeta], zeta positive upwards.
    """
    m_1, m_2, m_3, m_4, c_1, c_2 = symbols("m_1 m_2 m_3 m_4 c_1 c_2")
    I_1, I_2, I_3, I_4, l_1, l_2, h, g = symbols("I_1 I_2 I_3 I_4 l_1 l_2 h g")
    numbers = {
        "upper-arm": {"mass": m_1, "center": (c_1, 0, 0), "inertia": (0, 0, I_1), "position": (0, 0, h)},
        "forearm": {"mass": m_2, "center": (c_2, 0, 0), "inertia": (0, 0, I_2), "position": (l_1, 0, 0)},
        "spindle": {"mass": m_3, "center": (0, 0, 0), "inertia": (0, 0, I_3), "position": (l_2, 0, 0)},
        "quill": {"mass": m_4, "center": (0, 0, 0), "inertia": (0, 0, I_4)},
    }
    names = ("alpha", "beta", "gamma", "zeta")
    return from_robot(embedded("scara"), numbers, coordinates=names, gravity=(0, 0, -g))


def branching_hinges() -> System:
    """Four links, of which two hang on the second, with seven hinges and no other joints.  [QT 52, 64, §5.1]

    The figure with numbers: n(1) = 2, n(2) = 3, n(3) = n(4) = 1, p(2) = 1, p(3) = p(4) = 2.  [QT 64]

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
