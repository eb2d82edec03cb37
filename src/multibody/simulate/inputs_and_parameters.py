"""Inputs, pushes and parameters of runs and steps, checked: arrays that change in time or stay."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from multibody.errors import InputError
from multibody.geometry import Wrench
from multibody.geometry._arrays import check_values, floats
from multibody.model.tree import Tree
from multibody.simulate.controllers import Function
from multibody.simulate.pd import PD
from multibody.simulate.signatures import check_signature
from multibody.simulate.step import Step

RECORDED = ("t", "q", "v", "a", "tau", "forces")
"""The arguments of functions in `outputs=`."""
OWN = ("friction", "restitution", "ground_stiffness", "ground_damping", "kp", "kd", "mass", "joint_friction")
"""Parameters besides those of `Tree.with_values`."""


class Arguments(NamedTuple):
    """Arrays by names such as "input", "input:key", "wrench:frame", "parameter:name"."""

    moving: dict[str, NDArray[Any]]
    """(..., steps, n)."""
    still: dict[str, NDArray[Any]]
    """(..., *shape)."""
    cores: dict[str, tuple[int, ...]]
    """The shapes without batch and time."""

    @property
    def key(self) -> tuple[Any, ...]:
        """The content that the code of a run depends on: names, shapes, and which change in time."""
        return tuple(sorted((name, self.cores[name], name in self.moving) for name in self.cores))

    @property
    def inputs(self) -> tuple[str, ...]:
        """The names of the controller's inputs."""
        return tuple(name for name in self.cores if name.startswith("input"))

    def batches(self) -> list[tuple[int, ...]]:
        """The leading shapes of all arrays."""
        shapes = [array.shape[: array.ndim - 1 - len(self.cores[name])] for name, array in self.moving.items()]
        return shapes + [array.shape[: array.ndim - len(self.cores[name])] for name, array in self.still.items()]


def arguments_of(step: Step, steps: int | None, inputs: Any, wrenches: Any, parameters: Any) -> Arguments:
    """Checked arrays under the names that a step has for them; without `steps`, those of one sample in one step."""
    tree, controller = step.tree, step.controller
    moving, still = {}, {}
    for name, x in (_inputs(inputs, controller) | _wrenches(tree, wrenches)).items():
        what, n = _argument(name), 6 if name.startswith("wrench") else "n"
        array = floats(x, what)
        if not array.ndim or n not in ("n", array.shape[-1]):
            raise InputError(f"{what}: expected ({n},) or (..., steps or 1, {n}), got shape {array.shape}")
        if array.ndim == 1:
            still[name] = array
        elif steps is None:
            raise InputError(f"{what}: expected ({n},), that of one sample in one step, got shape {array.shape}")
        elif array.shape[-2] == 1:
            still[name] = array[..., 0, :]
        elif array.shape[-2] == steps:
            moving[name] = array
        else:
            raise InputError(
                f"{what}: expected {steps} rows, one for each step, or 1 on the axis before the last, got {array.shape}"
            )
    cores = {name: array.shape[-1:] for name, array in (*moving.items(), *still.items())}
    if isinstance(controller, PD) and cores.get("input", (n := len(step.goal),)) != (n,):
        raise InputError(f"inputs: expected {n} targets, one for each coordinate of a joint, got {cores['input'][0]}")
    arrays, shapes = _parameters(step, parameters)
    if steps is None:
        for name, array in arrays.items():
            if array.shape != shapes[name]:
                raise InputError(_of_several_samples(name.removeprefix("parameter:"), shapes[name], array.shape))
    return Arguments(moving, still | arrays, cores | shapes)


def _inputs(inputs: Any, controller: PD | Function | None) -> dict[str, Any]:
    """The controller's inputs by the names that a step has for them."""
    takes = isinstance(controller, PD) or (isinstance(controller, Function) and controller.takes_inputs)
    if inputs is None or (isinstance(inputs, Mapping) and not inputs):
        if isinstance(controller, Function) and takes and not controller.remembers:
            raise InputError("inputs: expected those of the controller, which is a function(t, q, v, input)")
        return {}
    if not takes:
        raise InputError("inputs: expected none without a controller that takes them, function(t, q, v, input)")
    if not isinstance(inputs, Mapping):
        return {"input": inputs}
    if isinstance(controller, PD):
        raise InputError("inputs: expected the targets of PD as one array, got a dict")
    return {f"input:{key}": x for key, x in inputs.items()}


