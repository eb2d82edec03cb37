"""The text of the LLVM functions that bring rows of arrays into slots, and of what moves elements between the two.

Four samples and four elements at a time are transposed in registers; the last four may be partly done for the second
time. Short rows, which are most, have functions of their own without loops. Lanes past the last sample read it again.
`results_ir` has the way back.
"""

from collections.abc import Callable

from multibody.compiler.ir.segments import SHORT
from multibody.compiler.ir.tiling import Shape

_LANE = 16
"""Bytes within which shuffles are cheap."""


def loader(length: int) -> str:
    """The name of the function that loads rows of that length."""
    return f"load_rows{length}" if length <= SHORT else "load_rows"


def functions(shape: Shape, lengths: set[int]) -> str:
    """What a kernel that loads rows of these lengths needs."""
    parts = [over_rows(loader(n), shape, _straight_in(shape, n), shape.row) for n in sorted(lengths) if n <= SHORT]
    if any(n > SHORT for n in lengths):
        copy = [f"  call void @pack(ptr %d, i64 %length, {row_names(shape)})"]
        parts += [_pack(shape), over_rows("load_rows", shape, copy, shape.row)]
    return "\n".join(parts)


def row_names(shape: Shape) -> str:
    """The parameters of a function that takes a row for every lane."""
    return ", ".join(f"ptr %r{lane}" for lane in range(shape.lanes))


def over_rows(name: str, shape: Shape, copy: list[str], step: int) -> str:
    """A function that does something with the rows of an argument, for each vector of the tile.

    Args:
        name: of the function.
        shape: how numbers are held.
        copy: lines that use the rows %r of its lanes, past the last sample the last one again, and the place %d.
        step: bytes from the place of one vector to that of the next.
    """
    lanes = range(shape.lanes)
    tabled = []
    for lane in lanes:
        tabled += [
            f"  %x{lane} = getelementptr i64, ptr %table, i64 %i{lane}",
            f"  %q{lane} = load i64, ptr %x{lane}, align 8",
        ]
    return "\n".join(
        [
            f"define internal void @{name}(ptr %to, ptr %base, i64 %stride, ptr %table, i64 %t, i64 %count, "
            "i64 %last, i64 %length) nounwind {",
            "entry:",
            "  %direct = icmp eq ptr %table, null",
            "  br label %loop",
            "loop:",
            "  %v = phi i64 [ 0, %entry ], [ %v1, %copy ]",
            f"  %vl = mul i64 %v, {shape.lanes}",
            "  %s = add i64 %t, %vl",
            f"  %end = add i64 %s, {shape.lanes - 1}",
            "  %inside = icmp ule i64 %end, %last",
            "  %easy = and i1 %direct, %inside",
            "  br i1 %easy, label %regular, label %careful",
            "regular:",
            "  %f0 = mul i64 %s, %stride",
            *(f"  %f{lane} = add i64 %f{lane - 1}, %stride" for lane in lanes[1:]),
            "  br label %copy",
            "careful:",
            *(f"  %u{lane} = add i64 %s, {lane}" for lane in lanes),
            *(f"  %e{lane} = icmp ult i64 %u{lane}, %last" for lane in lanes),
            *(f"  %i{lane} = select i1 %e{lane}, i64 %u{lane}, i64 %last" for lane in lanes),
            "  br i1 %direct, label %plain, label %tabled",
            "plain:",
            *(f"  %p{lane} = mul i64 %i{lane}, %stride" for lane in lanes),
            "  br label %copy",
            "tabled:",
            *tabled,
            "  br label %copy",
            "copy:",
            *(
                f"  %o{lane} = phi i64 [ %f{lane}, %regular ], [ %p{lane}, %plain ], [ %q{lane}, %tabled ]"
                for lane in lanes
            ),
            *(f"  %r{lane} = getelementptr i8, ptr %base, i64 %o{lane}" for lane in lanes),
            f"  %dv = mul i64 %v, {step}",
            "  %d = getelementptr inbounds i8, ptr %to, i64 %dv",
            *copy,
            "  %v1 = add i64 %v, 1",
            "  %more = icmp ult i64 %v1, %count",
            "  br i1 %more, label %loop, label %done",
            "done:",
            "  ret void",
            "}",
        ]
    )


def _straight_in(shape: Shape, length: int) -> list[str]:
    """All elements of short rows, from the pointers %r of the lanes to the slots at %d."""
    starts = fours(shape, length)
    lines = [line for j in starts for line in _four_in(shape, str(j), f"q{j}", "%d")]
    left = [] if starts else range(length)
    return lines + [line for j in left for line in _one_in(shape, str(j), f"e{j}", "%d")]


