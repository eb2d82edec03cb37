"""Systems in other velocities: v = S(q) u that need not be rates of coordinates, or these rates themselves."""

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np
import sympy as sp

from multibody.derive.algebra.normal_form import normal
from multibody.derive.algebra.numpy_evaluation import numeric
from multibody.derive.system.constraints import Holonomic, Motion
from multibody.derive.system.kinematics import tidy
from multibody.derive.system.loads import Generalized, Load
from multibody.derive.system.random_states import random_values
from multibody.derive.system.symbols import matrix, rate
from multibody.derive.system.system import System, expect_system
from multibody.derive.system.validation import states
from multibody.errors import InputError

ZERO_TOLERANCE = 1e-9
"""The bound of a zero at a random state, where all numbers are about 1."""
OPERATIONS = 60
"""The largest expressions, in operations, that are shortened for reading."""


def with_quasi_velocities(system: System, S: Any, velocities: Sequence[sp.Symbol]) -> System:
    """Rewrite a system in the velocities v = S(q, t) u, where u are those that it has.  [From 12]

    Args:
        system: with velocities u, the rates of its coordinates or not.
        S: as many rows and columns as velocities, expressions in the coordinates and the time.
        velocities: a symbol for each row of S.

    Raises:
        InputError: when S is not square or cannot be inverted, and which of its rows depend on
            each other.

    >>> x, m = sp.symbols("x m", real=True)
    >>> from multibody.derive.system.bodies import particle
    >>> oscillator = System("oscillator", (x,), (particle("mass", m, (x, 0, 0)),))
    >>> with_quasi_velocities(oscillator, [[2]], sp.symbols("w,", real=True)).q_dot
    Matrix([[w/2]])
    """
    expect_system(system)
    S = matrix(S, f"S of {system.name}")
    states(system.name, velocities)
    velocities = tuple(velocities)
    n = len(system.v)
    if S.shape != (n, n) or len(velocities) != n:
        raise InputError(
            f"S of {system.name}: expected {n} × {n} expressions and {n} velocities, one for each of "
            f"{_names(system.v)}, got {S.shape[0]} × {S.shape[1]} and {len(velocities)}"
        )
    moving = S.free_symbols & {*system.v, *(rate(x) for x in system.q)}
    if moving:
        raise InputError(f"S of {system.name}: expected expressions in the coordinates, got {_names(moving)} in it")
    taken = [v.name for k, v in enumerate(velocities) if v in map(rate, system.q) and S.row(k) != _unit(system, v)]
    if taken:
        raise InputError(
            f"{system.name}: {', '.join(taken)} is the rate of a coordinate: give that velocity another name"
        )
    _check_rank(system, S, velocities)
    u_of_v = inverse(S)
    return in_velocities(system, velocities, u_of_v, system.rates * u_of_v)


def with_rates_as_velocities(system: System) -> System:
    """A system with v = q', where q' = F(q) v need not be invertible: as many
    velocities as coordinates.

    Each unit quaternion becomes a configuration constraint w² + x² + y² + z² = 1, and takes
    back the velocity that it adds. Generalized forces keep their power: along q' they are S^T
    τ, where v = S q' and S is the left inverse of F.

    >>> from multibody.derive.system.bodies import particle
    >>> x, m, w = sp.symbols("x m w", real=True)
    >>> twice = System("twice", (x,), (particle("mass", m, (x, 0, 0)),), v=(w,), rates=[[2]])
    >>> with_rates_as_velocities(twice).v
    (x_dot,)
    """
    expect_system(system)
    if system.holonomic_velocities:
        rates = replace(system, tree=None)
    else:
        rates = in_velocities(system, tuple(map(rate, system.q)), left_inverse(system), sp.eye(len(system.q)))
    return replace(rates, restrictions=(*rates.restrictions, *_unit_lengths(system)))


def in_velocities(system: System, velocities: Sequence[sp.Symbol], u_of_v: Any, rates: Any) -> System:
    """A system with velocities v in place of u = u_of_v v, and q' = rates v; it has no tree.

    Generalized forces along v have the power of those along u.
    """
    u = dict(zip(system.v, u_of_v * sp.Matrix(velocities), strict=True))
    loads: list[Load] = []
    for load in (load.substitute(u) for load in system.loads):
        if isinstance(load, Generalized):
            row = u_of_v.row(system.v.index(load.velocity))
            loads += [Generalized(v, load.force * row[j]) for j, v in enumerate(velocities) if row[j] != 0]
        else:
            loads.append(load)
    restrictions = [
        Motion(r.name, r.velocity.subs(u, simultaneous=True)) if isinstance(r, Motion) else r
        for r in system.restrictions
    ]
    return replace(system, v=velocities, rates=rates, loads=loads, restrictions=restrictions, tree=None)


