"""The text of the LLVM functions that write results from slots to rows of arrays.

A row is written in parts. Values come from slots, transposed in registers as `rows_ir` has it; a table has the slot of
each, for equal values share one. Zeros that lie side by side, as in the mass matrix of a robot with branches, have no
slots: they are written straight to the rows. Which parts a row has is a table, over which one function loops; short
rows of values alone have functions of their own without loops. Lanes past the last sample write into a dustbin.
"""

from itertools import groupby
from typing import NamedTuple

from multibody.compiler.codegen import prefetch
from multibody.compiler.codegen.transpose import four_rows, one_row, row_names, straight_out
from multibody.compiler.ir.liveness import ZEROS
from multibody.compiler.ir.segments import SHORT, Program
from multibody.compiler.ir.tiling import Shape

AHEAD = 64
"""How many bytes before they are written to, lines are asked for."""
_FIELDS = ("zeros", "column", "length")


class Part(NamedTuple):
    """Elements that lie side by side in a row."""

    zeros: bool
    """Whether they are zeros, which have no slots."""
    column: int
    length: int


class Row(NamedTuple):
    """The row of a result: the slot of every element, and its parts."""

    slots: list[int]
    parts: list[Part]

    @property
    def short(self) -> bool:
        """Whether it is of values alone, and has a function of its own."""
        return len(self.slots) <= SHORT and not any(part.zeros for part in self.parts)


def rows_of(program: Program, sizes: list[int], places: list[int]) -> list[Row]:
    """The rows of all results.

    Args:
        program: what is computed.
        sizes: the elements per sample of every result.
        places: of the first results, where they begin when the program's own slots are not theirs.
    """
    rows: list[Row] = []
    first = 0
    for m, size in enumerate(sizes):
        own = program.outputs[first : first + size]
        first += size
        slots = list(range(places[m], places[m] + size)) if m < len(places) else own
        parts: list[Part] = []
        for zeros, group in groupby(range(size), key=lambda k, slots=slots: slots[k] < 0):
            columns = list(group)
            parts.append(Part(zeros, columns[0], len(columns)))
        rows.append(Row(slots, parts))
    return rows


def functions(shape: Shape, rows: list[Row], *, near: bool) -> str:
    """What a kernel with such rows of results needs; `near` says that the lines they are written to are."""
    texts = [_store_rows(shape, n) for n in sorted({len(row.slots) for row in rows if row.short})]
    if all(row.short for row in rows):
        return "\n".join(texts)
    texts += [_tables(m, row, shape) for m, row in enumerate(rows) if not row.short]
    return "\n".join([*texts, _store_rows(shape, None), _unpack(shape, near=near)])


def store(m: int, row: Row, shape: Shape, buffer: str, stride: str, base: str) -> list[str]:
    """Lines that write a tile's rows of result m, which are that many bytes apart."""
    first, name, tables = 0, "store_rows", f"ptr @slots{m}, ptr @parts{m}, i64 {len(row.parts)}"
    if row.short:
        first = row.slots[0] * shape.bytes if row.slots else 0
        name, tables = f"store_rows{len(row.slots)}", "ptr null, ptr null, i64 0"
    return [
        f"  %from{m} = getelementptr inbounds i8, ptr {buffer}, i64 {first}",
        f"  call void @{name}(ptr %from{m}, ptr {base}, i64 {stride}, i64 %t, i64 %count, i64 %n, ptr %bin, {tables})",
    ]


