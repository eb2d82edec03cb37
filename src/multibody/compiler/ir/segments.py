"""Cutting code into segments, and giving every value that crosses a cut a slot.

A segment is a function that loops over a tile of samples. Values that several segments share live in slots: rows of a
structure-of-arrays buffer, one vector per group of samples of the tile. Arguments, results and values that loops carry
have slots of their own; the others are used again as soon as their value is dead. Elements of long results that are the
same value share a slot, as the two halves of a mass matrix do; those of long arguments that one segment alone uses have
none, for it reads them itself.
"""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from multibody.compiler.ir.liveness import last_uses, runs_of, zeros_of
from multibody.compiler.ir.loop_steps import Fill, Leave, Load, Move, Stretch, copies, stretches
from multibody.compiler.ir.matrix_storage import Dense, Matrices
from multibody.compiler.ir.passes import Block
from multibody.tracing.graph.graph import Graph
from multibody.tracing.graph.loop_nodes import AFTER, Loop, stop_condition
from multibody.tracing.graph.ops import OPS
from multibody.tracing.matrices.kinds import operations

SEGMENT = 2000
"""Nodes per segment: small enough for the instruction cache and for the register allocator, large enough to share."""
ONE_BLOCK = 4500
"""Up to so many nodes code is not cut at all."""
REPEATED_FROM, REPEATED = 4000, 1000
"""From how many nodes on bodies of loops that stop are cut, and the nodes of their segments."""
SHORT = 16
"""Elements of an argument or a result up to which they lie side by side in the slots, and are moved without loops."""
SMALL = 250
"""Nodes up to which a program of short rows is also compiled without a buffer in between."""
MANY = 64
"""Elements of all arguments from which on segments read them from rows, and ask for those of the next tile."""
BRIEF = 200
"""Nodes of a loop's body that run once in vain sooner than that samples which are done be asked for apart."""
LONG = 20_000_000
"""Additions' worth of work for one sample from which on its loops look whether they are asked to stop."""
LEAVES = ("const", "true", "false")


class Segment(NamedTuple):
    """Nodes that run together; loads and stores are slots of the buffer."""

    nodes: list[int]
    loads: dict[int, int]
    """node -> slot, of values from elsewhere."""
    rows: dict[int, tuple[int, int]]
    """node -> (argument, element), of those that it reads from rows; no other segment uses them."""
    stores: list[tuple[int, int]]
    """(node, slot), of values for elsewhere; a slot that is read here is read before it is stored."""
    dense: Dense | None = None
    """An operation on matrices, instead of nodes."""

    @property
    def work(self) -> int:
        """How many operations it does on each sample."""
        return operations(self.dense.kind, self.dense.sizes).total() if self.dense else len(self.nodes)


class Repeat(NamedTuple):
    """Steps that run several times."""

    number: int
    """Of the loop."""
    rounds: int
    """How many times at most."""
    steps: "list[Step]"
    like: int = -1
    """The number of a loop before it that has as many rounds, where samples may have stopped that one."""
    backward: bool = False
    """Whether rows are read and kept from the last to the first."""


Step = int | Repeat | Move | Load | Fill | Leave
"""The number of a segment, a loop, or what loops need around segments."""


class Program(NamedTuple):
    """Segments, the order in which they run, and the places of arguments and results in the buffer."""

    block: Block
    segments: list[Segment]
    steps: list[Step]
    """Numbers of segments, and loops over them."""
    inputs: list[tuple[int, int, int]]
    """(argument, element, slot) of every element that is used, or -1 for one that a segment reads from its row."""
    outputs: list[int]
    """The slot of every output element, or -1 for a zero that has none."""
    slots: int
    constants: list[list[float]]
    """Rows of numbers that loops read, one for each round."""
    stored: int
    """How many of the slots hold what loops keep of all rounds."""

    @property
    def long(self) -> bool:
        """Whether a sample takes so long that a signal must be heard in between."""
        return any(self.block.graph.loops) and self.block.graph.work(self.block.order) > LONG

    @property
    def stops(self) -> bool:
        """Whether samples can stop a loop."""
        return any(loop is not None and loop.stop >= 0 for loop in self.block.graph.loops)


