"""Division of a program into segments, and allocation of slots for the values that they share.

A segment is a function that loops over the vectors of a tile. Values that several segments share live in slots of a
structure-of-arrays buffer, one vector each. Arguments, results and loop carries have their own slots. The slots of
other values are reused once the value is dead. Equal elements of long results share a slot, such as the two halves of a
mass matrix. Elements of long arguments that only one segment uses have none, because that segment loads them itself.
"""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from multibody.compiler.ir.liveness import allocate_slots, last_uses, runs_of, zero_runs
from multibody.compiler.ir.loop_steps import (
    CopySlots,
    ExitIfFinished,
    FillSlots,
    InputGroup,
    LoadRow,
    group_inputs,
    output_copies,
)
from multibody.compiler.ir.matrix_storage import Matrices
from multibody.compiler.ir.passes import Block
from multibody.compiler.ir.program import MAX_DIRECT_NODES, MAX_UNROLLED_ROW, Program, Repeat, Segment, Step
from multibody.tracing.graph.graph import Graph
from multibody.tracing.graph.loop_nodes import AFTER, Loop, stop_condition
from multibody.tracing.graph.ops import OPS

SEGMENT_NODES = 2000
"""Nodes per segment: few enough for the instruction cache and the register allocator, enough to share values."""
MAX_UNCUT_NODES = 4500
"""Programs up to this size are one segment."""
MAX_UNCUT_STOPPING_NODES, STOPPING_SEGMENT_NODES = 4000, 1000
"""Bodies of loops with a stop condition are one segment up to the first size; beyond, segments have the second."""
MIN_STREAMED_INPUTS = 64
"""Programs with at least this many inputs load them in segments, and prefetch those of the next tile."""
MAX_SPECULATIVE_NODES = 200
"""Bodies up to this size evaluate the stop condition together with the body, at the cost of one wasted iteration."""
LEAVES = ("const", "true", "false")


def cut(block: Block, sizes: Sequence[int], feedback: dict[int, int] | None = None) -> Program:
    """The program of a block.

    Args:
        block: to compute.
        sizes: the elements per sample of every result.
        feedback: for a scan: the position of an output -> the input leaf that it becomes in the next step.
    """
    return _Cutter(block, sizes, feedback).program()


