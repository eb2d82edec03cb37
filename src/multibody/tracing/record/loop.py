"""`mb.loop`: a loop that stays a loop in the kernel, with a fixed or data-dependent number of iterations."""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from multibody._signatures import readable
from multibody.errors import InputError
from multibody.tracing.array.traced import TracedArray, floats, is_mask, nodes, refuse
from multibody.tracing.graph.graph import Graph
from multibody.tracing.graph.loop_nodes import Loop, ScanInput
from multibody.tracing.record.layout import Layout, flatten_to_list, rebuild
from multibody.tracing.record.purity import SideEffects
from multibody.tracing.record.trace import flat, graph_of, open_graph, split

NESTING = "loop: the body must return values nested as those it takes"


@readable
def loop(
    count: int | None,
    body: Callable[..., Any],
    carry: Any,
    until: Callable[[Any], Any] | None = None,
    xs: Any = None,
    *,
    rounds: bool = False,
    outputs: bool = False,
) -> Any:
    """Repeat `carry = body(carry)` up to `count` times.

    In plain NumPy this is a for loop. In a traced function it becomes one loop of the kernel,
    whose code does not grow with the number of iterations: for Newton steps, integrators,
    iterative solvers. While all carried values are plain numbers, it is a for loop there, too.
    Derivatives of a loop are loops.

    Args:
        count: the maximum number of iterations, known when the function is traced; None for the
            number of rows of xs.
        body: takes and returns the carried values, with the same shapes. It may write into its
            arguments, and into nothing else from outside.
        carry: an array, or tuples, lists and dicts of arrays.
        until: the stop condition, a boolean function of the carried values that is evaluated
            before every iteration. A finished sample keeps its values. For a batch in plain
            NumPy it returns an array of the batch's shape.
        xs: nested arrays whose first axis is that of the iterations; the body is then
            `body(carry, x)`, where x has row k of each in iteration k.
        rounds: whether to return also the number of iterations of each sample.
        outputs: whether the body returns `(carry, y)`; all y are then returned as well, stacked
            along a first axis of `count`, with NaN for iterations that a sample did not take.

    Returns:
        The carried values; with outputs or rounds a tuple of them, the outputs and the number
        of iterations.

    >>> loop(20, lambda x: x - (x * x - 2.0) / (2 * x), 1.0).round(12)
    np.float64(1.414213562373)
    >>> loop(100, lambda x: x / 2, 40.0, until=lambda x: x < 3, rounds=True)
    (np.float64(2.5), np.float64(4.0))
    >>> xs = np.array([1.0, 2.0, 3.0])
    >>> loop(None, lambda total, x: (total + x, total), 0.0, xs=xs, outputs=True)
    (np.float64(6.0), array([0., 1., 3.]))
    """
    tables, row_layout = ([], None) if xs is None else flatten_to_list(xs)
    tables = [_table(array, count) for array in tables]
    if count is None and tables:
        count = int(np.shape(tables[0])[0])
    if not isinstance(count, int | np.integer) or isinstance(count, bool) or count < 0:
        raise InputError(f"loop: expected a number of iterations that is not negative, got {count!r}")
    lengths = sorted({int(np.shape(array)[0]) for array in tables} - {int(count)})
    if lengths:
        raise InputError(f"loop: xs: expected arrays of {count} rows, one for each iteration, got {lengths[0]}")
    work = _Work(body, until, row_layout, outputs)
    if rounds:
        work = work.counted()
        carry = (carry, np.float64(0.0))
    after, ys = _run(int(count), work, carry, tables)
    after, *taken = after if rounds else (after,)
    after = np.float64(after) if isinstance(after, float) else after
    result = (after, *((ys,) if outputs else ()), *taken)
    return result if len(result) > 1 else after


