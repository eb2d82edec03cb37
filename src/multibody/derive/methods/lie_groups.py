"""Trees whose joints move on Lie groups: Hamel's equations with constant brackets.  [From §5; MDN §9]"""

from typing import Any, cast

import sympy as sp

from multibody.derive.methods.bodies_on_groups import coriolis
from multibody.derive.methods.lagrange import given_motion
from multibody.derive.printing.symbol_names import latex_name
from multibody.derive.results.equations import Equations, finish
from multibody.derive.results.steps import Step
from multibody.derive.system.generalized_forces import (
    kinetic_energy,
    potential_energy,
    transport_energy,
    transport_forces,
)
from multibody.derive.system.kinematics import gradient, tidy
from multibody.derive.system.symbols import TIME
from multibody.derive.system.system import System
from multibody.geometry.groups import R3, SE3, SO3, Group

BASES: dict[str, tuple[tuple[Group, int], ...]] = {
    "kindr": ((R3(), 1), (SO3(), 1)),
    "mixed": ((R3(), 1), (SO3(), -1)),
    "left": ((SE3(), 1),),
    "right": ((SE3(), -1),),
}
"""The groups of a floating base by how its velocity is written; 1 for axes of the body, -1 for those of the world."""


def why_not(system: System) -> str:
    """Why the method does not fit a system; empty when it does."""
    if system.tree is None:
        return "it needs the joints of a robot, to know on which groups they move: take 'boltzmann-hamel'"
    if TIME in system.rates.free_symbols:
        return "the rates of the coordinates depend on the time t, and no group has such: take 'boltzmann-hamel'"
    for joint in system.tree.robot.joints:
        if joint.kind.held_by_parent:
            return (
                f"the joint {joint.name!r} is {joint.kind.name}: what it allows depends on where it is, so that its "
                "motions are no group: take 'boltzmann-hamel'"
            )
    return ""


def lie_groups(system: System) -> Equations:
    """M(Q) v' + C(Q, v) v + g(Q) = τ, with velocities v on the product of the groups of the joints.  [From 57; MDN 83]

    The local coordinates φ of each joint around where it is vanish, so that S, which has a block for each joint, only
    leaves its derivatives, which are the brackets of the groups; M and U change with Q along the fields X_k that the
    velocities move it by, where From's single body has a constant M:

    C_ij = Σ_k (X_k M_ij - X_i M_jk / 2) v_k + Σ_k (∂S_ki/∂φ_j - ∂S_kj/∂φ_i) (M v)_k at φ = 0.

    Where joints are moved by the time, T = ½ v^T M v + m_0^T v + T_0: the time is one more group, R, whose velocity
    is 1. The momentum is M v + m_0, and b has the terms ∂M/∂t v + m_0' - X(m_0^T v + T_0).
    """
    n, v = len(system.v), cast(Any, sp.Matrix(system.v))
    T, U = kinetic_energy(system), potential_energy(system)
    M = tidy(system, sp.hessian(T, list(v)))
    m_0, T_0 = transport_energy(system, T)
    p = M * v + m_0
    turning = tidy(system, _turning(system, p))
    slopes = [_slope(system, M, k) for k in range(n)]
    C = sp.Matrix(
        n, n, lambda i, j: sum((slopes[k][i, j] - slopes[i][j, k] / 2) * v[k] for k in range(n)) + turning[i, j]
    )
    b, g = C * v + sp.diff(M, TIME) * v + transport_forces(system, m_0, T_0), gradient(system, U).T
    energy, momentum, rule = r"\frac{1}{2} v^T M(Q) v", "(M(Q) v)_k", ""
    if system.moved_bodies:
        energy, momentum = energy.replace("(Q)", "(Q, t)") + r" + m_0^T v + T_0", "(M(Q) v + m_0)_k"
        rule = r", \quad b(q, v) = C v + \frac{\partial M(Q)}{\partial t} v + \dot m_0 - X (m_0^T v + T_0)"
    pairs = zip(v, slopes, strict=True)
    changes = tuple((f"X_{{{latex_name(x.name)}}} M", slope) for x, slope in pairs if not slope.is_zero_matrix)
    steps = [
        Step(
            f"The joints move on {_product(system)}: the derivatives of S, with the momentum",
            "From 57, 105; MDN §9",
            ((r"\mathrm{diag}(C_1, C_2, \ldots)", turning),),
            r"S = \mathrm{diag}(S_1, S_2, \ldots), \quad S_k = 1 - \frac{1}{2}\mathrm{ad}_\varphi + \ldots",
        ),
        Step(
            "The trivialised Lagrangian",
            "MDN §9; From 13",
            (("M(Q)", M), *given_motion(m_0, "v"), *([("T_0", T_0)] if T_0 != 0 else []), ("U(Q)", U)),
            rf"l(Q, v) = {energy} - U(Q)",
        ),
        Step(
            "How it changes along the groups" if changes else "It does not change along the groups",
            "From 31, 38",
            changes,
        ),
        Step(
            "The Coriolis forces",
            "From 48, 57; MDN 83",
            (),
            r"C_{ij} = \sum_k \left(X_k M_{ij} - \frac{1}{2} X_i M_{jk}\right) v_k + \sum_k"
            r" \left(\frac{\partial S_{ki}}{\partial \varphi_j}"
            rf" - \frac{{\partial S_{{kj}}}}{{\partial \varphi_i}}\right)\Big|_{{\varphi=0}} {momentum}{rule}",
        ),
    ]
    return finish(system, "lie-groups", (M, b, g), steps)


def blocks(system: System) -> tuple[tuple[int, Group, int], ...]:
    """(first velocity, group, side) of each block of S, from the joints of the robot; see `BASES` for the side."""
    assert system.tree is not None
    model, by_first = system.tree.robot.model, {}
    for joint in model.joints:
        groups = (
            BASES[model.velocity] if model.tree.is_base(joint) else tuple((group, 1) for group in joint.kind.groups)
        )
        first = joint.v.start
        for group, side in groups:
            by_first[first] = first, group, side
            first += group.dim
    return tuple(by_first.values())


def _product(system: System) -> str:
    """The product of the groups, for people."""
    names = {"R1": "R", "R2": "R²", "R3": "R³", "SO2": "SO(2)", "SO3": "SO(3)", "SE2": "SE(2)", "SE3": "SE(3)"}
    names |= {"Helical": "H", "Schoenflies": "X"}
    return " × ".join(names[type(group).__name__] for _, group, _ in blocks(system))


def _turning(system: System, p: sp.Matrix) -> sp.Matrix:
    """Σ_k (∂S_ki/∂φ_j - ∂S_kj/∂φ_i) p_k of the block-diagonal S."""
    turning = sp.zeros(len(system.v))
    for first, group, side in blocks(system):
        if not group.abelian:
            last = first + group.dim
            turning[first:last, first:last] = coriolis(group, p[first:last, :], side)
    return turning


def _slope(system: System, M: sp.Matrix, k: int) -> sp.Matrix:
    """X_k M: how M changes along the k-th velocity."""
    field = [(x, system.rates[m, k]) for m, x in enumerate(system.q) if system.rates[m, k] != 0 and M.has(x)]
    return tidy(system, sum((sp.diff(M, x) * f for x, f in field), sp.zeros(*M.shape)))
