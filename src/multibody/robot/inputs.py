"""Inputs of a robot's kernels: their kinds, shapes and checks."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from multibody.errors import InputError
from multibody.geometry import Pose, Rotation
from multibody.geometry._arrays import choice, floats, is_traced
from multibody.geometry.value import Value
from multibody.model import check_configuration
from multibody.model.parameters import PLACED, PLACEMENT, POSITION, check_units
from multibody.model.tree import Tree
from multibody.tracing.record.trace import shape_of

KINDS: dict[str, Callable[[Tree], tuple[int, ...]]] = {
    "configuration": lambda tree: (tree.nq,),
    "velocity": lambda tree: (tree.nv,),
    "acceleration": lambda tree: (tree.nv,),
    "force": lambda tree: (tree.nv,),
    "wrench": lambda _: (6,),
    "twist": lambda _: (6,),
    "point": lambda _: (3,),
    "number": lambda _: (),
}
"""Kinds of arrays, and the shape of one sample."""
VALUES: dict[str, tuple[type[Value], tuple[tuple[str, tuple[int, ...]], ...]]] = {
    "pose": (Pose, ((".rotation", (3, 3)), (".position", (3,)))),
    "rotation": (Rotation, (("", (3, 3)),)),
}
"""Kinds of geometry values: their class, and the names and shapes of their arrays in a kernel."""
WRENCH = "wrench_"
"""The prefix of the names of external wrenches; the frame's name follows."""
OVER_VELOCITIES = ("velocity", "acceleration", "force")

Kind = str | int | tuple[int, ...]
"""One of KINDS or VALUES, or the shape of one sample."""


class Input(NamedTuple):
    """An array argument of a kernel."""

    name: str
    kind: Kind
    shape: tuple[int, ...]
    any_length: bool = False
    """Whether it accepts quaternions of any length."""

    def check(self, tree: Tree, value: Any) -> NDArray[Any]:
        """Return the value as an array of floats, or raise an InputError in the robot's terms."""
        if self.kind == "configuration":
            check = check_configuration.coordinates if self.any_length else check_configuration.unit_coordinates
            return check(tree, value, self.name)
        if self.kind in OVER_VELOCITIES:
            return check_configuration.velocities(tree, value, self.name)
        title = f"the wrench at {self.name.removeprefix(WRENCH)!r}" if self.name.startswith(WRENCH) else self.name
        array = floats(value, title, *self.shape)
        if self.name in PLACED and not is_traced(array):
            check_units(tree, array, self.name)
        return array

    def quaternions(self, tree: Tree) -> list[int]:
        """The first entries of unit quaternions in one sample."""
        if self.kind == "configuration" and not self.any_length:
            return [j.q.start + j.kind.quaternion.start for j in tree.joints if j.kind.quaternion is not None]
        return [PLACEMENT * k + POSITION for k in range(self.shape[0])] if self.name in PLACED else []


def arrays_of(tree: Tree, inputs: Mapping[str, Kind], *, any_length: bool = False) -> list[Input]:
    """The array arguments of a kernel with these inputs; a geometry value can have several."""
    arrays = []
    for name, kind in inputs.items():
        if isinstance(kind, str) and kind in VALUES:
            arrays += [Input(name + end, kind, shape) for end, shape in VALUES[kind][1]]
        elif isinstance(kind, str):
            choice(kind, f"the kind of the input {name!r}", (*KINDS, *VALUES))
            arrays.append(Input(name, kind, KINDS[kind](tree), any_length))
        else:
            arrays.append(Input(name, kind, shape_of(kind)))
    return arrays


def arrays_from_values(inputs: Mapping[str, Kind], values: Mapping[str, Any]) -> list[Any]:
    """Return the arrays of input values, in the order of `arrays_of`."""
    arrays = []
    for name, kind in inputs.items():
        value = values[name]
        if isinstance(kind, str) and kind in VALUES:
            expected = VALUES[kind][0]
            if not isinstance(value, expected):
                raise InputError(f"{name}: expected a {expected.__name__}, got {type(value).__name__}")
            arrays += value._arrays()
        else:
            arrays.append(value)
    return arrays


def values_from_arrays(inputs: Mapping[str, Kind], arrays: Any) -> dict[str, Any]:
    """Return input values from the arrays of a kernel."""
    remaining, values = iter(arrays), {}
    for name, kind in inputs.items():
        if isinstance(kind, str) and kind in VALUES:
            value_type, arguments = VALUES[kind]
            values[name] = value_type._from_arrays(*(next(remaining) for _ in arguments))
        else:
            values[name] = next(remaining)
    return values


def kernel_arrays(
    kinds: Mapping[str, Kind], values: Mapping[str, Any], dtype: np.dtype[Any]
) -> list[NDArray[Any]] | None:
    """The arrays of inputs that need no conversion, in the order of a kernel's arguments; None if any input needs one.

    The fast path of calls with arrays, numbers and poses: microseconds instead of the full checks.
    """
    arrays: list[Any] = []
    for name, kind in kinds.items():
        value = values[name]
        if kind in VALUES:
            if not isinstance(value, VALUES[kind][0]):
                return None
            arrays += value._arrays()
        else:
            arrays.append(np.array(value, dtype) if isinstance(value, float | int) else value)
    return arrays if all(type(array) is np.ndarray for array in arrays) else None
