"""A program: segments, loops over them, and the slots of its arguments and results."""

from collections.abc import Sequence
from itertools import groupby
from typing import NamedTuple

from multibody.compiler.ir.loop_steps import CopySlots, ExitIfFinished, FillSlots, LoadRow
from multibody.compiler.ir.matrix_storage import Dense
from multibody.compiler.ir.passes import Block
from multibody.tracing.matrices.kinds import operations

MAX_UNROLLED_ROW = 16
"""Arguments and results of up to this many elements have adjacent slots, and are moved without loops."""
MAX_DIRECT_NODES = 250
"""Programs of short rows up to this size also have a function without a buffer: moving rows is most of their work."""
MIN_INTERRUPTIBLE_WORK = 20_000_000
"""Work per sample, in additions, above which loops test whether they have to stop."""


class Segment(NamedTuple):
    """Nodes that run together; loads and stores are slots of the buffer."""

    nodes: list[int]
    loads: dict[int, int]
    """node -> slot, of values from other segments."""
    rows: dict[int, tuple[int, int]]
    """node -> (argument, element), of inputs that it loads from rows; no other segment uses them."""
    stores: list[tuple[int, int]]
    """(node, slot), of values for other segments; a slot that is loaded here is loaded before it is stored."""
    dense: Dense | None = None
    """A matrix operation, instead of nodes."""

    @property
    def work(self) -> int:
        """Operations per sample."""
        return operations(self.dense.kind, self.dense.sizes).total() if self.dense else len(self.nodes)


class Repeat(NamedTuple):
    """A loop over steps."""

    number: int
    """Of the loop in the graph."""
    trip_count: int
    """Or its bound, if samples can stop the loop."""
    steps: "list[Step]"
    same_as: int = -1
    """The number of an earlier loop that determines the trip count, because samples can stop that one."""
    backward: bool = False
    """Whether scan inputs and stacked outputs are indexed from the last to the first."""


Step = int | Repeat | CopySlots | LoadRow | FillSlots | ExitIfFinished
"""The number of a segment, a loop, or a step of a loop around its segments."""


class InputRun(NamedTuple):
    """Adjacent elements of an argument that have adjacent slots; some of them may be unused."""

    argument: int
    column: int
    slot: int
    length: int


class Program(NamedTuple):
    """Segments, their order, and the slots of arguments and results in the buffer."""

    block: Block
    segments: list[Segment]
    steps: list[Step]
    """Numbers of segments, and loops over them."""
    inputs: list[tuple[int, int, int]]
    """(argument, element, slot) of every element that is used; the slot is -1 if a segment loads it from its row."""
    outputs: list[int]
    """The slot of every output element, or -1 for a zero that has none."""
    slots: int
    constants: list[list[float]]
    """Constant scan inputs of loops, with one row for each iteration."""
    stacked: int
    """The number of slots that stack the outputs of all iterations of loops."""

    @property
    def input_runs(self) -> list[InputRun]:
        """The elements that are loaded into slots, in runs that are contiguous in argument and slots."""
        inputs = sorted(item for item in self.inputs if item[2] >= 0)
        runs: list[InputRun] = []
        for _, group in groupby(inputs, key=lambda item: (item[0], item[1] - item[2])):
            (argument, column, slot), *others = group
            runs.append(InputRun(argument, column, slot, others[-1][1] - column + 1 if others else 1))
        return runs

    def is_direct(self, sizes: Sequence[int]) -> bool:
        """Whether moving rows, of the results of these sizes too, is most of the work: a buffer in between is waste."""
        lengths = [*(run.length for run in self.input_runs), *sizes]
        short = max(lengths, default=0) <= MAX_UNROLLED_ROW and 0 < len(sizes) < len(lengths)
        return short and self.steps == [0] and self.segments[0].work <= MAX_DIRECT_NODES

    @property
    def interruptible(self) -> bool:
        """Whether a sample takes so long that loops have to test for signals."""
        return any(self.block.graph.loops) and self.block.graph.work(self.block.order) > MIN_INTERRUPTIBLE_WORK

    @property
    def stops(self) -> bool:
        """Whether samples can stop a loop."""
        return any(loop is not None and loop.stop >= 0 for loop in self.block.graph.loops)
