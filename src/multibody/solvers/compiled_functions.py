"""Functions of arrays, compiled once per shape; traced arguments record them instead."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from typing import Any

import numpy as np

from multibody.compiler.compile import compile as compile_kernel
from multibody.compiler.kernel import Kernel
from multibody.geometry._arrays import Array, batch_shape, is_traced

Function = Callable[..., Any]
Shape = tuple[int, ...]


def evaluate(function: Function, arrays: Mapping[str, tuple[Array, int]]) -> Any:
    """function(*arrays), each with its number of core axes, by a kernel that a process compiles once for their shapes.

    A sample has the same bits alone and in every batch. Traced arrays become a part of the trace. Arrays without
    entries, some but not all, have no say in the batch. The function is one of a module of this library, because its
    name stands for it in the key.
    """
    shapes = tuple(x.shape[x.ndim - core :] for x, core in arrays.values())
    filled = {name: part for (name, part), shape in zip(arrays.items(), shapes, strict=True) if 0 not in shape}
    batch, values = batch_shape(", ".join(filled), *filled.values()), [x for x, _ in filled.values()]
    if any(map(is_traced, values)):
        whole = (np.broadcast_to(x, batch + x.shape[x.ndim - core :]) for x, core in filled.values())
        return function(*_with_empty(whole, shapes, batch, np.result_type(*(x.dtype for x in values))))
    return kernel_for(function, tuple(arrays), shapes, np.result_type(*(x.dtype for x in values)))(*values)


@cache
def kernel_for(function: Function, names: tuple[str, ...], shapes: tuple[Shape, ...], dtype: np.dtype[Any]) -> Kernel:
    """The kernel of a function for arrays of these shapes; it takes only those with entries."""
    filled = [(name, shape) for name, shape in zip(names, shapes, strict=True) if 0 not in shape]

    def call(*arrays: Array) -> Any:
        batch = arrays[0].shape[: arrays[0].ndim - len(filled[0][1])]
        return function(*_with_empty(arrays, shapes, batch, arrays[0].dtype))

    key = f"{function.__module__}.{function.__qualname__} {shapes}"
    given = tuple(name for name, _ in filled)
    return compile_kernel(call, *(shape for _, shape in filled), names=given, dtype=dtype, key=key, batched=True)


def _with_empty(filled: Iterable[Array], shapes: tuple[Shape, ...], batch: Shape, dtype: Any) -> Iterator[Any]:
    """Arrays of all shapes: the filled ones, and arrays without entries."""
    rest = iter(filled)
    return (np.zeros(batch + shape, dtype) if 0 in shape else next(rest) for shape in shapes)
