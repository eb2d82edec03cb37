"""Lagrange's equations of particles, from virtual work: M = Σ μ J^T J and its derivatives.  [QT §2]"""

from typing import Any

import sympy as sp

from multibody.derive.methods.lagrange import given_motion, without_rates
from multibody.derive.results.equations import Equations, finish
from multibody.derive.results.steps import Step
from multibody.derive.system.bodies import Body
from multibody.derive.system.generalized_forces import potential_energy, transport_forces
from multibody.derive.system.kinematics import along, gradient, point_jacobian, point_velocity, tidy, transport_velocity
from multibody.derive.system.system import System


def why_not(system: System) -> str:
    """Why the method does not fit a system; empty when it does."""
    turning = [body.name for body in system.bodies if body.turns]
    if turning:
        return f"it is for particles, and {', '.join(turning)} can turn"
    if system.restrictions:
        return "it is for independent coordinates: constraints need multipliers, as in 'lagrange-multipliers'"
    return without_rates(system)


def lagrange_particles(system: System) -> Equations:
    """M = Σ μ_i J_i^T J_i and C = M' q' - ½ (∂M/∂q q')^T q', where column j of ∂M/∂q q' is ∂M/∂q_j q'.  [QT 1-17]

    The steps carry the identities by which virtual work becomes a derivative of the kinetic energy: what they say is
    equal is given as a difference, which is zero [QT 5-9, 11]. D'Alembert's principle holds for the sum over the
    particles: the one particle of QT 4, 12 and 13 moves so only under all forces, those of its guides included.
    Where positions depend on time, T = ½ q'^T M q' + m_0^T q' + T_0, and C has their terms.
    """
    n, q_dot = len(system.v), sp.Matrix(system.v)
    M, m_0, T_0, steps = sp.zeros(n), sp.zeros(n, 1), sp.Integer(0), []
    for body in system.bodies:
        J = point_jacobian(system, body.position)
        M += body.mass * J.T * J  # [QT 16]
        v_0 = transport_velocity(system, body.position)
        m_0 += body.mass * J.T * v_0
        T_0 += body.mass * v_0.dot(v_0) / 2
        steps.append(_identities(system, body, J))
    M, m_0, T_0 = (tidy(system, x) for x in (M, m_0, T_0))
    M_dot = tidy(system, along(system, M))
    slopes = sp.Matrix.hstack(*(sp.diff(M, x) * q_dot for x in system.q))
    C = M_dot * q_dot - slopes.T * q_dot / 2 + transport_forces(system, m_0, T_0)  # [QT 17]
    energy, C_rule = r"\frac{1}{2} \dot q^T M(q) \dot q", r"\dot M(q) \dot q"
    C_rule += r" - \frac{1}{2} \left(\frac{\partial M(q)}{\partial q} \dot q\right)^T \dot q"
    if system.moved_bodies:
        energy += r" + m_0^T \dot q + T_0"
        C_rule += r" + \dot m_0 - \frac{\partial}{\partial q} (m_0^T \dot q + T_0)"
    steps.append(
        Step(
            "The kinetic energy of all particles, and its derivatives",
            "QT 15-17",
            (
                ("M", M),
                *given_motion(m_0, r"\dot q"),
                *([("T_0", T_0)] if system.moved_bodies else []),
                (r"\dot M(q)", M_dot),
                (r"\frac{\partial M(q)}{\partial q} \dot q", tidy(system, slopes)),
                ("C", tidy(system, C)),
            ),
            rf"T = {energy}, \quad M(q) = \sum \mu_i J_i^T J_i, \quad C = {C_rule}",
        )
    )
    return finish(system, "lagrange-particles", (M, C, gradient(system, potential_energy(system)).T), steps)


def _identities(system: System, body: Body, J: sp.Matrix) -> Step:
    """Identities behind virtual work of one particle, with zeros where two sides are equal.  [QT 2-11]"""
    name, mu, q_dot = f"\\mathrm{{{body.name}}}", body.mass, sp.Matrix(system.v)
    r_dot, J_dot = point_velocity(system, body.position), along(system, J)  # [QT 6]
    r_ddot = J * sp.Matrix(system.a) + J_dot * q_dot + along(system, transport_velocity(system, body.position))
    T = tidy(system, mu * (r_dot.T * r_dot)[0] / 2)  # [QT 10]
    inertial = mu * J.T * r_ddot
    momentum = mu * J.T * r_dot
    by_rate = sp.Matrix([T]).jacobian(list(system.v)).T
    by_place = sp.Matrix([T]).jacobian(list(system.q)).T
    five = inertial - _rate(system, momentum) + mu * J_dot.T * r_dot
    seven = r_dot.jacobian(list(system.v)) - J
    eight = r_dot.jacobian(list(system.q)) - J_dot
    eleven = inertial - _rate(system, by_rate) + by_place
    zeros = [(f"({k})\\;", tidy(system, x)) for k, x in ((5, five), (7, seven), (8, eight), (11, eleven))]
    return Step(
        f"Virtual work of {body.name}: its Jacobian, inertial force, and differences of both sides of (5) to (11)",
        "QT 2-11",
        (
            (f"J_{{{name}}}", J),
            (f"T_{{{name}}}", T),
            (f"\\mu \\ddot r \\cdot \\frac{{\\partial r}}{{\\partial q}}_{{{name}}}", tidy(system, inertial)),
            *zeros,
        ),
        r"\mu \ddot r \cdot \frac{\partial r}{\partial q_j} = \frac{d}{dt} \frac{\partial T}{\partial \dot q_j}"
        r" - \frac{\partial T}{\partial q_j}",
    )


def _rate(system: System, x: Any) -> Any:
    """The time derivative of a function of coordinates and rates."""
    return along(system, x) + sum((sp.diff(x, v) * a for v, a in zip(system.v, system.a, strict=True)), 0 * x)
