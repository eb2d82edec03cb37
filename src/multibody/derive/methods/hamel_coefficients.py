"""The γ of quasi-velocities v = S(q) q', by how much they fail to be rates: Hamel coefficients, brackets of fields."""

from collections.abc import Sequence
from functools import lru_cache
from itertools import combinations
from typing import Any

import numpy as np
import sympy as sp

from multibody.derive.algebra.normal_form import normal
from multibody.derive.algebra.numpy_evaluation import numeric
from multibody.derive.algebra.quotients import divided
from multibody.derive.methods.quasi_velocities import ZERO_TOLERANCE, inverse, left_inverse
from multibody.derive.system.kinematics import tidy
from multibody.derive.system.random_states import random_values
from multibody.derive.system.symbols import TIME, matrix
from multibody.derive.system.system import System
from multibody.derive.system.validation import states
from multibody.errors import InputError


def gamma(S: Any, q: Sequence[sp.Symbol]) -> tuple[sp.ImmutableMatrix, ...]:
    """The matrices γ_k of v = S(q) q', one for each velocity.  [From 46-47]

    (γ_k)_ij = Σ_lm (S^-1)_li (∂S_jl/∂q_m - ∂S_jm/∂q_l) (S^-1)_mk. They say by how much the
    velocities fail to be rates: all of them vanish when every row of S is the gradient of some
    function.

    >>> x, y = sp.symbols("x y", real=True)
    >>> gamma([[1, 0], [0, sp.exp(x)]], (x, y))[1].tolist()
    [[0, -1], [0, 0]]
    """
    S = matrix(S, "S")
    states("q", q)
    n = len(q)
    if S.shape != (n, n):
        raise InputError(
            f"S: expected {n} × {n} expressions for the coordinates {', '.join(x.name for x in q)}, got {S.shape}"
        )
    inv = inverse(S)
    curls = [sp.Matrix(n, n, lambda l, m, j=j: sp.diff(S[j, l], q[m]) - sp.diff(S[j, m], q[l])) for j in range(n)]
    bars = [inv.T * curl * inv for curl in curls]  # entry i, k of the one for j
    return tuple(normal(divided(sp.ImmutableMatrix(n, n, lambda i, j, k=k: bars[j][i, k]), q)) for k in range(n))


@lru_cache(maxsize=64)
def brackets(system: System) -> tuple[sp.ImmutableMatrix, ...]:
    """The matrices γ_k from the fields X_i = Σ_m F_mi ∂/∂q_m of q' = F v: [X_i, X_k] = Σ_j (γ_k)_ij X_j.  [MDN §9]

    They need no S, so that q can have more entries than v, as with unit quaternions; `without_brackets` says when there
    are none.
    """
    n, F = len(system.v), system.rates
    changing = [(l, sp.diff(F, x)) for l, x in enumerate(system.q) if F.has(x)]
    if not changing:
        return (sp.ImmutableMatrix(sp.zeros(n)),) * n
    rates: list[Any] = [sum((F[l, i] * dF for l, dF in changing), sp.zeros(*F.shape)) for i in range(n)]
    S = left_inverse(system)
    gammas = [sp.zeros(n) for _ in range(n)]
    for i, k in combinations(range(n), 2):
        bracket = rates[i].col(k) - rates[k].col(i)
        if bracket.is_zero_matrix:
            continue
        c = tidy(system, S * bracket)
        gammas[k][i, :], gammas[i][k, :] = c.T, -c.T
    return tuple(map(sp.ImmutableMatrix, gammas))


@lru_cache(maxsize=64)
def time_bracket(system: System) -> sp.ImmutableMatrix:
    """γ_t = -(S ∂F/∂t)^T of velocities v = S(q, t) q': [X_i, ∂/∂t] = -∂F_i/∂t = Σ_j (γ_t)_ij X_j."""
    if TIME not in system.rates.free_symbols:
        return sp.ImmutableMatrix(sp.zeros(len(system.v)))
    return sp.ImmutableMatrix(tidy(system, -(left_inverse(system) * sp.diff(system.rates, TIME)).T))


def without_brackets(system: System) -> str:
    """Why a bracket of the fields is no combination of them; empty when all are.

    Such velocities leave out what a system does not do at once, but can do in turn, like parking a car.
    """
    n, F = len(system.v), system.rates
    if len(system.q) == n:
        return ""
    stack = sp.Matrix.vstack(F, *(sp.diff(F, x) for x in (*system.q, TIME)))
    at, *slopes, in_time = numeric(stack, random_values(system, np.random.default_rng(0))).reshape(-1, *F.shape)
    rates = np.einsum("li,lmk->imk", at, np.stack(slopes))

    def outside(field: Any) -> bool:
        return np.abs(field - at @ np.linalg.lstsq(at, field, rcond=None)[0]).max() > ZERO_TOLERANCE

    if outside(in_time):
        return "what the velocities move changes with the time t, to where no velocity leads: take `reduced`"
    for i, k in combinations(range(n), 2):
        if outside(rates[i, :, k] - rates[k, :, i]):
            return (
                f"to move along {system.v[i]} and {system.v[k]} in turn leads where no velocity leads at once: the "
                "velocities hold motion constraints in them. Give the constraints as restrictions, and take `reduced`"
            )
    return ""
