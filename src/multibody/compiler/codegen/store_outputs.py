"""LLVM functions that store results from slots to the rows of arrays.

A row is stored in spans. Values come from slots, transposed in registers as in `transpose`; a table has the slot of
each, because equal values share one. Adjacent zeros, as in the mass matrix of a robot with branches, have no slots and
are stored directly. The spans of a row are a table, over which one function loops; short rows without zeros have
functions without loops. Lanes beyond the last sample store to a scratch row.
"""

from itertools import groupby
from typing import NamedTuple

from multibody.compiler.codegen import prefetch
from multibody.compiler.codegen.builder import Builder
from multibody.compiler.codegen.transpose import groups, row_list, row_parameters, slot, write
from multibody.compiler.ir.liveness import MIN_ZERO_RUN
from multibody.compiler.ir.program import MAX_UNROLLED_ROW, Program
from multibody.compiler.ir.tiling import Tiling

PREFETCH_AHEAD = 64
"""Bytes between a store and the line that is prefetched with it."""


class Span(NamedTuple):
    """Adjacent elements of a row."""

    zeros: bool
    """Whether they are zeros, which have no slots."""
    column: int
    length: int


class Row(NamedTuple):
    """The row of a result: the slot of every element, and its spans."""

    slots: list[int]
    spans: list[Span]

    @property
    def short(self) -> bool:
        """Whether it has only values, and few enough for a function without loops."""
        return len(self.slots) <= MAX_UNROLLED_ROW and not any(span.zeros for span in self.spans)


def rows_of(program: Program, sizes: list[int], first_slots: list[int]) -> list[Row]:
    """The rows of all results.

    Args:
        program: to generate code for.
        sizes: the elements per sample of every result.
        first_slots: of the first results, the first slot if it is not the one of the program's output.
    """
    rows: list[Row] = []
    first = 0
    for m, size in enumerate(sizes):
        slots = program.outputs[first : first + size]
        first += size
        if m < len(first_slots):
            slots = list(range(first_slots[m], first_slots[m] + size))
        spans: list[Span] = []
        for zeros, group in groupby(range(size), key=lambda k, slots=slots: slots[k] < 0):
            columns = list(group)
            spans.append(Span(zeros, columns[0], len(columns)))
        rows.append(Row(slots, spans))
    return rows


def functions(tiling: Tiling, rows: list[Row], *, prefetched: bool) -> str:
    """The functions that store these rows; `prefetched` says that segments prefetch them."""
    texts = [_store_rows(tiling, n) for n in sorted({len(row.slots) for row in rows if row.short})]
    if all(row.short for row in rows):
        return "\n".join(texts)
    texts += [_tables(m, row, tiling) for m, row in enumerate(rows) if not row.short]
    return "\n".join([*texts, _store_rows(tiling, None), _unpack(tiling, prefetched=prefetched)])


def store(b: Builder, m: int, row: Row, buffer: str, stride: str | int, base: str) -> None:
    """Store a tile's rows of result m, which are that many bytes apart."""
    first, name, tables = 0, "store_rows", f"ptr @slots{m}, ptr @parts{m}, i64 {len(row.spans)}"
    if row.short:
        first = row.slots[0] * b.tiling.bytes if row.slots else 0
        name, tables = f"store_rows{len(row.slots)}", "ptr null, ptr null, i64 0"
    source = b.gep(buffer, first, inbounds=True)
    tile = "i64 %t, i64 %count, i64 %n, ptr %scratch"
    b.emit(f"call void @{name}(ptr {source}, ptr {base}, i64 {stride}, {tile}, {tables})")


def _tables(m: int, row: Row, tiling: Tiling) -> str:
    """The offsets of the slots in bytes, and the spans."""
    slots = [f"i64 {slot * tiling.bytes}" for slot in row.slots]
    words = [f"i64 {int(x)}" for span in row.spans for x in span]
    return "\n".join(
        f"@{name}{m} = internal constant [{len(numbers)} x i64] [{', '.join(numbers)}], align 8"
        for name, numbers in (("slots", slots), ("parts", words))
    )


def _store_rows(tiling: Tiling, length: int | None) -> str:
    """The function that stores the rows of each vector of the tile; those beyond the last sample are scratch."""
    b = Builder(tiling)
    for v in b.count("%count"):
        block = b.block
        sample = b.add("%t", b.mul(v, tiling.lanes))
        regular = b.each_lane(b.gep("%base", b.mul(sample, "%bytes")), lambda row, _: b.gep(row, "%bytes"))
        inside = b.let(f"icmp ult i64 {b.add(sample, tiling.lanes - 1)}, %n")
        b.branch(inside, "copy", "careful")
        b.begin("careful")
        careful = regular[:1]
        for lane, row in enumerate(regular[1:], start=1):
            exists = b.let(f"icmp ult i64 {b.add(sample, lane)}, %n")
            careful.append(b.let(f"select i1 {exists}, ptr {row}, ptr %scratch"))
        b.enter("copy")
        rows = [b.phi("ptr", (x, block), (y, "careful")) for x, y in zip(regular, careful, strict=True)]
        slots = b.gep("%from", b.mul(v, tiling.stride), inbounds=True)
        if length is None:
            b.emit(f"call void @unpack(ptr {slots}, ptr %slots, ptr %table, i64 %parts, {row_list(rows)})")
            continue
        values = [b.load(slot(b, slots, j)) for j in range(length)]
        for j, width in groups(tiling, length):
            write(b, rows, j, values[j : j + width])
    name = "store_rows" if length is None else f"store_rows{length}"
    tile = "i64 %t, i64 %count, i64 %n, ptr %scratch"
    tables = "ptr %slots, ptr %table, i64 %parts"
    return b.function(f"internal void @{name}(ptr %from, ptr %base, i64 %bytes, {tile}, {tables})")


