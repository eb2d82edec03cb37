"""One quadratic program by DAQP, an active-set solver in C, which is the faster for a single problem.  [Arnström 2022]

It remembers nothing: what it may start from is an answer that the caller has.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multibody.errors import InputError
from multibody.solvers.qp_phases import Program

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
    H, g, rows = program
    solve = one_of(len(rows.b), len(rows.upper))
    doubles = (np.asarray(array, dtype=np.float64) for array in (H, g, *rows))
    return solve(*doubles, None if start is None else np.asarray(start, dtype=np.float64))


def one_of(equations: int, rows: int) -> Callable[..., tuple[NDArray[Any], NDArray[Any]] | None]:
    """What finds the x of programs of so many equations and rows, and its multipliers.

    It takes H, g, A, b, C, lower and upper, arrays of doubles, A and b None where there are no equations, and
    multipliers of a similar program or None. Where DAQP does not say that it has x, it returns None.
    """
    kinds = np.repeat(np.array([EQUALITY, INEQUALITY], np.int32), [equations, rows])
    solve, contiguous = _module().solve, np.ascontiguousarray

    def one(H: Any, g: Any, A: Any, b: Any, C: Any, lower: Any, upper: Any, start: Any) -> Any:
        low, high = np.maximum(lower, -NONE), np.minimum(upper, NONE)
        if equations:
            C, low, high = np.concatenate([A, C]), np.concatenate([b, low]), np.concatenate([b, high])
        # told that H is symmetric, it does not look
        x, _, flag, told = solve(
            contiguous(H), contiguous(g), contiguous(C), high, low, kinds, is_avi=False, dual_start=start, **SETTINGS
        )
        return (x, np.asarray(told["lam"])) if flag > 0 else None

    return one


def least_norm(m: int, n: int) -> Callable[..., tuple[NDArray[Any], NDArray[Any]] | None]:
    """What finds the w, (n,), of least norm with lower <= G w <= upper, for G (m, n), and its multipliers.

    It takes G, lower, upper and multipliers of a similar program or None, whose active rows are tried first: contiguous
    arrays of doubles, with -NONE where there is no lower bound. Where DAQP does not say that it has w, it returns None.
    """
    H, g, kinds, solve = np.eye(n), np.zeros(n), np.zeros(m, np.int32), _module().solve

    def least(
        G: NDArray[Any], lower: NDArray[Any], upper: NDArray[Any], start: NDArray[Any] | None = None
    ) -> tuple[NDArray[Any], NDArray[Any]] | None:
        w, _, flag, told = solve(H, g, G, upper, lower, kinds, is_avi=False, dual_start=start, **SETTINGS)
        return (w, told["lam"]) if flag > 0 else None

    return least


def _module() -> Any:
    try:
        import daqp
    except ImportError:
        raise InputError(
            'solver="daqp": DAQP is not installed; it comes with the extra [control]: pip install "multibody[control]"'
        ) from None
    return daqp
