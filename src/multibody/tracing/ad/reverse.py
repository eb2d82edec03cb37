"""Reverse mode: derivatives of weighted roots, in one sweep from these over a graph to which nodes are added.

After a loop, a second one runs from the last round to the first, over the carried values that the first one keeps, and
evaluates the body anew: it carries the weights of the carried values, and sums those of what the body takes from
outside.
"""

from collections.abc import Collection, Sequence
from typing import Any

from multibody.tracing.ad.checkpoints import is_long, nest
from multibody.tracing.ad.dependence import spread
from multibody.tracing.ad.partials import CHOICES, PARTIALS, guard, plus, times
from multibody.tracing.ad.tangents import Growth, Row, accumulate, bits, places_of, stand_ins_of, without_zeros
from multibody.tracing.graph.graph import Graph
from multibody.tracing.graph.loop_nodes import AFTER, Loop, ScanInput, body, output_positions
from multibody.tracing.graph.substitute import levels_of, substitute
from multibody.tracing.matrices import matrix_derivatives


def reverse(
    graph: Graph, roots: Sequence[int], seeds: Sequence[Row], wrt: Sequence[int], still: Collection[int] = ()
) -> list[Row]:
    """The derivatives, by the nodes wrt, of the roots weighted with the seeds, in one sweep from the roots.

    The nodes that are `still` count as constant, whatever they depend on.
    """
    sweep = _Reverse(graph, roots, seeds, wrt, still)
    rows = [without_zeros(graph, sweep.weights.get(node, {})) for node in wrt]
    values = stand_ins_of(graph, sweep.levels[-1])
    if values:
        nodes = iter(substitute(graph, [k for row in rows for k in row.values()], values))
        rows = [{i: next(nodes) for i in row} for row in rows]
    return rows


class _Reverse:
    def __init__(
        self, graph: Graph, roots: Sequence[int], seeds: Sequence[Row], wrt: Sequence[int], still: Collection[int]
    ) -> None:
        self.graph = graph
        self.ends = {*wrt, *still}
        self.order = graph.live(list(roots), through="derivative", ends=self.ends)
        self.needed = set(self.order)
        self.stored = output_positions(graph, self.order)
        self.levels = levels_of(graph, self.order, self.ends)
        masks = spread(graph, self.order, {**dict.fromkeys(still, 0), **dict.fromkeys(wrt, 1)})
        self.active = {k for k, mask in masks.items() if mask}
        self.weights: dict[int, Row] = {}
        self.rows: dict[
            tuple[int, int], list[tuple[int, int, int]]
        ] = {}  # kept values -> weights as (index, loop, position)
        self.dense: dict[int, dict[int, Row]] = {}  # operation on matrices -> the weights of its results
        first: dict[Any, int] = {}  # loop, or rule with its inputs -> its first node
        for k in self.levels[-1]:
            if graph.op[k] in AFTER or graph.op[k] == "custom_derivative":
                first.setdefault(self.group(k), k)
        for root, row in zip(roots, seeds, strict=True):
            self.add(root, row)
        for k in reversed(self.levels[-1]):
            op = graph.op[k]
            if k in self.ends:
                continue
            if op in AFTER or op == "custom_derivative":
                if first[self.group(k)] == k:
                    self.loop(graph.value[k][0]) if op in AFTER else self.rule(k)
            elif k in self.weights:
                self.node(k, without_zeros(graph, self.weights.pop(k)))

    def add(self, k: int, row: Row) -> None:
        if k in self.active:
            accumulate(self.graph, self.weights.setdefault(k, {}), row)

    def group(self, k: int) -> Any:
        op, place = self.graph.op[k], self.graph.value[k]
        return ("custom_derivative", place[0], self.graph.args[k][1:]) if op == "custom_derivative" else place[0]

    def node(self, k: int, row: Row) -> None:
        graph, op, args = self.graph, self.graph.op[k], self.graph.args[k]
        if op in CHOICES:
            p, a, b = CHOICES[op](graph, args)
            for side, condition in ((a, p), (b, graph.apply("not", p))):
                if side in self.active:
                    self.add(side, {i: guard(graph, condition, t) for i, t in row.items()})
            return
        if op == "entry":
            self.dense.setdefault(args[0], {})[graph.value[k]] = row
            self.weights.setdefault(args[0], {})  # it is reached
            return
        if op == "dense":
            for a, part in zip(args, matrix_derivatives.pull(graph, k, self.dense.pop(k)), strict=True):
                self.add(a, part)
            return
        for a, partial in zip(args, PARTIALS.get(op, ()), strict=False):
            if partial and a in self.active:
                slope = partial(graph, args, k)
                self.add(a, {i: times(graph, slope, t) for i, t in row.items()})

    def rule(self, first: int) -> None:
        """The weights of a rule's inputs, from those of all its results."""
        graph, group = self.graph, self.group(first)
        number, inputs = graph.value[first][0], list(graph.args[first][1:])
        rows: dict[int, Row] = {}
        for k in self.levels[-1]:
            if graph.op[k] == "custom_derivative" and self.group(k) == group:
                rows[graph.value[k][1]] = without_zeros(graph, self.weights.pop(k, {}))
        if any(rows.values()):
            for a, row in zip(inputs, graph.custom_derivatives[number].pull(graph, inputs, rows), strict=True):
                self.add(a, without_zeros(graph, row))

    # ---- loops ----------------------------------------------------------------------------------------------------

    def loop(self, number: int) -> None:
        """A loop in reverse after the one with that number."""
        graph = self.graph
        loop = graph.loop_at(number)
        results: dict[int, Row] = {}
        columns: dict[int, dict[int, dict[int, int]]] = {}  # kept position -> index -> round -> weight
        for k in self.levels[-1]:
            if graph.op[k] in AFTER and graph.value[k][0] == number and k in self.weights:
                _, *place = graph.value[k]
                row = without_zeros(graph, self.weights.pop(k))
                if graph.op[k] == "result":
                    results[place[0]] = row
                else:
                    for i, node in row.items():
                        columns.setdefault(place[0], {}).setdefault(i, {})[place[1]] = node
        sources = {p: self.rows.get((number, p), []) for p in self.stored.get(number, ())}
        if any(results.values()) or columns or any(sources.values()):
            if not self.stored.get(number) and is_long(graph, loop, len(loop.positions(self.needed))):
                nest(graph, number, self.needed, self.active)
            _ReverseLoop(self, number, graph.loop_at(number), results, columns, sources).build()


