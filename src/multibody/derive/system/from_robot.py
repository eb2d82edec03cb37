"""Systems from robots: where the bodies are, as formulas, with numbers or symbols for what the robot's file says."""

from collections.abc import Sequence
from typing import Any

import sympy as sp

from multibody.derive.algebra.normal_form import normal
from multibody.derive.system.bodies import Body
from multibody.derive.system.constraints import Restriction
from multibody.derive.system.joint_loads import passive_loads, rotors, torques
from multibody.derive.system.joint_names import coordinate_names, velocity_names
from multibody.derive.system.loads import Load
from multibody.derive.system.symbolic_tree import Symbols, Tree, tree
from multibody.derive.system.symbols import symbols as named
from multibody.derive.system.system import System
from multibody.derive.system.traced_formulas import exact_rotation, formulas
from multibody.derive.system.values import names, several
from multibody.errors import InputError
from multibody.geometry._arrays import truth
from multibody.model import configuration
from multibody.robot import Robot

TERMS = 64
"""Entries of poses with more terms than this stay products of those of the joints."""


def from_robot(
    robot: Robot,
    symbols: Symbols = (),
    *,
    name: str = "",
    coordinates: Sequence[str] = (),
    velocities: Sequence[str] = (),
    gravity: Any = None,
    forces: str = "joints",
    passive: bool = False,
    loads: Sequence[Load] = (),
    restrictions: Sequence[Restriction] = (),
) -> System:
    """The system that a robot is: its bodies, its coordinates, velocities and
    their rates, and a force in each joint.

    Numbers are exact: what the file has as 0.333 is 333/1000. The inertia of drives (armature)
    is a rotor of its own that turns with its joint, so that it is in the mass matrix as in
    `robot.mass_matrix`. Arms with seven hinges in space have equations with thousands of terms:
    'recursive-newton-euler' finds them in seconds, others in minutes.

    Args:
        robot: from `mb.load`, or made with `mb.Builder`.
        symbols: which numbers are symbols: "all", some of "masses", "centers", "inertias",
            "lengths" and "gravity", or your own expressions; see `tree`. By default none.
        name: the name of the system; that of the robot by default.
        coordinates: names for all of q, instead of q_1, q_2, ... for joints with one coordinate
            and x, y, z, q_w, ...
        velocities: names for all of v; by default rates of coordinates, where they are rates,
            and v_x, omega_x, ...
        gravity: three expressions instead of the robot's.
        forces: which velocities have a generalized force, tau_1, tau_2, ...: "joints", all but
            those of a floating base; "all"; or "none".
        passive: whether springs, dampers and dry friction of the joints act, as in
            `robot.passive`.
        loads: more of them.
        restrictions: closed loops, contacts.

    Raises:
        InputError: when something of the robot has no formula here.

    >>> import multibody as mb
    >>> from_robot(mb.load("planar-arm"), "all").bodies[1].position.T
    Matrix([[c_z2*sin(q_1 + q_2) + l_2*sin(q_1), 0, c_z2*cos(q_1 + q_2) + l_1 + l_2*cos(q_1)]])
    """
    if not isinstance(robot, Robot):
        raise InputError(f"from_robot: expected a robot, as mb.load makes them, got {type(robot).__name__}")
    if robot.model.equalities and not restrictions:
        loops = ", ".join(repr(equality.name) for equality in robot.model.equalities)
        raise InputError(f"{robot.name}: the closed loops {loops} are not taken over: give them as restrictions")
    if not isinstance(name, str):
        raise InputError(f"name: expected that of a system, got {name!r}")
    passive, loads = truth(passive, "passive"), several(loads, "loads")
    numbers = tree(robot, symbols, gravity=gravity)
    q = named(" ".join(names(coordinates, "coordinates") or coordinate_names(robot.model)))
    v = named(" ".join(names(velocities, "velocities") or velocity_names(robot.model, q)))
    for what, states, n in (("coordinates", q, robot.nq), ("velocities", v, robot.nv)):
        if len(states) != n:
            raise InputError(f"{what}: {robot.name} has {n}, got {len(states)} names")
    clash = sorted({x.name for x in (*q, *v)} & {x.name for x in numbers.values})
    if clash:
        raise InputError(
            f"{robot.name}: {', '.join(clash)} would be a coordinate or velocity and a number of the robot"
        )
    units = quaternions(robot, q)
    (F,) = formulas(lambda x: (configuration.rate_matrix(robot.tree, x),), q)
    return System(
        name or robot.name,
        q,
        (*placed(numbers, q), *rotors(robot, q)),
        v,
        normal(sp.ImmutableMatrix(F), units=units),
        numbers.gravity,
        (*torques(robot.model, v, forces), *(passive_loads(robot.model, q, v) if passive else ()), *loads),
        restrictions,
        units,
        numbers,
    )


def quaternions(robot: Robot, q: Sequence[sp.Symbol]) -> list[tuple[sp.Symbol, ...]]:
    """The coordinates that are unit quaternions, four by four."""
    return [tuple(q[j.q][j.kind.quaternion]) for j in robot.joints if j.kind.quaternion is not None]


def placed(numbers: Tree, q: Sequence[sp.Symbol]) -> list[Body]:
    """The bodies of a robot, from the poses of its joints, one on the other.  [RD 2.138; QT 57]

    Frames: W world, p the parent, j the joint's place on it, i the body, S its centre of mass.
    """
    robot = numbers.robot
    units = quaternions(robot, q)
    W_R, W_o = [sp.eye(3)], [sp.zeros(3, 1)]
    parents: list[str | None] = [None]
    bodies = []

    def tidy(x: Any) -> Any:
        return normal(sp.ImmutableMatrix(x), units=units, most=TERMS)

    for body, own in zip(robot.bodies, numbers.bodies, strict=True):
        joint, p = body.joint, body.parent
        j_R_i, j_o_i = formulas(lambda x, j=joint: j.kind.pose(j.coordinates(x))._arrays(), q)
        W_R_j = W_R[p] * exact_rotation(joint.placement.rotation.matrix)
        W_o_j = W_o[p] + W_R[p] * own.position
        W_R.append(tidy(W_R_j * j_R_i))
        W_o.append(tidy(W_o_j + W_R_j * j_o_i))
        W_r_S = tidy(W_o[-1] + W_R[-1] * own.center)
        parents.append(body.name)
        bodies.append(Body(body.name, own.mass, W_r_S, W_R[-1], own.inertia, parents[p], tidy(W_o_j)))
    return bodies
