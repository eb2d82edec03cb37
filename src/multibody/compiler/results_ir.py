"""The text of the LLVM functions that write results from slots to rows of arrays.

A row is written in parts. Values come from slots, transposed in registers as `rows_ir` has it. Zeros that lie side by
side, as in the mass matrix of a robot with branches, have no slots: they are written straight to the rows. Which parts
a row has is a table, over which one function loops; short rows of values alone have functions of their own without
loops. Lanes past the last sample write into a dustbin.
"""

from itertools import groupby
from typing import NamedTuple

from multibody.compiler.program import ZEROS, Program
from multibody.compiler.rows_ir import UNROLLED, four_rows, one_row, row_names, slot_of, straight_out
from multibody.compiler.shape import Shape

_FIELDS = ("zeros", "source", "column", "length")
"""Of a part in the table: whether it is zeros, the place of its first slot in bytes, and where it is in a row."""


class Part(NamedTuple):
    """Elements that lie side by side in a row."""

    column: int
    length: int
    slot: int
    """The slot of the first one, or -1 for zeros."""


def parts(program: Program, sizes: list[int], places: list[int]) -> list[list[Part]]:
    """The parts of every result's rows.

    Args:
        program: what is computed.
        sizes: the elements per sample of every result.
        places: of the first results, where they begin when the program's own slots are not theirs.
    """
    found: list[list[Part]] = []
    first = 0
    for m, size in enumerate(sizes):
        slots = program.outputs[first : first + size]
        first += size
        if m < len(places) or not size:
            found.append([Part(0, size, places[m] if m < len(places) else 0)])
            continue
        row: list[Part] = []
        for _, group in groupby(range(size), key=lambda k, slots=slots: slots[k] < 0):
            columns = list(group)
            row.append(Part(columns[0], len(columns), slots[columns[0]]))
        found.append(row)
    return found


def is_short(row: list[Part]) -> bool:
    """Whether a row of values alone has a function of its own."""
    return len(row) == 1 and row[0].slot >= 0 and row[0].length <= UNROLLED


def functions(shape: Shape, rows: list[list[Part]]) -> str:
    """What a kernel with such rows of results needs."""
    texts = [_store_rows(shape, n) for n in sorted({row[0].length for row in rows if is_short(row)})]
    if all(map(is_short, rows)):
        return "\n".join(texts)
    texts += [_table(m, row, shape) for m, row in enumerate(rows) if not is_short(row)]
    return "\n".join([*texts, _store_rows(shape, None), _unpack(shape)])


def store(m: int, row: list[Part], shape: Shape, buffer: str, stride: str, base: str) -> list[str]:
    """Lines that write a tile's rows of result m, which are that many bytes apart."""
    first, name, table = 0, "store_rows", f"ptr @parts{m}, i64 {len(row)}"
    if is_short(row):
        first, name, table = row[0].slot * shape.bytes, f"store_rows{row[0].length}", "ptr null, i64 0"
    return [
        f"  %from{m} = getelementptr inbounds i8, ptr {buffer}, i64 {first}",
        f"  call void @{name}(ptr %from{m}, ptr {base}, i64 {stride}, i64 %t, i64 %count, i64 %n, ptr %bin, {table})",
    ]


def _table(m: int, row: list[Part], shape: Shape) -> str:
    words = [f"i64 {x}" for p in row for x in (int(p.slot < 0), p.slot * shape.bytes, p.column, p.length)]
    return f"@parts{m} = internal constant [{len(words)} x i64] [{', '.join(words)}], align 8"


def _store_rows(shape: Shape, length: int | None) -> str:
    """For each vector of the tile, the rows of its lanes; those past the last sample are the bin."""
    lanes = range(shape.lanes)
    careful = []
    for lane in lanes[1:]:
        careful += [
            f"  %s{lane} = add i64 %s, {lane}",
            f"  %e{lane} = icmp ult i64 %s{lane}, %n",
            f"  %c{lane} = select i1 %e{lane}, ptr %p{lane}, ptr %bin",
        ]
    copy = [f"  call void @unpack(ptr %d, ptr %table, i64 %parts, {row_names(shape)})"]
    return "\n".join(
        [
            f"define internal void @store_rows{'' if length is None else length}(ptr %from, ptr %base, i64 %bytes, "
            "i64 %t, i64 %count, i64 %n, ptr %bin, ptr %table, i64 %parts) nounwind {",
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
            *(copy if length is None else straight_out(shape, length)),
            "  %v1 = add i64 %v, 1",
            "  %more = icmp ult i64 %v1, %count",
            "  br i1 %more, label %loop, label %done",
            "done:",
            "  ret void",
            "}",
        ]
    )


