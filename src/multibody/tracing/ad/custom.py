"""Custom derivatives by rules of the user: y = custom(f, jvp=rule)(x).

In a graph the results are nodes "custom_derivative": the value, and the inputs of the derivative.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from multibody._signatures import readable
from multibody.errors import InputError
from multibody.tracing.ad.reverse import reverse
from multibody.tracing.ad.tangents import Tangents
from multibody.tracing.array.traced import TracedArray, floats, is_mask, refuse
from multibody.tracing.graph.graph import Graph
from multibody.tracing.graph.substitute import substitute
from multibody.tracing.record.layout import Layout, flatten, flatten_to_list, rebuild
from multibody.tracing.record.trace import flat, graph_of, input_nodes, split

Function = Callable[..., Any]


@readable
def custom(function: Function, *, jvp: Function | None = None, vjp: Function | None = None) -> Function:
    """Give a function a custom derivative, in place of that of its operations.

    For contact solvers, quadratic programs and other iterations with a known derivative. One
    rule is enough: both are linear, and the other mode is its transpose. Captured variables of
    the function or the rule count as constant.

    Args:
        function: of arrays, or tuples, lists and dicts of them; plain NumPy.
        jvp: `jvp(x, ..., dx, ...)`, the tangent of the result from those of all arguments,
            nested as the result.
        vjp: `vjp(x, ..., ybar)`, the cotangents of the arguments from that of the result:
            nested as the argument, or a tuple for several.

    >>> from multibody.tracing.record.loop import loop
    >>> heron = lambda a: loop(40, lambda x: (x + a / x) / 2, a)
    >>> root = custom(heron, jvp=lambda a, da: da / (2 * np.sqrt(a)))
    >>> from multibody.tracing.ad.api import gradient
    >>> gradient(root)(4.0)
    np.float64(0.25)
    """
    if jvp is None and vjp is None:
        raise InputError("custom: expected jvp or vjp, the rule of the derivative")

    def run(*arguments: Any) -> Any:
        arrays: list[Any] = []
        layouts = [flatten(argument, arrays.append) for argument in arguments]
        graph = graph_of(arrays)
        result = function(*arguments)
        if graph is None:
            return result
        parts, layout = flatten_to_list(result)
        if any(map(is_mask, [*arrays, *parts])):
            raise refuse("custom: expected numbers as arguments and results, got booleans")
        inputs = [floats(graph, x) for x in arrays]
        results = [floats(graph, x) for x in parts]
        shapes = [ids.shape for ids in inputs], [ids.shape for ids in results]
        rule = _UserRule(jvp, vjp, layouts, layout, *shapes)
        ids = with_derivative(graph, rule, flat(results), flat(inputs))
        return rebuild(layout, iter(arrays_of(graph, ids, shapes[1])))

    return run


def with_derivative(graph: Graph, rule: Any, values: list[int], inputs: list[int]) -> list[int]:
    """The values with a custom derivative with respect to the inputs."""
    graph.custom_derivatives.append(rule)
    number = len(graph.custom_derivatives) - 1
    return [graph.intern("custom_derivative", (k, *inputs), (number, j)) for j, k in enumerate(values)]


def arrays_of(graph: Graph, ids: Sequence[int], shapes: Sequence[tuple[int, ...]]) -> list[TracedArray]:
    """Consecutive nodes as arrays of these shapes."""
    return [TracedArray(graph, part, graph.dtype) for part in split(ids, shapes)]


def _size(shapes: Sequence[tuple[int, ...]]) -> int:
    return sum(math.prod(shape) for shape in shapes)


class _UserRule(NamedTuple):
    """A derivative by rules of the user."""

    jvp: Function | None
    vjp: Function | None
    layouts: list[Layout]
    layout: Layout
    inputs: list[tuple[int, ...]]
    outputs: list[tuple[int, ...]]

    def residuals(self, graph: Graph, number: int, inputs: tuple[int, ...]) -> dict[int, int]:
        """There are none."""
        del graph, number, inputs
        return {}

    def forward(self, graph: Graph, inputs: list[int], rows: list[Tangents]) -> list[Tangents]:
        """The tangents of the results, from those of the inputs."""
        tangents = dict(enumerate(rows))
        if self.jvp is None:
            return _transposed(graph, lambda w: self._vjp(graph, inputs, w), tangents, _size(self.outputs))
        return apply_by_columns(graph, lambda dx: self._jvp(graph, inputs, dx), tangents, len(inputs))

    def reverse(self, graph: Graph, inputs: list[int], rows: Mapping[int, Tangents]) -> list[Tangents]:
        """The cotangents of the inputs, from those of the results."""
        if self.vjp is None:
            return _transposed(graph, lambda dx: self._jvp(graph, inputs, dx), rows, len(inputs))
        return apply_by_columns(graph, lambda w: self._vjp(graph, inputs, w), rows, _size(self.outputs))

    def _nested(self, graph: Graph, ids: Sequence[int]) -> list[Any]:
        arrays = iter(arrays_of(graph, ids, self.inputs))
        return [rebuild(layout, arrays) for layout in self.layouts]

    def _jvp(self, graph: Graph, inputs: list[int], tangents: Sequence[int]) -> list[int]:
        assert self.jvp is not None
        result = self.jvp(*self._nested(graph, inputs), *self._nested(graph, tangents))
        return _nodes(graph, result, self.layout, self.outputs, "custom: jvp: expected a tangent nested as the result")

    def _vjp(self, graph: Graph, inputs: list[int], cotangents: Sequence[int]) -> list[int]:
        assert self.vjp is not None
        ybar = rebuild(self.layout, iter(arrays_of(graph, cotangents, self.outputs)))
        result = self.vjp(*self._nested(graph, inputs), ybar)
        layout = self.layouts[0] if len(self.layouts) == 1 else ["tuple", *self.layouts]
        return _nodes(graph, result, layout, self.inputs, "custom: vjp: expected cotangents nested as the arguments")


def _nodes(graph: Graph, result: Any, layout: Layout, shapes: list[tuple[int, ...]], refusal: str) -> list[int]:
    parts, nesting = flatten_to_list(result)
    if nesting != layout or [np.shape(x) for x in parts] != shapes:
        raise refuse(f"{refusal}, of shapes {shapes}, got {[np.shape(x) for x in parts]}")
    return flat(floats(graph, x) for x in parts)


def apply_by_columns(
    graph: Graph, linear: Callable[[list[int]], list[int]], rows: Mapping[int, Tangents], size: int
) -> list[Tangents]:
    """A linear function of every column of a sparse matrix."""
    zero = graph.const(0.0)
    result: list[Tangents] = []
    for i in sorted({i for row in rows.values() for i in row}):
        column = linear([rows.get(j, {}).get(i, zero) for j in range(size)])
        result = result or [{} for _ in column]
        for row, node in zip(result, column, strict=True):
            row[i] = node
    return result


def _transposed(
    graph: Graph, linear: Callable[[Sequence[int]], list[int]], rows: Mapping[int, Tangents], size: int
) -> list[Tangents]:
    """The transpose of a linear function, of every column of a sparse matrix."""
    leaves = input_nodes(graph, -(len(graph) + 1) << 16, (size,)).tolist()
    roots = linear(leaves)
    cotangents = reverse(graph, roots, [dict(rows.get(j, {})) for j in range(len(roots))], leaves)
    zero = graph.const(0.0)  # a linear function has the same derivative everywhere
    return [
        dict(zip(row, substitute(graph, list(row.values()), dict.fromkeys(leaves, zero)), strict=True))
        for row in cotangents
    ]
