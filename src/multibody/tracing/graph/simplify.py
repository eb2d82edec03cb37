"""Algebraic simplifications of scalar operations: x·0 = 0, x + 0 = x, -(-x) = x, powers as products.

Each rule takes the graph and the arguments, and returns a simpler node, or None. The rules hold for all finite numbers:
so structural zeros cost no operations.
Constant folding and common subexpressions are in `graph`.
"""

import math
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from multibody.tracing.graph.graph import Graph


def _add(g: "Graph", a: int, b: int) -> int | None:
    if g.number(a) == 0:
        return b
    if g.number(b) == 0:
        return a
    minus_a, minus_b = g.negated(a), g.negated(b)
    if minus_b is not None:
        return g.apply("sub", a, minus_b)
    return g.apply("sub", b, minus_a) if minus_a is not None else None


def _sub(g: "Graph", a: int, b: int) -> int | None:
    if g.number(b) == 0:
        return a
    if g.number(a) == 0:
        return g.apply("neg", b)
    if a == b:
        return g.const(0.0)
    minus_a, minus_b = g.negated(a), g.negated(b)
    if minus_b is not None:
        return g.apply("add", a, minus_b)
    return g.apply("neg", g.apply("add", minus_a, b)) if minus_a is not None else None


def _mul(g: "Graph", a: int, b: int) -> int | None:
    if g.number(b) is not None:
        a, b = b, a
    c = g.number(a)
    if c is not None:
        if c == 0:
            return g.const(0.0)
        if c == 1:
            return b
        if c < 0:  # negations cancel, and constants of one magnitude are shared
            return g.apply("neg", g.apply("mul", g.const(-c), b))
        for factor, other in (g.args[b], g.args[b][::-1]) if g.op[b] == "mul" else ():
            product = c * (g.number(factor) or math.inf)
            if 1e-300 < product < 1e300:  # otherwise it would overflow or underflow, where x times one constant may not
                return g.apply("mul", g.const(product), other)
    minus_a, minus_b = g.negated(a), g.negated(b)
    if minus_a is not None and minus_b is not None:
        return g.apply("mul", minus_a, minus_b)
    if minus_a is not None:
        return g.apply("neg", g.apply("mul", minus_a, b))
    return g.apply("neg", g.apply("mul", a, minus_b)) if minus_b is not None else None


def _div(g: "Graph", a: int, b: int) -> int | None:
    c = g.number(b)
    if c and math.isfinite(1 / c) and abs(1 / c) > 1e-300:
        return g.apply("mul", a, g.const(1 / c))
    if g.number(a) == 0:
        return g.const(0.0)
    minus_a, minus_b = g.negated(a), g.negated(b)
    if minus_b is not None:
        return g.apply("neg", g.apply("div", a, minus_b))
    return g.apply("neg", g.apply("div", minus_a, b)) if minus_a is not None else None


def _neg(g: "Graph", a: int) -> int | None:
    if g.op[a] == "neg":
        return g.args[a][0]
    return g.apply("sub", *g.args[a][::-1]) if g.op[a] == "sub" else None


def _odd(op: str) -> Any:
    def rule(g: "Graph", a: int) -> int | None:
        minus = g.negated(a)
        return None if minus is None else g.apply("neg", g.apply(op, minus))

    return rule


def _even(op: str) -> Any:
    def rule(g: "Graph", a: int) -> int | None:
        minus = g.negated(a)
        if minus is not None:
            return g.apply(op, minus)
        return a if op == "abs" and g.op[a] in ("abs", "sqrt") else None

    return rule


def _pow(g: "Graph", a: int, b: int) -> int | None:
    exponent = g.number(b)
    if exponent is None:
        return None
    if exponent == 0.5:
        return g.apply("sqrt", a)
    if exponent < 0 and exponent.is_integer() and exponent >= -16:
        return g.apply("div", g.const(1.0), g.apply("pow", a, g.const(-exponent)))
    if not exponent.is_integer() or exponent > 16:
        return None
    result, square, n = g.const(1.0), a, int(exponent)
    while n:
        if n & 1:
            result = g.apply("mul", result, square)
        n >>= 1
        if n:
            square = g.apply("mul", square, square)
    return result


def _select(g: "Graph", p: int, a: int, b: int) -> int | None:
    if a == b or g.op[p] == "true":
        return a
    if g.op[p] == "false":
        return b
    return g.apply("select", g.args[p][0], b, a) if g.op[p] == "not" else None


def _same(g: "Graph", a: int, b: int) -> int | None:
    del g
    return a if a == b else None


def _logical(neutral: str, absorbing: str) -> Any:
    def rule(g: "Graph", a: int, b: int) -> int | None:
        if absorbing in (g.op[a], g.op[b]):
            return g.truth(absorbing == "true")
        if g.op[a] == neutral or a == b:
            return b
        return a if g.op[b] == neutral else None

    return rule


def _not(g: "Graph", a: int) -> int | None:
    return g.args[a][0] if g.op[a] == "not" else None


RULES: dict[str, Any] = {
    "add": _add,
    "sub": _sub,
    "mul": _mul,
    "div": _div,
    "neg": _neg,
    **{op: _odd(op) for op in ("sin", "tan", "asin", "tanh", "sinh", "rint")},
    **{op: _even(op) for op in ("cos", "cosh", "abs")},
    "pow": _pow,
    "select": _select,
    "min": _same,
    "max": _same,
    "and": _logical("true", "false"),
    "or": _logical("false", "true"),
    "not": _not,
}
"""The rule of each operation that has one."""
