"""Forward mode: tangents of nodes from those of some leaves, in one sweep that adds nodes to the graph.

A loop is extended in place: it carries the tangents of its carried values.
"""

from collections.abc import Sequence

from multibody.tracing.ad.dependence import dependence_masks
from multibody.tracing.ad.partials import CHOICES, PARTIALS, choice_jvp, flows, times
from multibody.tracing.ad.tangents import (
    ExtendedLoop,
    Tangents,
    accumulate,
    indices_of,
    residuals_of,
    to_mask,
    without_zeros,
)
from multibody.tracing.graph.graph import Graph
from multibody.tracing.graph.loop_nodes import AFTER, ScanInput, output_positions
from multibody.tracing.graph.substitute import levels_of, substitute
from multibody.tracing.matrices import matrix_derivatives


def forward(graph: Graph, roots: Sequence[int], seeds: dict[int, Tangents]) -> list[Tangents]:
    """The tangents of the roots, from those of some leaves."""
    tangents = _Forward(graph, roots, seeds).tangents
    return [tangents.get(root, {}) for root in roots]


class _Forward:
    def __init__(self, graph: Graph, roots: Sequence[int], seeds: dict[int, Tangents]) -> None:
        self.graph = graph
        self.order = graph.live(list(roots), through="derivative", ends=seeds.keys())
        self.needed = set(self.order)
        self.levels = levels_of(graph, self.order, seeds.keys())
        self.outputs = output_positions(graph, self.order)
        self.output_tangents: dict[tuple[int, int], dict[int, int]] = {}
        """(loop, position) of an output -> positions of its tangents."""
        self.masks = (
            dependence_masks(graph, self.order, {k: to_mask(row) for k, row in seeds.items()}) if graph.loops else {}
        )
        self.tangents = dict(seeds)
        self.dense: dict[int, list[Tangents]] = {}  # matrix operation -> the tangents of its results
        self.seeds = seeds
        self.run(-1)

    def run(self, level: int) -> None:
        graph, tangents = self.graph, self.tangents
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
            if not any(a in tangents for a in flows(graph, k)):
                continue
            row: Tangents = {}
            if op in CHOICES:
                row = choice_jvp(graph, k, tangents)
            elif op == "custom_derivative":
                number, position = graph.value[k]
                rows = [tangents.get(a, {}) for a in args[1:]]
                rows = graph.custom_derivatives[number].forward(graph, list(args[1:]), rows)
                row = self.with_residuals(k, rows[position])
            elif op == "dense":
                self.dense[k] = matrix_derivatives.jvp(graph, k, tangents)
            elif op == "entry":
                row = self.dense[args[0]][graph.value[k]]
            else:
                for a, partial in zip(args, PARTIALS[op], strict=True):
                    if partial and a in tangents:
                        slope = partial(graph, args, k)
                        accumulate(graph, row, {i: times(graph, slope, t) for i, t in tangents[a].items()})
            tangents[k] = without_zeros(graph, row)

    def with_residuals(self, node: int, row: Tangents) -> Tangents:
        """Tangents with values in place of residuals, so that they can be differentiated again."""
        inputs = self.graph.args[node][1:]
        values = residuals_of(self.graph, [k for k in self.order if self.graph.args[k][1:] == inputs])
        return dict(zip(row, substitute(self.graph, list(row.values()), values), strict=True)) if values else row

    def loop(self, number: int) -> None:
        """Extend a loop by the tangents of its carries, inputs and outputs."""
        graph, tangents = self.graph, self.tangents
        loop = graph.loop_at(number)
        zero = graph.const(0.0)
        new = ExtendedLoop(graph, number, loop)
        carried: dict[tuple[int, int], int] = {}
        for p in loop.positions(self.needed):
            indices = indices_of(self.masks.get(loop.carried[p], 0))
            first = tangents.get(loop.initial[p], {})
            for i in indices:
                carried[p, i] = new.add_carry(first.get(i, zero))
            if indices:
                tangents[loop.carried[p]] = {i: new.carried[carried[p, i]] for i in indices}
        for leaf, x in zip(loop.inputs, loop.xs, strict=True):
            if leaf in self.needed and self.masks.get(leaf):
                tangents[leaf] = self.scan_input(new, x, indices_of(self.masks[leaf]))
        outputs = {p: indices_of(self.masks.get(loop.outputs[p], 0)) for p in self.outputs.get(number, ())}
        if not carried and not any(outputs.values()):
            return
        new.store()
        self.run(number)
        for (p, i), q in carried.items():
            new.final[q] = tangents.get(loop.final[p], {}).get(i, zero)
        for p, indices in outputs.items():
            row = tangents.get(loop.outputs[p], {})
            self.output_tangents[number, p] = {i: new.add_output(row[i], new=True) for i in indices if i in row}
        new.store()
        for k in self.order:
            if graph.op[k] in AFTER and graph.value[k][0] == number:
                _, *place = graph.value[k]
                if graph.op[k] == "result":
                    at = place[0]
                    indices = indices_of(self.masks.get(loop.carried[at], 0))
                    tangents[k] = {i: graph.leaf("result", number, carried[at, i]) for i in indices}
                elif graph.op[k] == "stacked_output":
                    more = self.output_tangents.get((number, place[0]), {})
                    tangents[k] = {i: graph.leaf("stacked_output", number, q, place[1]) for i, q in more.items()}
                if not tangents.get(k, True):
                    del tangents[k]

    def scan_input(self, new: ExtendedLoop, x: ScanInput, indices: list[int]) -> Tangents:
        """The tangents of a scan input, which are further scan inputs."""
        zero = self.graph.const(0.0)
        if x.source is None:
            columns = {i: tuple(self.tangents.get(k, {}).get(i, zero) for k in x.nodes) for i in indices}
            return {i: new.add_input(x._replace(nodes=column)) for i, column in columns.items()}
        more = self.output_tangents.get(x.source, {})
        return {i: new.add_input(x._replace(source=(x.source[0], more[i]))) for i in indices if i in more}
