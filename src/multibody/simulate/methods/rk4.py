"""Runge-Kutta of fourth order on the configuration's groups, as Munthe-Kaas' methods, without commutators.

The tableau is that of Celledoni, Marthinsen and Owren (2003): stages and result are products of exponentials, so that
`q ⊕ dv` is the only operation on groups, and on R^n it is the classical method.
"""

from multibody.simulate.configuration_update import advance
from multibody.simulate.method import Method, StepResult, StepStart


def step(start: StepStart) -> StepResult:
    """One step; velocities and accelerations of the stages are v_i and a_i."""
    forces, dt, t, q, v, *_ = start
    tree, half = forces.tree, dt / 2
    forces = forces.sample(t, q, v)
    v1 = v
    a1, tau1 = forces.acceleration(t, q, v1)
    q2, v2 = advance(tree, q, half * v1), v + half * a1
    a2, tau2 = forces.acceleration(t + half, q2, v2)
    q3, v3 = advance(tree, q, half * v2), v + half * a2
    a3, tau3 = forces.acceleration(t + half, q3, v3)
    q4, v4 = advance(tree, q2, dt * v3 - half * v1), v + dt * a3
    a4, tau4 = forces.acceleration(t + dt, q4, v4)
    middle = advance(tree, q, dt / 12 * (3 * v1 + 2 * v2 + 2 * v3 - v4))
    after = advance(tree, middle, dt / 12 * (-v1 + 2 * v2 + 2 * v3 + 3 * v4))
    tau = (tau1 + 2 * tau2 + 2 * tau3 + tau4) / 6
    return StepResult(after, v + dt / 6 * (a1 + 2 * a2 + 2 * a3 + a4), tau, forces)


RK4 = Method("rk4", step)
