"""Jacobians of points and bodies, and derivatives along the motion, as formulas."""

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import sympy as sp

from multibody.derive.algebra.differentiation import slopes
from multibody.derive.algebra.matrix_products import cross, product
from multibody.derive.algebra.normal_form import MAX_TERMS, entries_of, jacobian, normal
from multibody.derive.algebra.quotients import denominators, divided
from multibody.derive.system.bodies import Body
from multibody.derive.system.symbolic_tree import LARGE_SYSTEM
from multibody.derive.system.symbols import TIME
from multibody.derive.system.system import System

MAX_TERMS_OF_LARGE = 20
"""Terms of an entry of a system with LARGE_SYSTEM velocities beyond which it stays as it is."""


def tidy(system: System, x: Any) -> Any:
    """An expression or matrix in normal form: products of sines and cosines as sums, terms collected."""
    return _normal(system, x, MAX_TERMS if len(system.v) < LARGE_SYSTEM else MAX_TERMS_OF_LARGE)


def _normal(system: System, x: Any, most: int = MAX_TERMS) -> Any:
    return normal(divided(x, system.q) if _has_quotients(system) else x, units=system.units, most=most)


@lru_cache(maxsize=512)
def _has_quotients(system: System) -> bool:
    """Whether the rates of the coordinates are divided by something that changes, as with Euler angles."""
    return bool(denominators(system.rates, system.q))


def gradient(system: System, f: Any) -> sp.Matrix:
    """∂f/∂q F, a row: how a function of coordinates and time changes along each velocity, at a fixed time."""
    return product(derivatives(system, f, system.q), system.rates)


def along(system: System, x: Any) -> Any:
    """The time derivative of a function of coordinates and time: ∂x/∂q F v + ∂x/∂t, entry by entry."""
    x = sp.sympify(x)
    column = sp.Matrix(x).reshape(len(x), 1) if isinstance(x, sp.MatrixBase) else x
    rates = product(derivatives(system, column, system.q), system.q_dot)
    if TIME in x.free_symbols:
        rates += derivatives(system, column, (TIME,))
    return rates.reshape(*x.shape) if isinstance(x, sp.MatrixBase) else rates[0]


def derivatives(system: System, x: Any, symbols: Sequence[sp.Symbol]) -> sp.Matrix:
    """∂x/∂s of an expression or a column, in normal form: a row for each entry, a column for each symbol."""
    if _has_quotients(system):  # what divides out is found before products become sums
        return slopes(entries_of(x), symbols)
    return jacobian(x, symbols, units=system.units)


@lru_cache(maxsize=512)
def point_jacobian(system: System, position: Any) -> sp.Matrix:
    """J_P of a point W_r(q, t), 3 × n: W_v = J_P v + ∂r/∂t.  [RD 3.4, 3.9; QT 2, 6, 15, 28]"""
    return _normal(system, product(derivatives(system, sp.Matrix(position), system.q), system.rates))


@lru_cache(maxsize=512)
def transport_velocity(system: System, position: Any) -> sp.Matrix:
    """W_v of a point W_r(q, t) while the coordinates rest: ∂r/∂t."""
    if TIME not in position.free_symbols:
        return sp.zeros(3, 1)
    return _normal(system, derivatives(system, sp.Matrix(position), (TIME,)))


def point_velocity(system: System, position: Any) -> sp.Matrix:
    """W_v = J_P v + ∂r/∂t of a point W_r(q, t)."""
    return product(point_jacobian(system, position), sp.Matrix(system.v)) + transport_velocity(system, position)


@lru_cache(maxsize=512)
def rotation_jacobian(system: System, body: Body) -> sp.Matrix:
    """B_J_R of a body, 3 × n: B_w = J_R v and the transport velocity, along the axes of the body.

    Its column k is the vector of the skew matrix R^T ∂R/∂q F_k.  [RD 3.9, 3.46; QT 29-30]
    """
    if not body.turns:
        return sp.zeros(3, len(system.v))
    slopes = derivatives(system, sp.Matrix(body.rotation).reshape(9, 1), system.q)
    return _axial(system, body, product(slopes, system.rates))


@lru_cache(maxsize=512)
def transport_angular_velocity(system: System, body: Body) -> sp.Matrix:
    """B_w of a body while the coordinates rest: the vector of R^T ∂R/∂t."""
    if not body.turns or TIME not in body.rotation.free_symbols:
        return sp.zeros(3, 1)
    return _axial(system, body, derivatives(system, sp.Matrix(body.rotation).reshape(9, 1), (TIME,)))


def angular_velocity(system: System, body: Body) -> sp.Matrix:
    """B_w = J_R v and the transport velocity."""
    spin = product(rotation_jacobian(system, body), sp.Matrix(system.v))
    return spin + transport_angular_velocity(system, body)


def _axial(system: System, body: Body, dR: sp.Matrix) -> sp.Matrix:
    """The vectors of the skew matrices R^T dR_k, where dR has the nine entries of dR_k in its column k."""
    skew = [product(body.rotation.T, dR.col(k).reshape(3, 3)) for k in range(dR.cols)]
    return _normal(system, sp.Matrix.hstack(*(sp.Matrix([W[2, 1], W[0, 2], W[1, 0]]) for W in skew)))


@lru_cache(maxsize=512)
def material_jacobian(system: System, body: Body, point: Any) -> sp.Matrix:
    """J_P of the point of a body that is now at W_r(q, t): J_S + W_w × (r - r_S), column by column.  [RD 3.6, 3.11]"""
    arm = sp.Matrix(point) - body.position
    J_S = point_jacobian(system, body.position)
    if not body.turns or arm.is_zero_matrix:
        return J_S
    W_J_R = product(body.rotation, rotation_jacobian(system, body))
    return _normal(system, J_S + sp.Matrix.hstack(*(cross(W_J_R.col(k), arm) for k in range(len(system.v)))))
