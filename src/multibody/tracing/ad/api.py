"""Derivatives of plain NumPy functions, as plain NumPy functions.

    jacobian(f)(x)    gradient(f)(x)    hessian(f)(x)    hessian_vector(f)(x, v)    jvp(f)(x, dx)    vjp(f)(x, ybar)

They take floats and traced arrays: a function that is compiled may contain derivatives of others. What f takes from
outside itself, traced or not, counts as constant. An argument is an array, a list of numbers that stands for one, a
value of geometry, or tuples, lists and dicts of these; its derivatives are nested as it is, with a tuple of arrays in
place of a value that is made of several. The whole argument is what f takes: `shapes` asks for a batch of samples.
Floats are differentiated by tracing f anew and running one NumPy operation after the other: compile for speed. The
functions keep the names of f and of its arguments: the gradient of `cost(x, u)` is `cost_gradient(x, u)`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple, Never

import numpy as np

from multibody._signatures import readable
from multibody.errors import InputError
from multibody.tracing.ad import traces
from multibody.tracing.ad.arguments import Function, Point, Shapes, array_of, point_of
from multibody.tracing.array.traced import TracedArray, floats
from multibody.tracing.graph.graph import Graph
from multibody.tracing.graph.substitute import substitute
from multibody.tracing.interpret import batch_of, evaluate
from multibody.tracing.record.layout import Layout, parts_of, rebuild, without_values
from multibody.tracing.record.naming import argument_names, named, refuse
from multibody.tracing.record.trace import Input, Trace, graph_of, open_graph, record, split, trace

Derive = Callable[[Trace], Trace]
"""The trace of a derivative, from that of the function."""


@readable
def jvp(function: Function, shapes: Shapes = None) -> Function:
    """The function and its change along directions.

    Args:
        function: of arrays; returns an array, a value of geometry, or tuples, lists and dicts of them.
        shapes: for batches: the shape of one sample of each argument, such as [(3,), (3, 3)], nested as the argument
            where that is nested. The axes before it are the batch, over which arguments and directions broadcast.
            Without shapes, every argument is one sample.

    Returns:
        A function of (x, ..., dx, ...), that is of all arguments and as many directions, with the result (y, dy).

    >>> y, dy = jvp(lambda x: np.stack([x[0] * x[1], np.sin(x[0])]))([0.0, 2.0], [1.0, 0.0])
    >>> dy
    array([2., 1.])
    """
    further = _Further(
        "all arguments and then as many directions",
        "the directions must be nested as the arguments",
        lambda _, point: [without_values(layout) for layout in point.layouts],
        lambda names: ["d" + name for name in names],
        one_each=True,
    )
    return _differentiate("jvp", function, shapes, lambda _: traces.jvp, further)


@readable
def vjp(function: Function, shapes: Shapes = None) -> Function:
    """The function and its derivatives weighted with those of something that depends on it.

    Args:
        function: as in `jvp`.
        shapes: as in `jvp`.

    Returns:
        A function of (x, ..., ybar), where ybar is nested as the function's result, with the result (y, xbar): xbar is
        the derivative of Σ ybar · y by x, or the tuple of those by all arguments.

    >>> y, xbar = vjp(lambda x: x[0] * x)([2.0, 3.0], [0.0, 1.0])
    >>> xbar
    array([3., 2.])
    """

    def prepare(point: Point) -> Derive:
        nesting = point.nesting(tuple(range(len(point.layouts))))
        return lambda recorded: traces.vjp(recorded)._replace(layout=["tuple", recorded.layout, nesting])

    further = _Further(
        "the arguments of the function and then the cotangents of its result",
        "the cotangents must be nested as the result of the function",
        lambda recorded, _: [without_values(recorded.layout)],
        lambda _: ["ybar"],
    )
    return _differentiate("vjp", function, shapes, prepare, further)


@readable
def jacobian(  # noqa: D417
    function: Function, argument: int | tuple[int, ...] = 0, shapes: Shapes = None, **others: Never
) -> Function:
    """The derivatives of all results by one argument, or several.

    Args:
        function: as in `jvp`.
        argument: the position of the argument; with several positions, every result has a tuple of Jacobians.
        shapes: as in `jvp`.

    Returns:
        A function of the same arguments, with a result of shape (..., the result's shape, the argument's shape).

    >>> jacobian(lambda x: np.stack([x[0] * x[1], 3 * x[1]]))([5.0, 7.0])
    array([[7., 5.],
           [0., 3.]])
    """
    refuse("jacobian", others)
    layout = lambda recorded, nesting: without_values(recorded.layout, nesting)  # noqa: E731
    return _with_respect_to(traces.jacobian, function, argument, shapes, layout)


@readable
def gradient(  # noqa: D417
    function: Function, argument: int | tuple[int, ...] = 0, shapes: Shapes = None, **others: Never
) -> Function:
    """The derivatives of a function that returns one number, of the shape of the argument.

    Args:
        function: of arrays; returns one number, for each sample if a batch is asked for.
        argument: the position of the argument; with several positions, the result is a tuple.
        shapes: as in `jvp`.

    >>> gradient(lambda U: np.sum(U) ** 2)(np.ones((2, 3)))
    array([[12., 12., 12.],
           [12., 12., 12.]])
    >>> gradient(lambda x: x[0] * np.exp(x[1]), shapes=[2])([[2.0, 0.0], [3.0, 0.0]])
    array([[1., 2.],
           [1., 3.]])
    """
    refuse("gradient", others)
    return _with_respect_to(traces.gradient, function, argument, shapes, lambda _, nesting: nesting)


@readable
def hessian(  # noqa: D417
    function: Function, argument: int | tuple[int, ...] = 0, shapes: Shapes = None, **others: Never
) -> Function:
    """The second derivatives of a function that returns one number, of the shape of the argument twice.

    Of a matrix (n, n) only one half is computed, and it is symmetric to the last bit. `hessian_vector` has its product
    with a direction for fewer operations.

    Args:
        function: of arrays; returns one number, for each sample if a batch is asked for.
        argument: the position of the argument. Of several, or of a nested one, the result is nested as the gradient,
            with one more such nest in place of each array: [i][j] is the derivative by i, then by j.
        shapes: as in `jvp`.

    Returns:
        A function of the same arguments, with a result of shape (..., the argument's shape, the argument's shape).

    >>> hessian(lambda x: x[0] ** 2 * x[1])([3.0, 5.0])
    array([[10.,  6.],
           [ 6.,  0.]])
    """
    refuse("hessian", others)
    return _with_respect_to(
        traces.hessian, function, argument, shapes, lambda _, nesting: without_values(nesting, nesting)
    )


@readable
def hessian_vector(function: Function, argument: int = 0, shapes: Shapes = None, **others: Never) -> Function:
    """The second derivatives of a function that returns one number, times a direction, without the matrix.

    Returns:
        A function of (x, ..., v), where v has the shape of the argument with the given position.

    >>> hessian_vector(lambda x: x[0] ** 2 * x[1])([3.0, 5.0], [1.0, 0.0])
    array([10.,  6.])
    """
    refuse("hessian_vector", others)

    further = _Further(
        "the arguments of the function and then a direction",
        "the direction must be nested as the argument",
        lambda _, point: [point.nesting(argument)],
        lambda names: ["d" + name for k, name in enumerate(names) if k == argument],
    )
    return _with_respect_to(traces.hessian_vector, function, argument, shapes, lambda _, nesting: nesting, further)


class _Further(NamedTuple):
    """The arguments of a derivative after those of its function."""

    expected: str
    """All arguments, in words."""
    nesting: str
    """The rule of nesting, in words."""
    layouts: Callable[[Trace, Point], list[Layout]]
    """Their layouts, from the trace of the function and its arguments."""
    names: Callable[[list[str]], list[str]]
    """Their names, from those of the function's arguments."""
    one_each: bool = False
    """Whether there is one for each argument of the function; otherwise there is one."""


