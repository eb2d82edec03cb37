"""The check that quaternions in the arrays of a caller are units; kernels and models share its comparison."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multibody.errors import InputError
from multibody.geometry._arrays import at, first

UNIT_QUATERNION_TOLERANCE = 1e-6
"""Largest accepted deviation of a unit quaternion's length from 1, for arguments of the library and of its kernels."""
MIN_SQUARED_LENGTH, MAX_SQUARED_LENGTH = 1 - 2 * UNIT_QUATERNION_TOLERANCE, 1 + 2 * UNIT_QUATERNION_TOLERANCE
"""The accepted squared lengths of unit quaternions."""


def first_non_unit(quaternions: NDArray[Any]) -> tuple[tuple[int, ...], float] | None:
    """Return the index and the length of the first quaternion (..., 4) that is not a unit; NaN and Inf pass, as data.

    >>> first_non_unit(np.array([[1.0, 0.0, 0.0, 0.0], [0.0, 3.0, 0.0, 4.0]]))
    ((1,), 5.0)
    """
    with np.errstate(over="ignore"):
        squares = np.square(quaternions, dtype=np.float64)
        pairs = squares[..., ::2] + squares[..., 1::2]
        square = pairs[..., 0] + pairs[..., 1]  # as in kernels' fast path, so that both agree to the last bit
    within = (square >= MIN_SQUARED_LENGTH) & (square <= MAX_SQUARED_LENGTH)
    if within.all() or not (off := ~within & np.isfinite(square)).any():
        return None
    index = first(off)
    return index, math.sqrt(square[index])


def check_unit_quaternions(values: NDArray[Any], what: str, owners: Sequence[str], hint: str = "") -> None:
    """Raise an InputError if a quaternion (w, x, y, z) is not a unit; NaN and Inf pass, as data.

    Args:
        values: (..., n, 4).
        what: the name of the array in the message.
        owners: n names, such as "joint 'wrist'".
        hint: ends the message.
    """
    if (bad := first_non_unit(values)) is not None:
        (*index, k), length = bad
        raise InputError(
            f"{what}{at(tuple(index))}: the quaternion (w, x, y, z) of {owners[k]} has the length "
            f"{length:.9g}, expected 1 within {UNIT_QUATERNION_TOLERANCE:g}{hint}"
        )
