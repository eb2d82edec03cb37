"""Newton–Euler for bodies cut free at their joints, with the forces and torques in the joints.  [RD §3.3; QT §3]

Each body is connected by one joint, at `body.joint`, to its `parent`. A body without a parent is connected to the
world: so are particles on curves and surfaces, which push on the world alone.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import sympy as sp

from multibody.derive.algebra.matrix_products import cross, product
from multibody.derive.results.equations import Equations, finish
from multibody.derive.results.steps import Step
from multibody.derive.system.bodies import Body
from multibody.derive.system.generalized_forces import forces_and_torques, spring_energy
from multibody.derive.system.kinematics import (
    along,
    angular_velocity,
    gradient,
    material_jacobian,
    point_jacobian,
    rotation_jacobian,
    tidy,
    transport_angular_velocity,
    transport_velocity,
)
from multibody.derive.system.loads import Force
from multibody.derive.system.system import System


@dataclass(frozen=True)
class Wrench:
    """A force and a torque about a point, along the axes of a body: what multiplies v', then b, g and loads.

    Both are 3 × (n + 3): their product with (v', 1, 1, 1) is the force or the torque.
    """

    force: sp.Matrix
    torque: sp.Matrix

    def about(self, arm: sp.Matrix) -> "Wrench":
        """Move the torque to a point from which `arm` leads to the present one."""
        return Wrench(self.force, self.torque + cross(arm, self.force))

    def along(self, A_R_B: sp.Matrix) -> "Wrench":
        """Express the wrench along the axes of A, from those of B."""
        return Wrench(A_R_B * self.force, A_R_B * self.torque)

    def __add__(self, other: "Wrench") -> "Wrench":
        return Wrench(self.force + other.force, self.torque + other.torque)


def newton_euler(system: System) -> Equations:
    """p' = F and N' = T of every body, the joints' wrenches eliminated from the leaves inward.  [RD 3.18-3.25; QT 24]

    That is six equations for a body and three for a particle, linear in v' and in the wrenches of the joints. The last
    body of a branch gives the wrench of its joint; the opposite one acts on its parent, which gives the next. What is
    left is that each joint, along what it allows, transmits no more than springs, dampers, generalized forces and
    constraints [RD 3.12]: these are along coordinates, and act in the joints. Forces, torques and actuators act at the
    bodies.

    `reactions` keeps the wrenches by body: force and torque about `body.joint`, by the parent on the body, along the
    axes of the body, in q, v, v' and inputs. What acts along coordinates is part of them, as in
    `robot.joint_wrenches`. A particle has the axes of the world, and no torque of its own: the force acts at the
    particle, and torques on it are for its guide to hold.
    """
    n = len(system.v)
    needs = {body.name: _needed(system, body) for body in system.bodies}
    wrenches: dict[str, Wrench] = {}
    for body in reversed(system.bodies):
        wrenches[body.name] = _through_joint(system, body, needs[body.name], wrenches)
    projected = sp.zeros(n, n + 3)
    for body in system.bodies:
        J_P, J_R = _allowed(system, body)
        projected += J_P.T * wrenches[body.name].force + J_R.T * wrenches[body.name].torque
    springs = spring_energy(system)
    M, b, g = projected[:, :n], projected[:, n], projected[:, n + 1] + gradient(system, springs).T
    reactions = {name: _value(system, wrench) for name, wrench in wrenches.items()}
    steps = [
        *(_cut_free(system, body, needs[body.name]) for body in system.bodies),
        _eliminated(system, reactions),
        Step(
            "The joints' wrenches along what the joints allow, where reactions do no work",
            "RD 3.12, 3.40",
            (),
            r"\sum (J_{P} - J_{P,parent})^T F + (J_{R} - J_{R,parent})^T T = \tau_{joints}",
        ),
    ]
    return finish(system, "newton-euler", (M, b, g), steps, dict(reversed(reactions.items())))


def _axes(body: Body) -> sp.ImmutableMatrix:
    """W_R of the axes in which the wrenches of a body are: its own, or those of the world for a particle."""
    return body.rotation if body.turns else sp.ImmutableMatrix(sp.eye(3))


def _between(system: System, parent: Body, child: Body) -> tuple[sp.Matrix, sp.Matrix]:
    """P_R_C, and P_r from the joint of the parent to that of the child."""
    R = _axes(parent)
    return tidy(system, product(R.T, _axes(child))), tidy(system, product(R.T, child.joint - parent.joint))


def _arm(system: System, body: Body) -> sp.Matrix:
    """B_r from the joint of a body to its centre of mass."""
    return tidy(system, product(_axes(body).T, body.position - body.joint))


def _needed(system: System, body: Body) -> Wrench:
    """Wrench that the joints exert on a body, about its centre of mass: rates of momentum, less weight and loads.

    p' = m a_S and N' = Θ Ψ + Ω × Θ Ω along the axes of the body, where a_S = v_S' + Ω × v_S with v_S = J_S v + v_0,
    and Ω = J_R v + Ω_0: the velocities v_0 and Ω_0 are those that the time gives the body.  [RD 3.10, 3.19-3.25]
    """
    n, v, R = len(system.v), sp.Matrix(system.v), _axes(body)
    J_S, J_R = tidy(system, product(R.T, point_jacobian(system, body.position))), rotation_jacobian(system, body)
    v_0, w_0 = product(R.T, transport_velocity(system, body.position)), transport_angular_velocity(system, body)
    w, v_S = angular_velocity(system, body), product(J_S, v) + v_0
    force, torque = sp.zeros(3, n + 3), sp.zeros(3, n + 3)
    force[:, :n] = body.mass * J_S
    force[:, n] = body.mass * (product(along(system, J_S), v) + along(system, v_0) + cross(w, v_S))
    force[:, n + 1] = -body.mass * R.T * system.gravity  # [RD 3.32]
    if body.turns:
        theta = body.inertia
        torque[:, :n] = product(theta, J_R)
        w_dot = product(along(system, J_R), v) + along(system, w_0)
        torque[:, n] = product(theta, w_dot) + cross(w, product(theta, w))
    for load in forces_and_torques(system):
        if load.body != body.name:
            continue
        if isinstance(load, Force):
            force[:, n + 2] -= R.T * load.force
            if load.point is not None and body.turns:
                torque[:, n + 2] -= R.T * cross(load.point - body.position, load.force)
        elif body.turns:
            torque[:, n + 2] -= R.T * load.torque
    return Wrench(tidy(system, force), tidy(system, torque))


def _through_joint(system: System, body: Body, needed: Wrench, wrenches: dict[str, Wrench]) -> Wrench:
    """The wrench in the joint of a body: what the body needs, and what it passes on to its children.  [RD §3.3.2]"""
    total = needed.about(_arm(system, body))
    for child in system.bodies:
        if child.parent == body.name:
            P_R_C, arm = _between(system, body, child)
            total += wrenches[child.name].along(P_R_C).about(arm)
    if body.turns:
        return Wrench(tidy(system, total.force), tidy(system, total.torque))
    return Wrench(tidy(system, total.force), tidy(system, cross(_arm(system, body), total.force)))


def _allowed(system: System, body: Body) -> tuple[sp.Matrix, sp.Matrix]:
    """The Jacobians of the motion of a body relative to its parent, at the joint, along the axes of the body."""
    J_P, J_R = material_jacobian(system, body, body.joint), rotation_jacobian(system, body)
    if body.parent is not None:
        parent = system.body(body.parent)
        J_P = J_P - material_jacobian(system, parent, body.joint)
        J_R = J_R - _between(system, parent, body)[0].T * rotation_jacobian(system, parent)
    return tidy(system, _axes(body).T * J_P), tidy(system, J_R)


def _value(system: System, wrench: Wrench) -> tuple[sp.ImmutableMatrix, sp.ImmutableMatrix]:
    """Force and torque as expressions in q, v, v' and inputs."""
    column = sp.Matrix([*system.a, 1, 1, 1])
    force, torque = (sp.ImmutableMatrix(tidy(system, x * column)) for x in (wrench.force, wrench.torque))
    return force, torque


def _unknowns(system: System, body: Body) -> Wrench:
    """Names for the wrench in the joint of a body."""
    force, torque = (
        sp.Matrix([sp.Symbol(f"{letter}_{{{body.name},{axis}}}", real=True) for axis in "xyz"]) for letter in "FT"
    )
    return Wrench(force, torque if body.turns else cross(_arm(system, body), force))


def _cut_free(system: System, body: Body, needed: Wrench) -> Step:
    """The equations of one body along its axes, with the wrenches of its joints as unknowns."""
    n, name = len(system.v), f"\\mathrm{{{body.name}}}"
    motion, applied = sp.Matrix([*system.a, 1, 0, 0]), sp.Matrix([*([0] * (n + 1)), 1, 1])
    p_dot, N_dot = tidy(system, needed.force * motion), tidy(system, needed.torque * motion)
    external = Wrench(-needed.force * applied, -needed.torque * applied)
    arm = _arm(system, body)
    external += _unknowns(system, body).about(-arm)
    for child in system.bodies:
        if child.parent == body.name:
            P_R_C, offset = _between(system, body, child)
            external += _unknowns(system, child).along(-P_R_C).about(offset - arm)
    results = [(f"\\dot p_{{{name}}}", p_dot), (f"F_{{ext,{name}}}", external.force)]
    if body.turns:
        results += [(f"\\dot N_{{{name}}}", N_dot), (f"T_{{ext,{name}}}", external.torque)]
    count = "six equations" if body.turns else "three equations"
    return Step(
        f"Cut {body.name} free, with the forces in its joints: {count}",
        "RD 3.19-3.25; QT 24",
        tuple(results),
        r"\dot p_S = F_{ext}" + (r", \quad \dot N_S = T_{ext}" if body.turns else ""),
    )


def _eliminated(system: System, reactions: Mapping[str, tuple[Any, Any]]) -> Step:
    """The unknowns, from the leaves inward."""
    results = []
    for name, (force, torque) in reactions.items():
        results.append((f"F_{{\\mathrm{{{name}}}}}", force))
        if system.body(name).turns:
            results.append((f"T_{{\\mathrm{{{name}}}}}", torque))
    return Step("The unknown forces and torques, from the last bodies inward", "RD §3.3.2", tuple(results))
