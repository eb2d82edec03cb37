"""The cart on a rail and its pendulum, a body with an inertia: the machine of `mb.load`.  [RD Ex. 3.3.1]"""

from multibody.derive.ready_made._parts import embedded
from multibody.derive.system.from_robot import from_robot
from multibody.derive.system.loads import Force
from multibody.derive.system.symbols import symbols
from multibody.derive.system.system import System


def cart_pendulum() -> System:
    """q = [x, phi]; phi = 0 hanging, and positive when the pendulum swings towards +x."""
    M, m, l, I, g, F = symbols("M m l I g F")
    numbers = {
        "cart": {"mass": M, "inertia": (0, 0, 0)},
        "pendulum": {"mass": m, "center": (0, 0, -l), "inertia": (0, I, 0)},
    }
    return from_robot(
        embedded("cart-pendulum"),
        numbers,
        coordinates=("x", "phi"),
        gravity=(0, 0, -g),
        forces="none",
        loads=(Force("cart", (F, 0, 0)),),
    )
