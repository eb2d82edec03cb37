"""Equations of motion close to an equilibrium: x' = A x + B u."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import sympy as sp
from numpy.typing import NDArray
from sympy.polys.matrices import DomainMatrix
from sympy.polys.matrices.exceptions import DMNonInvertibleMatrixError

from multibody.derive.algebra.differentiation import slopes
from multibody.derive.algebra.normal_form import is_zero
from multibody.derive.system.constraints import Holonomic
from multibody.derive.system.symbols import TIME
from multibody.derive.system.values import exact, expect_equations, named
from multibody.errors import InputError

if TYPE_CHECKING:
    from multibody.derive.results.equations import Equations
    from multibody.derive.system.system import System

CLOSE = 1e-9
Matrix = Any
"""A NumPy array of floats, or a matrix of SymPy where symbols are left."""


@dataclass(frozen=True)
class Linearization:
    """x' = A x + B u close to an equilibrium, where x and u are small; unpacks to A and B.

    x has two halves, y and w. Coordinates are at q_0 + F(q_0) N_q y, velocities are v = N_v w.
    Without constraints both N are identities, so that x is the change of the coordinates and
    the velocities: for a quaternion, a small rotation along the axes of its velocities takes
    the place of four changes. With constraints the columns of N_q span what configuration
    constraints allow, those of N_v what all constraints allow. Each column moves one of the
    velocities named in `states` by 1, and others as the constraints ask.

    Args:
        A: what multiplies the state.
        B: what multiplies the inputs.
        states: names of the entries of x.
        inputs: symbols of the entries of u.
        N_q: velocities × half of x.
        N_v: velocities × half of x.
    """

    A: Matrix
    B: Matrix
    states: tuple[str, ...]
    inputs: tuple[sp.Symbol, ...]
    N_q: Matrix
    N_v: Matrix

    def __iter__(self) -> Any:
        return iter((self.A, self.B))


def linearize(equations: "Equations", at: Mapping[Any, Any] | None = None) -> Linearization:
    """A and B of x' = A x + B u about an equilibrium, symbolic where parameters
    are left as symbols.

    Args:
        equations: with or without constraints.
        at: values of coordinates, inputs and parameters, by symbol or name. A coordinate or an
            input that is not there is zero, a quaternion that is not there does not turn, and a
            parameter stays a symbol.

    Raises:
        InputError: when the point is no equilibrium, with the forces that are left; or does not
            fulfil the constraints; or the equations depend on time.

    Returns:
        `Linearization`, which unpacks to A and B: arrays of floats when every symbol has a
        value, else matrices.
    """
    expect_equations(equations)
    system = equations.system
    point = _point(system, at)
    place = {x: point.pop(x) for x in (*system.q, *system.v, *system.inputs)}
    h, J, M, F = (
        x.subs(point) for x in (equations.b + equations.g - equations.tau, equations.J, equations.M, system.rates)
    )
    if TIME in h.free_symbols | J.free_symbols | M.free_symbols | F.free_symbols:
        raise InputError(f"{system.name}: the equations depend on the time t, and have no equilibrium")

    def here(x: Any) -> sp.Matrix:
        return sp.Matrix(x).subs(place).applyfunc(exact)

    _check_constraints(system, {**point, **place})
    holonomic = [k for k, r in enumerate(system.restrictions) if isinstance(r, Holonomic)]
    J_0, h_0 = here(J), here(h)
    multipliers = [sp.Dummy() for _ in range(J.rows)]
    forces = h - J.T * sp.Matrix(J.rows, 1, multipliers)
    K = slopes(forces, system.q) * F
    parts = [here(x) for x in (M, K, slopes(h, system.v), -slopes(h, system.inputs))]
    numeric = not any(x.free_symbols - set(multipliers) for x in (*parts, J_0, h_0))
    if numeric:
        J_0, h_0 = _floats(J_0), _floats(h_0)
    N_v, velocities = _null_space(J_0)
    N_q, positions = _null_space(J_0[holonomic, :])
    lambda_0 = _least_squares(J_0.T, h_0)
    _check_balance(system, N_v, h_0, place)
    parts[1] = parts[1].subs(dict(zip(multipliers, _flat(lambda_0), strict=True)))
    M_0, K_0, D_0, B_0 = [_floats(x) for x in parts] if numeric else parts
    inverse = _inverse_mass(system, N_v.T @ M_0 @ N_v)
    rate = _least_squares(N_q, N_v)
    top, bottom = _zeros(rate, N_q.shape[1]), -inverse @ N_v.T @ K_0 @ N_q
    A = _blocks([[top, rate], [bottom, -inverse @ N_v.T @ D_0 @ N_v]])
    B = _blocks([[_zeros(rate, B_0.shape[1])], [inverse @ N_v.T @ B_0]])
    names = _names(system, positions, velocities)
    return Linearization(A, B, names, tuple(system.inputs), N_q, N_v)


def _point(system: "System", at: Mapping[Any, Any] | None) -> dict[sp.Symbol, sp.Expr]:
    values = named(system, at, "at", "q", "v", "inputs", "parameters")
    moving = [x.name for x in system.v if values.get(x, 0) != 0]
    if moving:
        raise InputError(f"at: expected an equilibrium, where velocities are zero, got a value of {', '.join(moving)}")
    point: dict[sp.Symbol, Any] = dict.fromkeys((*system.q, *system.v, *system.inputs), sp.Integer(0))
    for unit in system.units:
        if not set(unit) & set(values):
            point[unit[0]] = sp.Integer(1)
    return point | values


def _check_constraints(system: "System", point: Mapping[sp.Symbol, Any]) -> None:
    lengths = [(f"unit length of {unit}", sum(x**2 for x in unit) - 1) for unit in system.units]
    for name, f in [*lengths, *((r.name, r.expression) for r in system.restrictions)]:
        left = exact(sp.sympify(f).subs(point))
        if not _vanishes(left):
            raise InputError(
                f"{system.name}: the constraint {name!r} does not hold there: {left} is left, instead of 0"
            )


def _check_balance(system: "System", N: Matrix, h_0: Matrix, place: Mapping[sp.Symbol, Any]) -> None:
    left = N.T @ h_0
    if isinstance(left, np.ndarray):
        balanced = bool(np.all(np.abs(left) <= CLOSE * max(1.0, np.abs(h_0).max())))
    else:
        balanced = all(_vanishes(x) for x in left)
    if not balanced:
        there = ", ".join(f"{x} = {place[x]}" for x in (*system.q, *system.inputs))
        forces = ", ".join(f"{0 - x:.6g}" if isinstance(x, float) else str(-x) for x in _flat(left))
        raise InputError(f"{system.name}: no equilibrium at {there}: the generalized forces ({forces}) are left")


def _vanishes(x: sp.Expr) -> bool:
    if not x.free_symbols:
        return abs(float(x)) <= CLOSE
    return is_zero(x)


def _names(system: "System", positions: list[int], velocities: list[int]) -> tuple[str, ...]:
    if system.holonomic_velocities:
        changes = [str(system.q[k]) for k in positions]
    else:
        changes = [f"integral of {system.v[k]}" for k in positions]
    return (*changes, *(str(system.v[k]) for k in velocities))


def _null_space(J: Matrix) -> tuple[Matrix, list[int]]:
    """A basis of what J takes to zero, and the entries that are free: in them the basis is the identity."""
    rows, n = J.shape
    if isinstance(J, np.ndarray):
        reduced, pivots = _reduced(J)
    else:
        reduced, pivots = J.rref(simplify=True) if rows else (J, ())
    free = [k for k in range(n) if k not in pivots]
    N = np.zeros((n, len(free))) if isinstance(J, np.ndarray) else sp.zeros(n, len(free))
    for column, k in enumerate(free):
        N[k, column] = 1
        for row, pivot in enumerate(pivots):
            N[pivot, column] = -reduced[row, k]
    return N, free


def _reduced(J: NDArray[Any]) -> tuple[NDArray[Any], list[int]]:
    """J with unit columns at the pivots, the largest entries first."""
    J, pivots = J.copy(), []
    for row in range(len(J)):
        rest = np.abs(J[row:])
        rest[:, pivots] = 0
        i, k = np.unravel_index(rest.argmax(), rest.shape)
        if rest[i, k] < CLOSE:
            break
        J[[row, row + i]] = J[[row + i, row]]
        J[row] /= J[row, k]
        others = np.arange(len(J)) != row
        J[others] -= np.outer(J[others, k], J[row])
        pivots.append(int(k))
    return J, pivots


def _floats(x: Any) -> NDArray[np.float64]:
    return np.array(x.tolist(), dtype=float).reshape(x.shape)


def _least_squares(X: Matrix, y: Matrix) -> Matrix:
    """(X^T X)^-1 X^T y."""
    return _inverse(X.T @ X) @ X.T @ y


def _inverse_mass(system: "System", M: Matrix) -> Matrix:
    try:
        return _inverse(M)
    except (np.linalg.LinAlgError, DMNonInvertibleMatrixError, ZeroDivisionError):
        raise InputError(
            f"{system.name}: the mass matrix is singular there: look for masses, lengths and inertias that are zero"
        ) from None


def _inverse(X: Matrix) -> Matrix:
    if isinstance(X, np.ndarray):
        return np.linalg.inv(X)
    return DomainMatrix.from_Matrix(X).to_field().inv().to_Matrix() if X.rows else X


def _zeros(like: Matrix, columns: int) -> Matrix:
    rows = like.shape[0]
    return np.zeros((rows, columns)) if isinstance(like, np.ndarray) else sp.zeros(rows, columns)


def _blocks(rows: list[list[Matrix]]) -> Matrix:
    if isinstance(rows[0][0], np.ndarray):
        return np.block(rows)
    return sp.ImmutableMatrix(sp.Matrix.vstack(*(sp.Matrix.hstack(*row) for row in rows)).applyfunc(sp.factor))


def _flat(x: Matrix) -> list[Any]:
    return x.ravel().tolist() if isinstance(x, np.ndarray) else list(x)
