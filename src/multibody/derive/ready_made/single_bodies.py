"""Single bodies: on the groups, without gravity, and with rolling and sliding constraints."""

import sympy as sp

from multibody.derive.ready_made._parts import chain, embedded, principal
from multibody.derive.system.bodies import Body
from multibody.derive.system.constraints import Motion
from multibody.derive.system.from_robot import from_robot
from multibody.derive.system.symbolic_tree import tree
from multibody.derive.system.symbols import coordinates, rate, rotation_x, rotation_y, rotation_z, symbols
from multibody.derive.system.system import System
from multibody.model.joints import Prismatic, Revolute


def free_body(group: str) -> System:
    """One body on each of the groups, without gravity, in the velocities of the group.  [From §4; From Table 1]

    A body on a group ("so3", "se3", "se2", "schoenflies", "r3", ...), its frame in its centre of mass.

    On SE(3) the velocity is left-trivialised, along the axes of the body, as From has it.
    """
    m, I_x, I_y, I_z = symbols("m I_x I_y I_z")
    robot = embedded(f"free-body-{group}", velocity="left")
    return from_robot(robot, {"body": {"mass": m, "inertia": (I_x, I_y, I_z)}}, gravity=(0, 0, 0), forces="all")


def rolling_disc() -> System:
    """A disc that rolls on the ground without slipping, and may fall.  [RD §3.4.5]

    q = [x, y, psi, theta, phi]: where it touches the ground, its heading, how far it leans, how far it has rolled.

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


def skate() -> System:
    """A skate on a slope: its blade slides along itself only.  [RD §3.4.5]

    q = [x, y, theta]: the blade on a slope that falls along x by the angle alpha, and its direction.

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
