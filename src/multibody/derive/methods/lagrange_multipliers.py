"""Lagrange's equations of the first kind: constraints by multipliers.  [RD §3.4.5]"""

from dataclasses import replace

import sympy as sp

from multibody.derive.methods.lagrange import from_energies
from multibody.derive.methods.quasi_velocities import left_inverse, with_rates_as_velocities
from multibody.derive.results.equations import Equations, finish
from multibody.derive.results.steps import Step
from multibody.derive.system.constraints import Holonomic
from multibody.derive.system.generalized_forces import kinetic_energy, potential_energy
from multibody.derive.system.kinematics import gradient
from multibody.derive.system.system import System


def why_not(system: System) -> str:
    """Why the method does not fit a system; empty when it does."""
    if system.restrictions or system.units:
        return ""
    return "there are no constraints, and no multipliers: take 'lagrange', or 'boltzmann-hamel' for quasi-velocities"


def lagrange_multipliers(system: System) -> Equations:
    """d/dt ∂T/∂q' - ∂T/∂q + ∂U/∂q = τ + J^T λ, with J q'' + J' q' = 0.  [RD 3.35-3.37]

    RD has J_m^T λ_m and (∂f_c/∂q)^T λ_c on the left: its multipliers are the opposite of these, which are forces on the
    system. J has a row for each constraint, whatever its kind: a_k of motion constraints (the transpose of RD 3.36,
    which is a slip), ∂f/∂q of configuration constraints.

    The velocities are the rates of the coordinates: where those of the system are others, the equations are those of
    `with_rates_as_velocities(system)`, with T at v = S(q) q'. Four rates of a unit quaternion have inertia in three
    directions alone. So M is singular there, and only the constraint of unit length makes the accelerations unique.
    """
    rates = with_rates_as_velocities(system)
    T, start = kinetic_energy(system), []
    if not system.holonomic_velocities:
        v = left_inverse(system) * sp.Matrix(rates.v)
        T = sp.Matrix([T]).subs(dict(zip(system.v, list(v), strict=True)), simultaneous=True)[0]
        start.append(Step("The rates of the coordinates as velocities", "RD §2.10.1", (("v", v),), r"v = S(q) \dot q"))
    M, b, g, steps = from_energies(replace(rates, units=()), T, potential_energy(system))
    rows = []
    for restriction in rates.restrictions:
        index = rf"_{{\mathrm{{{restriction.name}}}}}"
        if isinstance(restriction, Holonomic):
            rows.append((r"\frac{\partial f}{\partial q}" + index, gradient(rates, restriction.f)))
        else:
            rows.append(("a" + index, restriction.velocity))
    constraints = Step(
        "Constraints: gradients of those on the configuration, and sums of rates",
        "RD 3.35-3.37",
        tuple(rows),
        r"\frac{d}{dt}\frac{\partial T}{\partial \dot q} - \frac{\partial T}{\partial q}"
        r" + \frac{\partial U}{\partial q} = \tau + J(q)^T \lambda",
    )
    return finish(rates, "lagrange-multipliers", (M, b, g), [*start, *steps, constraints])