def cut(block: Block, sizes: Sequence[int], feedback: dict[int, int] | None = None) -> Program:
    """The program of a block.

    Args:
        block: what to compute.
        sizes: the elements per sample of every result.
        feedback: for a scan: which output (its position) becomes which input leaf (its node) in the next step.
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
        self.members: dict[int, list[int]] = {}  # loop -> what is computed in its body, or with -1 outside of all
        self.results: dict[int, list[int]] = {}  # loop -> its results
        for k in block.order:
            self.members.setdefault(owner[k], []).append(k)
            if self.graph.op[k] in AFTER:
                self.results.setdefault(self.graph.value[k][0], []).append(k)
        self.segments: list[Segment] = []
        self.pieces: list[list[int]] = []
        self.stores: list[list[tuple[int, int]]] = []
        self.home: dict[int, int] = {}
        self.slot: dict[int, int] = {}
        self.last: dict[int, int] = {}
        self.slots = 0
        self.leaves = {self.graph.value[k]: k for k in block.order if self.graph.op[k] == "input"}
        self.alone: set[int] = set()  # those that a segment reads from rows
        self.within: list[int] = []  # the loop of each segment
        self.end: dict[int, int] = {}  # loop -> its last segment
        self.store: dict[int, int] = {}  # loop -> the first slot of what it keeps
        self.stored = 0
        self.constants: list[list[float]] = []
        self.read: dict[int, list[Stretch]] = self.tables()  # loop -> the tables that it reads
        self.matrices = Matrices(block)

    def fresh(self) -> int:
        self.slots += 1
        return self.slots - 1

    def program(self) -> Program:
        steps = self.region(-1, self.members.get(-1, []))
        self.alone = self.used_in_one(steps)
        inputs = self.arguments()
        outputs = self.places()
        self.matrices.settle(self.slot, self.home, self.stores, self.fresh)
        # results: into their slots where they are made, or after all loops when they come from elsewhere
        elsewhere: list[tuple[int, int]] = []
        wanted = [
            (k, slot)
            for position, (k, slot) in enumerate(zip(self.block.outputs, outputs, strict=True))
            if position not in self.feedback and slot >= 0 and slot != self.slot.get(k)
        ]
        for k, slot in dict.fromkeys(wanted):
            (self.stores[self.home[k]] if k in self.home else elsewhere).append((k, slot))
            if k in self.home:
                self.slot[k] = slot
        last = steps[-1] if steps else None
        if not isinstance(last, int) or last in self.matrices.steps or len(elsewhere) > SEGMENT:
            steps += [self.add([], elsewhere[at : at + SEGMENT]) for at in range(0, len(elsewhere) or 1, SEGMENT)]
        else:
            self.stores[last] += elsewhere
        if self.feedback:
            following = [(self.block.outputs[position], self.slot[leaf]) for position, leaf in self.feedback.items()]
            steps.append(self.add([], following))
        self.last = last_uses(self.graph, self.pieces, self.stores, self.within, self.end)
        self.assign()
        return Program(self.block, self.segments, steps, inputs, outputs, self.slots, self.constants, self.stored)

    def tables(self) -> dict[int, list[Stretch]]:
        """What loops read in their rounds; elements of arguments that nothing else uses need no slots."""
        graph = self.graph
        elsewhere = {a for k in self.block.order for a in graph.args[k]} | set(self.block.outputs)
        elsewhere |= set(self.feedback.values())
        read: dict[int, list[Stretch]] = {}
        alone: set[int] = set()
        for number in self.results:
            loop = graph.loop_at(number)
            read[number] = stretches(graph, loop, self.constants)
            elsewhere.update(loop.initial + loop.final + loop.outputs)
            for stretch in read[number]:
                (alone if stretch.argument >= 0 else elsewhere).update(stretch.nodes)
        self.leaves = {place: k for place, k in self.leaves.items() if k in elsewhere or k not in alone}
        return read

    def used_in_one(self, steps: list[Step]) -> set[int]:
        """Elements of long arguments that one segment alone uses, in programs that run once and have no loops.

        Small programs have none: `llvm_ir` has a form of them that reads all rows itself.
        """
        graph = self.graph
        straight = self.once and all(isinstance(step, int) for step in steps)
        if not straight or len(self.leaves) < MANY or sum(map(len, self.pieces)) <= SMALL:
            return set()
        lengths = Counter(argument for argument, _ in self.leaves)
        long = {k for (argument, _), k in self.leaves.items() if lengths[argument] > SHORT}
        users: dict[int, set[int]] = {}
        for number, piece in enumerate(self.pieces):
            for a in long.intersection(a for k in piece for a in graph.args[k]):
                users.setdefault(a, set()).add(number)
        whole = {a for k in self.matrices.steps.values() for a in graph.args[k]}
        return {k for k, numbers in users.items() if len(numbers) == 1} - set(self.block.outputs) - whole

    def arguments(self) -> list[tuple[int, int, int]]:
        """Slots for the elements of arguments that are used, as they lie in the argument but for long gaps."""
        kept = {place: k for place, k in self.leaves.items() if k not in self.alone}
        for argument, first, last in runs_of(sorted(kept)):
            for element in range(first, last + 1):
                slot = self.fresh()
                if (argument, element) in kept:
                    self.slot[kept[argument, element]] = slot
        return [(*place, self.slot.get(k, -1)) for place, k in sorted(self.leaves.items())]

    def places(self) -> list[int]:
        """The slots of results; -1 where many zeros lie side by side."""
        zeros, shared = zeros_of(self.block, self.sizes) - self.feedback.keys(), dict[int, int]()
        slots: list[int] = []
        for size in self.sizes:
            for position in range(len(slots), len(slots) + size):
                k = self.block.outputs[position]
                if position in zeros:
                    slots.append(-1)
                elif size <= SHORT or position in self.feedback:
                    slots.append(self.fresh())
                elif self.graph.op[k] in ("stacked_output", "entry"):  # it stays where it is
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
        """The steps of nodes of a loop's body, or of the whole (-1)."""
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
        """A loop: carried values get their first numbers, then the body runs, which ends by renewing them."""
        graph, loop = self.graph, self.graph.loop_at(number)
        places = [self.fresh() for _ in loop.carried]
        self.slot.update(zip(loop.carried, places, strict=True))
        self.slot.update((k, self.fresh()) for k in loop.inputs)
        width, first = len(loop.outputs), self.slots
        self.store[number] = first
        self.slots += width * loop.iterations
        self.stored += width * loop.iterations
        for k in self.results[number]:
            op, (_, *place) = graph.op[k], graph.value[k]
            if op != "trip_count":
                self.slot[k] = places[place[0]] if op == "result" else first + place[1] * width + place[0]
        self.end[number] = -1  # begun
        stores = list(zip(loop.initial, places, strict=True))
        loads: list[Step] = []
        for stretch in self.read[number]:
            to = self.slot[loop.inputs[stretch.first]]
            if stretch.argument >= 0 or stretch.constant >= 0:
                loads.append(Load(stretch.argument, stretch.constant, stretch.element, stretch.step, stretch.width, to))
            elif stretch.source is not None:
                source, position = stretch.source
                kept = len(graph.loop_at(source).outputs)
                loads.append(Move(self.store[source] + position, kept, to, 0, stretch.width))
            else:
                start, step = self.slots, stretch.width
                self.slots += len(stretch.nodes)
                stores += [(k, start + j) for j, k in enumerate(stretch.nodes)]
                loads.append(Move(start, step, to, 0, stretch.width))
        start = self.add([], stores, loop.parent)
        body = self.body(number, loop, loads)
        # of loops that may have fewer rounds, what they keep is there for those rounds too that were not taken
        shown = (loop.stop >= 0 or loop.trip_count >= 0) and any(
            graph.op[k] == "stacked_output" for k in self.results[number]
        )
        like = graph.value[loop.trip_count][0] if loop.trip_count >= 0 else -1
        fill = [Fill(first, width * loop.iterations, math.nan if loop.stop >= 0 else 0.0)] if shown else []
        repeat = Repeat(number, loop.iterations, body, like, loop.reverse)
        return [start, *fill, repeat]

    def body(self, number: int, loop: Loop, loads: list[Step]) -> list[Step]:
        """The steps of a round.

        Whether samples are done is known from what the round begins with. Where the body is short it is asked in one
        piece of code with the body, and the last round changes nothing; else before the body.
        """
        members = self.members.get(number, [])
        early = loop.stop >= 0 and (len(members) > BRIEF or any(self.graph.op[k] in (*AFTER, "dense") for k in members))
        head: list[Step] = []
        if early:
            first = stop_condition(self.graph, number)
            head = self.region(number, [k for k in members if k in first])
            members = [k for k in members if k not in first]
            answer = self.answer(loop)
            head += [self.add([], answer, number)] if answer else []
            head.append(Leave(self.slot[loop.stop]))
        places = [self.slot[k] for k in loop.carried]
        moves, stores = copies(loop, self.slot, self.store[number], self.fresh)
        begun = len(self.pieces)
        work = self.region(number, members)
        late = self.answer(loop) if loop.stop >= 0 and not early else []
        for k, slot in stores:
            home = self.home.get(k, -1)
            (self.stores[home] if home >= begun and self.within[home] == number else late).append((k, slot))
        renewed = list(zip(loop.final, places, strict=True))
        if len(work) == 1 and isinstance(work[0], int) and work[0] not in self.matrices.steps:
            end = work[0]
            self.stores[end] += [*late, *renewed]
        else:
            end = self.add([], [*late, *renewed], number)
            work.append(end)
        self.end[number] = end
        leave = [Leave(self.slot[loop.stop])] if loop.stop >= 0 and not early else []
        return [*head, *loads, *moves[0], *work, *leave, *moves[1]]

    def answer(self, loop: Loop) -> list[tuple[int, int]]:
        """Give a slot to whether samples are done; what to store, if no segment has computed it."""
        if loop.stop in self.slot:
            return []
        self.slot[loop.stop] = self.fresh()
        if loop.stop not in self.home:
            return [(loop.stop, self.slot[loop.stop])]
        self.stores[self.home[loop.stop]].append((loop.stop, self.slot[loop.stop]))
        return []

    def dense(self, k: int, loop: int) -> list[Step]:
        """An operation on matrices: the constants among its arguments get slots, then it runs."""
        constants = self.matrices.begin(k, self.slot, self.fresh)
        steps: list[Step] = [self.add([], [(a, self.slot[a]) for a in constants], loop)] if constants else []
        number = self.add([k], loop=loop)
        self.matrices.steps[number] = k
        return [*steps, number]

    def cut(self, nodes: list[int], loop: int) -> Iterator[list[int]]:
        """Runs of the order, of a loop's body or of the whole (-1); a sine is not torn from its cosine."""
        graph = self.graph
        length = len(nodes) if len(nodes) <= ONE_BLOCK else SEGMENT
        around = graph.loops[loop] if loop >= 0 else None
        if around is not None and around.stop >= 0 and len(nodes) > REPEATED_FROM:
            length = REPEATED
        start = 0
        while start < len(nodes):
            end = min(start + length, len(nodes))
            if end < len(nodes) and {graph.op[k] for k in nodes[end - 1 : end + 1]} == {"sin", "cos"}:
                end += graph.args[nodes[end - 1]] == graph.args[nodes[end]]
            yield nodes[start:end]
            start = end

    def assign(self) -> None:
        graph = self.graph
        free: list[int] = []
        expiring: dict[int, list[int]] = {}
        for number, piece in enumerate(self.pieces):
            if number in self.matrices.steps:
                self.segments.append(Segment([], {}, {}, [], self.matrices.blocks[self.matrices.steps[number]]))
                continue
            mine = set(piece)
            for k in piece:
                if self.last.get(k, number) > number and k not in self.slot:
                    self.slot[k] = free.pop() if free else self.fresh()
                    expiring.setdefault(self.last[k], []).append(self.slot[k])
                    self.stores[number].append((k, self.slot[k]))
            used = [a for k in piece for a in graph.args[k]] + [k for k, _ in self.stores[number]]
            other = [a for a in used if a not in mine and graph.op[a] not in LEAVES]
            loads = {a: self.slot[a] for a in other if a not in self.alone}
            rows = {a: graph.value[a] for a in other if a in self.alone}
            free.extend(expiring.pop(number, ()))
            self.segments.append(Segment(piece, loads, rows, self.stores[number]))