class _Cutter:
    def __init__(self, block: Block, sizes: Sequence[int], feedback: dict[int, int] | None) -> None:
        self.block = block
        self.sizes = sizes
        self.graph: Graph = block.graph
        self.feedback = feedback or {}
        self.once = feedback is None
        owner = self.graph.owners()
        self.members: dict[int, list[int]] = {}  # loop, or -1 -> the nodes of its body
        self.results: dict[int, list[int]] = {}  # loop -> its results
        for k in block.order:
            self.members.setdefault(owner[k], []).append(k)
            if self.graph.op[k] in AFTER:
                self.results.setdefault(self.graph.value[k][0], []).append(k)
        self.pieces: list[list[int]] = []
        self.stores: list[list[tuple[int, int]]] = []
        self.home: dict[int, int] = {}
        self.slot: dict[int, int] = {}
        self.slots = 0
        self.leaves = {self.graph.value[k]: k for k in block.order if self.graph.op[k] == "input"}
        self.streamed: set[int] = set()  # inputs that a segment loads from rows
        self.within: list[int] = []  # the loop of each segment
        self.end: dict[int, int] = {}  # loop -> its last segment
        self.store: dict[int, int] = {}  # loop -> the first slot of its stacked outputs
        self.stacked = 0
        self.constants: list[list[float]] = []
        self.read: dict[int, list[InputGroup]] = self.scan_inputs()  # loop -> its scan inputs
        self.matrices = Matrices(block)

    def fresh(self) -> int:
        self.slots += 1
        return self.slots - 1

    def program(self) -> Program:
        steps = self.region(-1, self.members.get(-1, []))
        self.streamed = self.streamed_inputs(steps)
        inputs = self.arguments()
        outputs = self.result_slots()
        self.matrices.place_operands(self.slot, self.home, self.stores, self.fresh)
        # the segment that computes a result stores it; inputs and results of loops are stored after all loops
        late: list[tuple[int, int]] = []
        stores = [
            (k, slot)
            for position, (k, slot) in enumerate(zip(self.block.outputs, outputs, strict=True))
            if position not in self.feedback and slot >= 0 and slot != self.slot.get(k)
        ]
        for k, slot in dict.fromkeys(stores):
            (self.stores[self.home[k]] if k in self.home else late).append((k, slot))
            if k in self.home:
                self.slot[k] = slot
        last = steps[-1] if steps else None
        if not isinstance(last, int) or last in self.matrices.steps or len(late) > SEGMENT_NODES:
            steps += [self.add([], late[at : at + SEGMENT_NODES]) for at in range(0, len(late) or 1, SEGMENT_NODES)]
        else:
            self.stores[last] += late
        if self.feedback:
            following = [(self.block.outputs[position], self.slot[leaf]) for position, leaf in self.feedback.items()]
            steps.append(self.add([], following))
        last_use = last_uses(self.graph, self.pieces, self.stores, self.within, self.end)
        allocate_slots(self.pieces, self.stores, self.slot, last_use, self.fresh, skipped=self.matrices.steps)
        segments = [self.segment(number, piece) for number, piece in enumerate(self.pieces)]
        return Program(self.block, segments, steps, inputs, outputs, self.slots, self.constants, self.stacked)

    def segment(self, number: int, piece: list[int]) -> Segment:
        """A segment, with the slots and rows that it loads."""
        if number in self.matrices.steps:
            return Segment([], {}, {}, [], self.matrices.blocks[self.matrices.steps[number]])
        graph, computed = self.graph, set(piece)
        used = [a for k in piece for a in graph.args[k]] + [k for k, _ in self.stores[number]]
        other = [a for a in used if a not in computed and graph.op[a] not in LEAVES]
        loads = {a: self.slot[a] for a in other if a not in self.streamed}
        rows = {a: graph.value[a] for a in other if a in self.streamed}
        return Segment(piece, loads, rows, self.stores[number])

    def scan_inputs(self) -> dict[int, list[InputGroup]]:
        """The scan inputs of all loops; elements of arguments that nothing else uses need no slots."""
        graph = self.graph
        needed = {a for k in self.block.order for a in graph.args[k]} | set(self.block.outputs)
        needed |= set(self.feedback.values())
        read: dict[int, list[InputGroup]] = {}
        loaded: set[int] = set()
        for number in self.results:
            loop = graph.loop_at(number)
            read[number] = group_inputs(graph, loop, self.constants)
            needed.update(loop.initial + loop.final + loop.outputs)
            for group in read[number]:
                (loaded if group.argument >= 0 else needed).update(group.nodes)
        self.leaves = {element: k for element, k in self.leaves.items() if k in needed or k not in loaded}
        return read

    def streamed_inputs(self, steps: list[Step]) -> set[int]:
        """Elements of long arguments that only one segment uses, in programs that run once and have no loops.

        Small programs have none, because their direct function loads all rows itself.
        """
        graph = self.graph
        straight = self.once and all(isinstance(step, int) for step in steps)
        if not straight or len(self.leaves) < MIN_STREAMED_INPUTS or sum(map(len, self.pieces)) <= MAX_DIRECT_NODES:
            return set()
        lengths = Counter(argument for argument, _ in self.leaves)
        long = {k for (argument, _), k in self.leaves.items() if lengths[argument] > MAX_UNROLLED_ROW}
        users: dict[int, set[int]] = {}
        for number, piece in enumerate(self.pieces):
            for a in long.intersection(a for k in piece for a in graph.args[k]):
                users.setdefault(a, set()).add(number)
        whole = {a for k in self.matrices.steps.values() for a in graph.args[k]}
        return {k for k, numbers in users.items() if len(numbers) == 1} - set(self.block.outputs) - whole

    def arguments(self) -> list[tuple[int, int, int]]:
        """Slots for the used elements of arguments, in the order of the argument, without its long gaps."""
        used = {element: k for element, k in self.leaves.items() if k not in self.streamed}
        for argument, first, last in runs_of(sorted(used)):
            for element in range(first, last + 1):
                slot = self.fresh()
                if (argument, element) in used:
                    self.slot[used[argument, element]] = slot
        return [(*element, self.slot.get(k, -1)) for element, k in sorted(self.leaves.items())]

    def result_slots(self) -> list[int]:
        """The slots of results; -1 for long runs of zeros."""
        zeros, shared = zero_runs(self.block, self.sizes) - self.feedback.keys(), dict[int, int]()
        slots: list[int] = []
        for size in self.sizes:
            for position in range(len(slots), len(slots) + size):
                k = self.block.outputs[position]
                if position in zeros:
                    slots.append(-1)
                elif size <= MAX_UNROLLED_ROW or position in self.feedback:
                    slots.append(self.fresh())
                elif self.graph.op[k] in ("stacked_output", "entry"):  # it has its slot already
                    slots.append(self.slot[k])
                else:
                    if k not in shared:
                        shared[k] = self.fresh()
                    slots.append(shared[k])
        return slots

    def add(self, piece: list[int], stores: Iterable[tuple[int, int]] = (), loop: int = -1) -> int:
        number = len(self.pieces)
        self.pieces.append(piece)
        self.within.append(loop)
        self.stores.append(list(stores))
        self.home.update((k, number) for k in piece)
        return number

    def region(self, loop: int, nodes: Sequence[int]) -> list[Step]:
        """The steps of a loop's nodes, or of all others (-1)."""
        graph = self.graph
        steps: list[Step] = []
        pending: list[int] = []
        for k in nodes:
            if graph.op[k] in AFTER and graph.value[k][0] not in self.end:
                steps += [self.add(piece, loop=loop) for piece in self.cut(pending, loop)]
                pending = []
                steps += self.repeat(graph.value[k][0])
            elif graph.op[k] == "dense":
                steps += [self.add(piece, loop=loop) for piece in self.cut(pending, loop)]
                pending = []
                steps += self.dense(k, loop)
            elif OPS[graph.op[k]].arity:
                pending.append(k)
        return steps + [self.add(piece, loop=loop) for piece in self.cut(pending, loop)]

    def repeat(self, number: int) -> list[Step]:
        """A loop: its carries are initialised, then its body runs, which ends by updating them."""
        graph, loop = self.graph, self.graph.loop_at(number)
        carries = [self.fresh() for _ in loop.carried]
        self.slot.update(zip(loop.carried, carries, strict=True))
        self.slot.update((k, self.fresh()) for k in loop.inputs)
        width, first = len(loop.outputs), self.slots
        self.store[number] = first
        self.slots += width * loop.iterations
        self.stacked += width * loop.iterations
        for k in self.results[number]:
            op, (_, *position) = graph.op[k], graph.value[k]
            if op != "trip_count":
                self.slot[k] = carries[position[0]] if op == "result" else first + position[1] * width + position[0]
        self.end[number] = -1  # begun
        stores = list(zip(loop.initial, carries, strict=True))
        loads: list[Step] = []
        for group in self.read[number]:
            to = self.slot[loop.inputs[group.first]]
            if group.argument >= 0 or group.constant >= 0:
                loads.append(LoadRow(group.argument, group.constant, group.element, group.step, group.width, to))
            elif group.source is not None:
                source, output = group.source
                count = len(graph.loop_at(source).outputs)
                loads.append(CopySlots(self.store[source] + output, count, to, 0, group.width))
            else:
                start, step = self.slots, group.width
                self.slots += len(group.nodes)
                stores += [(k, start + j) for j, k in enumerate(group.nodes)]
                loads.append(CopySlots(start, step, to, 0, group.width))
        start = self.add([], stores, loop.parent)
        body = self.body(number, loop, loads)
        # stacked outputs of iterations that do not run, because samples stopped the loop, are filled
        partial = (loop.stop >= 0 or loop.trip_count >= 0) and any(
            graph.op[k] == "stacked_output" for k in self.results[number]
        )
        same_as = graph.value[loop.trip_count][0] if loop.trip_count >= 0 else -1
        fill = [FillSlots(first, width * loop.iterations, math.nan if loop.stop >= 0 else 0.0)] if partial else []
        repeat = Repeat(number, loop.iterations, body, same_as, loop.reverse)
        return [start, *fill, repeat]

    def body(self, number: int, loop: Loop, loads: list[Step]) -> list[Step]:
        """The steps of an iteration.

        The stop condition depends on the carries at its beginning. In short bodies it is evaluated together with the
        body, and the last iteration changes nothing; otherwise before the body.
        """
        members = self.members.get(number, [])
        nested = any(self.graph.op[k] in (*AFTER, "dense") for k in members)
        early = loop.stop >= 0 and (nested or len(members) > MAX_SPECULATIVE_NODES)
        head: list[Step] = []
        if early:
            first = stop_condition(self.graph, number)
            head = self.region(number, [k for k in members if k in first])
            members = [k for k in members if k not in first]
            missing = self.stop_slot(loop)
            head += [self.add([], missing, number)] if missing else []
            head.append(ExitIfFinished(self.slot[loop.stop]))
        carries = [self.slot[k] for k in loop.carried]
        moves, stores = output_copies(loop, self.slot, self.store[number], self.fresh)
        begun = len(self.pieces)
        work = self.region(number, members)
        late = self.stop_slot(loop) if loop.stop >= 0 and not early else []
        for k, slot in stores:
            home = self.home.get(k, -1)
            (self.stores[home] if home >= begun and self.within[home] == number else late).append((k, slot))
        updates = list(zip(loop.final, carries, strict=True))
        if len(work) == 1 and isinstance(work[0], int) and work[0] not in self.matrices.steps:
            end = work[0]
            self.stores[end] += [*late, *updates]
        else:
            end = self.add([], [*late, *updates], number)
            work.append(end)
        self.end[number] = end
        exit_late = [ExitIfFinished(self.slot[loop.stop])] if loop.stop >= 0 and not early else []
        return [*head, *loads, *moves[0], *work, *exit_late, *moves[1]]

    def stop_slot(self, loop: Loop) -> list[tuple[int, int]]:
        """Give the stop condition a slot; return the store of it that is missing, if any."""
        if loop.stop in self.slot:
            return []
        self.slot[loop.stop] = self.fresh()
        if loop.stop not in self.home:
            return [(loop.stop, self.slot[loop.stop])]
        self.stores[self.home[loop.stop]].append((loop.stop, self.slot[loop.stop]))
        return []

    def dense(self, k: int, loop: int) -> list[Step]:
        """A matrix operation, after stores of the constants among its arguments."""
        constants = self.matrices.begin(k, self.slot, self.fresh)
        steps: list[Step] = [self.add([], [(a, self.slot[a]) for a in constants], loop)] if constants else []
        number = self.add([k], loop=loop)
        self.matrices.steps[number] = k
        return [*steps, number]

    def cut(self, nodes: list[int], loop: int) -> Iterator[list[int]]:
        """Consecutive nodes of a loop's body, or of all others (-1); a sine stays with its cosine."""
        graph = self.graph
        length = len(nodes) if len(nodes) <= MAX_UNCUT_NODES else SEGMENT_NODES
        around = graph.loops[loop] if loop >= 0 else None
        if around is not None and around.stop >= 0 and len(nodes) > MAX_UNCUT_STOPPING_NODES:
            length = STOPPING_SEGMENT_NODES
        start = 0
        while start < len(nodes):
            end = min(start + length, len(nodes))
            if end < len(nodes) and {graph.op[k] for k in nodes[end - 1 : end + 1]} == {"sin", "cos"}:
                end += graph.args[nodes[end - 1]] == graph.args[nodes[end]]
            yield nodes[start:end]
            start = end
