"""A disc that rolls on the ground without slipping, and may fall.  [RD §3.4.5]"""

import sympy as sp

from multibody.derive.ready_made._parts import chain, principal
from multibody.derive.system.bodies import Body
from multibody.derive.system.constraints import Motion
from multibody.derive.system.symbolic_tree import tree
from multibody.derive.system.symbols import coordinates, rate, rotation_x, rotation_y, rotation_z, symbols
from multibody.derive.system.system import System
from multibody.model.joints import Prismatic, Revolute


def rolling_disc() -> System:
    """q = [x, y, psi, theta, phi]: where it touches the ground, its heading, how far it leans, how far it has rolled.

    The point of the disc on the ground rests: (x', y') = r phi' (cos psi, sin psi).
    """
    q = x, y, psi, theta, phi = coordinates("x y psi theta phi")
    m, r, g, I_d, I_a = symbols("m r g I_d I_a")
    upright = rotation_z(psi) * rotation_x(theta)
    center = sp.ImmutableMatrix([x, y, 0]) + upright * sp.ImmutableMatrix([0, 0, r])
    inertia = principal(I_d, I_a, I_d)  # about a diameter, and about the axle
    robot = chain(
        "disc",
        ("x", Prismatic("x")),
        ("y", Prismatic("y")),
        ("psi", Revolute("z")),
        ("theta", Revolute("x")),
        ("phi", Revolute("y")),
    )
    numbers = {"disc": {"mass": m, "inertia": inertia, "position": (0, 0, r)}}
    return System(
        "rolling-disc",
        q,
        (Body("disc", m, center, upright * rotation_y(phi), inertia),),
        gravity=(0, 0, -g),
        restrictions=(
            Motion("no slip along x", rate(x) - r * sp.cos(psi) * rate(phi)),
            Motion("no slip along y", rate(y) - r * sp.sin(psi) * rate(phi)),
        ),
        tree=tree(robot, numbers, gravity=(0, 0, -g)),
    )