def _tables(m: int, row: Row, shape: Shape) -> str:
    """The places of the slots in bytes, and the parts."""
    slots = [f"i64 {slot * shape.bytes}" for slot in row.slots]
    words = [f"i64 {int(x)}" for part in row.parts for x in part]
    return "\n".join(
        f"@{name}{m} = internal constant [{len(numbers)} x i64] [{', '.join(numbers)}], align 8"
        for name, numbers in (("slots", slots), ("parts", words))
    )


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
    copy = [f"  call void @unpack(ptr %d, ptr %slots, ptr %table, i64 %parts, {row_names(shape)})"]
    return "\n".join(
        [
            f"define internal void @store_rows{'' if length is None else length}(ptr %from, ptr %base, i64 %bytes, "
            "i64 %t, i64 %count, i64 %n, ptr %bin, ptr %slots, ptr %table, i64 %parts) nounwind {",
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


def _unpack(shape: Shape, *, near: bool) -> str:
    """Part after part of the rows: zeros eight at a time, values four at a time, the first and last ones twice.

    Fours lie as whole in the lines of the cache as the first row allows, which for most results is as all rows do: a
    store across two lines takes twice the time.
    """
    lines = [
        f"define internal void @unpack(ptr noalias %from, ptr %slots, ptr %table, i64 %parts, {row_names(shape)}) "
        "nounwind {",
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
    ]
    if shape.lanes % 4 == 0:
        shift = shape.size.bit_length() - 1
        lines += [
            "  %q.last = sub i64 %length, 4",
            "  %q.i = ptrtoint ptr %r0 to i64",
            f"  %q.e = lshr i64 %q.i, {shift}",
            "  %q.f = add i64 %q.e, %column",
            "  %q.off = and i64 %q.f, 3",
            "  %four = icmp uge i64 %length, 4",
            "  br i1 %four, label %fours, label %ones",
            "fours:",
            "  %q = phi i64 [ 0, %values ], [ %q.next, %fours ]",
            "  %q.c = add i64 %column, %q",
            *([] if near else _ask(shape)),
            *(line for k in range(4) for line in _value(shape, "%q.c", k, f"q{k}.")),
            *four_rows(shape, "%q.c", "q.", [f"%q{k}.v" for k in range(4)]),
            "  %q.placed = add i64 %q, %q.off",  # the next four that lie in one piece of a line
            "  %q.end = or i64 %q.placed, 3",
            "  %q.past = add i64 %q.end, 1",
            "  %q.ahead = sub i64 %q.past, %q.off",
            "  %q.fits = icmp ult i64 %q.ahead, %q.last",
            "  %q.next = select i1 %q.fits, i64 %q.ahead, i64 %q.last",
            "  %q.more = icmp ult i64 %q, %q.last",
            "  br i1 %q.more, label %fours, label %next",
        ]
    else:
        lines.append("  br label %ones")
    lines += [
        "ones:",
        "  %m = phi i64 [ 0, %values ], [ %m1, %ones ]",
        "  %m.c = add i64 %column, %m",
        *_value(shape, "%m.c", 0, "m."),
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


def _ask(shape: Shape) -> list[str]:
    """Lines that ask for what will soon be written: so many rows at a time are more than the processor follows."""
    lines = [f"  %ask.c = add i64 %q.c, {AHEAD // shape.size}"]
    for lane in range(shape.lanes):
        lines += [
            f"  %ask{lane} = getelementptr {shape.scalar}, ptr %r{lane}, i64 %ask.c",
            prefetch.to_write(f"%ask{lane}"),
        ]
    return lines


def _value(shape: Shape, column: str, k: int, tag: str) -> list[str]:
    """The vector %{tag}v of a column, and k columns on."""
    return [
        f"  %{tag}k = add i64 {column}, {k}",
        f"  %{tag}a = getelementptr i64, ptr %slots, i64 %{tag}k",
        f"  %{tag}o = load i64, ptr %{tag}a, align 8",
        f"  %{tag}d = getelementptr i8, ptr %from, i64 %{tag}o",
        f"  %{tag}v = load {shape.vector}, ptr %{tag}d, align {shape.bytes}",
    ]


def _zeros(shape: Shape) -> list[str]:
    """Lines that write zeros to all rows, then go to %next: both ends as they lie, whole lines of the cache between.

    Long runs are written row after row, which is how the processor likes lines to come.
    """
    many, block, rows = f"<{ZEROS} x {shape.scalar}> zeroinitializer", ZEROS * shape.size, range(shape.lanes)
    lines = [
        "ends:",
        f"  %z.bytes = mul i64 %length, {shape.size}",
        f"  %z.last = sub i64 %z.bytes, {block}",
        f"  %z.stop = sub i64 %z.last, {block}",
        *(f"  %z.s{k} = getelementptr {shape.scalar}, ptr %r{k}, i64 %column" for k in rows),
        *(f"  %z.e{k} = getelementptr i8, ptr %z.s{k}, i64 %z.last" for k in rows),
        f"  %z.long = icmp ugt i64 %z.last, {block}",
        "  br i1 %z.long, label %row0, label %both",
        "both:",
        *(f"  store {many}, ptr %z.{end}{k}, align {shape.size}" for k in rows for end in "se"),
        "  br label %next",
    ]
    for k in rows:
        lines += [
            f"row{k}:",
            f"  store {many}, ptr %z.s{k}, align {shape.size}",
            f"  %z.i{k} = ptrtoint ptr %z.s{k} to i64",
            f"  %z.u{k} = add i64 %z.i{k}, {block - 1}",
            f"  %z.d{k} = and i64 %z.u{k}, -{block}",
            f"  %z.p{k} = inttoptr i64 %z.d{k} to ptr",
            f"  br label %fill{k}",
            f"fill{k}:",
            f"  %z{k} = phi i64 [ 0, %row{k} ], [ %z.n{k}, %fill{k} ]",
            f"  %z.a{k} = getelementptr i8, ptr %z.p{k}, i64 %z{k}",
            f"  store {many}, ptr %z.a{k}, align {block}",
            f"  %z.n{k} = add i64 %z{k}, {block}",
            f"  %z.m{k} = icmp ult i64 %z.n{k}, %z.stop",
            f"  br i1 %z.m{k}, label %fill{k}, label %rest{k}",
            f"rest{k}:",
            f"  %z.f{k} = getelementptr i8, ptr %z.s{k}, i64 %z.stop",
            f"  store {many}, ptr %z.f{k}, align {shape.size}",
            f"  store {many}, ptr %z.e{k}, align {shape.size}",
            f"  br label %{f'row{k + 1}' if k < shape.lanes - 1 else 'next'}",
        ]
    return lines
