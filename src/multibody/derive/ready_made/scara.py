"""An arm for assembly: three hinges about the vertical, then a slider along it.  [RD Ex. 2.8.1]"""

from multibody.derive.ready_made._parts import embedded
from multibody.derive.system.from_robot import from_robot
from multibody.derive.system.symbols import symbols
from multibody.derive.system.system import System


def scara() -> System:
    """q = [alpha, beta, gamma, zeta], zeta positive upwards."""
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
