"""Forward mode: changes that follow from those of some leaves, in one sweep over a graph to which nodes are added.

A loop carries the changes of what it carries, and is extended in place.
"""

from collections.abc import Sequence

from multibody.tracing.ad.dependence import spread
from multibody.tracing.ad.partials import CHOICES, PARTIALS, flows, times
from multibody.tracing.ad.tangents import Growth, Row, accumulate, bits, places_of, stand_ins_of, without_zeros
from multibody.tracing.graph.graph import Graph
from multibody.tracing.graph.loop_nodes import AFTER, ScanInput, output_positions
from multibody.tracing.graph.substitute import levels_of, substitute
from multibody.tracing.matrices import matrix_derivatives


def forward(graph: Graph, roots: Sequence[int], seeds: dict[int, Row]) -> list[Row]:
    """The changes of the roots that follow from those of some leaves, in one sweep from the leaves."""
    changes = _Forward(graph, roots, seeds).changes
    return [changes.get(root, {}) for root in roots]


class _Forward:
    def __init__(self, graph: Graph, roots: Sequence[int], seeds: dict[int, Row]) -> None:
        self.graph = graph
        self.order = graph.live(list(roots), through="derivative", ends=seeds.keys())
        self.needed = set(self.order)
        self.levels = levels_of(graph, self.order, seeds.keys())
        self.stored = output_positions(graph, self.order)
        self.kept: dict[tuple[int, int], dict[int, int]] = {}  # (loop, position) -> positions of its changes
        self.masks = spread(graph, self.order, {k: bits(row) for k, row in seeds.items()}) if graph.loops else {}
        self.changes = dict(seeds)
        self.dense: dict[int, list[Row]] = {}  # operation on matrices -> the changes of all its results
        self.seeds = seeds
        self.run(-1)

    def run(self, level: int) -> None:
        graph, changes = self.graph, self.changes
        zero = graph.const(0.0)
        finished: set[int] = set()
        for k in self.levels.get(level, ()):
            op, args = graph.op[k], graph.args[k]
            if k in self.seeds:
                continue
            if op in AFTER:
                number = graph.value[k][0]
                if number not in finished:
                    finished.add(number)
                    self.loop(number)
                continue
            if not any(a in changes for a in flows(graph, k)):
                continue
            row: Row = {}
            if op in CHOICES:
                p, *sides = CHOICES[op](graph, args)
                a, b = (changes.get(side, {}) for side in sides)
                row = {i: graph.apply("select", p, a.get(i, zero), b.get(i, zero)) for i in {**a, **b}}
            elif op == "custom_derivative":
                number, position = graph.value[k]
                rows = [changes.get(a, {}) for a in args[1:]]
                row = self.settled(k, graph.custom_derivatives[number].push(graph, list(args[1:]), rows)[position])
            elif op == "dense":
                self.dense[k] = matrix_derivatives.push(graph, k, changes)
            elif op == "entry":
                row = self.dense[args[0]][graph.value[k]]
            else:
                for a, partial in zip(args, PARTIALS[op], strict=True):
                    if partial and a in changes:
                        slope = partial(graph, args, k)
                        accumulate(graph, row, {i: times(graph, slope, t) for i, t in changes[a].items()})
            changes[k] = without_zeros(graph, row)

    def settled(self, node: int, row: Row) -> Row:
        """Changes in which constants that stand for a value of a rule are that value, to be differentiated again."""
        inputs = self.graph.args[node][1:]
        values = stand_ins_of(self.graph, [k for k in self.order if self.graph.args[k][1:] == inputs])
        return dict(zip(row, substitute(self.graph, list(row.values()), values), strict=True)) if values else row

    def loop(self, number: int) -> None:
        """Extend a loop by the changes of what it carries, reads and keeps."""
        graph, changes = self.graph, self.changes
        loop = graph.loop_at(number)
        zero = graph.const(0.0)
        new = Growth(graph, number, loop)
        carried: dict[tuple[int, int], int] = {}
        for p in loop.positions(self.needed):
            indices = places_of(self.masks.get(loop.carried[p], 0))
            first = changes.get(loop.initial[p], {})
            for i in indices:
                carried[p, i] = new.carry(first.get(i, zero))
            if indices:
                changes[loop.carried[p]] = {i: new.carried[carried[p, i]] for i in indices}
        for row, table in zip(loop.inputs, loop.xs, strict=True):
            if row in self.needed and self.masks.get(row):
                changes[row] = self.table(new, table, places_of(self.masks[row]))
        kept = {p: places_of(self.masks.get(loop.outputs[p], 0)) for p in self.stored.get(number, ())}
        if not carried and not any(kept.values()):
            return
        new.close()
        self.run(number)
        for (p, i), q in carried.items():
            new.final[q] = changes.get(loop.final[p], {}).get(i, zero)
        for p, indices in kept.items():
            row = changes.get(loop.outputs[p], {})
            self.kept[number, p] = {i: new.keep(row[i], anew=True) for i in indices if i in row}
        new.close()
        for k in self.order:
            if graph.op[k] in AFTER and graph.value[k][0] == number:
                _, *place = graph.value[k]
                if graph.op[k] == "result":
                    at = place[0]
                    indices = places_of(self.masks.get(loop.carried[at], 0))
                    changes[k] = {i: graph.leaf("result", number, carried[at, i]) for i in indices}
                elif graph.op[k] == "stacked_output":
                    more = self.kept.get((number, place[0]), {})
                    changes[k] = {i: graph.leaf("stacked_output", number, q, place[1]) for i, q in more.items()}
                if not changes.get(k, True):
                    del changes[k]

    def table(self, new: "Growth", table: ScanInput, indices: list[int]) -> Row:
        """The changes of a row, read from a table of its own."""
        zero = self.graph.const(0.0)
        if table.source is None:
            columns = {i: tuple(self.changes.get(k, {}).get(i, zero) for k in table.nodes) for i in indices}
            return {i: new.row(table._replace(nodes=column)) for i, column in columns.items()}
        more = self.kept.get(table.source, {})
        return {i: new.row(table._replace(source=(table.source[0], more[i]))) for i in indices if i in more}
