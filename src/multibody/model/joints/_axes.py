"""Axes of joints: "x", "-z" or three numbers, stored as unit vectors."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multibody.errors import InputError
from multibody.geometry import Rotation, so3
from multibody.geometry.operators import hat3

Axis = tuple[float, float, float]

_LETTERS: dict[str, Axis] = {
    "x": (1.0, 0.0, 0.0),
    "y": (0.0, 1.0, 0.0),
    "z": (0.0, 0.0, 1.0),
    "-x": (-1.0, 0.0, 0.0),
    "-y": (0.0, -1.0, 0.0),
    "-z": (0.0, 0.0, -1.0),
}
_NAMES = {axis: name for name, axis in _LETTERS.items()}


def unit_axis(axis: str | Sequence[float], what: str = "axis") -> Axis:
    """The unit vector along an axis."""
    if isinstance(axis, str):
        if axis not in _LETTERS:
            raise InputError(f"{what}: expected one of {', '.join(_LETTERS)} or three numbers, got {axis!r}")
        return _LETTERS[axis]
    try:
        numbers = tuple(float(x) for x in axis)
    except (TypeError, ValueError):
        raise InputError(f"{what}: expected three numbers, got {axis!r}") from None
    length = math.hypot(*numbers)
    if len(numbers) != 3 or not math.isfinite(length) or length == 0.0:
        raise InputError(f"{what}: expected three finite numbers that are not all zero, got {axis!r}")
    if abs(length - 1.0) > 4e-16:
        numbers = tuple(x / length for x in numbers)
    x, y, z = (float(x) + 0.0 for x in numbers)
    return x, y, z


def rotation_about(axis: Axis, angle: NDArray[Any]) -> Rotation:
    """The rotation by an angle (...); about an axis of the frame it keeps exact zeros, which fold in a kernel."""
    name = _NAMES.get(axis)
    if name is None:
        return Rotation._trusted(so3.from_angle_axis(angle, np.asarray(axis, dtype=angle.dtype)))
    return Rotation.elementary(name[-1], -angle if name[0] == "-" else angle)


def shortest_turn_of_z(direction: NDArray[Any]) -> Rotation:
    """The shortest rotation that takes z to a unit vector; half a turn about x for -z."""
    cross = hat3(np.cross([0.0, 0.0, 1.0], direction))
    squared = float(direction[0] ** 2 + direction[1] ** 2)
    if squared == 0.0:
        return Rotation.from_matrix(np.diag([1.0, direction[2], direction[2]]))
    # Rodrigues' formula without angles, which would leave 6e-17 where a right angle has a zero
    return Rotation.from_matrix(np.eye(3) + cross + cross @ cross * ((1 - direction[2]) / squared))


def along(axis: Axis, distance: NDArray[Any]) -> NDArray[Any]:
    """(..., 3): the vector of a length (...) along an axis."""
    return distance[..., None] * np.asarray(axis, dtype=distance.dtype)


def unturned(q: NDArray[Any]) -> Rotation:
    """No rotation, for every sample of the coordinates (..., nq)."""
    return Rotation._trusted(np.broadcast_to(np.eye(3, dtype=q.dtype), (*q.shape[:-1], 3, 3)))
