"""Kernels of robots: compiled when first asked for; equal models share their code, in a process and on disk."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import Any

import numpy as np

from multibody.algorithms.least_norm import judged_in
from multibody.algorithms.pivots import pivots
from multibody.compiler.compile import compile as compile_kernel
from multibody.compiler.kernel import Kernel
from multibody.errors import InputError
from multibody.geometry._arrays import batch_shape, choice, floats, is_traced
from multibody.model import configuration
from multibody.model.model import Model
from multibody.model.parameters import PLACED as TURNED
from multibody.model.parameters import check_units
from multibody.model.tree import PLACEMENT, POSITION, Tree
from multibody.robot.requests import TABLE, Request, length

PARAMETERS = ("inertias", "placements", "positions", "frame_placements", "gravity", "masses")
"""Numbers of the tree that can be inputs of a kernel."""


@dataclass(frozen=True)
class Task:
    """A function of a robot's inputs, to be compiled or run as it is."""

    content: Any
    """It stands for the function: two with the same content do the same on models with the same dynamics.

    None for a function that holds code of the user: it is traced in every process, to know it.
    """
    compute: Callable[..., Any]
    inputs: dict[str, Any]
    """The names and lengths of its arguments; of parameters and other matrices, the shapes."""
    any_length: bool = False
    """Whether quaternions need not be units."""


def task(
    model: Model,
    requests: Sequence[Request],
    inputs: Sequence[str],
    *,
    single: bool,
    parameters: Sequence[str] = (),
) -> Task:
    """To compute several requests together: what they share is computed once.

    Args:
        model: the robot.
        requests: what to compute.
        inputs: the names of all inputs, in the order of the arguments.
        single: whether the result is that of the only request, and not a tuple of results.
        parameters: which of PARAMETERS are further inputs, after the others, instead of the model's numbers.
    """
    needs = [[inputs.index(name) for name in request.inputs()] for request in requests]
    solving = [request for request in requests if TABLE[request.name].solves]
    unchecked = [] if "inertias" in parameters else solving

    def compute(*args: Any) -> Any:
        if unchecked:  # when there is no code in the cache: what is there has passed
            check_masses(model)
            unchecked.clear()
        own = with_parameters(model.tree, parameters, args[len(inputs) :])
        found = [r.function(own)(*(args[k] for k in needed)) for r, needed in zip(requests, needs, strict=True)]
        return found[0] if single else tuple(found)

    compute.__name__ = requests[0].name if single else "evaluate"
    content = content_of(model, requests, parameters, tuple(inputs), single)
    any_length = all(TABLE[request.name].any_length for request in requests)
    lengths: dict[str, Any] = {name: length(model, name) for name in inputs}
    for request in requests:
        lengths |= request.lengths(model)
    lengths |= {name: model.tree.parameter_shapes[name] for name in parameters}
    return Task(content, compute, lengths, any_length)


def with_parameters(tree: Tree, parameters: Sequence[str], values: Sequence[Any]) -> Tree:
    """The tree with other numbers, named by PARAMETERS."""
    return tree.with_values(**dict(zip(parameters, values, strict=True))) if parameters else tree


def content_of(model: Model, requests: Sequence[Request], parameters: Sequence[str], *rest: Any) -> Any:
    """What stands for a function of requests on every model with the same dynamics; None where nothing can.

    Frames on one place of a body are the same for kernels, but not where placements of frames are inputs: then the
    names count.
    """
    keys = [request.key(model) for request in requests]
    if None in keys:
        return None
    names = [(request.frame, request.options, request.wrenches) for request in requests]
    return keys, tuple(parameters), (model.digest, names) if "frame_placements" in parameters else (), *rest


def parameters_of(names: Any) -> tuple[str, ...]:
    """The kinds of parameters that a caller asks for: one of PARAMETERS, or several of them, each once."""
    if not isinstance(names, str | tuple | list):
        raise InputError(f"parameters: expected a name or a tuple of names ({', '.join(PARAMETERS)}), got {names!r}")
    given = (names,) if isinstance(names, str) else tuple(names)
    for one in given:
        choice(one, "parameters", tuple(PARAMETERS))
    if len(set(given)) < len(given):
        raise InputError(f"parameters: expected each kind once, got {', '.join(map(repr, given))}")
    if {"placements", "positions"} <= set(given):
        raise InputError(
            "parameters: expected 'placements' or 'positions', got both: placements have positions in them"
        )
    return given


