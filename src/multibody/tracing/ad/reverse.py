"""Reverse mode: cotangents of nodes from those of the roots, in one sweep that adds nodes to the graph.

A second loop follows each loop. It runs from the last iteration to the first over the stored carried values and
evaluates the body again. It carries the cotangents of the carried values, and sums those of nodes outside of the body.
"""

from collections.abc import Collection, Sequence
from typing import Any

from multibody.tracing.ad.checkpoints import is_long, nest
from multibody.tracing.ad.dependence import dependence_masks
from multibody.tracing.ad.partials import CHOICES, PARTIALS, choice_vjp, plus, times
from multibody.tracing.ad.tangents import (
    Cotangents,
    ExtendedLoop,
    accumulate,
    indices_of,
    residuals_of,
    to_mask,
    without_zeros,
)
from multibody.tracing.graph.graph import Graph
from multibody.tracing.graph.loop_nodes import AFTER, Loop, ScanInput, body, output_positions
from multibody.tracing.graph.substitute import levels_of, substitute
from multibody.tracing.matrices import matrix_derivatives


def reverse(
    graph: Graph, roots: Sequence[int], seeds: Sequence[Cotangents], wrt: Sequence[int], constants: Collection[int] = ()
) -> list[Cotangents]:
    """The cotangents of the nodes wrt, from the seeds of the roots; the nodes `constants` are not differentiated."""
    sweep = _Reverse(graph, roots, seeds, wrt, constants)
    rows = [without_zeros(graph, sweep.cotangents.get(node, {})) for node in wrt]
    values = residuals_of(graph, sweep.levels[-1])
    if values:
        nodes = iter(substitute(graph, [k for row in rows for k in row.values()], values))
        rows = [{i: next(nodes) for i in row} for row in rows]
    return rows


class _Reverse:
    def __init__(
        self,
        graph: Graph,
        roots: Sequence[int],
        seeds: Sequence[Cotangents],
        wrt: Sequence[int],
        constants: Collection[int],
    ) -> None:
        self.graph = graph
        self.ends = {*wrt, *constants}
        self.order = graph.live(list(roots), through="derivative", ends=self.ends)
        self.needed = set(self.order)
        self.outputs = output_positions(graph, self.order)
        self.levels = levels_of(graph, self.order, self.ends)
        masks = dependence_masks(graph, self.order, {**dict.fromkeys(constants, 0), **dict.fromkeys(wrt, 1)})
        self.active = {k for k, mask in masks.items() if mask}
        self.cotangents: dict[int, Cotangents] = {}
        self.output_cotangents: dict[tuple[int, int], list[tuple[int, int, int]]] = {}
        """(loop, position) of an output -> its cotangents as (index, loop, position)."""
        self.dense: dict[int, dict[int, Cotangents]] = {}  # matrix operation -> the cotangents of its results
        first: dict[Any, int] = {}  # loop, or custom derivative with its inputs -> its first node
        for k in self.levels[-1]:
            if graph.op[k] in AFTER or graph.op[k] == "custom_derivative":
                first.setdefault(self.owner(k), k)
        for root, row in zip(roots, seeds, strict=True):
            self.add(root, row)
        for k in reversed(self.levels[-1]):
            op = graph.op[k]
            if k in self.ends:
                continue
            if op in AFTER or op == "custom_derivative":
                if first[self.owner(k)] == k:
                    self.loop(graph.value[k][0]) if op in AFTER else self.custom(k)
            elif k in self.cotangents:
                self.node(k, without_zeros(graph, self.cotangents.pop(k)))

    def add(self, k: int, row: Cotangents) -> None:
        if k in self.active:
            accumulate(self.graph, self.cotangents.setdefault(k, {}), row)

    def owner(self, k: int) -> Any:
        op, value = self.graph.op[k], self.graph.value[k]
        return (value[0], self.graph.args[k][1:]) if op == "custom_derivative" else value[0]

    def node(self, k: int, row: Cotangents) -> None:
        graph, op, args = self.graph, self.graph.op[k], self.graph.args[k]
        if op in CHOICES:
            for side, part in choice_vjp(graph, k, row, self.active):
                self.add(side, part)
            return
        if op == "entry":
            self.dense.setdefault(args[0], {})[graph.value[k]] = row
            self.cotangents.setdefault(args[0], {})  # marks it as reached
            return
        if op == "dense":
            for a, part in zip(args, matrix_derivatives.vjp(graph, k, self.dense.pop(k)), strict=True):
                self.add(a, part)
            return
        for a, partial in zip(args, PARTIALS.get(op, ()), strict=False):
            if partial and a in self.active:
                slope = partial(graph, args, k)
                self.add(a, {i: times(graph, slope, t) for i, t in row.items()})

    def custom(self, first: int) -> None:
        """The cotangents of the inputs of a custom derivative, from those of all its results."""
        graph, owner = self.graph, self.owner(first)
        number, inputs = graph.value[first][0], list(graph.args[first][1:])
        rows: dict[int, Cotangents] = {}
        for k in self.levels[-1]:
            if graph.op[k] == "custom_derivative" and self.owner(k) == owner:
                rows[graph.value[k][1]] = without_zeros(graph, self.cotangents.pop(k, {}))
        if any(rows.values()):
            for a, row in zip(inputs, graph.custom_derivatives[number].reverse(graph, inputs, rows), strict=True):
                self.add(a, without_zeros(graph, row))

    # ---- loops ----------------------------------------------------------------------------------------------------

    def loop(self, number: int) -> None:
        """Build the reverse of a loop."""
        graph = self.graph
        loop = graph.loop_at(number)
        results: dict[int, Cotangents] = {}
        columns: dict[int, dict[int, dict[int, int]]] = {}  # output -> index -> iteration -> cotangent
        for k in self.levels[-1]:
            if graph.op[k] in AFTER and graph.value[k][0] == number and k in self.cotangents:
                _, *place = graph.value[k]
                row = without_zeros(graph, self.cotangents.pop(k))
                if graph.op[k] == "result":
                    results[place[0]] = row
                else:
                    for i, node in row.items():
                        columns.setdefault(place[0], {}).setdefault(i, {})[place[1]] = node
        sources = {p: self.output_cotangents.get((number, p), []) for p in self.outputs.get(number, ())}
        if any(results.values()) or columns or any(sources.values()):
            if not self.outputs.get(number) and is_long(graph, loop, len(loop.positions(self.needed))):
                nest(graph, number, self.needed, self.active)
            _ReverseLoop(self, number, graph.loop_at(number), results, columns, sources).build()


