"""Custom derivatives: by rules of the user, and of fixed points by the implicit function theorem.

    y = custom(f, jvp=rule)(x)          x = fixed_point(body, guess)

In a graph their results are nodes "custom_derivative": the value, and the inputs of the derivative.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from multibody.errors import InputError
from multibody.tracing.ad.jacobian import jacobian_rows
from multibody.tracing.ad.reverse import reverse
from multibody.tracing.ad.tangents import Tangents, dense_rows
from multibody.tracing.array.traced import TracedArray, floats, is_mask, nodes, refuse
from multibody.tracing.graph.graph import Graph
from multibody.tracing.graph.substitute import substitute
from multibody.tracing.matrices.linalg_unrolled import solve
from multibody.tracing.record.layout import Layout, flatten, flatten_to_list, rebuild
from multibody.tracing.record.loop import loop
from multibody.tracing.record.trace import flat, graph_of, input_nodes, open_graph, split

Function = Callable[..., Any]


def custom(function: Function, *, jvp: Function | None = None, vjp: Function | None = None) -> Function:
    """Give a function a custom derivative, in place of that of its operations.

    For contact solvers, quadratic programs and other iterations with a known derivative. One rule is enough: both are
    linear, and the other mode is its transpose. Captured variables of the function or the rule count as constant.

    Args:
        function: of arrays, or tuples, lists and dicts of them; plain NumPy.
        jvp: `jvp(x, ..., dx, ...)`, the tangent of the result from those of all arguments, nested as the result.
        vjp: `vjp(x, ..., ybar)`, the cotangents of the arguments from that of the result: nested as the argument, or a
            tuple for several.

    >>> root = custom(lambda a: loop(40, lambda x: (x + a / x) / 2, a), jvp=lambda a, da: da / (2 * np.sqrt(a)))
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
        ids = _with_derivative(graph, rule, flat(results), flat(inputs))
        return rebuild(layout, iter(_arrays(graph, ids, shapes[1])))

    return run


def fixed_point(
    body: Callable[[Any], Any],
    carry: Any,
    *,
    count: int = 100,
    tolerance: float | None = None,
    rounds: bool = False,
) -> Any:
    """Solve x = body(x) by iteration; the derivative is that of the solution, not of the iterations.

    With x = b(x, p), dx = (1 - ∂b/∂x)⁻¹ ∂b/∂p dp: one linear system, independent of the number of iterations. The
    initial guess has no influence. The derivative is NaN if the iteration has not converged.

    Args:
        body: one step of the iteration; shapes stay. Newton's method is one.
        carry: the initial guess: an array, or tuples, lists and dicts of arrays.
        count: the maximum number of iterations.
        tolerance: the largest last change relative to 1 + |x|, of every number; 1e-12, or 1e-5 in float32.
        rounds: whether to return also the number of iterations of each sample.

    >>> fixed_point(np.cos, 1.0).round(9)
    np.float64(0.739085133)
    >>> from multibody.tracing.ad.api import gradient
    >>> gradient(lambda a: fixed_point(lambda x: (x + a / x) / 2, 1.0))(4.0)
    np.float64(0.25)
    """

    def step(state: tuple[Any, Any]) -> tuple[Any, Any]:
        before, _ = flatten_to_list(state[0])
        following = body(state[0])
        after, _ = flatten_to_list(following)
        sizes = [np.abs(new - old) / (1.0 + np.abs(new)) for old, new in zip(before, after, strict=True)]
        return following, np.max(np.concatenate([np.reshape(x, (-1,)) for x in sizes]))

    graph = open_graph()
    single = graph is not None and graph.dtype == np.float32
    small = (1e-5 if single else 1e-12) if tolerance is None else tolerance
    (x, change), taken = loop(count, step, (carry, np.inf), until=lambda state: state[1] <= small, rounds=True)
    arrays, layout = flatten_to_list(x)
    graph = graph_of(arrays)
    if graph is not None:
        shapes = [np.shape(a) for a in arrays]
        constants = _with_derivative(graph, None, flat(floats(graph, a) for a in arrays), [])
        mapped, _ = flatten_to_list(body(rebuild(layout, iter(_arrays(graph, constants, shapes)))))
        residual = flat(floats(graph, a) for a in mapped)
        converged = int(nodes(graph, change <= small)[()])
        ids = _with_derivative(graph, _Implicit(), constants, [*residual, *constants, converged])
        x = rebuild(layout, iter(_arrays(graph, ids, shapes)))
    return (x, taken) if rounds else x


