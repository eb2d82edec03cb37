"""Which values need slots, and for how long."""

import struct
from collections.abc import Sequence
from itertools import groupby

from multibody.compiler.ir.passes import Block
from multibody.tracing.graph.graph import Graph
from multibody.tracing.graph.loop_nodes import enclosing_loops

ZEROS = 8
"""Zeros that lie side by side in a result, from so many on, have no slots: they are written straight to the rows."""

GAP = 3
"""Elements of an argument that are loaded though unused, so that those around them are loaded together."""


def zeros_of(block: Block, sizes: Sequence[int]) -> set[int]:
    """The positions of results that are zero for all values, many side by side; -0.0 is another number."""
    zero = block.graph.known.get(("const", (), struct.pack("d", 0.0)))
    zeros: set[int] = set()
    first = 0
    for size in sizes:
        here = range(first, first + size)
        first += size
        for is_zero, group in groupby(here, key=lambda k: block.outputs[k] == zero):
            positions = set(group)
            if is_zero and len(positions) >= ZEROS:
                zeros |= positions
    return zeros


def last_uses(
    graph: Graph,
    pieces: Sequence[Sequence[int]],
    stores: Sequence[Sequence[tuple[int, int]]],
    within: Sequence[int],
    ends: dict[int, int],
) -> dict[int, int]:
    """The last segment that needs each value; what a loop reads from outside must outlive its last round.

    Args:
        graph: of the values.
        pieces: the nodes of every segment.
        stores: (node, slot) of what every segment stores.
        within: the loop of every segment, or -1.
        ends: the last segment of every loop.
    """
    owner, last = graph.owners(), dict[int, int]()
    chains = {number: enclosing_loops(graph, number) for number in {*owner}}
    for number, piece in enumerate(pieces):
        for a in [*(a for k in piece for a in graph.args[k]), *(k for k, _ in stores[number])]:
            until, loop = number, within[number]
            while loop >= 0 and loop not in chains[owner[a]]:
                until, loop = ends[loop], graph.loop_at(loop).parent
            last[a] = max(last.get(a, -1), until)
    return last


def runs_of(places: Sequence[tuple[int, int]]) -> list[tuple[int, int, int]]:
    """(argument, first, last): elements, given in order, that lie side by side but for short gaps."""
    runs: list[tuple[int, int, int]] = []
    for argument, element in places:
        if runs and argument == runs[-1][0] and element - runs[-1][2] <= GAP + 1:
            runs[-1] = (argument, runs[-1][1], element)
        else:
            runs.append((argument, element, element))
    return runs
