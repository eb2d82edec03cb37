"""An oracle for strict priorities within bounds: a quadratic program of PIQP a level, in bases of null spaces."""

import numpy as np
import piqp


def least(A, b, rows, lower, upper):
    """The x for which |A x - b| is least, with lower <= rows x <= upper."""
    solver = piqp.DenseSolver()
    settings = solver.settings
    settings.eps_abs = settings.eps_rel = settings.eps_duality_gap_abs = settings.eps_duality_gap_rel = 1e-12
    settings.max_iter = 500
    solver.setup(A.T @ A, -A.T @ b, None, None, rows, lower, upper, None, None)
    solver.solve()
    return np.array(solver.result.x)


def cascade(levels, rows, lower, upper, support=None):
    """x, and |A x - b| of the levels [(A, b), ...], in the null space of `support`."""
    n = rows.shape[1]
    x, Z, norms = np.zeros(n), np.eye(n), []
    if support is not None:
        Z = null_space(support, support)
    for A, b in levels:
        if Z.shape[1]:
            room = lower - rows @ x - 1e-9, upper - rows @ x + 1e-9
            x = x + Z @ least(A @ Z, b - A @ x, rows @ Z, *room)
            Z = Z @ null_space(A @ Z, A)
        norms.append(np.linalg.norm(A @ x - b))
    return x, np.array(norms)


def null_space(A, like):
    """A basis of the null space of A, whose rank is relative to the size of another matrix."""
    _, s, Vt = np.linalg.svd(A)
    return Vt[int((s > 1e-9 * np.linalg.norm(like, 2)).sum()) :].T
