"""The text of a kernel's loops, around calls of its segments.

Every loop has a counter in memory, which tells after the loop how many rounds it took. Each round begins by asking
whether all samples of the tile are done, and by bringing the rows that it reads into slots.
"""

from multibody.compiler.codegen import transpose
from multibody.compiler.ir.loop_steps import Fill, Leave, Load, Move
from multibody.compiler.ir.segments import SHORT, Program, Repeat, Step
from multibody.compiler.ir.tiling import Shape


def steps(program: Program, shape: Shape, buffer: str, kernel: str, moving: set[int]) -> list[str]:
    """Calls of a kernel's segments; loops become loops.

    Args:
        program: what is computed.
        shape: how numbers are held.
        buffer: the name of the slots.
        kernel: the name of its entry.
        moving: arguments that change from step to step of a scan.
    """
    return _Writer(shape, buffer, kernel, moving, long=program.long).steps(program.steps, None)


def flat(steps: list[Step]) -> list[Step]:
    """All steps, those within loops too."""
    return [inner for step in steps for inner in (step, *(flat(step.steps) if isinstance(step, Repeat) else ()))]


def arguments(steps: list[Step]) -> set[int]:
    """The arguments whose rows loops read."""
    return {step.argument for step in flat(steps) if isinstance(step, Load) and step.argument >= 0}


def lengths(steps: list[Step]) -> set[int]:
    """The lengths of rows that loops load."""
    return {step.width for step in flat(steps) if isinstance(step, Load)}


def begin(program: Program) -> list[str]:
    """The counters of all loops and, in programs that run for long, where they are asked to stop."""
    lines = [f"  %loop{step.number} = alloca i64, align 8" for step in flat(program.steps) if isinstance(step, Repeat)]
    if program.long:
        lines += ["  %stop.a = getelementptr ptr, ptr %in, i64 -1", "  %stop = load ptr, ptr %stop.a, align 8"]
    return lines


def functions(program: Program, shape: Shape, *, stops: bool) -> str:
    """What the loops of a kernel need: rows of constants, and functions that go over the vectors of a tile.

    A scan that `stops` needs that function which asks whether all samples are done.
    """
    present = {type(step) for step in flat(program.steps)}
    texts = [_constants(number, row, shape) for number, row in enumerate(program.constants)]
    widths = {step.width for step in flat(program.steps) if isinstance(step, Move)}
    texts += [_move(shape, width) for width in sorted({min(width, SHORT + 1) for width in widths})]
    texts += [_fill(shape)] if Fill in present else []
    texts += [_finished(shape)] if Leave in present or stops else []
    return "\n".join(texts)


class _Writer:
    def __init__(self, shape: Shape, buffer: str, kernel: str, moving: set[int], *, long: bool) -> None:
        self.long = long
        self.shape = shape
        self.buffer = buffer
        self.kernel = kernel
        self.moving = moving
        self.number = 0

    def name(self) -> str:
        """A name that is new."""
        self.number += 1
        return f"%n{self.number}"

    def steps(self, steps: list[Step], loop: Repeat | None) -> list[str]:
        lines: list[str] = []
        for step in steps:
            if isinstance(step, int):
                lines.append(
                    f"  call void @{self.kernel}.{step}(ptr {self.buffer}, i64 %count, ptr %rows, ptr %addresses)"
                )
            elif isinstance(step, Repeat):
                lines += self.repeat(step)
            elif isinstance(step, Fill):
                at = self.slot(lines, str(step.slot))
                number = self.shape.constant(step.number)
                lines.append(
                    f"  call void @fill_slots(ptr {at}, i64 %count, i64 {step.length}, {self.shape.vector} {number})"
                )
            elif loop is not None:
                lines += self.around(step, loop)
        return lines

    def repeat(self, step: Repeat) -> list[str]:
        here = f"loop{step.number}"
        limit = str(step.rounds)
        row = f"sub i64 %{here}.last, %{here}.round" if step.backward else f"add i64 %{here}.round, 0"
        lines = [f"  store i64 0, ptr %{here}, align 8"]
        if step.like >= 0:
            limit = f"%{here}.limit"
            lines.append(f"  {limit} = load i64, ptr %loop{step.like}, align 8")
        return [
            *lines,
            f"  %{here}.last = sub i64 {limit}, 1",
            f"  br label %{here}.head",
            f"{here}.head:",
            f"  %{here}.round = load i64, ptr %{here}, align 8",
            f"  %{here}.more = icmp ult i64 %{here}.round, {limit}",
            f"  br i1 %{here}.more, label %{here}.body, label %{here}.done",
            f"{here}.body:",
            *(self.listen(here) if self.long else []),
            f"  %{here}.row = {row}",
            *self.steps(step.steps, step),
            f"  %{here}.next = add i64 %{here}.round, 1",
            f"  store i64 %{here}.next, ptr %{here}, align 8",
            f"  br label %{here}.head",
            f"{here}.done:",
        ]

    def listen(self, here: str) -> list[str]:
        """Leave the kernel when it is asked to stop."""
        return [
            f"  %{here}.asked = load volatile i64, ptr %stop, align 8",
            f"  %{here}.leave = icmp ne i64 %{here}.asked, 0",
            f"  br i1 %{here}.leave, label %done, label %{here}.go",
            f"{here}.go:",
        ]

    def around(self, step: Move | Load | Leave, loop: Repeat) -> list[str]:
        """What a loop does besides its segments."""
        lines: list[str] = []
        here, shape = f"%loop{loop.number}", self.shape
        if isinstance(step, Leave):
            at, left, on = self.slot(lines, str(step.slot)), self.name(), self.name()
            return [
                *lines,
                f"  {left} = call i1 @finished(ptr {at}, i64 %count)",
                f"  br i1 {left}, label {here}.done, label {on}.on",
                f"{on[1:]}.on:",
            ]
        if isinstance(step, Move):
            source = self.at_round(lines, step.source, step.source_step, here)
            target = self.at_round(lines, step.target, step.target_step, here)
            call = f"  call void @{_mover(step.width)}(ptr {target}, ptr {source}, i64 %count, i64 {step.width})"
            return [*lines, call]
        element = self.affine(lines, step.element, step.step, f"{here}.row")
        origin, stride, offsets = f"@constants{step.constant}", "0", "null"
        if step.argument >= 0:
            k = step.argument
            origin, stride, offsets = f"%in{k}{'.now' if k in self.moving else ''}", f"%st{k}", f"%of{k}"
        base, to = self.name(), self.slot(lines, str(step.slot))
        return [
            *lines,
            f"  {base} = getelementptr {shape.scalar}, ptr {origin}, i64 {element}",
            f"  call void @{transpose.loader(step.width)}(ptr {to}, ptr {base}, i64 {stride}, ptr {offsets}, i64 %t, "
            f"i64 %count, i64 %last, i64 {step.width})",
        ]

    def slot(self, lines: list[str], slot: str) -> str:
        """The address of a slot in the first vector of the tile."""
        offset, at = self.name(), self.name()
        lines += [
            f"  {offset} = mul i64 {slot}, {self.shape.bytes}",
            f"  {at} = getelementptr i8, ptr {self.buffer}, i64 {offset}",
        ]
        return at

    def at_round(self, lines: list[str], slot: int, step: int, loop: str) -> str:
        """The address of a slot that moves with the rows of a loop."""
        return self.slot(lines, self.affine(lines, slot, step, f"{loop}.row") if step else str(slot))

    def affine(self, lines: list[str], first: int, step: int, index: str) -> str:
        product, total = self.name(), self.name()
        lines += [f"  {product} = mul i64 {index}, {step}", f"  {total} = add i64 {product}, {first}"]
        return total


