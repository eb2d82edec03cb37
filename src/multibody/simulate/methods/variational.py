"""The variational integrator: the discrete Euler-Lagrange equations of the midpoint rule, momentum exact.

The discrete Lagrangian of a step of the velocity ξ, from q0 to q1 = q0 ⊕ dt ξ, is dt (T - V)(q0 ⊕ dt/2 ξ, ξ). Its
derivatives by the ends are the momenta: p0 = -D₁ L_d at the start, which gives ξ, and p1 = D₂ L_d at the end.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from multibody.algorithms.base_representation import solve_in_left
from multibody.algorithms.crba import mass_matrix_product
from multibody.algorithms.energy import kinetic_energy, potential_energy
from multibody.algorithms.forward_dynamics import factors
from multibody.model import configuration
from multibody.model.tree import Tree
from multibody.simulate.configuration_update import advance
from multibody.simulate.method import Method, StepResult, StepStart
from multibody.tracing.ad.api import gradient
from multibody.tracing.record.loop import loop

MAX_ITERATIONS = 40
"""Iterations for the velocity; each divides the error by about 1/(dt times the rates of the motion)."""
TOLERANCE = 1e-13
"""The last change of the velocity, relative to 1 + |ξ|."""


def step(start: StepStart) -> StepResult:
    """One step; v is M(q)^-1 p of the momentum at that instant.

    Forces act as their mean over the step, half of it at either end.
    """
    forces, dt, t, q, v, *_ = start
    tree, middle = forces.tree, t + dt / 2
    forces = forces.sample(middle, q, v)
    p = mass_matrix_product(tree, q, v)

    def force(xi: NDArray[Any]) -> tuple[Any, NDArray[Any]]:
        """Half the impulse of all forces in the step, and the controller's forces."""
        q_m = advance(tree, q, dt / 2 * xi)
        tau = forces.control(middle, q_m, xi)
        return dt / 2 * (tau + forces.joints(q_m, xi) + forces.pushes(q_m)), tau

    def iterate(carry: Any) -> Any:
        xi, _ = carry
        start, _ = _momenta(tree, dt, q, advance(tree, q, dt * xi))
        half, _ = force(xi)
        change = _solve(tree, q, p + half - start)
        return xi + change, np.max(np.abs(change)) / (1.0 + np.max(np.abs(xi)))

    xi, _ = loop(MAX_ITERATIONS, iterate, (v, np.inf + 0.0 * v[0]), until=lambda carry: carry[1] <= TOLERANCE)
    q_after = advance(tree, q, dt * xi)
    _, end = _momenta(tree, dt, q, q_after)
    half, tau = force(xi)
    return StepResult(q_after, _solve(tree, q_after, end + half), tau, forces)


def _momenta(tree: Tree, dt: float, q0: NDArray[Any], q1: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """-D₁ L_d and D₂ L_d, along the velocities at q0 and q1."""

    def lagrangian(ends: NDArray[Any]) -> Any:
        start = configuration.integrate(tree, q0, ends[0])
        displacement = configuration.difference(tree, start, configuration.integrate(tree, q1, ends[1]))
        middle, xi = configuration.integrate(tree, start, displacement / 2), displacement / dt
        return dt * (kinetic_energy(tree, middle, xi) - potential_energy(tree, middle))

    derivative = gradient(lagrangian)(np.zeros((2, tree.nv)))
    return -derivative[0], derivative[1]


def _solve(tree: Tree, q: NDArray[Any], p: NDArray[Any]) -> NDArray[Any]:
    """M(q)^-1 p."""
    return solve_in_left(tree, q, p, lambda x: factors(tree, q).solve_vector(x, ()))


VARIATIONAL = Method("variational", step)
