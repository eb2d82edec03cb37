"""Tracing: run a NumPy function once on traced arrays, and record its inputs, graph and outputs."""

import math
from collections.abc import Callable, Iterable, Sequence
from contextvars import ContextVar
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from multibody.errors import InputError
from multibody.tracing.array.traced import TracedArray, TraceError, floats, refuse
from multibody.tracing.graph.graph import Graph
from multibody.tracing.record.explanations import explain
from multibody.tracing.record.general_path import general_path
from multibody.tracing.record.layout import Layout, flatten, flatten_to_list
from multibody.tracing.record.naming import argument_names
from multibody.tracing.record.purity import RandomDraws

_open: ContextVar[Graph | None] = ContextVar("multibody_open_graph", default=None)


class Input(NamedTuple):
    """An argument of the function: its name and the shape of one sample."""

    name: str
    shape: tuple[int, ...]


class Trace(NamedTuple):
    """A function of arrays as a graph."""

    graph: Graph
    inputs: tuple[Input, ...]
    outputs: tuple[NDArray[Any], ...]
    """One array of nodes per returned array."""
    layout: Layout
    """The layout of the result."""
    dtype: np.dtype[Any]
    first: int = 0
    """The position of the first input among the leaves of the graph: not 0 in a trace that is part of another."""

    @property
    def roots(self) -> list[int]:
        """The nodes of all outputs."""
        return flat(self.outputs)


def flat(arrays: Iterable[NDArray[Any]]) -> list[int]:
    """The nodes of arrays, one after the other."""
    return [node for ids in arrays for node in ids.ravel().tolist()]


def split(nodes: Sequence[int], shapes: Sequence[tuple[int, ...]]) -> list[NDArray[Any]]:
    """Consecutive nodes as arrays of these shapes."""
    *parts, _ = np.split(np.array(nodes, dtype=np.int64), np.cumsum([math.prod(shape) for shape in shapes], dtype=int))
    return [part.reshape(shape) for part, shape in zip(parts, shapes, strict=True)]


def graph_of(nested: Any) -> Graph | None:
    """The graph of the first traced array among nested values, or None."""
    arrays, _ = flatten_to_list(nested)
    return next((array.graph for array in arrays if isinstance(array, TracedArray)), None)


def float_kind(dtype: DTypeLike) -> np.dtype[Any]:
    """The dtype, checked to be float64 or float32."""
    try:
        kind = np.dtype(dtype)
    except (TypeError, ValueError, SyntaxError):  # the last from a text with a comma
        kind = None
    if kind is None or kind not in (np.dtype(np.float64), np.dtype(np.float32)):
        raise InputError(f"dtype: expected float64 or float32, got {dtype!r}")
    return kind


def trace(
    function: Callable[..., Any],
    shapes: Sequence[Any],
    names: Sequence[str] | None = None,
    dtype: DTypeLike = np.float64,
) -> Trace:
    """Record a function of arrays of the given shapes.

    Args:
        function: plain NumPy on arrays; returns an array, a value of geometry, or tuples, lists and dicts of them.
        shapes: the shape of each argument, as (7,), 7 or () for a number.
        names: the names of the arguments; by default those of the function.
        dtype: float64 or float32.
    """
    kind = float_kind(dtype)
    inputs = tuple(Input(n, shape_of(s)) for n, s in zip(_names(function, shapes, names), shapes, strict=True))
    draws = RandomDraws(function)
    recorded = record(Graph(kind), function, inputs, kind)
    if draws.suspected():  # random numbers would differ in a second graph
        again = record(Graph(kind), function, inputs, kind)
        if again.graph.known != recorded.graph.known or again.roots != recorded.roots:
            raise TraceError(
                f"{getattr(function, '__name__', 'the function')} draws random numbers, which would be drawn once and "
                "stay in the kernel: draw them outside, and pass them as an argument"
            )
    return recorded


def record(
    graph: Graph, function: Callable[..., Any], inputs: tuple[Input, ...], dtype: np.dtype[Any], first: int = 0
) -> Trace:
    """Run a function on leaves of a graph, which is open meanwhile.

    Args:
        graph: empty, or with other nodes already.
        function: as in `trace`.
        inputs: its arguments.
        dtype: of the arrays that it sees.
        first: the position of the first input among the leaves of the graph.
    """
    arrays = [TracedArray(graph, input_nodes(graph, first + i, shape), dtype) for i, (_, shape) in enumerate(inputs)]
    outputs: list[NDArray[Any]] = []
    token = _open.set(graph)
    try:
        with general_path():
            layout = flatten(function(*arrays), lambda array: outputs.append(nodes_of(graph, array)))
    except (TypeError, ValueError, IndexError, AttributeError) as error:
        explained = explain(error)
        if explained is None:
            raise
        raise explained from None
    finally:
        _open.reset(token)
    recorded = Trace(graph, inputs, tuple(outputs), layout, dtype, first)
    if graph.loops and graph.leaks(recorded.roots):
        raise refuse("a value from inside a loop is used after it: let the loop carry it")
    return recorded


def open_graph() -> Graph | None:
    """The graph that records the running function in this context; None if it is not traced."""
    return _open.get()


def input_nodes(graph: Graph, position: int, shape: tuple[int, ...]) -> NDArray[Any]:
    """The nodes of an input."""
    ids = [graph.leaf("input", position, k) for k in range(math.prod(shape))]
    array = np.array(ids, dtype=np.int64).reshape(shape)
    array.flags.writeable = False
    return array


def shape_of(shape: Any, what: str = "shape: expected a tuple of lengths such as (7,)") -> tuple[int, ...]:
    """A shape as a tuple of lengths, checked."""
    lengths = (shape,) if isinstance(shape, int | np.integer) else shape
    if not isinstance(lengths, tuple | list) or not all(isinstance(n, int | np.integer) and n >= 0 for n in lengths):
        raise InputError(f"{what}, got {shape!r}")
    return tuple(int(n) for n in lengths)


def _names(function: Callable[..., Any], shapes: Sequence[Any], names: Sequence[str] | None) -> list[str]:
    if names is None:
        names = argument_names(function, len(shapes))
    if len(names) != len(shapes) or len(set(names)) != len(names):
        raise InputError(f"names: expected {len(shapes)} different names, got {list(names)}")
    return list(names)


def nodes_of(graph: Graph, result: Any) -> NDArray[Any]:
    """The nodes of an array that a traced function returns."""
    if not isinstance(result, TracedArray | np.ndarray | int | float | np.number):
        kind = type(result).__name__
        raise InputError(f"the traced function returned {kind}; expected arrays, tuples, lists or dicts")
    return floats(graph, result)
