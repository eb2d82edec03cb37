"""Sorting networks, argsort, argmin and argmax along an axis; NaN is sorted last, as in NumPy."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index

from multibody.tracing.array.traced import TracedArray, floats, is_mask, refuse
from multibody.tracing.graph.graph import Graph

MAX_SORTED = 64
"""Elements of an axis that can be sorted; a network of this length has about 550 comparisons."""


def sort(self: TracedArray, a: Any, axis: int | None = -1) -> TracedArray:
    """np.sort by Batcher's network (K. E. Batcher, Sorting networks and their applications, 1968)."""

    def order(graph: Graph, values: list[int]) -> list[int]:
        apply = graph.apply
        for i, j in _comparisons(len(values)):
            low, high = values[i], values[j]
            swap = apply("or", apply("lt", high, low), apply("ne", low, low))
            _exchange(apply, swap, values, i, j)
        return values

    ordered = _along(self, "np.sort", a, axis, order)
    return ordered != 0.0 if is_mask(a) else ordered  # type: ignore[return-value]


def argsort(self: TracedArray, a: Any, axis: int | None = -1, *, kind: str | None = None, stable: Any = None) -> Any:
    """np.argsort: equal elements keep their order, as with kind="stable"."""
    del kind, stable  # a stable order satisfies every kind

    def order(graph: Graph, values: list[int]) -> list[int]:
        apply = graph.apply
        positions = [graph.const(float(k)) for k in range(len(values))]
        for sweep in range(len(values)):
            for i in range(sweep % 2, len(values) - 1, 2):  # neighbours only, so equal elements keep their order
                low, high = values[i], values[i + 1]
                only_low = apply("and", apply("ne", low, low), apply("eq", high, high))
                swap = apply("or", apply("lt", high, low), only_low)
                for row in (values, positions):
                    _exchange(apply, swap, row, i, i + 1)
        return positions

    return _along(self, "np.argsort", a, axis, order)


def _exchange(apply: Callable[..., int], swap: int, row: list[int], i: int, j: int) -> None:
    """Exchange two elements where the condition holds."""
    a, b = row[i], row[j]
    row[i], row[j] = apply("select", swap, b, a), apply("select", swap, a, b)


def _comparisons(n: int) -> Iterator[tuple[int, int]]:
    p = 1
    while p < n:
        k = p
        while k:
            for j in range(k % p, n - k, 2 * k):
                for i in range(min(k, n - j - k)):
                    if (i + j) // (2 * p) == (i + j + k) // (2 * p):
                        yield i + j, i + j + k
            k //= 2
        p *= 2


def _along(
    self: TracedArray, name: str, a: Any, axis: int | None, order: Callable[[Graph, list[int]], list[int]]
) -> TracedArray:
    ids = floats(self.graph, a)
    ids, axis = (ids.ravel(), 0) if axis is None else (ids, normalize_axis_index(axis, ids.ndim))
    rows = np.moveaxis(ids, axis, -1).copy()
    if rows.shape[-1] > MAX_SORTED:
        raise refuse(f"{name} of {rows.shape[-1]} elements cannot be traced: at most {MAX_SORTED} can")
    for index in np.ndindex(*rows.shape[:-1]):
        rows[index] = order(self.graph, rows[index].tolist())
    return TracedArray(self.graph, np.moveaxis(rows, -1, axis), self.float_dtype)


def extreme_index(comparison: str) -> Callable[..., TracedArray]:
    """np.argmin ("lt") or np.argmax ("gt"): the first of equal ones, the first NaN if there is one."""

    def run(self: TracedArray, a: Any, axis: int | None = None, *, keepdims: bool = False) -> TracedArray:
        graph, ids = self.graph, floats(self.graph, a)
        apply, shape = graph.apply, ids.shape
        at = None if axis is None else normalize_axis_index(axis, ids.ndim)
        rows = ids.reshape(1, -1) if at is None else np.moveaxis(ids, at, -1)
        if not rows.shape[-1]:
            raise refuse(f"np.argmin and np.argmax of shape {shape}: there are no elements")
        out = np.empty(rows.shape[:-1], dtype=np.int64)
        for index in np.ndindex(*out.shape):
            best, *rest = rows[index].tolist()
            place = graph.const(0.0)
            for k, x in enumerate(rest, 1):
                kept = apply("le", best, x) if comparison == "lt" else apply("le", x, best)
                better = apply("and", apply("eq", best, best), apply("not", kept))  # the first NaN stays
                best, place = apply("select", better, x, best), apply("select", better, graph.const(float(k)), place)
            out[index] = place
        out = out[0] if at is None else out
        if keepdims:
            out = out.reshape([1] * len(shape)) if at is None else np.expand_dims(out, at)
        return TracedArray(graph, np.asarray(out), self.float_dtype)

    return run