class _ReverseLoop:
    """The loop that goes back over the rounds of another."""

    def __init__(
        self,
        sweep: _Reverse,
        number: int,
        loop: Loop,
        results: dict[int, Row],
        columns: dict[int, dict[int, dict[int, int]]],
        sources: dict[int, list[tuple[int, int, int]]],
    ) -> None:
        self.sweep, self.graph, self.number, self.loop = sweep, sweep.graph, number, loop
        self.results, self.columns, self.sources = results, columns, sources
        self.at = loop.positions(sweep.needed)
        self.kept = [p for p in sweep.stored.get(number, ()) if columns.get(p) or sources.get(p)]

    def build(self) -> None:
        graph, loop, sweep = self.graph, self.loop, self.sweep
        roots = [loop.final[p] for p in self.at] + [loop.outputs[p] for p in self.kept]
        asked = [*roots, *([loop.stop] if loop.stop >= 0 else [])]
        outside = body(graph, self.number, asked)[1]
        captured = sorted(outside & sweep.active)
        weights = self.pattern(roots, outside)
        number = len(graph.loops)
        graph.loops.append(Loop(-1, (), (), (), loop.parent))
        back = Growth(graph, number, Loop(loop.iterations, (), (), (), loop.parent, reverse=not loop.reverse))
        values = self.values(back)
        anew = substitute(graph, asked, values | {k: k for k in outside}, {self.number: number})
        stop = anew.pop() if loop.stop >= 0 else -1
        zero = graph.const(0.0)
        places = {
            (p, i): back.carry(self.results.get(p, {}).get(i, zero))
            for p, mask in weights.items()
            for i in places_of(mask)
        }
        seeds: list[Row] = [{i: back.carried[places[p, i]] for i in places_of(weights.get(p, 0))} for p in self.at] + [
            self.kept_row(back, p) for p in self.kept
        ]
        moved = [p for p in self.at if p in weights]
        tables = [j for j, k in enumerate(loop.inputs) if k in sweep.active and k in sweep.needed]
        wrt = [values[loop.carried[p]] for p in moved] + [values[loop.inputs[j]] for j in tables] + captured
        back.close()
        graph.loops[number] = graph.loop_at(number)._replace(
            iterations=-1
        )  # its values are leaves until it is complete
        rows = reverse(graph, anew, seeds, wrt, outside)

        def unless_done(before: int, node: int) -> int:
            return graph.apply("select", stop, before, node) if stop >= 0 else node

        for p, row in zip(moved, rows, strict=False):
            for i in places_of(weights[p]):
                q = places[p, i]
                back.final[q] = unless_done(back.carried[q], row.get(i, zero))
        for j, row in zip(tables, rows[len(moved) :], strict=False):
            self.return_rows(back, j, {i: back.keep(unless_done(zero, node)) for i, node in row.items()})
        sums: dict[tuple[int, int], int] = {}
        for a, row in zip(captured, rows[len(moved) + len(tables) :], strict=True):
            for i, node in row.items():
                q = sums[a, i] = back.carry(zero)
                back.final[q] = unless_done(back.carried[q], graph.apply("add", back.carried[q], node))
        back.loop = back.loop._replace(
            trip_count=graph.leaf("trip_count", self.number) if loop.stop >= 0 or loop.trip_count >= 0 else -1
        )
        back.close()
        for (p, i), q in places.items():
            sweep.add(loop.initial[p], {i: graph.leaf("result", number, q)})
        for (a, i), q in sums.items():
            sweep.add(a, {i: graph.leaf("result", number, q)})

    def pattern(self, roots: list[int], outside: set[int]) -> dict[int, int]:
        """For the carried values that weights can reach the indices of these weights."""
        graph, loop, active = self.graph, self.loop, self.sweep.active
        ends = {loop.carried[p]: 1 << p for p in self.at if loop.carried[p] in active}
        still = {*outside, *loop.carried, *loop.inputs}
        masks = spread(graph, graph.live(roots, through="derivative", ends=still), {**dict.fromkeys(still, 0), **ends})
        weights = {p: bits(self.results.get(p, {})) for p in self.at if loop.carried[p] in active}
        kept = {
            p: bits(dict.fromkeys([*self.columns.get(p, {}), *(i for i, *_ in self.sources.get(p, ()))], 0))
            for p in self.kept
        }
        changed = True
        while changed:
            changed = False
            flow = [(loop.final[q], weights.get(q, 0)) for q in self.at] + [
                (loop.outputs[p], m) for p, m in kept.items()
            ]
            for node, mask in flow:
                for p in places_of(masks.get(node, 0)):
                    if mask & ~weights[p]:
                        weights[p] |= mask
                        changed = True
        return {p: mask for p, mask in weights.items() if mask}

    def values(self, back: Growth) -> dict[int, int]:
        """The rows that have the carried values of a round, and what it reads, by the leaves they stand for."""
        graph, number = self.graph, self.number
        first = Growth(graph, number, self.loop)
        ran = graph.leaf("trip_count", number)
        values: dict[int, int] = {}
        for p in self.at:
            source = number, first.keep(self.loop.carried[p])
            values[self.loop.carried[p]] = back.row(ScanInput((ran,), source))
        first.close()
        for k, table in zip(self.loop.inputs, self.loop.xs, strict=True):
            if k in self.sweep.needed:
                values[k] = back.row(table)
        return values

    def kept_row(self, back: Growth, p: int) -> Row:
        """The weights of what is kept, in every round."""
        graph, rounds = self.graph, self.loop.iterations
        zero = graph.const(0.0)
        row: Row = {}
        for i, column in self.columns.get(p, {}).items():
            row[i] = back.row(ScanInput(tuple(column.get(k, zero) for k in range(rounds))))
        for i, source, position in self.sources.get(p, ()):
            leaf = back.row(ScanInput((graph.leaf("trip_count", source),), (source, position)))
            row[i] = plus(graph, row[i], leaf) if i in row else leaf
        return row

    def return_rows(self, back: Growth, j: int, kept: dict[int, int]) -> None:
        """Hand the weights of a row to where the row comes from."""
        table = self.loop.xs[j]
        for i, position in kept.items():
            if table.source is not None:
                self.sweep.rows.setdefault(table.source, []).append((i, back.number, position))
                continue
            for row, node in enumerate(table.nodes):
                self.sweep.add(node, {i: self.graph.leaf("stacked_output", back.number, position, row)})