def straight_out(shape: Shape, length: int) -> list[str]:
    """All elements of short rows, from the slots at %d to the pointers %r of the lanes."""
    starts = fours(shape, length)
    lines: list[str] = []
    for j in range(length):
        lines += slot_of(shape, str(j), 0, f"e{j}", "%d")
        lines.append(f"  %e{j}v = load {shape.vector}, ptr %e{j}d0, align {shape.bytes}")
    for j in starts:
        lines += four_rows(shape, str(j), f"q{j}", [f"%e{k}v" for k in range(j, j + 4)])
    for j in [] if starts else range(length):
        lines += one_row(shape, str(j), f"e{j}", f"%e{j}v")
    return lines


def _pack(shape: Shape) -> str:
    """A function for rows of any length beyond the short ones: four elements at a time, or one."""
    four = shape.lanes % 4 == 0
    step = 4 if four else 1
    return "\n".join(
        [
            f"define internal void @pack(ptr noalias %slots, i64 %count, {row_names(shape)}) nounwind {{",
            "entry:",
            f"  %last = sub i64 %count, {step}",
            "  br label %loop",
            "loop:",
            "  %j = phi i64 [ 0, %entry ], [ %next, %loop ]",
            *(_four_in if four else _one_in)(shape, "%j", "q", "%slots"),
            f"  %ahead = add i64 %j, {step}",
            "  %fits = icmp ult i64 %ahead, %last",
            "  %next = select i1 %fits, i64 %ahead, i64 %last",
            "  %more = icmp ult i64 %j, %last",
            "  br i1 %more, label %loop, label %done",
            "done:",
            "  ret void",
            "}",
        ]
    )


# ---- elements in registers: j is a number or a variable, tag makes names unique --------------------------------------


def slot_of(shape: Shape, j: str, k: int, tag: str, slots: str) -> list[str]:
    """The address %{tag}d{k} of the slot of element j + k."""
    if not j.startswith("%"):
        return [f"  %{tag}d{k} = getelementptr inbounds i8, ptr {slots}, i64 {(int(j) + k) * shape.bytes}"]
    return [
        f"  %{tag}k{k} = add i64 {j}, {k}",
        f"  %{tag}o{k} = mul i64 %{tag}k{k}, {shape.bytes}",
        f"  %{tag}d{k} = getelementptr inbounds i8, ptr {slots}, i64 %{tag}o{k}",
    ]


def four_values(shape: Shape, j: str, tag: str, rows: str = "%r") -> tuple[list[str], list[str]]:
    """Lines that read elements j to j + 3 of the lanes' rows, and the names of their vectors.

    Pieces of rows are put side by side as they are loaded, which keeps the one port that shuffles free.
    """
    s = shape.scalar
    width = 2 if shape.bytes == 2 * _LANE and shape.size == 8 else 4
    lines: list[str] = []
    results = []
    for start in range(0, 4, width):
        beside = []
        for i in range(width):
            pieces = []
            for lane in range(i, shape.lanes, width):
                at = f"{tag}{start}.{lane}"
                lines += [
                    f"  %{at}a = getelementptr inbounds {s}, ptr {rows}{lane}, i64 {j}",
                    f"  %{at}b = getelementptr inbounds {s}, ptr %{at}a, i64 {start}",
                    f"  %{at}l = load <{width} x {s}>, ptr %{at}b, align {shape.size}",
                ]
                pieces.append(f"%{at}l")
            joined, name = _join(pieces, s, width, f"{tag}{start}j{i}")
            lines += joined
            beside.append(name)
        turned, columns = _turn(beside, shape, f"{tag}{start}")
        lines += turned
        results += columns
    return lines, results


def one_value(shape: Shape, j: str, tag: str, rows: str = "%r") -> tuple[list[str], str]:
    """Lines that read element j of the lanes' rows, and the name of its vector."""
    s, v = shape.scalar, shape.vector
    lines, before = [], "undef"
    for lane in range(shape.lanes):
        lines += [
            f"  %{tag}x{lane} = getelementptr inbounds {s}, ptr {rows}{lane}, i64 {j}",
            f"  %{tag}y{lane} = load {s}, ptr %{tag}x{lane}, align {shape.size}",
            f"  %{tag}w{lane} = insertelement {v} {before}, {s} %{tag}y{lane}, i32 {lane}",
        ]
        before = f"%{tag}w{lane}"
    return lines, before


