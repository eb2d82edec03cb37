"""The text of the LLVM functions that bring rows of arrays into slots and back.

Four samples and four elements at a time are transposed in registers; what is left over goes one by one. Short rows,
which are most, have functions of their own without loops. Lanes past the last sample read it again, and write into a
dustbin.
"""

from multibody.compiler.shape import Shape

UNROLLED = 16
"""Rows up to this length have code of their own."""


def loader(length: int) -> str:
    """The name of the function that loads rows of that length."""
    return f"load_rows{length}" if length <= UNROLLED else "load_rows"


def storer(length: int) -> str:
    """The name of the function that stores rows of that length."""
    return f"store_rows{length}" if length <= UNROLLED else "store_rows"


def functions(shape: Shape, loaded: set[int], stored: set[int]) -> str:
    """What a kernel with rows of these lengths needs."""
    parts = [_load_rows(shape, n) for n in sorted(loaded) if n <= UNROLLED]
    parts += [_store_rows(shape, n) for n in sorted(stored) if n <= UNROLLED]
    if any(n > UNROLLED for n in loaded):
        parts += [_looped("pack", shape), _load_rows(shape, None)]
    if any(n > UNROLLED for n in stored):
        parts += [_looped("unpack", shape), _store_rows(shape, None)]
    return "\n".join(parts)


def _rows(shape: Shape) -> str:
    return ", ".join(f"ptr %r{lane}" for lane in range(shape.lanes))


def _load_rows(shape: Shape, length: int | None) -> str:
    """For each vector of the tile, the rows of its lanes; past the last sample, the last one again."""
    lanes = range(shape.lanes)
    tabled = []
    for lane in lanes:
        tabled += [
            f"  %x{lane} = getelementptr i64, ptr %table, i64 %i{lane}",
            f"  %q{lane} = load i64, ptr %x{lane}, align 8",
        ]
    copy = [f"  call void @pack(ptr %d, i64 %length, {_rows(shape)})"]
    return "\n".join(
        [
            f"define internal void @load_rows{'' if length is None else length}(ptr %to, ptr %base, i64 %stride, "
            "ptr %table, i64 %t, i64 %count, i64 %last, i64 %length) nounwind {",
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
            f"  %dv = mul i64 %v, {shape.row}",
            "  %d = getelementptr inbounds i8, ptr %to, i64 %dv",
            *(copy if length is None else _straight("pack", shape, length)),
            "  %v1 = add i64 %v, 1",
            "  %more = icmp ult i64 %v1, %count",
            "  br i1 %more, label %loop, label %done",
            "done:",
            "  ret void",
            "}",
        ]
    )


def _store_rows(shape: Shape, length: int | None) -> str:
    """The rows of a result; lanes past the last sample go to the bin."""
    lanes = range(shape.lanes)
    careful = []
    for lane in lanes[1:]:
        careful += [
            f"  %s{lane} = add i64 %s, {lane}",
            f"  %e{lane} = icmp ult i64 %s{lane}, %n",
            f"  %c{lane} = select i1 %e{lane}, ptr %p{lane}, ptr %bin",
        ]
    copy = [f"  call void @unpack(ptr %d, i64 %length, {_rows(shape)})"]
    return "\n".join(
        [
            f"define internal void @store_rows{'' if length is None else length}(ptr %from, ptr %base, i64 %bytes, "
            "i64 %t, i64 %count, i64 %n, i64 %length, ptr %bin) nounwind {",
            "entry:",
            "  br label %loop",
            "loop:",
            "  %v = phi i64 [ 0, %entry ], [ %v1, %copy ]",
            f"  %vl = mul i64 %v, {shape.lanes}",
            "  %s = add i64 %t, %vl",
            "  %o0 = mul i64 %s, %bytes",
            "  %p0 = getelementptr i8, ptr %base, i64 %o0",
            *(f"  %p{lane} = getelementptr i8, ptr %p{lane - 1}, i64 %bytes" for lane in lanes[1:]),
            f"  %end = add i64 %s, {shape.lanes - 1}",
            "  %inside = icmp ult i64 %end, %n",
            "  br i1 %inside, label %copy, label %careful",
            "careful:",
            *careful,
            "  br label %copy",
            "copy:",
            *(
                f"  %r{lane} = phi ptr [ %p{lane}, %loop ], [ %{'p' if lane == 0 else 'c'}{lane}, %careful ]"
                for lane in lanes
            ),
            f"  %dv = mul i64 %v, {shape.row}",
            "  %d = getelementptr inbounds i8, ptr %from, i64 %dv",
            *(copy if length is None else _straight("unpack", shape, length)),
            "  %v1 = add i64 %v, 1",
            "  %more = icmp ult i64 %v1, %count",
            "  br i1 %more, label %loop, label %done",
            "done:",
            "  ret void",
            "}",
        ]
    )


