"""One quadratic program by DAQP, an active-set solver in C, which is the faster for a single problem.  [Arnström 2022]

It remembers nothing: what it may start from is an answer that the caller has.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from multibody.control.program_phases import Program
from multibody.errors import InputError

NONE = 1e30
"""What DAQP takes for no bound."""
EQUALITY, INEQUALITY = 5, 0
"""DAQP's kinds of rows."""
SETTINGS = {"primal_tol": 1e-10, "dual_tol": 1e-12, "iter_limit": 10_000}


def found(program: Program, start: NDArray[Any] | None = None) -> tuple[NDArray[Any], NDArray[Any]] | None:
    """x and its multipliers, if DAQP says that it has them; else None.

    Args:
        program: one.
        start: (k + m), multipliers of a similar program, whose active rows are tried first.
    """
    daqp = _module()
    H, g, (A, b, C, lower, upper) = program
    rows = np.concatenate([A, C])
    low, high = (np.clip(np.concatenate([b, side]), -NONE, NONE) for side in (lower, upper))
    kinds = np.where(np.arange(len(low)) < len(b), EQUALITY, INEQUALITY).astype(np.int32)
    given = {} if start is None else {"dual_start": np.ascontiguousarray(start, dtype=np.float64)}
    arrays = (np.ascontiguousarray(array, dtype=np.float64) for array in (H, g, rows, high, low))
    x, _, flag, told = daqp.solve(*arrays, kinds, **given, **SETTINGS)
    return (x, np.asarray(told["lam"])) if flag > 0 else None


def _module() -> Any:
    try:
        import daqp
    except ImportError:
        raise InputError(
            'solver="daqp": DAQP is not installed; it comes with the extra [control]: pip install "multibody[control]"'
        ) from None
    return daqp