class _ReverseLoop:
    """The loop that runs over the iterations of another in reverse."""

    def __init__(
        self,
        sweep: _Reverse,
        number: int,
        loop: Loop,
        results: dict[int, Cotangents],
        columns: dict[int, dict[int, dict[int, int]]],
        sources: dict[int, list[tuple[int, int, int]]],
    ) -> None:
        self.sweep, self.graph, self.number, self.loop = sweep, sweep.graph, number, loop
        self.results, self.columns, self.sources = results, columns, sources
        self.at = loop.positions(sweep.needed)
        self.outputs = [p for p in sweep.outputs.get(number, ()) if columns.get(p) or sources.get(p)]

    def build(self) -> None:
        graph, loop, sweep = self.graph, self.loop, self.sweep
        roots = [loop.final[p] for p in self.at] + [loop.outputs[p] for p in self.outputs]
        bodies = [*roots, *([loop.stop] if loop.stop >= 0 else [])]
        outside = body(graph, self.number, bodies)[1]
        captured = sorted(outside & sweep.active)
        reached = self.pattern(roots, outside)
        number = len(graph.loops)
        graph.loops.append(Loop(-1, (), (), (), loop.parent))
        back = ExtendedLoop(graph, number, Loop(loop.iterations, (), (), (), loop.parent, reverse=not loop.reverse))
        values = self.values(back)
        anew = substitute(graph, bodies, values | {k: k for k in outside}, {self.number: number})
        stop = anew.pop() if loop.stop >= 0 else -1
        zero = graph.const(0.0)
        places = {
            (p, i): back.add_carry(self.results.get(p, {}).get(i, zero))
            for p, mask in reached.items()
            for i in indices_of(mask)
        }
        seeds: list[Cotangents] = [
            {i: back.carried[places[p, i]] for i in indices_of(reached.get(p, 0))} for p in self.at
        ] + [self.output_row(back, p) for p in self.outputs]
        moved = [p for p in self.at if p in reached]
        tables = [j for j, k in enumerate(loop.inputs) if k in sweep.active and k in sweep.needed]
        wrt = [values[loop.carried[p]] for p in moved] + [values[loop.inputs[j]] for j in tables] + captured
        back.store()
        graph.loops[number] = graph.loop_at(number)._replace(iterations=-1)  # its values are leaves for now
        rows = reverse(graph, anew, seeds, wrt, outside)

        def unless_finished(before: int, node: int) -> int:
            return graph.apply("select", stop, before, node) if stop >= 0 else node

        for p, row in zip(moved, rows, strict=False):
            for i in indices_of(reached[p]):
                q = places[p, i]
                back.final[q] = unless_finished(back.carried[q], row.get(i, zero))
        for j, row in zip(tables, rows[len(moved) :], strict=False):
            self.return_inputs(back, j, {i: back.add_output(unless_finished(zero, node)) for i, node in row.items()})
        sums: dict[tuple[int, int], int] = {}
        for a, row in zip(captured, rows[len(moved) + len(tables) :], strict=True):
            for i, node in row.items():
                q = sums[a, i] = back.add_carry(zero)
                back.final[q] = unless_finished(back.carried[q], graph.apply("add", back.carried[q], node))
        back.loop = back.loop._replace(
            trip_count=graph.leaf("trip_count", self.number) if loop.stop >= 0 or loop.trip_count >= 0 else -1
        )
        back.store()
        for (p, i), q in places.items():
            sweep.add(loop.initial[p], {i: graph.leaf("result", number, q)})
        for (a, i), q in sums.items():
            sweep.add(a, {i: graph.leaf("result", number, q)})

    def pattern(self, roots: list[int], outside: set[int]) -> dict[int, int]:
        """For each carried value that cotangents reach, the mask of their indices."""
        graph, loop, active = self.graph, self.loop, self.sweep.active
        ends = {loop.carried[p]: 1 << p for p in self.at if loop.carried[p] in active}
        constants = {*outside, *loop.carried, *loop.inputs}
        masks = dependence_masks(
            graph, graph.live(roots, through="derivative", ends=constants), {**dict.fromkeys(constants, 0), **ends}
        )
        weights = {p: to_mask(self.results.get(p, {})) for p in self.at if loop.carried[p] in active}
        kept = {
            p: to_mask(dict.fromkeys([*self.columns.get(p, {}), *(i for i, *_ in self.sources.get(p, ()))], 0))
            for p in self.outputs
        }
        changed = True
        while changed:
            changed = False
            flow = [(loop.final[q], weights.get(q, 0)) for q in self.at] + [
                (loop.outputs[p], m) for p, m in kept.items()
            ]
            for node, mask in flow:
                for p in indices_of(masks.get(node, 0)):
                    if mask & ~weights[p]:
                        weights[p] |= mask
                        changed = True
        return {p: mask for p, mask in weights.items() if mask}

    def values(self, back: ExtendedLoop) -> dict[int, int]:
        """Scan inputs with the stored carried values and inputs of an iteration, by the leaves that they replace."""
        graph, number = self.graph, self.number
        first = ExtendedLoop(graph, number, self.loop)
        ran = graph.leaf("trip_count", number)
        values: dict[int, int] = {}
        for p in self.at:
            source = number, first.add_output(self.loop.carried[p])
            values[self.loop.carried[p]] = back.add_input(ScanInput((ran,), source))
        first.store()
        for k, x in zip(self.loop.inputs, self.loop.xs, strict=True):
            if k in self.sweep.needed:
                values[k] = back.add_input(x)
        return values

    def output_row(self, back: ExtendedLoop, p: int) -> Cotangents:
        """The cotangents of a stacked output, in every iteration."""
        graph, iterations = self.graph, self.loop.iterations
        zero = graph.const(0.0)
        row: Cotangents = {}
        for i, column in self.columns.get(p, {}).items():
            row[i] = back.add_input(ScanInput(tuple(column.get(k, zero) for k in range(iterations))))
        for i, source, position in self.sources.get(p, ()):
            leaf = back.add_input(ScanInput((graph.leaf("trip_count", source),), (source, position)))
            row[i] = plus(graph, row[i], leaf) if i in row else leaf
        return row

    def return_inputs(self, back: ExtendedLoop, j: int, outputs: dict[int, int]) -> None:
        """Add the cotangents of a scan input to those of its source."""
        x = self.loop.xs[j]
        for i, position in outputs.items():
            if x.source is not None:
                self.sweep.output_cotangents.setdefault(x.source, []).append((i, back.number, position))
                continue
            for row, node in enumerate(x.nodes):
                self.sweep.add(node, {i: self.graph.leaf("stacked_output", back.number, position, row)})
