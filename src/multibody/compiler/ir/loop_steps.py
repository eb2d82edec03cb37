"""Steps of a loop around its segments: load scan inputs, stack outputs, and exit if all samples are finished.

The scan inputs of an iteration have slots, which its segments load like all others. They come from the rows of an
argument, from constants of the module, or from other slots.
"""

from collections.abc import Callable
from typing import NamedTuple

from multibody.tracing.graph.graph import Graph
from multibody.tracing.graph.loop_nodes import Loop, ScanInput, stride


class CopySlots(NamedTuple):
    """A copy of slots in every iteration."""

    source: int
    source_step: int
    """Slots by which the source advances per iteration."""
    target: int
    target_step: int
    width: int


class LoadRow(NamedTuple):
    """A load of constants, or of elements of an argument, into slots in every iteration."""

    argument: int
    """Its number, or -1."""
    constant: int
    """The number of a table of constants, or -1."""
    element: int
    """The first element in iteration 0."""
    step: int
    """Elements by which it advances per iteration."""
    width: int
    slot: int


class FillSlots(NamedTuple):
    """A constant that is stored to slots before a loop."""

    slot: int
    length: int
    number: float


class ExitIfFinished(NamedTuple):
    """The exit of a loop if the slot is not zero in all samples of the tile."""

    slot: int


class InputGroup(NamedTuple):
    """Adjacent scan inputs of a loop that are loaded together."""

    first: int
    """The position of the first one."""
    width: int
    nodes: list[int]
    """Iteration by iteration; empty if the source is another loop."""
    argument: int = -1
    constant: int = -1
    element: int = 0
    step: int = 0
    source: tuple[int, int] | None = None


def group_inputs(graph: Graph, loop: Loop, constants: list[list[float]]) -> list[InputGroup]:
    """The scan inputs of a loop in groups that are loaded together; tables of constants are appended to `constants`."""
    kinds = [_kind(graph, scan_input) for scan_input in loop.xs]
    result: list[InputGroup] = []
    at = 0
    while at < len(loop.xs):
        end = at + 1
        while end < len(loop.xs) and _adjacent(kinds[at], kinds[end], end - at):
            end += 1
        result.append(_input_group(graph, loop.xs[at:end], at, kinds[at], constants))
        at = end
    return result


def _kind(graph: Graph, scan_input: ScanInput) -> tuple[str, int, int, int]:
    """The kind of source of a scan input, its position there (two numbers), and its step per iteration."""
    if scan_input.source is not None:
        return "stacked", *scan_input.source, 0
    if all(graph.op[k] == "const" for k in scan_input.nodes):
        return "constant", 0, 0, 0
    if regular := stride(graph, scan_input):
        argument, first, step = regular
        return "argument", argument, first, step
    return "nodes", 0, 0, 0


def _adjacent(first: tuple[str, int, int, int], other: tuple[str, int, int, int], distance: int) -> bool:
    """Whether another scan input is that far behind the first one in the same source."""
    kind, a, b, step = first
    return other == ((kind, a, b, step) if kind in ("constant", "nodes") else (kind, a, b + distance, step))


def _input_group(
    graph: Graph,
    inputs: tuple[ScanInput, ...],
    first: int,
    kind: tuple[str, int, int, int],
    constants: list[list[float]],
) -> InputGroup:
    name, a, b, step = kind
    width = len(inputs)
    if name == "stacked":
        return InputGroup(first, width, [], source=(a, b))
    nodes = [k for row in zip(*(scan_input.nodes for scan_input in inputs), strict=True) for k in row]
    if name == "argument":
        return InputGroup(first, width, nodes, argument=a, element=b, step=step)
    if name == "constant":
        constants.append([graph.value[k] for k in nodes])
        return InputGroup(first, width, nodes, constant=len(constants) - 1, step=width)
    return InputGroup(first, width, nodes)


Stores = list[tuple[int, int]]


def output_copies(
    loop: Loop, slot: dict[int, int], first: int, fresh: Callable[[], int]
) -> tuple[tuple[list[CopySlots], list[CopySlots]], Stores]:
    """The copies that stack the outputs of a loop.

    Carries and scan inputs are copied from their slots at the beginning of an iteration. The others get slots, into
    which they are stored before they are copied at the end.

    Returns:
        The copies at the beginning and at the end of an iteration, and the (node, slot) to store for the latter.
    """
    width = len(loop.outputs)
    leaves = {*loop.carried, *loop.inputs}
    moves: tuple[list[CopySlots], list[CopySlots]] = ([], [])
    stores: Stores = []
    for position, k in enumerate(loop.outputs):
        late = k not in leaves
        source = fresh() if late else slot[k]
        if late:
            stores.append((k, source))
        group = moves[late]
        last = group[-1] if group else CopySlots(-1, 0, -1, 0, 0)
        if (last.source + last.width, last.target + last.width) == (source, first + position):
            group[-1] = last._replace(width=last.width + 1)
        else:
            group.append(CopySlots(source, 0, first + position, width, 1))
    return moves, stores
