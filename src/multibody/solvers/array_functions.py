"""Functions of arrays, compiled once per shape; traced arguments record them instead."""

from collections.abc import Callable, Hashable, Mapping
from functools import cache, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multibody.compiler.compile import compile as compile_kernel
from multibody.compiler.kernel import Kernel
from multibody.geometry._arrays import batch_shape, is_traced

Function = Callable[..., Any]


def evaluate(function: Function, arrays: Mapping[str, tuple[NDArray[Any], int]], structure: Hashable = None) -> Any:
    """function(*arrays), each with its number of core axes, by a kernel that a process compiles once for their shapes.

    A sample has the same bits alone and in every batch. Traced arrays become a part of the trace. The function is one
    of a module of this library, because its name stands for it in the key, together with its first argument, the
    structure, if there is one.
    """
    batch = batch_shape(", ".join(arrays), *arrays.values())
    if any(is_traced(array) for array, _ in arrays.values()):
        call = function if structure is None else partial(function, structure)
        return call(*(np.broadcast_to(x, batch + x.shape[x.ndim - core :]) for x, core in arrays.values()))
    dtype = np.result_type(*(x.dtype for x, _ in arrays.values()))
    shapes = tuple(x.shape[x.ndim - core :] for x, core in arrays.values())
    return kernel_for(function, structure, tuple(arrays), shapes, dtype)(*(x for x, _ in arrays.values()))


@cache
def kernel_for(
    function: Function,
    structure: Hashable,
    names: tuple[str, ...],
    shapes: tuple[tuple[int, ...], ...],
    dtype: np.dtype[Any],
) -> Kernel:
    """The kernel of a function for arrays of these shapes, and for the structure that is its first argument, if any."""
    key, call = f"{function.__module__}.{function.__qualname__}", function
    if structure is not None:
        key, call = f"{key} {structure}", partial(function, structure)
    return compile_kernel(call, *shapes, names=names, dtype=dtype, key=key, batched=True)
