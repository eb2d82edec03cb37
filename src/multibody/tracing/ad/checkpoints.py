"""Checkpoints: a loop of T iterations becomes a loop of loops, so that its gradient stores about 2 √T states.

In reverse mode the outer loop stores its carried values, the checkpoints. Its body is evaluated again at each of them
and stores those of the inner iterations. Every iteration runs once more.
"""

import math

from multibody.tracing.ad.memory_limit import limits
from multibody.tracing.graph.graph import Graph
from multibody.tracing.graph.loop_nodes import Loop, ScanInput, body
from multibody.tracing.graph.substitute import substitute


def is_long(graph: Graph, loop: Loop, carried: int) -> bool:
    """Whether storing so many carried numbers for all iterations exceeds the memory limit."""
    simple = not loop.reverse and loop.trip_count < 0 and all(x.source is None for x in loop.xs)
    return simple and loop.iterations > 3 and loop.iterations * carried * graph.dtype.itemsize > limits.tape


def lengths(iterations: int) -> tuple[int, int]:
    """The numbers of outer and inner iterations; the last outer iteration may have fewer inner ones.

    >>> lengths(10_000), lengths(1_000), lengths(101)
    ((100, 100), (31, 33), (10, 11))
    """
    root = math.isqrt(iterations)
    exact = [
        n for n in range(root, 0, -1) if iterations % n == 0 and n + iterations // n <= 2 * math.sqrt(iterations) + 1
    ]
    outer = exact[0] if exact else root
    return outer, -(-iterations // outer)


def nest(graph: Graph, number: int, needed: set[int], active: set[int]) -> None:
    """Replace a loop by a loop of loops, in place; its results stay.

    Args:
        graph: of the loop.
        number: of the loop.
        needed: the live nodes; new ones are added.
        active: the nodes that are differentiated; new ones are added.
    """
    loop = graph.loop_at(number)
    at = loop.positions(needed)
    outer_count, inner_count = lengths(loop.iterations)
    inner = len(graph.loops)
    graph.loops.append(Loop(-1, (), (), (), number))
    zero = graph.const(0.0)
    carried = [loop.carried[p] for p in at]
    initial, inputs, xs = list(loop.initial), list(loop.inputs), list(loop.xs)
    new: dict[int, int] = {leaf: graph.leaf("carry", inner, p) for p, leaf in enumerate(carried)}
    inner_xs: list[ScanInput] = []
    for k, x in zip(loop.inputs, loop.xs, strict=True):
        if k not in needed:
            continue
        new[k] = graph.leaf("scan_input", inner, len(inner_xs))
        padded = [*x.nodes, *[zero] * (outer_count * inner_count - loop.iterations)]
        leaves = []
        for r in range(inner_count):
            leaves.append(graph.leaf("scan_input", number, len(inputs)))
            inputs.append(leaves[-1])
            xs.append(ScanInput(tuple(padded[r::inner_count])))
        inner_xs.append(ScanInput(tuple(leaves)))
        needed.discard(k)
        needed.update(leaves)
        if k in active:
            active.update(leaves)
    roots = [loop.final[p] for p in at] + ([loop.stop] if loop.stop >= 0 else [])
    outside = body(graph, number, roots)[1]
    final = substitute(graph, roots, {**{k: k for k in outside}, **new}, {number: inner})
    stop = final.pop() if loop.stop >= 0 else -1
    whole = list(loop.carried)
    if outer_count * inner_count > loop.iterations:  # a counter ends the last outer iteration early
        whole.append(graph.leaf("carry", number, len(whole)))
        initial.append(zero)
        at = [*at, len(whole) - 1]
        carried.append(whole[-1])
        count = new[whole[-1]] = graph.leaf("carry", inner, len(carried) - 1)
        final.append(graph.apply("add", count, graph.const(1.0)))
        over = graph.apply("le", graph.const(float(loop.iterations)), count)
        stop = over if stop < 0 else graph.apply("or", stop, over)
        needed.add(whole[-1])
    graph.loops[inner] = Loop(
        inner_count,
        tuple(carried),
        tuple(new[k] for k in carried),
        tuple(final),
        number,
        stop,
        tuple(graph.leaf("scan_input", inner, j) for j in range(len(inner_xs))),
        tuple(inner_xs),
    )
    ends = [*loop.final, *[zero] * (len(whole) - len(loop.final))]
    for position, p in enumerate(at):
        ends[p] = graph.leaf("result", inner, position)
    graph.loops[number] = loop._replace(
        iterations=outer_count,
        initial=tuple(initial),
        carried=tuple(whole),
        final=tuple(ends),
        inputs=tuple(inputs),
        xs=tuple(xs),
    )
