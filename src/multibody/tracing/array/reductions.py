"""Sums, products, extremes, means, norms and running sums along axes of traced arrays."""

import math
from collections.abc import Callable
from functools import partial
from functools import reduce as fold
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index, normalize_axis_tuple

from multibody.tracing.array.traced import BOOL, TracedArray, apply, floats, refuse, traced, truths

LOGICAL = ("and", "or", "not")
IN_ANY_ORDER = ("max", "min", "and", "or")
"""Operations whose order changes no bit: a balanced tree shortens the dependency chain."""


def reduce(op: str, x: TracedArray, axis: Any, keepdims: bool = False) -> TracedArray:
    """Fold an operation along axes, from the first element on, or as a balanced tree if that changes no bit."""
    graph = x.graph
    if x.dtype == BOOL and x.size:
        op = {"min": "and", "max": "or"}.get(op, op)
    ids = (truths if op in LOGICAL else floats)(graph, x)
    axes = normalize_axis_tuple(tuple(range(x.ndim)) if axis is None else axis, x.ndim)
    others = [a for a in range(x.ndim) if a not in axes]
    shape = [x.shape[a] for a in others]
    flat = np.transpose(ids, [*others, *axes]).reshape(*shape, math.prod(x.shape[a] for a in axes))
    start = {"add": graph.const(0.0), "mul": graph.const(1.0), "and": graph.truth(True), "or": graph.truth(False)}
    if not flat.shape[-1] and op not in start:
        raise refuse(f"the {op} of no elements does not exist")
    out = np.empty(shape, dtype=np.int64)

    join = partial(graph.apply, op)
    for index in np.ndindex(*shape):
        parts = flat[index].tolist() or [start[op]]
        out[index] = _in_halves(join, parts) if op in IN_ANY_ORDER else fold(join, parts)
    dtype = BOOL if op in LOGICAL else x.float_dtype
    return TracedArray(graph, np.expand_dims(out, axes) if keepdims else out, dtype)


def _in_halves(join: Callable[[int, int], int], parts: list[int]) -> int:
    if len(parts) == 1:
        return parts[0]
    middle = (len(parts) + 1) // 2
    return join(_in_halves(join, parts[:middle]), _in_halves(join, parts[middle:]))


def reduction(op: str) -> Callable[..., TracedArray]:
    """A NumPy reduction such as np.sum."""

    def run(self: TracedArray, x: Any, axis: Any = None, *, keepdims: bool = False) -> TracedArray:
        return reduce(op, traced(self, x), axis, keepdims)

    return run


def _count(x: TracedArray, axis: Any) -> int:
    """The number of elements along the axes."""
    return x.size if axis is None else math.prod(x.shape[a] for a in normalize_axis_tuple(axis, x.ndim))


def mean(self: TracedArray, x: Any, axis: Any = None, *, keepdims: bool = False) -> Any:
    """The arithmetic mean."""
    x = traced(self, x)
    total, count = reduce("add", x, axis, keepdims), _count(x, axis)
    return total * (1 / count) if count else total / 0.0


def var(self: TracedArray, x: Any, axis: Any = None, *, ddof: float = 0, keepdims: bool = False) -> Any:
    """The mean squared deviation from the mean."""
    x = traced(self, x)
    away = x - mean(self, x, axis, keepdims=True)
    total = reduce("add", away * away, axis, keepdims)
    return total / max(_count(x, axis) - ddof, 0.0)


def std(self: TracedArray, x: Any, axis: Any = None, *, ddof: float = 0, keepdims: bool = False) -> Any:
    """The square root of the variance."""
    return np.sqrt(var(self, x, axis, ddof=ddof, keepdims=keepdims))


def norm(self: TracedArray, x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:  # noqa: A002
    """Norms of vectors for ord 1, 2 and ±inf; of matrices the Frobenius norm, and those of sums for ord 1 and ±inf."""
    x = traced(self, x)
    if axis is None and x.ndim > 2 and ord is not None:
        raise refuse(f"np.linalg.norm with ord={ord!r} of {x.ndim} axes: name one axis, or two")
    matrix = x.ndim == 2 if axis is None else np.size(axis) == 2
    if ord is None or (matrix and ord == "fro") or (not matrix and ord == 2):
        return np.sqrt(reduce("add", x * x, axis, keepdims))
    if ord not in (1, np.inf, -np.inf):
        raise refuse(f"np.linalg.norm with ord={ord!r} cannot be traced: the Euclidean norm, 1 and inf are")
    size, extreme = np.abs(x), "min" if ord == -np.inf else "max"
    if not matrix:
        return reduce("add" if ord == 1 else extreme, size, axis, keepdims)
    rows, columns = normalize_axis_tuple((0, 1) if axis is None else axis, x.ndim)
    first, second = (rows, columns) if ord == 1 else (columns, rows)
    result = reduce(extreme, reduce("add", size, first, keepdims=True), second, keepdims=True)
    return result if keepdims else np.squeeze(result, axis=(rows, columns))


def running(op: str) -> Callable[..., TracedArray]:
    """np.cumsum and np.cumprod."""

    def run(self: TracedArray, x: Any, axis: int | None = None) -> TracedArray:
        ids = floats(self.graph, x)
        ids = ids.ravel() if axis is None else ids
        axis = normalize_axis_index(-1 if axis is None else axis, ids.ndim)
        out = np.moveaxis(ids, axis, 0).copy()
        for k in range(1, len(out)):
            out[k] = apply(self.graph, op, out[k - 1], out[k])
        return TracedArray(self.graph, np.moveaxis(out, 0, axis), self.float_dtype)

    return run


def diff(self: TracedArray, a: Any, n: int = 1, axis: int = -1) -> Any:
    """The differences of neighbours, n times."""
    x: Any = traced(self, a)
    x = np.moveaxis(x, axis, 0)
    for _ in range(n):
        x = x[1:] != x[:-1] if x.dtype == BOOL else x[1:] - x[:-1]
    return np.moveaxis(x, 0, axis)


def ptp(self: TracedArray, a: Any, axis: Any = None, *, keepdims: bool = False) -> Any:
    """The maximum minus the minimum."""
    x = traced(self, a)
    return reduce("max", x, axis, keepdims) - reduce("min", x, axis, keepdims)