def _with_respect_to(
    derivative: Callable[[Trace, list[str]], Trace],
    function: Function,
    argument: int | tuple[int, ...],
    shapes: Shapes,
    layout: Callable[[Trace, Layout], Layout],
    further: _Further | None = None,
) -> Function:
    """A derivative of the function with respect to some arguments; `layout` is that of its result."""

    def prepare(point: Point) -> Derive:
        wrt, nesting = point.names(argument), point.nesting(argument)
        return lambda recorded: derivative(recorded, wrt)._replace(layout=layout(recorded, nesting))

    return _differentiate(derivative.__name__, function, shapes, prepare, further)


def _differentiate(
    word: str, function: Function, shapes: Shapes, prepare: Callable[[Point], Derive], further: _Further | None
) -> Function:
    """The derivative as a function; `prepare` checks the arguments before the function is recorded."""

    def run(*arguments: Any) -> Any:
        total = len(arguments)
        count = total if further is None else total // 2 if further.one_each else total - 1
        if further is not None and (count < 1 or (further.one_each and total % 2)):
            raise InputError(f"{word}: expected {further.expected}, got {total} arrays")
        point, rest = point_of(arguments[:count], shapes, argument_names(function, count)), arguments[count:]

        def arrange(recorded: Trace) -> list[Any]:
            layouts = further.layouts(recorded, point) if further else []
            return parts_of(["tuple", *layouts], rest, f"{word}: {further.nesting}" if further else word)

        return _run(function, point, prepare(point), rest, arrange)

    return named(run, word, function, further and further.names)


