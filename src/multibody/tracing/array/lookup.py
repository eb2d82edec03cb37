"""Lookup tables: rows at traced indices, binary search in sorted tables, linear interpolation."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.array_utils import normalize_axis_index
from numpy.typing import ArrayLike, NDArray

from multibody._signatures import readable
from multibody.errors import InputError
from multibody.tracing.array.traced import TracedArray, floats, is_mask, lifted, map_nodes, numbers, refuse, traced
from multibody.tracing.graph.graph import Graph

MAX_LINEAR_SEARCH = 16
"""Entries up to which a comparison with each is faster than binary search."""


@readable
def lookup(table: ArrayLike, index: Any) -> Any:
    """Return rows of a table, `table[index]`, where the index may be traced.

    In a kernel an index cannot raise an error. An index beyond the table returns the first or
    the last row, and NaN returns NaN. A fraction is rounded down: pass `np.rint(index)` for the
    nearest row. `np.interp` interpolates. Derivatives with respect to the index are zero.

    Args:
        table: (n, ...), constant or traced; a traced table takes about n operations.
        index: (...), integral floats, such as those of np.floor, np.searchsorted or np.argmin.

    Returns:
        The array of shape index.shape + table.shape[1:].

    >>> lookup([10.0, 20.0, 40.0], [2, 0, 7])
    array([40., 10., 40.])
    """
    rows, at = (lifted(None, x if isinstance(x, TracedArray) else np.asarray(x)) for x in (table, index))
    if not rows.ndim or not len(rows):
        raise InputError(f"table: expected at least one row, got an array of shape {rows.shape}")
    like = next((x for x in (at, rows) if isinstance(x, TracedArray)), None)
    if like is None:
        places = np.asarray(at, dtype=float)
        safe = np.clip(np.floor(np.where(np.isnan(places), 0.0, places)), 0, len(rows) - 1).astype(np.intp)
        missing = np.isnan(places).reshape(places.shape + (1,) * (rows.ndim - 1))
        picked = np.asarray(rows, dtype=np.result_type(rows, np.float32))[safe]
        return np.where(missing, picked.dtype.type(np.nan), picked)[()]
    graph = like.graph
    return TracedArray(graph, pick(graph, floats(graph, rows), floats(graph, at)), like.float_dtype)


def pick(graph: Graph, rows: NDArray[Any], index: NDArray[Any]) -> NDArray[Any]:
    """The nodes of the rows at these indices, as in `lookup`."""
    columns = rows.reshape(len(rows), -1).T.tolist()
    picked = [[_entry(graph, column, at) for column in columns] for at in index.ravel().tolist()]
    return np.array(picked, dtype=np.int64).reshape(index.shape + rows.shape[1:])


def _entry(graph: Graph, entries: list[int], index: int) -> int:
    apply, zero, last = graph.apply, graph.const(0.0), graph.const(len(entries) - 1.0)
    if len(set(entries)) == 1:
        chosen = entries[0]
    elif all(graph.op[k] == "const" for k in entries):
        inside = apply("min", apply("floor", index), last)
        chosen = apply("lookup", apply("select", apply("lt", zero, index), inside, zero), *entries)
    else:
        chosen = _select_entry(graph, entries, index, 0)
    return apply("select", apply("eq", index, index), chosen, graph.const(np.nan))


def _select_entry(graph: Graph, entries: list[int], index: int, first: int) -> int:
    """The entry at an index that counts from `first`, by a tree of comparisons."""
    if len(entries) == 1:
        return entries[0]
    half = len(entries) // 2
    below = graph.apply("lt", index, graph.const(float(first + half)))
    low = _select_entry(graph, entries[:half], index, first)
    high = _select_entry(graph, entries[half:], index, first + half)
    return graph.apply("select", below, low, high)


def take(self: TracedArray, a: Any, indices: Any, axis: int | None = None, *, mode: Any = "raise") -> Any:
    """np.take: constant indices as in NumPy, traced ones clipped to the array."""
    graph, x = self.graph, traced(self, a)
    x, axis = (x.ravel(), 0) if axis is None else (x, normalize_axis_index(axis, x.ndim))
    indices = lifted(graph, indices)
    if not isinstance(indices, TracedArray):
        return x._with(np.take(x.ids, indices, axis=axis, mode=mode))
    if mode != "clip":
        raise refuse("in a kernel an index cannot raise an error: write np.take(..., mode='clip'), or multibody.lookup")
    picked = pick(graph, np.moveaxis(floats(graph, x), axis, 0), floats(graph, indices))
    places = range(indices.ndim)
    result = TracedArray(graph, np.moveaxis(picked, list(places), [axis + k for k in places]), self.float_dtype)
    return result != 0.0 if is_mask(x) else result


def searchsorted(self: TracedArray, a: Any, v: Any, side: str = "left") -> TracedArray:
    """The number of entries of a sorted table below v, or with side="right" not above; all of them for NaN."""
    graph = self.graph
    entries, values = floats(graph, a), floats(graph, v)
    if entries.ndim != 1 or side not in ("left", "right"):
        raise refuse(
            f"np.searchsorted of a table of shape {entries.shape}, side={side!r}: expected (n,), left or right"
        )
    table, op = entries.tolist(), "le" if side == "left" else "lt"
    constant = all(graph.op[k] == "const" for k in table)
    search = _binary_search if constant and len(table) > MAX_LINEAR_SEARCH else _linear_search
    return TracedArray(graph, map_nodes(lambda x: search(graph, table, x, op), values), self.float_dtype)


def _linear_search(graph: Graph, table: list[int], x: int, op: str) -> int:
    apply, zero, unit = graph.apply, graph.const(0.0), graph.const(1.0)
    index = zero
    for entry in table:
        index = apply("add", index, apply("select", apply(op, x, entry), zero, unit))
    return index


def _binary_search(graph: Graph, table: list[int], x: int, op: str) -> int:
    apply, last = graph.apply, graph.const(float(len(table)))
    step = 1 << (len(table).bit_length() - 1)
    padded = table + [graph.const(np.inf)] * (2 * step - len(table))
    index = graph.const(0.0)
    while step:
        further = apply("add", index, graph.const(float(step)))
        entry = apply("lookup", apply("sub", further, graph.const(1.0)), *padded)
        passed = apply("and", apply("le", further, last), apply("not", apply(op, x, entry)))
        index = apply("select", passed, further, index)
        step //= 2
    return index


def interp(self: TracedArray, x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None) -> Any:
    """np.interp: linear between increasing points, the first and last value outside."""
    if period is not None:
        raise refuse("np.interp with period= cannot be traced: write np.interp(x % period, ...)")
    graph = self.graph
    at, points, values = numbers(self, x), numbers(self, xp), numbers(self, fp)
    if points.ndim != 1 or points.shape != values.shape or not points.size:
        raise refuse(f"np.interp of points {points.shape} and values {values.shape}: expected (n,) twice, n not zero")
    left, right = (values[0] if left is None else left), (values[-1] if right is None else right)
    inside: Any = values[0] + 0.0 * at  # NaN where x is
    if len(points) > 1:
        k = searchsorted(self, points, at, "right") - 1.0
        slopes = (values[1:] - values[:-1]) / (points[1:] - points[:-1])
        start, value, slope = (
            TracedArray(graph, pick(graph, n.ids, np.minimum(k, len(points) - 2.0).ids), self.float_dtype)
            for n in (points[:-1], values[:-1], slopes)
        )
        inside = np.where(at == start, value, slope * (at - start) + value)
        inside = np.where(at == points[-1], values[-1], inside)
    return np.where(at < points[0], left, np.where(at > points[-1], right, inside))
