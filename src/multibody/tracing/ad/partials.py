"""Partial derivatives of every scalar operation, as graph nodes.

At a kink one of the one-sided derivatives is used: |x| has slope 0 at 0; min and max of equal arguments follow the
second one, which they return. Infinite derivatives stay infinite, as that of sqrt at 0. The branch that a select does
not take contributes nothing, not even 0 · ∞: see `times`.
"""

from collections.abc import Callable, Container, Iterator, Mapping

from multibody.tracing.graph.graph import Graph
from multibody.tracing.matrices import matrix_derivatives

Partial = Callable[[Graph, tuple[int, ...], int], int]
"""The derivative g'(x) by one argument, from the graph g, all arguments x and the result y."""
# ruff: noqa: ARG005 - all have the same signature


def _constant(number: float) -> Partial:
    return lambda g, x, y: g.const(number)


def _argument(position: int) -> Partial:
    return lambda g, x, y: x[position]


def _minus(partial: Partial) -> Partial:
    return lambda g, x, y: g.apply("neg", partial(g, x, y))


def _asin(g: Graph, x: tuple[int, ...], y: int) -> int:
    """1 / sqrt((1 - x)(1 + x)), which keeps its digits near ±1."""
    del y
    one = g.const(1.0)
    inside = g.apply("mul", g.apply("sub", one, x[0]), g.apply("add", one, x[0]))
    return g.apply("div", one, g.apply("sqrt", inside))


def _reciprocal(position: int) -> Partial:
    return lambda g, x, y: g.apply("div", g.const(1.0), x[position])


def _over_square(position: int) -> Partial:
    """x_k / (x_0² + x_1²)."""
    return lambda g, x, y: g.apply("div", x[position], g.apply("add", *(g.apply("mul", a, a) for a in x)))


def _power_base(g: Graph, x: tuple[int, ...], y: int) -> int:
    """b a^(b-1)."""
    del y
    return g.apply("mul", x[1], g.apply("pow", x[0], g.apply("sub", x[1], g.const(1.0))))


def _power_exponent(g: Graph, x: tuple[int, ...], y: int) -> int:
    """a^b log a, which is 0 where a^b is."""
    zero = g.const(0.0)
    return g.apply("select", g.apply("eq", y, zero), zero, g.apply("mul", y, g.apply("log", x[0])))


def _minus_quotient(g: Graph, x: tuple[int, ...], y: int) -> int:
    """-n, the whole number in y = a - n b."""
    return g.apply("rint", g.apply("div", g.apply("sub", y, x[0]), x[1]))


_ONE, _MINUS_ONE = _constant(1.0), _constant(-1.0)
PARTIALS: dict[str, tuple[Partial | None, ...]] = {
    "neg": (_MINUS_ONE,),
    "abs": (lambda g, x, y: g.apply("sign", x[0]),),
    "sign": (None,),
    "sqrt": (lambda g, x, y: g.apply("div", g.const(0.5), y),),
    "sin": (lambda g, x, y: g.apply("cos", x[0]),),
    "cos": (lambda g, x, y: g.apply("neg", g.apply("sin", x[0])),),
    "tan": (lambda g, x, y: g.apply("add", g.const(1.0), g.apply("mul", y, y)),),
    "asin": (_asin,),
    "acos": (_minus(_asin),),
    "exp": (lambda g, x, y: y,),
    "log": (_reciprocal(0),),
    "tanh": (lambda g, x, y: g.apply("sub", g.const(1.0), g.apply("mul", y, y)),),
    "expm1": (lambda g, x, y: g.apply("add", y, g.const(1.0)),),
    "log1p": (lambda g, x, y: g.apply("div", g.const(1.0), g.apply("add", x[0], g.const(1.0))),),
    "sinh": (lambda g, x, y: g.apply("cosh", x[0]),),
    "cosh": (lambda g, x, y: g.apply("sinh", x[0]),),
    "floor": (None,),
    "rint": (None,),
    "add": (_ONE, _ONE),
    "sub": (_ONE, _MINUS_ONE),
    "mul": (_argument(1), _argument(0)),
    "div": (_reciprocal(1), lambda g, x, y: g.apply("neg", g.apply("mul", y, _reciprocal(1)(g, x, y)))),
    "atan2": (_over_square(1), _minus(_over_square(0))),
    "hypot": tuple(lambda g, x, y, k=k: g.apply("div", x[k], y) for k in range(2)),
    "pow": (_power_base, _power_exponent),
    "fmod": (_ONE, _minus_quotient),
    "mod": (_ONE, _minus_quotient),
    "fma": (_argument(1), _argument(0), _ONE),
    "fms": (_argument(1), _argument(0), _MINUS_ONE),
    "fnma": (_minus(_argument(1)), _minus(_argument(0)), _ONE),
}
"""One partial derivative per argument; None means zero everywhere."""