def _straight(way: str, shape: Shape, length: int) -> list[str]:
    """All elements of short rows: between the pointers %r of the lanes and the slots at %d."""
    four, one = (_four_in, _one_in) if way == "pack" else (_four_out, _one_out)
    starts = fours(shape, length)
    lines = [line for j in starts for line in four(shape, str(j), f"q{j}", "%d")]
    left = [] if starts else range(length)
    return lines + [line for j in left for line in one(shape, str(j), f"e{j}", "%d")]


def _looped(way: str, shape: Shape) -> str:
    """A function for rows of any length: it advances by four while it can, then by one."""
    four, one = (_four_in, _one_in) if way == "pack" else (_four_out, _one_out)
    by_four = shape.lanes % 4 == 0
    in_fours = [
        "  br label %quads",
        "quads:",
        "  %j = phi i64 [ 0, %entry ], [ %j4, %body ]",
        "  %j4 = add i64 %j, 4",
        "  %fits = icmp ule i64 %j4, %count",
        "  br i1 %fits, label %body, label %rest",
        "body:",
        *(four(shape, "%j", "q", "%slots") if by_four else []),
        "  br label %quads",
    ]
    return "\n".join(
        [
            f"define internal void @{way}(ptr noalias %slots, i64 %count, {_rows(shape)}) nounwind {{",
            "entry:",
            *(in_fours if by_four else ["  br label %rest"]),
            "rest:",
            f"  %m = phi i64 [ {'%j, %quads' if by_four else '0, %entry'} ], [ %m1, %one ]",
            "  %left = icmp ult i64 %m, %count",
            "  br i1 %left, label %one, label %done",
            "one:",
            *one(shape, "%m", "e", "%slots"),
            "  %m1 = add i64 %m, 1",
            "  br label %rest",
            "done:",
            "  ret void",
            "}",
        ]
    )


# ---- elements in registers: j is a number or a variable, tag makes names unique --------------------------------------


def _slot(shape: Shape, j: str, k: int, tag: str, slots: str) -> list[str]:
    """The address %{tag}d{k} of the slot of element j + k."""
    if not j.startswith("%"):
        return [f"  %{tag}d{k} = getelementptr inbounds i8, ptr {slots}, i64 {(int(j) + k) * shape.bytes}"]
    return [
        f"  %{tag}k{k} = add i64 {j}, {k}",
        f"  %{tag}o{k} = mul i64 %{tag}k{k}, {shape.bytes}",
        f"  %{tag}d{k} = getelementptr inbounds i8, ptr {slots}, i64 %{tag}o{k}",
    ]


