"""Programs with circular cones beside SciPy's SLSQP. For WholeBody see control/test_whole_body_cones.py."""

import numpy as np
from numpy.testing import assert_allclose
from scipy.optimize import minimize

from multibody.solvers.cone_program import solve_feasible
from multibody.solvers.cones import Cones
from multibody.solvers.program import Bounds


def inside(K, k, u):
    """How far each cone's point is within it."""
    x = (K @ u + k).reshape(-1, 3)
    return x[:, 0] - np.sqrt(x[:, 1] ** 2 + x[:, 2] ** 2 + 1e-24)


def cone_program(seed):
    """Objectives of any rank, and a feasible origin at the edge of some cones."""
    rng = np.random.default_rng(seed)
    n, m, p = 6, 5, 3
    B = rng.standard_normal((rng.integers(1, n + 1), n))
    H, g = B.T @ B, -3 * B.T @ rng.standard_normal(len(B))
    G = rng.standard_normal((m, n))
    G /= np.linalg.norm(G, axis=1)[:, None]
    upper, lower = rng.uniform(0, 1, m), -rng.uniform(0, 1, 2)
    K, k = rng.standard_normal((3 * p, n)) / 2, 0.3 * rng.standard_normal((p, 3))
    k[:, 0] = np.hypot(k[:, 1], k[:, 2]) + rng.uniform(0, 0.5, p) * (rng.random(p) > 0.4)
    return H, g, G, lower, upper, K, k.ravel()


def margins(program, u):
    """How far a point is within each constraint."""
    _, _, G, lower, upper, K, k = program
    return np.concatenate([upper - G @ u, (G @ u)[:2] - lower, inside(K, k, u)])


def certified_optimum(program):
    """The objective that SLSQP finds where it converges to a point that is feasible; None if it does from no start.

    SLSQP knows nothing of cones. Where it stops early, as at the apex of a cone, its objective says nothing.
    """
    H, g = program[:2]
    for start in (1e-3, 0.0, -1e-2, 3e-2):
        other = minimize(
            lambda u: u @ H @ u / 2 + g @ u,
            np.full(len(g), start),
            jac=lambda u: H @ u + g,
            constraints=[{"type": "ineq", "fun": lambda u: margins(program, u)}],
            method="SLSQP",
            options={"maxiter": 500, "ftol": 1e-13},
        )
        if other.status == 0 and margins(program, other.x).min() > -1e-9:
            return other.fun
    return None


def test_programs_are_as_good_as_those_of_another_method():
    compared = 0
    for seed in range(16):
        program = H, g, G, lower, upper, K, k = cone_program(seed)
        bounds = Bounds(G[None], lower[None], upper[None], Cones(K[None], k[None]))
        u = solve_feasible(H[None], g[None], bounds, np.array([False]))[0][0]
        assert margins(program, u).min() > -1e-9
        optimum = certified_optimum(program)
        if optimum is not None:
            assert_allclose(u @ H @ u / 2 + g @ u, optimum, atol=1e-8, err_msg=f"seed {seed}")
            compared += 1
    assert compared >= 12
