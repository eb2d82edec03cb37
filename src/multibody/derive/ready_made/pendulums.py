"""Pendulums: on carts, one under the other, and on a ball joint."""

import sympy as sp

from multibody.derive.ready_made._parts import chain, embedded, principal
from multibody.derive.system.bodies import Body, particle
from multibody.derive.system.from_robot import from_robot
from multibody.derive.system.loads import Force, Generalized, Spring
from multibody.derive.system.symbolic_tree import tree
from multibody.derive.system.symbols import coordinates, symbols
from multibody.derive.system.system import System
from multibody.model.joints import Spherical


def cart_pendulum() -> System:
    """The cart on a rail and its pendulum, a body with an inertia: the machine of `mb.load`.  [RD Ex. 3.3.1]

    q = [x, phi]; phi = 0 hanging, and positive when the pendulum swings towards +x.
    """
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


def spring_cart_pendulum() -> System:
    """A cart on a rail, tied to a wall by a spring, with a pendulum: a mass at the end of a light rod.  [RD Ex. 3.3.1]

    q = [x, phi]; phi = 0 hanging, and positive when the pendulum swings towards +x.
    """
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


def double_pendulum() -> System:
    """Two rods on hinges, one under the other: the machine of `mb.load`.

    q = [angle of the upper rod from the vertical, angle of the lower rod from the upper].
    """
    m_1, m_2, c_1, c_2, I_1, I_2, l_1, g = symbols("m_1 m_2 c_1 c_2 I_1 I_2 l_1 g")
    numbers = {
        "upper": {"mass": m_1, "center": (0, 0, -c_1), "inertia": (0, I_1, 0)},
        "lower": {"mass": m_2, "center": (0, 0, -c_2), "inertia": (0, I_2, 0), "position": (0, 0, -l_1)},
    }
    names = ("theta_1", "theta_2")
    return from_robot(embedded("double-pendulum"), numbers, coordinates=names, gravity=(0, 0, -g), forces="none")


def double_mass_pendulum() -> System:
    """Two masses on light rods, one under the other.

    q = [angle of the upper rod from the vertical, angle of the lower rod from the upper].
    """
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


def spherical_pendulum() -> System:
    """A body that hangs on a ball joint, whose rotation is a unit quaternion.  [From §4.1; Kindr §Quaternion Rates]

    q = the unit quaternion w, x, y, z of the body; v = its angular velocity along its own axes.
    """
    w, x, y, z = quaternion = coordinates("q_w q_x q_y q_z")
    velocities = symbols("omega_x omega_y omega_z")
    m, l, g, I_x, I_y, I_z = symbols("m l g I_x I_y I_z")
    R = sp.ImmutableMatrix(
        [
            [1 - 2 * (y**2 + z**2), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x**2 + z**2), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x**2 + y**2)],
        ]
    )
    rates = sp.Matrix([[-x, -y, -z], [w, -z, y], [z, w, -x], [-y, x, w]]) / 2
    arm, inertia = sp.ImmutableMatrix([0, 0, -l]), principal(I_x, I_y, I_z)
    numbers = {"spherical-pendulum": {"mass": m, "center": arm, "inertia": inertia}}
    robot = chain("spherical-pendulum", ("ball", Spherical()))
    return System(
        "spherical-pendulum",
        quaternion,
        (Body("spherical-pendulum", m, R * arm, R, inertia, joint=(0, 0, 0)),),
        velocities,
        rates,
        gravity=(0, 0, -g),
        loads=[Generalized(v, tau) for v, tau in zip(velocities, symbols("tau_1 tau_2 tau_3"), strict=True)],
        units=(quaternion,),
        tree=tree(robot, numbers, gravity=(0, 0, -g)),
    )
