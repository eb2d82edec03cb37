"""Derivatives through contacts and impacts: impulses as the solution of their conditions, not of the sweeps to it.

They are the fixed point of sweeps, converged to rounding errors, and have its derivative by the implicit function
theorem, on the branch (open, stick, slip) that each contact is on.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from multibody.simulate.contact.gauss_seidel import ContactSystem, Impulses
from multibody.tracing.ad.fixed_point import fixed_point

MAX_SWEEPS = 300
TOLERANCE = {np.dtype(np.float64): 1e-11, np.dtype(np.float32): 1e-4}
"""The change of impulses at the fixed point, relative to 1 + |P|."""


def solve_exact(system: ContactSystem, warm: NDArray[Any]) -> Impulses:
    """Solve for the fixed point of the sweeps, with its derivative, from the impulses of the last step.

    The derivative is that of the update of all blocks at once (Jacobi), which has the same fixed point and is shorter.
    """
    inverses = system.inverses()

    def sweep(P: NDArray[Any], exact: bool = False) -> NDArray[Any]:
        return system.sweep(inverses, P, system.u + np.matmul(system.W, P), 1.0, exact)[0]

    P, rounds = fixed_point(sweep, warm, count=MAX_SWEEPS, rounds=True)
    P = fixed_point(lambda P: sweep(P, exact=True), P, count=1, tolerance=TOLERANCE[system.W.dtype])
    return Impulses(P, 0.0, rounds)
