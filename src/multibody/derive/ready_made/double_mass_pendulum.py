"""Two masses on light rods, one under the other."""

import sympy as sp

from multibody.derive.ready_made._parts import embedded
from multibody.derive.system.bodies import particle
from multibody.derive.system.symbolic_tree import tree
from multibody.derive.system.symbols import coordinates, symbols
from multibody.derive.system.system import System


def double_mass_pendulum() -> System:
    """q = [angle of the upper rod from the vertical, angle of the lower rod from the upper]."""
    first, second = coordinates("theta_1 theta_2")
    m_1, m_2, l_1, l_2, g = symbols("m_1 m_2 l_1 l_2 g")
    elbow = sp.ImmutableMatrix([l_1 * sp.sin(first), 0, -l_1 * sp.cos(first)])
    end = elbow + sp.ImmutableMatrix([l_2 * sp.sin(first + second), 0, -l_2 * sp.cos(first + second)])
    numbers = {
        "upper": {"mass": m_1, "center": (0, 0, -l_1), "inertia": (0, 0, 0)},
        "lower": {"mass": m_2, "center": (0, 0, -l_2), "inertia": (0, 0, 0), "position": (0, 0, -l_1)},
    }
    return System(
        "double-mass-pendulum",
        (first, second),
        (particle("upper", m_1, elbow), particle("lower", m_2, end, parent="upper")),
        gravity=(0, 0, -g),
        tree=tree(embedded("double-pendulum"), numbers, gravity=(0, 0, -g)),
    )
