"""Runge-Kutta of fourth order on the configuration's groups, as Munthe-Kaas' methods, without commutators.

The tableau is that of Celledoni, Marthinsen and Owren (2003): stages and result are products of exponentials, so that
only `q ⊕ dv` is needed of the groups, and on R^n it is the classical method.
"""

from typing import Any

from numpy.typing import NDArray

from multibody.simulate.advance import advance
from multibody.simulate.step_forces import StepForces
from multibody.simulate.step_result import StepResult


def step(acting: StepForces, dt: float, t: Any, q: NDArray[Any], v: NDArray[Any]) -> StepResult:
    """One step; velocities and accelerations of the stages are v_i and a_i."""
    tree, half = acting.tree, dt / 2
    acting = acting.asked(t, q, v)
    v1 = v
    a1, tau1 = acting.acceleration(t, q, v1)
    q2, v2 = advance(tree, q, half * v1), v + half * a1
    a2, tau2 = acting.acceleration(t + half, q2, v2)
    q3, v3 = advance(tree, q, half * v2), v + half * a2
    a3, tau3 = acting.acceleration(t + half, q3, v3)
    q4, v4 = advance(tree, q2, dt * v3 - half * v1), v + dt * a3
    a4, tau4 = acting.acceleration(t + dt, q4, v4)
    middle = advance(tree, q, dt / 12 * (3 * v1 + 2 * v2 + 2 * v3 - v4))
    after = advance(tree, middle, dt / 12 * (-v1 + 2 * v2 + 2 * v3 + 3 * v4))
    tau = (tau1 + 2 * tau2 + 2 * tau3 + tau4) / 6
    return StepResult(after, v + dt / 6 * (a1 + 2 * a2 + 2 * a3 + a4), tau, acting)
