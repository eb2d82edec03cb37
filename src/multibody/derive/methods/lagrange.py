"""Lagrange's equations of the second kind, from the energies T and U.  [RD §3.4.1; QT §2, §4]"""

from typing import Any

import sympy as sp

from multibody.derive.results.equations import Equations, finish
from multibody.derive.results.steps import Step
from multibody.derive.system.generalized_forces import kinetic_energy, potential_energy, transport_energy
from multibody.derive.system.kinematics import along, derivatives, gradient, tidy
from multibody.derive.system.system import System


def lagrange(system: System) -> Equations:
    """d/dt ∂T/∂q' - ∂T/∂q + ∂U/∂q = τ.  [RD 3.26-3.34; QT 13-17]

    The velocities must be the rates of the coordinates, without constraints beyond them: `why_not` says what lacks.
    """
    M, b, g, steps = from_energies(system, kinetic_energy(system), potential_energy(system))
    return finish(system, "lagrange", (M, b, g), steps)


def why_not(system: System) -> str:
    """Why the method does not fit a system; empty when it does."""
    if system.restrictions:
        return "constraints need multipliers, as in 'lagrange-multipliers'"
    return without_rates(system)


def without_rates(system: System) -> str:
    """Why velocities are not the rates of independent coordinates; empty when they are."""
    if system.holonomic_velocities:
        return ""
    return (
        f"it needs independent coordinates whose rates are the velocities, and there are {len(system.q)} coordinates "
        f"for the velocities {', '.join(v.name for v in system.v)}: take 'boltzmann-hamel'"
    )


def from_energies(system: System, T: sp.Expr, U: sp.Expr) -> tuple[sp.Matrix, sp.Matrix, sp.Matrix, list[Step]]:
    """M, b, g and the steps to them."""
    momentum = derivatives(system, T, system.v).T
    M = derivatives(system, momentum, system.v)
    m_0, _ = transport_energy(system, T)
    T_q = tidy(system, gradient(system, T).T)
    b = tidy(system, along(system, momentum) - T_q)
    g = tidy(system, gradient(system, U).T)
    steps = [
        Step(
            "Energies of all bodies, of gravity and of springs",
            "RD 3.28-3.34",
            (("T", T), ("U", U)),
            r"\mathcal{L} = T - U",
        ),
        Step(
            "How the kinetic energy changes with the rates and with the coordinates",
            "RD 3.27; QT 13",
            ((r"\frac{\partial T}{\partial \dot q}", momentum), (r"\frac{\partial T}{\partial q}", T_q)),
            r"\frac{d}{dt}\frac{\partial T}{\partial \dot q} - \frac{\partial T}{\partial q}"
            r" + \frac{\partial U}{\partial q} = \tau",
        ),
        Step(
            "The time derivative, in what multiplies the accelerations and the rest",
            "QT 17",
            (
                (r"M = \frac{\partial^2 T}{\partial \dot q^2}", M),
                *given_motion(m_0, r"\dot q"),
                (r"b = \dot M(q) \dot q" + plus_rate(m_0) + r" - \frac{\partial T}{\partial q}", b),
                (r"g = \frac{\partial U}{\partial q}", g),
            ),
        ),
    ]
    return M, b, g, steps


def given_motion(m_0: sp.Matrix, velocity: str) -> list[tuple[str, Any]]:
    """The momentum m_0 at resting coordinates, as a result of a step; none where all motion is that of coordinates."""
    rule = rf"m_0 = \frac{{\partial T}}{{\partial {velocity}}} - M(q) {velocity}"
    return [] if m_0.is_zero_matrix else [(rule, m_0)]


def plus_rate(m_0: sp.Matrix) -> str:
    """The term of m_0 in the rule of b."""
    return "" if m_0.is_zero_matrix else r" + \dot m_0"
