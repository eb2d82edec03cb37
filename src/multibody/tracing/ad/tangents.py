"""Shared by forward and reverse mode: sparse tangents and cotangents, and loops extended by derivative carries."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from multibody.tracing.ad.partials import plus
from multibody.tracing.graph.graph import Graph
from multibody.tracing.graph.loop_nodes import Loop, ScanInput

Tangents = dict[int, int]
"""The derivatives of one node: {index of a seed: node}, without structural zeros."""
Cotangents = Tangents
"""The derivatives with respect to one node: {index of a seed: node}, without structural zeros."""


def accumulate(graph: Graph, total: Tangents, term: Tangents) -> None:
    """Add one sparse vector to another, in place."""
    for i, node in term.items():
        total[i] = plus(graph, total[i], node) if i in total else node


def without_zeros(graph: Graph, row: Tangents) -> Tangents:
    """A sparse vector without structural zeros."""
    return {i: node for i, node in row.items() if graph.number(node) != 0}


def dense_rows(graph: Graph, rows: Sequence[Tangents], columns: int) -> NDArray[Any]:
    """The matrix of nodes with these sparse rows."""
    full = np.full((len(rows), columns), graph.const(0.0), dtype=np.int64)
    for i, row in enumerate(rows):
        for j, node in row.items():
            full[i, j] = node
    return full


def to_mask(indices: Iterable[int]) -> int:
    """Indices as the bits of a mask."""
    mask = 0
    for i in indices:
        mask |= 1 << i
    return mask


def indices_of(mask: int) -> list[int]:
    """The indices of the bits of a mask."""
    return [i for i in range(mask.bit_length()) if mask >> i & 1]


def residuals_of(graph: Graph, nodes: Sequence[int]) -> dict[int, int]:
    """The residuals of custom derivatives, as {constant: node that derivatives have in its place}."""
    values: dict[int, int] = {}
    for k in nodes:
        derivative = graph.custom_derivatives[graph.value[k][0]] if graph.op[k] == "custom_derivative" else None
        if derivative is not None and graph.args[k][0] not in values:
            values.update(derivative.residuals(graph, graph.value[k][0], graph.args[k][1:]))
    return values | {k: k for k in values.values()}


class ExtendedLoop:
    """A loop of a graph with further carries, inputs and outputs."""

    def __init__(self, graph: Graph, number: int, loop: Loop) -> None:
        self.graph, self.number, self.loop = graph, number, loop
        self.initial, self.carried, self.final = list(loop.initial), list(loop.carried), list(loop.final)
        self.inputs, self.xs, self.outputs = list(loop.inputs), list(loop.xs), list(loop.outputs)
        stacked = (graph.value[k] for k, op in enumerate(graph.op) if op == "stacked_output")
        self.visible = {position for owner, position, _ in stacked if owner == number}

    def add_carry(self, initial: int) -> int:
        """The position of a new carried value, which is constant until its final node is set."""
        leaf = self.graph.leaf("carry", self.number, len(self.carried))
        self.initial.append(initial)
        self.carried.append(leaf)
        self.final.append(leaf)
        return len(self.carried) - 1

    def add_input(self, x: ScanInput) -> int:
        """The leaf of a new scan input."""
        leaf = self.graph.leaf("scan_input", self.number, len(self.inputs))
        self.inputs.append(leaf)
        self.xs.append(x)
        return leaf

    def add_output(self, node: int, *, new: bool = False) -> int:
        """The position of a stacked output that other loops read; `new` forbids to share one.

        Outputs that are used after the loop are not shared: they are NaN for finished samples.
        """
        for position, output in enumerate(self.outputs):
            if output == node and position not in self.visible and not new:
                return position
        self.outputs.append(node)
        return len(self.outputs) - 1

    def store(self) -> None:
        """Put the loop, as far as it is known, into the graph."""
        self.graph.loops[self.number] = self.loop._replace(
            initial=tuple(self.initial),
            carried=tuple(self.carried),
            final=tuple(self.final),
            inputs=tuple(self.inputs),
            xs=tuple(self.xs),
            outputs=tuple(self.outputs),
        )
