"""The Boltzmann–Hamel equations: Lagrange's in quasi-velocities v = S(q) q'.  [From §2.2, §3; MDN §9]"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import sympy as sp

from multibody.derive.algebra.differentiation import slopes
from multibody.derive.methods.hamel_coefficients import brackets, time_bracket, without_brackets
from multibody.derive.methods.lagrange import given_motion, plus_rate
from multibody.derive.methods.quasi_velocities import left_inverse, with_quasi_velocities
from multibody.derive.printing.symbol_names import latex_name
from multibody.derive.results.equations import Equations, finish
from multibody.derive.results.steps import Step
from multibody.derive.system import constraint_rows
from multibody.derive.system.generalized_forces import kinetic_energy, potential_energy, transport_energy
from multibody.derive.system.kinematics import along, gradient, tidy
from multibody.derive.system.loads import Generalized
from multibody.derive.system.symbols import matrix
from multibody.derive.system.system import System, expect_system
from multibody.derive.system.validation import states
from multibody.errors import InputError


def why_not(system: System) -> str:
    """Why the method does not fit a system; empty when it does."""
    return without_brackets(system)


def boltzmann_hamel(system: System) -> Equations:
    """d/dt ∂L/∂v - S^-T ∂L/∂q + (Σ_k γ_k v_k) ∂L/∂v = τ.  [From 26-27, 38; From Prop. 2.1; MDN §9]

    Written with F = S^-1, where q' = F v, so that q can be redundant: the second term is X(L), the derivative of L
    along the fields that the velocities move q by. Where F depends on time, γ_t = -(S ∂F/∂t)^T is added to the sum: the
    bracket with the field of the time, whose velocity is 1. In the rates of coordinates it is Lagrange's equation, on a
    Lie group Hamel's, to which MDN points. `with_quasi_velocities` gives a system other velocities.
    """
    gammas = brackets(system)
    M, b, g, steps = from_energies(system, gammas)
    return finish(system, "boltzmann-hamel", (M, b, g), [_map(system), _gammas(system, gammas), *steps])


def reduced(system: System, S: Any, velocities: Sequence[sp.Symbol]) -> Equations:
    """Equations of a system with constraints in as few velocities as it has
    freedoms, without multipliers.

    The rows of the constraints complete S to a square matrix. Their velocities are zero, but
    their momenta are not: they stay in (Σ_k γ_k v_k) ∂L/∂v, so that the energy must not be
    restricted before it is differentiated.  [From 38]

    Args:
        system: with constraints that do not move with time.
        S: v = S(q) u, a row for each freedom, where u are the velocities of the system.
        velocities: a symbol for each row of S.
    """
    expect_system(system)
    rows = constraint_rows.rows(system)
    held = tuple(sp.Symbol(f"nu_{k + 1}", real=True) for k in range(rows.J.rows))
    if not held or not rows.a_0.is_zero_matrix:
        raise InputError(f"{system.name}: expected constraints that do not move with time, got {system.restrictions}")
    S = matrix(S, f"S of {system.name}")
    states(system.name, velocities)
    free = len(system.v) - len(held)
    if S.shape != (free, len(system.v)) or len(velocities) != free:
        raise InputError(
            f"S of {system.name}: expected {free} × {len(system.v)} expressions and {free} velocities, for "
            f"{len(system.v)} velocities and {len(held)} constraints, got {S.shape[0]} × {S.shape[1]} and "
            f"{len(velocities)}"
        )
    complete, zero = S.col_join(rows.J), dict.fromkeys(held, 0)
    whole = with_quasi_velocities(replace(system, restrictions=()), complete, (*velocities, *held))
    part = replace(
        whole,
        v=tuple(velocities),
        rates=whole.rates[:, :free],
        loads=tuple(x.substitute(zero) for x in whole.loads if not (isinstance(x, Generalized) and x.velocity in held)),
    )
    gammas = brackets(whole)
    M, b, g, steps = from_energies(whole, gammas)
    last = Step(
        "Without the velocities that the constraints hold at zero, and their equations", "From 38", (("S", complete),)
    )
    parts = (M[:free, :free], b[:free, :].subs(zero), g[:free, :])
    return finish(part, "boltzmann-hamel", parts, [_map(whole), _gammas(whole, gammas), *steps, last])


def from_energies(system: System, gammas: Sequence[sp.MatrixBase]) -> tuple[Any, Any, Any, list[Step]]:
    """M, b, g and the steps to them, with the γ_k of the velocities."""
    v: Any = sp.Matrix(system.v)
    T, U = kinetic_energy(system), potential_energy(system)
    momentum = tidy(system, slopes([T], system.v).T)  # [From 14]
    M = tidy(system, slopes(momentum, system.v))
    X_T, X_U = (tidy(system, gradient(system, energy).T) for energy in (T, U))
    (m_0, _), gamma_t = transport_energy(system, T), time_bracket(system)
    turning = weighted(gammas, v) + gamma_t
    turned = r"\sum_k \gamma_k v_k" + (r" + \gamma_t" if not gamma_t.is_zero_matrix else "")
    whole = "M(q) v" if m_0.is_zero_matrix else "(M(q) v + m_0)"
    b = along(system, momentum) - X_T + turning * momentum
    steps = [
        Step("The Lagrangian in the velocities", "From 13; MDN §9", (("T", T), ("U", U)), r"L(q, v) = T - U"),
        Step(
            "How it changes with the velocities, and along what they move",
            "From 14-16, 26",
            ((r"\frac{\partial L}{\partial v}", momentum), (r"S^{-T} \frac{\partial L}{\partial q}", X_T - X_U)),
            r"\frac{d}{dt}\frac{\partial L}{\partial v} - S^{-T}\frac{\partial L}{\partial q}"
            rf" + \Big({turned}\Big) \frac{{\partial L}}{{\partial v}} = \tau",
        ),
        Step(
            "What turns the momentum",
            "From 27, 38, 52",
            ((turned, turning), *given_motion(m_0, "v")),
            rf"b(q, v) = \dot M(q) v{plus_rate(m_0)} - S^{{-T}} \frac{{\partial T}}{{\partial q}}"
            rf" + \Big({turned}\Big) {whole}",
        ),
    ]
    return M, b, X_U, steps


def weighted(matrices: Sequence[sp.MatrixBase], v: Any) -> Any:
    """Σ_k γ_k v_k."""
    return sum((v[k] * matrix for k, matrix in enumerate(matrices)), sp.zeros(len(matrices)))


def _map(system: System) -> Step:
    F = system.rates
    results = [("F", F)] if F.rows != F.cols else [("S", left_inverse(system)), ("S^{-1} = F", F)]
    return Step("The velocities", "From 12", tuple(results), r"v = S(q) \dot q, \quad \dot q = F(q) v")


def _gammas(system: System, gammas: Sequence[sp.MatrixBase]) -> Step:
    results = [
        (f"\\gamma_{{{latex_name(v.name)}}}", x) for v, x in zip(system.v, gammas, strict=True) if not x.is_zero_matrix
    ]
    rule = (
        r"(\gamma_k)_{ij} = \sum_{l,m} S^{-1}_{li} \left(\frac{\partial S_{jl}}{\partial q_m}"
        r" - \frac{\partial S_{jm}}{\partial q_l}\right) S^{-1}_{mk}, \quad [X_i, X_k] = \sum_j (\gamma_k)_{ij} X_j"
    )
    if not (gamma_t := time_bracket(system)).is_zero_matrix:
        results.append((r"\gamma_t", gamma_t))
        rule += r", \quad \gamma_t = -\Big(S \frac{\partial F}{\partial t}\Big)^T"
    return Step(
        "By how much the velocities fail to be rates of coordinates" if results else "The velocities are rates: γ = 0",
        "From 46-47",
        tuple(results),
        rule,
    )
