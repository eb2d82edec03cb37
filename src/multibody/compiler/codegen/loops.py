"""LLVM IR of a kernel's loops, around calls of its segments.

Every loop has a counter in memory, which is its trip count after the loop. An iteration begins by testing whether all
samples of the tile are finished, and by loading its scan inputs into slots.
"""

from multibody.compiler.codegen import transpose
from multibody.compiler.codegen.builder import Builder, Index
from multibody.compiler.ir.loop_steps import CopySlots, ExitIfFinished, FillSlots, LoadRow
from multibody.compiler.ir.program import MAX_UNROLLED_ROW, Program, Repeat, Step
from multibody.compiler.ir.tiling import Tiling


def flat(steps: list[Step]) -> list[Step]:
    """All steps, including those within loops."""
    return [inner for step in steps for inner in (step, *(flat(step.steps) if isinstance(step, Repeat) else ()))]


def arguments(steps: list[Step]) -> set[int]:
    """The arguments that are scan inputs of loops."""
    return {step.argument for step in flat(steps) if isinstance(step, LoadRow) and step.argument >= 0}


def lengths(steps: list[Step]) -> set[int]:
    """The lengths of rows that loops load."""
    return {step.width for step in flat(steps) if isinstance(step, LoadRow)}


def allocate_counters(b: Builder, program: Program) -> None:
    """The counters of all loops and, in interruptible programs, the address of the flag that stops them."""
    for step in flat(program.steps):
        if isinstance(step, Repeat):
            b.let("alloca i64, align 8", f"%loop{step.number}")
    if program.interruptible:
        b.let(f"load ptr, ptr {b.gep('%in', -1, 'ptr')}, align 8", "%stop")


def functions(program: Program, tiling: Tiling, *, stops: bool) -> str:
    """The constants and functions that the loops of a kernel need; a scan that `stops` tests for finished samples."""
    present = {type(step) for step in flat(program.steps)}
    texts = [
        f"@constants{number} = internal constant {tiling.array(row)}, align 64"
        for number, row in enumerate(program.constants)
    ]
    widths = {step.width for step in flat(program.steps) if isinstance(step, CopySlots)}
    texts += [_copy_slots(tiling, width) for width in sorted({min(width, MAX_UNROLLED_ROW + 1) for width in widths})]
    texts += [_fill_slots(tiling)] if FillSlots in present else []
    texts += [_finished(tiling)] if ExitIfFinished in present or stops else []
    return "\n".join(texts)


