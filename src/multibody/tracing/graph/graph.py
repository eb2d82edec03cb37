"""A graph of scalar operations: flat lists of hash-consed nodes in the order of creation.

Node k applies `op[k]` to the nodes `args[k]`; `value[k]` is the number of a constant or the position of an input. Equal
operations on equal nodes are one node (common subexpressions). Constants are folded, and `simplify` applies algebraic
rules, while the graph grows.
"""

import struct
from collections import Counter
from collections.abc import Collection
from typing import Any

import numpy as np

from multibody.tracing.graph import loop_nodes
from multibody.tracing.graph.loop_nodes import Loop
from multibody.tracing.graph.ops import COMMUTATIVE, COSTS, FLOPS, OPS
from multibody.tracing.graph.simplify import RULES
from multibody.tracing.matrices import kinds

FLOAT64 = np.dtype(np.float64)
_CONSTANT = frozenset(("const", "true", "false"))
_ARITHMETIC = frozenset(("add", "sub", "mul", "div"))
_REWRITABLE = frozenset(("const", "neg"))
"""Arguments to which a rule of arithmetic may apply."""
_bits = struct.Struct("d").pack


class Graph:
    """One per trace; nothing is shared between graphs."""

    __slots__ = ("args", "dtype", "custom_derivatives", "known", "loops", "op", "open_loops", "owned", "value")

    def __init__(self, dtype: np.dtype[Any] = FLOAT64) -> None:
        self.dtype = dtype
        self.loops: list[Loop | None] = []
        self.open_loops: list[int] = []
        self.owned: tuple[Any, list[int]] = (None, [])
        """The cached result of `owners`, after the state that it was computed for."""
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
        """A number; 0.0 and -0.0 differ."""
        return self.intern("const", (), _bits(number), float(number))

    def truth(self, value: bool) -> int:
        """A boolean constant."""
        return self.intern("true" if value else "false", ())

    def intern(self, op: str, args: tuple[int, ...], extra: Any = None, value: Any = None) -> int:
        """The node with this key, without simplification; `value` is stored in place of `extra` if given."""
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
        """The simplified node of an operation."""
        ops = self.op
        if op in _ARITHMETIC:  # most operations, and no rule applies to most of these
            a, b = args
            if a != b and ops[a] not in _REWRITABLE and ops[b] not in _REWRITABLE:
                return self.intern(op, (b, a) if a > b and op in COMMUTATIVE else args)
        for a in args:
            if ops[a] not in _CONSTANT:
                break
        else:
            evaluate = OPS[op].evaluate
            if evaluate:
                result = evaluate(*[self.value[a] if ops[a] == "const" else ops[a] == "true" for a in args])
                return self.truth(result) if OPS[op].boolean else self.const(result)
        rule = RULES.get(op)
        if rule:
            simpler = rule(self, *args)
            if simpler is not None:
                return simpler
        if op in COMMUTATIVE and args[0] > args[1]:
            args = args[::-1]
        return self.intern(op, args)

    def dense(self, kind: str, sizes: tuple[int, ...], operands: tuple[int, ...]) -> int:
        """The node of an operation on whole matrices (`matrices.kinds`); nodes "entry" read its results."""
        return self.intern("dense", operands, (kind, sizes))

    def entry(self, dense: int, position: int) -> int:
        """One result of an operation on matrices."""
        return self.intern("entry", (dense,), position)

    def with_args(self, node: int, args: tuple[int, ...]) -> int:
        """The operation of a node on other arguments."""
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
        """x, if the node is -x."""
        return self.args[node][0] if self.op[node] == "neg" else None

    def operands(self, node: int) -> tuple[int, ...]:
        """The arguments that the value is computed from, without the inputs of a custom derivative."""
        return self.args[node][:1] if self.op[node] == "custom_derivative" else self.args[node]

    # ---- queries -----------------------------------------------------------------------------------------------------

    def live(self, outputs: list[int], *, through: str = "value", ends: Collection[int] = ()) -> list[int]:
        """The nodes that the outputs need, in an order of execution; see `loop_nodes.live`."""
        return loop_nodes.live(self, outputs, through=through, ends=ends)

    def owners(self) -> list[int]:
        """For each node the innermost loop whose values it depends on, or -1; read-only."""
        now = len(self.op), [None if loop is None else loop.parent for loop in self.loops]
        if self.owned[0] != now:
            self.owned = now, loop_nodes.owners(self)
        return self.owned[1]

    def leaks(self, outputs: list[int]) -> bool:
        """Whether a value of a loop's body is used where the loop is over; loops that are still open are not."""
        return loop_nodes.leaks(self, outputs)

    def loop_at(self, number: int) -> Loop:
        """The loop with that number."""
        loop = self.loops[number]
        assert loop is not None
        return loop

    def count(self, nodes: list[int]) -> Counter[str]:
        """The number of scalar operations of each kind, including those within matrix operations."""
        counts = Counter(self.op[k] for k in nodes if OPS[self.op[k]].arity)
        for k in nodes:
            if self.op[k] == "dense":
                counts.update(kinds.operations(*self.value[k]))
        return counts

    def work(self, nodes: list[int]) -> int:
        """The estimated cost of nodes, in additions; a loop counts with its upper bound of iterations."""
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
