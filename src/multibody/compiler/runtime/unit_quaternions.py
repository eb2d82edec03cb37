"""The check of unit quaternions in the arguments of a kernel: `unit_quaternions.ll` decides, NumPy names the first."""

import math
from collections.abc import Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any

from numpy.typing import NDArray

from multibody.compiler.runtime import fastcall
from multibody.errors import InputError
from multibody.geometry._arrays import at
from multibody.geometry.unit_quaternions import first_non_unit
from multibody.tracing.record.trace import Input


def check(inputs: Sequence[Input], quaternions: Sequence[tuple[int, int]], arrays: Sequence[NDArray[Any]]) -> None:
    """Refuse arguments with a quaternion of another length; those that are not finite pass.

    Args:
        inputs: the names and shapes of the arguments.
        quaternions: (argument, first entry) of every quaternion.
        arrays: the arguments, with any leading batch shape.
    """
    for k, group in groupby(quaternions, key=itemgetter(0)):
        starts = [start for _, start in group]
        array, core = arrays[k], inputs[k].shape
        flat = array.reshape(*array.shape[: array.ndim - len(core)], math.prod(core))
        if not _are_units(flat, starts):
            _refuse_first(inputs[k].name, flat, starts)


def _are_units(flat: NDArray[Any], starts: list[int]) -> bool:
    """Whether all quaternions are known to have unit length, by the function of the fast path."""
    supported = fastcall.available() and flat.flags.c_contiguous and flat.flags.aligned
    return supported and fastcall.units(flat.reshape(-1, flat.shape[-1]), starts)


def _refuse_first(name: str, flat: NDArray[Any], starts: list[int]) -> None:
    """Raise an error that names the first quaternion of another length, if there is one."""
    for start in starts:
        if (bad := first_non_unit(flat[..., start : start + 4])) is not None:
            index, length = bad
            raise InputError(
                f"{name}{at(index)}: expected a unit quaternion in the entries {start} to "
                f"{start + 3}, got one of length {length:.9g}"
            )