def _constants(number: int, row: list[float], shape: Shape) -> str:
    single = shape._replace(lanes=1)
    numbers = ", ".join(single.constant(x)[1:-1] for x in row)
    return f"@constants{number} = internal constant [{len(row)} x {shape.scalar}] [{numbers}], align 64"


def _over_vectors(head: str, shape: Shape, rows: str, body: list[str], end: list[str]) -> str:
    """A function that goes over the vectors of a tile, with pointers %d, and %s where there is a source."""
    pointers = [f"  %{place} = getelementptr i8, ptr %{name}, i64 %at" for name, place in (("to", "d"), ("from", "s"))]
    return "\n".join(
        [
            f"define internal {head} nounwind {{",
            "entry:",
            "  br label %loop",
            "loop:",
            "  %v = phi i64 [ 0, %entry ], [ %v1, %after ]",
            f"  %at = mul i64 %v, {shape.row}",
            *pointers[: len(rows.split())],
            *body,
            "after:",
            "  %v1 = add i64 %v, 1",
            "  %more = icmp ult i64 %v1, %count",
            "  br i1 %more, label %loop, label %done",
            "done:",
            *end,
            "}",
        ]
    )


def _elements(shape: Shape, lines: list[str]) -> list[str]:
    """A loop over elements, with the offset %o of each."""
    return [
        "  br label %element",
        "element:",
        "  %j = phi i64 [ 0, %loop ], [ %j1, %element ]",
        f"  %o = mul i64 %j, {shape.bytes}",
        *lines,
        "  %j1 = add i64 %j, 1",
        "  %rest = icmp ult i64 %j1, %length",
        "  br i1 %rest, label %element, label %after",
    ]


def _mover(width: int) -> str:
    """The name of the function that copies so many slots."""
    return f"move_slots{width}" if width <= SHORT else "move_slots"


def _move(shape: Shape, width: int) -> str:
    """A function that copies slots; for a short row one without a loop over its elements."""

    def copy(at: str, tag: str) -> list[str]:
        return [
            f"  %de{tag} = getelementptr i8, ptr %d, i64 {at}",
            f"  %se{tag} = getelementptr i8, ptr %s, i64 {at}",
            f"  %x{tag} = load {shape.vector}, ptr %se{tag}, align {shape.bytes}",
            f"  store {shape.vector} %x{tag}, ptr %de{tag}, align {shape.bytes}",
        ]

    head = f"void @{_mover(width)}(ptr %to, ptr %from, i64 %count, i64 %length)"
    body = _elements(shape, copy("%o", ""))
    if width <= SHORT:
        body = [line for j in range(width) for line in copy(str(j * shape.bytes), str(j))] + ["  br label %after"]
    return _over_vectors(head, shape, "to from", body, ["  ret void"])


def _fill(shape: Shape) -> str:
    store = [
        "  %de = getelementptr i8, ptr %d, i64 %o",
        f"  store {shape.vector} %x, ptr %de, align {shape.bytes}",
    ]
    head = f"void @fill_slots(ptr %to, i64 %count, i64 %length, {shape.vector} %x)"
    return _over_vectors(head, shape, "to", _elements(shape, store), ["  ret void"])


def _finished(shape: Shape) -> str:
    body = [
        f"  %x = load {shape.vector}, ptr %d, align {shape.bytes}",
        f"  %zero = fcmp oeq {shape.vector} %x, zeroinitializer",
        f"  %bits = bitcast {shape.mask} %zero to i{shape.lanes}",
        f"  %all = icmp eq i{shape.lanes} %bits, 0",
        "  br i1 %all, label %after, label %going",
        "going:",
        "  ret i1 false",
    ]
    return _over_vectors("i1 @finished(ptr %to, i64 %count)", shape, "to", body, ["  ret i1 true"])
