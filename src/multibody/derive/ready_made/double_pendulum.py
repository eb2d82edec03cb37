"""Two rods on hinges, one under the other: the machine of `mb.load`."""

from multibody.derive.ready_made._parts import embedded
from multibody.derive.system.from_robot import from_robot
from multibody.derive.system.symbols import symbols
from multibody.derive.system.system import System


def double_pendulum() -> System:
    """q = [angle of the upper rod from the vertical, angle of the lower rod from the upper]."""
    m_1, m_2, c_1, c_2, I_1, I_2, l_1, g = symbols("m_1 m_2 c_1 c_2 I_1 I_2 l_1 g")
    numbers = {
        "upper": {"mass": m_1, "center": (0, 0, -c_1), "inertia": (0, I_1, 0)},
        "lower": {"mass": m_2, "center": (0, 0, -c_2), "inertia": (0, I_2, 0), "position": (0, 0, -l_1)},
    }
    names = ("theta_1", "theta_2")
    return from_robot(embedded("double-pendulum"), numbers, coordinates=names, gravity=(0, 0, -g), forces="none")
