"""Kernels of robots: compiled when first asked for; equal requests share their code, in a process and on disk."""

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np

from multibody.algorithms.least_norm import rank_precision
from multibody.algorithms.pivots import pivots
from multibody.compiler.compile import compile as compile_kernel
from multibody.compiler.kernel import Kernel
from multibody.errors import InputError
from multibody.geometry._arrays import batch_shape, is_traced
from multibody.model import configuration
from multibody.model.model import Model
from multibody.robot.inputs import Input
from multibody.robot.request import Request

FEW_PIVOTS = 1e-13
"""A joint moves nothing when its share of the mass matrix is below this, relative to the largest."""


def kernel(model: Model, request: Request, dtype: np.dtype[Any]) -> Kernel:
    """The native kernel of a request."""
    arrays = request.arrays(model.tree)
    source = in_double(_source(model, request), dtype)
    return compiled(source, model, arrays, dtype, key=request.key(model), name=request.name, batched=True)


def compiled(
    function: Callable[..., Any],
    model: Model,
    arrays: list[Input],
    dtype: np.dtype[Any],
    *,
    key: str | None,
    name: str,
    batched: bool,
) -> Kernel:
    """The kernel of a function of arrays of a robot; `batched` says whether the function itself takes batches."""
    function.__name__ = name
    return compile_kernel(
        function,
        *(x.shape for x in arrays),
        names=[x.name for x in arrays],
        dtype=dtype,
        key=key,
        batched=batched,
        quaternions={x.name: starts for x in arrays if (starts := x.quaternions(model.tree))},
    )


def plain(model: Model, request: Request, dtype: np.dtype[Any]) -> Callable[..., Any]:
    """The NumPy source of a request, called as its kernel is: arguments and results have the robot's precision.

    Traced arrays pass as they are: the algorithm becomes a part of the function that is traced.
    """
    arrays, source = request.arrays(model.tree), in_double(_source(model, request), dtype)

    def call(*args: Any, out: Any = None, threads: int | None = None) -> Any:
        del threads
        names = ", ".join(x.name for x in arrays)
        if len(args) != len(arrays):
            raise InputError(f"expected {len(arrays)} arguments ({names}), got {len(args)}")
        values = [x.check(model.tree, value) for x, value in zip(arrays, args, strict=True)]
        values = [value if is_traced(value) else value.astype(dtype, copy=False) for value in values]
        batch = batch_shape(names, *((value, len(x.shape)) for x, value in zip(arrays, values, strict=True)))
        full = [np.broadcast_to(value, (*batch, *x.shape)) for x, value in zip(arrays, values, strict=True)]
        return handed(source(*full), out, dtype)

    return call


def _source(model: Model, request: Request) -> Callable[..., Any]:
    """The function of a request, which refuses a robot without a mass matrix to divide by."""
    function, unchecked = request.function(model.tree), [request] if request.solves else []

    def compute(*args: Any) -> Any:
        if unchecked:  # when there is no code in the cache: what is there has passed
            check_masses(model)
            unchecked.clear()
        return function(*args)

    return compute


def in_double(compute: Callable[..., Any], dtype: np.dtype[Any]) -> Callable[..., Any]:
    """A function that computes with numbers in double precision, as those of the model have; traced arrays keep theirs.

    Numbers of both would give a result of doubles with the rounding errors of singles, which no threshold expects: rows
    that cannot move anything would hold. Ranks are judged as kernels of the dtype judge them.
    """

    @wraps(compute)
    def call(*args: Any) -> Any:
        if any(is_traced(x) for x in args):
            return compute(*args)
        with rank_precision(dtype):
            return compute(*(np.asarray(x, np.float64) for x in args))

    return call


def handed(results: Any, out: Any, dtype: np.dtype[Any]) -> Any:
    """The results in the robot's precision, or written into `out`."""
    if isinstance(results, tuple):
        places = (None,) * len(results) if out is None else out
        if not isinstance(places, tuple | list) or len(places) != len(results):
            raise InputError(f"out: expected {len(results)} arrays in a tuple, got {out!r}")
        return tuple(handed(result, place, dtype) for result, place in zip(results, places, strict=True))
    if out is None:
        return results if is_traced(results) else np.asarray(results, dtype)[()]
    if not isinstance(out, np.ndarray) or out.shape != results.shape:
        raise InputError(f"out: expected an array of shape {results.shape}, got {np.shape(out)}")
    out[...] = results
    return out


def check_masses(model: Model) -> None:
    """Refuse a robot on which forward dynamics divides by zero, naming the joint that moves nothing.

    A joint is blamed when its share of the mass matrix vanishes at several configurations.
    """
    tree, rng = model.tree, np.random.default_rng(0)
    for q in (configuration.neutral(tree), configuration.random(tree, rng), configuration.random(tree, rng)):
        shares = pivots(tree, q)
        bad = [k for k, x in enumerate(shares) if not x > FEW_PIVOTS * np.nanmax(np.abs(shares), initial=0.0)]
        if not bad:
            return
    joint = next(j for j in model.joints if j.v.start <= bad[-1] < j.v.stop)
    raise InputError(
        f"{model.name}: the joint {joint.name!r} moves no inertia when those beyond it are free, so that the mass "
        f"matrix is singular: look for links without mass from {joint.child!r} on. Give one an inertia or the joint an "
        "armature, or lock it: robot.lock({...})"
    )
