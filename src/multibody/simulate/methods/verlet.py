"""Verlet's method, drift-kick-drift, of second order."""

from multibody.simulate.configuration_update import advance
from multibody.simulate.method import Method, StepResult, StepStart


def step(start: StepStart) -> StepResult:
    """q_m = q ⊕ dt/2 v; v⁺ = v + dt a(q_m, v_m); q⁺ = q_m ⊕ dt/2 v⁺.

    Gyroscopic forces depend on the velocity in the middle of the kick, v_m = v + dt/2 a(q_m, v_m). Two fixed-point
    iterations find it; the mass matrix is factored once.
    """
    forces, dt, t, q, v, *_ = start
    tree, middle = forces.tree, t + dt / 2
    q_m = advance(tree, q, dt / 2 * v)
    forces = forces.sample(middle, q_m, v)
    a, tau = forces.acceleration(middle, q_m, v)
    for _ in range(2):
        a, tau = forces.acceleration(middle, q_m, v + dt / 2 * a)
    after = v + dt * a
    return StepResult(advance(tree, q_m, dt / 2 * after), after, tau, forces)


VERLET = Method("verlet", step)
