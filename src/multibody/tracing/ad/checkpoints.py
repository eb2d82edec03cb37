"""A loop of many rounds as a loop of loops, so that its gradient stores the square root of them.

In reverse the outer loop keeps its carried values, which are the checkpoints; its body, evaluated anew at each, keeps
those of the inner rounds. At most some 2 √T of T states are stored at a time, and every round is run once more.
"""

import math

from multibody.tracing.ad.memory_limit import limits
from multibody.tracing.graph.graph import Graph
from multibody.tracing.graph.loop_nodes import Loop, ScanInput, body
from multibody.tracing.graph.substitute import substitute


def is_long(graph: Graph, loop: Loop, carried: int) -> bool:
    """Whether the values of so many carried numbers are too many to be stored for all rounds."""
    plain = not loop.reverse and loop.trip_count < 0 and all(table.source is None for table in loop.xs)
    return plain and loop.iterations > 3 and loop.iterations * carried * graph.dtype.itemsize > limits.tape


def lengths(rounds: int) -> tuple[int, int]:
    """How many outer rounds and inner rounds there are; the inner ones of the last outer round may be fewer.

    >>> lengths(10_000), lengths(1_000), lengths(101)
    ((100, 100), (31, 33), (10, 11))
    """
    root = math.isqrt(rounds)
    exact = [n for n in range(root, 0, -1) if rounds % n == 0 and n + rounds // n <= 2 * math.sqrt(rounds) + 1]
    outer = exact[0] if exact else root
    return outer, -(-rounds // outer)


def nest(graph: Graph, number: int, needed: set[int], active: set[int]) -> None:
    """Make a loop one of loops, in place: its results stay.

    Args:
        graph: of the loop.
        number: of the loop.
        needed: the live nodes; what is new and live is added.
        active: those that depend on what is asked for; likewise.
    """
    loop = graph.loop_at(number)
    at = loop.positions(needed)
    outer, rounds = lengths(loop.iterations)
    inner = len(graph.loops)
    graph.loops.append(Loop(-1, (), (), (), number))
    zero = graph.const(0.0)
    carried = [loop.carried[p] for p in at]
    initial, rows, tables = list(loop.initial), list(loop.inputs), list(loop.xs)
    new: dict[int, int] = {leaf: graph.leaf("carry", inner, p) for p, leaf in enumerate(carried)}
    inner_tables: list[ScanInput] = []
    for k, table in zip(loop.inputs, loop.xs, strict=True):
        if k not in needed:
            continue
        new[k] = graph.leaf("scan_input", inner, len(inner_tables))
        padded = [*table.nodes, *[zero] * (outer * rounds - loop.iterations)]
        leaves = []
        for r in range(rounds):
            leaves.append(graph.leaf("scan_input", number, len(rows)))
            rows.append(leaves[-1])
            tables.append(ScanInput(tuple(padded[r::rounds])))
        inner_tables.append(ScanInput(tuple(leaves)))
        needed.discard(k)
        needed.update(leaves)
        if k in active:
            active.update(leaves)
    roots = [loop.final[p] for p in at] + ([loop.stop] if loop.stop >= 0 else [])
    outside = body(graph, number, roots)[1]
    final = substitute(graph, roots, {**{k: k for k in outside}, **new}, {number: inner})
    stop = final.pop() if loop.stop >= 0 else -1
    whole = list(loop.carried)
    if outer * rounds > loop.iterations:  # the last rounds are none: they are counted
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
        rounds,
        tuple(carried),
        tuple(new[k] for k in carried),
        tuple(final),
        number,
        stop,
        tuple(graph.leaf("scan_input", inner, j) for j in range(len(inner_tables))),
        tuple(inner_tables),
    )
    ends = [*loop.final, *[zero] * (len(whole) - len(loop.final))]
    for position, p in enumerate(at):
        ends[p] = graph.leaf("result", inner, position)
    graph.loops[number] = loop._replace(
        iterations=outer,
        initial=tuple(initial),
        carried=tuple(whole),
        final=tuple(ends),
        inputs=tuple(rows),
        xs=tuple(tables),
    )
