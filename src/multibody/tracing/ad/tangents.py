"""What both modes of differentiation share: rows of changes or weights, and loops that grow."""

from collections.abc import Sequence

from multibody.tracing.ad.partials import plus
from multibody.tracing.graph.graph import Graph
from multibody.tracing.graph.loop_nodes import Loop, ScanInput

Row = dict[int, int]
"""The nodes of the entries that are not zero for all values."""


def accumulate(graph: Graph, row: Row, part: Row) -> None:
    """Add one row to another."""
    for i, node in part.items():
        row[i] = plus(graph, row[i], node) if i in row else node


def without_zeros(graph: Graph, row: Row) -> Row:
    """A row without entries that are zero for all values."""
    return {i: node for i, node in row.items() if graph.number(node) != 0}


def bits(row: Row) -> int:
    """The indices of a row, as bits."""
    mask = 0
    for i in row:
        mask |= 1 << i
    return mask


def places_of(mask: int) -> list[int]:
    """The places of the bits of a mask."""
    return [i for i in range(mask.bit_length()) if mask >> i & 1]


def stand_ins_of(graph: Graph, nodes: Sequence[int]) -> dict[int, int]:
    """Constants that stand for the values of rules, where a rule has such, and these values."""
    values: dict[int, int] = {}
    for k in nodes:
        rule = graph.custom_derivatives[graph.value[k][0]] if graph.op[k] == "custom_derivative" else None
        if rule is not None and graph.args[k][0] not in values:
            values.update(rule.stand_ins(graph, graph.value[k][0], graph.args[k][1:]))
    return values | {k: k for k in values.values()}


class Growth:
    """A loop of a graph that grows: further carried values, rows and kept ones."""

    def __init__(self, graph: Graph, number: int, loop: Loop) -> None:
        self.graph, self.number, self.loop = graph, number, loop
        self.initial, self.carried, self.final = list(loop.initial), list(loop.carried), list(loop.final)
        self.rows, self.tables, self.kept = list(loop.inputs), list(loop.xs), list(loop.outputs)
        places = (graph.value[k] for k, op in enumerate(graph.op) if op == "stacked_output")
        self.shown = {place[1] for place in places if place[0] == number}

    def carry(self, initial: int) -> int:
        """The position of a further carried value, which stays as it is until its final node is known."""
        leaf = self.graph.leaf("carry", self.number, len(self.carried))
        self.initial.append(initial)
        self.carried.append(leaf)
        self.final.append(leaf)
        return len(self.carried) - 1

    def row(self, table: ScanInput) -> int:
        """The leaf of a further row."""
        leaf = self.graph.leaf("scan_input", self.number, len(self.rows))
        self.rows.append(leaf)
        self.tables.append(table)
        return leaf

    def keep(self, node: int, *, anew: bool = False) -> int:
        """The position at which a node is kept for other loops to read.

        Positions that are used after the loop are others: they have NaN where a sample is done. `anew` asks for a
        position of its own in any case.
        """
        for position, kept in enumerate(self.kept):
            if kept == node and position not in self.shown and not anew:
                return position
        self.kept.append(node)
        return len(self.kept) - 1

    def close(self) -> None:
        """Put the loop, as far as it is known, into the graph."""
        self.graph.loops[self.number] = self.loop._replace(
            initial=tuple(self.initial),
            carried=tuple(self.carried),
            final=tuple(self.final),
            inputs=tuple(self.rows),
            xs=tuple(self.tables),
            outputs=tuple(self.kept),
        )