class LoopWriter:
    """Writes the steps of a program into the entry of its kernel.

    Args:
        b: the builder of the entry.
        buffer: the address of the slots.
        kernel: the name of the entry.
        per_step: arguments that change from step to step of a scan.
        interruptible: whether loops test for a request to stop.
    """

    def __init__(self, b: Builder, buffer: str, kernel: str, per_step: set[int], *, interruptible: bool) -> None:
        self.b = b
        self.buffer = buffer
        self.kernel = kernel
        self.per_step = per_step
        self.interruptible = interruptible

    def steps(self, steps: list[Step], loop: Repeat | None = None) -> None:
        """Write steps, which are those of a loop or of the whole program."""
        b = self.b
        for step in steps:
            if isinstance(step, int):
                b.emit(f"call void @{self.kernel}.{step}(ptr {self.buffer}, i64 %count, ptr %rows, ptr %addresses)")
            elif isinstance(step, Repeat):
                self.repeat(step)
            elif isinstance(step, FillSlots):
                value = f"{b.tiling.vector} {b.tiling.constant(step.number)}"
                b.emit(f"call void @fill_slots(ptr {self.slot(step.slot)}, i64 %count, i64 {step.length}, {value})")
            elif isinstance(step, ExitIfFinished) and loop is not None:
                finished, go_on = b.let(f"call i1 @finished(ptr {self.slot(step.slot)}, i64 %count)"), b.name()
                b.branch(finished, f"loop{loop.number}.done", go_on)
                b.begin(go_on)
            elif isinstance(step, CopySlots) and loop is not None:
                source = self.slot(self.affine(step.source, step.source_step, loop))
                target = self.slot(self.affine(step.target, step.target_step, loop))
                b.emit(f"call void @{_copier(step.width)}(ptr {target}, ptr {source}, i64 %count, i64 {step.width})")
            elif isinstance(step, LoadRow) and loop is not None:
                self.load_row(step, loop)

    def repeat(self, step: Repeat) -> None:
        """Write a loop."""
        b, here = self.b, f"loop{step.number}"
        b.store("0", f"%{here}", "i64")
        bound = b.load(f"%loop{step.same_as}", "i64") if step.same_as >= 0 else str(step.trip_count)
        last = b.let(f"sub i64 {bound}, 1")
        b.enter(f"{here}.head")
        index = b.load(f"%{here}", "i64")
        b.branch(b.let(f"icmp ult i64 {index}, {bound}"), f"{here}.body", f"{here}.done")
        b.begin(f"{here}.body")
        if self.interruptible:
            requested = b.let(f"icmp ne i64 {b.let('load volatile i64, ptr %stop, align 8')}, 0")
            b.branch(requested, "done", f"{here}.go")
            b.begin(f"{here}.go")
        b.let(f"sub i64 {last}, {index}" if step.backward else f"add i64 {index}, 0", f"%{here}.row")
        self.steps(step.steps, step)
        b.store(b.add(index, 1), f"%{here}", "i64")
        b.jump(f"{here}.head")
        b.begin(f"{here}.done")

    def load_row(self, step: LoadRow, loop: Repeat) -> None:
        """Load a row of an argument or of constants into slots."""
        b, k = self.b, step.argument
        element = b.add(b.mul(f"%loop{loop.number}.row", step.step), step.element)
        origin, rows = f"@constants{step.constant}", "i64 0, ptr null"
        if k >= 0:
            origin, rows = f"%in{k}{'.now' if k in self.per_step else ''}", f"i64 %st{k}, ptr %of{k}"
        to, base = self.slot(step.slot), b.gep(origin, element, b.tiling.scalar)
        b.emit(
            f"call void @{transpose.loader(step.width)}(ptr {to}, ptr {base}, {rows}, i64 %t, i64 %count, i64 %last, "
            f"i64 {step.width})"
        )

    def slot(self, slot: Index) -> str:
        """The address of a slot in the first vector of the tile."""
        return self.b.gep(self.buffer, self.b.mul(slot, self.b.tiling.bytes))

    def affine(self, first: int, step: int, loop: Repeat) -> Index:
        """A slot that moves with the iterations of a loop."""
        return self.b.add(self.b.mul(f"%loop{loop.number}.row", step), first) if step else first


def _copier(width: int) -> str:
    """The name of the function that copies that many slots."""
    return f"move_slots{width}" if width <= MAX_UNROLLED_ROW else "move_slots"


def _copy_slots(tiling: Tiling, width: int) -> str:
    """A function that copies slots; for a short row without a loop over its elements."""
    b = Builder(tiling)
    for v in b.count("%count"):
        at = b.mul(v, tiling.stride)
        target, source = b.gep("%to", at), b.gep("%from", at)

        def copy(offset: Index, target: str = target, source: str = source) -> None:
            to = b.gep(target, offset)
            b.store(b.load(b.gep(source, offset)), to)

        if width <= MAX_UNROLLED_ROW:
            for j in range(width):
                copy(j * tiling.bytes)
            b.enter("after")
        else:
            for j in b.count("%length"):
                copy(b.mul(j, tiling.bytes))
    return b.function(f"internal void @{_copier(width)}(ptr %to, ptr %from, i64 %count, i64 %length)")


def _fill_slots(tiling: Tiling) -> str:
    b = Builder(tiling)
    for _, slots in b.vectors("%to", inbounds=False):
        for j in b.count("%length"):
            b.store("%x", b.gep(slots, b.mul(j, tiling.bytes)))
    return b.function(f"internal void @fill_slots(ptr %to, i64 %count, i64 %length, {tiling.vector} %x)")


def _finished(tiling: Tiling) -> str:
    """A function that tells whether a slot is not zero in all samples of the tile."""
    b = Builder(tiling)
    for _, slots in b.vectors("%to", inbounds=False):
        zero = b.binary("fcmp oeq", b.load(slots), "zeroinitializer")
        bits = b.let(f"bitcast {tiling.mask} {zero} to i{tiling.lanes}")
        b.branch(b.let(f"icmp eq i{tiling.lanes} {bits}, 0"), "after", "going")
        b.begin("going")
        b.emit("ret i1 false")
        b.begin("after")
    return b.function("internal i1 @finished(ptr %to, i64 %count)", result="i1 true")
