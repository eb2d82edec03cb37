"""Manipulability: how close a frame is to a singularity.  [RD §2.9.1]"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multibody.algorithms.analytical_jacobian import check_coordinates
from multibody.algorithms.jacobian import jacobian
from multibody.errors import InputError
from multibody.model.tree import Tree


def singular_values(tree: Tree, frame: str, q: NDArray[Any], coordinates: Sequence[int] = range(6)) -> NDArray[Any]:
    """(..., min(k, nv)): those of k rows of the mixed Jacobian, the task's, largest first.  [RD 2.135, §2.9.1]

    `coordinates` are those of operational space: 0 to 2 the position, 3 to 5 the rotation about the world's axes.
    """
    return singular_values_of(jacobian(tree, frame, q), coordinates)


def singular_values_of(J: NDArray[Any], coordinates: Sequence[int] = range(6)) -> NDArray[Any]:
    """The singular values of rows of a Jacobian (..., 6, nv).  [RD 2.135]"""
    rows = J[..., check_coordinates(coordinates, 6), :]
    known = np.asarray(np.isfinite(rows).all(axis=(-2, -1)))  # what is no number has none, and they are NaN
    values = np.linalg.svd(np.where(known[..., None, None], rows, 0.0), compute_uv=False)
    return np.where(known[..., None], values, np.nan).astype(J.dtype, copy=False)


def manipulability(tree: Tree, frame: str, q: NDArray[Any], coordinates: Sequence[int] = range(6)) -> NDArray[Any]:
    """(...): the product of the min(k, nv) singular values of k rows of the
    Jacobian: zero at a singularity.

    That is sqrt(det(J J^T)) where the robot has at least as many velocities as the task has
    coordinates. With fewer the root is zero everywhere, and the product is sqrt(det(J^T J))
    instead.
    """
    return np.prod(singular_values(tree, frame, q, coordinates), axis=-1)


def rank(
    tree: Tree,
    frame: str,
    q: NDArray[Any],
    coordinates: Sequence[int] = range(6),
    tolerance: float | None = None,
) -> NDArray[Any]:
    """(...): the number of coordinates that can move at q, by singular values above tolerance times the largest.

    The configuration is singular where it is smaller than elsewhere. By default the tolerance is 1e-9, and 1e-5 for
    numbers in single precision.  [RD §2.9.1]
    """
    return rank_of(jacobian(tree, frame, q), coordinates, tolerance)


def rank_of(J: NDArray[Any], coordinates: Sequence[int] = range(6), tolerance: float | None = None) -> NDArray[Any]:
    """The rank of rows of a Jacobian (..., 6, nv)."""
    if tolerance is None:
        tolerance = 1e-9 if J.dtype == np.float64 else 1e-5
    if not isinstance(tolerance, int | float) or not 0 <= tolerance < 1:
        raise InputError(f"tolerance: expected a number from 0 to less than 1, got {tolerance!r}")
    values = singular_values_of(J, coordinates)
    return (values > tolerance * np.maximum(values[..., :1], np.finfo(J.dtype).tiny)).sum(axis=-1)
