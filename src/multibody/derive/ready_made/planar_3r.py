"""Three links in a plane, with lengths, centres of mass, masses and inertias as symbols.  [RD Ex. 2.8.5]"""

from multibody.derive.ready_made._parts import embedded
from multibody.derive.system.from_robot import from_robot
from multibody.derive.system.symbols import symbols
from multibody.derive.system.system import System


def planar_3r() -> System:
    """q = the angles between the links; the arm is upright at zero, on a post of the height l_0."""
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
