"""Fixed points by iteration, x = fixed_point(body, guess), with the derivative of the implicit function theorem."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from multibody._signatures import readable
from multibody.tracing.ad.custom import apply_by_columns, arrays_of, with_derivative
from multibody.tracing.ad.jacobian import jacobian_rows
from multibody.tracing.ad.tangents import Tangents, dense_rows
from multibody.tracing.array.traced import TracedArray, floats, nodes
from multibody.tracing.graph.graph import Graph
from multibody.tracing.matrices.linalg_unrolled import solve
from multibody.tracing.record.layout import flatten_to_list, rebuild
from multibody.tracing.record.loop import loop
from multibody.tracing.record.trace import flat, graph_of, open_graph


@readable
def fixed_point(
    body: Callable[[Any], Any],
    carry: Any,
    *,
    count: int = 100,
    tolerance: float | None = None,
    rounds: bool = False,
) -> Any:
    """Solve x = body(x) by iteration; the derivative is that of the solution, not
    of the iterations.

    With x = b(x, p), dx = (1 - ∂b/∂x)⁻¹ ∂b/∂p dp: one linear system, independent of the number
    of iterations. The initial guess has no influence. The derivative is NaN if the iteration
    has not converged.

    Args:
        body: one step of the iteration; shapes stay. Newton's method is one.
        carry: the initial guess: an array, or tuples, lists and dicts of arrays.
        count: the maximum number of iterations.
        tolerance: the largest last change relative to 1 + |x|, of every number; 1e-12, or 1e-5
            in float32.
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
        constants = with_derivative(graph, None, flat(floats(graph, a) for a in arrays), [])
        mapped, _ = flatten_to_list(body(rebuild(layout, iter(arrays_of(graph, constants, shapes)))))
        residual = flat(floats(graph, a) for a in mapped)
        converged = int(nodes(graph, change <= small)[()])
        ids = with_derivative(graph, _Implicit(), constants, [*residual, *constants, converged])
        x = rebuild(layout, iter(arrays_of(graph, ids, shapes)))
    return (x, taken) if rounds else x


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

        return apply_by_columns(graph, linear, rows, n) or [{} for _ in range(n)]
