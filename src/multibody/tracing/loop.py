"""A loop with a fixed number of rounds that stays a loop in the kernel."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multibody.errors import InputError
from multibody.tracing.graph import Graph, Loop
from multibody.tracing.layout import flatten, rebuild
from multibody.tracing.traced import TracedArray, floats, is_mask, refuse


def loop(count: int, body: Callable[[Any], Any], carry: Any) -> Any:
    """Carry after `count` rounds of `carry = body(carry)`.

    In plain NumPy this is a for loop. In a traced function it becomes one loop of the kernel, whose code does not grow
    with the number of rounds: for Newton steps, integrators, iterative solvers.

    Args:
        count: how many rounds, known when the function is traced.
        body: takes and returns the carried values; their shapes stay.
        carry: an array, or tuples, lists and dicts of arrays.

    >>> loop(20, lambda x: x - (x * x - 2.0) / (2 * x), 1.0).round(12)
    np.float64(1.414213562373)
    """
    if not isinstance(count, int | np.integer) or count < 0:
        raise InputError(f"loop: expected a number of rounds that is not negative, got {count!r}")
    arrays: list[Any] = []
    layout = flatten(carry, arrays.append)
    traced = next((array for array in [*arrays, *_closed_over(body)] if isinstance(array, TracedArray)), None)
    if traced is None or not count:
        for _ in range(count):
            carry = body(carry)
        return np.float64(carry) if isinstance(carry, float) else carry
    graph: Graph = traced.graph
    number = len(graph.loops)
    graph.loops.append(None)
    parent = graph.opened[-1] if graph.opened else -1
    graph.opened.append(number)
    masks = [is_mask(array) for array in arrays]
    initial = [floats(graph, array) for array in arrays]
    leaves, carried = _leaves(traced, "carry", number, initial, masks)
    # a parent link must exist while the body is traced, for loops within it
    graph.loops[number] = Loop(int(count), (), leaves, (), parent)
    after: list[Any] = []
    if flatten(body(rebuild(layout, iter(carried))), after.append) != layout:
        raise refuse("loop: the body must return values nested as those it takes")
    if any(mask and not is_mask(array) for mask, array in zip(masks, after, strict=True)):
        raise refuse("loop: a carried truth value becomes a number: carry a number from the start")
    final = [floats(graph, array) for array in after]
    graph.opened.pop()
    for before, now in zip(initial, final, strict=True):
        if before.shape != now.shape:
            raise refuse(f"loop: a carried value changes its shape from {before.shape} to {now.shape}")
    flat = [tuple(k for ids in part for k in ids.ravel().tolist()) for part in (initial, final)]
    graph.loops[number] = Loop(int(count), flat[0], leaves, flat[1], parent)
    return rebuild(layout, iter(_leaves(traced, "result", number, initial, masks)[1]))


def _leaves(
    traced: TracedArray, op: str, number: int, like: list[NDArray[Any]], masks: list[bool]
) -> tuple[tuple[int, ...], list[TracedArray]]:
    """New leaves of a loop, and arrays of them; truth values are carried as numbers."""
    arrays: list[TracedArray] = []
    nodes: list[int] = []
    for ids, mask in zip(like, masks, strict=True):
        new = [traced.graph.leaf(op, number, len(nodes) + k) for k in range(ids.size)]
        array = TracedArray(traced.graph, np.array(new, dtype=np.int64).reshape(ids.shape), traced.float_dtype)
        arrays.append(array != 0.0 if mask else array)
        nodes += new
    return tuple(nodes), arrays


def _closed_over(body: Callable[[Any], Any]) -> Iterator[Any]:
    """What the body closes over: when no traced array is carried, one may be there."""
    for cell in getattr(body, "__closure__", None) or ():
        with suppress(ValueError):  # a variable that has no value yet
            yield cell.cell_contents
