"""The meaning of a trace: one NumPy operation for each node. All other ways to run it are measured against this one."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from multibody.errors import InputError
from multibody.tracing.emission import Target, fold
from multibody.tracing.layout import rebuild
from multibody.tracing.trace import Trace

TABLE: dict[str, Callable[..., Any]] = {
    "true": lambda: np.True_,
    "false": lambda: np.False_,
    "neg": np.negative,
    "abs": np.abs,
    "sign": np.sign,
    "sqrt": np.sqrt,
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "asin": np.arcsin,
    "acos": np.arccos,
    "exp": np.exp,
    "log": np.log,
    "tanh": np.tanh,
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
    "min": np.minimum,
    "max": np.maximum,
    "atan2": np.arctan2,
    "hypot": np.hypot,
    "pow": np.power,
    "fma": lambda a, b, c: a * b + c,
    "fms": lambda a, b, c: a * b - c,
    "fnma": lambda a, b, c: c - a * b,
    "select": np.where,
    "lt": np.less,
    "le": np.less_equal,
    "eq": np.equal,
    "ne": np.not_equal,
    "and": np.logical_and,
    "or": np.logical_or,
    "not": np.logical_not,
}


def evaluate(trace: Trace, *arguments: ArrayLike) -> Any:
    """The result of the traced function on float arrays, with any leading batch axes; NaN and Inf stay silent.

    >>> from multibody.tracing.trace import trace
    >>> evaluate(trace(lambda x: x @ x, [3]), [[1.0, 2.0, 2.0], [0.0, 3.0, 4.0]])
    array([ 9., 25.])
    """
    arrays, batch = _batched(trace, arguments)
    rows = [
        np.moveaxis(array.reshape(*array.shape[: array.ndim - len(given.shape)], math.prod(given.shape)), -1, 0)
        for array, given in zip(arrays, trace.inputs, strict=True)
    ]
    target = Target("the interpreter", TABLE, trace.dtype.type, lambda i, k: rows[i][k])
    with np.errstate(all="ignore"):
        elements = fold(trace, target)
    results = []
    for ids, values in zip(trace.outputs, elements, strict=True):
        out = np.empty((*batch, ids.size), dtype=trace.dtype)
        for k, value in enumerate(values):
            out[..., k] = value
        results.append(out.reshape(batch + ids.shape)[()])
    return rebuild(trace.layout, iter(results))


def _batched(trace: Trace, arguments: tuple[ArrayLike, ...]) -> tuple[list[NDArray[Any]], tuple[int, ...]]:
    """The arguments as arrays, and their common batch shape."""
    if len(arguments) != len(trace.inputs):
        names = ", ".join(given.name for given in trace.inputs)
        raise InputError(f"expected {len(trace.inputs)} arguments ({names}), got {len(arguments)}")
    arrays = [np.asarray(x, dtype=trace.dtype) for x in arguments]
    batches = []
    for array, given in zip(arrays, trace.inputs, strict=True):
        lead = array.ndim - len(given.shape)
        if lead < 0 or array.shape[lead:] != given.shape:
            tail = ", ".join(map(str, given.shape))
            raise InputError(f"{given.name}: expected an array of shape (..., {tail}), got {array.shape}")
        batches.append(array.shape[:lead])
    try:
        return arrays, np.broadcast_shapes(*batches)
    except ValueError:
        listed = ", ".join(f"{given.name} {batch}" for given, batch in zip(trace.inputs, batches, strict=True))
        raise InputError(f"the batch shapes do not broadcast: {listed}") from None
