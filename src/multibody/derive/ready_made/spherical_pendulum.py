"""A body that hangs on a ball joint, whose rotation is a unit quaternion.  [From §4.1; Kindr §Quaternion Rates]"""

import sympy as sp

from multibody.derive.ready_made._parts import chain, principal
from multibody.derive.system.bodies import Body
from multibody.derive.system.loads import Generalized
from multibody.derive.system.symbolic_tree import tree
from multibody.derive.system.symbols import coordinates, symbols
from multibody.derive.system.system import System
from multibody.model.joints import Spherical


def spherical_pendulum() -> System:
    """q = the unit quaternion w, x, y, z of the body; v = its angular velocity along its own axes."""
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