def _run(
    function: Function,
    point: Point,
    derive: Derive,
    rest: tuple[Any, ...],
    arrange: Callable[[Trace], list[Any]],
) -> Any:
    """Record the function, derive, and evaluate: with floats at once, with traced arrays as part of their graph.

    Args:
        function: the one to differentiate.
        point: its arguments.
        derive: makes the trace of the derivatives of that of the function.
        rest: further arguments of the derivatives, nested.
        arrange: the arrays of the rest, given the trace of the function.
    """
    graph = graph_of([point.arrays, *rest])
    traced = graph is not None
    single = np.result_type(0.0, *(x for x in point.arrays if not isinstance(x, TracedArray))) == np.float32
    dtype = np.dtype(np.float32 if single else np.float64)
    call = partial(point.call, function)
    graph = open_graph() if graph is None else graph
    if graph is None:
        recorded = trace(call, [shape for _, shape in point.inputs], [name for name, _ in point.inputs], dtype)
    else:
        recorded = _within(graph, call, point.inputs, graph.dtype if traced else dtype)
        if not traced and _reaches_out(recorded):  # the points are floats, the function has traced arrays of its own
            traced = True
            if graph.dtype != dtype:
                recorded = _within(graph, call, point.inputs, graph.dtype)
    derived = derive(recorded)
    arrays = [*point.arrays, *(array_of(x, "the directions or weights") for x in arrange(recorded))]
    if not point.batched:
        for x, (name, shape) in zip(arrays, derived.inputs, strict=True):
            if np.shape(x) != shape:
                mismatch = f"{name}: expected shape {shape}, got {np.shape(x)}"
                raise InputError(f"{mismatch}: for a batch pass shapes=, the shape of one sample of each argument")
    return _insert(derived, arrays) if traced else evaluate(derived._replace(dtype=dtype), *arrays)


def _within(graph: Graph, function: Function, inputs: tuple[Input, ...], dtype: np.dtype[Any]) -> Trace:
    """Record a function on leaves of a graph that has others already.

    New leaves, and not the nodes of the arguments: these may be equal, constant, or depend on one another, and the
    function may know them from elsewhere.
    """
    first = -(len(graph) + 1) << 16  # far from the leaves of all others, of which each has added a node
    return record(graph, function, inputs, dtype, first)


def _reaches_out(recorded: Trace) -> bool:
    """Whether the results depend on leaves of the graph that are no arguments of the function."""
    graph, own = recorded.graph, range(recorded.first, recorded.first + len(recorded.inputs))
    return any(
        (graph.op[k] == "input" and graph.value[k][0] not in own)
        or (graph.op[k] == "carry" and graph.value[k][0] in graph.open_loops)
        for k in graph.live(recorded.roots, through="both")
    )


def _insert(derived: Trace, arguments: list[Any]) -> Any:
    """The result with the arguments in place of the leaves, sample by sample."""
    graph = derived.graph
    points = [floats(graph, x) for x in arguments]
    batch = batch_of(derived.inputs, [ids.shape for ids in points])
    leaves = [ids.ravel().tolist() for ids in traces.leaves(derived)]
    results = [np.empty(batch + ids.shape, dtype=np.int64) for ids in derived.outputs]
    full = [np.broadcast_to(ids, batch + shape) for ids, (_, shape) in zip(points, derived.inputs, strict=True)]
    for index in np.ndindex(*batch):
        new = {
            leaf: node
            for ids, array in zip(leaves, full, strict=True)
            for leaf, node in zip(ids, array[index].ravel().tolist(), strict=True)
        }
        substitute(graph, derived.roots, new)
        for result, ids in zip(results, derived.outputs, strict=True):
            (result[index],) = split([new[k] for k in ids.ravel().tolist()], [ids.shape])
    return rebuild(derived.layout, (TracedArray(graph, ids, graph.dtype) for ids in results))
