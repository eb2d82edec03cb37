"""Energies and generalized forces of a system, as formulas."""

from functools import lru_cache
from typing import Any

import sympy as sp

from multibody.derive.algebra.differentiation import slopes
from multibody.derive.algebra.matrix_products import product
from multibody.derive.system.kinematics import (
    along,
    angular_velocity,
    gradient,
    material_jacobian,
    point_velocity,
    rotation_jacobian,
    tidy,
)
from multibody.derive.system.loads import Actuator, Damper, Force, Generalized, Spring, Torque
from multibody.derive.system.system import System


@lru_cache(maxsize=64)
def kinetic_energy(system: System) -> sp.Expr:
    """T = Σ (m v_S·v_S + w·Θ w) / 2, linear velocities in the world, angular ones in the body.

    [RD 3.28-3.31; QT 10, 16, 32]
    """
    total = sp.Integer(0)
    for body in system.bodies:
        v_S = point_velocity(system, body.position)
        total += body.mass * v_S.dot(v_S) / 2
        if body.turns:
            w = angular_velocity(system, body)
            total += w.dot(product(body.inertia, w)) / 2
    return tidy(system, total)


def transport_energy(system: System, T: Any) -> tuple[sp.Matrix, Any]:
    """m_0 and T_0 of T = v·M v / 2 + m_0·v + T_0, which are those of bodies that are moved by the time."""
    if not system.moved_bodies:
        return sp.zeros(len(system.v), 1), sp.Integer(0)
    rest = dict.fromkeys(system.v, 0)
    return slopes([T], system.v).T.subs(rest), T.subs(rest)


def transport_forces(system: System, m_0: sp.Matrix, T_0: sp.Expr) -> sp.Matrix:
    """m_0' - X(m_0·v + T_0): what a given motion adds to b, by its parts of T = v·M v / 2 + m_0·v + T_0."""
    return along(system, m_0) - gradient(system, m_0.dot(sp.Matrix(system.v)) + T_0).T


@lru_cache(maxsize=64)
def potential_energy(system: System) -> sp.Expr:
    """U of gravity and of springs.  [RD 3.32-3.34]"""
    weight = sum((-body.mass * body.position.dot(system.gravity) for body in system.bodies), sp.Integer(0))
    return tidy(system, weight + spring_energy(system))


def spring_energy(system: System) -> sp.Expr:
    """U of the springs alone.  [RD 3.34]"""
    return sum((load.energy for load in system.loads if isinstance(load, Spring)), sp.Integer(0))


def forces_and_torques(system: System) -> list[Force | Torque]:
    """All loads at bodies, actuators as their two parts."""
    loads: list[Force | Torque] = []
    for load in system.loads:
        if isinstance(load, Force | Torque):
            loads.append(load)
        elif isinstance(load, Actuator):
            loads += load.parts()
    return loads


def along_coordinates(system: System) -> sp.Matrix:
    """τ of what acts along a deflection or a velocity: dampers and generalized forces."""
    tau = sp.zeros(len(system.v), 1)
    for load in system.loads:
        if isinstance(load, Damper):
            d = sp.sympify(load.deflection)
            tau -= sp.Matrix(load.damping * along(system, d) * gradient(system, d).T)
        elif isinstance(load, Generalized):
            tau[system.v.index(load.velocity)] += load.force
    return tau


def at_bodies(system: System) -> sp.Matrix:
    """τ of forces and torques on bodies: Σ J_P^T F + Σ J_R^T T.  [RD 3.49-3.53; QT 3]"""
    tau = sp.zeros(len(system.v), 1)
    for load in forces_and_torques(system):
        body = system.body(load.body)
        if isinstance(load, Force):
            point: Any = body.position if load.point is None else sp.ImmutableMatrix(load.point)
            tau += material_jacobian(system, body, point).T * load.force
        elif body.turns:
            tau += (body.rotation * rotation_jacobian(system, body)).T * load.torque
    return tau


def generalized_forces(system: System) -> sp.Matrix:
    """τ of everything but gravity and springs.  [RD 3.53]"""
    return tidy(system, along_coordinates(system) + at_bodies(system))
