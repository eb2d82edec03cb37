"""Loads in the joints of a robot, as formulas: torques of motors, springs, dampers, friction, rotors."""

from collections.abc import Sequence
from typing import Any

import sympy as sp

from multibody.derive.system.bodies import Body
from multibody.derive.system.joint_names import has_rates
from multibody.derive.system.loads import Damper, Generalized, Load, Spring
from multibody.derive.system.symbols import rotation_z
from multibody.derive.system.traced_formulas import exact
from multibody.errors import InputError
from multibody.geometry._arrays import choice
from multibody.model.joint import Joint
from multibody.model.model import Model
from multibody.robot import Robot


def torques(model: Model, v: Sequence[sp.Symbol], forces: str = "joints") -> list[Load]:
    """A generalized force tau_k along each velocity; along those of a floating base only for "all".  [RD 3.55]"""
    choice(forces, "forces", ("joints", "all", "none"))
    bases = {k for base in model.tree.bases for k in range(base.v.start, base.v.stop)} if forces == "joints" else set()
    if forces == "none":
        return []
    rest = [k for k in range(len(v)) if k not in bases]
    return [Generalized(v[k], sp.Symbol(f"tau_{n}", real=True)) for n, k in enumerate(rest, start=1)]


def rotors(robot: Robot, q: Sequence[sp.Symbol]) -> list[Body]:
    """The drives of the joints as bodies: without mass, each turning in its place by the coordinate of its joint.

    So T has armature q'²/2, and the mass matrix the armature on its diagonal, by every method.

    Raises:
        InputError: for a joint whose velocities are no rates: there is no rotor that turns like that.
    """
    model, bodies = robot.model, []
    for joint in model.joints:
        if joint.mimic is not None or not model.armature[joint.v].any():
            continue
        if not has_rates(joint):
            raise InputError(
                f"{robot.name}: the armature of the {joint.kind.name} joint {joint.name!r} has no formula here: give "
                "its body that inertia, and the joint no armature"
            )
        for x, inertia in zip(q[joint.q], model.armature[joint.v], strict=True):
            name = f"rotor of {joint.name}" + (f" {x.name}" if joint.nq > 1 else "")
            bodies.append(Body(name, 0, (0, 0, 0), rotation_z(x), sp.diag(0, 0, exact(inertia))))
    return bodies


def passive_loads(model: Model, q: Sequence[sp.Symbol], v: Sequence[sp.Symbol]) -> list[Load]:
    """Springs, dampers and dry friction of the joints, as `robot.passive` has them.

    A spring of an angle without limits holds within half a turn of its rest.

    Raises:
        InputError: for springs of joints whose velocities are no rates, and all of a floating base.
    """
    loads: list[Load] = []
    for joint in model.joints:
        act = joint.passive
        if not (act.damping or act.friction or act.stiffness):
            continue
        if model.tree.is_base(joint) or (act.stiffness and not has_rates(joint)):
            raise InputError(f"{model.name}: the spring or damper of the joint {joint.name!r} has no formula here")
        ratio, offset = (1, 0) if joint.mimic is None else (exact(joint.mimic.ratio), exact(joint.mimic.offset))
        for k in range(joint.v.start, joint.v.stop):
            velocity = ratio * v[k]
            force: Any = -exact(act.damping) * velocity - exact(act.friction) * sp.sign(velocity)
            if act.friction or not has_rates(joint):
                loads.append(Generalized(v[k], ratio * force))
            elif act.damping:
                loads.append(Damper(exact(act.damping), ratio * _coordinate(joint, q, k)))
            if act.stiffness:
                rest = 0 if act.rest is None else exact(act.rest[k - joint.v.start])
                loads.append(Spring(exact(act.stiffness), ratio * _coordinate(joint, q, k) + offset, rest))
    return loads


def _coordinate(joint: Joint, q: Sequence[sp.Symbol], k: int) -> sp.Symbol:
    return q[joint.q.start + k - joint.v.start]
