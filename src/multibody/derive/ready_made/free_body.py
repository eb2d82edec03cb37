"""One body on each of the groups, without gravity, in the velocities of the group.  [From §4; From Table 1]"""

from multibody.derive.ready_made._parts import embedded
from multibody.derive.system.from_robot import from_robot
from multibody.derive.system.symbols import symbols
from multibody.derive.system.system import System


def free_body(group: str) -> System:
    """A body on a group ("so3", "se3", "se2", "schoenflies", "r3", ...), its frame in its centre of mass.

    On SE(3) the velocity is left-trivialised, along the axes of the body, as From has it.
    """
    m, I_x, I_y, I_z = symbols("m I_x I_y I_z")
    robot = embedded(f"free-body-{group}", velocity="left")
    return from_robot(robot, {"body": {"mass": m, "inertia": (I_x, I_y, I_z)}}, gravity=(0, 0, 0), forces="all")
