"""A graph of scalar operations: flat lists, hash-consed, simplified as it grows, in the order of creation.

Node k applies `op[k]` to the nodes `args[k]`; a constant keeps its number in `value`, an input its position. The same
operation on the same nodes is the same node. Rules that hold for all finite numbers are used: x·0 is 0.
"""

import math
import struct
from collections import Counter
from collections.abc import Collection
from typing import Any

import numpy as np

from multibody.tracing.graph import loop_nodes
from multibody.tracing.graph.loop_nodes import Loop
from multibody.tracing.graph.ops import COMMUTATIVE, COSTS, FLOPS, OPS
from multibody.tracing.matrices import kinds

FLOAT64 = np.dtype(np.float64)
_CONSTANT = frozenset(("const", "true", "false"))
_bits = struct.Struct("d").pack


class Graph:
    """One per trace; nothing is shared between graphs."""

    __slots__ = ("args", "dtype", "custom_derivatives", "known", "loops", "op", "open_loops", "owned", "value")

    def __init__(self, dtype: np.dtype[Any] = FLOAT64) -> None:
        self.dtype = dtype
        self.loops: list[Loop | None] = []
        self.open_loops: list[int] = []
        self.owned: tuple[Any, list[int]] = (None, [])
        """What `owners` depends on, and its result."""
        self.custom_derivatives: list[Any] = []
        self.op: list[str] = []
        self.args: list[tuple[int, ...]] = []
        self.value: dict[int, Any] = {}
        self.known: dict[tuple[Any, ...], int] = {}

    def __len__(self) -> int:
        return len(self.op)

    # ---- leaves ------------------------------------------------------------------------------------------------------

    def leaf(self, op: str, *position: int) -> int:
        """An input, or a value that a loop carries."""
        return self.intern(op, (), position)

    def const(self, number: float) -> int:
        """A number; -0.0 is another one than 0.0."""
        return self.intern("const", (), _bits(number), float(number))

    def truth(self, value: bool) -> int:
        """A constant truth value."""
        return self.intern("true" if value else "false", ())

    def intern(self, op: str, args: tuple[int, ...], extra: Any = None, value: Any = None) -> int:
        key = (op, args, extra)
        node = self.known.get(key)
        if node is None:
            node = self.known[key] = len(self.op)
            self.op.append(op)
            self.args.append(args)
            if extra is not None:
                self.value[node] = extra if value is None else value
        return node

    # ---- operations --------------------------------------------------------------------------------------------------

    def apply(self, op: str, *args: int) -> int:
        """The node of an operation, after all simplifications."""
        ops = self.op
        for a in args:
            if ops[a] not in _CONSTANT:
                break
        else:
            evaluate = OPS[op].evaluate
            if evaluate:
                result = evaluate(*[self.value[a] if ops[a] == "const" else ops[a] == "true" for a in args])
                return self.truth(result) if OPS[op].boolean else self.const(result)
        rule = _RULES.get(op)
        if rule:
            simpler = rule(self, *args)
            if simpler is not None:
                return simpler
        if op in COMMUTATIVE and args[0] > args[1]:
            args = args[::-1]
        return self.intern(op, args)

    def dense(self, kind: str, sizes: tuple[int, ...], operands: tuple[int, ...]) -> int:
        """The node of an operation on whole matrices, see `dense_kinds`; its results are its entries."""
        return self.intern("dense", operands, (kind, sizes))

    def entry(self, dense: int, position: int) -> int:
        """A number that an operation on matrices gives."""
        return self.intern("entry", (dense,), position)

    def again(self, node: int, args: tuple[int, ...]) -> int:
        """What a node does, done to other arguments."""
        op = self.op[node]
        return (
            self.intern(op, args, self.value[node])
            if op in ("dense", "entry", "custom_derivative")
            else self.apply(op, *args)
        )

    def number(self, node: int) -> float | None:
        """The number of a constant; None for other nodes."""
        return self.value[node] if self.op[node] == "const" else None

    def negated(self, node: int) -> int | None:
        """x, when the node is -x."""
        return self.args[node][0] if self.op[node] == "neg" else None

    def operands(self, node: int) -> tuple[int, ...]:
        """The arguments that its value is computed from, without those of a rule of differentiation."""
        return self.args[node][:1] if self.op[node] == "custom_derivative" else self.args[node]

    # ---- what is in it -----------------------------------------------------------------------------------------------

    def live(self, outputs: list[int], *, through: str = "value", ends: Collection[int] = ()) -> list[int]:
        """The nodes that the outputs need, each after those it needs; see `regions.live`."""
        return loop_nodes.live(self, outputs, through=through, ends=ends)

    def owners(self) -> list[int]:
        """For each node the innermost loop whose values it depends on, or -1; not to be changed."""
        now = len(self.op), [None if loop is None else loop.parent for loop in self.loops]
        if self.owned[0] != now:
            self.owned = now, loop_nodes.owners(self)
        return self.owned[1]

    def leaks(self, outputs: list[int]) -> bool:
        """Whether a value of a loop's body is used where the loop is over; loops that are still open are not."""
        return loop_nodes.leaks(self, outputs)

    def loop_at(self, number: int) -> Loop:
        loop = self.loops[number]
        assert loop is not None
        return loop

    def count(self, nodes: list[int]) -> Counter[str]:
        """How often each operation occurs, within those on matrices too."""
        counts = Counter(self.op[k] for k in nodes if OPS[self.op[k]].arity)
        for k in nodes:
            if self.op[k] == "dense":
                counts.update(kinds.operations(*self.value[k]))
        return counts

    def work(self, nodes: list[int]) -> int:
        """How long the operations take together, in additions; what is in a loop runs in every round."""
        owners = self.owners()
        runs = {-1: 1}
        for number, loop in enumerate(self.loops):
            runs[number] = 0 if loop is None else loop.iterations * runs[loop.parent]
        total = 0
        for k in nodes:
            if self.op[k] == "dense":
                inside = kinds.operations(*self.value[k])
                total += sum(COSTS.get(op, 1) * n for op, n in inside.items()) * runs[owners[k]]
            elif OPS[self.op[k]].arity:
                total += COSTS.get(self.op[k], 1) * runs[owners[k]]
        return total


