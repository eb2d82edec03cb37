"""The interpreter of traces: one NumPy operation per node. It is the reference for all other back ends."""

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from multibody.errors import InputError
from multibody.tracing.emission import Target, Walk, fold
from multibody.tracing.graph.loop_nodes import AFTER, ScanInput
from multibody.tracing.graph.ops import OPS
from multibody.tracing.matrices.kinds import argument_slices
from multibody.tracing.matrices.reference import VALUES
from multibody.tracing.record.layout import rebuild
from multibody.tracing.record.trace import Input, Trace

TABLE: dict[str, Callable[..., Any]] = {
    **{name: op.ufunc for name, op in OPS.items() if op.ufunc},
    "true": lambda: np.True_,
    "false": lambda: np.False_,
    "fma": lambda a, b, c: a * b + c,
    "fms": lambda a, b, c: a * b - c,
    "fnma": lambda a, b, c: c - a * b,
    "select": np.where,
    "lookup": lambda k, *table: np.array(table)[np.asarray(k).astype(np.intp)],
}


def evaluate(trace: Trace, *arguments: ArrayLike) -> Any:
    """The result of the traced function on float arrays, with any leading batch axes; NaN and Inf stay silent.

    >>> from multibody.tracing.record.trace import trace
    >>> evaluate(trace(lambda x: x @ x, [3]), [[1.0, 2.0, 2.0], [0.0, 3.0, 4.0]])
    array([ 9., 25.])
    """
    arrays = [np.asarray(x, dtype=trace.dtype) for x in arguments]
    batch = batch_of(trace.inputs, [array.shape for array in arrays])
    rows = [
        np.moveaxis(array.reshape(*array.shape[: array.ndim - len(core)], math.prod(core)), -1, 0)
        for array, (_, core) in zip(arrays, trace.inputs, strict=True)
    ]
    target = Target(
        "the interpreter",
        TABLE,
        trace.dtype.type,
        lambda i, k: rows[i - trace.first][k],
        repeat=_Loops().repeat,
        dense=_on_matrices,
    )
    with np.errstate(all="ignore"):
        elements = fold(trace, target)
    results = []
    for ids, values in zip(trace.outputs, elements, strict=True):
        out = np.empty((*batch, ids.size), dtype=trace.dtype)
        for k, value in enumerate(values):
            out[..., k] = value
        results.append(out.reshape(batch + ids.shape)[()])
    return rebuild(trace.layout, iter(results))


def _on_matrices(kind: str, sizes: tuple[int, ...], values: list[Any]) -> NDArray[Any]:
    """The results of a matrix operation with any batch axes; the first axis is that of the entries."""
    arguments = np.stack(np.broadcast_arrays(*values), axis=-1)
    batch = arguments.shape[:-1]
    slices = argument_slices(kind, sizes)
    results = VALUES[kind](*(arguments[..., at].reshape(*batch, x.rows, x.columns) for x, at in slices))
    return np.moveaxis(results.reshape(*batch, -1), -1, 0)


class _Loops:
    """The loops of a trace, run until all samples are finished."""

    def __init__(self) -> None:
        self.stored: dict[int, dict[int, dict[int, Any]]] = {}  # loop -> iteration -> outputs by position
        self.done: dict[int, Any] = {-1: np.False_}

    def repeat(self, walk: Walk, number: int) -> None:
        """Run a loop."""
        graph, values = walk.graph, walk.values
        loop, at, rows, kept, visible, results, same_count_as = walk.loops[number]
        head, body = walk.body(number)
        state = [values[loop.initial[p]] for p in at]
        stored = self.stored[number] = {}
        count = loop.iterations if same_count_as < 0 else len(self.stored[same_count_as])
        for k in range(count)[:: -1 if loop.reverse else 1]:
            values.update((loop.carried[p], x) for p, x in zip(at, state, strict=True))
            inner = [n for n in walk.members(number) if graph.op[n] in AFTER]
            for n in inner:  # inner loops of the last iteration
                values.pop(n, None)
            self.done[number] = self.done.get(loop.parent, np.False_)
            walk.run(head)
            if loop.stop >= 0:
                self.done[number] = self.done[number] | values[loop.stop]
                if np.all(self.done[number]):
                    break
            done = self.done[number]
            values.update((row, self.entry(values, table, k)) for row, table in rows)
            walk.run(body)
            stored[k] = {p: values[loop.outputs[p]] for p in kept}
            following = [values[loop.final[p]] for p in at]
            if loop.stop >= 0:
                following = [np.where(done, x, y) for x, y in zip(state, following, strict=True)]
            state = following
            if loop.stop >= 0:
                for p in visible:
                    stored[k][p] = np.where(done, walk.trace.dtype.type(np.nan), stored[k][p])
        for leaf in results:
            _, *place = graph.value[leaf]
            if graph.op[leaf] == "result":
                values[leaf] = state[at.index(place[0])]
            elif graph.op[leaf] == "stacked_output":
                missing = walk.trace.dtype.type(np.nan if loop.stop >= 0 else 0.0)
                values[leaf] = stored[place[1]][place[0]] if place[1] in stored else missing
            else:
                values[leaf] = None

    def entry(self, values: dict[int, Any], table: ScanInput, k: int) -> Any:
        """The value of a scan input in iteration k."""
        return values[table.nodes[k]] if table.source is None else self.stored[table.source[0]][k][table.source[1]]


def batch_of(inputs: Sequence[Input], shapes: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
    """The common batch shape of arguments of these shapes."""
    if len(shapes) != len(inputs):
        names = ", ".join(name for name, _ in inputs)
        raise InputError(f"expected {len(inputs)} arguments ({names}), got {len(shapes)}")
    batches = []
    for shape, (name, core) in zip(shapes, inputs, strict=True):
        lead = len(shape) - len(core)
        if lead < 0 or shape[lead:] != core:
            raise InputError(f"{name}: expected an array of shape (..., {', '.join(map(str, core))}), got {shape}")
        batches.append(shape[:lead])
    try:
        return np.broadcast_shapes(*batches)
    except ValueError:
        listed = ", ".join(f"{name} {batch}" for (name, _), batch in zip(inputs, batches, strict=True))
        raise InputError(f"the batch shapes do not broadcast: {listed}") from None
