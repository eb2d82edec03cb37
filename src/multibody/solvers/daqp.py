"""One quadratic program by DAQP, an active-set solver in C: the faster one for a single program.  [Arnström 2022]

Stateless; warm-starts from a previous answer passed by the caller.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from multibody.errors import InputError
from multibody.geometry._arrays import Array

INFINITE_BOUND = 1e30
"""The size from which DAQP takes a bound for none."""
EQUALITY, INEQUALITY = 5, 0
"""DAQP's types of rows."""
SETTINGS = {"primal_tol": 1e-10, "dual_tol": 1e-12, "iter_limit": 10_000}


def solver_for(equations: int, rows: int) -> Callable[..., tuple[Array, Array] | None]:
    """A function that returns x and its multipliers for programs with these numbers of equations and rows.

    It takes H, g, A, b, C, lower and upper, A and b ignored without equations, and multipliers of a similar program,
    whose active rows are tried first, or None. It returns None if DAQP does not report success.
    """
    kinds = np.repeat(np.array([EQUALITY, INEQUALITY], np.int32), [equations, rows])
    solve, contiguous = _module().solve, np.ascontiguousarray

    def one(H: Any, g: Any, A: Any, b: Any, C: Any, lower: Any, upper: Any, start: Any) -> Any:
        if H.dtype != np.float64:
            arrays = H, g, A, b, C, lower, upper, start
            H, g, A, b, C, lower, upper, start = (None if x is None else x.astype(np.float64) for x in arrays)
        low, high = np.maximum(lower, -INFINITE_BOUND), np.minimum(upper, INFINITE_BOUND)
        if equations:
            C, low, high = np.concatenate([A, C]), np.concatenate([b, low]), np.concatenate([b, high])
        # is_avi=False: H is symmetric, and not checked
        x, _, flag, info = solve(
            contiguous(H), contiguous(g), contiguous(C), high, low, kinds, is_avi=False, dual_start=start, **SETTINGS
        )
        return (x, np.asarray(info["lam"])) if flag > 0 else None

    return one


def least_norm_solver_for(m: int, n: int) -> Callable[..., tuple[Array, Array] | None]:
    """A function that returns the w, (n,), of least norm with lower <= G w <= upper, G (m, n), and its multipliers.

    It takes G, lower, upper and multipliers of a similar program or None, whose active rows are tried first: contiguous
    arrays of doubles, with -INFINITE_BOUND for no lower bound. It returns None if DAQP does not report success.
    """
    H, g, kinds, solve = np.eye(n), np.zeros(n), np.zeros(m, np.int32), _module().solve

    def least(G: Array, lower: Array, upper: Array, start: Array | None = None) -> tuple[Array, Array] | None:
        w, _, flag, info = solve(H, g, G, upper, lower, kinds, is_avi=False, dual_start=start, **SETTINGS)
        return (w, info["lam"]) if flag > 0 else None

    return least


def _module() -> Any:
    try:
        import daqp
    except ImportError:
        raise InputError(
            'solver="daqp": DAQP is not installed; it comes with the extra [control]: pip install "multibody[control]"'
        ) from None
    return daqp