def _with_derivative(graph: Graph, rule: Any, values: list[int], inputs: list[int]) -> list[int]:
    """The values with a custom derivative with respect to the inputs."""
    graph.custom_derivatives.append(rule)
    number = len(graph.custom_derivatives) - 1
    return [graph.intern("custom_derivative", (k, *inputs), (number, j)) for j, k in enumerate(values)]


def _arrays(graph: Graph, ids: Sequence[int], shapes: Sequence[tuple[int, ...]]) -> list[TracedArray]:
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
        return _by_columns(graph, lambda dx: self._jvp(graph, inputs, dx), tangents, len(inputs))

    def reverse(self, graph: Graph, inputs: list[int], rows: Mapping[int, Tangents]) -> list[Tangents]:
        """The cotangents of the inputs, from those of the results."""
        if self.vjp is None:
            return _transposed(graph, lambda dx: self._jvp(graph, inputs, dx), rows, len(inputs))
        return _by_columns(graph, lambda w: self._vjp(graph, inputs, w), rows, _size(self.outputs))

    def _nested(self, graph: Graph, ids: Sequence[int]) -> list[Any]:
        rest = iter(_arrays(graph, ids, self.inputs))
        return [rebuild(layout, rest) for layout in self.layouts]

    def _jvp(self, graph: Graph, inputs: list[int], tangents: Sequence[int]) -> list[int]:
        assert self.jvp is not None
        result = self.jvp(*self._nested(graph, inputs), *self._nested(graph, tangents))
        return _nodes(graph, result, self.layout, self.outputs, "custom: jvp: expected a tangent nested as the result")

    def _vjp(self, graph: Graph, inputs: list[int], cotangents: Sequence[int]) -> list[int]:
        assert self.vjp is not None
        ybar = rebuild(self.layout, iter(_arrays(graph, cotangents, self.outputs)))
        result = self.vjp(*self._nested(graph, inputs), ybar)
        layout = self.layouts[0] if len(self.layouts) == 1 else ["tuple", *self.layouts]
        return _nodes(graph, result, layout, self.inputs, "custom: vjp: expected cotangents nested as the arguments")


class _Implicit:
    """The derivative of x = b(x); inputs are b at x, x as a constant, and whether the iteration has converged."""

    def residuals(self, graph: Graph, number: int, inputs: tuple[int, ...]) -> dict[int, int]:
        """The constants x, and the differentiable nodes that derivatives have in their place."""
        n = len(inputs) // 2
        return {
            k: graph.intern("custom_derivative", (k, *inputs), (number, j)) for j, k in enumerate(inputs[n : 2 * n])
        }

    def forward(self, graph: Graph, inputs: list[int], rows: list[Tangents]) -> list[Tangents]:
        """The tangents of x, from those of b."""
        n = len(inputs) // 2
        return self._solve(graph, inputs, dict(enumerate(rows[:n])), transpose=False)

    def reverse(self, graph: Graph, inputs: list[int], rows: Mapping[int, Tangents]) -> list[Tangents]:
        """The cotangents of b, from those of x."""
        n = len(inputs) // 2
        return [*self._solve(graph, inputs, rows, transpose=True), *[{} for _ in range(n + 1)]]

    def _solve(
        self, graph: Graph, inputs: list[int], rows: Mapping[int, Tangents], *, transpose: bool
    ) -> list[Tangents]:
        n = len(inputs) // 2
        residual, constants, converged = inputs[:n], inputs[n : 2 * n], inputs[-1]
        ids = dense_rows(graph, jacobian_rows(graph, residual, constants), n)
        slope = TracedArray(graph, ids, graph.dtype)
        matrix: Any = np.eye(n) - (slope.T if transpose else slope)
        nan = graph.const(np.nan)

        def linear(right: list[int]) -> list[int]:
            x = solve(matrix, TracedArray(graph, np.array(right, dtype=np.int64), graph.dtype))
            return [graph.apply("select", converged, node, nan) for node in x.ids.tolist()]

        return _by_columns(graph, linear, rows, n) or [{} for _ in range(n)]


def _nodes(graph: Graph, result: Any, layout: Layout, shapes: list[tuple[int, ...]], refusal: str) -> list[int]:
    parts, nesting = flatten_to_list(result)
    if nesting != layout or [np.shape(x) for x in parts] != shapes:
        raise refuse(f"{refusal}, of shapes {shapes}, got {[np.shape(x) for x in parts]}")
    return flat(floats(graph, x) for x in parts)


def _by_columns(
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
