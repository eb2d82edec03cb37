"""Liveness: the last segment that uses each value, and the slots that values reuse once others are dead."""

import struct
from collections.abc import Callable, Container, Sequence
from itertools import groupby

from multibody.compiler.ir.passes import Block
from multibody.tracing.graph.graph import Graph
from multibody.tracing.graph.loop_nodes import enclosing_loops

MIN_ZERO_RUN = 8
"""At least this many adjacent zeros of a result have no slots: they are stored to the rows directly."""

MAX_GAP = 3
"""Unused elements of an argument that are loaded, so that the elements around them are loaded together."""


def zero_runs(block: Block, sizes: Sequence[int]) -> set[int]:
    """The positions of structural zeros in long runs of them; -0.0 is not one."""
    zero = block.graph.known.get(("const", (), struct.pack("d", 0.0)))
    zeros: set[int] = set()
    first = 0
    for size in sizes:
        here = range(first, first + size)
        first += size
        for is_zero, group in groupby(here, key=lambda k: block.outputs[k] == zero):
            positions = set(group)
            if is_zero and len(positions) >= MIN_ZERO_RUN:
                zeros |= positions
    return zeros


def last_uses(
    graph: Graph,
    pieces: Sequence[Sequence[int]],
    stores: Sequence[Sequence[tuple[int, int]]],
    within: Sequence[int],
    ends: dict[int, int],
) -> dict[int, int]:
    """The last segment that uses each value; a value from outside a loop is live until the loop ends.

    Args:
        graph: of the values.
        pieces: the nodes of every segment.
        stores: (node, slot) of the stores of every segment.
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


def allocate_slots(
    pieces: Sequence[Sequence[int]],
    stores: Sequence[list[tuple[int, int]]],
    slot: dict[int, int],
    last_use: dict[int, int],
    fresh: Callable[[], int],
    *,
    skipped: Container[int],
) -> None:
    """Give a slot to every value that a later segment uses; slots of dead values are reused.

    Args:
        pieces: the nodes of every segment.
        stores: (node, slot) of the stores of every segment, to which those of these values are added.
        slot: the slot of every node that has one, to which these are added.
        last_use: the last segment that uses a node.
        fresh: returns a new slot.
        skipped: segments whose values have slots already.
    """
    free: list[int] = []
    expiring: dict[int, list[int]] = {}
    for number, piece in enumerate(pieces):
        if number in skipped:
            continue
        for k in piece:
            if last_use.get(k, number) > number and k not in slot:
                slot[k] = free.pop() if free else fresh()
                expiring.setdefault(last_use[k], []).append(slot[k])
                stores[number].append((k, slot[k]))
        free.extend(expiring.pop(number, ()))


def runs_of(elements: Sequence[tuple[int, int]]) -> list[tuple[int, int, int]]:
    """(argument, first, last): runs of sorted (argument, element) pairs, with short gaps."""
    runs: list[tuple[int, int, int]] = []
    for argument, element in elements:
        if runs and argument == runs[-1][0] and element - runs[-1][2] <= MAX_GAP + 1:
            runs[-1] = (argument, runs[-1][1], element)
        else:
            runs.append((argument, element, element))
    return runs