def four_values(shape: Shape, j: str, tag: str, rows: str = "%r") -> tuple[list[str], list[str]]:
    """Lines that read elements j to j + 3 of the lanes' rows, and the names of their vectors."""
    s, q, groups = shape.scalar, f"<4 x {shape.scalar}>", shape.lanes // 4
    lines: list[str] = []
    columns = []
    for g in range(groups):
        for lane in range(4 * g, 4 * g + 4):
            lines += [
                f"  %{tag}a{lane} = getelementptr inbounds {s}, ptr {rows}{lane}, i64 {j}",
                f"  %{tag}l{lane} = load {q}, ptr %{tag}a{lane}, align {shape.size}",
            ]
        turned, names = _transpose([f"%{tag}l{lane}" for lane in range(4 * g, 4 * g + 4)], q, f"{tag}g{g}")
        lines += turned
        columns.append(names)
    results = []
    for k in range(4):
        joined, name = _join([column[k] for column in columns], s, f"{tag}j{k}")
        lines += joined
        results.append(name)
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
    s, v, q, groups = shape.scalar, shape.vector, f"<4 x {shape.scalar}>", shape.lanes // 4
    lines: list[str] = []
    for g in range(groups):
        names = values
        if groups > 1:
            mask = ", ".join(f"i32 {i}" for i in range(4 * g, 4 * g + 4))
            lines += [
                f"  %{tag}h{g}.{k} = shufflevector {v} {values[k]}, {v} undef, <4 x i32> <{mask}>" for k in range(4)
            ]
            names = [f"%{tag}h{g}.{k}" for k in range(4)]
        turned, across = _transpose(names, q, f"{tag}g{g}")
        lines += turned
        for lane, row in zip(range(4 * g, 4 * g + 4), across, strict=True):
            lines += [
                f"  %{tag}a{lane} = getelementptr inbounds {s}, ptr {rows}{lane}, i64 {j}",
                f"  store {q} {row}, ptr %{tag}a{lane}, align {shape.size}",
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
        lines += _slot(shape, j, k, tag, slots)
        lines.append(f"  store {shape.vector} {name}, ptr %{tag}d{k}, align {shape.bytes}")
    return lines


def _four_out(shape: Shape, j: str, tag: str, slots: str) -> list[str]:
    lines: list[str] = []
    for k in range(4):
        lines += _slot(shape, j, k, tag, slots)
        lines.append(f"  %{tag}v{k} = load {shape.vector}, ptr %{tag}d{k}, align {shape.bytes}")
    return lines + four_rows(shape, j, tag, [f"%{tag}v{k}" for k in range(4)])


def _one_in(shape: Shape, j: str, tag: str, slots: str) -> list[str]:
    lines, name = one_value(shape, j, tag)
    store = f"  store {shape.vector} {name}, ptr %{tag}d0, align {shape.bytes}"
    return [*lines, *_slot(shape, j, 0, tag, slots), store]


def _one_out(shape: Shape, j: str, tag: str, slots: str) -> list[str]:
    load = f"  %{tag}v = load {shape.vector}, ptr %{tag}d0, align {shape.bytes}"
    return [*_slot(shape, j, 0, tag, slots), load, *one_row(shape, j, tag, f"%{tag}v")]


def _transpose(names: list[str], q: str, tag: str) -> tuple[list[str], list[str]]:
    """Lines that turn four vectors of four into the four across them."""

    def shuffle(name: str, a: str, b: str, *picks: int) -> str:
        mask = ", ".join(f"i32 {pick}" for pick in picks)
        return f"  {name} = shufflevector {q} {a}, {q} {b}, <4 x i32> <{mask}>"

    t, c = [f"%{tag}t{k}" for k in range(4)], [f"%{tag}c{k}" for k in range(4)]
    return [
        shuffle(t[0], names[0], names[1], 0, 4, 2, 6),
        shuffle(t[1], names[0], names[1], 1, 5, 3, 7),
        shuffle(t[2], names[2], names[3], 0, 4, 2, 6),
        shuffle(t[3], names[2], names[3], 1, 5, 3, 7),
        shuffle(c[0], t[0], t[2], 0, 1, 4, 5),
        shuffle(c[1], t[1], t[3], 0, 1, 4, 5),
        shuffle(c[2], t[0], t[2], 2, 3, 6, 7),
        shuffle(c[3], t[1], t[3], 2, 3, 6, 7),
    ], c


def _join(parts: list[str], scalar: str, tag: str) -> tuple[list[str], str]:
    """Lines that put vectors of four side by side, two by two; there are one, two or four of them."""
    lines, width, level = [], 4, 0
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
