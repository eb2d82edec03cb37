"""Degenerate systems: singular mass matrices, redundant constraints, matrices that are no rotations."""

from functools import lru_cache
from typing import Any

import numpy as np
import sympy as sp

from multibody.derive.algebra.numpy_evaluation import numeric
from multibody.derive.system.constraint_rows import Rows
from multibody.derive.system.constraints import Holonomic
from multibody.derive.system.random_states import consistent_values, on_constraints, random_values
from multibody.derive.system.symbols import TIME
from multibody.derive.system.system import System
from multibody.errors import InputError

RANK_TOLERANCE = 1e-6
"""Singular values, of numbers about 1, that count as zero."""


@lru_cache(maxsize=64)
def rotations(system: System) -> None:
    """That the rotations of all bodies are rotations.

    Raises:
        InputError: that names a body whose matrix is not orthogonal, or mirrors.
    """
    turning = [body for body in system.bodies if body.turns]
    if not turning:
        return
    values = random_values(system, np.random.default_rng(0))
    at = numeric(sp.Matrix.vstack(*(sp.Matrix(body.rotation) for body in turning)), values).reshape(-1, 3, 3)
    for body, R in zip(turning, at, strict=True):
        if not np.allclose(R.T @ R, np.eye(3), atol=1e-9):
            hint = "" if system.units else ". A quaternion in it must be named in `units`"
            raise InputError(
                f"{system.name}: the rotation of {body.name} is not orthogonal: its R^T R is "
                f"{np.array2string(R.T @ R, precision=3, suppress_small=True, separator=', ')} at a random state{hint}"
            )
        if np.linalg.det(R) < 0:
            raise InputError(f"{system.name}: the rotation of {body.name} mirrors: its determinant is -1")


def mass_matrix(system: System, M: Any, J: Any) -> None:
    """That every motion that the constraints leave has inertia.

    Raises:
        InputError: that names a velocity without any, or says that a combination has none.
    """
    values = _state(system)
    free = np.eye(len(system.v)) if not J.rows else null_space(numeric(J, values))
    if not free.shape[1]:
        return
    at = numeric(M, values)
    width, directions = np.linalg.eigh(free.T @ at @ free)
    if width[0] > 1e-12 * max(width[-1], 1e-300):
        return
    if width[0] < -1e-9 * np.abs(width).max():
        raise InputError(
            f"{system.name}: the mass matrix is not positive definite, with the eigenvalue {width[0]:.3g} where all "
            "parameters are about 1: look for negative masses or inertias"
        )
    massless = [b.name for b in system.bodies if b.mass == 0 and (not b.turns or b.inertia.is_zero_matrix)]
    because = f". Without mass and inertia: {', '.join(massless)}" if massless else ""
    alone = [v for k, v in enumerate(system.v) if M.row(k).is_zero_matrix and J.col(k).is_zero_matrix]
    if alone:
        raise InputError(
            f"{system.name}: the mass matrix is singular: no body with mass moves with {', '.join(map(str, alone))}, "
            "and the energies do not depend on it. Leave that coordinate out, or let the place of a body depend on "
            f"it{because}"
        )
    direction = free @ directions[:, 0]
    direction /= np.abs(direction).max()
    moving = " + ".join(f"{c:.3g} {v}" for c, v in zip(direction, system.v, strict=True) if abs(c) > 1e-6)
    raise InputError(
        f"{system.name}: the mass matrix is singular: no body with mass moves with the velocities {moving} together, "
        f"so that coordinates depend on each other or a body lacks inertia{because}"
    )


def constraints(system: System, rows: Rows) -> None:
    """That the constraints can hold, and are independent.

    Raises:
        InputError: that names the first one that contradicts those before it, or follows from them.
    """
    if not rows.J.rows:
        return
    _can_hold(system)
    values = _state(system)
    J, a_0 = numeric(rows.J, values), numeric(rows.a_0, values)
    for k, restriction in enumerate(system.restrictions):
        before = _listed(system.restrictions[:k])
        if np.abs(J[k]).max() < RANK_TOLERANCE:
            raise InputError(
                f"{system.name}: the gradient of the constraint {restriction.name!r} is zero where it holds, so that "
                "it has no force: write it as a function that changes its sign there"
            )
        if np.linalg.matrix_rank(J[: k + 1], tol=RANK_TOLERANCE) > k:
            continue
        if np.linalg.matrix_rank(np.hstack([J, a_0])[: k + 1], tol=RANK_TOLERANCE) > k or _contradicts(system, k):
            raise InputError(
                f"{system.name}: the constraint {restriction.name!r}, {restriction.expression} = 0, contradicts those "
                f"before it: {before}"
            )
        raise InputError(
            f"{system.name}: the constraint {restriction.name!r}, {restriction.expression} = 0, is redundant: it "
            f"follows from those before it, so that its force is not determined: {before}. Leave it out"
        )


def null_space(J: Any) -> Any:
    """An orthonormal basis of the velocities that constraints allow, in columns."""
    _, s, Vt = np.linalg.svd(J)
    return Vt[np.count_nonzero(s > RANK_TOLERANCE) :].T


@lru_cache(maxsize=64)
def _state(system: System) -> dict[sp.Symbol, float]:
    """A state that nobody chose; one that the constraints allow, where it was found."""
    return consistent_values(system, np.random.default_rng(0)) or random_values(system, np.random.default_rng(0))


def _can_hold(system: System) -> None:
    """That constraints between coordinates and numbers have a solution: with parameters, that is for their values."""
    known: list[Any] = []
    for restriction in system.restrictions:
        if isinstance(restriction, Holonomic) and restriction.f.free_symbols <= {*system.q, TIME}:
            known.append(restriction)
            if on_constraints(system, np.random.default_rng(0), known) is None:
                before = f" together with {_listed(known[:-1])}" if known[:-1] else ""
                raise InputError(
                    f"{system.name}: the constraint {restriction.name!r}, {restriction.f} = 0, cannot hold{before}: "
                    "constraints contradict each other, or need coordinates far from zero"
                )


def _contradicts(system: System, k: int) -> bool:
    """Whether configuration constraint k never holds together with those before it."""
    if not isinstance(system.restrictions[k], Holonomic):
        return False
    rng = np.random.default_rng(0)
    return on_constraints(system, rng, system.restrictions[: k + 1]) is None


def _listed(restrictions: Any) -> str:
    return ", ".join(f"{r.name!r}, {r.expression} = 0" for r in restrictions)