def _argument(name: str) -> str:
    """A name of `Arguments` in messages."""
    kind, _, key = name.partition(":")
    return f"{'wrenches' if kind == 'wrench' else 'inputs'}{', ' * bool(key)}{key}"


def _wrenches(tree: Tree, wrenches: Any) -> dict[str, Any]:
    """Pushes by the names that a step has for them."""
    wrenches = {} if wrenches is None else wrenches
    if not isinstance(wrenches, Mapping):
        raise InputError(f"wrenches: expected {{frame: (..., steps or 1, 6)}}, got {type(wrenches).__name__}")
    for frame in wrenches:
        tree.frame(frame)
    return {f"wrench:{frame}": x.vector if isinstance(x, Wrench) else x for frame, x in wrenches.items()}


def _parameters(step: Step, parameters: Any) -> tuple[dict[str, NDArray[Any]], dict[str, tuple[int, ...]]]:
    """The arrays and their shapes without the batch."""
    parameters = {} if parameters is None else parameters
    if not isinstance(parameters, Mapping):
        raise InputError(f"parameters: expected {{name: array}}, got {type(parameters).__name__}")
    known, arrays = _known(step) if parameters else {}, {}
    for name, x in parameters.items():
        if name not in known:
            raise InputError(f"parameters: there is no {name!r} here; there are {', '.join(known)}")
        what, shape = f"parameters, {name}", known[name]
        if name in ("damping", "joint_friction") and not step.passive:
            raise InputError(f"{what}: expected passive=True with it, without which it has no effect")
        array = floats(x, what)
        if array.shape[array.ndim - len(shape) :] != shape:
            expected = ", ".join(map(str, ("...", *shape)))
            raise InputError(f"{what}: expected shape ({expected}), got {array.shape}")
        if name in (*OWN, "masses", "damping", "armature"):
            check_values(array, what, lambda x: x >= 0, "numbers >= 0", len(shape))
        if name == "joint_friction" and step.method.has_contacts:
            rest = np.delete(np.arange(step.tree.nv), step.scene.bounds.velocities)
            check_values(array[..., rest], what, lambda x: x == 0, "zeros at joints that have none in the model", 1)
        if name == "ground_stiffness":
            check_values(array, what, lambda x: x > 0, "numbers > 0")
        if name == "restitution":
            check_values(array, what, lambda x: x <= 1, "numbers from 0 to 1")
        arrays[f"parameter:{name}"] = array
    if {"mass", "masses"} <= set(parameters) or {"mass", "inertias"} <= set(parameters):
        raise InputError("parameters: expected mass, masses or inertias, got several of them")
    return arrays, {f"parameter:{name}": known[name] for name in parameters}


def _of_several_samples(name: str, expected: tuple[int, ...], shape: tuple[int, ...]) -> str:
    words = f"parameters, {name}: expected shape {expected}, that of one sample, got {shape}"
    if name in ("kp", "kd") and not expected:
        return f"{words}; for a gain of each joint make the controller with them: simulate.PD({name}=np.array([...]))"
    return f"{words}; compile the step for a batch, or simulate it: simulator(q, v, parameters=...)"


def _known(step: Step) -> dict[str, tuple[int, ...]]:
    """The names of parameters and their shapes without the batch."""
    known: dict[str, tuple[int, ...]] = dict.fromkeys(step.method.ground_parameters if step.scene.contacts else (), ())
    controller = step.controller
    if isinstance(controller, PD):
        known |= {"kp": controller.kp.shape, "kd": controller.kd.shape}
    shapes = dict(step.tree.parameter_shapes)
    known["joint_friction"] = shapes.pop("friction")
    return known | {"mass": ()} | shapes


def functions_of(outputs: Any) -> dict[str, Callable[..., Any]]:
    """The functions whose arrays are recorded, by name."""
    outputs = {} if outputs is None else outputs
    if not isinstance(outputs, Mapping) or not all(map(callable, outputs.values())):
        raise InputError("outputs: expected {name: function(t, q, v, a, tau, forces)}, got something else")
    for name, function in outputs.items():
        check_signature(function, f"outputs, {name}: expected a function of ({', '.join(RECORDED)})", *RECORDED)
    return dict(outputs)
