"""Graph passes: dead-code elimination, multiply-add fusion, sin/cos pairing."""

from collections import Counter
from typing import NamedTuple

from multibody.compiler.ir.mask_finished_samples import mask_finished_samples
from multibody.tracing.graph.graph import Graph
from multibody.tracing.graph.loop_nodes import AFTER, INSIDE, output_positions


class Block(NamedTuple):
    """A scheduled graph: node k applies op[k] to args[k]."""

    graph: Graph
    order: list[int]
    """The live nodes, every one after its arguments."""
    outputs: list[int]


def prepare(graph: Graph, outputs: list[int]) -> Block:
    """The live nodes of the graph, with fused multiply-adds, in the order of execution."""
    graph, outputs = fuse_products(graph, outputs)
    return Block(graph, fuse_sincos(graph, graph.live(outputs)), outputs)


def fuse_products(graph: Graph, outputs: list[int]) -> tuple[Graph, list[int]]:
    """A new graph in which a product that only one sum uses is fused into that sum.

    Differences of which one side is a square are not fused: for a = b, sqrt(a² - b²) is 0, but it would often be NaN
    with only one of the two squares rounded.
    A sum is fused in the same way in every variant of a kernel, so results do not depend on the variant.
    """
    order = graph.live(outputs)
    uses: Counter[int] = Counter(a for k in order for a in graph.operands(k))
    uses.update(outputs)
    loops = _LiveLoops(graph, order) if graph.loops else None
    if loops:
        uses.update(loops.uses())
    fused = Graph(graph.dtype)
    new: dict[int, int] = {}

    def used_once(k: int) -> bool:
        return graph.op[k] == "mul" and uses[k] == 1

    def is_square(k: int) -> bool:
        return graph.op[k] == "mul" and graph.args[k][0] == graph.args[k][1]

    for k in order:
        op, args = graph.op[k], graph.args[k]
        if op == "add" or (op == "sub" and not any(map(is_square, args))):
            a, b = args
            if used_once(b):  # the later product: its factors are still in registers
                x, y = (new[f] for f in graph.args[b])
                new[k] = fused.intern("fma" if op == "add" else "fnma", (x, y, new[a]))
                continue
            if used_once(a):
                x, y = (new[f] for f in graph.args[a])
                new[k] = fused.intern("fma" if op == "add" else "fms", (x, y, new[b]))
                continue
        if op == "const":
            new[k] = fused.const(graph.value[k])
        elif op == "custom_derivative":
            new[k] = new[args[0]]
        elif loops and (op in INSIDE or op in AFTER):
            new[k] = fused.leaf(op, *loops.leaf(k))
        else:
            new[k] = fused.intern(op, tuple(new[a] for a in args), graph.value.get(k))
    if loops:
        loops.renew(fused, new)
        mask_finished_samples(fused, loops.observed)
    return fused, [new[k] for k in outputs]


class _LiveLoops:
    """The live loops of a graph, and their live carries, scan inputs and outputs."""

    def __init__(self, graph: Graph, order: list[int]) -> None:
        self.graph = graph
        needed = set(order)
        self.numbers = sorted({graph.value[k][0] for k in order if graph.op[k] in AFTER})
        self.positions = {n: graph.loop_at(n).positions(needed) for n in self.numbers}
        self.inputs = {n: [p for p, k in enumerate(graph.loop_at(n).inputs) if k in needed] for n in self.numbers}
        self.outputs = output_positions(graph, order)
        self.observed = {
            (n, self.outputs[n].index(p))
            for n, p in {graph.value[k][:2] for k in order if graph.op[k] == "stacked_output"}
        }
        """(loop, position) of stacked outputs that are used outside of loops."""

    def uses(self) -> list[int]:
        """The nodes that loops use."""
        nodes: list[int] = []
        for n in self.numbers:
            loop = self.graph.loop_at(n)
            nodes += [part[p] for part in (loop.initial, loop.final) for p in self.positions[n]]
            nodes += [k for p in self.inputs[n] for k in loop.xs[p].nodes]
            nodes += [loop.outputs[p] for p in self.outputs.get(n, ())]
            nodes += [k for k in (loop.stop, loop.trip_count) if k >= 0]
        return nodes

    def leaf(self, k: int) -> tuple[int, ...]:
        """The loop of a leaf, and its position among the live ones."""
        op, (number, *rest) = self.graph.op[k], self.graph.value[k]
        live = self.inputs if op == "scan_input" else self.outputs if op == "stacked_output" else self.positions
        return (number, live[number].index(rest[0]), *rest[1:]) if rest else (number,)

    def renew(self, fused: Graph, new: dict[int, int]) -> None:
        """Add the loops to the fused graph."""
        fused.loops = [None] * len(self.graph.loops)
        for n in self.numbers:
            loop = self.graph.loop_at(n)
            tables = []
            for table in (loop.xs[p] for p in self.inputs[n]):
                source = table.source
                if source is not None:
                    source = source[0], self.outputs[source[0]].index(source[1])
                tables.append(table._replace(nodes=tuple(new[k] for k in table.nodes), source=source))
            initial, carried, final = (
                tuple(new[part[p]] for p in self.positions[n]) for part in (loop.initial, loop.carried, loop.final)
            )
            fused.loops[n] = loop._replace(
                initial=initial,
                carried=carried,
                final=final,
                stop=new[loop.stop] if loop.stop >= 0 else -1,
                inputs=tuple(new[loop.inputs[p]] for p in self.inputs[n]),
                xs=tuple(tables),
                outputs=tuple(new[loop.outputs[p]] for p in self.outputs.get(n, ())),
                trip_count=new[loop.trip_count] if loop.trip_count >= 0 else -1,
            )


def fuse_sincos(graph: Graph, order: list[int]) -> list[int]:
    """The order in which sine and cosine of an angle are adjacent, to be computed with one call."""
    pairs: dict[int, list[int]] = {}
    for k in order:
        if graph.op[k] in ("sin", "cos"):
            pairs.setdefault(graph.args[k][0], []).append(k)
    first = {both[0]: both for both in pairs.values()}
    later = {k for both in pairs.values() for k in both[1:]}
    return [j for k in order if k not in later for j in first.get(k, [k])]
