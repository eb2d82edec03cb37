"""What is done to a finished graph before code is made of it: dead nodes go, products melt into sums, sin meets cos."""

import math
from collections import Counter
from typing import NamedTuple

from multibody.tracing.graph.graph import Graph
from multibody.tracing.graph.loop_nodes import AFTER, INSIDE, output_positions


class Block(NamedTuple):
    """Straight-line code: node k applies op[k] to args[k]; leaves first come where they are first needed."""

    graph: Graph
    order: list[int]
    """The live nodes, every one after its arguments."""
    outputs: list[int]


def prepare(graph: Graph, outputs: list[int]) -> Block:
    """The live part of the graph, with fused multiply-adds, in the order in which it is to run."""
    graph, outputs = fuse_products(graph, outputs)
    return Block(graph, pair_sines(graph, graph.live(outputs)), outputs)


def fuse_products(graph: Graph, outputs: list[int]) -> tuple[Graph, list[int]]:
    """A new graph in which a product that one sum alone uses is part of that sum.

    Differences in which one side is a square are left alone: where a = b, sqrt(a² - b²) is 0, and with one of the two
    squares not rounded it would be NaN half of the time.
    The same sum is fused in the same way in every kernel of this graph, so results do not depend on how they are run.
    """
    order = graph.live(outputs)
    uses: Counter[int] = Counter(a for k in order for a in graph.operands(k))
    uses.update(outputs)
    loops = _Loops(graph, order) if graph.loops else None
    if loops:
        uses.update(loops.uses())
    fused = Graph(graph.dtype)
    new: dict[int, int] = {}

    def lone_product(k: int) -> bool:
        return graph.op[k] == "mul" and uses[k] == 1

    def is_square(k: int) -> bool:
        return graph.op[k] == "mul" and graph.args[k][0] == graph.args[k][1]

    for k in order:
        op, args = graph.op[k], graph.args[k]
        if op == "add" or (op == "sub" and not any(map(is_square, args))):
            a, b = args
            if lone_product(b):  # the younger one: its factors are still at hand
                x, y = (new[f] for f in graph.args[b])
                new[k] = fused.intern("fma" if op == "add" else "fnma", (x, y, new[a]))
                continue
            if lone_product(a):
                x, y = (new[f] for f in graph.args[a])
                new[k] = fused.intern("fma" if op == "add" else "fms", (x, y, new[b]))
                continue
        if op == "const":
            new[k] = fused.const(graph.value[k])
        elif op == "custom_derivative":
            new[k] = new[args[0]]
        elif loops and (op in INSIDE or op in AFTER):
            new[k] = fused.leaf(op, *loops.place(k))
        else:
            new[k] = fused.intern(op, tuple(new[a] for a in args), graph.value.get(k))
    if loops:
        loops.renew(fused, new)
        hold_the_done(fused, loops.shown)
    return fused, [new[k] for k in outputs]


class _Loops:
    """The loops of a graph with what is live of them."""

    def __init__(self, graph: Graph, order: list[int]) -> None:
        self.graph = graph
        needed = set(order)
        self.numbers = sorted({graph.value[k][0] for k in order if graph.op[k] in AFTER})
        self.positions = {n: graph.loop_at(n).positions(needed) for n in self.numbers}
        self.rows = {n: [p for p, k in enumerate(graph.loop_at(n).inputs) if k in needed] for n in self.numbers}
        self.kept = output_positions(graph, order)
        self.shown = {
            (n, self.kept[n].index(p))
            for n, p in {graph.value[k][:2] for k in order if graph.op[k] == "stacked_output"}
        }
        """(loop, position) of what is kept and used after the loop, not by other loops alone."""

    def uses(self) -> list[int]:
        """The nodes that loops use."""
        nodes: list[int] = []
        for n in self.numbers:
            loop = self.graph.loop_at(n)
            nodes += [part[p] for part in (loop.initial, loop.final) for p in self.positions[n]]
            nodes += [k for p in self.rows[n] for k in loop.xs[p].nodes]
            nodes += [loop.outputs[p] for p in self.kept.get(n, ())]
            nodes += [k for k in (loop.stop, loop.trip_count) if k >= 0]
        return nodes

    def place(self, k: int) -> tuple[int, ...]:
        """The loop of a leaf, and its position among what is live of it."""
        op, (number, *rest) = self.graph.op[k], self.graph.value[k]
        live = self.rows if op == "scan_input" else self.kept if op == "stacked_output" else self.positions
        return (number, live[number].index(rest[0]), *rest[1:]) if rest else (number,)

    def renew(self, fused: Graph, new: dict[int, int]) -> None:
        """Give the fused graph its loops."""
        fused.loops = [None] * len(self.graph.loops)
        for n in self.numbers:
            loop = self.graph.loop_at(n)
            tables = []
            for table in (loop.xs[p] for p in self.rows[n]):
                source = table.source
                if source is not None:
                    source = source[0], self.kept[source[0]].index(source[1])
                tables.append(table._replace(nodes=tuple(new[k] for k in table.nodes), source=source))
            initial, carried, final = (
                tuple(new[part[p]] for p in self.positions[n]) for part in (loop.initial, loop.carried, loop.final)
            )
            fused.loops[n] = loop._replace(
                initial=initial,
                carried=carried,
                final=final,
                stop=new[loop.stop] if loop.stop >= 0 else -1,
                inputs=tuple(new[loop.inputs[p]] for p in self.rows[n]),
                xs=tuple(tables),
                outputs=tuple(new[loop.outputs[p]] for p in self.kept.get(n, ())),
                trip_count=new[loop.trip_count] if loop.trip_count >= 0 else -1,
            )


def hold_the_done(graph: Graph, shown: set[tuple[int, int]]) -> None:
    """Let loops that stop hold what is done by selections; a sample that is done in a loop around is done."""
    done: dict[int, int] = {-1: -1}  # the truth value of each loop, or -1 where samples do not stop
    nan = graph.const(math.nan)
    for number, loop in enumerate(graph.loops):
        around = done.get(loop.parent, -1) if loop is not None else -1
        done[number] = around
        if loop is not None and loop.stop >= 0:
            # nothing is simplified here: what loops list, such as rows, must stay live
            stop = done[number] = loop.stop if around < 0 else graph.intern("or", (loop.stop, around))
            final = [
                f if f == k else graph.intern("select", (stop, k, f))
                for k, f in zip(loop.carried, loop.final, strict=True)
            ]
            kept = [
                graph.intern("select", (stop, nan, k)) if (number, p) in shown else k
                for p, k in enumerate(loop.outputs)
            ]
            graph.loops[number] = loop._replace(final=tuple(final), stop=stop, outputs=tuple(kept))


def pair_sines(graph: Graph, order: list[int]) -> list[int]:
    """The order in which the sine and the cosine of one angle stand side by side, to be computed together."""
    waiting: dict[tuple[str, int], int] = {}
    for k in order:
        if graph.op[k] in ("sin", "cos"):
            waiting[graph.op[k], graph.args[k][0]] = k
    paired: list[int] = []
    done: set[int] = set()
    for k in order:
        if k in done:
            continue
        paired.append(k)
        op = graph.op[k]
        if op in ("sin", "cos"):
            other = waiting.get(("cos" if op == "sin" else "sin", graph.args[k][0]))
            if other is not None:
                paired.append(other)
                done.add(other)
    return paired
