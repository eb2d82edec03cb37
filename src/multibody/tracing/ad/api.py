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


@readable
def jvp(function: Function, shapes: Shapes = None) -> Function:
    """The function and its change along directions.

    Args:
        function: of arrays; returns an array, a value of geometry, or tuples, lists and dicts
            of them.
        shapes: for batches: the shape of one sample of each argument, such as [(3,), (3, 3)],
            nested as the argument where that is nested. The axes before it are the batch, over
            which arguments and directions broadcast. Without shapes, every argument is one
            sample.

    Returns:
        A function of (x, ..., dx, ...), that is of all arguments and as many directions, with
        the result (y, dy).

    >>> y, dy = jvp(lambda x: np.stack([x[0] * x[1], np.sin(x[0])]))([0.0, 2.0], [1.0, 0.0])
    >>> dy
    array([2., 1.])
    """
    return _differentiate("jvp", function, shapes)


@readable
def vjp(function: Function, shapes: Shapes = None) -> Function:
    """The function and its derivatives weighted with those of something that depends on it.

    Args:
        function: as in `jvp`.
        shapes: as in `jvp`.

    Returns:
        A function of (x, ..., ybar), where ybar is nested as the function's result, with the
        result (y, xbar): xbar is the derivative of Σ ybar · y by x, or the tuple of those by
        all arguments.

    >>> y, xbar = vjp(lambda x: x[0] * x)([2.0, 3.0], [0.0, 1.0])
    >>> xbar
    array([3., 2.])
    """
    return _differentiate("vjp", function, shapes)


@readable
def jacobian(  # noqa: D417
    function: Function, argument: int | tuple[int, ...] = 0, shapes: Shapes = None, **others: Never
) -> Function:
    """The derivatives of all results by one argument, or several.

    Args:
        function: as in `jvp`.
        argument: the position of the argument; with several positions, every result has a tuple
            of Jacobians.
        shapes: as in `jvp`.

    Returns:
        A function of the same arguments, with a result of shape (..., the result's shape, the
        argument's shape).

    >>> jacobian(lambda x: np.stack([x[0] * x[1], 3 * x[1]]))([5.0, 7.0])
    array([[7., 5.],
           [0., 3.]])
    """
    refuse("jacobian", others)
    return _differentiate("jacobian", function, shapes, argument)


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
    return _differentiate("gradient", function, shapes, argument)


@readable
def hessian(  # noqa: D417
    function: Function, argument: int | tuple[int, ...] = 0, shapes: Shapes = None, **others: Never
) -> Function:
    """The second derivatives of a function that returns one number, of the shape
    of the argument twice.

    Of a matrix (n, n) only one half is computed, and it is symmetric to the last bit.
    `hessian_vector` has its product with a direction for fewer operations.

    Args:
        function: of arrays; returns one number, for each sample if a batch is asked for.
        argument: the position of the argument. Of several, or of a nested one, the result is
            nested as the gradient, with one more such nest in place of each array: [i][j] is
            the derivative by i, then by j.
        shapes: as in `jvp`.

    Returns:
        A function of the same arguments, with a result of shape (..., the argument's shape, the
        argument's shape).

    >>> hessian(lambda x: x[0] ** 2 * x[1])([3.0, 5.0])
    array([[10.,  6.],
           [ 6.,  0.]])
    """
    refuse("hessian", others)
    return _differentiate("hessian", function, shapes, argument)


@readable
def hessian_vector(function: Function, argument: int = 0, shapes: Shapes = None, **others: Never) -> Function:
    """The second derivatives of a function that returns one number, times a
    direction, without the matrix.

    Returns:
        A function of (x, ..., v), where v has the shape of the argument with the given
        position.

    >>> hessian_vector(lambda x: x[0] ** 2 * x[1])([3.0, 5.0], [1.0, 0.0])
    array([10.,  6.])
    """
    refuse("hessian_vector", others)

    return _differentiate("hessian_vector", function, shapes, argument)


class _Mode(NamedTuple):
    """A kind of derivative; layouts are functions of that of the result y and of the differentiated arguments x."""

    derive: Callable[[Trace, list[str]], Trace]
    """The trace of the derivative, from that of the function and the names of the arrays of x."""
    layout: Callable[[Layout, Layout], Layout]
    further: Callable[[Layout, Layout], Layout] | None = None
    """The layout of the arguments after those of the function."""
    expected: str = ""
    """All arguments, in words."""
    nesting: str = ""
    """The nesting of the further arguments, in words."""


_MODES = {
    "jvp": _Mode(
        lambda recorded, _: traces.jvp(recorded),
        lambda y, _: ["tuple", y, without_values(y)],
        lambda _, x: x,
        "all arguments and then as many directions",
        "the directions must be nested as the arguments",
    ),
    "vjp": _Mode(
        lambda recorded, _: traces.vjp(recorded),
        lambda y, x: ["tuple", y, x],
        lambda y, _: without_values(y),
        "the arguments of the function and then the cotangents of its result",
        "the cotangents must be nested as the result of the function",
    ),
    "jacobian": _Mode(traces.jacobian, without_values),
    "gradient": _Mode(traces.gradient, lambda _, x: x),
    "hessian": _Mode(traces.hessian, lambda _, x: without_values(x, x)),
    "hessian_vector": _Mode(
        traces.hessian_vector,
        lambda _, x: x,
        lambda _, x: x,
        "the arguments of the function and then a direction",
        "the direction must be nested as the argument",
    ),
}


def _differentiate(
    word: str, function: Function, shapes: Shapes, argument: int | tuple[int, ...] | None = None
) -> Function:
    """The derivative with respect to one argument, several, or all of them (None), as a function."""
    mode = _MODES[word]

    def run(*arguments: Any) -> Any:
        count, odd = len(arguments), False
        if mode.further:
            count, odd = divmod(count, 2) if word == "jvp" else (count - 1, False)
            if odd or count < 1:
                raise InputError(f"{word}: expected {mode.expected}, got {len(arguments)} arrays")
        point = point_of(arguments[:count], shapes, argument_names(function, count))
        return _run(word, function, point, arguments[count:], tuple(range(count)) if argument is None else argument)

    def further_names(names: list[str]) -> list[str]:
        return ["ybar"] if word == "vjp" else ["d" + name for k, name in enumerate(names) if argument in (None, k)]

    return named(run, word, function, further_names if mode.further else None)


def _run(word: str, function: Function, point: Point, rest: tuple[Any, ...], argument: int | tuple[int, ...]) -> Any:
    """Record the function, derive, and evaluate: with floats at once, with traced arrays as part of their graph.

    Args:
        word: the kind of derivative.
        function: the one to differentiate.
        point: its arguments.
        rest: further arguments of the derivative, nested.
        argument: the positions of the differentiated arguments.
    """
    mode, wrt, nesting = _MODES[word], point.names(argument), point.nesting(argument)
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
    derived = mode.derive(recorded, wrt)._replace(layout=mode.layout(recorded.layout, nesting))
    arrays = list(point.arrays)
    if mode.further:
        layout, nested = mode.further(recorded.layout, nesting), rest[0] if len(rest) == 1 else rest
        more = parts_of(layout, nested, f"{word}: {mode.nesting}")
        arrays += [array_of(x, "the directions or weights") for x in more]
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