def kernel(model: Model, task: Task, dtype: str) -> Kernel:
    """The kernel of a task, compiled unless its code is there."""
    return compile_kernel(
        _in_double(task.compute, dtype),
        *task.inputs.values(),
        names=list(task.inputs),
        dtype=dtype,
        key=None if task.content is None or model.tree_digest is None else repr((model.tree_digest, task.content)),
        batched=True,
        quaternions=None if task.any_length else _quaternions(model, task.inputs),
    )


def plain(model: Model, task: Task, dtype: np.dtype[Any]) -> Callable[..., Any]:
    """The NumPy source of a task, called as its kernel is: arguments and results have the robot's precision."""
    compute = _in_double(task.compute, dtype)

    def call(*args: Any, out: Any = None, threads: int | None = None) -> Any:
        del threads
        if len(args) != len(task.inputs):
            raise InputError(f"expected {len(task.inputs)} arguments ({', '.join(task.inputs)}), got {len(args)}")
        arrays, cores = [], [n if isinstance(n, tuple) else (n,) for n in task.inputs.values()]
        for value, name, core in zip(args, task.inputs, cores, strict=True):
            array = floats(value, name, *core)
            if name.startswith("q") and not task.any_length and not is_traced(array):
                configuration.check_units(model.tree, array)
            if name in TURNED and not is_traced(array):
                check_units(model.tree, array, name)
            arrays.append(array if is_traced(array) else array.astype(dtype, copy=False))
        sized = list(zip(arrays, cores, strict=True))
        batch = batch_shape(", ".join(task.inputs), *((array, len(core)) for array, core in sized))
        found = compute(*(np.broadcast_to(array, (*batch, *core)) for array, core in sized))
        return handed(found, out, dtype)

    return call


def _in_double(compute: Callable[..., Any], dtype: Any) -> Callable[..., Any]:
    """A function that computes with numbers in double precision, as those of the model have; traced arrays keep theirs.

    Numbers of both would give a result of doubles with the rounding errors of singles, which no threshold expects: rows
    that cannot move anything would hold. Ranks are judged as kernels of the dtype judge them.
    """

    @wraps(compute)
    def call(*args: Any) -> Any:
        if any(is_traced(x) for x in args):
            return compute(*args)
        with judged_in(dtype):
            return compute(*(np.asarray(x, np.float64) for x in args))

    return call


def handed(found: Any, out: Any, dtype: np.dtype[Any]) -> Any:
    """The results in the robot's precision, or written into `out`."""
    if isinstance(found, tuple):
        places = (None,) * len(found) if out is None else out
        if not isinstance(places, tuple | list) or len(places) != len(found):
            raise InputError(f"out: expected {len(found)} arrays in a tuple, got {out!r}")
        return tuple(handed(one, place, dtype) for one, place in zip(found, places, strict=True))
    if out is None:
        return found if is_traced(found) else np.asarray(found, dtype)[()]
    if not isinstance(out, np.ndarray) or out.shape != found.shape:
        raise InputError(f"out: expected an array of shape {found.shape}, got {np.shape(out)}")
    out[...] = found
    return out


def _quaternions(model: Model, inputs: Iterable[str]) -> dict[str, list[int]]:
    """Where unit quaternions begin in each input."""
    starts = [j.q.start + j.kind.quaternion.start for j in model.joints if j.kind.quaternion is not None]
    found = {name: starts for name in inputs if name.startswith("q")}
    for name in (name for name in TURNED if name in inputs):
        found[name] = [PLACEMENT * k + POSITION for k in range(model.tree.parameter_shapes[name][0])]
    return found


def check_masses(model: Model) -> None:
    """Refuse a robot on which forward dynamics divides by zero, naming the joint that moves nothing.

    A joint is blamed when its share of the mass matrix vanishes at several configurations, relative to the largest.
    """
    rng = np.random.default_rng(0)
    for q in (
        configuration.neutral(model.tree),
        configuration.random(model.tree, rng),
        configuration.random(model.tree, rng),
    ):
        shares = pivots(model.tree, q)
        bad = [k for k, x in enumerate(shares) if not x > 1e-13 * np.nanmax(np.abs(shares), initial=0.0)]
        if not bad:
            return
    joint = next(j for j in model.joints if j.v.start <= bad[-1] < j.v.stop)
    raise InputError(
        f"{model.name}: the joint {joint.name!r} moves no inertia when those beyond it are free, so that the mass "
        f"matrix is singular: look for links without mass from {joint.child!r} on. Give one an inertia or the joint an "
        "armature, or lock it: robot.lock({...})"
    )
