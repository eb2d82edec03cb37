"""Functions that move, select and repeat elements of traced arrays."""

from collections.abc import Callable
from typing import Any

import numpy as np

from multibody.tracing.array.traced import (
    BOOL,
    TracedArray,
    apply,
    floats,
    gathered,
    is_mask,
    nodes,
    numbers,
    refuse,
    traced,
    truths,
)


def structural(function: Callable[..., Any]) -> Callable[..., Any]:
    """NumPy's own function, on the array of nodes."""

    def run(self: TracedArray, arrays: Any, *rest: Any, **kwargs: Any) -> Any:
        if "dtype" in kwargs or "out" in kwargs:
            raise refuse(f"np.{function.__name__} with dtype= or out= cannot be traced")
        if any(isinstance(gathered(part), TracedArray) for part in (*rest, *kwargs.values())):
            raise refuse(f"np.{function.__name__}: positions, counts and shapes must not depend on traced values")
        masks = _all_masks(arrays)

        def convert(x: Any) -> Any:
            if isinstance(x, list | tuple):
                return type(x)(convert(y) for y in x)
            return nodes(self.graph, x) if masks else floats(self.graph, x)

        result = function(convert(arrays), *rest, **kwargs)  # the other arguments are shapes and axes
        if isinstance(arrays, TracedArray):
            parts = [arrays._with(part) for part in _listed(result)]  # views of it, mostly
        else:
            dtype = BOOL if masks else self.float_dtype
            parts = [TracedArray(self.graph, np.asarray(part), dtype) for part in _listed(result)]
        return parts if isinstance(result, list) else parts[0]

    return run


def for_each(function: Callable[..., Any]) -> Callable[..., Any]:
    """NumPy's own function on the nodes of each array."""
    single = structural(function)

    def run(self: TracedArray, *arrays: Any) -> Any:
        results = [single(self, array) for array in arrays]
        return tuple(results) if len(results) > 1 else results[0]

    return run


def _all_masks(arrays: Any) -> bool:
    return all(map(_all_masks, arrays)) if isinstance(arrays, list | tuple) else is_mask(arrays)


def _listed(result: Any) -> list[Any]:
    return result if isinstance(result, list) else [result]


def like(number: float) -> Callable[..., TracedArray]:
    """np.zeros_like and np.ones_like."""

    def run(self: TracedArray, x: Any, dtype: Any = None, *, shape: Any = None) -> TracedArray:
        return full_like(self, x, number, dtype, shape=shape)

    return run


def full_like(self: TracedArray, x: Any, value: Any, dtype: Any = None, *, shape: Any = None) -> TracedArray:
    """A writable array of one value."""
    kind = ("b" if is_mask(x) else "f") if dtype is None else np.dtype(dtype).kind
    if kind not in "bf":
        raise refuse(f"an array of {np.dtype(dtype)} cannot be traced: only floats and booleans are")
    filled: Any = numbers(self, value)
    filled = filled != 0.0 if kind == "b" else filled
    return filled._with(np.broadcast_to(filled.ids, np.shape(x) if shape is None else shape).copy())


def where(self: TracedArray, condition: Any, a: Any = None, b: Any = None) -> TracedArray:
    """Elements of a where the condition holds, otherwise of b."""
    if a is None or b is None:
        raise refuse("np.where(condition) alone cannot be traced: write np.where(condition, this, that)")
    graph = self.graph
    if is_mask(a) and is_mask(b):
        p, q, r = (TracedArray(graph, truths(graph, x), BOOL) for x in (condition, a, b))
        return (p & q) | (~p & r)
    dtype = next((x.dtype for x in (a, b) if isinstance(x, TracedArray) and not is_mask(x)), self.float_dtype)
    return TracedArray(
        graph, apply(graph, "select", truths(graph, condition), floats(graph, a), floats(graph, b)), dtype
    )


def select(self: TracedArray, condlist: Any, choicelist: Any, default: Any = 0.0) -> Any:
    """The choice of the first condition that holds, otherwise the default."""
    if len(condlist) != len(choicelist) or not len(condlist):
        raise refuse(f"np.select of {len(condlist)} conditions and {len(choicelist)} choices: expected equal numbers")
    result = default
    for condition, choice in zip(reversed(condlist), reversed(choicelist), strict=True):
        result = where(self, condition, choice, result)
    return result


def diag(self: TracedArray, v: Any, k: int = 0) -> TracedArray:
    """The matrix with that diagonal, or the diagonal of a matrix."""
    v = traced(self, v)
    if v.ndim not in (1, 2):
        raise refuse(f"np.diag of shape {v.shape}: expected one or two axes")
    if v.ndim == 2:
        return v._with(np.diagonal(v.ids, k))
    n = len(v) + abs(k)
    out = np.full((n, n), _zero(v))
    out[np.eye(n, k=k, dtype=bool)] = v.ids
    return v._with(out)


def _zero(x: TracedArray) -> int:
    """The node of the zero of an array's type."""
    return x.graph.truth(False) if x.dtype == BOOL else x.graph.const(0.0)


def triangle(mask: Callable[..., Any]) -> Callable[..., TracedArray]:
    """np.tril and np.triu: zeros outside of the triangle."""

    def run(self: TracedArray, m: Any, k: int = 0) -> TracedArray:
        m = traced(self, m)
        if m.ndim < 2:
            raise refuse(f"np.tril and np.triu of shape {m.shape}: expected (..., n, m)")
        inside = mask(np.ones(m.shape[-2:], dtype=bool), k)
        return m._with(np.where(inside, m.ids, _zero(m)))

    return run


def broadcast_arrays(self: TracedArray, *arrays: Any) -> tuple[TracedArray, ...]:
    """All arrays in their common shape."""
    shape = np.broadcast_shapes(*(np.shape(x) for x in arrays))
    lifted = [traced(self, x) for x in arrays]
    return tuple(x._with(np.broadcast_to(x.ids, shape)) for x in lifted)
