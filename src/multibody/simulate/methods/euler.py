"""Semi-implicit Euler: of first order, and not symplectic where the mass matrix depends on q."""

from typing import Any

from numpy.typing import NDArray

from multibody.simulate.advance import advance
from multibody.simulate.step_forces import Acting
from multibody.simulate.step_result import Moved


def step(acting: Acting, dt: float, t: Any, q: NDArray[Any], v: NDArray[Any]) -> Moved:
    """v⁺ = v + dt a(t, q, v), q⁺ = q ⊕ dt v⁺."""
    acting = acting.asked(t, q, v)
    a, tau = acting.acceleration(t, q, v)
    after = v + dt * a
    return Moved(advance(acting.tree, q, dt * after), after, tau, acting)
