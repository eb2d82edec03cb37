"""Random programs, the conditions of optimality, and two independent solvers."""

import itertools
from fractions import Fraction

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


def enumerated(H, g, C, lower, upper):
    """The exact minimiser of a small program without equations: all active sets, in rational numbers."""
    n, m = len(g), len(C)
    exact = np.vectorize(Fraction, otypes=[object])
    for sides in itertools.product((0, -1, 1), repeat=m):
        rows = [k for k in range(m) if sides[k]]
        bounds = [(upper if sides[k] > 0 else lower)[k] for k in rows]
        if len(rows) > n or not np.isfinite(bounds).all():
            continue
        K = np.block([[H, C[rows].T], [C[rows], np.zeros((len(rows), len(rows)))]])
        solution = _solved(exact(np.hstack([K, np.append(-g, bounds)[:, None]])))
        if solution is None or any(z * sides[k] < 0 for z, k in zip(solution[n:], rows, strict=True)):
            continue
        y = exact(C) @ solution[:n]
        if all(low <= value <= high for low, value, high in zip(lower, y, upper, strict=True)):
            return solution[:n].astype(float)
    return None


def _solved(M):
    """x of (A, b), by elimination; None if A is singular."""
    for k in range(len(M)):
        pivot = next((row for row in range(k, len(M)) if M[row, k] != 0), None)
        if pivot is None:
            return None
        M[[k, pivot]] = M[[pivot, k]]
        M[k] = M[k] / M[k, k]
        for row in range(len(M)):
            if row != k:
                M[row] = M[row] - M[row, k] * M[k]
    return M[:, -1]


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


SCALES = ("rows", "unknowns", "nearly flat", "linear", "redundant", "tight", "huge", "all")


def scaled(rng, n, equations, rows, kind):
    """One feasible, bounded program whose numbers are of very different sizes, or whose bounds leave little room.

    Of `SCALES`: rows of lengths from 1e-6 to 1e6; unknowns in units from 1e-3 to 1e3; H with eigenvalues that differ by
    1e10; H = 0; rows that follow from others; bounds that are equal or 1e-7 apart; bounds up to 1e30; some of it all.
    """
    every = kind == "all"

    def draws(name, share):
        return kind == name or (every and rng.random() < share)

    rank = n if kind in ("rows", "unknowns", "tight", "huge") else rng.integers(1, n + 1)
    F = rng.standard_normal((rank, n)) * 10 ** rng.uniform(-1, 1, (rank, 1))
    F = rng.standard_normal((n, n)) * 10 ** rng.uniform(-5, 0, (n, 1)) if draws("nearly flat", 0.3) else F
    F = np.zeros((1, n)) if draws("linear", 0.2) else F
    A, C, x = rng.standard_normal((equations, n)), rng.standard_normal((rows, n)), rng.standard_normal(n)
    if draws("redundant", 0.5):
        A[1:] = rng.standard_normal((max(equations - 1, 0), 1)) * A[:1]
        C[1], C[2] = C[0] * rng.choice([-1, 1, 2]), 0.5 * (C[0] + C[3])
    boxed = every or kind in ("linear", "nearly flat", "redundant")
    if boxed:
        C[:n] = np.eye(n)
    y, g = C @ x, 3 * rng.standard_normal(n)
    lower, upper = y - rng.exponential(1, rows) * (rng.random(rows) > 0.3), y + rng.exponential(1, rows)
    lower[(rng.random(rows) < 0.3) & (np.arange(rows) >= n * boxed)] = -np.inf
    if draws("tight", 0.5):
        some, near = np.argsort(rng.random(rows))[: max(1, n - equations - 1)], rng.random(rows) < 0.2
        lower[some] = upper[some] = y[some]
        upper[near] = np.where(np.isfinite(lower[near]), y[near] + 1e-7, upper[near])
    if draws("huge", 0.4):
        far, wide = rng.random((2, rows)) < 0.35
        lower[far] = rng.choice([-1e20, -1e19, -1e12, -1e9, -1e6, -np.inf], far.sum())
        upper[wide] = rng.choice([1e30, 1e20, 1e15, 1e9, np.inf], wide.sum())
    units = 10 ** rng.uniform(-3, 3, n) if draws("unknowns", 0.3) else np.ones(n)
    lengths = 10 ** rng.uniform(-6, 6, rows) if draws("rows", 0.5) else np.ones(rows)
    H, g, A, C = F.T @ F * units[:, None] * units, g * units, A * units, C * units * lengths[:, None]
    return H, g, A, A @ (x / units), C, lower * lengths, upper * lengths


def contradicting(rng, n, equations, rows):
    """One program without a feasible point: two rows, a sum of all, or two equations exclude each other."""
    H, g, A, b, C, lower, upper = (part[0] for part in programs(rng, n, equations, rows, 1, degenerate=True))
    apart, kind = 10 ** rng.uniform(-3, 1), rng.integers(3)
    if kind == 0:
        C[1] = C[0]
        lower[0], upper[0] = C[0] @ rng.standard_normal(n) + apart * np.linalg.norm(C[0]), np.inf
        lower[1], upper[1] = -np.inf, lower[0] - apart * np.linalg.norm(C[0])
    elif kind == 1:
        C[-1] = -(rng.uniform(0.1, 1, rows - 1) @ C[:-1])
        lower, upper = np.full(rows, -np.inf), C @ rng.standard_normal(n)
        upper[-1] -= apart * np.linalg.norm(C[-1])
    else:
        A[1], b[1] = 2 * A[0], 2 * b[0] + apart
    return H, g, A, b, C, lower, upper


def least_violation(A, b, C, lower, upper):
    """The least sum of squares of A x - b and of what C x is beyond its bounds, by PIQP in (x, violations)."""
    n, m = C.shape[1], len(C)
    lengths = np.maximum(np.linalg.norm(C, axis=1), 1e-9)
    largest = lengths.max()
    P = np.zeros((n + m, n + m))
    P[:n, :n], P[n:, n:] = A.T @ A / largest**2, np.diag((lengths / largest) ** 2)
    G = np.hstack([C / lengths[:, None], -np.eye(m)])
    c = np.concatenate([-A.T @ b / largest**2, np.zeros(m)])
    none = np.zeros((0, n + m)), np.zeros(0)
    x = interior(P, c, *none, G, lower / lengths, upper / lengths)[:n]
    return violation(A, b, C, lower, upper, x)


def violation(A, b, C, lower, upper, x):
    return np.sum((A @ x - b) ** 2) + np.sum(np.maximum(0, np.maximum(C @ x - upper, lower - C @ x)) ** 2)
