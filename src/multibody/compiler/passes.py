"""What is done to a finished graph before code is made of it: dead nodes go, products melt into sums, sin meets cos."""

from collections import Counter
from typing import NamedTuple

from multibody.tracing.graph import Graph, Loop


class Block(NamedTuple):
    """Straight-line code: node k applies op[k] to args[k]; leaves first come where they are first needed."""

    graph: Graph
    order: list[int]
    """The live nodes, every one after its arguments."""
    outputs: list[int]


def prepare(graph: Graph, outputs: list[int], *, fuse: bool = True) -> Block:
    """The live part of the graph, with fused multiply-adds, in the order in which it is to run."""
    if fuse:
        graph, outputs = fuse_products(graph, outputs)
    return Block(graph, pair_sines(graph, graph.live(outputs)), outputs)


def fuse_products(graph: Graph, outputs: list[int]) -> tuple[Graph, list[int]]:
    """A new graph in which a product that one sum alone uses is part of that sum.

    The same sum is fused in the same way in every kernel of this graph, so results do not depend on how they are run.
    """
    order = graph.live(outputs)
    uses: Counter[int] = Counter(a for k in order for a in graph.args[k])
    uses.update(outputs)
    loops = {graph.value[k][0] for k in order if graph.op[k] == "result"}
    for number in loops:
        uses.update(graph._loop(number).initial + graph._loop(number).final)
    fused = Graph(graph.dtype)
    new: dict[int, int] = {}

    def lone_product(k: int) -> bool:
        return graph.op[k] == "mul" and uses[k] == 1

    for k in order:
        op, args = graph.op[k], graph.args[k]
        if op in ("add", "sub"):
            a, b = args
            if lone_product(b):  # the younger one: its factors are still at hand
                x, y = (new[f] for f in graph.args[b])
                new[k] = fused._intern("fma" if op == "add" else "fnma", (x, y, new[a]))
                continue
            if lone_product(a):
                x, y = (new[f] for f in graph.args[a])
                new[k] = fused._intern("fma" if op == "add" else "fms", (x, y, new[b]))
                continue
        if op == "const":
            new[k] = fused.const(graph.value[k])
        else:
            new[k] = fused._intern(op, tuple(new[a] for a in args), graph.value.get(k))
    for number, loop in enumerate(graph.loops):
        kept = None
        if number in loops and loop is not None:
            initial, carried, final = (tuple(new[k] for k in part) for part in loop[1:4])
            kept = Loop(loop.rounds, initial, carried, final, loop.parent)
        fused.loops.append(kept)
    return fused, [new[k] for k in outputs]


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
