"""A loop with a fixed number of rounds that stays a loop in the kernel."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multibody.errors import InputError
from multibody.tracing.graph import Graph, Loop
from multibody.tracing.layout import Layout, flatten, rebuild
from multibody.tracing.trace import open_graph
from multibody.tracing.traced import TracedArray, floats, is_mask, refuse


def loop(count: int, body: Callable[[Any], Any], carry: Any) -> Any:
    """Carry after `count` rounds of `carry = body(carry)`.

    In plain NumPy this is a for loop. In a traced function it becomes one loop of the kernel, whose code does not grow
    with the number of rounds: for Newton steps, integrators, iterative solvers. There, plain numbers are carried by a
    for loop as long as the body returns plain numbers.

    Args:
        count: how many rounds, known when the function is traced.
        body: takes and returns the carried values; their shapes stay.
        carry: an array, or tuples, lists and dicts of arrays.

    >>> loop(20, lambda x: x - (x * x - 2.0) / (2 * x), 1.0).round(12)
    np.float64(1.414213562373)
    """
    if not isinstance(count, int | np.integer) or count < 0:
        raise InputError(f"loop: expected a number of rounds that is not negative, got {count!r}")
    for done in range(count):
        arrays: list[Any] = []
        layout = flatten(carry, arrays.append)
        graph = _graph_of(arrays)
        if graph is None:
            carry = body(carry)
            # a body that met something traced is recorded, from what was carried before this round
            graph = None if open_graph() is None else _graph_of(carry)
        if graph is not None:
            return _record(graph, int(count) - done, body, layout, arrays)
    return np.float64(carry) if isinstance(carry, float) else carry


def _graph_of(carry: Any) -> Graph | None:
    """The graph of the first traced array among the carried values, if there is one."""
    arrays: list[Any] = []
    flatten(carry, arrays.append)
    return next((array.graph for array in arrays if isinstance(array, TracedArray)), None)


def _record(graph: Graph, rounds: int, body: Callable[[Any], Any], layout: Layout, arrays: list[Any]) -> Any:
    """The loop as one of the graph, with the arrays as the first carried values."""
    masks = [is_mask(array) for array in arrays]
    initial = [floats(graph, array) for array in arrays]
    number = len(graph.loops)
    parent = graph.opened[-1] if graph.opened else -1
    leaves, carried = _leaves(graph, "carry", number, initial, masks)
    # a parent link must exist while the body is traced, for loops within it
    graph.loops.append(Loop(rounds, (), leaves, (), parent))
    graph.opened.append(number)
    after: list[Any] = []
    try:
        nesting = flatten(body(rebuild(layout, iter(carried))), after.append)
    finally:
        graph.opened.pop()
    if nesting != layout:
        raise refuse("loop: the body must return values nested as those it takes")
    if any(mask and not is_mask(array) for mask, array in zip(masks, after, strict=True)):
        raise refuse("loop: a carried truth value becomes a number: carry a number from the start")
    final = [floats(graph, array) for array in after]
    for before, now in zip(initial, final, strict=True):
        if before.shape != now.shape:
            raise refuse(f"loop: a carried value changes its shape from {before.shape} to {now.shape}")
    flat = [tuple(k for ids in part for k in ids.ravel().tolist()) for part in (initial, final)]
    graph.loops[number] = Loop(rounds, flat[0], leaves, flat[1], parent)
    return rebuild(layout, iter(_leaves(graph, "result", number, initial, masks)[1]))


def _leaves(
    graph: Graph, op: str, number: int, like: list[NDArray[Any]], masks: list[bool]
) -> tuple[tuple[int, ...], list[TracedArray]]:
    """New leaves of a loop, and arrays of them; truth values are carried as numbers."""
    arrays: list[TracedArray] = []
    nodes: list[int] = []
    for ids, mask in zip(like, masks, strict=True):
        new = [graph.leaf(op, number, len(nodes) + k) for k in range(ids.size)]
        array = TracedArray(graph, np.array(new, dtype=np.int64).reshape(ids.shape), graph.dtype)
        array.ids.flags.writeable = False  # in plain NumPy a write would change what the caller carries
        arrays.append(array != 0.0 if mask else array)
        nodes += new
    return tuple(nodes), arrays
