"""What loops do around their segments: they read rows of tables, keep rows of values, and leave when all is done.

A loop that reads a row in every round has slots for it, which its segments read as they read all others. The row comes
from where it lies: from the rows of an argument, from numbers that the module has, or from other slots.
"""

from collections.abc import Callable
from typing import NamedTuple

from multibody.tracing.graph.graph import Graph
from multibody.tracing.graph.loop_nodes import Loop, ScanInput, stride


class Move(NamedTuple):
    """Slots that are copied in a round, from or to a place that moves with the rounds."""

    source: int
    source_step: int
    """Slots by which the source moves from round to round."""
    target: int
    target_step: int
    width: int


class Load(NamedTuple):
    """Numbers that are the same for all samples, or elements of an argument, that are brought into slots in a round."""

    argument: int
    """Its number, or -1."""
    constant: int
    """The number of a row of constants, or -1."""
    element: int
    """The first element in round 0."""
    step: int
    """Elements by which it moves from round to round."""
    width: int
    slot: int


class Fill(NamedTuple):
    """Slots that become a number."""

    slot: int
    length: int
    number: float


class Leave(NamedTuple):
    """The loop is over when the slot is not zero in all samples of the tile."""

    slot: int


class Stretch(NamedTuple):
    """Tables side by side in a loop that are read together."""

    first: int
    """The position of the first one."""
    width: int
    nodes: list[int]
    """Round by round; empty for those of a source."""
    argument: int = -1
    constant: int = -1
    element: int = 0
    step: int = 0
    source: tuple[int, int] | None = None


def stretches(graph: Graph, loop: Loop, constants: list[list[float]]) -> list[Stretch]:
    """The tables of a loop in groups that are read together; rows of constants are appended to those there are."""
    kinds = [_kind(graph, table) for table in loop.xs]
    result: list[Stretch] = []
    at = 0
    while at < len(loop.xs):
        end = at + 1
        while end < len(loop.xs) and _beside(kinds[at], kinds[end], end - at):
            end += 1
        result.append(_stretch(graph, loop.xs[at:end], at, kinds[at], constants))
        at = end
    return result


def _kind(graph: Graph, table: ScanInput) -> tuple[str, int, int, int]:
    """Where a table is, and two numbers that tell where there, and how it moves."""
    if table.source is not None:
        return "kept", *table.source, 0
    if all(graph.op[k] == "const" for k in table.nodes):
        return "constant", 0, 0, 0
    regular = stride(graph, table)
    return ("argument", *regular) if regular else ("nodes", 0, 0, 0)


def _beside(first: tuple[str, int, int, int], other: tuple[str, int, int, int], distance: int) -> bool:
    """Whether another table lies where the first one's neighbour would."""
    kind, a, b, step = first
    return other == ((kind, a, b, step) if kind in ("constant", "nodes") else (kind, a, b + distance, step))


def _stretch(
    graph: Graph,
    tables: tuple[ScanInput, ...],
    first: int,
    kind: tuple[str, int, int, int],
    constants: list[list[float]],
) -> Stretch:
    name, a, b, step = kind
    width = len(tables)
    if name == "kept":
        return Stretch(first, width, [], source=(a, b))
    nodes = [k for row in zip(*(table.nodes for table in tables), strict=True) for k in row]
    if name == "argument":
        return Stretch(first, width, nodes, argument=a, element=b, step=step)
    if name == "constant":
        constants.append([graph.value[k] for k in nodes])
        return Stretch(first, width, nodes, constant=len(constants) - 1, step=width)
    return Stretch(first, width, nodes)


Stores = list[tuple[int, int]]


def copies(
    loop: Loop, slot: dict[int, int], first: int, fresh: Callable[[], int]
) -> tuple[tuple[list[Move], list[Move]], Stores]:
    """How what a loop keeps comes into its rows.

    Carried values and rows are copied from their slots at the beginning of a round. The others have slots, into which
    they are stored before they are copied at the end.

    Returns:
        The copies at the beginning and at the end of a round, and what to store for the latter as (node, slot).
    """
    width = len(loop.outputs)
    leaves = {*loop.carried, *loop.inputs}
    moves: tuple[list[Move], list[Move]] = ([], [])
    stores: Stores = []
    for position, k in enumerate(loop.outputs):
        late = k not in leaves
        place = fresh() if late else slot[k]
        if late:
            stores.append((k, place))
        group = moves[late]
        if (
            group
            and (last := group[-1])
            and (last.source + last.width == place and last.target + last.width == first + position)
        ):
            group[-1] = last._replace(width=last.width + 1)
        else:
            group.append(Move(place, 0, first + position, width, 1))
    return moves, stores
