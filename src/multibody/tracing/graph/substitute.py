"""Substitution: nodes with replacements for some of those that they depend on, loops included."""

from collections.abc import Collection, Sequence

from multibody.tracing.graph.graph import Graph
from multibody.tracing.graph.loop_nodes import AFTER, Loop


def levels_of(graph: Graph, order: Sequence[int], ends: Collection[int] = ()) -> dict[int, list[int]]:
    """The nodes of an order by the innermost loop that is run for them, or -1; loops in `ends` are not run."""
    if not graph.loops:
        return {-1: list(order)}
    present = {graph.value[k][0] for k in order if graph.op[k] in AFTER and k not in ends}
    owners = graph.owners()
    levels: dict[int, list[int]] = {-1: []}
    for k in order:
        owner = owners[k]
        while owner >= 0 and owner not in present:
            owner = graph.loop_at(owner).parent
        levels.setdefault(owner, []).append(k)
    return levels


def substitute(
    graph: Graph, roots: Sequence[int], new: dict[int, int], parents: dict[int, int] | None = None
) -> list[int]:
    """The roots with replacements for some nodes.

    Args:
        graph: the graph of the nodes, which grows.
        roots: the requested nodes.
        new: the replacements; those of all dependent nodes are added to it.
        parents: new enclosing loops of moved bodies, by the old ones.
    """
    _Substitution(graph, roots, new, parents or {})
    return [new[k] for k in roots]


class _Substitution:
    def __init__(self, graph: Graph, roots: Sequence[int], new: dict[int, int], parents: dict[int, int]) -> None:
        self.graph, self.new, self.parents = graph, new, parents
        ends = set(new)
        order = graph.live(list(roots), through="both", ends=ends)
        self.live = set(order)
        self.levels = levels_of(graph, order, ends)
        self.loops: dict[int, int] = {}
        self.run(-1)

    def run(self, level: int) -> None:
        graph, new = self.graph, self.new
        for k in self.levels.get(level, ()):
            if k in new:
                continue
            op, args = graph.op[k], graph.args[k]
            if op in AFTER:
                number, *place = graph.value[k]
                if number not in self.loops:
                    self.loops[number] = self.copy(number)
                new[k] = graph.leaf(op, self.loops[number], *place)
                continue
            replaced = tuple(new[a] for a in args)
            if replaced == args:
                new[k] = k
            else:
                new[k] = graph.with_args(k, replaced)

    def copy(self, number: int) -> int:
        """The number of the loop with replacements; its own number if nothing is replaced."""
        graph, new = self.graph, self.new
        loop = graph.loop_at(number)
        nested = self.nested(number)
        within = {k for n in nested for k in self.levels.get(n, ())}
        outside = ({a for k in within for a in graph.args[k]} | self.uses(nested)) - within
        sources = {table.source[0] for n in nested for table in graph.loop_at(n).xs if table.source}
        if (
            loop.parent not in self.parents
            and all(new.get(a, a) == a for a in outside)
            and all(self.loops.get(n, n) == n for n in sources)
        ):
            new.update((k, k) for k in within)
            return number
        copy = len(graph.loops)
        parent = self.parents.get(loop.parent, loop.parent)
        self.parents[number] = copy
        carried = tuple(graph.leaf("carry", copy, p) for p in range(len(loop.carried)))
        rows = tuple(graph.leaf("scan_input", copy, p) for p in range(len(loop.inputs)))
        graph.loops.append(Loop(-1, (), carried, (), parent))
        new.update(zip(loop.carried, carried, strict=True))
        new.update(zip(loop.inputs, rows, strict=True))
        self.run(number)
        zero = graph.const(0.0)  # in place of dead nodes
        tables = []
        for table in loop.xs:
            source = table.source and (self.loops.get(table.source[0], table.source[0]), table.source[1])
            tables.append(table._replace(nodes=tuple(new.get(k, zero) for k in table.nodes), source=source))
        initial, final, kept = (
            tuple(new.get(k, zero) for k in part) for part in (loop.initial, loop.final, loop.outputs)
        )
        graph.loops[copy] = loop._replace(
            initial=initial,
            carried=carried,
            final=final,
            parent=parent,
            stop=new[loop.stop] if loop.stop >= 0 else -1,
            inputs=rows,
            xs=tuple(tables),
            outputs=kept,
            trip_count=new[loop.trip_count] if loop.trip_count >= 0 else -1,
        )
        return copy

    def nested(self, number: int) -> list[int]:
        """A loop and all loops within it that are run."""
        graph = self.graph
        inner = {graph.value[k][0] for k in self.levels.get(number, ()) if graph.op[k] in AFTER}
        return [number, *(m for n in sorted(inner) for m in self.nested(n))]

    def uses(self, numbers: list[int]) -> set[int]:
        """The live nodes that loops refer to."""
        used: set[int] = set()
        for loop in map(self.graph.loop_at, numbers):
            used.update(loop.references())
        return used & self.live