def four_rows(shape: Shape, j: str, tag: str, values: list[str], rows: str = "%r") -> list[str]:
    """Lines that write four vectors to elements j to j + 3 of the lanes' rows."""
    s, v = shape.scalar, shape.vector
    lines, across = _turn(values, shape, tag)
    for lane in range(shape.lanes):
        row = across[lane % 4]
        if shape.lanes > 4:
            mask = ", ".join(f"i32 {i}" for i in range(lane - lane % 4, lane - lane % 4 + 4))
            lines.append(f"  %{tag}h{lane} = shufflevector {v} {row}, {v} undef, <4 x i32> <{mask}>")
            row = f"%{tag}h{lane}"
        lines += [
            f"  %{tag}a{lane} = getelementptr inbounds {s}, ptr {rows}{lane}, i64 {j}",
            f"  store <4 x {s}> {row}, ptr %{tag}a{lane}, align {shape.size}",
        ]
    return lines


def one_row(shape: Shape, j: str, tag: str, value: str, rows: str = "%r") -> list[str]:
    """Lines that write a vector to element j of the lanes' rows."""
    s, v = shape.scalar, shape.vector
    lines = []
    for lane in range(shape.lanes):
        lines += [
            f"  %{tag}y{lane} = extractelement {v} {value}, i32 {lane}",
            f"  %{tag}x{lane} = getelementptr inbounds {s}, ptr {rows}{lane}, i64 {j}",
            f"  store {s} %{tag}y{lane}, ptr %{tag}x{lane}, align {shape.size}",
        ]
    return lines


def fours(shape: Shape, length: int) -> list[int]:
    """Where to begin with four elements at a time; the last four may be partly done for the second time."""
    starts = list(range(0, length - 3, 4)) if shape.lanes % 4 == 0 else []
    return [*starts, length - 4] if starts and length % 4 else starts


def _four_in(shape: Shape, j: str, tag: str, slots: str) -> list[str]:
    lines, names = four_values(shape, j, tag)
    for k, name in enumerate(names):
        lines += slot_of(shape, j, k, tag, slots)
        lines.append(f"  store {shape.vector} {name}, ptr %{tag}d{k}, align {shape.bytes}")
    return lines


def _one_in(shape: Shape, j: str, tag: str, slots: str) -> list[str]:
    lines, name = one_value(shape, j, tag)
    store = f"  store {shape.vector} {name}, ptr %{tag}d0, align {shape.bytes}"
    return [*lines, *slot_of(shape, j, 0, tag, slots), store]


def _turn(names: list[str], shape: Shape, tag: str) -> tuple[list[str], list[str]]:
    """Lines that transpose squares of lanes in two vectors, or in four, and the names of the results."""
    v, lanes = shape.vector, range(shape.lanes)

    def shuffle(name: str, a: str, b: str, pick: Callable[[int], int]) -> str:
        mask = ", ".join(f"i32 {pick(lane)}" for lane in lanes)
        return f"  {name} = shufflevector {v} {a}, {v} {b}, <{shape.lanes} x i32> <{mask}>"

    def even(span: int) -> Callable[[int], int]:
        """Blocks of that many lanes with even numbers, from both vectors in turn."""
        return lambda lane: lane - span + shape.lanes if lane & span else lane

    def odd(span: int) -> Callable[[int], int]:
        return lambda lane: lane + shape.lanes if lane & span else lane + span

    lines = []
    for span in (1, 2)[: len(names) // 2]:
        turned = list(names)
        for k in range(len(names)):
            if not k & span:
                a, b = names[k], names[k + span]
                turned[k], turned[k + span] = f"%{tag}t{span}.{k}", f"%{tag}t{span}.{k + span}"
                lines += [shuffle(turned[k], a, b, even(span)), shuffle(turned[k + span], a, b, odd(span))]
        names = turned
    return lines, names


def _join(parts: list[str], scalar: str, width: int, tag: str) -> tuple[list[str], str]:
    """Lines that put vectors of that width side by side, two by two; there are one, two or four of them."""
    lines, level = [], 0
    while len(parts) > 1:
        mask = ", ".join(f"i32 {i}" for i in range(2 * width))
        joined = []
        for k in range(0, len(parts), 2):
            name = f"%{tag}.{level}.{k}"
            kind = f"<{width} x {scalar}>"
            lines.append(
                f"  {name} = shufflevector {kind} {parts[k]}, {kind} {parts[k + 1]}, <{2 * width} x i32> <{mask}>"
            )
            joined.append(name)
        parts, width, level = joined, 2 * width, level + 1
    return lines, parts[0]