CHOICES: dict[str, Callable[[Graph, tuple[int, ...]], tuple[int, int, int]]] = {
    "select": lambda g, x: (x[0], x[1], x[2]),
    "min": lambda g, x: (g.apply("lt", x[0], x[1]), x[0], x[1]),
    "max": lambda g, x: (g.apply("lt", x[1], x[0]), x[0], x[1]),
}
"""Operations that return one of two arguments: the condition, the argument if it is true, the other."""


def choice_jvp(graph: Graph, node: int, tangents: Mapping[int, Mapping[int, int]]) -> dict[int, int]:
    """The tangents of an operation of CHOICES: those of the argument that it returns."""
    p, *sides = CHOICES[graph.op[node]](graph, graph.args[node])
    a, b = (tangents.get(side, {}) for side in sides)
    zero = graph.const(0.0)
    return {i: graph.apply("select", p, a.get(i, zero), b.get(i, zero)) for i in {**a, **b}}


def choice_vjp(
    graph: Graph, node: int, cotangents: Mapping[int, int], active: Container[int]
) -> Iterator[tuple[int, dict[int, int]]]:
    """The active arguments of an operation of CHOICES, with the cotangents where it returns them."""
    p, a, b = CHOICES[graph.op[node]](graph, graph.args[node])
    for side, condition in ((a, p), (b, graph.apply("not", p))):
        if side in active:
            yield side, {i: guard(graph, condition, t) for i, t in cotangents.items()}


def flows(graph: Graph, node: int) -> tuple[int, ...]:
    """The arguments that a node depends on differentiably."""
    op, args = graph.op[node], graph.args[node]
    if op in CHOICES:
        return args[-2:]
    if op == "entry":
        return args
    if op == "dense":
        return matrix_derivatives.flows(graph, node)
    if op == "custom_derivative":
        return args[1:]
    return tuple(a for a, partial in zip(args, PARTIALS.get(op, ()), strict=False) if partial)


# ---- sums and products of tangents -----------------------------------------------------------------------------------


def times(graph: Graph, slope: int, tangent: int) -> int:
    """The product; a tangent that a select sets to zero stays zero, even if the slope is infinite.

    So an infinite slope in the branch that np.where does not take gives no NaN.
    """
    guarded = _guarded(graph, tangent)
    if guarded is None:
        return graph.apply("mul", slope, tangent)
    condition, inner = guarded
    return graph.apply("select", condition, graph.apply("mul", slope, inner), graph.const(0.0))


def plus(graph: Graph, a: int, b: int) -> int:
    """The sum; zero where selects set both to zero."""
    left, right = _guarded(graph, a), _guarded(graph, b)
    if left is None or right is None:
        return graph.apply("add", a, b)
    (p, x), (q, y) = left, right
    if p == q:
        return guard(graph, p, graph.apply("add", x, y))
    if q == graph.apply("not", p):
        return graph.apply("select", p, x, y)
    return graph.apply("select", graph.apply("or", p, q), graph.apply("add", a, b), graph.const(0.0))


def guard(graph: Graph, condition: int, tangent: int) -> int:
    """The tangent where the condition holds, zero elsewhere."""
    guarded = _guarded(graph, tangent)
    if guarded is not None:
        condition, tangent = graph.apply("and", condition, guarded[0]), guarded[1]
    return graph.apply("select", condition, tangent, graph.const(0.0))


def _guarded(graph: Graph, node: int) -> tuple[int, int] | None:
    """(p, x), if the node is x where p holds and zero elsewhere."""
    if graph.op[node] != "select":
        return None
    p, a, b = graph.args[node]
    if graph.number(b) == 0:
        return p, a
    return (graph.apply("not", p), b) if graph.number(a) == 0 else None
