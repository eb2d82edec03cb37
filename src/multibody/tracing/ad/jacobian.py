"""Sparse Jacobians of nodes, by the mode with fewer products."""

from collections.abc import Sequence

from multibody.tracing.ad.forward import forward
from multibody.tracing.ad.partials import flows
from multibody.tracing.ad.reverse import reverse
from multibody.tracing.ad.tangents import Tangents
from multibody.tracing.graph.graph import Graph
from multibody.tracing.graph.loop_nodes import AFTER


def jacobian_rows(graph: Graph, roots: Sequence[int], wrt: Sequence[int]) -> list[Tangents]:
    """For every root its derivatives {position in wrt: node}."""
    one = graph.const(1.0)
    if forward_is_cheaper(graph, roots, wrt):
        return forward(graph, roots, {node: {j: one} for j, node in enumerate(wrt)})
    columns = reverse(graph, roots, [{i: one} for i in range(len(roots))], wrt)
    rows: list[Tangents] = [{} for _ in roots]
    for j, column in enumerate(columns):
        for i, node in column.items():
            rows[i][j] = node
    return rows


def forward_is_cheaper(graph: Graph, roots: Sequence[int], wrt: Sequence[int]) -> bool:
    """Whether forward mode has fewer products: one per node and input, or one per node and output in reverse mode."""
    order = graph.live(list(roots), through="derivative", ends=set(wrt))
    if any(graph.op[k] in AFTER for k in order):  # reverse mode runs loops twice and stores their values
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
