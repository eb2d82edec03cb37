"""Pseudo-inverses and null spaces of Jacobians, of any rank.  [RD §2.9.1]

Inverse kinematics solves its damped steps without an inverse (`damped_least_squares.damped_step`).
"""

import numpy as np
from numpy.typing import ArrayLike

from multibody.errors import InputError
from multibody.geometry._arrays import Array, check_values, eye_like, floats, is_traced, matvec, numbers, transpose
from multibody.solvers.compiled_functions import evaluate
from multibody.solvers.least_squares import left_inverse, left_solution, row_factors, row_space


def pseudo_inverse(J: ArrayLike, damping: ArrayLike = 0.0, weights: ArrayLike | None = None) -> Array:
    """J^+, (..., n, m): the joint rates of least norm among those that come
    nearest to w are J^+ w.  [RD 2.194-2.209]

    It is the Moore-Penrose inverse for every rank. Singular values below about 1e-10 of the
    largest one count as zero, 1e-5 in float32. Results are bitwise identical for a sample alone
    and in a batch.

    Args:
        J: (..., m, n).
        damping: λ, (...), not negative: J^T (J J^T + λ² 1)^-1, which keeps joint rates small
            near singularities [RD 2.207-2.208]. With λ = 0 it is the pseudo-inverse.
        weights: (..., m), not negative: the squared errors of rows count with these
            [RD 2.214-2.215]; equal by default.

    Raises:
        InputError: when a shape does not fit, or damping or a weight is negative.

    >>> pseudo_inverse([[1.0, 0.0], [1.0, 0.0]])
    array([[0.5, 0.5],
           [0. , 0. ]])
    >>> pseudo_inverse([[2.0]], damping=1.0)
    array([[0.4]])
    """
    J = _matrix(J, "J")
    arrays: dict[str, tuple[Array, int]] = {"J": (J, 2)}
    function = inverse
    if weights is not None:
        w = _not_negative(floats(weights, "weights", J.shape[-2]), "weights")
        arrays["weights"] = w.astype(J.dtype, copy=False) if not is_traced(w) else w, 1
        function = weighted_inverse
    if not (type(damping) in (int, float) and damping == 0):
        arrays["damping"] = _not_negative(numbers(damping, "damping", J), "damping"), 0
        function = damped_inverse if weights is None else weighted_inverse
    return evaluate(function, arrays)


def null_space_projector(J: ArrayLike) -> Array:
    """N = 1 - J^+ J, (..., n, n): J N = 0, N N = N = N^T, so that N v0 moves no row of J.
    [RD 2.206, 2.210-2.212]

    >>> null_space_projector([[1.0, 1.0]])
    array([[ 0.5, -0.5],
           [-0.5,  0.5]])
    """
    return evaluate(projector, {"J": (_matrix(J, "J"), 2)})


def inverse(J: Array) -> Array:
    """J^+, (..., n, m), of a matrix, (..., m, n).  [RD 2.200, 2.205]"""
    if J.shape[-2] > J.shape[-1]:
        return transpose(inverse(transpose(J)))
    L, Q = row_factors(J)
    return np.matmul(transpose(Q), left_inverse(L))


def damped_inverse(J: Array, damping: Array) -> Array:
    """J^T (J J^T + λ² 1)^-1: the first rows of [J, λ 1]^+.  [RD 2.207]"""
    m, n = J.shape[-2:]
    if m > n:
        return transpose(damped_inverse(transpose(J), damping))
    spread = np.broadcast_to(damping[..., None, None] * eye_like(J, m), (*J.shape[:-2], m, m))
    return inverse(np.concatenate([J, spread], axis=-1))[..., :n, :]


def projector(J: Array) -> Array:
    """1 - Q^T Q, for orthonormal rows Q that span those of J."""
    Q = row_space(J)
    return eye_like(J, J.shape[-1]) - np.matmul(transpose(Q), Q)


def weighted_inverse(J: Array, weights: Array, damping: Array | None = None) -> Array:
    """(W^1/2 J)^+ W^1/2, with damping: it takes b to the minimiser of |W^1/2 (J x - b)|² + λ² |x|².  [RD 2.215]"""
    root = np.sqrt(weights)
    J = root[..., :, None] * J
    return (inverse(J) if damping is None else damped_inverse(J, damping)) * root[..., None, :]


def damped_solution(L: Array, b: Array, damping: float) -> tuple[Array, Array | None]:
    """The minimiser of |L y - b|² + λ² |y|², for L as `left_inverse` takes it, and λ²; None without damping.

    λ² = d² - s², at least zero, where 1 / s is the Frobenius norm of L^+: s is at most the smallest singular value of
    L, and at least that divided by the root of their number. At a singularity λ = d, and nothing is damped where all
    singular values are larger than d by that root, after Nakamura and Hanafusa, 1986.  [RD 2.207-2.208]
    """
    if damping == 0:
        return left_solution(L, b), None
    inverse = left_inverse(L)
    size = np.sum(inverse * inverse, axis=(-1, -2))
    some = size > 0
    squared = np.where(some, np.maximum(damping**2 - 1.0 / np.where(some, size, 1.0), 0.0), 0.0)
    spread = np.sqrt(squared)[..., None, None] * eye_like(L, L.shape[-1])
    damped = left_inverse(np.concatenate([L, spread], axis=-2))[..., : L.shape[-2]]
    return matvec(np.where((squared > 0)[..., None, None], damped, inverse), b), squared


def _matrix(x: ArrayLike, what: str) -> Array:
    array = floats(x, what)
    if array.ndim < 2 or not all(array.shape[-2:]):
        raise InputError(f"{what}: expected a matrix (..., m, n) with at least one entry, got shape {array.shape}")
    return array


def _not_negative(x: Array, what: str) -> Array:
    return check_values(x, what, lambda x: ~(x < 0), "numbers that are not negative")
