"""Semi-implicit Euler: of first order, and not symplectic where the mass matrix depends on q."""

from typing import Any

from numpy.typing import NDArray

from multibody.simulate.advance import advance
from multibody.simulate.step_forces import StepForces
from multibody.simulate.step_result import StepResult


def step(acting: StepForces, dt: float, t: Any, q: NDArray[Any], v: NDArray[Any]) -> StepResult:
    """v⁺ = v + dt a(t, q, v), q⁺ = q ⊕ dt v⁺."""
    acting = acting.asked(t, q, v)
    a, tau = acting.acceleration(t, q, v)
    after = v + dt * a
    return StepResult(advance(acting.tree, q, dt * after), after, tau, acting)