def flops(counts: Counter[str]) -> int:
    """Additions, subtractions, multiplications and divisions; a fused multiply-add is two."""
    return sum(FLOPS.get(op, 0) * n for op, n in counts.items())


# ---- simplifications: each gives a simpler node, or None -------------------------------------------------------------


def _add(g: Graph, a: int, b: int) -> int | None:
    if g.number(a) == 0:
        return b
    if g.number(b) == 0:
        return a
    minus_a, minus_b = g.negated(a), g.negated(b)
    if minus_b is not None:
        return g.apply("sub", a, minus_b)
    return g.apply("sub", b, minus_a) if minus_a is not None else None


def _sub(g: Graph, a: int, b: int) -> int | None:
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


def _mul(g: Graph, a: int, b: int) -> int | None:
    if g.number(b) is not None:
        a, b = b, a
    c = g.number(a)
    if c is not None:
        if c == 0:
            return g.const(0.0)
        if c == 1:
            return b
        if c < 0:  # negations meet and vanish; constants of one size are shared
            return g.apply("neg", g.apply("mul", g.const(-c), b))
        for factor, other in (g.args[b], g.args[b][::-1]) if g.op[b] == "mul" else ():
            product = c * (g.number(factor) or math.inf)
            if 1e-300 < product < 1e300:  # else x might save what the product of the constants loses
                return g.apply("mul", g.const(product), other)
    minus_a, minus_b = g.negated(a), g.negated(b)
    if minus_a is not None and minus_b is not None:
        return g.apply("mul", minus_a, minus_b)
    if minus_a is not None:
        return g.apply("neg", g.apply("mul", minus_a, b))
    return g.apply("neg", g.apply("mul", a, minus_b)) if minus_b is not None else None


def _div(g: Graph, a: int, b: int) -> int | None:
    c = g.number(b)
    if c and math.isfinite(1 / c) and abs(1 / c) > 1e-300:
        return g.apply("mul", a, g.const(1 / c))
    if g.number(a) == 0:
        return g.const(0.0)
    minus_a, minus_b = g.negated(a), g.negated(b)
    if minus_b is not None:
        return g.apply("neg", g.apply("div", a, minus_b))
    return g.apply("neg", g.apply("div", minus_a, b)) if minus_a is not None else None


def _neg(g: Graph, a: int) -> int | None:
    if g.op[a] == "neg":
        return g.args[a][0]
    return g.apply("sub", *g.args[a][::-1]) if g.op[a] == "sub" else None


def _odd(op: str) -> Any:
    def rule(g: Graph, a: int) -> int | None:
        minus = g.negated(a)
        return None if minus is None else g.apply("neg", g.apply(op, minus))

    return rule


def _even(op: str) -> Any:
    def rule(g: Graph, a: int) -> int | None:
        minus = g.negated(a)
        if minus is not None:
            return g.apply(op, minus)
        return a if op == "abs" and g.op[a] in ("abs", "sqrt") else None

    return rule


def _pow(g: Graph, a: int, b: int) -> int | None:
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


def _select(g: Graph, p: int, a: int, b: int) -> int | None:
    if a == b or g.op[p] == "true":
        return a
    if g.op[p] == "false":
        return b
    return g.apply("select", g.args[p][0], b, a) if g.op[p] == "not" else None


def _same(g: Graph, a: int, b: int) -> int | None:
    del g
    return a if a == b else None


def _and(g: Graph, a: int, b: int) -> int | None:
    if "false" in (g.op[a], g.op[b]):
        return g.truth(False)
    if g.op[a] == "true" or a == b:
        return b
    return a if g.op[b] == "true" else None


def _or(g: Graph, a: int, b: int) -> int | None:
    if "true" in (g.op[a], g.op[b]):
        return g.truth(True)
    if g.op[a] == "false" or a == b:
        return b
    return a if g.op[b] == "false" else None


def _not(g: Graph, a: int) -> int | None:
    return g.args[a][0] if g.op[a] == "not" else None


_RULES: dict[str, Any] = {
    "add": _add,
    "sub": _sub,
    "mul": _mul,
    "div": _div,
    "neg": _neg,
    "sin": _odd("sin"),
    "tan": _odd("tan"),
    "asin": _odd("asin"),
    "tanh": _odd("tanh"),
    "sinh": _odd("sinh"),
    "cosh": _even("cosh"),
    "rint": _odd("rint"),
    "cos": _even("cos"),
    "abs": _even("abs"),
    "pow": _pow,
    "select": _select,
    "min": _same,
    "max": _same,
    "and": _and,
    "or": _or,
    "not": _not,
}
