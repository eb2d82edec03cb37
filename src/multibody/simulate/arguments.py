"""What a run is given besides the start: inputs, pushes and parameters, as arrays that change in time or stay."""

import inspect
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from multibody.errors import InputError
from multibody.geometry import Wrench
from multibody.geometry._arrays import floats
from multibody.model.tree import Tree
from multibody.simulate.controllers import PD

RECORDED = ("t", "q", "v", "a", "tau", "forces")
"""What functions of outputs are given."""
SURFACE = {
    "contact": ("friction", "restitution"),
    "events": ("friction", "restitution"),
    "soft": ("friction", "ground_stiffness", "ground_damping"),
}
"""Parameters of the ground, by the methods that have one."""
OWN = ("friction", "restitution", "ground_stiffness", "ground_damping", "kp", "kd", "mass", "joint_friction")
"""Parameters besides those of `Tree.with_values`."""


class Arguments(NamedTuple):
    """Arrays by names such as "input", "input:key", "wrench:frame", "parameter:name"."""

    moving: dict[str, NDArray[Any]]
    """(..., steps, n)."""
    still: dict[str, NDArray[Any]]
    """(..., *shape)."""
    cores: dict[str, tuple[int, ...]]
    """The shapes without batch and time: what the code of a run depends on."""

    @property
    def key(self) -> tuple[Any, ...]:
        """What tells the code of one run from that of others."""
        return tuple(sorted((name, self.cores[name], name in self.moving) for name in self.cores))

    def batches(self) -> list[tuple[int, ...]]:
        """The leading shapes of all arrays."""
        shapes = [array.shape[: array.ndim - 1 - len(self.cores[name])] for name, array in self.moving.items()]
        return shapes + [array.shape[: array.ndim - len(self.cores[name])] for name, array in self.still.items()]


def arguments_of(
    tree: Tree, steps: int, inputs: Any, wrenches: Any, parameters: Any, controller: Any, surface: tuple[str, ...]
) -> Arguments:
    """Checked, and with the names that the step knows them by."""
    moving: dict[str, NDArray[Any]] = {}
    still: dict[str, NDArray[Any]] = {}
    over_time = {f"input:{key}": x for key, x in inputs.items()} if isinstance(inputs, Mapping) else {"input": inputs}
    if inputs is None:
        over_time = {}
    elif controller is None:
        raise InputError("inputs: expected none without a controller that takes them")
    if wrenches is not None:
        if not isinstance(wrenches, Mapping):
            raise InputError(f"wrenches: expected {{frame: (..., steps or 1, 6)}}, got {type(wrenches).__name__}")
        for frame, x in wrenches.items():
            tree.frame(frame)
            over_time[f"wrench:{frame}"] = x.vector if isinstance(x, Wrench) else x
    for name, x in over_time.items():
        array = floats(x, name)
        if not array.ndim or (name.startswith("wrench") and array.shape[-1] != 6):
            n = 6 if name.startswith("wrench") else "n"
            raise InputError(f"{name}: expected ({n},) or (..., steps or 1, {n}), got shape {array.shape}")
        if array.ndim == 1 or array.shape[-2] == 1:
            still[name] = array if array.ndim == 1 else array[..., 0, :]
        elif array.shape[-2] == steps:
            moving[name] = array
        else:
            raise InputError(
                f"{name}: expected {steps} rows, one for each step, or 1 on the axis before the last, got {array.shape}"
            )
    cores = {name: array.shape[-1:] for name, array in (*moving.items(), *still.items())}
    if isinstance(controller, PD) and isinstance(inputs, Mapping):
        raise InputError("inputs: expected the targets of PD as one array, got a dict")
    if parameters is not None:
        checked = _parameters(tree, parameters, controller, surface)
        return Arguments(moving, still | checked[0], cores | checked[1])
    return Arguments(moving, still, cores)


def _parameters(
    tree: Tree, parameters: Any, controller: Any, surface: tuple[str, ...]
) -> tuple[dict[str, NDArray[Any]], dict[str, tuple[int, ...]]]:
    """The arrays and their shapes without the batch."""
    if not isinstance(parameters, Mapping):
        raise InputError(f"parameters: expected {{name: array}}, got {type(parameters).__name__}")
    known = _known(tree, controller, surface)
    arrays = {}
    for name, x in parameters.items():
        if name not in known:
            raise InputError(f"parameters: there is no {name!r} here; there are {', '.join(known)}")
        array, shape = floats(x, f"parameters, {name}"), known[name]
        if array.shape[array.ndim - len(shape) :] != shape:
            expected = ", ".join(map(str, ("...", *shape)))
            raise InputError(f"parameters, {name}: expected shape ({expected}), got {array.shape}")
        if name in (*OWN, "masses") and not (array >= 0).all():
            raise InputError(f"parameters, {name}: expected numbers that are not negative, got others among them")
        if name == "ground_stiffness" and not (array > 0).all():
            raise InputError("parameters, ground_stiffness: expected positive numbers, got others among them")
        if name == "restitution" and not (array <= 1).all():
            raise InputError("parameters, restitution: expected numbers from 0 to 1, got others among them")
        arrays[f"parameter:{name}"] = array
    if {"mass", "masses"} <= set(parameters) or {"mass", "inertias"} <= set(parameters):
        raise InputError("parameters: expected mass, masses or inertias, got several of them")
    return arrays, {f"parameter:{name}": known[name] for name in parameters}


def _known(tree: Tree, controller: Any, surface: tuple[str, ...]) -> dict[str, tuple[int, ...]]:
    """The names of parameters and their shapes without the batch."""
    known: dict[str, tuple[int, ...]] = dict.fromkeys(surface, ())
    if isinstance(controller, PD):
        known |= {"kp": controller.kp.shape, "kd": controller.kd.shape}
    shapes = dict(tree.parameter_shapes)
    known["joint_friction"] = shapes.pop("friction")
    return known | {"mass": ()} | shapes


def tree_values(tree: Tree, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """What `Tree.with_values` takes of a run's parameters; a mass is that of all bodies together."""
    values = {name: x for name, x in parameters.items() if name in tree.parameter_shapes and name != "friction"}
    if "joint_friction" in parameters:
        values["friction"] = parameters["joint_friction"]
    if "mass" in parameters:
        masses = np.array([body.inertia.mass for body in tree.bodies])
        values["masses"] = parameters["mass"][..., None] * (masses / masses.sum())
    return values


def functions_of(outputs: Any) -> dict[str, Callable[..., Any]]:
    """The functions whose arrays are recorded, by name."""
    outputs = {} if outputs is None else outputs
    if not isinstance(outputs, Mapping) or not all(map(callable, outputs.values())):
        raise InputError("outputs: expected {name: function(t, q, v, a, tau, forces)}, got something else")
    for name, function in outputs.items():
        try:
            inspect.signature(function).bind(*RECORDED)
        except TypeError as error:
            given = ", ".join(RECORDED)
            raise InputError(f"outputs, {name}: expected a function of ({given}), got one with {error}") from None
        except ValueError:  # of a function in C, which does not tell
            pass
    return dict(outputs)