class _Work(NamedTuple):
    """The functions of an iteration."""

    body: Callable[..., Any]
    until: Callable[[Any], Any] | None
    row_layout: Layout
    outputs: bool

    def round(self, carry: Any, rows: list[Any]) -> tuple[Any, Any]:
        """The carried values after an iteration, and its output or None."""
        result = self.body(carry, *(() if self.row_layout is None else (rebuild(self.row_layout, iter(rows)),)))
        if result is None:
            raise refuse("loop: the body must return the carried values, and returns None")
        if not self.outputs:
            return result, None
        if not isinstance(result, tuple) or len(result) != 2:
            raise refuse("loop: with outputs=True the body must return (carry, output)")
        return result

    def counted(self) -> "_Work":
        """As before, with the number of iterations after the carried values."""
        inner, outputs = self.body, self.outputs

        def body(carry: Any, *x: Any) -> Any:
            if not outputs:
                return inner(carry[0], *x), carry[1] + 1.0
            after, y = inner(carry[0], *x)
            return (after, carry[1] + 1.0), y

        until = self.until
        return self._replace(body=body, until=None if until is None else lambda carry: until(carry[0]))


def _table(array: Any, count: int | None) -> Any:
    array = array if isinstance(array, TracedArray) else np.asarray(array)
    if not array.ndim:
        expected = "iterations" if count is None else str(count)
        raise InputError(f"loop: xs: expected arrays of shape ({expected}, ...), got a number")
    return array


def _run(count: int, work: _Work, carry: Any, tables: list[Any]) -> tuple[Any, Any]:
    """The carried values and the outputs; recorded from the first iteration with traced values on."""
    done: Any = np.False_
    ys: list[Any] = []
    for k in range(count):
        arrays, layout = flatten_to_list(carry)
        graph = graph_of([arrays, tables])
        following = y = None
        if graph is None:
            if work.until is not None:
                condition = work.until(_copies(layout, arrays))
                graph = graph_of(condition)
                if graph is None:
                    done = done | _checked_condition(condition)
                    if np.all(done):
                        if work.outputs and not ys:  # for the shapes of the NaN outputs
                            _, y = work.round(_copies(layout, arrays), [_copy(array[k]) for array in tables])
                            ys.append(_unless_finished(done, np.nan, y))
                        break
            if graph is None:
                following, y = work.round(_copies(layout, arrays), [_copy(array[k]) for array in tables])
                # a body that returns traced values is recorded, from the values before this iteration
                graph = None if open_graph() is None else graph_of([following, y])
                if graph is None and flatten_to_list(following)[1] != layout:
                    raise refuse(NESTING)
        if graph is not None:
            if np.any(done):
                raise refuse("loop: some samples of a batch are done before the loop meets traced values: trace it all")
            after, rest = _record(graph, count - k, work, layout, arrays, [array[k:] for array in tables])
            return after, _stacked([*ys, *_split(rest, count - k)], count) if work.outputs else None
        carry = _unless_finished(done, carry, following)
        ys.append(_unless_finished(done, np.nan, y) if work.outputs else None)
    return carry, _stacked(ys, count) if work.outputs else None


def _copies(layout: Layout, arrays: list[Any]) -> Any:
    """Copies of the carried values, which a function may write into."""
    return rebuild(layout, map(_copy, arrays))


def _copy(x: Any) -> Any:
    if isinstance(x, bool):
        return np.bool_(x)  # as traced ones: ~ of a Python bool is that of an integer
    return x.copy() if isinstance(x, np.ndarray | TracedArray) else x


def _checked_condition(condition: Any) -> Any:
    answer = np.asarray(condition)
    if answer.dtype != bool:
        raise InputError(f"loop: until: expected booleans such as x < 1, got {answer.dtype}")
    return answer


def _unless_finished(done: Any, before: Any, after: Any) -> Any:
    """The new values, except for finished samples."""
    if not np.any(done):
        return after
    (old, _), (new, layout) = flatten_to_list(before), flatten_to_list(after)
    merged = []
    for was, now in zip(old * len(new) if before is np.nan else old, new, strict=True):
        batched = np.shape(now)[: np.ndim(done)] == np.shape(done)
        core = np.ndim(now) - (np.ndim(done) if batched else 0)
        merged.append(np.where(np.reshape(done, np.shape(done) + (1,) * core), was, now)[()])
    return rebuild(layout, iter(merged))


def _split(ys: Any, count: int) -> list[Any]:
    """Stacked outputs, iteration by iteration."""
    arrays, layout = flatten_to_list(ys)
    return [rebuild(layout, iter([array[k] for array in arrays])) for k in range(count)]


