"""Semi-implicit Euler: of first order, and not symplectic where the mass matrix depends on q."""

from multibody.simulate.configuration_update import advance
from multibody.simulate.method import Method, StepResult, StepStart


def step(start: StepStart) -> StepResult:
    """v⁺ = v + dt a(t, q, v), q⁺ = q ⊕ dt v⁺."""
    forces, dt, t, q, v, *_ = start
    forces = forces.sample(t, q, v)
    a, tau = forces.acceleration(t, q, v)
    after = v + dt * a
    return StepResult(advance(forces.tree, q, dt * after), after, tau, forces)


EULER = Method("euler", step)
