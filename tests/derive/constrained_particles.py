"""Point masses under given forces and moving constraints, as numbers alone: index-reduced and stabilised.

It shares nothing with `multibody.derive`: constraints are NumPy functions of Cartesian coordinates and time, their
derivatives complex steps and differences, accelerations and multipliers one linear solve.
"""

import numpy as np
from scipy.integrate import solve_ivp

STEP = 1e-3
STIFF = 5.0
"""1/s: how fast a violated constraint returns (Baumgarte)."""


def slope(constraint, x, t):
    """∂φ/∂x, by complex steps."""
    return np.stack([constraint(x + 1e-30j * e, t).imag / 1e-30 for e in np.eye(len(x))], axis=-1)


def along(constraint, x, v, t):
    """dφ/dt at the velocity v."""
    return constraint(x + 1e-30j * v, t + 1e-30j).imag / 1e-30


def curvature(constraint, x, v, t):
    """d²φ/dt² at the constant velocity v: what must be balanced by J x''."""
    weights = {-2: -1 / 12, -1: 4 / 3, 0: -5 / 2, 1: 4 / 3, 2: -1 / 12}
    return sum(w * constraint(x + k * STEP * v, t + k * STEP) for k, w in weights.items()) / STEP**2


def acceleration(constraint, masses, force, x, v, t):
    """x'' and λ of m x'' = F + J^T λ with φ(x, t) = 0."""
    J = slope(constraint, x, t)
    back = 2 * STIFF * along(constraint, x, v, t) + STIFF**2 * constraint(x, t)
    K = np.block([[np.diag(masses), -J.T], [J, np.zeros((len(J), len(J)))]])
    solved = np.linalg.solve(K, np.concatenate([force, -curvature(constraint, x, v, t) - back]))
    return solved[: len(x)], solved[len(x) :]


def simulate(constraint, masses, force, x, v, times):
    """x at these times, from the state at the first of them."""

    def rate(t, state):
        x, v = np.split(state, 2)
        return np.concatenate([v, acceleration(constraint, masses, force, x, v, t)[0]])

    span = (times[0], times[-1])
    run = solve_ivp(rate, span, np.concatenate([x, v]), "DOP853", times, rtol=1e-9, atol=1e-9)
    return run.y[: len(x)].T