@lru_cache(maxsize=64)
def left_inverse(system: System) -> sp.ImmutableMatrix:
    """S with v = S q': the inverse of F, or (F^T F)^-1 F^T where there are more coordinates than velocities."""
    F = system.rates
    if F.rows == F.cols:
        return sp.ImmutableMatrix(inverse(F))
    return sp.ImmutableMatrix(tidy(system, inverse(tidy(system, F.T * F)) * F.T))


def inverse(S: Any) -> sp.Matrix:
    """The inverse of a matrix that has one, block by block, with short entries."""
    S = sp.Matrix(S)
    result = sp.zeros(*S.shape)
    for rows, columns in _blocks(S):
        block = _block_inverse(S.extract(rows, columns))
        for i, column in enumerate(columns):
            for j, row in enumerate(rows):
                result[column, row] = block[i, j]
    return result


def _block_inverse(S: sp.Matrix) -> sp.Matrix:
    if S.shape == (1, 1):
        return S.applyfunc(lambda x: 1 / x)
    squares = normal(S.T * S)
    if squares.is_diagonal():  # as of rotations
        return squares.applyfunc(lambda x: 1 / x if x else x) * S.T
    return (S.adjugate(method="berkowitz") / _short(S.det(method="berkowitz"))).applyfunc(_short)


def _short(x: Any) -> Any:
    """An expression in fewer operations, where that is quick to find."""
    return sp.trigsimp(sp.cancel(x)) if sp.count_ops(x) <= OPERATIONS else x


def _blocks(S: sp.Matrix) -> list[tuple[list[int], list[int]]]:
    """Rows and columns of the independent parts of a square matrix."""
    parts: list[tuple[set[int], set[int]]] = []
    for row in range(S.rows):
        rows, columns = {row}, {c for c in range(S.cols) if S[row, c] != 0}
        apart = []
        for other in parts:
            if other[1] & columns:
                rows, columns = rows | other[0], columns | other[1]
            else:
                apart.append(other)
        parts = [*apart, (rows, columns)]
    return [(sorted(rows), sorted(columns)) for rows, columns in parts]


def _check_rank(system: System, S: sp.ImmutableMatrix, velocities: tuple[sp.Symbol, ...]) -> None:
    """That the rows of S are independent, at two states that nobody chose."""
    rng = np.random.default_rng(0)
    ats = []
    for _ in range(2):
        values = random_values(system, rng)
        values |= {x: float(rng.uniform(0.5, 1.5)) for x in S.free_symbols if x not in values}
        ats.append(numeric(S, values))
    for k, v in enumerate(velocities):
        if all(np.linalg.matrix_rank(at[: k + 1], tol=ZERO_TOLERANCE) <= k for at in ats):
            first, second = (np.linalg.lstsq(at[:k].T, at[k], rcond=None)[0] for at in ats)
            used = [j for j in range(k) if abs(first[j]) > ZERO_TOLERANCE or abs(second[j]) > ZERO_TOLERANCE]
            if not used:
                how = f"row {k + 1} of S is zero"
            elif np.allclose(first, second, atol=ZERO_TOLERANCE):
                terms = " + ".join(f"{first[j]:.6g} {velocities[j]}" for j in used)
                how = f"row {k + 1} of S makes {v} = {terms}"
            else:
                how = f"row {k + 1} of S, of {v}, is a combination of the rows of {_names(velocities[j] for j in used)}"
            raise InputError(
                f"{system.name}: S cannot be inverted, so that {_names(velocities)} do not tell the rates: {how}"
            )


def _unit(system: System, velocity: sp.Symbol) -> sp.Matrix:
    """The row that keeps a velocity that the system has."""
    return sp.Matrix([[int(v == velocity) for v in system.v]])


def _names(symbols: Any) -> str:
    return (
        ", ".join(sorted(x.name for x in symbols)) if isinstance(symbols, set) else ", ".join(x.name for x in symbols)
    )


def _unit_lengths(system: System) -> list[Holonomic]:
    known = {r.name for r in system.restrictions}
    return [
        Holonomic(name, sum(x**2 for x in unit) - 1)
        for unit in system.units
        if (name := f"unit length of {', '.join(x.name for x in unit)}") not in known
    ]
