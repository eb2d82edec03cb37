"""Verlet's method, drift-kick-drift, of second order."""

from typing import Any

from numpy.typing import NDArray

from multibody.simulate.advance import advance
from multibody.simulate.step_forces import StepForces
from multibody.simulate.step_result import StepResult


def step(acting: StepForces, dt: float, t: Any, q: NDArray[Any], v: NDArray[Any]) -> StepResult:
    """q_m = q ⊕ dt/2 v; v⁺ = v + dt a(q_m, v_m); q⁺ = q_m ⊕ dt/2 v⁺.

    Forces of bodies that turn depend on the velocity in the middle of the kick, v_m, which two rounds find from
    v_m = v + dt/2 a(q_m, v_m); the mass matrix is factored once.
    """
    tree, middle = acting.tree, t + dt / 2
    q_m = advance(tree, q, dt / 2 * v)
    acting = acting.asked(middle, q_m, v)
    a, tau = acting.acceleration(middle, q_m, v)
    for _ in range(2):
        a, tau = acting.acceleration(middle, q_m, v + dt / 2 * a)
    after = v + dt * a
    return StepResult(advance(tree, q_m, dt / 2 * after), after, tau, acting)
