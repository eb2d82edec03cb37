"""Jacobians by sweeps over a graph, in the mode that makes fewer products."""

from collections.abc import Sequence

from multibody.tracing.ad.forward import forward
from multibody.tracing.ad.partials import flows
from multibody.tracing.ad.reverse import reverse
from multibody.tracing.ad.tangents import Row
from multibody.tracing.graph.graph import Graph
from multibody.tracing.graph.loop_nodes import AFTER


def jacobian_rows(graph: Graph, roots: Sequence[int], wrt: Sequence[int]) -> list[Row]:
    """For every root its derivatives {position in wrt: node}, by the mode that makes fewer products."""
    one = graph.const(1.0)
    if forward_is_cheaper(graph, roots, wrt):
        return forward(graph, roots, {node: {j: one} for j, node in enumerate(wrt)})
    columns = reverse(graph, roots, [{i: one} for i in range(len(roots))], wrt)
    rows: list[Row] = [{} for _ in roots]
    for j, column in enumerate(columns):
        for i, node in column.items():
            rows[i][j] = node
    return rows


def forward_is_cheaper(graph: Graph, roots: Sequence[int], wrt: Sequence[int]) -> bool:
    """Count the products of both modes: one for every input that a node depends on, or every output that it reaches."""
    order = graph.live(list(roots), through="derivative", ends=set(wrt))
    if any(graph.op[k] in AFTER for k in order):  # in reverse loops run twice, and their values are stored
        return len(wrt) <= 3 * len(roots)
    depends = {node: 1 << j for j, node in enumerate(wrt)}
    reaches = dict.fromkeys(order, 0)
    for i, root in enumerate(roots):
        reaches[root] |= 1 << i
    ahead = back = 0
    for k in order:
        mask = depends.get(k, 0)
        for a in flows(graph, k) if k not in depends else ():
            ahead += depends[a].bit_count()
            mask |= depends[a]
        depends[k] = mask
    ends = set(wrt)
    for k in reversed(order):
        for a in flows(graph, k) if k not in ends else ():
            if depends[a]:
                back += reaches[k].bit_count()
                reaches[a] |= reaches[k]
    return ahead <= back
