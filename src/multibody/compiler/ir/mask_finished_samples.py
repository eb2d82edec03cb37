"""The graph pass that freezes the carry of samples whose loop has stopped, while other samples continue."""

import math

from multibody.tracing.graph.graph import Graph


def mask_finished_samples(graph: Graph, observed: set[tuple[int, int]]) -> None:
    """Freeze finished samples: select the old carry if the stop condition, or that of an enclosing loop, holds.

    Args:
        graph: changed in place.
        observed: (loop, position) of stacked outputs that are used outside of loops; they are NaN for finished samples.
    """
    done: dict[int, int] = {-1: -1}  # the stop condition of each loop, or -1
    nan = graph.const(math.nan)
    for number, loop in enumerate(graph.loops):
        around = done.get(loop.parent, -1) if loop is not None else -1
        done[number] = around
        if loop is not None and loop.stop >= 0:
            # nothing is simplified here: the nodes that loops list must stay live
            stop = done[number] = loop.stop if around < 0 else graph.intern("or", (loop.stop, around))
            final = [
                f if f == k else graph.intern("select", (stop, k, f))
                for k, f in zip(loop.carried, loop.final, strict=True)
            ]
            outputs = [
                graph.intern("select", (stop, nan, k)) if (number, p) in observed else k
                for p, k in enumerate(loop.outputs)
            ]
            graph.loops[number] = loop._replace(final=tuple(final), stop=stop, outputs=tuple(outputs))
