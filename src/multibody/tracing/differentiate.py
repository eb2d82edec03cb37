"""Derivatives of plain NumPy functions, as plain NumPy functions.

    jacobian(f)(x)      gradient(f)(x)      hessian_vector(f)(x, v)      jvp(f)(x, dx)      vjp(f)(x, ybar)

They take floats, one sample or a batch, and traced arrays: a function that is compiled may contain derivatives of
others. What f takes from outside itself, traced or not, counts as constant. By the convention of this library the last
axis of an argument is its sample and the axes before it are the batch; `shapes` tells other samples, such as matrices.
Floats are differentiated by tracing f anew and running one NumPy operation after the other: compile for speed.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from multibody.errors import InputError
from multibody.tracing import derivatives
from multibody.tracing.derivatives import Ids, plain
from multibody.tracing.graph import Graph
from multibody.tracing.interpret import evaluate
from multibody.tracing.layout import Layout, flatten, rebuild
from multibody.tracing.trace import Input, Trace, nodes_of, shape_of, trace
from multibody.tracing.traced import TracedArray, nodes

Function = Callable[..., Any]
Shapes = Sequence[Any] | None


def jvp(function: Function, shapes: Shapes = None) -> Function:
    """The function and its change along directions.

    Args:
        function: of arrays; returns an array, a value of geometry, or tuples, lists and dicts of them.
        shapes: of one sample of each argument, if these are not vectors or single numbers.

    Returns:
        A function of (x, ..., dx, ...), that is of all arguments and as many directions, with the result (y, dy).

    >>> y, dy = jvp(lambda x: np.stack([x[..., 0] * x[..., 1], np.sin(x[..., 0])], axis=-1))([0.0, 2.0], [1.0, 0.0])
    >>> dy
    array([2., 1.])
    """

    def run(*arguments: Any) -> Any:
        half, odd = divmod(len(arguments), 2)
        if odd or not half:
            raise InputError(f"jvp: expected all arguments and then as many directions, got {len(arguments)} arrays")
        return _run(function, shapes, arguments[:half], arguments[half:], derivatives.jvp)

    return run


def vjp(function: Function, shapes: Shapes = None) -> Function:
    """The function and its derivatives weighted with those of something that depends on it.

    Args:
        function: as in `jvp`.
        shapes: as in `jvp`.

    Returns:
        A function of (x, ..., ybar), where ybar is nested as the function's result, with the result (y, xbar): xbar is
        the derivative of Σ ybar · y by x, or the tuple of those by all arguments.

    >>> y, xbar = vjp(lambda x: x[..., :1] * x)([2.0, 3.0], [0.0, 1.0])
    >>> xbar
    array([3., 2.])
    """

    def run(*arguments: Any) -> Any:
        if len(arguments) < 2:
            raise InputError("vjp: expected the arguments of the function and then the weights of its result")
        return _run(function, shapes, arguments[:-1], arguments[-1:], derivatives.vjp, _weights)

    return run


def jacobian(function: Function, argument: int | tuple[int, ...] = 0, shapes: Shapes = None) -> Function:
    """The derivatives of all results by one argument, or several.

    Args:
        function: as in `jvp`.
        argument: the position of the argument; with several positions, every result has a tuple of Jacobians.
        shapes: as in `jvp`.

    Returns:
        A function of the same arguments, with a result of shape (..., the result's shape, the argument's shape).

    >>> jacobian(lambda x: np.stack([x[..., 0] * x[..., 1], 3 * x[..., 1]], axis=-1))([5.0, 7.0])
    array([[7., 5.],
           [0., 3.]])
    """

    def run(*arguments: Any) -> Any:
        wrt = _names(argument, len(arguments))
        return _run(function, shapes, arguments, (), lambda recorded: derivatives.jacobian(recorded, wrt))

    return run


def gradient(function: Function, argument: int | tuple[int, ...] = 0, shapes: Shapes = None) -> Function:
    """The derivatives of a function that returns one number per sample, of the shape of the argument.

    >>> gradient(lambda x: x[..., 0] * np.exp(x[..., 1]))([[2.0, 0.0], [3.0, 0.0]])
    array([[1., 2.],
           [1., 3.]])
    """

    def run(*arguments: Any) -> Any:
        wrt = _names(argument, len(arguments))
        return _run(function, shapes, arguments, (), lambda recorded: derivatives.gradient(recorded, wrt))

    return run


def hessian_vector(function: Function, argument: int = 0, shapes: Shapes = None) -> Function:
    """The second derivatives of a function that returns one number per sample, times a vector, without the matrix.

    Returns:
        A function of (x, ..., v), where v has the shape of the argument with the given position.

    >>> hessian_vector(lambda x: x[..., 0] ** 2 * x[..., 1])([3.0, 5.0], [1.0, 0.0])
    array([10.,  6.])
    """

    def run(*arguments: Any) -> Any:
        wrt = _names(argument, len(arguments) - 1)
        return _run(
            function, shapes, arguments[:-1], arguments[-1:], lambda recorded: derivatives.hessian_vector(recorded, wrt)
        )

    return run


def _as_given(recorded: Trace, rest: tuple[Any, ...]) -> list[Any]:
    del recorded
    return list(rest)


def _run(
    function: Function,
    shapes: Shapes,
    points: tuple[Any, ...],
    rest: tuple[Any, ...],
    derive: Callable[[Trace], Trace],
    arrange: Callable[[Trace, tuple[Any, ...]], list[Any]] = _as_given,
) -> Any:
    """Record the function, derive, and evaluate: with floats at once, with traced arrays as part of their graph."""
    samples = _samples(points, shapes)
    known = [*_arrays((points, rest)), *_closed_over(function)]
    traced = next((x for x in known if isinstance(x, TracedArray)), None)
    if traced is None:
        kinds = {getattr(x, "dtype", np.dtype(np.float64)) for x in points}
        dtype = np.float32 if kinds == {np.dtype(np.float32)} else np.float64
        recorded = trace(function, samples, _names(tuple(range(len(points))), len(points)), dtype)
        return evaluate(derive(recorded), *points, *arrange(recorded, rest))
    recorded = _record(traced.graph, function, samples)
    return _insert(derive(recorded), [*points, *arrange(recorded, rest)])


def _record(graph: Graph, function: Function, samples: list[tuple[int, ...]]) -> Trace:
    """Run the function on leaves of a graph that has others already.

    New leaves, and not the nodes of the arguments: these may be equal, constant, or depend on one another, and the
    function may know them from elsewhere.
    """
    first = -(len(graph) + 1) << 16  # far from the leaves of all others, of which each has added a node
    arrays = []
    for i, shape in enumerate(samples):
        ids = [graph.leaf("input", first + i, k) for k in range(math.prod(shape))]
        arrays.append(TracedArray(graph, np.array(ids, dtype=np.int64).reshape(shape), np.dtype(np.float64)))
    found: list[Ids] = []
    layout = flatten(function(*arrays), lambda array: found.append(nodes_of(graph, array)))
    inputs = tuple(map(Input, _names(tuple(range(len(samples))), len(samples)), samples))
    return Trace(graph, inputs, tuple(found), layout, np.dtype(np.float64), first)


def _insert(derived: Trace, arguments: list[Any]) -> Any:
    """The result with the arguments in place of the leaves, sample by sample."""
    graph = derived.graph
    given = [nodes(graph, x) for x in arguments]
    for ids, (name, shape) in zip(given, derived.inputs, strict=True):
        if ids.shape[ids.ndim - len(shape) :] != shape:
            raise InputError(f"argument {name}: expected shape (..., {str(shape)[1:-1]}), got {ids.shape}")
    batch = np.broadcast_shapes(*(a.shape[: a.ndim - len(i.shape)] for a, i in zip(given, derived.inputs, strict=True)))
    leaves = [ids.ravel().tolist() for ids in derivatives.leaves(derived)]
    results = [np.empty(batch + ids.shape, dtype=np.int64) for ids in derived.outputs]
    full = [np.broadcast_to(a, batch + i.shape) for a, i in zip(given, derived.inputs, strict=True)]
    for index in np.ndindex(*batch):
        new = {
            leaf: node
            for ids, array in zip(leaves, full, strict=True)
            for leaf, node in zip(ids, array[index].ravel().tolist(), strict=True)
        }
        _substitute(graph, derived.roots, new)
        for result, ids in zip(results, derived.outputs, strict=True):
            result[index] = np.array([new[k] for k in ids.ravel().tolist()], dtype=np.int64).reshape(ids.shape)
    return rebuild(derived.layout, (TracedArray(graph, ids, derived.dtype) for ids in results))


def _substitute(graph: Graph, roots: list[int], new: dict[int, int]) -> None:
    """Add to the replacements those of all nodes that depend on a replaced one."""
    for k in graph.live(roots):
        if k not in new:
            args = tuple(new[a] for a in graph.args[k])
            new[k] = k if args == graph.args[k] else graph.apply(graph.op[k], *args)


def _weights(recorded: Trace, rest: tuple[Any, ...]) -> list[Any]:
    """One array for each output, from weights that are nested as the result."""
    found: list[Any] = []

    def match(layout: Layout, given: Any) -> None:
        kind, *parts = ("array",) if layout == "array" else layout
        if kind == "array":
            found.append(given)
        elif kind == "dict" and isinstance(given, dict) and given.keys() == {key for key, _ in parts}:
            for key, part in parts:
                match(part, given[key])
        elif kind == "tuple" and isinstance(given, list | tuple) and len(parts) == len(given):
            for part, x in zip(parts, given, strict=True):
                match(part, x)
        else:
            raise InputError("vjp: the weights must be nested as the result of the function")

    match(plain(recorded.layout), rest[0])
    return found


def _samples(points: tuple[Any, ...], shapes: Shapes) -> list[tuple[int, ...]]:
    if shapes is None:
        return [(x.shape if isinstance(x, TracedArray) else np.shape(x))[-1:] for x in points]
    if len(shapes) != len(points):
        raise InputError(f"shapes: expected one for each of {len(points)} arguments, got {len(shapes)}")
    return [shape_of(shape) for shape in shapes]


def _names(argument: int | tuple[int, ...], count: int) -> Any:
    """The names under which arguments are recorded."""
    if isinstance(argument, tuple):
        return [_names(k, count) for k in argument]
    if not 0 <= argument < count:
        raise InputError(f"argument: expected a position below {count}, the number of arguments, got {argument}")
    return f"x{argument}"


def _closed_over(function: Function) -> Iterator[Any]:
    for cell in getattr(function, "__closure__", None) or ():
        with suppress(ValueError):  # a variable that has no value yet
            yield cell.cell_contents


def _arrays(nested: Any) -> Iterator[Any]:
    if isinstance(nested, dict):
        nested = list(nested.values())
    if isinstance(nested, list | tuple):
        for part in nested:
            yield from _arrays(part)
    else:
        yield nested
