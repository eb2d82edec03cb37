"""Kernels of robots: compiled at their first native call; equal requests share code, in a process and on disk."""

from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np

from multibody.algorithms.least_norm import rank_precision
from multibody.algorithms.pivots import pivots
from multibody.compiler.compile import compile as compile_kernel
from multibody.compiler.kernel import Kernel
from multibody.compiler.lazy_kernel import LazyKernel
from multibody.compiler.runtime.call_mode import Source
from multibody.errors import InputError
from multibody.geometry._arrays import is_traced
from multibody.model import configuration
from multibody.model.model import Model
from multibody.robot.inputs import Input
from multibody.robot.request import Request
from multibody.tracing.record.trace import Input as Argument

SINGULAR_PIVOT = 1e-13
"""A joint carries no inertia if its pivot of the mass matrix is below this, relative to the largest."""


def lazy_kernel(model: Model, request: Request, dtype: np.dtype[Any]) -> LazyKernel:
    """The kernel of a request, compiled at its first native call."""
    source = in_double(_source(model, request), dtype)
    arrays = request.arrays(model.tree)
    return lazy_kernel_of(source, model, arrays, dtype, lambda: request.key(model), request.name, batched=True)


def lazy_kernel_of(
    function: Callable[..., Any],
    model: Model,
    arrays: list[Input],
    dtype: np.dtype[Any],
    key: Callable[[], str | None],
    name: str,
    *,
    batched: bool,
) -> LazyKernel:
    """The kernel of a function of a robot's arrays.

    Args:
        function: of these arrays.
        model: whose joints say where unit quaternions are.
        arrays: the inputs.
        dtype: the precision of the robot.
        key: returns the key of the function in the cache, as in `mb.compile`.
        name: of the kernel.
        batched: whether the function itself takes batches.
    """
    function.__name__ = name
    starts = [x.quaternions(model.tree) for x in arrays]
    quaternions = tuple((k, start) for k, places in enumerate(starts) for start in places)
    source = Source(function, tuple(Argument(x.name, x.shape) for x in arrays), dtype, quaternions, batched)

    def build() -> Kernel:
        return compile_kernel(
            function,
            *(x.shape for x in arrays),
            names=[x.name for x in arrays],
            dtype=dtype,
            key=key(),
            batched=batched,
            quaternions={x.name: places for x, places in zip(arrays, starts, strict=True) if places},
        )

    return LazyKernel(source, build)


def _source(model: Model, request: Request) -> Callable[..., Any]:
    """The function of a request; it refuses a robot with a singular mass matrix if it solves with that matrix."""
    function, unchecked = request.function(model.tree), [request] if request.solves else []

    def compute(*args: Any) -> Any:
        if unchecked:  # cached code has passed the check
            check_masses(model)
            unchecked.clear()
        return function(*args)

    return compute


def in_double(compute: Callable[..., Any], dtype: np.dtype[Any]) -> Callable[..., Any]:
    """A function that computes in double precision, as the model's parameters are; traced arrays keep their precision.

    Mixed precision would return doubles with the rounding errors of singles, which the tolerances do not expect: rows
    that cannot move anything would count as constraints. Ranks are determined with the tolerance of the dtype.
    """

    @wraps(compute)
    def call(*args: Any) -> Any:
        if any(is_traced(x) for x in args):
            return compute(*args)
        with rank_precision(dtype):
            return compute(*(np.asarray(x, np.float64) for x in args))

    return call


def check_masses(model: Model) -> None:
    """Refuse a robot with a singular mass matrix; the error names a joint that carries no inertia.

    That is a joint whose pivot vanishes at several configurations.
    """
    tree, rng = model.tree, np.random.default_rng(0)
    for q in (configuration.neutral(tree), configuration.random(tree, rng), configuration.random(tree, rng)):
        shares = pivots(tree, q)
        bad = [k for k, x in enumerate(shares) if not x > SINGULAR_PIVOT * np.nanmax(np.abs(shares), initial=0.0)]
        if not bad:
            return
    joint = next(j for j in model.joints if j.v.start <= bad[-1] < j.v.stop)
    raise InputError(
        f"{model.name}: the joint {joint.name!r} carries no inertia (the mass matrix is singular): look for links "
        f"without mass from {joint.child!r} on. Give one an inertia or the joint an armature, or lock it: "
        "robot.lock({...})"
    )
