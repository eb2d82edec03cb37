"""Dependence analysis: bit masks of the sources that nodes depend on, through a graph and its loops."""

from collections.abc import Sequence

from multibody.tracing.ad.partials import flows
from multibody.tracing.graph.graph import Graph
from multibody.tracing.graph.loop_nodes import AFTER, input_nodes
from multibody.tracing.graph.substitute import levels_of


def dependence_masks(graph: Graph, order: Sequence[int], masks: dict[int, int]) -> dict[int, int]:
    """For every node of an order the sources that it depends on differentiably.

    Args:
        graph: of the nodes.
        order: nodes in an order of execution.
        masks: the given bits of some nodes.
    """
    return _Masks(graph, order, masks).masks


class _Masks:
    def __init__(self, graph: Graph, order: Sequence[int], masks: dict[int, int]) -> None:
        self.graph = graph
        self.masks = dict(masks)
        self.fixed = frozenset(masks)
        self.levels = levels_of(graph, order, self.fixed)
        self.run(-1)

    def run(self, level: int) -> None:
        graph, masks = self.graph, self.masks
        finished: set[int] = set()
        for k in self.levels.get(level, ()):
            if k in self.fixed:
                continue
            op = graph.op[k]
            if op in AFTER:
                number, *position = graph.value[k]
                if number not in finished:
                    finished.add(number)
                    self.loop(number)
                loop = graph.loop_at(number)
                if op == "result":
                    masks[k] = masks.get(loop.carried[position[0]], 0)
                elif op == "stacked_output":
                    masks[k] = masks.get(loop.outputs[position[0]], 0)
                else:
                    masks[k] = 0
            elif graph.args[k]:
                mask = 0
                for a in flows(graph, k):
                    mask |= masks.get(a, 0)
                masks[k] = mask
            else:
                masks.setdefault(k, 0)

    def loop(self, number: int) -> None:
        """Iterate to a fixed point: an iteration depends on the one before."""
        graph, masks = self.graph, self.masks
        loop = graph.loop_at(number)
        for p, k in enumerate(loop.carried):
            masks[k] = masks.get(loop.initial[p], 0)
        for k, x in zip(loop.inputs, loop.xs, strict=True):
            masks[k] = 0
            for node in input_nodes(graph, x):
                masks[k] |= masks.get(node, 0)
        changed = True
        while changed:
            self.run(number)
            changed = False
            for carried, final in zip(loop.carried, loop.final, strict=True):
                more = masks[carried] | masks.get(final, 0)
                changed = changed or more != masks[carried]
                masks[carried] = more