def _stacked(ys: list[Any], count: int) -> Any:
    """The outputs of all iterations along a first axis, NaN for those that were not taken."""
    if not ys:
        return np.zeros((0,))
    columns, layouts = zip(*map(flatten_to_list, ys), strict=True)
    stacked = []
    for parts in zip(*columns, strict=True):
        missing = [np.full(np.shape(parts[0]), np.nan)] * (count - len(ys))
        stacked.append(np.stack([*parts, *missing]))
    return rebuild(layouts[-1], iter(stacked))


def _record(
    graph: Graph, iterations: int, work: _Work, layout: Layout, arrays: list[Any], tables: list[Any]
) -> tuple[Any, Any]:
    """Record the loop in the graph, with the arrays as initial values."""
    masks = [is_mask(array) for array in arrays]
    initial = [floats(graph, array) for array in arrays]
    columns = [floats(graph, array) for array in tables]
    number = len(graph.loops)
    parent = graph.open_loops[-1] if graph.open_loops else -1
    graph.open_loops.append(number)
    leaves, carried = _leaves(graph, "carry", number, [ids.shape for ids in initial], masks)
    row_leaves, rows = _leaves(
        graph, "scan_input", number, [ids.shape[1:] for ids in columns], [is_mask(x) for x in tables]
    )
    # inner loops need the parent link while the body is traced
    graph.loops.append(Loop(-1, (), leaves, (), parent))
    stop = -1
    side_effects = SideEffects(work.body, work.until)
    try:
        if work.until is not None:
            stop = _stop(graph, work.until(_copies(layout, carried)))
        following, y = work.round(_copies(layout, carried), rows)
        after, nesting = flatten_to_list(following)
        outputs, output_layout = flatten_to_list(y) if work.outputs else ([], None)
    finally:
        graph.open_loops.pop()
    side_effects.check("the body of a loop", refuse)
    if nesting != layout:
        raise refuse(NESTING)
    if any(mask and not is_mask(array) for mask, array in zip(masks, after, strict=True)):
        raise refuse("loop: a carried boolean becomes a number: carry a number from the start")
    final = [floats(graph, array) for array in after]
    for before, now in zip(initial, final, strict=True):
        if before.shape != now.shape:
            raise refuse(f"loop: a carried value changes its shape from {before.shape} to {now.shape}")
    stored = [floats(graph, array) for array in outputs]
    graph.loops[number] = Loop(
        iterations,
        tuple(flat(initial)),
        leaves,
        tuple(flat(final)),
        parent,
        stop,
        row_leaves,
        tuple(ScanInput(tuple(column)) for ids in columns for column in ids.reshape(iterations, -1).T.tolist()),
        tuple(flat(stored)),
    )
    shapes = [ids.shape for ids in initial]
    result = rebuild(layout, iter(_leaves(graph, "result", number, shapes, masks)[1]))
    return result, rebuild(output_layout, iter(_outputs(graph, number, iterations, stored))) if work.outputs else None


def _stop(graph: Graph, condition: Any) -> int:
    """The node of the stop condition."""
    if np.shape(condition) != ():
        raise refuse(f"loop: until: expected one boolean a sample, got shape {np.shape(condition)}")
    if not is_mask(condition):
        raise refuse("loop: until: expected a boolean such as x < 1, got a number")
    return int(nodes(graph, condition)[()])


def _outputs(graph: Graph, number: int, iterations: int, stored: list[NDArray[Any]]) -> list[TracedArray]:
    """Stacked outputs as arrays with a first axis for the iterations."""
    arrays, first = [], 0
    for ids in stored:
        new = [[graph.leaf("stacked_output", number, first + p, k) for p in range(ids.size)] for k in range(iterations)]
        first += ids.size
        arrays.append(TracedArray(graph, np.array(new, dtype=np.int64).reshape(iterations, *ids.shape), graph.dtype))
    return arrays


def _leaves(
    graph: Graph, op: str, number: int, shapes: list[tuple[int, ...]], masks: list[bool]
) -> tuple[tuple[int, ...], list[TracedArray]]:
    """New leaves of a loop, and arrays of them; booleans are carried as floats."""
    leaves = tuple(graph.leaf(op, number, k) for k in range(sum(map(math.prod, shapes))))
    arrays: list[Any] = [TracedArray(graph, ids, graph.dtype) for ids in split(leaves, shapes)]
    return leaves, [x != 0.0 if mask else x for x, mask in zip(arrays, masks, strict=True)]
