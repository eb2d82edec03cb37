"""An oracle for strict priorities within bounds: a quadratic program of PIQP a level, in bases of null spaces."""

import numpy as np
import piqp


def least(A, b, rows, lower, upper):
    """The x for which |A x - b| is least, with lower <= rows x <= upper.

    The residuals r = A x - b are unknowns, too: A^T A would square small singular values below what PIQP resolves.
    """
    solver, (m, n) = piqp.DenseSolver(), A.shape
    settings = solver.settings
    settings.eps_abs = settings.eps_rel = settings.eps_duality_gap_abs = settings.eps_duality_gap_rel = 1e-12
    settings.max_iter = 500
    H = np.diag(np.append(np.zeros(n), np.ones(m)))
    equations, rows = np.hstack([A, -np.eye(m)]), np.hstack([rows, np.zeros((len(rows), m))])
    solver.setup(H, np.zeros(n + m), equations, b, rows, lower, upper, None, None)
    solver.solve()
    end = solver.result.info
    assert end.primal_res <= 1e-8 * (1 + end.primal_res_rel)  # *_rel are the sizes of the terms
    assert end.dual_res <= 1e-8 * (1 + end.dual_res_rel)
    return np.array(solver.result.x)[:n]


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
