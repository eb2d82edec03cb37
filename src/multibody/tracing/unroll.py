"""Loops written out round by round, for what wants straight-line code: the interpreter, emitted text, derivatives."""

from collections import defaultdict

import numpy as np

from multibody.tracing.graph import Graph, Loop
from multibody.tracing.trace import Trace


def unrolled(trace: Trace, wrt: list[int] | None = None) -> Trace:
    """The trace without loops; with leaves wrt, without those loops alone that depend on one of them."""
    roots = unroll(trace.graph, trace.roots, wrt)
    parts = np.split(np.array(roots, dtype=np.int64), np.cumsum([ids.size for ids in trace.outputs])[:-1])
    outputs = tuple(part.reshape(ids.shape) for part, ids in zip(parts, trace.outputs, strict=True))
    return trace._replace(outputs=outputs)


def unroll(graph: Graph, roots: list[int], wrt: list[int] | None = None) -> list[int]:
    """Nodes of the same graph that are equal to the roots and need no loop, or none that depends on a leaf of wrt."""
    order = graph.live(roots)
    if not any(graph.op[k] == "result" for k in order):
        return roots
    touched = set(order) if wrt is None else _touched(graph, order, wrt)
    owners = graph.owners()
    levels: dict[int, list[int]] = defaultdict(list)
    for k in order:  # a loop that is still being traced is not written out: its carried values are leaves
        levels[-1 if owners[k] in graph.opened else owners[k]].append(k)
    new: dict[int, int] = {}

    def run(level: int) -> None:
        finished: dict[int, list[int]] = {}
        for k in levels[level]:
            op, args = graph.op[k], graph.args[k]
            if op == "result" and k in touched:
                number, position = graph.value[k]
                if number not in finished:
                    finished[number] = repeat(number)
                new[k] = finished[number][position]
            elif not args:
                new.setdefault(k, k)
            else:
                replaced = tuple(new[a] for a in args)
                new[k] = k if replaced == args else graph.again(k, replaced)

    def repeat(number: int) -> list[int]:
        loop = _loop(graph, number)
        state = [new[k] for k in loop.initial]
        for _ in range(loop.rounds):
            new.update(zip(loop.carried, state, strict=True))
            run(number)
            state = [new[k] for k in loop.final]
        return state

    run(-1)
    return [new[k] for k in roots]


def _loop(graph: Graph, number: int) -> Loop:
    loop = graph.loops[number]
    assert loop is not None
    return loop


def _touched(graph: Graph, order: list[int], wrt: list[int]) -> set[int]:
    """The nodes that depend on a leaf of wrt, through loops too."""
    touched = set(wrt)
    size = -1
    while size != len(touched):  # what a round changes may change an earlier node in the next
        size = len(touched)
        for k in order:
            needs = graph.args[k]
            if graph.op[k] in ("carry", "result"):
                loop = _loop(graph, graph.value[k][0])
                around = _loop(graph, loop.parent).carried if loop.parent >= 0 else ()
                needs = (*loop.initial, *loop.final, *around)
            if any(a in touched for a in needs):
                touched.add(k)
    return touched