def _unpack(shape: Shape) -> str:
    """Part after part of the rows: zeros eight at a time, values four at a time, and the last ones again."""
    lines = [
        f"define internal void @unpack(ptr noalias %slots, ptr %table, i64 %parts, {row_names(shape)}) nounwind {{",
        "entry:",
        "  br label %part",
        "part:",
        "  %e = phi i64 [ 0, %entry ], [ %e1, %next ]",
        f"  %w = mul i64 %e, {8 * len(_FIELDS)}",
    ]
    for k, field in enumerate(_FIELDS):
        lines += [
            f"  %{field}.o = add i64 %w, {8 * k}",
            f"  %{field}.a = getelementptr i8, ptr %table, i64 %{field}.o",
            f"  %{field} = load i64, ptr %{field}.a, align 8",
        ]
    lines += [
        "  %is.zeros = icmp ne i64 %zeros, 0",
        "  br i1 %is.zeros, label %ends, label %values",
        *_zeros(shape),
        "values:",
        "  %first = getelementptr i8, ptr %slots, i64 %source",
    ]
    if shape.lanes % 4 == 0:
        lines += [
            "  %q.last = sub i64 %length, 4",
            "  %four = icmp uge i64 %length, 4",
            "  br i1 %four, label %fours, label %ones",
            "fours:",
            "  %q = phi i64 [ 0, %values ], [ %q.next, %fours ]",
            "  %q.c = add i64 %column, %q",
        ]
        for k in range(4):
            lines += slot_of(shape, "%q", k, "q.", "%first")
            lines.append(f"  %q.v{k} = load {shape.vector}, ptr %q.d{k}, align {shape.bytes}")
        lines += [
            *four_rows(shape, "%q.c", "q.", [f"%q.v{k}" for k in range(4)]),
            *_stepped("q", 4),
            "  br i1 %q.more, label %fours, label %next",
        ]
    else:
        lines.append("  br label %ones")
    lines += [
        "ones:",
        "  %m = phi i64 [ 0, %values ], [ %m1, %ones ]",
        "  %m.c = add i64 %column, %m",
        *slot_of(shape, "%m", 0, "m.", "%first"),
        f"  %m.v = load {shape.vector}, ptr %m.d0, align {shape.bytes}",
        *one_row(shape, "%m.c", "m.", "%m.v"),
        "  %m1 = add i64 %m, 1",
        "  %m.more = icmp ult i64 %m1, %length",
        "  br i1 %m.more, label %ones, label %next",
        "next:",
        "  %e1 = add i64 %e, 1",
        "  %e.more = icmp ult i64 %e1, %parts",
        "  br i1 %e.more, label %part, label %done",
        "done:",
        "  ret void",
        "}",
    ]
    return "\n".join(lines)


def _zeros(shape: Shape) -> list[str]:
    """Lines that write zeros to all rows, then go to %next: both ends as they lie, whole lines of the cache between."""
    many, block = f"<{ZEROS} x {shape.scalar}> zeroinitializer", ZEROS * shape.size
    lines = [
        "ends:",
        f"  %z.bytes = mul i64 %length, {shape.size}",
        f"  %z.last = sub i64 %z.bytes, {block}",
    ]
    for lane in range(shape.lanes):
        lines += [
            f"  %z.s{lane} = getelementptr {shape.scalar}, ptr %r{lane}, i64 %column",
            f"  store {many}, ptr %z.s{lane}, align {shape.size}",
            f"  %z.e{lane} = getelementptr i8, ptr %z.s{lane}, i64 %z.last",
            f"  store {many}, ptr %z.e{lane}, align {shape.size}",
        ]
    lines += [
        f"  %z.long = icmp ugt i64 %z.last, {block}",
        "  br i1 %z.long, label %middle, label %next",
        "middle:",
        f"  %z.stop = sub i64 %z.last, {block}",
    ]
    for lane in range(shape.lanes):
        lines += [
            f"  %z.f{lane} = getelementptr i8, ptr %z.s{lane}, i64 %z.stop",
            f"  store {many}, ptr %z.f{lane}, align {shape.size}",
            f"  %z.i{lane} = ptrtoint ptr %z.s{lane} to i64",
            f"  %z.u{lane} = add i64 %z.i{lane}, {block - 1}",
            f"  %z.d{lane} = and i64 %z.u{lane}, -{block}",
            f"  %z.p{lane} = inttoptr i64 %z.d{lane} to ptr",
        ]
    lines.append("  br label %fill0")
    for lane in range(shape.lanes):
        before = f"fill{lane - 1}" if lane else "middle"
        after = f"fill{lane + 1}" if lane < shape.lanes - 1 else "next"
        lines += [
            f"fill{lane}:",
            f"  %z{lane} = phi i64 [ 0, %{before} ], [ %z.n{lane}, %fill{lane} ]",
            f"  %z.a{lane} = getelementptr i8, ptr %z.p{lane}, i64 %z{lane}",
            f"  store {many}, ptr %z.a{lane}, align {block}",
            f"  %z.n{lane} = add i64 %z{lane}, {block}",
            f"  %z.m{lane} = icmp ult i64 %z.n{lane}, %z.stop",
            f"  br i1 %z.m{lane}, label %fill{lane}, label %{after}",
        ]
    return lines


def _stepped(name: str, step: int) -> list[str]:
    """Lines that advance to the next elements, or to the last ones when fewer are left."""
    return [
        f"  %{name}.ahead = add i64 %{name}, {step}",
        f"  %{name}.fits = icmp ult i64 %{name}.ahead, %{name}.last",
        f"  %{name}.next = select i1 %{name}.fits, i64 %{name}.ahead, i64 %{name}.last",
        f"  %{name}.more = icmp ult i64 %{name}, %{name}.last",
    ]
