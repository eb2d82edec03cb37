"""Random programs, the conditions of optimality, and two independent solvers."""

import daqp
import numpy as np
import piqp


def programs(rng, n, equations, rows, count, *, degenerate=False):
    """Feasible, bounded programs (H, g, A, b, C, lower, upper), stacked.

    Degenerate ones have an H of any rank, equations that follow from others, equal bounds, rows that are there twice or
    zero, and lengths from 1e-3 to 1e3.
    """
    columns = []
    for _ in range(count):
        rank = rng.integers(1, n) if degenerate else n
        F = rng.standard_normal((rank, n)) * 10 ** rng.uniform(-1, 1, (rank, 1))
        A, C, x = rng.standard_normal((equations, n)), rng.standard_normal((rows, n)), rng.standard_normal(n)
        if degenerate:
            A[1:] = rng.standard_normal((max(equations - 1, 0), 1)) * A[:1] if rng.random() < 0.3 else A[1:]
            C *= 10 ** rng.uniform(-3, 3, (rows, 1))
            C[-2] = C[0] * rng.choice([-1, 0, 2])
        # within the range of H, so that the objective has a least value
        g = F.T @ rng.standard_normal(rank) * 3 if degenerate else rng.standard_normal(n) * 3
        scale = np.maximum(np.linalg.norm(C, axis=1), 1e-3)
        lower = C @ x - scale * rng.exponential(1, rows) * (rng.random(rows) > 0.3)
        upper = C @ x + scale * rng.exponential(1, rows)
        lower[rng.random(rows) < 0.3] = -np.inf
        if degenerate:
            lower[-1] = upper[-1] = C[-1] @ x
        columns.append((F.T @ F + (0 if degenerate else 1e-2) * np.eye(n), g, A, A @ x, C, lower, upper))
    return [np.stack(column) for column in zip(*columns, strict=True)]


def conditions(program, x, y, z):
    """Stationarity, feasibility and complementarity of an answer, relative to the program."""
    H, g, A, b, C, lower, upper = program
    c, size = C @ x, max(1.0, np.abs(g).max(), np.abs(H @ x).max())
    slack = np.where(z > 0, upper - c, np.where(z < 0, lower - c, 0.0))
    over = np.concatenate([np.abs(A @ x - b), c - upper, lower - c, [0.0]]).max()
    stationarity = np.abs(H @ x + g + A.T @ y + C.T @ z).max() / size
    return stationarity, over / max(1.0, np.abs(x).max()), np.abs(z * slack).max(initial=0) / size


def objective(program, x):
    return x @ program[0] @ x / 2 + program[1] @ x


def active_set(H, g, A, b, C, lower, upper):
    """DAQP: H positive definite, rows independent where they are active."""
    rows, low, high = np.vstack([A, C]), np.concatenate([b, lower]), np.concatenate([b, upper])
    sense = np.where(np.arange(len(low)) < len(b), 5, 0).astype(np.int32)
    arrays = [np.ascontiguousarray(x) for x in (H, g, rows, np.minimum(high, 1e30), np.maximum(low, -1e30))]
    return daqp.solve(*arrays, sense, primal_tol=1e-11, dual_tol=1e-12, iter_limit=10000)[0]


def interior(H, g, A, b, C, lower, upper):
    """PIQP: any convex program."""
    solver = piqp.DenseSolver()
    settings = solver.settings
    settings.eps_abs = settings.eps_rel = settings.eps_duality_gap_abs = settings.eps_duality_gap_rel = 1e-11
    settings.max_iter = 400
    equations = (A, b) if len(A) else (None, None)
    bounds = (C, np.maximum(lower, -1e30), np.minimum(upper, 1e30)) if len(C) else (None, None, None)
    solver.setup(H, g, *equations, *bounds, None, None)
    solver.solve()
    return np.array(solver.result.x)
