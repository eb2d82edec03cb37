"""A cart on a rail, tied to a wall by a spring, with a pendulum: a mass at the end of a light rod.  [RD Ex. 3.3.1]"""

import sympy as sp

from multibody.derive.ready_made._parts import embedded
from multibody.derive.system.bodies import particle
from multibody.derive.system.loads import Force, Spring
from multibody.derive.system.symbolic_tree import tree
from multibody.derive.system.symbols import coordinates, symbols
from multibody.derive.system.system import System


def spring_cart_pendulum() -> System:
    """q = [x, phi]; phi = 0 hanging, and positive when the pendulum swings towards +x."""
    x, phi = coordinates("x phi")
    M, m, l, g, k, F = symbols("M m l g k F")
    cart = particle("cart", M, (x, 0, 0))
    pendulum = particle("pendulum", m, (x + l * sp.sin(phi), 0, -l * sp.cos(phi)), parent="cart")
    numbers = {
        "cart": {"mass": M, "inertia": (0, 0, 0)},
        "pendulum": {"mass": m, "center": (0, 0, -l), "inertia": (0, 0, 0)},
    }
    return System(
        "spring-cart-pendulum",
        (x, phi),
        (cart, pendulum),
        gravity=(0, 0, -g),
        loads=(Spring(k, x), Force("cart", (F, 0, 0))),
        tree=tree(embedded("cart-pendulum"), numbers, gravity=(0, 0, -g)),
    )