def _unpack(tiling: Tiling, *, prefetched: bool) -> str:
    """The function that stores the spans of the rows: zeros eight at a time, values four at a time.

    The first and last ones of a span may be stored twice. Fours are aligned with the cache lines of the first row,
    which for most results are those of all rows: a store across two lines takes twice the time.
    """
    b, rows = Builder(tiling), row_parameters(tiling)

    def value(column: str, k: int) -> str:
        """The vector of an element of the row."""
        offset = b.load(b.gep("%slots", b.add(column, k), "i64"), "i64")
        return b.load(b.gep("%from", offset))

    for span in b.count("%parts"):
        at = b.mul(span, 8 * len(Span._fields))
        zeros, column, length = (b.load(b.gep("%table", b.add(at, 8 * k)), "i64") for k in range(3))
        b.branch(b.let(f"icmp ne i64 {zeros}, 0"), "ends", "values")
        _zeros(b, rows, column, length)
        b.begin("values")
        if tiling.lanes % 4 == 0:
            last = b.let(f"sub i64 {length}, 4")
            row = b.let(f"ptrtoint ptr {rows[0]} to i64")
            element = b.let(f"lshr i64 {row}, {tiling.size.bit_length() - 1}")
            misalignment = b.let(f"and i64 {b.add(element, column)}, 3")
            b.branch(b.let(f"icmp uge i64 {length}, 4"), "fours", "ones")
            b.begin("fours")
            b.emit("%q = phi i64 [ 0, %values ], [ %q.next, %fours ]")
            here = b.add(column, "%q")
            if not prefetched:  # so many rows at a time exceed the hardware prefetcher
                ahead = b.add(here, PREFETCH_AHEAD // tiling.size)
                for row in rows:
                    prefetch.prefetch_write(b, b.gep(row, ahead, tiling.scalar))
            write(b, rows, here, [value(here, k) for k in range(4)])
            aligned = b.let(f"or i64 {b.add('%q', misalignment)}, 3")  # the next four that are aligned
            ahead = b.let(f"sub i64 {b.add(aligned, 1)}, {misalignment}")
            fits = b.let(f"icmp ult i64 {ahead}, {last}")
            b.let(f"select i1 {fits}, i64 {ahead}, i64 {last}", "%q.next")
            b.branch(b.let(f"icmp ult i64 %q, {last}"), "fours", "next")
        else:
            b.jump("ones")
        b.begin("ones")
        b.emit("%m = phi i64 [ 0, %values ], [ %m1, %ones ]")
        here = b.add(column, "%m")
        write(b, rows, here, [value(here, 0)])
        b.let("add i64 %m, 1", "%m1")
        b.branch(b.let(f"icmp ult i64 %m1, {length}"), "ones", "next")
        b.begin("next")
    parameters = f"ptr noalias %from, ptr %slots, ptr %table, i64 %parts, {row_list(rows)}"
    return b.function(f"internal void @unpack({parameters})")


def _zeros(b: Builder, rows: list[str], column: str, length: str) -> None:
    """Store zeros to all rows, then go to %next: unaligned stores at both ends, aligned ones between.

    Long runs are stored row after row, because processors prefer consecutive cache lines.
    """
    size, block = b.tiling.size, MIN_ZERO_RUN * b.tiling.size
    zeros = f"store <{MIN_ZERO_RUN} x {b.tiling.scalar}> zeroinitializer, ptr"
    b.begin("ends")
    last = b.let(f"sub i64 {b.mul(length, size)}, {block}")
    stop = b.let(f"sub i64 {last}, {block}")
    starts = [b.gep(row, column, b.tiling.scalar) for row in rows]
    ends = [b.gep(start, last) for start in starts]
    b.branch(b.let(f"icmp ugt i64 {last}, {block}"), "row0", "both")
    b.begin("both")
    for start, end in zip(starts, ends, strict=True):
        b.emit(f"{zeros} {start}, align {size}")
        b.emit(f"{zeros} {end}, align {size}")
    b.jump("next")
    for k, (start, end) in enumerate(zip(starts, ends, strict=True)):
        b.begin(f"row{k}")
        b.emit(f"{zeros} {start}, align {size}")
        above = b.add(b.let(f"ptrtoint ptr {start} to i64"), block - 1)
        aligned = b.let(f"inttoptr i64 {b.let(f'and i64 {above}, -{block}')} to ptr")
        for offset in b.count(stop, step=block):
            b.emit(f"{zeros} {b.gep(aligned, offset)}, align {block}")
        b.emit(f"{zeros} {b.gep(start, stop)}, align {size}")
        b.emit(f"{zeros} {end}, align {size}")
        b.jump(f"row{k + 1}" if k < len(rows) - 1 else "next")
