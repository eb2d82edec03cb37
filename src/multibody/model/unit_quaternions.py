"""The check that quaternions in the arrays of a caller are units."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multibody.errors import InputError
from multibody.geometry._arrays import at, first
from multibody.geometry.quaternions import UNIT_QUATERNION_TOLERANCE


def check_unit_quaternions(values: NDArray[Any], what: str, owners: Sequence[str], hint: str = "") -> None:
    """Raise an InputError if a quaternion (w, x, y, z) is not a unit; NaN and Inf pass, as data.

    Args:
        values: (..., n, 4).
        what: the name of the array in the message.
        owners: n names, such as "joint 'wrist'".
        hint: ends the message.
    """
    length = np.linalg.norm(values, axis=-1)
    bad = (np.abs(length - 1) > UNIT_QUATERNION_TOLERANCE) & np.isfinite(length)
    if bad.any():
        *index, k = first(bad)
        raise InputError(
            f"{what}{at(tuple(index))}: the quaternion (w, x, y, z) of {owners[k]} has the length "
            f"{length[(*index, k)]:.9g}, expected 1 within {UNIT_QUATERNION_TOLERANCE:g}{hint}"
        )
