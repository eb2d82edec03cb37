"""A skate on a slope: its blade slides along itself only.  [RD §3.4.5]"""

import sympy as sp

from multibody.derive.ready_made._parts import chain, principal
from multibody.derive.system.bodies import Body
from multibody.derive.system.constraints import Motion
from multibody.derive.system.symbolic_tree import tree
from multibody.derive.system.symbols import coordinates, rate, rotation_z, symbols
from multibody.derive.system.system import System
from multibody.model.joints import Prismatic, Revolute


def skate() -> System:
    """q = [x, y, theta]: the blade on a slope that falls along x by the angle alpha, and its direction.

    The centre of mass is ahead of the blade by a.
    """
    q = x, y, theta = coordinates("x y theta")
    m, a, I, g, alpha = symbols("m a I g alpha")
    center = sp.ImmutableMatrix([x + a * sp.cos(theta), y + a * sp.sin(theta), 0])
    gravity = (g * sp.sin(alpha), 0, -g * sp.cos(alpha))
    robot = chain("skate", ("x", Prismatic("x")), ("y", Prismatic("y")), ("theta", Revolute("z")))
    inertia = principal(0, 0, I)
    return System(
        "skate",
        q,
        (Body("skate", m, center, rotation_z(theta), inertia),),
        gravity=gravity,
        restrictions=(Motion("no sliding across", rate(y) * sp.cos(theta) - rate(x) * sp.sin(theta)),),
        tree=tree(robot, {"skate": {"mass": m, "center": (a, 0, 0), "inertia": inertia}}, gravity=gravity),
    )
